"""The command ``demo``: a demonstration on a data set of scikit-learn, with the equivalent commands."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from kernelrank.cli._main import main
from kernelrank.io import dump_svmlight
from kernelrank.persistence import load_model

_TEST_SHARE = 0.4


def demo(args: argparse.Namespace) -> int:
    """Write two data files to a folder, then train, evaluate and plot."""
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    train, test, model = (str(folder / name) for name in ("train.txt", "test.txt", "model.kr"))
    X, y = load_diabetes(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    held_out, others = np.split(rows, [int(_TEST_SHARE * len(y))])
    X = StandardScaler().fit(X[others]).transform(X)
    for path, part in ((train, others), (test, held_out)):
        dump_svmlight(X[part], y[part], path)
    print(f"{len(others)} patients for training and {len(held_out)} for testing, ranked by progression of diabetes:\n")
    chosen = str(folder / "cv.kr")
    if code := _run_command(["cv", train, "--quiet", "--alphas", "8", "-o", chosen]):
        return code
    alpha = f"{load_model(chosen).alpha_:.4g}"
    if code := _run_command(["train", train, "-o", model, "--alpha", alpha, "--quiet"]):
        return code
    if code := _run_command(["evaluate", test, "-m", model]):
        return code
    _plot(model, folder / "convergence.png")
    return 0


def _run_command(arguments: Sequence[str]) -> int:
    print(f"$ kernelrank {shlex.join(arguments)}\n")
    code = main(arguments)
    print()
    return code


def _plot(model: str, path: Path) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        print('No plot: matplotlib is not installed. Install it with pip install "kernelrank[plots]".')
        return
    from kernelrank.plots import ConvergenceDisplay

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    ConvergenceDisplay.from_estimator(load_model(model), ax=figure.add_subplot())
    figure.savefig(path, dpi=120)
    print(f"Plot of the convergence: {path}")
