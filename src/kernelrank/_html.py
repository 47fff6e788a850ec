"""HTML from values: text is escaped, and only elements made here are not."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

_VOID = frozenset({"input", "link", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(value: Any) -> Markup:
    """Return a value as HTML; other text than Markup is escaped."""
    if isinstance(value, Markup):
        return value
    # Neither a lone surrogate nor a control character can be part of a page.
    text = str(value).encode("utf-8", "replace").decode()
    text = "".join(c if c in "\n\t" or (c >= " " and not "\x7f" <= c <= "\x9f") else "\ufffd" for c in text)
    return Markup(html.escape(text))


def join(parts: Iterable[Any]) -> Markup:
    """Return the concatenation of several pieces."""
    return Markup("".join(map(escape, parts)))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element; ``class_`` and ``data_value`` become ``class`` and ``data-value``, None is left out."""
    given = [
        (key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    start = name + "".join(f" {key}" if value is True else f' {key}="{escape(value)}"' for key, value in given)
    return Markup(f"<{start}>" if name in _VOID else f"<{start}>{join(children)}</{name}>")


def table(
    heading: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    caption: str,
    *,
    numeric: Iterable[int] = (),
    **attributes: Any,
) -> Markup:
    """Return a table whose first column has the headings of the rows, in a frame that scrolls."""
    right = frozenset(numeric)
    head = tag(
        "tr", *(tag("th", name, scope="col", class_="n" if k in right else None) for k, name in enumerate(heading))
    )
    body = [
        tag(
            "tr",
            *(
                tag("td" if k else "th", cell, scope=None if k else "row", class_="n" if k in right else None)
                for k, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    content = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body), **attributes)
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=caption)


def as_json(value: Any) -> Markup:
    """Return JSON that is safe inside a script element; undefined numbers are null."""
    text = json.dumps(_finite(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shorten(text: str, longest: int) -> str:
    """Return a text, cut if it is long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: Any, digits: int = 4) -> str:
    """Format a number for a reader: counts with separators, others with some significant digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{float(value):.{digits}g}"


def share(value: float) -> str:
    """Format a metric with three digits."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Format a count with its noun."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def percent(value: float) -> str:
    """Format a share of 1, so that little is not nothing, and nearly all is not all."""
    if 0 < value < 0.001:
        return "less than 0.1\u00a0%"
    if 0.999 < value < 1:
        return "more than 99.9\u00a0%"
    return f"{100 * value:.3g}\u00a0%"
