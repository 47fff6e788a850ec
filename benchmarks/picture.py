"""The picture of the README: seconds to train over rows, kernelrank beside its peers.

    python -m benchmarks.picture

Draws ``docs/benchmarks/seconds.svg`` from the tables in ``experiments/linearithmic_ranksvm/results/training.md``, so
that it can be drawn again without measuring; ``make experiment-linearithmic_ranksvm`` measures.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.figures import Point, add_legend, new_figure
from benchmarks.harness import number, read_tables

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
    "PairRSVM": ("pair by pair, no line search", "tab:grey"),
    "scikit-survival (sq.)": ("scikit-survival, squared hinge", "tab:red"),
    "LinearSVC (sq.)": ("LinearSVC on pairs, squared hinge", "tab:green"),
}


def read_columns(text: str, title: str) -> dict[str, list[Point]]:
    """Return the points (rows, seconds) of each column of the table below a heading."""
    found = read_tables(text).get(title)
    if found is None:
        raise ValueError(f"{MEASURED} has no table below the heading {title!r}.")
    measured = [row for row in found[0] if row["rows"] != "exponent"]
    return {
        name: [(number(row["rows"]), number(row[name])) for row in measured if row[name]]
        for name in measured[0]
        if name != "rows"
    }


def draw(path: Path) -> None:
    """Draw a panel for each data set."""
    text = MEASURED.read_text()
    with new_figure(path, (8, 3.4)) as figure:
        for axes, (title, shown) in zip(figure.subplots(1, 2, sharey=True), PANELS.items(), strict=True):
            columns = read_columns(text, title)
            for name, (label, colour) in LINES.items():
                if points := columns.get(name):
                    axes.loglog(*zip(*points, strict=True), color=colour, label=label, marker="o", ms=3.5)
            axes.set(title=shown, xlabel="rows")
            axes.minorticks_off()  # they would be most of the file
            axes.grid(alpha=0.3)
        figure.axes[0].set_ylabel("seconds to train")
        add_legend(figure, ncols=3)


if __name__ == "__main__":
    draw(PICTURE)
