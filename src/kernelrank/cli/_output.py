"""Output of results as text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any


def print_json(result: Any) -> None:
    """Print strict JSON; undefined values are null."""
    print(json.dumps(_without_nan(result), indent=2, allow_nan=False, default=str))


def print_record(result: dict[str, Any]) -> None:
    """Print one field per line; fields without a value are left out."""
    width = max(len(name) for name, value in result.items() if value is not None)
    for name, value in result.items():
        if value is not None:
            text = f"{value:.6g}" if isinstance(value, float) else show(value)
            print(f"{name.replace('_', ' '):<{width}}  {text}")


def print_table(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print aligned columns, the first to the left and the others to the right."""
    lines = [tuple(heading), *(tuple(show(each) for each in row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *others = (
            text.ljust(w) if k == 0 else text.rjust(w) for k, (text, w) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())


def print_selection(selected: Iterable[dict[str, Any]]) -> None:
    """Print selected features in their order, with the held-out errors."""
    print_table(("feature", "error"), [(each["feature"], each["error"]) for each in selected])


def show(value: Any) -> str:
    """Format a value for a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return (
            "-" if math.isnan(value) else f"{value:.4g}" if abs(value) < 1e-3 or abs(value) >= 1e6 else f"{value:.4f}"
        )
    return f"{value:,}" if isinstance(value, int) else str(value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
