"""Colours, lines and hatches shared by all displays.

The colours are those of Okabe and Ito, which the colour-blind can tell apart. Everything that colour distinguishes also
differs in the style of the line, the marker or the hatch, because in grey some of the colours look alike.
"""

from __future__ import annotations

from typing import Any

BLUE, VERMILION, GREEN, PURPLE, ORANGE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000"
GREY = "#595959"  # dark enough for thin lines on white paper

BAND: dict[str, Any] = {"alpha": 0.18, "linewidth": 0}  # of the colour of its line
REFERENCE: dict[str, Any] = {"color": GREY, "linewidth": 1.2}
POSITIVE: dict[str, Any] = {"color": BLUE}
NEGATIVE: dict[str, Any] = {"facecolor": "#F3C9AE", "edgecolor": VERMILION, "hatch": "///"}

_LINE = 1.2  # height of a line relative to the size of its letters

_SERIES = ((BLUE, "-", "o"), (VERMILION, "--", "s"), (GREEN, "-.", "^"), (PURPLE, ":", "D"), (BLACK, (0, (6, 1)), "v"))


def next_line(ax: Any) -> dict[str, Any]:
    """Return colour and style of a line, which differ from those of the displays that the axes already have."""
    used = [line.get_color() for line in ax.get_lines()]
    color, linestyle, _ = min(_SERIES, key=lambda series: used.count(series[0]))
    return {"color": color, "linestyle": linestyle}


def next_line_with_markers(ax: Any) -> dict[str, Any]:
    """Return colour, style and marker of a line, as :func:`next_line`."""
    line = next_line(ax)
    [marker] = [marker for color, _, marker in _SERIES if color == line["color"]]
    return {**line, "marker": marker, "markersize": 5}


def signed_bars(ax: Any, places: Any, lengths: Any, **options: Any) -> Any:
    """Draw horizontal bars; those to the left have another colour and a hatch. Return their container."""
    bars = ax.barh(places, lengths, **POSITIVE, **options)
    for bar, length in zip(bars, lengths, strict=True):
        if length < 0:
            bar.set(**NEGATIVE)
    return bars


def name_bars(ax: Any, names: list[str]) -> None:
    """Write the names of horizontal bars, the first at the top; long names are cut."""
    size = size_beside_bars(ax, len(names), "small" if len(names) > 12 else None)
    ax.set_yticks(range(len(names)), [shorten(name) for name in names], fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)


def size_beside_bars(ax: Any, n_bars: int, usual: str | None) -> float:
    """Return the size of text beside horizontal bars in points: the usual one, or one at which lines do not overlap.

    None stands for the size of the names of ticks.
    """
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    room = 72 * ax.get_window_extent().height / ax.figure.dpi / (n_bars + 0.2)
    return float(min(FontProperties(size=usual or rcParams["ytick.labelsize"]).get_size_in_points(), room / _LINE))


def shorten(name: str, most: int = 28) -> str:
    """Return a name of bounded length, cut in the middle, in which matplotlib sees no mathematics."""
    name = " ".join(name.split())
    if len(name) > most:
        end = (most - 1) // 2
        name = f"{name[: most - 1 - end]}…{name[-end:]}"
    return name.replace("$", r"\$")
