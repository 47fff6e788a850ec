"""Pairs of rows that are held out of least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import Array
from kernelrank.estimators._least_squares import LeastSquaresEstimator, Problem
from kernelrank.solvers import LeastSquares, WithoutTies

TIES_DROPPED = 'with ties="drop"'  # an obstacle to other hold-outs of one ranking
_PAIRS_OF_CLASSES = 55  # at most, each of which takes a decomposition: ten classes, with themselves and each other


class LeavesPairsOut(LeastSquaresEstimator):
    """Predictions of pairs by models of all other rows."""

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
            row i when i and j are held out; its diagonal is NaN.

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


def _check_pairs(pairs: ArrayLike, m: int) -> NDArray[np.intp]:
    numbers = np.asarray(pairs)
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(f"pairs must be numbers of rows, in two columns, got an array of shape {numbers.shape}.")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < m):
        raise ValueError(f"pairs must lie between 0 and {m - 1}.")
    if (numbers[:, 0] == numbers[:, 1]).any():
        raise ValueError("A pair has two different rows.")
    return numbers.astype(np.intp)
