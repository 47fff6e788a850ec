"""Least squares with Kronecker kernels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._refit import refit
from kernelrank._rules import POSITIVE, POSITIVE_NUMBERS
from kernelrank._validation import check_vector
from kernelrank._warnings import warn
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.relational._model import RelationalModel, weights_of
from kernelrank.relational._targets import require_known
from kernelrank.relational._training import AllEntries, KnownEntries, Solution
from kernelrank.solvers.kronecker import KroneckerProblem

Array = NDArray[np.float64]


class KroneckerLeastSquares(RelationalModel):
    """The loss of :class:`~kernelrank.relational.KroneckerRLS`, which ``KroneckerRLSCV`` minimises as well."""

    ranking: bool
    fit_intercept: bool
    tol: float
    max_iter: int
    _training: AllEntries | KnownEntries | None

    @property
    def _fitted_alpha(self) -> float:
        """The alpha of the fit."""
        raise NotImplementedError

    def leave_entry_out(self, *, alpha: float | None = None) -> Array:
        """Predict each entry as the model of all other entries would, without fitting it.

        The question: what is an unknown entry, if other entries of its row and of its column are known?

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions.
        """
        return self._leave_out("entry", alpha)

    def leave_row_out(self, *, alpha: float | None = None) -> Array:
        """Predict each row as the model of all other rows would, without fitting it.

        The question: what are the entries of a new row?

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions. Equal columns have equal predictions, as in a refit.
        """
        return self._leave_out("row", alpha)

    def leave_column_out(self, *, alpha: float | None = None) -> Array:
        """Predict each column as the model of all other columns would, without fitting it.

        The question: what are the entries of a new column?

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions. Equal rows have equal predictions, as in a refit.
        """
        return self._leave_out("column", alpha)

    def leave_both_out(self, *, alpha: float | None = None) -> Array:
        """Predict each entry as the model of all entries in other rows and other columns would, without fitting it.

        The question: what is the entry of a new row and a new column?

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions.

        Notes
        -----
        The inverse of the equations of each of the q m problems is a sum of products of a matrix for the rows and one
        for the columns. Some 30 to 100 terms, growing with the logarithm of the condition number, give it to 15 digits.
        Each term takes O(q m (q + m)) for all problems together.
        """
        return self._leave_out("both", alpha)

    def path(self, alphas: ArrayLike) -> Array:
        """Return the weights for other alphas, from the decompositions of the fit.

        Parameters
        ----------
        alphas : array-like of shape (n_alphas,)
            Positive.

        Returns
        -------
        ndarray of shape (n_alphas, n_row_functions, n_column_functions)
            ``coef_`` for each alpha.
        """
        POSITIVE_NUMBERS("alphas", alphas)
        training = self._fitted_training()
        solutions = [self._solve(training, alpha) for alpha in check_vector(alphas, "alphas").tolist()]
        return np.stack([weights_of(training.rows, training.columns, found.inner)["coef_"] for found in solutions])

    def _learn_from(self, U: Any, V: Any, Y: Any) -> tuple[AllEntries | KnownEntries, dict[str, Any]]:
        """Check parameters and data; return what solutions follow from, and attributes of a fit."""
        ranking, intercept = bool(self.ranking), bool(self.fit_intercept and not self.ranking)
        rows, columns, targets, equal, noted = self._check(U, V, Y, row_centred=False, column_centred=ranking)
        if ranking and not (np.bincount(targets.rows) > 1).any():
            raise NoComparablePairsError("No row of Y has two known entries, so there is nothing to rank.")
        if not targets.complete:
            require_known(targets)
            return KnownEntries(rows, columns, targets, ranking, intercept, self.tol, self.max_iter), noted
        problem = KroneckerProblem(rows, columns, targets.values.reshape(targets.shape), intercept)
        return self._all_entries(problem, equal), noted

    def _store(self, training: AllEntries | KnownEntries, noted: dict[str, Any], alpha: float, **further: Any) -> Self:
        """Solve, and replace an earlier fit when all has succeeded."""
        solution = self._solve(training, alpha)
        found = weights_of(training.rows, training.columns, solution.inner)
        with refit(self) as fitted:
            fitted.__dict__.update(
                **noted, **found, n_iter_=solution.n_iter, residual_=solution.residual, _training=training, **further
            )
        return self

    def _solve(self, training: AllEntries | KnownEntries, alpha: float) -> Solution:
        """Return the solution for an alpha; warn if conjugate gradients did not reach `tol`."""
        solution = training.solve(alpha)
        if solution.residual > self.tol:
            warn(
                f"Not converged after {solution.n_iter} steps with alpha={alpha:.3g}: tol asks for a relative residual"
                f" of {self.tol:.3g}, and it is {solution.residual:.3g}. Increase max_iter, tol or alpha.",
                ConvergenceWarning,
            )
        return solution

    def _leave_out(self, setting: str, alpha: float | None) -> Array:
        training = self._fitted_training()
        value = self._fitted_alpha if alpha is None else alpha
        POSITIVE("alpha", value)
        found: Array = training.predict_without(setting, float(value))
        return found


class KroneckerRLS(KroneckerLeastSquares):
    r"""Regularised least squares of entries of a matrix, with features or kernels of its rows and of its columns.

    For data that are pairs of things: drugs and targets, users and items, players and players. A pair of a row u and a
    column v has all products of their features, so that its kernel is the product of theirs. Minimises

    .. math:: \frac{1}{N} \sum_{(i, j)} \bigl(Y_{ij} - f(u_i, v_j) - b\bigr)^2 + \alpha \|f\|^2

    over the N known entries, or, with ``ranking=True``, the squared error of differences within a row,

    .. math:: \frac{1}{q} \sum_i \frac{1}{N_i^2} \sum_{j, j'}
       \bigl((Y_{ij} - Y_{ij'}) - (f(u_i, v_j) - f(u_i, v_{j'}))\bigr)^2 + \alpha \|f\|^2,

    with N_i known entries in row i, which is conditional ranking [1]_: for each row, the condition, the columns are
    ranked. The two are :class:`~kernelrank.RLS` and :class:`~kernelrank.RankRLS` with ``qid`` of the rows, on all
    products of features, which are never formed.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the squared norm relative to the AVERAGE loss. With a sum over entries instead, lambda is alpha times
        their number; with ``ranking=True``, half of that.
    row_kernel, column_kernel : str, Kernel or callable, default="linear"
        Of the rows, and of the columns: as in :class:`~kernelrank.RankRLS`. With "precomputed", U or V is the kernel
        matrix.
    ranking : bool, default=False
        Whether the columns are ranked within each row. Predictions of a row are then relative to the mean prediction of
        the columns of the fit.
    fit_intercept : bool, default=True
        Whether there is a constant b, which is not penalised; not with ``ranking=True``, where it has no meaning.
    n_row_basis, n_column_basis : int, default=None
        Number of rows, or columns, drawn at random, whose kernels are combined. None means all.
    tol : float, default=1e-6
        If entries are unknown: residual of conjugate gradients to reach, relative to the right-hand side.
    max_iter : int, default=1000
        If entries are unknown: largest number of steps.
    random_state : int, RandomState instance or None, default=0
        For the draw of a basis.

    Attributes
    ----------
    coef_ : ndarray of shape (n_row_functions, n_column_functions)
        Weights of products of a function of the row and one of the column. The functions are features with the linear
        kernel, if there are at most 4,096 of them or no more than elements; otherwise kernels with `row_basis_` and
        `column_basis_`.
    row_coef_, column_coef_ : ndarray of shape (n_row_functions,) and (n_column_functions,)
        Weights of the functions of a row, or a column, alone.
    intercept_ : float
        Constant that is added to all predictions.
    row_basis_, column_basis_ : {ndarray, sparse matrix}
        Elements whose kernels are combined, where they are.
    row_kernel_, column_kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_iter_ : int
        Steps of conjugate gradients; 1 for a closed form.
    residual_ : float
        Relative residual that conjugate gradients have reached; 0 for a closed form.
    row_feature_names_in_, column_feature_names_in_ : ndarray of str
        Of the columns of U and V, if these are data frames. `predict` requires the same columns in the same order.
    n_row_features_in_ : int
        Features of U seen in fit.
    n_column_features_in_ : int
        Features of V seen in fit.

    See Also
    --------
    kernelrank.relational.KroneckerRLSCV : Chooses alpha by one of the hold-outs.
    kernelrank.relational.TwoStepRLS : Two ridge regressions in turn, each with a penalty of its own.
    kernelrank.relational.KroneckerRows : The same features as an X, for :class:`~kernelrank.RankSVM`.

    Notes
    -----
    For q rows and m columns, all entries known: O(q^3 + m^3 + q m (q + m)), from one eigenvalue decomposition of each
    kernel matrix [1]_. A side with d features and the linear kernel, d <= q, or with a basis of d elements, takes O(q
    d^2) instead of O(q^3). The decompositions give solutions for any alpha, and exact hold-outs.

    Some entries unknown: conjugate gradients in the bases of eigenvectors, O(N t + q p t) per step for p and t
    eigenvectors, where t is the smaller number. Nothing of the size of a q m x q m matrix is ever formed.

    References
    ----------
    .. [1] Pahikkala, Airola, Stock, De Baets, Waegeman: Efficient regularized least-squares algorithms for conditional
       ranking on relational data. Machine Learning 93 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.relational import KroneckerRLS
    >>> rng = np.random.default_rng(0)
    >>> U, V = rng.normal(size=(30, 3)), rng.normal(size=(40, 2))
    >>> Y = U @ rng.normal(size=(3, 2)) @ V.T + 0.1 * rng.normal(size=(30, 40))
    >>> model = KroneckerRLS(alpha=0.01).fit(U, V, Y)
    >>> model.predict(U[:2], V[:5]).shape
    (2, 5)
    >>> bool(np.corrcoef(model.leave_both_out().ravel(), Y.ravel())[0, 1] > 0.99)  # new rows and new columns
    True

    Unknown entries are NaN, or not stored in a sparse matrix:

    >>> Y[rng.random(Y.shape) < 0.5] = np.nan
    >>> model = KroneckerRLS(alpha=0.01).fit(U, V, Y)
    >>> bool(model.residual_ <= 1e-6)
    True
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        row_kernel: Any = "linear",
        column_kernel: Any = "linear",
        ranking: bool = False,
        fit_intercept: bool = True,
        n_row_basis: int | None = None,
        n_column_basis: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.alpha = alpha
        self.row_kernel = row_kernel
        self.column_kernel = column_kernel
        self.ranking = ranking
        self.fit_intercept = fit_intercept
        self.n_row_basis = n_row_basis
        self.n_column_basis = n_column_basis
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def _fitted_alpha(self) -> float:
        """The alpha of the fit."""
        return self.alpha

    def fit(self, U: Any, V: Any, Y: Any) -> Self:
        """Train on the known entries of a matrix.

        Parameters
        ----------
        U : {array-like, sparse matrix} of shape (n_rows, n_row_features)
            Features of the rows, or their kernel matrix.
        V : {array-like, sparse matrix} of shape (n_columns, n_column_features)
            Features of the columns, or their kernel matrix.
        Y : {array-like, sparse matrix} of shape (n_rows, n_columns)
            Targets. Unknown entries are NaN; of a sparse matrix, those that are not stored.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._store(*self._learn_from(U, V, Y), self.alpha)
