r"""Contributions of training rows and pairs to a difference of scores, for least squares.

The solution of least squares is linear in its targets. With the symbols of ``kernelrank.solvers.least_squares``, a
difference of scores is

    f(a) - f(b) = d' w = q' u,    q = (Z Z' + alpha I)^-1 Z d,    u = root * t,

for the weighted targets u of contrasts between training rows. Contrasts of targets are ``t = P y``, so the derivative
with respect to the target of a row is an element of ``P' (root * q)``. Inside a query these sum to zero: a contribution
may take the target relative to the mean of its query, and does not depend on the origin of y.

There is a function g of the rows with ``q = root * P g``. The loss is a sum over pairs with weights w_ij, and therefore

    f(a) - f(b) = sum over pairs of w_ij t_ij (g_i - g_j).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from kernelrank._arrays import like, to_host
from kernelrank._memory import require_memory
from kernelrank.estimators._least_squares_model import LeastSquaresModel
from kernelrank.losses import PairwiseSquares
from kernelrank.pairs import GraphLaplacian, members
from kernelrank.solvers.least_squares import LeastSquares

Array = NDArray[np.float64]

_BYTES_OF_A_PAIR = 100  # of the table and what it is made of


def contributions_of_rows(estimator: Any, model: LeastSquaresModel, direction: Array, output: int) -> dict[str, Any]:
    """Return the fields of a table of training rows.

    Parameters
    ----------
    estimator : RankRLS or another least-squares estimator
        Fitted.
    model : LeastSquaresModel
        Its training data.
    direction : ndarray
        Difference of the two rows: of their features, or of their kernels with the basis.
    output : int
    """
    if model.data.from_pairs:
        raise ValueError('by="rows" is for models of utilities y; this one was fitted to pairs: use by="pairs".')
    cost = getattr(estimator, "cost", "magnitude")
    if cost != "magnitude":
        raise ValueError(f'by="rows" is for cost="magnitude"; with cost={cost!r}, use by="pairs".')
    problem, influence = _influence(estimator, model, direction)
    derivatives = problem.loss.laplacian.lift(influence[:, None])[:, 0]
    y, codes = model.data.y[:, output], model.data.codes
    means = np.bincount(codes, y) / np.bincount(codes)
    targets = y - means[codes]
    rows = np.arange(len(y))
    return {"row": rows, "contribution": targets * derivatives, "target": targets, "influence": derivatives}


def contributions_of_pairs(estimator: Any, model: LeastSquaresModel, direction: Array, output: int) -> dict[str, Any]:
    """Return the fields of a table of training pairs; parameters are those of :func:`contributions_of_rows`."""
    if not hasattr(estimator, "cost"):
        raise ValueError(f'by="pairs" is for RankRLS and RankRLSCV; {type(estimator).__name__} learns from rows.')
    problem, influence = _influence(estimator, model, direction)
    loss = model.data.loss
    assert isinstance(loss, PairwiseSquares)
    if isinstance(loss.laplacian, GraphLaplacian) and problem.loss is loss:
        winners, losers = loss.laplacian.winners, loss.laplacian.losers
        targets, derivatives = loss.targets[:, output], influence
    else:
        potential = _potential(problem, influence)
        if isinstance(loss.laplacian, GraphLaplacian):
            winners, losers = loss.laplacian.winners, loss.laplacian.losers
            targets, strengths = loss.targets[:, output], loss.root**2
        else:
            y = model.data.y[:, output]
            winners, losers, strengths = _pairs_of_utilities(loss, y, model.data.codes)
            targets = np.ones(len(winners)) if estimator.cost == "unit" else y[winners] - y[losers]
        derivatives = strengths * (potential[winners] - potential[losers])
    fields = {"winner": winners, "loser": losers, "contribution": targets * derivatives}
    return fields | {"target": targets, "influence": derivatives}


def _influence(estimator: Any, model: LeastSquaresModel, direction: Array) -> tuple[LeastSquares, Array]:
    """Return the problem, and the derivatives of the difference with respect to the targets of its contrasts."""
    problem, whitening = model.decomposed, model.whitening
    if isinstance(whitening, LinearOperator):
        direction = whitening.T @ direction
    elif whitening is not None:
        direction = whitening.T @ like(direction, whitening)
    return problem, np.asarray(to_host(problem.influence(estimator._alpha(None), like(direction, problem.u))))


def _potential(problem: LeastSquares, influence: Array) -> Array:
    """Return a function of the rows whose contrasts, times their weights, are the derivatives."""
    contrasts = (influence / problem.loss.root**2)[:, None]
    return np.asarray(to_host(problem.loss.contrasts.solve(contrasts)))[:, 0]


def _pairs_of_utilities(
    loss: PairwiseSquares, y: Array, codes: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the pairs of rows of the same query with different utilities, the better first, and their weights."""
    sizes = np.bincount(codes)
    n_pairs = float((sizes.astype(np.float64) ** 2).sum()) / 2
    columns = int(sizes.max())
    require_memory(
        _BYTES_OF_A_PAIR * n_pairs + 24.0 * len(y) * columns,
        f'by="pairs" forms all pairs inside queries, which for n_samples = {len(y)}',
        'Use by="rows".',
    )
    rows_of = members(codes, len(sizes))
    position = np.empty(len(y), dtype=np.intp)
    for rows in rows_of:
        position[rows] = np.arange(len(rows))
    # Rows of different queries have no pair, so that the same column can serve all queries.
    places = np.zeros((len(y), columns))
    places[np.arange(len(y)), position] = 1.0
    half_hessian = loss.laplacian.lift((loss.root**2)[:, None] * loss.laplacian.project(places))
    first, second = [], []
    for rows in rows_of:
        i, j = np.nonzero(y[rows, None] > y[rows])
        first.append(rows[i])
        second.append(rows[j])
    winners, losers = np.concatenate(first), np.concatenate(second)
    return winners, losers, -half_hessian[winners, position[losers]]
