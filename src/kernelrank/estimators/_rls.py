"""Regularised least squares of values."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from kernelrank.estimators._hold_outs import HoldsOut
from kernelrank.estimators._least_squares import LeastSquaresEstimator
from kernelrank.estimators._least_squares_model import TrainingData
from kernelrank.estimators._online import OnlineLeastSquares, takes_parts
from kernelrank.features import KroneckerRows
from kernelrank.losses import mean_squares
from kernelrank.solvers.least_squares import NO_CLOSED_FORM, HoldOut, LeastSquares, RankingHoldOut

Array = NDArray[np.float64]


class MeanLoss(LeastSquaresEstimator):
    """The mean squared error of rows, as a loss of least-squares estimators."""

    def _loss_function(self) -> Any:
        return mean_squares

    def _special_parameter(self) -> str | None:
        return None

    def _hold_out_of_ranking(self, problem: LeastSquares, data: TrainingData) -> HoldOut:
        if data.weights is not None:
            return HoldOut(f"{NO_CLOSED_FORM} with sample_weight: refit, or use sklearn.model_selection.")
        return RankingHoldOut(problem.held_out_pairs)


class MeanLeastSquares(RegressorMixin, MeanLoss, HoldsOut):  # type: ignore[misc]
    """Regression with the loss of :class:`~kernelrank.RLS`, which ``RLSCV`` minimises as well."""


class RLS(MeanLeastSquares, OnlineLeastSquares):
    r"""Regularised least squares: ridge regression, linear or with a kernel.

    Minimises the mean squared error plus a squared norm,

    .. math:: \frac{1}{m} \sum_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2,

    in closed form. It is the pointwise baseline of :class:`~kernelrank.RankRLS`, for two classes as well: give them as
    numbers, and rank by predictions (``scoring=kernelrank.metrics.make_ranking_scorer("auc")`` in scikit-learn's
    searches).

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm relative to the MEAN squared error. Scikit-learn's ``Ridge`` and ``KernelRidge``
        have a sum instead: their ``alpha`` is this one times the number of rows.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    n_basis : int, default=None
        Number of basis rows, drawn at random, whose kernels are combined: O(m n_basis^2) time, and memory for m n_basis
        numbers. It approximates the model of all rows; when basis rows are held out, those left are used. None means
        all rows.
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" solves the equations, and allows all shortcuts. "cg" uses conjugate gradients, preconditioned by the
        diagonal, for sparse data with many rows and features: O(m s) per step, no shortcuts. "auto" chooses "cg" if the
        data are sparse and would be large as a dense matrix, or a :class:`kernelrank.relational.KroneckerRows`.
    tol : float, default=1e-6
        For "cg": residual to reach, relative to the right-hand side.
    max_iter : int, default=1000
        For "cg": largest number of steps.
    random_state : int, RandomState instance or None, default=0
        For the draw of `n_basis` rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_outputs)
        Weights of the kernels of `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b, per output; it is not penalised.
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_iter_ : int
        Steps of conjugate gradients; 1 for a direct solution.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Notes
    -----
    The model refers to the training data, for :meth:`path` and :meth:`hold_out`, but does not pickle them. One fit
    takes a Cholesky factor; a shortcut makes one eigenvalue decomposition, which all of them share.

    With scikit-learn's ``array_api_dispatch``, a dense X of another array library (PyTorch, CuPy) is learnt from in
    float64 on its device, and what is fitted or predicted is there, too; not with ``solver="cg"`` or a kernel of
    scikit-learn. :meth:`partial_fit` and :meth:`forget` convert to NumPy.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RLS(alpha=1e-4).fit(X, y)
    >>> [left_out] = model.hold_out([[0, 1, 2]])  # as the model of the other 439 rows predicts them
    >>> left_out.shape
    (3,)
    """

    _rows_per_total = 1.0

    _unformed = (KroneckerRows,)

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        kernel: Any = "linear",
        n_basis: int | None = None,
        solver: Literal["auto", "direct", "cg"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.n_basis = n_basis
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Train on values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or KroneckerRows
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values to predict. Several columns are learnt at once.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows in the mean squared error.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, None, sample_weight)

    @available_if(takes_parts)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to the model, in closed form: the result is that of a fit to all rows so far.

        Sums over rows are kept, of n_features^2 numbers, and no rows: O(m n^2 + n^3) per call, whatever came before.
        Parts may be single rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to add.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their values.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows in the mean squared error.

        Returns
        -------
        self
            The fitted estimator.

        Notes
        -----
        For the linear kernel, without `n_basis`. It can follow :meth:`fit` as well. Held-out predictions need the rows,
        and are not available afterwards. A pickle contains the sums.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from kernelrank import RLS
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RLS().partial_fit(X[:300], y[:300]).partial_fit(X[300:], y[300:]).forget(X[:9], y[:9])
        >>> bool(abs(model.coef_ - RLS().fit(X[9:], y[9:]).coef_).max() < 1e-9)
        True
        """
        return self._change(X, y, None, sample_weight, +1)

    @available_if(takes_parts)  # type: ignore[untyped-decorator]
    def forget(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Remove rows from the model, in closed form: the result is that of a fit to the others.

        Pass the rows again, since none are kept. They must be the same as were added; otherwise the result is the model
        of no data. Rounding errors of their size remain.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to remove.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their values, as they were added.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as they were added.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._change(X, y, None, sample_weight, -1)
