"""Solvers for the estimators of the RankSVM family, their progress, and the message if they do not converge."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank._progress import FitProgress, in_notebook
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import Pairs
from kernelrank.solvers import (
    Bundle,
    LinearOracle,
    Newton,
    Plane,
    PositiveRows,
    Products,
    Result,
    SmoothLinearOracle,
    WideProducts,
)

LossName = Literal["hinge", "squared_hinge"]
QueryWeighting = Literal["query", "pair"]


class Solver(Protocol):
    """Solver that minimises the average loss plus ``alpha * ||w||^2``, for one alpha after the other."""

    def minimize(self, alpha: float, *, tol: float, max_iter: int, report: Callable[[Any], None] | None) -> Result:
        """Minimise."""


def make_solver(
    products: Products,
    pairs: Pairs,
    *,
    loss: LossName,
    query_weighting: QueryWeighting,
    positive: bool = False,
    start: NDArray[np.float64] | None = None,
    compact: bool = False,
) -> Solver:
    """Return the solver that suits the loss, composed of pairs, loss and products with X.

    `compact` means that memory matters: see `Bundle`.
    """
    if loss == "hinge":
        hinge = PairwiseHinge(pairs, query_weighting)
    else:
        squares = PairwiseSquaredHinge(pairs, query_weighting)

    def oracle_of(products: Products) -> LinearOracle:
        return LinearOracle(products, hinge) if loss == "hinge" else SmoothLinearOracle(products, squares)

    def make(products: Products, **options: Any) -> Bundle | Newton:
        return solver_of(oracle_of(products), compact=compact, **options)

    if positive and isinstance(products, WideProducts):
        return PositiveRows(oracle_of(products), products, make, start=start)
    return make(products, positive=positive, start=start)


def solver_of(oracle: Any, *, planes: Iterable[Plane] = (), compact: bool = False, **options: Any) -> Bundle | Newton:
    """Return the solver of an oracle: Newton's method if it has second derivatives."""
    if hasattr(oracle, "curvature"):
        return Newton(oracle, **options)  # has no use for planes
    return Bundle(oracle, planes=planes, compact=compact, **options)


def convergence_message(loss: LossName, tol: float, result: Result) -> str:
    """Return the message of a warning about a result that has not converged."""
    if result.exhausted:
        return (
            f"Not converged, and float64 can do no more: tol={tol:.3g} asks for a gap of {result.goal:.3g}, and the"
            f" certified gap is {result.gap:.3g}. The best solution found is kept. Features, or values of the kernel,"
            " are too large for alpha, or differ too much in size: standardise the features, or increase alpha or tol."
        )
    also = "" if loss == "hinge" else f", and a gradient of {tol:.3g} relative to that of w = 0"
    return (
        f"Not converged after {result.n_iter} iterations: tol={tol:.3g} asks for a gap of {result.goal:.3g}{also};"
        f" the certified gap is {result.gap:.3g}, of an objective of {result.objective:.3g}. The best solution found is"
        " kept. Increase max_iter, tol or alpha, or standardise the features."
    )


@contextmanager
def reporting(verbose: int | Callable[[Any], None]) -> Iterator[Callable[[Any], None] | None]:
    """Yield the function to call after each iteration: the user's, one that prints, or none."""
    if callable(verbose):
        yield verbose
    elif not verbose:
        yield None
    elif in_notebook(sys.stdout):  # a line per iteration would stay in the file of the notebook
        with FitProgress(stream=sys.stdout) as progress:
            yield progress
    else:
        yield _print_iteration


def _print_iteration(record: Any) -> None:
    """Print one line about an iteration."""
    gap = record["upper_bound"] - record["lower_bound"]
    print(
        f"objective {record['upper_bound']:.6f}  lower bound {record['lower_bound']:.6f}"
        f"  gap {gap:.2e} of {record['goal']:.2e}"
        f"  products {record['n_products']}  seconds {record['seconds']:.2f}",
        flush=True,
    )
