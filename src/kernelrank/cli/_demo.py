"""The command ``demo``: a demonstration on listings of apartments, with the equivalent commands."""

from __future__ import annotations

import argparse
import csv
import shlex
from pathlib import Path

from kernelrank.cli._main import main
from kernelrank.datasets import apartments_path
from kernelrank.persistence import load_model

_TEST_SEARCHES = 30
_COLUMNS = ["--target", "grade", "--qid", "search"]
_ABOUT = """\
Listings of apartments (simulated), each shown for a search and graded from 0, ignored, to 3, contacted.
A model learns to put the listings of a search in order. It is trained on {n_train} listings, and tested on
{n_test} listings of {n_searches} other searches.
"""


def demo(args: argparse.Namespace) -> int:
    """Write two tables to a folder, then tune and train, estimate, evaluate, and write a report."""
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    train, test, model, page = (str(folder / name) for name in ("train.csv", "test.csv", "model.kr", "report.html"))
    _write_tables(train, test)
    commands = {
        "Choose alpha by cross-validation over searches, and train": [
            *("cv", train, *_COLUMNS, "--select", "ndcg@10", "--alphas", "10", "-o", model)
        ],
        "How good will it be? Hold searches out, and choose alpha again without them": [
            *("estimate", train, *_COLUMNS, "--method", "ranksvm", "--alpha", "auto", "--folds", "5")
        ],
        "Searches that it has not seen": ["evaluate", test, *_COLUMNS, "-m", model],
        "All of it on one page": ["report", model, test, *_COLUMNS, "-o", page, "--learning-curve"],
    }
    for purpose, command in commands.items():
        print(f"# {purpose}\n$ kernelrank {shlex.join(command)}\n")
        if code := main(command):
            return code
        print()
    _plot(model, folder / "path.png")
    print(f"The report, to open in a browser: {Path(page).resolve()}")
    return 0


def _write_tables(train: str, test: str) -> None:
    with open(apartments_path(), encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    searches = list(dict.fromkeys(row[0] for row in rows))
    held_out = set(searches[-_TEST_SEARCHES:])
    parts = {train: [row for row in rows if row[0] not in held_out], test: [row for row in rows if row[0] in held_out]}
    for path, part in parts.items():
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *part])
    print(_ABOUT.format(n_train=len(parts[train]), n_test=len(parts[test]), n_searches=len(held_out)))


def _plot(model: str, path: Path) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        print('No plot: matplotlib is not installed. Install it with pip install "kernelrank[plots]".')
        return
    from kernelrank.plots import PathDisplay

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    PathDisplay.from_estimator(load_model(model).steps[-1][1], ax=figure.add_subplot())
    figure.savefig(path, dpi=120)
    print(f"Plot of the scores by alpha: {path.resolve()}")
