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


def histogram(values: Floats, label: str, unit: str) -> Markup:
    """Return the counts of values between 0 and 1 in twenty bins."""
    counts, edges = np.histogram(values[~np.isnan(values)], bins=20, range=(0.0, 1.0))
    top = max(1, int(counts.max()))
    x, y = _scale(0.0, 1.0, _LEFT, _WIDTH - _RIGHT), _scale(0.0, top, _HEIGHT - _BOTTOM, _TOP)
    bars = [
        tag("rect", tag("title", f"{low:.2f} to {high:.2f}: {count}"), x=_at(x(low) + 0.5), y=_at(y(count)),
            width=_at(x(high) - x(low) - 1), height=_at(y(0) - y(count)), class_="fill")
        for count, low, high in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        if count
    ]  # fmt: skip
    ticks = sorted({0, top // 2, top})
    return _figure(_axes(x, [0, 0.25, 0.5, 0.75, 1], y, ticks, label, unit) + bars, f"Histogram of {label} over {unit}")


def curve(x: ArrayLike, y: Floats, spread: Floats | None, x_label: str, y_label: str, about: str) -> Markup:
    """Return a line through points, with a band of plus and minus the spread."""
    known = ~np.isnan(y)
    places, means = np.asarray(x, dtype=np.float64)[known], y[known]
    around = np.zeros(len(means)) if spread is None else np.nan_to_num(spread[known])
    low, high = float((means - around).min()), float((means + around).max())
    margin = 0.08 * (high - low) or 0.05
    start = min(float(places.min()), 0.0)
    across = _scale(start, float(places.max()), _LEFT, _WIDTH - _RIGHT)
    up = _scale(low - margin, high + margin, _HEIGHT - _BOTTOM, _TOP)
    corners = [*zip(places, means + around, strict=True), *zip(places[::-1], (means - around)[::-1], strict=True)]
    line = _points([(across(a), up(b)) for a, b in zip(places, means, strict=True)])
    drawn = [
        tag("polygon", points=_points([(across(a), up(b)) for a, b in corners]), class_="band"),
        tag("polyline", points=line, class_="line"),
        *(
            tag(
                "circle",
                tag("title", f"{number(a)}: {b:.3f}"),
                cx=_at(across(a)),
                cy=_at(up(b)),
                r="3.5",
                class_="fill",
            )
            for a, b in zip(places, means, strict=True)
        ),
    ]
    axes = _axes(across, _thin([start, *places.tolist()]), up, [low, (low + high) / 2, high], x_label, y_label)
    return _figure(axes + drawn, about)


def interval_bar(value: float, low: float, high: float) -> Markup:
    """Return a value and its interval on the range from 0 to 1."""
    x = _scale(0.0, 1.0, 4.0, 136.0)
    marks = [tag("line", x1="4", x2="136", y1="9", y2="9", class_="axis")]
    marks.append(tag("line", x1=_at(x(0.5)), x2=_at(x(0.5)), y1="3", y2="15", class_="axis"))
    if not np.isnan(low):
        marks.append(tag("line", x1=_at(x(low)), x2=_at(x(high)), y1="9", y2="9", class_="interval"))
    if 0 <= value <= 1:
        marks.append(tag("circle", cx=_at(x(value)), cy="9", r="4", class_="fill"))
    return tag("svg", *marks, viewBox="0 0 140 18", class_="small", aria_hidden="true")


def signed_bar(value: float, largest: float) -> Markup:
    """Return a bar to the left for a negative value, and to the right for a positive one."""
    width = 66.0 * abs(value) / largest if largest else 0.0
    bar = tag("rect", x=_at(70 - width if value < 0 else 70), y="3", width=_at(width), height="12",
              class_="minus" if value < 0 else "plus")  # fmt: skip
    axis = tag("line", x1="70", x2="70", y1="1", y2="17", class_="axis")
    return tag("svg", bar, axis, viewBox="0 0 140 18", class_="small", aria_hidden="true")


def _scale(low: float, high: float, start: float, end: float) -> Any:
    return lambda value: start + (end - start) * (value - low) / ((high - low) or 1.0)


def _at(value: float) -> str:
    return f"{value:.1f}"


def _points(pairs: list[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs)


def _thin(ticks: list[float]) -> list[float]:
    """Return ticks that leave room for their labels."""
    least, kept = 0.12 * (max(ticks) - min(ticks)), list[float]()
    for tick in reversed(ticks):
        if not kept or kept[-1] - tick >= least:
            kept.append(tick)
    return kept


def _axes(x: Any, x_ticks: Sequence[float], y: Any, y_ticks: Sequence[float], below: str, beside: str) -> list[Markup]:
    """Return the ticks of both axes and their labels."""
    bottom = _HEIGHT - _BOTTOM
    grid = [
        part
        for tick in y_ticks
        for part in (
            tag("line", x1=_at(_LEFT), x2=_at(_WIDTH - _RIGHT), y1=_at(y(tick)), y2=_at(y(tick)), class_="axis"),
            tag("text", number(round(float(tick), 3), 3), x=_at(_LEFT - 5), y=_at(y(tick) + 4), text_anchor="end"),
        )
    ]
    under = [tag("text", number(tick, 3), x=_at(x(tick)), y=_at(bottom + 14), text_anchor="middle") for tick in x_ticks]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    names = [
        tag("text", below, x=_at(middle), y=_at(_HEIGHT - 6), text_anchor="middle"),
        tag(
            "text", beside, x="0", y="0", text_anchor="middle", transform=f"translate(10 {bottom / 2:.0f}) rotate(-90)"
        ),
    ]
    return [*grid, *under, *names]


def _figure(marks: list[Markup], about: str) -> Markup:
    box = f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"
    return tag("svg", tag("title", about), *marks, viewBox=box, class_="chart", role="img", aria_label=about)
