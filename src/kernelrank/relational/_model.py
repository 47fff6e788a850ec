"""Base class of models of relational data: prediction from functions of rows and columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import matmul
from kernelrank._dense import default_threads, multiply
from kernelrank._entries import EntryProducts
from kernelrank._notebook import ShowsFit
from kernelrank._rules import check_parameters
from kernelrank.features._kronecker_rows import check_entries
from kernelrank.metrics import concordance_index
from kernelrank.relational._elements import Elements, Groups, describe
from kernelrank.relational._targets import Targets, check_targets
from kernelrank.relational._training import AllEntries, is_reduced
from kernelrank.solvers.kronecker import KroneckerProblem, Side, TwoStepProblem

Array = NDArray[np.float64]


class Sides(NamedTuple):
    """Both sides of the data of a fit, and their targets."""

    rows: Side
    columns: Side
    targets: Targets
    equal: tuple[Groups, Groups]  # for each row and column, the first one that is equal to it
    noted: dict[str, Any]  # attributes of a fitted model


class RelationalModel(ShowsFit, BaseEstimator):  # type: ignore[misc]
    """Base class: predictions are ``phi(u)'W psi(v) + phi(u)'a + psi(v)'b + c``."""

    row_kernel: Any
    column_kernel: Any
    n_row_basis: int | None
    n_column_basis: int | None
    random_state: Any

    def _html_of_fit(self) -> list[Any]:
        from kernelrank.estimators._notebook import describe_fit

        return describe_fit(self)

    def predict(self, U: Any, V: Any) -> Array:
        """Return the predictions of all pairs of a row and a column.

        Parameters
        ----------
        U : {array-like, sparse matrix} of shape (n_rows, n_row_features)
            Features of any rows; with ``row_kernel="precomputed"``, their kernels with the rows of the fit.
        V : {array-like, sparse matrix} of shape (n_columns, n_column_features)
            Features of any columns; with ``column_kernel="precomputed"``, their kernels with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Equal rows, and equal columns, have exactly equal predictions, except with kernels given as functions.
        """
        rows, columns = self._functions(U, V)
        found = multiply(columns, multiply(rows, self.coef_).T).T
        return np.asarray(found + self._row_levels(rows)[:, None] + self._column_levels(columns))

    def predict_entries(self, U: Any, V: Any, rows: ArrayLike, columns: ArrayLike) -> Array:
        """Return the predictions of some pairs of a row and a column.

        Parameters
        ----------
        U : {array-like, sparse matrix} of shape (n_rows, n_row_features)
            Features of any rows, as for `predict`.
        V : {array-like, sparse matrix} of shape (n_columns, n_column_features)
            Features of any columns, as for `predict`.
        rows, columns : array-like of shape (n_entries,)
            Numbers of rows of U and of V.

        Returns
        -------
        ndarray of shape (n_entries,)
            The elements of ``predict(U, V)``, up to rounding, in memory for the entries alone.
        """
        of_rows, of_columns = self._functions(U, V)
        r, c = check_entries(rows, columns, of_rows, of_columns)
        work = of_rows.shape[0] * self.coef_.size + len(r) * min(self.coef_.shape)
        found = EntryProducts(of_rows, of_columns, r, c, default_threads(work)).forward(self.coef_)
        return np.asarray(found + self._row_levels(of_rows)[r] + self._column_levels(of_columns)[c])

    def score(self, U: Any, V: Any, Y: Any) -> float:
        """Return the concordance with the known entries of Y.

        Parameters
        ----------
        U : {array-like, sparse matrix} of shape (n_rows, n_row_features)
            Features of any rows, as for `predict`.
        V : {array-like, sparse matrix} of shape (n_columns, n_column_features)
            Features of any columns, as for `predict`.
        Y : {array-like, sparse matrix} of shape (n_rows, n_columns)
            True values; unknown ones are NaN, or not stored.

        Returns
        -------
        float
            Share of pairs of entries in the right order; ties count half. If columns are ranked within each row
            (``ranking=True``), the mean over the rows; otherwise of all entries together.
        """
        predictions = self.predict(U, V)
        known = check_targets(Y, *predictions.shape)
        queries = known.rows if getattr(self, "ranking", False) else None
        return float(concordance_index(known.values, predictions[known.rows, known.columns], qid=queries))

    def _check(self, U: Any, V: Any, Y: Any, *, row_centred: bool, column_centred: bool) -> Sides:
        """Check parameters and data of a fit, and decompose both kernels."""
        check_parameters(self)
        user = type(self).__name__
        checked = check_targets(Y, _length(U, "U"), _length(V, "V"))
        row_elements, rows, equal_rows = describe(
            *(U, self.row_kernel, self.n_row_basis, self.random_state), name="U", user=user, centred=row_centred
        )
        column_elements, columns, equal_columns = describe(
            *(V, self.column_kernel, self.n_column_basis, self.random_state),
            name="V",
            user=user,
            centred=column_centred,
        )
        noted = {**_noted("row", row_elements), **_noted("column", column_elements)}
        return Sides(rows, columns, checked, (equal_rows, equal_columns), noted)

    def _all_entries(self, problem: KroneckerProblem | TwoStepProblem, equal: tuple[Groups, Groups]) -> AllEntries:
        """Return a problem with what hold-outs need to know of its elements."""
        reduced = is_reduced(self.n_row_basis, problem.rows.n), is_reduced(self.n_column_basis, problem.columns.n)
        return AllEntries(problem, *equal, *reduced)

    def _fitted_training(self) -> Any:
        check_is_fitted(self)
        training = getattr(self, "_training", None)
        if training is None:
            raise ValueError(
                f"This {type(self).__name__} has no training data: they are neither pickled nor saved. Fit it again."
            )
        return training

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the training data, which a model must not take along."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}

    def _functions(self, U: Any, V: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        user = type(self).__name__
        return _elements(self, "row").functions(U, user), _elements(self, "column").functions(V, user)

    def _row_levels(self, rows: Any) -> Array:
        return np.asarray(multiply(rows, self.row_coef_))

    def _column_levels(self, columns: Any) -> Array:
        return np.asarray(multiply(columns, self.column_coef_) + self.intercept_)


def weights_of(rows: Side, columns: Side, inner: Array) -> dict[str, Any]:
    """Return the weights of the functions of rows and columns as attributes.

    Parameters
    ----------
    rows, columns : Side
    inner : ndarray of shape (p + 1, t + 1)
        Coefficients of the coordinates, and of a constant, of a row times those of a column.
    """
    core, of_rows, of_columns, constant = inner[:-1, :-1], inner[:-1, -1], inner[-1, :-1], inner[-1, -1]
    of_rows = of_rows - core @ columns.offset
    of_columns_centred = of_columns - rows.offset @ core
    return {
        "coef_": matmul(matmul(rows.functions, core), columns.functions.T),
        "row_coef_": rows.functions @ of_rows,
        "column_coef_": columns.functions @ of_columns_centred,
        "intercept_": float(constant - rows.offset @ of_rows - of_columns @ columns.offset),
    }


def _length(X: Any, name: str) -> int:
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"{name} must be a matrix with one row per element, got an array of shape {shape}.")
    return int(shape[0])


def _noted(side: str, elements: Elements) -> dict[str, Any]:
    found = {f"{side}_kernel_": elements.kernel, f"n_{side}_features_in_": elements.n_features}
    if elements.basis is not None:
        found[f"{side}_basis_"] = elements.basis
    if elements.names is not None:
        found[f"{side}_feature_names_in_"] = np.array(elements.names, dtype=object)
    return found


def _elements(model: Any, side: str) -> Elements:
    return Elements(
        getattr(model, f"{side}_kernel_"),
        getattr(model, f"{side}_basis_", None),
        getattr(model, f"n_{side}_features_in_"),
        "U" if side == "row" else "V",
        getattr(model, f"{side}_feature_names_in_", None),
    )
