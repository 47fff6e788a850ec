"""Rows that are held out of least squares: folds, and pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import Array
from kernelrank._validation import as_array, as_rows
from kernelrank.estimators._least_squares import LeastSquaresEstimator, Problem, require_matrices
from kernelrank.pairs import GraphLaplacian
from kernelrank.solvers import LeastSquares, Predicted, WithoutTies

Rows = NDArray[np.intp]

TIES_DROPPED = 'with ties="drop"'  # an obstacle to other hold-outs of one ranking
_PAIRS_OF_CLASSES = 55  # at most, each of which takes a decomposition: ten classes, with themselves and each other


class HoldsOut(LeastSquaresEstimator):
    """Predictions of rows by models of all others, from one fit."""

    @property
    def shortcuts(self) -> frozenset[str]:
        """What can be held out in closed form: "pairs" of rows, any "folds"; of several "outputs" at once."""
        problem, found = self._problem(), set()
        if isinstance(problem.solver, LeastSquares):
            if problem.obstacle is None:
                found.add("outputs")
            if problem.queries is not None or problem.obstacle is None:
                found.add("folds")
            if problem.queries is None and (problem.obstacle is None or self._has_few_classes(problem)):
                found.add("pairs")
        return frozenset(found)

    def _has_few_classes(self, problem: Problem) -> bool:
        n = len(np.unique(problem.y))
        return problem.obstacle == TIES_DROPPED and n * (n + 1) // 2 <= _PAIRS_OF_CLASSES

    def hold_out(self, folds: Any, *, alpha: float | None = None) -> list[Array]:
        """Predict rows as the model of the other rows would, without fitting it.

        Each array is what ``clone(self).fit`` on the rows outside the fold predicts for those inside, with the
        same alpha and the same parameters of the kernel; with `n_basis`, for the basis rows outside the fold.

        Parameters
        ----------
        folds : iterable of array-like
            Rows to hold out together, as numbers or masks; they may overlap. Of the (train, test) that splitters of
            scikit-learn yield, pass the test rows.
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        list of ndarray
            One per fold, in the order of its rows. Those of one ranking are on the level of the targets of the rows
            outside the fold: subtract it before folds are pooled, since it tells what was held out. Predictions of a
            fold that differ by no more than rounding, as those of equal rows, are equal.
        """
        return [each.tied() for each in self._held_out(folds, self._alpha(alpha))]

    def _held_out(self, folds: Any, alpha: float) -> list[Predicted]:
        """Predict the rows of each fold, with bounds of the rounding errors; equal predictions may differ by these."""
        problem = self._problem()
        solver = self._decomposable(problem)
        folds = [as_rows(fold, len(problem.y)) for fold in folds]
        if problem.queries is None:
            self._require_closed_form(problem, "hold_out")
            found = solver.one_ranking.predict([check_fold(rows, problem) for rows in folds], alpha)
        else:
            solver = self._orthonormal(problem)
            found = [self._hold_out_rows(problem, solver, rows, alpha) for rows in folds]
        return [Predicted(*(part[:, 0] for part in each)) if self._single else each for each in found]

    def _hold_out_rows(self, problem: Problem, solver: LeastSquares, rows: Rows, alpha: float) -> Predicted:
        """Hold out rows of a few queries: all of each, or some."""
        _check_once(rows)
        touched = np.unique(problem.codes[rows])
        rest = np.setdiff1d(np.flatnonzero(np.isin(problem.codes, touched)), rows)
        left, before = problem.part(rest) if len(rest) else None, problem.loss.importance
        others = np.delete(before, touched).sum()
        remaining = (others + (left.total if left else 0.0)) / before.sum()
        if remaining == 0:
            raise ValueError("A fold must leave a query with a pair to learn from.")
        return solver.predict_without(rows, touched, alpha * remaining, rest, left)

    def leave_pair_out(self, pairs: ArrayLike | None = None, *, alpha: float | None = None) -> Array:
        """Predict both rows of pairs as the model of all other rows would, without fitting it.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2), optional
            Numbers of rows. All pairs by default.
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_pairs, 2), or (n_samples, n_samples) for all pairs, and n_outputs if there are several
            For given pairs, the predictions of their two rows. For all pairs F, where ``F[i, j]`` is the prediction of
            row i when i and j are held out; its diagonal is NaN. Predictions of a pair that differ by no more than
            rounding, as those of equal rows, are equal.

        Notes
        -----
        O(1) a pair after the decomposition (Pahikkala et al. 2009, section 3.4), for one ranking. With
        ``ties="drop"`` a decomposition is made for each pair of distinct utilities, three for two classes; more than
        ten classes are refused.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from kernelrank import RankRLS
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RankRLS(kernel="gaussian").fit(X, y)
        >>> model.leave_pair_out([[0, 1], [7, 3]]).shape
        (2, 2)
        """
        problem, alpha = self._one_ranking("leave_pair_out"), self._alpha(alpha)
        solver = self._decomposable(problem)
        if pairs is None:
            if problem.obstacle == TIES_DROPPED:
                every = self._without_ties(solver).all_pairs(alpha)
                return every if self._single else every[:, :, None]
            found = solver.one_ranking.all_pairs(alpha)
            return found[0, ...] if self._single else array_namespace(found).moveaxis(found, 0, 2)
        numbers = _check_pairs(pairs, len(problem.y))
        if problem.obstacle == TIES_DROPPED:
            some = self._without_ties(solver, numbers).pairs(numbers, alpha)
            return some if self._single else some[:, :, None]
        predictions = solver.one_ranking.pairs(numbers, alpha)
        return predictions[:, :, 0] if self._single else predictions

    def _without_ties(self, solver: LeastSquares, pairs: NDArray[np.intp] | None = None) -> WithoutTies:
        held_out = solver.without_ties
        classes, n = held_out.classes, held_out.n_classes
        n_pairs = n * (n + 1) // 2 if pairs is None else len(np.unique(np.sort(classes[pairs], axis=1), axis=0))
        if n_pairs > _PAIRS_OF_CLASSES:
            raise ValueError(
                f'With ties="drop", leave_pair_out takes a decomposition for each of {n_pairs} pairs of utilities: keep'
                " ties, ask for other pairs, or refit."
            )
        return held_out

    def leave_pair_out_order(self, *, alpha: float | None = None) -> NDArray[np.int8]:
        """Tell which row of each pair is predicted to be the better one when both are held out.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_samples), and n_outputs if there are several
            1 where row i is predicted above row j, -1 below, 0 where the predictions are equal, also where they differ
            by no more than rounding. It has an eighth of the memory of :meth:`leave_pair_out`.
        """
        problem, alpha = self._one_ranking("leave_pair_out_order"), self._alpha(alpha)
        solver = self._decomposable(problem)
        if problem.obstacle == TIES_DROPPED:
            order = self._without_ties(solver).order(alpha)[None]
        else:
            order = solver.one_ranking.order(alpha)
        return order[0] if self._single else np.moveaxis(order, 0, 2)

    def leave_pair_out_concordance(self, *, alpha: float | None = None) -> Any:
        """Share of pairs of different utilities that are in the right order when they are held out.

        An estimate of the concordance on new rows with next to no bias; of the area under the ROC curve, for two
        classes. In memory for some rows of F at a time.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        float, or ndarray of shape (n_outputs,)
            Ties count half; predictions that differ by no more than rounding are ties.
        """
        [found] = self._leave_pair_out_concordances(np.array([self._alpha(alpha)]))
        return float(found[0]) if self._single else found

    def _leave_pair_out_concordances(self, alphas: Array) -> Array:
        """Estimate for several alphas; shape (n_alphas, n_outputs)."""
        problem = self._one_ranking("leave_pair_out_concordance")
        solver = self._decomposable(problem)
        if problem.obstacle == TIES_DROPPED:
            return self._without_ties(solver).concordances(alphas)[:, None]
        return np.stack([solver.one_ranking.concordance(float(alpha)) for alpha in alphas])

    def _one_ranking(self, method: str) -> Problem:
        problem = self._problem()
        if problem.queries is not None:
            raise ValueError(f"{method} is for one ranking; with queries, use leave_query_out or hold_out.")
        if problem.obstacle != TIES_DROPPED:
            self._require_closed_form(problem, method)
        if len(problem.y) < 4:
            raise ValueError(f"{method} needs four rows at least: two to learn from, and two to predict.")
        return problem

    def _orthonormal(self, problem: Problem) -> LeastSquares:
        """Return the solver for hold-outs with queries."""
        solver, m = self._decomposable(problem), len(problem.y)
        if not isinstance(problem.loss.laplacian, GraphLaplacian):
            return solver
        if "orthonormal" not in solver.__dict__:
            require_matrices(problem.y, m, m, "The graph of the pairs as a dense matrix")
        return solver.orthonormal

    def _require_closed_form(self, problem: Problem, method: str) -> None:
        if problem.obstacle is not None:
            raise ValueError(
                f"{method} has no closed form for one ranking {problem.obstacle}:"
                " refit, or use sklearn.model_selection."
            )


def check_fold(rows: Rows, problem: Problem) -> Rows:
    """Make sure that a row is not there twice, and that others are left."""
    _check_once(rows)
    if len(problem.y) - len(rows) < 2:
        raise ValueError("A fold must leave two rows at least.")
    return rows


def _check_once(rows: Rows) -> None:
    if len(rows) > 1 and len(np.unique(rows)) != len(rows):
        raise ValueError("A fold has a row twice.")


def _check_pairs(pairs: ArrayLike, m: int) -> NDArray[np.intp]:
    numbers = as_array(pairs, "pairs")
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(f"pairs must be numbers of rows, in two columns, got an array of shape {numbers.shape}.")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < m):
        raise ValueError(f"pairs must lie between 0 and {m - 1}.")
    if (numbers[:, 0] == numbers[:, 1]).any():
        raise ValueError("pairs must have two different rows each.")
    return numbers.astype(np.intp)
