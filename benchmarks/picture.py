"""The picture of the README: seconds to train over rows, kernelrank beside its peers.

    python -m benchmarks.picture

Draws ``docs/benchmarks/seconds.svg`` from the tables in ``experiments/linearithmic_ranksvm/results/training.md``, so
that it can be drawn again without measuring; ``make experiment-linearithmic_ranksvm`` measures.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "experiments" / "linearithmic_ranksvm" / "results" / "training.md"
PICTURE = ROOT / "docs" / "benchmarks" / "seconds.svg"

PANELS = {
    "California housing, alpha 0.1: seconds of a fit": "California housing, 8 features",
    "Text-like, alpha 1e-05: seconds of a fit": "Text-like, 50,000 sparse features",
}
# Column of the table: label, colour.
LINES = {
    "RankSVM": ("kernelrank, hinge", "tab:blue"),
    "squared hinge": ("kernelrank, squared hinge", "tab:cyan"),
    "PairRSVM": ("the same solver, pair by pair", "tab:grey"),
    "scikit-survival (sq.)": ("scikit-survival, squared hinge", "tab:red"),
    "LinearSVC (sq.)": ("LinearSVC on pairs, squared hinge", "tab:green"),
}


def read_columns(text: str, title: str) -> dict[str, list[tuple[int, float]]]:
    """Return the points (rows, seconds) of each column of the table below a heading."""
    _, _, section = text.partition(f"## {title}\n")
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if not cells:
        raise ValueError(f"{MEASURED} has no table below the heading {title!r}.")
    measured = [row for row in cells[2:] if row[0] != "exponent"]
    columns = dict(zip(cells[0], zip(*measured, strict=True), strict=True))
    rows = [int(number.replace(",", "")) for number in columns["rows"]]
    return {name: [(m, float(s)) for m, s in zip(rows, columns[name], strict=True) if s] for name in cells[0][1:]}


def draw(path: Path) -> None:
    """Draw a panel for each data set."""
    text = MEASURED.read_text()
    # Text stays text and nothing depends on the time of day, so that two versions can be compared.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kernelrank", "font.size": 9}):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        handles = {}
        for axes, (title, shown) in zip(figure.subplots(1, 2, sharey=True), PANELS.items(), strict=True):
            columns = read_columns(text, title)
            for name, (label, colour) in LINES.items():
                if points := columns.get(name):
                    [line] = axes.loglog(*zip(*points, strict=True), color=colour, label=label, marker="o", ms=3.5)
                    handles.setdefault(label, line)
            axes.set(title=shown, xlabel="rows")
            axes.minorticks_off()  # they would be most of the file
            axes.grid(alpha=0.3)
        figure.axes[0].set_ylabel("seconds to train")
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(PICTURE)
