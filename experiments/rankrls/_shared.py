"""What the scripts share: where data are, tables in Markdown, and where they are written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

# What the paper chooses lambda from, section 5. It sums over pairs, and alpha is against the average:
# alpha = lambda / n_pairs, or lambda / n_rows for a regressor.
LAMBDAS = 2.0 ** np.arange(15, -16, -1)


def data_file(name: str) -> Path:
    """Find a file of public data."""
    if "KERNELRANK_DATA" not in os.environ:
        raise SystemExit(f"Set KERNELRANK_DATA to the folder that holds {name}.")
    return Path(os.environ["KERNELRANK_DATA"]) / name


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Align as Markdown: the first column to the left, the others to the right."""
    lines = [list(heading), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * (width - (i > 0)) + ":" * (i > 0) for i, width in enumerate(widths)])
    return "\n".join(
        "| " + " | ".join(f"{cell:{'>' if i else '<'}{widths[i]}}" for i, cell in enumerate(line)) + " |"
        for line in lines
    )


def show_progress(text: str) -> None:
    """Say what is under way, in one line, if somebody is watching; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r{text:80}\r", end="", file=sys.stderr, flush=True)


def write_results(name: str, parts: Iterable[str]) -> None:
    """Print paragraphs, and write them to ``results/<name>.md``."""
    text = "\n\n".join(parts) + "\n"
    folder = Path(__file__).with_name("results")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    print(text)
