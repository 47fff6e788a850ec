"""Training data of models of relational data: solutions for any alpha, and exact held-out predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import default_threads
from kernelrank._entries import EntryProducts
from kernelrank.features import KroneckerRows
from kernelrank.losses import mean_squares, squares_of_utilities
from kernelrank.relational._elements import Groups
from kernelrank.relational._targets import Targets
from kernelrank.solvers import ConjugateGradients, make_kronecker_products
from kernelrank.solvers.kronecker import KroneckerProblem, Side, TwoStepProblem

Array = NDArray[np.float64]


_SPLITTERS = {"entry": "LeaveEntriesOut", "row": "LeaveRowsOut", "column": "LeaveColumnsOut", "both": "LeaveBothOut"}


class Solution(NamedTuple):
    """Coefficients of the coordinates, and of a constant, of a row times those of a column."""

    inner: Array
    n_iter: int = 1
    residual: float = 0.0  # relative, of conjugate gradients


def with_constant(core: Array, constant: float) -> Array:
    """Return coefficients of coordinates with those of a constant."""
    inner = np.zeros((core.shape[0] + 1, core.shape[1] + 1))
    inner[:-1, :-1], inner[-1, -1] = core, constant
    return inner


@dataclass(frozen=True)
class AllEntries:
    """Targets that are all known.

    Attributes
    ----------
    problem : KroneckerProblem or TwoStepProblem
    equal_rows, equal_columns : ndarray
        For each element, the first one that is equal to it: what a model predicts for them is tied.
    row_basis, column_basis : bool
        Whether only some of the elements are the basis.
    """

    problem: KroneckerProblem | TwoStepProblem
    equal_rows: Groups
    equal_columns: Groups
    row_basis: bool = False
    column_basis: bool = False

    @property
    def rows(self) -> Side:
        """The rows."""
        return self.problem.rows

    @property
    def columns(self) -> Side:
        """The columns."""
        return self.problem.columns

    @property
    def Y(self) -> Array:
        """The targets."""
        return self.problem.Y

    def solve(self, *alphas: float) -> Solution:
        """Return the solution for other alphas."""
        if isinstance(self.problem, TwoStepProblem):
            return Solution(self.problem.solve(*alphas))
        return Solution(with_constant(*self.problem.solve(*alphas)))

    def predict_without(self, setting: str, *alphas: float) -> Array:
        """Return the predictions of all entries; `setting` says what is held out with each."""
        self._require(setting)
        found: Array = getattr(self.problem, f"without_{setting}")(*alphas)
        if setting == "row":
            return np.ascontiguousarray(found[:, self.equal_columns])
        if setting == "column":
            return np.ascontiguousarray(found[self.equal_rows])
        return found

    def _require(self, setting: str) -> None:
        """Raise an error if too little would be left, or if basis elements would be held out."""
        (q, m), ranking = self.Y.shape, isinstance(self.problem, KroneckerProblem) and self.columns.centred
        if setting in ("row", "both") and q < 2:
            raise ValueError(f"leave_{setting}_out needs at least two rows, got {q}.")
        if setting in ("column", "both") and m < 2 + ranking:
            raise ValueError(f"leave_{setting}_out needs at least {2 + ranking} columns, got {m}.")
        if setting == "entry" and (q * m < 2 or (ranking and q == 1 and m == 2)):
            raise ValueError(f"leave_entry_out leaves nothing to learn from: Y has shape {(q, m)}.")
        for side, name, few in (("row", "U", self.row_basis), ("column", "V", self.column_basis)):
            if few and setting in (side, "both"):
                raise ValueError(
                    f"leave_{setting}_out would hold out elements of {name} that all predictions are made of: use"
                    f" n_{side}_basis=None, or refit."
                )


@dataclass(frozen=True)
class KnownEntries:
    """Targets some of which are unknown, learnt by conjugate gradients.

    The features of an entry are products of those of its row and its column, in the bases of eigenvectors: if entries
    are missing at random, the matrix of the equations is nearly diagonal there.

    Attributes
    ----------
    rows, columns : Side
    targets : Targets
    ranking, intercept : bool
    tol : float
    max_iter : int
    """

    rows: Side
    columns: Side
    targets: Targets
    ranking: bool
    intercept: bool
    tol: float
    max_iter: int

    def solve(self, alpha: float) -> Solution:
        """Return the solution for an alpha."""
        roots = np.sqrt(self.rows.values), np.sqrt(self.columns.values)
        y, places = self.targets.values, self.targets.rows
        X = KroneckerRows(self.rows.vectors * roots[0], self.columns.vectors * roots[1], places, self.targets.columns)
        ones, level = np.ones(len(y)), 0.0
        n_threads = default_threads(X.shape[1] * self.targets.shape[0] + len(y) * min(X.sides))
        if self.ranking:
            codes = np.unique(places, return_inverse=True)[1].astype(np.int32)
            loss = squares_of_utilities(y[:, None], codes, ones, "keep", "magnitude", "query")
            gradients = ConjugateGradients(make_kronecker_products(X, n_threads, codes), loss)
        elif self.intercept:
            level = float(y.mean())
            loss = mean_squares((y - level)[:, None], np.zeros(len(y), np.int32), ones)
            gradients = ConjugateGradients(make_kronecker_products(X, n_threads), loss)
        else:
            gradients = _without_intercept(X, y, n_threads)
        found = gradients.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        w = found.weights[:, 0]
        if self.intercept:
            level -= float((X @ w).mean())
        core = w.reshape(len(roots[0]), len(roots[1])) / np.outer(*roots)
        return Solution(with_constant(core, level), found.n_iter, found.residual)

    def predict_without(self, setting: str, *alphas: float) -> Array:
        """Raise an error: closed forms need all entries."""
        self.refuse(setting)

    def refuse(self, setting: str) -> NoReturn:
        """Raise the error that says what to do instead of a hold-out."""
        total = self.targets.shape[0] * self.targets.shape[1]
        raise ValueError(
            f"leave_{setting}_out needs all entries of Y, but {total - len(self.targets.values):,} of {total:,} are"
            " unknown. Refit instead: set the entries of each fold to NaN, or fit KroneckerRows with the splitter"
            f" kernelrank.model_selection.{_SPLITTERS[setting]}."
        )


def _without_intercept(X: KroneckerRows, y: Array, n_threads: int) -> ConjugateGradients:
    """Return conjugate gradients for the mean of squared errors; products must not leave out a constant."""
    d1, d2 = X.sides
    products = EntryProducts(X.U, X.V, X.rows, X.columns, n_threads)
    scale = 1.0 / len(y)

    def multiply(w: Array) -> Array:
        return scale * products.backward(products.forward(w.reshape(d1, d2))).ravel()

    diagonal = products.with_factors(X.U**2, X.V**2).backward(np.full(len(y), scale)).ravel()
    return ConjugateGradients.of_equations(multiply, [scale * products.backward(y).ravel()], diagonal)


def is_reduced(n_basis: Any, n: int) -> bool:
    """Return whether only some of n elements are the basis."""
    return n_basis is not None and n_basis < n
