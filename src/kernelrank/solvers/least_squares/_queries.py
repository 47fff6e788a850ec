r"""Held-out predictions of queries, or of parts of them.

The residual operator W has one row per contrast, and each contrast belongs to one query. Holding rows out touches the
contrasts T of their queries. These are held out; for parts of queries, others replace them: Q times T with targets t.
With ``(a, along)`` of ``_residual.py``, the new model scores a row by its kernel with the contrasts, times V, times

    ``(lambda + alpha)^-1 a``,     ``a = V'u - V_T' e``,     ``e = N^-1 (g - Q' c)``,

    ``N = W_TT``,  ``g = (W u)_T``,  ``(I - Q Q' + Q N^-1 Q') c = t - Q u_T + Q N^-1 g``.

For whole queries, ``e = N^-1 g`` are the residuals of T without T (Pahikkala et al. 2009, section 3.3); c are the dual
coefficients of the replacement. If parts of queries touch many contrasts, or alpha is small, the equations of the
contrasts that remain are solved instead.

Scores are compared within a query only: an error of the coefficients counts as far as the rows differ from the mean of
their query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, take, take_rows
from kernelrank.losses import PairwiseSquares
from kernelrank.pairs import members
from kernelrank.solvers.least_squares import _residual
from kernelrank.solvers.least_squares._basis import Directions, HeldOutBasis
from kernelrank.solvers.least_squares._blocks import blocks
from kernelrank.solvers.least_squares._hold_out import HoldOut, check_once
from kernelrank.solvers.least_squares._problem import LeastSquares
from kernelrank.solvers.least_squares._residual import Replacement, Residual
from kernelrank.solvers.least_squares._spectrum import largest
from kernelrank.solvers.least_squares._ties import EPS, LIMIT, SAFETY, Predicted, identity, norm, solve_with_inverse

Rows = NDArray[np.intp]

_SHARE = 0.3  # of the contrasts: if parts of queries touch more, the equations of the others are fewer
_WELL = 1e3  # condition up to which squaring it costs no digits that matter


class QueriesHoldOut(HoldOut):
    """Held-out predictions of queries, or of parts of them.

    Parameters
    ----------
    problem : LeastSquares
    part : callable
        Returns the loss of some rows.
    outputs : bool
        Whether several outputs have the same contrasts.
    """

    def __init__(self, problem: LeastSquares, part: Callable[[Rows], PairwiseSquares], outputs: bool) -> None:
        super().__init__("is for one ranking; with queries, use leave_query_out or hold_out.")
        self._given, self._part = problem, part
        self.shortcuts = frozenset({"folds", "outputs"} if outputs else {"folds"})

    def folds(self, folds: Sequence[Rows], alpha: float) -> list[Predicted]:
        """Predict the rows of each fold, which may be parts of queries."""
        return [self._fold(rows, alpha) for rows in folds]

    def _fold(self, rows: Rows, alpha: float) -> Predicted:
        check_once(rows)
        codes, importance = self._given.queries, self._given.loss.importance
        touched = np.unique(codes[rows])
        rest = np.setdiff1d(np.flatnonzero(np.isin(codes, touched)), rows)
        left = self._part(rest) if len(rest) else None
        remaining = (np.delete(importance, touched).sum() + (left.total if left else 0.0)) / importance.sum()
        if remaining == 0:
            raise ValueError("A fold must leave a query with a pair to learn from.")
        contrasts = np.concatenate([np.empty(0, np.intp), *(self._contrasts[query] for query in touched)])
        replaced = None if left is None or len(left.weights) == 0 else self._replacement(contrasts, rest, left)
        found = self._predict(rows, contrasts, np.array([alpha * remaining]), replaced)
        return Predicted(found.values[0, ...], found.errors[0, ...])

    def _replacement(self, contrasts: Rows, rest: Rows, left: PairwiseSquares) -> Replacement:
        """Return the contrasts of the remaining rows, as a function of the touched ones."""
        root = self._problem.loss.root
        units = np.zeros((len(root), len(contrasts)))
        units[contrasts, np.arange(len(contrasts))] = 1.0 / root[contrasts]
        weights = np.sqrt(left.weights / self._given.loss.total)[:, None]
        Q = weights * left.laplacian.project(self._problem.loss.contrasts.solve(units)[rest])
        return Replacement(like(Q, self._W.targets), like(weights * left.targets, self._W.targets))

    def queries(self, alphas: NDArray[np.float64]) -> list[Predicted]:
        """Predict the rows of every query without it, for each alpha; arrays of shape (m, p)."""
        importance = self._given.loss.importance
        if np.count_nonzero(importance) < 2:
            raise ValueError("leave_query_out needs two queries with pairs at least.")
        # Sums of what comes before and after instead of a difference: one query may be nearly everything.
        before, after = np.cumsum(importance), np.cumsum(importance[::-1])[::-1]
        remaining = (np.append(0.0, before[:-1]) + np.append(after[1:], 0.0)) / importance.sum()
        found = [
            self._predict(rows, contrasts, alphas * remaining[query])
            for query, (rows, contrasts) in enumerate(zip(self._rows, self._contrasts, strict=True))
        ]
        order = np.argsort(np.concatenate(self._rows))
        values, errors = (take(self._xp.concat(each, axis=1), order, axis=1) for each in zip(*found, strict=True))
        return [Predicted(values[k, ...], errors[k, ...]) for k in range(len(alphas))]

    def _predict(
        self, rows: Rows, contrasts: Rows, alphas: NDArray[np.float64], replaced: Replacement | None = None
    ) -> Predicted:
        """Predict rows without contrasts, at alphas of the refit; shape (n_alphas, len(rows), p)."""
        directions = None if self._basis is None else self._basis.directions(rows)
        if directions is not None:
            each = [self._predict_without(rows, contrasts, float(alpha), replaced, directions) for alpha in alphas]
        else:
            some = [like(alphas[part], self._W.targets) for part in blocks(len(alphas), len(contrasts) * self._W.rank)]
            each = [self._predict_some(rows, contrasts, part, replaced) for part in some]
        return each[0] if len(each) == 1 else Predicted(*(self._xp.concat(part) for part in zip(*each, strict=True)))

    def _predict_some(self, rows: Rows, contrasts: Rows, alphas: Array, replaced: Replacement | None) -> Predicted:
        """Predict with all features, for some alphas."""
        xp, values, images = self._xp, self._W.spectrum.values, take_rows(self._images, rows)
        shifted = values + alphas[:, None]
        if replaced is not None and self._wants_refit(contrasts, alphas):
            solved = self._refit(contrasts, alphas, replaced)
        else:
            solved = self._W.along_without(contrasts, alphas, replaced)
        coefficients = solved.values / shifted[:, :, None]
        # Errors of the coefficients, of the images, and of their product.
        centred = images - xp.mean(images, axis=0) if len(rows) else images
        spread = xp.sqrt(shifted**-2.0 @ (centred**2).T)
        errors = spread[:, :, None] * solved.errors[:, None, :]
        known = xp.astype(values > 0.0, xp.float64)[:, None]
        errors = errors + take(self._errors_of_products, rows)[:, None] * norm(known * coefficients, axis=1)[:, None, :]
        return self._limited(_residual.multiply(images, coefficients), errors)

    def _limited(self, predictions: Array, errors: Array) -> Predicted:
        limits = LIMIT * like(self._problem.loss.target_sizes, errors)
        return Predicted(predictions, self._xp.minimum(SAFETY * errors, limits))

    def _wants_refit(self, contrasts: Rows, alphas: Array) -> bool:
        """Return whether to solve the equations of what remains."""
        if not self._W.complete:
            return False
        many = len(contrasts) > _SHARE * self._W.rank
        return many or largest(self._W.spectrum.values) > _WELL * float(self._xp.min(alphas))

    def _refit(self, contrasts: Rows, alphas: Array, replaced: Replacement) -> Predicted:
        """Return the same as ``along_without``, from the equations of what remains, in the space of the eigenvectors.

        Where rows recur in other queries, ``along_without`` errs as the square of the condition; this does not.
        """
        W, (A, targets) = self._W, self._what_remains(contrasts, replaced)
        values, found, errors = W.spectrum.values[:, None], [], []
        matrix, unit = (A * values[:, 0]) @ A.T, identity(A.shape[0], A)
        for k in range(alphas.shape[0]):
            dual, inverse = solve_with_inverse(matrix + alphas[k] * unit, targets)
            amplified = _residual.frobenius((values + alphas[k]) * (A.T @ inverse))
            found.append((values + alphas[k]) * (A.T @ dual))
            errors.append(amplified * (W.rounding.error * norm(dual, axis=0) + EPS * W.target_sizes[0]))
        return Predicted(self._xp.stack(found), self._xp.stack(errors))

    def _what_remains(self, contrasts: Rows, replaced: Replacement) -> tuple[Array, Array]:
        """Return the rows of V for the contrasts that remain, and the targets of these."""
        others = np.setdiff1d(np.arange(self._W.n_rows), contrasts)
        vectors, u = self._W.spectrum.vectors, self._W.targets
        rows = self._xp.concat([take(vectors, others), replaced.contrasts @ take(vectors, contrasts)])
        return rows, self._xp.concat([take(u, others), replaced.targets])

    def _predict_without(
        self, rows: Rows, contrasts: Rows, alpha: float, replaced: Replacement | None, directions: Directions
    ) -> Predicted:
        """Predict without directions of the feature space, for one alpha."""
        features, (values, right) = take(self._features, rows), self._singular
        weights, error = self._weights(contrasts, alpha, replaced, directions)
        centred = features - self._xp.mean(features, axis=0)
        # Coefficients become weights by (lambda + alpha)^-1/2, and by alpha^-1/2 outside the row space of Z.
        inside = centred @ right
        spread = norm(inside / (values + alpha) ** 0.5, axis=1)
        if directions.outside is not None:
            spread = (spread**2 + norm(centred - inside @ right.T, axis=1) ** 2 / alpha) ** 0.5
        errors = spread[:, None] * error + EPS * (abs(features) @ abs(weights))
        return self._limited((features @ weights)[None, ...], errors[None, ...])

    def _weights(
        self, contrasts: Rows, alpha: float, replaced: Replacement | None, directions: Directions
    ) -> tuple[Array, Array]:
        """Return weights of the features that are orthogonal to lost directions, of shape (n, p), for one alpha.

        Beside them, bounds of the errors of coefficients that are scaled by ``(lambda + alpha)^1/2``, per output.
        """
        assert self._basis is not None
        (values, U), values_column = self._singular, self._singular[0][:, None]
        if replaced is not None and self._W.complete:
            vectors, targets = self._what_remains(contrasts, replaced)
            Z = U @ (values_column**0.5 * vectors.T)
            N = self._basis.whole(directions)
            Z -= N @ (N.T @ Z)
            dual = self._xp.linalg.solve(Z.T @ Z + alpha * identity(Z.shape[1], Z), targets)
            # Errors of Z, which the weights are combinations of, and of what they fit.
            return Z @ dual, EPS * largest(values) * norm(dual, axis=0) / alpha**0.5
        lost = self._basis.lost(directions, alpha)
        found = self._W.minus(lost.shrunk).along_without(contrasts, like(np.array([alpha]), values), replaced)
        along = (values_column / (values_column + alpha)) ** 0.5 * found.values[0, ...]
        error = found.errors[0, :] + self._W.rounding.of_lost(alpha) * norm(along, axis=0)
        taken = lost.inside.T @ along
        w = U @ ((along - lost.inside @ taken) / (values_column + alpha) ** 0.5)
        return w - lost.outside @ taken / alpha**0.5 if lost.outside.shape[0] else w, error

    @property
    def _problem(self) -> LeastSquares:
        """The problem with orthonormal contrasts."""
        return self._given.orthonormal

    @cached_property
    def _W(self) -> Residual:
        problem, u = self._problem, self._problem.u
        sizes = like(problem.loss.root[:, None] * problem.loss.target_sizes, u)
        return Residual(
            problem.spectrum,
            problem.spectrum.complete,
            u,
            sizes=(norm(sizes, axis=0), array_namespace(u).max(sizes, axis=0)),
        )

    @cached_property
    def _basis(self) -> HeldOutBasis | None:
        return self._problem.held_out_basis

    @property
    def _singular(self) -> tuple[Array, Array]:
        """Eigenvalues, and singular vectors in the space of the features."""
        assert self._W.spectrum.right is not None
        return self._W.spectrum.values, self._W.spectrum.right

    @cached_property
    def _images(self) -> Array:
        return self._problem.images()

    @cached_property
    def _features(self) -> Array:
        return self._problem.whole_rows()

    @cached_property
    def _errors_of_products(self) -> Array:
        """Bounds of the errors of products of images with vectors of length 1."""
        return self._problem.errors_of_images() + EPS * norm(self._images, axis=1)

    @property
    def _xp(self) -> Any:
        return array_namespace(self._W.targets)

    @cached_property
    def _contrasts(self) -> list[Rows]:
        return members(self._problem.loss.contrasts.queries, int(self._given.queries.max()) + 1)

    @cached_property
    def _rows(self) -> list[Rows]:
        return members(self._given.queries, int(self._given.queries.max()) + 1)
