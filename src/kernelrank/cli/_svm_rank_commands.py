"""Implementation of ``kr_rank_learn`` and ``kr_rank_classify``."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank import RankSVM
from kernelrank.cli._data import Data, check_target, fit_columns, read_model, score_rows
from kernelrank.cli._fitting import fit_with_progress
from kernelrank.cli._predict import write_scores
from kernelrank.io import SvmlightData, load_svmlight
from kernelrank.pairs import UtilityPairs
from kernelrank.persistence import save_svmlight_model
from kernelrank.persistence._svmlight_kernels import make_svmlight_kernel


def learn(args: argparse.Namespace) -> int:
    """Train a model and write it in the format of SVM^rank."""
    say = _printer(args.v)
    for flag, value in (("-c", args.c), ("-e", args.e)):
        if not 0 < value < math.inf:
            raise ValueError(f"{flag} must be positive, got {value:g}.")
    if args.max_iter < 1:
        raise ValueError(f"-# must be positive, got {args.max_iter}.")
    kernel = make_svmlight_kernel(int(args.t), vars(args))
    if args.n_basis is not None and args.t == 0:
        raise ValueError("--n-basis is for -t 1 and -t 2.")
    check_target(args.model)
    began = time.process_time()
    rows = load_svmlight(args.train, zero_based=False)
    data = Data(rows.X, rows.y, rows.qid, None)
    pairs = UtilityPairs(rows.y, qid=rows.qid).pairs_per_query
    n_queries, n_pairs, n_comparable = len(pairs), int(pairs.sum()), int((pairs > 0).sum())
    say(f"Training set properties: {data.X.shape[1]} features, {n_queries} rankings, {data.n_rows} examples")
    # SVM^rank defines the loss of a ranking as the number of its swapped pairs, or their share.
    largest_loss = (n_pairs if args.l == 1 else n_comparable) / n_queries
    if args.l == 1:
        say(f"NOTE: Adjusted stopping criterion relative to maximum loss: eps={args.e * largest_loss:f}")
    model = RankSVM(
        1 / (2 * args.c * largest_loss) if largest_loss else 1.0,
        kernel=kernel,
        n_basis=args.n_basis,
        query_weighting="pair" if args.l == 1 else "query",
        tol=args.e,
        max_iter=args.max_iter,
    )
    fit_with_progress(model, data, shown=args.v > 0 and sys.stderr.isatty())
    unit = 1 / (2 * model.alpha)
    norm = _norm(model)
    say(f"Upper bound on duality gap: {model.gap_ * unit:.5f}")
    say(f"Dual objective value: dval={(model.objective_ - model.gap_) * unit:.5f}")
    say(f"Primal objective value: pval={model.objective_ * unit:.5f}")
    say(f"Number of iterations: {model.n_iter_}")
    say(f"Norm of weight vector: |w|={norm:.5f}")
    say(f"Value of slack variable (global): xi={(model.objective_ * unit - norm**2 / 2) / args.c:.5f}")
    _print_swapped(say, *_swapped(rows, model.predict(rows.X)))
    say(f"Runtime in cpu-seconds: {time.process_time() - began:.2f}")
    save_svmlight_model(model, args.model)
    return 0


def classify(args: argparse.Namespace) -> int:
    """Write scores and report the number of swapped pairs."""
    say = _printer(args.v)
    check_target(args.predictions)
    with open(args.model, "rb"):  # fail before reading the data if it is missing
        pass
    rows = load_svmlight(args.test, zero_based=False)
    model = read_model(args.model, rows.X.shape[1])
    began = time.process_time()
    _widen(model, rows.X.shape[1])
    scores = score_rows(model, fit_columns(rows.X, model.n_features_in_), rows.qid)
    say(f"Runtime (without IO) in cpu-seconds: {time.process_time() - began:.2f}")
    swapped, shares = _swapped(rows, scores)
    correct = int((shares == 0).sum())
    say(f"Average loss on test set: {shares.mean():.4f}")
    say(
        f"Zero/one-error on test set: {100 * (1 - correct / len(shares)):.2f}%"
        f" ({correct} correct, {len(shares) - correct} incorrect, {len(shares)} total)"
    )
    say("NOTE: The loss reported above is the fraction of swapped pairs averaged over all rankings.")
    say("      The zero/one-error is the fraction of rankings that are not perfectly correct.")
    _print_swapped(say, swapped, shares)
    write_scores(args.predictions, scores)
    return 0


def _norm(model: RankSVM) -> float:
    """Return the norm of the weights, or of the function in the space of a kernel."""
    if hasattr(model, "coef_"):
        return float(np.linalg.norm(model.coef_))
    squared = float(model.dual_coef_ @ model.predict(model.basis_))
    return math.sqrt(max(squared, 0.0))  # rounding can make it negative


def _widen(model: Any, n_features: int) -> None:
    """Pad a kernel model to the features of the data, as SVM^rank does: new features count in a distance."""
    if sp.issparse(getattr(model, "basis_", None)) and n_features > model.n_features_in_:
        model.basis_, model.n_features_in_ = fit_columns(model.basis_, n_features), n_features


def _swapped(rows: SvmlightData, scores: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    """Return the number of swapped pairs, and their share in each query, 0 in a query without pairs."""
    pairs = UtilityPairs(rows.y, qid=rows.qid)
    in_order = pairs.count_totals(-scores, margin=0.0)  # strictly; a tie counts as swapped
    swapped = pairs.pairs_per_query - in_order
    return int(swapped.sum()), swapped / np.maximum(pairs.pairs_per_query, 1)


def _print_swapped(say: Callable[[str], None], swapped: int, shares: NDArray[np.float64]) -> None:
    say(f"Total Num Swappedpairs  : {swapped:6d}")
    say(f"Avg Swappedpairs Percent: {100 * shares.mean():6.2f}")


def _printer(verbosity: int) -> Callable[[str], None]:
    return print if verbosity > 0 else lambda _: None
