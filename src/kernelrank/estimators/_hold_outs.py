"""Shortcuts of least-squares estimators: solutions for other alphas, held-out predictions of folds and of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import Array
from kernelrank._rules import POSITIVE_NUMBERS
from kernelrank._validation import as_array, as_rows, check_vector
from kernelrank.estimators._least_squares import LeastSquaresEstimator
from kernelrank.solvers.least_squares import Predicted


class HoldsOut(LeastSquaresEstimator):
    """Solutions for other alphas, and predictions of rows by models of all others, from one fit."""

    @property
    def shortcuts(self) -> frozenset[str]:
        """Held-out predictions in closed form: of "pairs" of rows, of any "folds"; of several "outputs" at once."""
        return self._fitted_model().hold_out.shortcuts

    def path(self, alphas: ArrayLike) -> Array:
        """Return the solutions for other alphas, from one decomposition of the training data.

        Parameters
        ----------
        alphas : array-like of shape (n_alphas,)
            Positive.

        Returns
        -------
        ndarray of shape (n_alphas, n_features) or (n_alphas, n_samples), and n_outputs if there are several
            ``coef_`` for a linear kernel, ``dual_coef_`` for another.
        """
        POSITIVE_NUMBERS("alphas", alphas)
        alphas, model = check_vector(alphas, "alphas"), self._fitted_model()
        solutions = model.decomposed.path(alphas)
        found = array_namespace(solutions[0]).stack([model.coefficients(solution) for solution in solutions])
        return found[:, :, 0] if self._single else found

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
            One per fold, in the order of its rows. Predictions of one ranking include the training mean; subtract it
            before pooling folds. Predictions of a fold that differ by no more than rounding errors, as those of equal
            rows do, are equal.

        Notes
        -----
        For one ranking, rounding errors grow with the ratio of the largest eigenvalue of the loss to alpha, up to
        ``2e-16`` times that ratio for folds that leave fewer rows than features. A refit is more accurate there.
        """
        return [each.tied() for each in self._held_out(folds, self._alpha(alpha))]

    def _held_out(self, folds: Any, alpha: float) -> list[Predicted]:
        """Predict the rows of each fold, with bounds of the rounding errors; equal predictions may differ by these."""
        model = self._fitted_model()
        numbers = [as_rows(fold, len(model.data.y)) for fold in folds]
        found = model.hold_out.folds(numbers, alpha)
        return [Predicted(*(part[:, 0] for part in each)) if self._single else each for each in found]

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
            rounding errors, as those of equal rows do, are equal.

        Notes
        -----
        O(1) per pair after the decomposition (Pahikkala et al. 2009, section 3.4), for one ranking. With
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
        model, alpha = self._fitted_model(), self._alpha(alpha)
        if pairs is None:
            every = model.hold_out.all_pairs(alpha)
            return every[0, ...] if self._single else array_namespace(every).moveaxis(every, 0, 2)
        found = model.hold_out.pairs(_check_pairs(pairs, len(model.data.y)), alpha)
        return found[:, :, 0] if self._single else found

    def leave_pair_out_order(self, *, alpha: float | None = None) -> NDArray[np.int8]:
        """Return which row of each pair is predicted to be better when both are held out.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_samples), and n_outputs if there are several
            1 where row i is predicted above row j, -1 below, 0 where the predictions differ by no more than rounding
            errors. It takes an eighth of the memory of :meth:`leave_pair_out`.
        """
        order = self._fitted_model().hold_out.order(self._alpha(alpha))
        return order[0] if self._single else np.moveaxis(order, 0, 2)

    def leave_pair_out_concordance(self, *, alpha: float | None = None) -> Any:
        """Return the share of pairs of different utilities in the right order when they are held out.

        An almost unbiased estimate of the concordance on new rows; for two classes, of the area under the ROC curve.
        Needs memory for some rows of F at a time.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        float, or ndarray of shape (n_outputs,)
            Ties count half; predictions that differ by no more than rounding errors are tied.
        """
        [found] = self._fitted_model().hold_out.concordances(np.array([self._alpha(alpha)]))
        return float(found[0]) if self._single else found


def _check_pairs(pairs: ArrayLike, m: int) -> NDArray[np.intp]:
    numbers = as_array(pairs, "pairs")
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(f"pairs must be numbers of rows, in two columns, got an array of shape {numbers.shape}.")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < m):
        raise ValueError(f"pairs must lie between 0 and {m - 1}.")
    if (numbers[:, 0] == numbers[:, 1]).any():
        raise ValueError("pairs must have two different rows each.")
    return numbers.astype(np.intp)
