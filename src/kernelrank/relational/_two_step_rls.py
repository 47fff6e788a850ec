"""Two ridge regressions in turn, along the rows and along the columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernelrank._refit import refit
from kernelrank._rules import POSITIVE
from kernelrank.relational._model import RelationalModel, weights_of
from kernelrank.relational._targets import require_known
from kernelrank.relational._training import AllEntries
from kernelrank.solvers.kronecker import TwoStepProblem

Array = NDArray[np.float64]


class TwoStepRLS(RelationalModel):
    r"""Two ridge regressions in turn: of the rows of a matrix, and of its columns, each with a penalty of its own.

    With the kernel matrices K of the rows and G of the columns, fitted values are [1]_

    .. math:: F = K (K + \alpha_r q I)^{-1} \; Y \; (G + \alpha_c m I)^{-1} G.

    It is not the minimum of one objective, but its hold-outs are as cheap as its fit, and the information that new rows
    and new columns lack can be weighed separately.

    Parameters
    ----------
    row_alpha, column_alpha : float, default=1.0
        Weight of the squared norm relative to the mean squared error, in the regressions along the rows and along the
        columns.
    row_kernel, column_kernel : str, Kernel or callable, default="linear"
        Kernels of the rows, and of the columns, as in :class:`~kernelrank.relational.KroneckerRLS`.
    fit_intercept : bool, default=True
        Whether each regression has a constant: the model then has one, and a term for the row and for the column alone.
    n_row_basis, n_column_basis : int, default=None
        Number of rows, or columns, drawn at random, whose kernels are combined. None means all.
    random_state : int, RandomState instance or None, default=0
        For the draw of a basis.

    Attributes
    ----------
    row_feature_names_in_, column_feature_names_in_ : ndarray of str
        Names of the columns of U and V, if these are data frames.
    coef_ : ndarray of shape (n_row_functions, n_column_functions)
        Weights of products of a function of the row and one of the column; see
        :class:`~kernelrank.relational.KroneckerRLS`.
    row_coef_, column_coef_ : ndarray of shape (n_row_functions,) and (n_column_functions,)
        Weights of the functions of a row, or a column, alone.
    intercept_ : float
        Constant that is added to all predictions.
    row_basis_, column_basis_ : {ndarray, sparse matrix}
        Elements whose kernels are combined, where they are.
    row_kernel_, column_kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_row_features_in_ : int
        Features of U seen in fit.
    n_column_features_in_ : int
        Features of V seen in fit.

    Notes
    -----
    O(q^3 + m^3 + q m (q + m)) time for a fit to q rows and m columns, and O(q m (q + m)) for each hold-out. All entries
    must be known.

    References
    ----------
    .. [1] Pahikkala, Stock, Airola, Aittokallio, De Baets, Waegeman: A two-step learning approach for solving full and
       almost full cold start problems in dyadic prediction. ECML PKDD (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.relational import TwoStepRLS
    >>> rng = np.random.default_rng(0)
    >>> U, V = rng.normal(size=(30, 3)), rng.normal(size=(40, 2))
    >>> Y = U @ rng.normal(size=(3, 2)) @ V.T + 0.1 * rng.normal(size=(30, 40))
    >>> model = TwoStepRLS(row_alpha=0.01, column_alpha=0.01).fit(U, V, Y)
    >>> bool(np.corrcoef(model.leave_both_out().ravel(), Y.ravel())[0, 1] > 0.99)  # new rows and new columns
    True
    """

    _training: AllEntries | None

    def __init__(
        self,
        row_alpha: float = 1.0,
        column_alpha: float = 1.0,
        *,
        row_kernel: Any = "linear",
        column_kernel: Any = "linear",
        fit_intercept: bool = True,
        n_row_basis: int | None = None,
        n_column_basis: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.row_alpha = row_alpha
        self.column_alpha = column_alpha
        self.row_kernel = row_kernel
        self.column_kernel = column_kernel
        self.fit_intercept = fit_intercept
        self.n_row_basis = n_row_basis
        self.n_column_basis = n_column_basis
        self.random_state = random_state

    def fit(self, U: Any, V: Any, Y: Any) -> Self:
        """Train on a matrix.

        Parameters
        ----------
        U : {array-like, sparse matrix} of shape (n_rows, n_row_features)
            Features of the rows, or their kernel matrix.
        V : {array-like, sparse matrix} of shape (n_columns, n_column_features)
            Features of the columns, or their kernel matrix.
        Y : array-like of shape (n_rows, n_columns)
            Targets, all of them known.

        Returns
        -------
        self
            The fitted estimator.
        """
        centred = bool(self.fit_intercept)
        rows, columns, targets, equal, noted = self._check(U, V, Y, row_centred=centred, column_centred=centred)
        if not targets.complete:
            require_known(targets)
            total = targets.shape[0] * targets.shape[1]
            raise ValueError(
                f"TwoStepRLS needs all entries of Y, but {total - len(targets.values):,} of {total:,} are unknown. Use"
                " KroneckerRLS, which learns from those that are known."
            )
        problem = TwoStepProblem(rows, columns, targets.values.reshape(targets.shape))
        training = self._all_entries(problem, equal)
        found = weights_of(rows, columns, training.solve(self.row_alpha, self.column_alpha).inner)
        with refit(self) as fitted:
            fitted.__dict__.update(**noted, **found, _training=training)
        return self

    def leave_entry_out(self, *, row_alpha: float | None = None, column_alpha: float | None = None) -> Array:
        """Predict each entry without its value, without fitting the model again.

        A regression along the rows has no solution if an entry is missing. The entry that is held out is therefore
        replaced by its own prediction: the one value for which the model predicts what it was given.

        Parameters
        ----------
        row_alpha, column_alpha : float, optional
            Others than those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions.
        """
        return self._leave_out("entry", row_alpha, column_alpha)

    def leave_row_out(self, *, row_alpha: float | None = None, column_alpha: float | None = None) -> Array:
        """Predict each row as the model of all other rows would, without fitting it.

        Parameters
        ----------
        row_alpha, column_alpha : float, optional
            Others than those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions.
        """
        return self._leave_out("row", row_alpha, column_alpha)

    def leave_column_out(self, *, row_alpha: float | None = None, column_alpha: float | None = None) -> Array:
        """Predict each column as the model of all other columns would, without fitting it.

        Parameters
        ----------
        row_alpha, column_alpha : float, optional
            Others than those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions.
        """
        return self._leave_out("column", row_alpha, column_alpha)

    def leave_both_out(self, *, row_alpha: float | None = None, column_alpha: float | None = None) -> Array:
        """Predict each entry as the model of all entries in other rows and other columns would, without fitting it.

        Parameters
        ----------
        row_alpha, column_alpha : float, optional
            Others than those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Held-out predictions.
        """
        return self._leave_out("both", row_alpha, column_alpha)

    def _leave_out(self, setting: str, row_alpha: float | None, column_alpha: float | None) -> Array:
        training: AllEntries = self._fitted_training()
        given = {"row_alpha": row_alpha, "column_alpha": column_alpha}
        alphas = [getattr(self, name) if alpha is None else alpha for name, alpha in given.items()]
        for name, alpha in zip(given, alphas, strict=True):
            POSITIVE(name, alpha)
        return training.predict_without(setting, *map(float, alphas))
