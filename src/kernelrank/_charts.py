"""Small charts as SVG, whose colours are those of the style sheet around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._html import Markup, number, tag

Floats = NDArray[np.float64]

_WIDTH, _HEIGHT = 360.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 10.0, 10.0, 38.0
_MOST_POINTS, _MOST_CIRCLES = 100, 40  # of a line, whatever the size of the data
_MOST_BINS = 30
_LETTER = 6.0  # width of one, about
_SIDE = 25.0  # room of the label of the vertical axis, and beside its numbers


def histogram(values: Floats, label: str, unit: str) -> Markup:
    """Return the counts of values between 0 and 1 in twenty bins."""
    counts, edges = np.histogram(values[~np.isnan(values)], bins=20, range=(0.0, 1.0))
    top = max(1, int(counts.max()))
    x, y = _scale(0.0, 1.0, _LEFT, _WIDTH - _RIGHT), _scale(0.0, top, _HEIGHT - _BOTTOM, _TOP)
    axes = _axes(x, _ticks([0, 0.25, 0.5, 0.75, 1]), y, sorted({0, top // 2, top}), label, unit)
    return _figure(axes + _bars(counts, edges, x, y, "fill"), f"Histogram of {label} over {unit}")


def null_distribution(values: Floats, observed: float, chance: float, about: str) -> Markup:
    """Return the counts of values of a null distribution; those that reach the observed value have another colour."""
    values = values[np.isfinite(values)]
    width = max(float(np.ptp(values)) / _MOST_BINS, 0.005) if len(values) else 1.0
    first = np.floor((values.min(initial=observed) - observed) / width)
    # One of the edges is the observed value, so that a bin reaches it as a whole.
    edges = observed + width * np.arange(first, np.floor((values.max(initial=observed) - observed) / width) + 2)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)  # rounded, an edge may be beyond a value
    top = max(1, int(counts.max()))
    low, high = min(float(edges[0]), chance), max(float(edges[-1]), chance)
    x, y = _scale(low, high, _LEFT, _WIDTH - _RIGHT), _scale(0.0, top, _HEIGHT - _BOTTOM, _TOP + 14)
    reached = edges[:-1] >= observed - width / 2
    axes = _axes(
        x, _ticks(_thin([low, chance, high], keep=chance)), y, sorted({0, top // 2, top}), "estimate", "permutations"
    )
    marks = [
        *_bars(np.where(reached, 0, counts), edges, x, y, "fill"),
        *_bars(np.where(reached, counts, 0), edges, x, y, "minus"),
        _upright(x(chance), "chance"),
        _upright(x(observed), "observed"),
        _label(f"observed {observed:.3f}", x(observed), _TOP + 4),
    ]
    return _figure(axes + marks, about)


def curve(
    x: ArrayLike,
    y: Floats,
    spread: Floats | None,
    x_label: str,
    y_label: str,
    about: str,
    *,
    names: Sequence[str] | None = None,
    ticks: Sequence[tuple[float, str]] | None = None,
    mark: float | None = None,
) -> Markup:
    """Return a line through points, with a band of plus and minus the spread.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        Points where y is NaN are left out, and some of very many points.
    spread : array-like of shape (n_points,) or None
    x_label, y_label, about : str
        Names of the axes, and of the picture.
    names : list of str, optional
        Names of the points, which a pointer shows; the values of x by default.
    ticks : list of (float, str), optional
        Places on the axis of x, and their names. Without, the axis has the values of the points, and includes 0.
    mark : float, optional
        Value of x that is marked.
    """
    kept = _some(np.flatnonzero(~np.isnan(y)))
    places, means = np.asarray(x, dtype=np.float64)[kept], y[kept]
    around = np.zeros(len(means)) if spread is None else np.nan_to_num(spread[kept])
    low, high = float((means - around).min()), float((means + around).max())
    margin = 0.08 * (high - low) or 0.05
    start = min(float(places.min()), 0.0) if ticks is None else float(places.min())
    levels = [low, (low + high) / 2, high]
    left = max(_LEFT, _SIDE + _LETTER * max(map(len, _name_levels(levels))))  # long numbers would cover the label
    across = _scale(start, float(places.max()), left, _WIDTH - _RIGHT)
    up = _scale(low - margin, high + margin, _HEIGHT - _BOTTOM, _TOP)
    corners = [*zip(places, means + around, strict=True), *zip(places[::-1], (means - around)[::-1], strict=True)]
    points = [(across(a), up(b)) for a, b in zip(places, means, strict=True)]
    drawn = [
        tag("polygon", points=_points([(across(a), up(b)) for a, b in corners]), class_="band"),
        *([] if mark is None else [_upright(across(mark), "chance")]),
        tag("polyline", points=_points(points), class_="line"),
    ]
    if len(kept) <= _MOST_CIRCLES:
        named = [number(a) for a in places] if names is None else [names[k] for k in kept]
        titles = (f"{name}: {b:.3f}" for name, b in zip(named, means, strict=True))
        drawn += [_circle(*point, title) for point, title in zip(points, titles, strict=True)]
    below = _ticks(_thin([start, *places.tolist()])) if ticks is None else ticks
    axes = _axes(across, below, up, levels, x_label, y_label, left)
    return _figure(axes + drawn, about)


def bounds(upper: Floats, lower: Floats, names: tuple[str, str], x_label: str, about: str) -> Markup:
    """Return the upper and the lower bound of a value by iteration, with a band between them."""
    n = len(upper)
    kept = _some(np.arange(n))
    above, below = upper[kept], lower[kept]
    low, high = float(below.min()), float(above.max())
    across = _scale(1, n, _LEFT, _WIDTH - _RIGHT)
    up = _scale(low, high, _HEIGHT - _BOTTOM, _TOP + 4)
    of_upper, of_lower = ([(across(k + 1), up(v)) for k, v in zip(kept, each, strict=True)] for each in (above, below))
    drawn = [
        tag("polygon", points=_points([*of_upper, *of_lower[::-1]]), class_="band"),
        tag("polyline", points=_points(of_upper), class_="line"),
        tag("polyline", points=_points(of_lower), class_="line other"),
        _name_of_line(names[0], of_upper, above=True),
        _name_of_line(names[1], of_lower, above=False),
    ]
    ticks = sorted({1, n} if n < 5 else {1, (n + 1) // 2, n})
    levels = _thin([low, high], keep=float(above[-1]))
    axes = _axes(across, [(tick, f"{tick:,}") for tick in ticks], up, levels, x_label, "")
    return _figure(axes + drawn, about)


def roc(fpr: Floats, tpr: Floats, about: str) -> Markup:
    """Return a ROC curve, with the diagonal of chance."""
    kept = _some(np.arange(len(fpr)))
    x, y = _scale(0.0, 1.0, _LEFT, _WIDTH - _RIGHT), _scale(0.0, 1.0, _HEIGHT - _BOTTOM, _TOP)
    line = _points([(x(a), y(b)) for a, b in zip(fpr[kept], tpr[kept], strict=True)])
    drawn = [
        tag("line", x1=_at(x(0)), y1=_at(y(0)), x2=_at(x(1)), y2=_at(y(1)), class_="chance"),
        tag("polyline", points=line, class_="line"),
    ]
    ticks = [0, 0.5, 1]
    return _figure(_axes(x, _ticks(ticks), y, ticks, "false positive rate", "true positive rate") + drawn, about)


def interval_axis(value: float, low: float, high: float, chance: float, about: str) -> Markup:
    """Return a value and its interval on an axis from 0 to 1, on which chance is marked."""
    x, height = _scale(0.0, 1.0, 14.0, _WIDTH - 14.0), 62.0
    marks = [tag("line", x1=_at(x(0)), x2=_at(x(1)), y1="24", y2="24", class_="axis")]
    marks += [tag("text", f"{each:g}", x=_at(x(each)), y="40", text_anchor="middle") for each in (0, 0.25, 0.75, 1)]
    marks += [
        tag("line", x1=_at(x(chance)), x2=_at(x(chance)), y1="8", y2="40", class_="chance"),
        tag("text", f"chance {chance:g}", x=_at(x(chance)), y="54", text_anchor="middle"),
    ]
    return _figure([*marks, *_interval(x, 24.0, value, low, high)], about, height)


def interval_bar(
    value: float, low: float, high: float, *, ends: tuple[float, float] = (0.0, 1.0), chance: float = 0.5
) -> Markup:
    """Return a value and its interval on a range, on which chance is marked."""
    x = _scale(*ends, 4.0, 136.0)
    marks = [tag("line", x1="4", x2="136", y1="9", y2="9", class_="axis")]
    marks.append(tag("line", x1=_at(x(chance)), x2=_at(x(chance)), y1="3", y2="15", class_="axis"))
    return _small([*marks, *_interval(x, 9.0, value, low, high, ends=ends)])


def signed_bar(value: float, largest: float) -> Markup:
    """Return a bar to the left for a negative value, and to the right for a positive one."""
    width = 66.0 * abs(value) / largest if largest else 0.0
    bar = tag("rect", x=_at(70 - width if value < 0 else 70), y="3", width=_at(width), height="12",
              class_="minus" if value < 0 else "plus")  # fmt: skip
    return _small([bar, tag("line", x1="70", x2="70", y1="1", y2="17", class_="axis")])


def share_bar(shares: Sequence[tuple[float, str, str]], left: str, right: str, about: str) -> Markup:
    """Return parts of a whole beside each other, each a share with a class and a title, and a text at both ends."""
    marks, start, height = [], 0.0, 42.0
    for share, kind, title in shares:
        width = share * (_WIDTH - 2)
        if width > 0:
            marks.append(
                tag("rect", tag("title", title), x=_at(1 + start), y="4", width=_at(width), height="18", class_=kind)
            )
        start += width
    frame = tag("rect", x="1", y="4", width=_at(_WIDTH - 2), height="18", class_="frame")
    names = [tag("text", left, x="1", y="36"), tag("text", right, x=_at(_WIDTH - 1), y="36", text_anchor="end")]
    return _figure([*marks, frame, *names], about, height)


def _interval(
    x: Any, y: float, value: float, low: float, high: float, ends: tuple[float, float] = (0.0, 1.0)
) -> list[Markup]:
    """Return a line for an interval, and a circle for a value that is in the range."""
    marks = []
    if not np.isnan(low):
        marks.append(tag("line", x1=_at(x(low)), x2=_at(x(high)), y1=_at(y), y2=_at(y), class_="interval"))
    if ends[0] <= value <= ends[1]:
        marks.append(tag("circle", cx=_at(x(value)), cy=_at(y), r="4", class_="fill"))
    return marks


def _bars(counts: NDArray[Any], edges: Floats, x: Any, y: Any, kind: str) -> list[Markup]:
    return [
        tag("rect", tag("title", f"{low:.2f} to {high:.2f}: {count}"), x=_at(x(low) + 0.5), y=_at(y(count)),
            width=_at(x(high) - x(low) - 1), height=_at(y(0) - y(count)), class_=kind)
        for count, low, high in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        if count
    ]  # fmt: skip


def _circle(x: float, y: float, title: str) -> Markup:
    return tag("circle", tag("title", title), cx=_at(x), cy=_at(y), r="3.5", class_="fill")


def _upright(x: float, kind: str) -> Markup:
    return tag("line", x1=_at(x), x2=_at(x), y1=_at(_TOP), y2=_at(_HEIGHT - _BOTTOM), class_=kind)


def _label(text: str, x: float, y: float) -> Markup:
    """Return a text beside a place, on the side that has more room."""
    left = x - _LEFT > _WIDTH - _RIGHT - x
    return tag("text", text, x=_at(x - 5 if left else x + 5), y=_at(y), text_anchor="end" if left else "start")


def _name_of_line(name: str, points: list[tuple[float, float]], *, above: bool) -> Markup:
    """Return the name of a line at its right end, above or below it; on the other side if there is no room."""
    begins = min(_WIDTH - _RIGHT - _LETTER * len(name), points[-1][0])
    beside = [b for a, b in points if a >= begins]
    up, down = min(beside) - 6, max(beside) + 14
    y = up if (above and up > _TOP) or (not above and down > _HEIGHT - _BOTTOM) else down
    return tag("text", name, x=_at(_WIDTH - _RIGHT), y=_at(y), text_anchor="end")


def _some(places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return all places, or some of very many, with the first and the last."""
    if len(places) <= _MOST_POINTS:
        return places
    return places[np.linspace(0, len(places) - 1, _MOST_POINTS).round().astype(np.intp)]


def _scale(low: float, high: float, start: float, end: float) -> Any:
    return lambda value: start + (end - start) * (value - low) / ((high - low) or 1.0)


def _at(value: float) -> str:
    return f"{value:.1f}"


def _points(pairs: list[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs)


def _ticks(values: Sequence[float]) -> list[tuple[float, str]]:
    return [(value, number(value, 3)) for value in values]


def _thin(ticks: list[float], keep: float | None = None) -> list[float]:
    """Return ticks that leave room for their labels."""
    least, kept = 0.12 * (max(ticks) - min(ticks)), [] if keep is None else [keep]
    for tick in reversed(ticks):
        if all(abs(each - tick) >= least for each in kept):
            kept.append(tick)
    return kept


def _axes(
    x: Any,
    x_ticks: Sequence[tuple[float, str]],
    y: Any,
    y_ticks: Sequence[float],
    below: str,
    beside: str,
    left: float = _LEFT,
) -> list[Markup]:
    """Return the ticks of both axes and their labels."""
    bottom, names = _HEIGHT - _BOTTOM, _name_levels(y_ticks)
    grid = [
        part
        for tick, name in zip(y_ticks, names, strict=True)
        for part in (
            tag("line", x1=_at(left), x2=_at(_WIDTH - _RIGHT), y1=_at(y(tick)), y2=_at(y(tick)), class_="axis"),
            tag("text", name, x=_at(left - 5), y=_at(y(tick) + 4), text_anchor="end"),
        )
    ]
    # The name of the last tick may be longer than the margin to the right.
    places = [(min(x(tick), _WIDTH - 1 - _LETTER * len(name) / 2), name) for tick, name in x_ticks]
    under = [tag("text", name, x=_at(place), y=_at(bottom + 14), text_anchor="middle") for place, name in places]
    middle = (left + _WIDTH - _RIGHT) / 2
    titles = [
        tag("text", below, x=_at(middle), y=_at(_HEIGHT - 6), text_anchor="middle"),
        tag(
            "text", beside, x="0", y="0", text_anchor="middle", transform=f"translate(10 {bottom / 2:.0f}) rotate(-90)"
        ),
    ]
    return [*grid, *under, *titles]


def _name_levels(levels: Sequence[float]) -> list[str]:
    """Return values with as many decimals as they need to be right to one per cent of their range."""
    precision = 0.01 * (max(levels) - min(levels))
    for decimals in range(6):
        if all(abs(round(float(each), decimals) - each) <= precision for each in levels):
            return [f"{each:,.{decimals}f}" for each in levels]
    return [f"{each:.3g}" for each in levels]


def _figure(marks: list[Markup], about: str, height: float = _HEIGHT) -> Markup:
    box = f"0 0 {_WIDTH:.0f} {height:.0f}"
    return tag("svg", tag("title", about), *marks, viewBox=box, class_="chart", role="img", aria_label=about)


def _small(marks: list[Markup]) -> Markup:
    """Return a picture of numbers that are beside it, which a screen reader passes over."""
    return tag("svg", *marks, viewBox="0 0 140 18", class_="small", aria_hidden="true")
