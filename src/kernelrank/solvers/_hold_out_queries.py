r"""What ridge regression would predict for queries, or parts of them, that it has not seen: from one decomposition.

Contrasts, the rows of Z, belong to one query each. Holding rows out touches the contrasts T of their queries: these go,
and with parts of queries others come instead, Q times T with the targets t. With ``Z Z' = V diag(lambda) V'`` and
``D = diag(lambda / (lambda + alpha))``, the new model scores a row by its kernel with the contrasts, times V, times

    ``(lambda + alpha)^-1 (V'u - V_T' e)``,     ``e = N^-1 (g - Q' c)``,

    ``N = I - V_T D V_T'``,  ``g = u_T - V_T D V'u``,  ``(I - Q Q' + Q N^-1 Q') c = t - Q u_T + Q N^-1 g``.

For whole queries e = N^-1 g are the residuals of T without T (Pahikkala et al. 2009, section 3.3); c are the dual
coefficients of what comes instead. Of two forms of N and g, that which keeps its digits is taken: with all
eigenvectors, ``1 - D`` instead of D, and no difference. Where the touched contrasts outnumber the eigenvectors, the
equations are solved in the space of these; where parts of queries touch many contrasts, or alpha is small, for what
remains. Features that are made of basis rows, and lost with them, make ``D - G G'`` of D (``_held_out_basis.py``).

Rounding errors (``_ties.py``) of e are those of ``N e = g``. ``V'u - V_T'e`` is off by the norm of these at most, since
V is orthonormal. Scores of a query are compared with each other only: an error of these coefficients counts as far as
rows differ from the mean of their query.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, slices, take, take_rows
from kernelrank.pairs import members
from kernelrank.solvers._held_out_basis import Directions, HeldOutBasis
from kernelrank.solvers._ridge import Spectrum, largest
from kernelrank.solvers._ties import EPS, LIMIT, SAFETY, Predicted, Rounding, solve_with_inverse

Rows = NDArray[np.intp]

_BLOCK_ELEMENTS = 1 << 22  # of some eigenvectors, times factors for several alphas: 32 MiB
_SHARE = 0.3  # of the contrasts: if more are touched by parts of queries, the others are few
_WELL = 1e3  # condition up to which its square costs no digits that matter


class _Solved(NamedTuple):
    """Coefficients of held-out models for several alphas, and bounds of their errors."""

    values: Array  # (r, n_alphas, p)
    errors: Array  # (n_alphas, p), of ``V'u - V_T'e``


@dataclass(frozen=True)
class HeldOutQueries:
    """Hold-outs of rows with their queries.

    Attributes
    ----------
    spectrum : Spectrum
        Of the contrasts.
    u : ndarray of shape (k, p)
        Targets of the contrasts.
    root, size : ndarray of shape (k,) and (p,)
        Weights of the contrasts in these, and the largest of the numbers that they are contrasts of.
    of_contrast, of_row : ndarray of shape (k,) and (m,)
        Query of each contrast, and of each row: 0, 1, ...
    images : ndarray of shape (m, r)
        Kernel of each row and the contrasts, times the eigenvectors.
    image_errors : ndarray of shape (m,)
        Sizes of the rounding errors of the rows of these.
    basis : HeldOutBasis, optional
        Rows that take features along when they are held out.
    features : ndarray of shape (m, n), optional
        The features, if there is a basis.
    """

    spectrum: Spectrum
    u: Array
    root: NDArray[np.float64]
    size: NDArray[np.float64]
    of_contrast: NDArray[np.integer]
    of_row: NDArray[np.integer]
    images: Array
    image_errors: Array
    basis: HeldOutBasis | None = None
    features: Array | None = None

    def every_query(self, alphas: NDArray[np.float64]) -> Predicted:
        """Predict the rows of every query without it, at the alpha of its refit; of shape (n_alphas, m, p).

        Parameters
        ----------
        alphas : ndarray of shape (n_alphas, n_queries)
        """
        found = [
            self._predict(rows, contrasts, alphas[:, query])
            for query, (rows, contrasts) in enumerate(zip(self._rows, self._contrasts, strict=True))
        ]
        order = np.argsort(np.concatenate(self._rows))
        parts = [self._xp.concat(each, axis=1) for each in zip(*found, strict=True)]
        return Predicted(*(take(each, order, axis=1) for each in parts))

    def predict(self, rows: Rows, contrasts: Rows, alpha: float, left: tuple[Array, Array] | None = None) -> Predicted:
        """Predict rows, at the alpha of the refit; shape (len(rows), p).

        Parameters
        ----------
        rows : ndarray
        contrasts : ndarray
            All of the queries that are touched.
        alpha : float
        left : tuple of Q and t, optional
            What is left of these queries; nothing by default.
        """
        found = self._predict(rows, contrasts, np.array([alpha]), left)
        return Predicted(found.values[0, ...], found.errors[0, ...])

    def contrasts_of(self, queries: NDArray[np.integer]) -> Rows:
        """Contrasts of some queries."""
        return np.concatenate([np.empty(0, np.intp), *(self._contrasts[query] for query in queries)])

    def _predict(
        self, rows: Rows, contrasts: Rows, alphas: NDArray[np.float64], left: tuple[Array, Array] | None = None
    ) -> Predicted:
        xp, directions = self._xp, None if self.basis is None else self.basis.directions(rows)
        if directions is not None:
            each = [self._predict_with_lost(rows, contrasts, float(alpha), left, directions) for alpha in alphas]
        else:
            size = len(contrasts) * self.spectrum.values.shape[0]
            blocks = [like(alphas[some], self.u) for some in slices(len(alphas), _BLOCK_ELEMENTS // max(1, size))]
            each = [self._predict_some(rows, contrasts, some, left) for some in blocks]
        return each[0] if len(each) == 1 else Predicted(*(xp.concat(parts) for parts in zip(*each, strict=True)))

    def _predict_some(self, rows: Rows, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None) -> Predicted:
        """Predict with all features, for some alphas."""
        xp, images, shifted = self._xp, take_rows(self.images, rows), self.spectrum.values[:, None] + alphas
        solved = self._along(contrasts, alphas, left)
        coefficients = solved.values / shifted[:, :, None]
        # Errors of the coefficients, of the images, and of their product.
        centred = images - xp.mean(images, axis=0) if len(rows) else images
        spread = xp.sqrt(centred**2 @ shifted**-2.0).T
        errors = spread[:, :, None] * solved.errors[:, None, :]
        known = xp.astype(self.spectrum.values > 0.0, xp.float64)[:, None, None]
        lengths = xp.linalg.vector_norm(known * coefficients, axis=0)
        errors = errors + take(self._errors_of_products, rows)[:, None] * lengths[:, None, :]
        return self._limited(_multiply(xp, images, coefficients), errors)

    def _limited(self, predictions: Array, errors: Array) -> Predicted:
        return Predicted(predictions, self._xp.minimum(SAFETY * errors, LIMIT * like(self.size, errors)))

    def _along(self, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None) -> _Solved:
        """Solve for several alphas: coefficients along the eigenvectors, times ``lambda + alpha``."""
        values = self.spectrum.values
        if left is not None and self.spectrum.complete:
            many = len(contrasts) > _SHARE * values.shape[0]
            if many or largest(values) > _WELL * float(self._xp.min(alphas)):
                return self._refit(contrasts, alphas, left)
        return self._along_without(contrasts, alphas, left)

    def _predict_with_lost(
        self, rows: Rows, contrasts: Rows, alpha: float, left: tuple[Array, Array] | None, directions: Directions
    ) -> Predicted:
        """Predict without the directions that are lost, for one alpha."""
        assert self.spectrum.right is not None
        xp, features = self._xp, take(self.features, rows)
        weights, error = self._weights(contrasts, alpha, left, directions)
        centred = features - xp.mean(features, axis=0)
        # Coefficients become weights by way of (lambda + alpha)^-1/2, and of alpha^-1/2 where Z does not reach.
        inside = centred @ self.spectrum.right
        spread = xp.linalg.vector_norm(inside / (self.spectrum.values + alpha) ** 0.5, axis=1)
        if directions.outside is not None:
            outside = xp.linalg.vector_norm(centred - inside @ self.spectrum.right.T, axis=1)
            spread = (spread**2 + outside**2 / alpha) ** 0.5
        errors = spread[:, None] * error + EPS * (abs(features) @ abs(weights))
        return self._limited((features @ weights)[None, ...], errors[None, ...])

    def _weights(
        self, contrasts: Rows, alpha: float, left: tuple[Array, Array] | None, directions: Directions
    ) -> tuple[Array, Array]:
        """Solve for one alpha, orthogonally to directions that are lost; weights of the features, of shape (n, p).

        With them come the errors of coefficients of length ``(lambda + alpha)^1/2``, for each output.
        """
        assert self.basis is not None
        xp, values, U = self._xp, self.spectrum.values[:, None], self.spectrum.right
        if left is not None and self.spectrum.complete:
            vectors, targets = self._what_remains(contrasts, left)
            Z = U @ (values**0.5 * vectors.T)
            N = self.basis.whole(directions)
            Z -= N @ (N.T @ Z)
            dual = xp.linalg.solve(Z.T @ Z + alpha * self._identity(Z.shape[1]), targets)
            # Errors of Z, of which the weights are made, and of what they fit.
            error = EPS * largest(self.spectrum.values) * xp.linalg.vector_norm(dual, axis=0) / alpha**0.5
            return Z @ dual, error
        lost = self.basis.lost(directions, alpha)
        found = self._along_without(contrasts, like(np.array([alpha]), self.u), left, lost.shrunk)
        along = (values / (values + alpha)) ** 0.5 * found.values[:, 0, :]
        error = found.errors[0, :] + self._rounding.of_lost(alpha) * xp.linalg.vector_norm(along, axis=0)
        taken = lost.inside.T @ along
        w = U @ ((along - lost.inside @ taken) / (values + alpha) ** 0.5)
        return w - lost.outside @ taken / alpha**0.5 if lost.outside.shape[0] else w, error

    def _along_without(
        self, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None, lost: Array | None = None
    ) -> _Solved:
        """Find ``V' (u - e)``, e being the residuals of the contrasts.

        With G of what is lost, for one alpha.
        """
        xp, values, along = self._xp, self.spectrum.values, self._targets_along[:, None, :]
        vectors, u = take_rows(self.spectrum.vectors, contrasts), take(self.u, contrasts)
        inverse = 1.0 / (values[:, None] + alphas)
        shrunk = values[:, None] * inverse
        if len(contrasts) > values.shape[0]:
            gone, right = vectors.T @ vectors, self._targets_along - vectors.T @ u
            if left is not None:
                new = left[0] @ vectors
                gone, right = gone - new.T @ new, right + new.T @ left[1]
            matrix = self._identity(values.shape[0]) - gone * shrunk.T[:, None, :]
            if lost is not None:
                matrix = matrix + (gone @ lost) @ lost.T
            found, inverse = solve_with_inverse(matrix, xp.broadcast_to(right, (*matrix.shape[:-1], right.shape[1])))
            found = _swap(xp, found)
            return _Solved(found, self._errors(_norms(xp, inverse), found, alphas))
        if self.spectrum.complete:
            rest = alphas * inverse
            N = _weighted_gram(xp, vectors, rest)
            g = _multiply(xp, vectors, rest[:, :, None] * along)
        else:
            N = self._identity(len(contrasts)) - _weighted_gram(xp, vectors, shrunk)
            g = u - _multiply(xp, vectors, shrunk[:, :, None] * along)
        if lost is not None:
            Y = vectors @ lost
            N, g = N + Y @ Y.T, g + Y @ (lost.T @ self._targets_along)
        e, spread = solve_with_inverse(N, g)
        errors = _norms(xp, spread * self._scales(vectors, lost, alphas)[:, None, :])
        if left is not None:
            Q, t = left
            back = spread @ Q.T
            c, inner = solve_with_inverse(self._identity(Q.shape[0]) - Q @ Q.T + Q @ back, t - Q @ (u - e))
            e = e - back @ c
            errors = errors * (1.0 + _norms(xp, back) * _norms(xp, inner))
        found = along - _swap(xp, _multiply(xp, vectors.T, _swap(xp, e)))
        return _Solved(found, self._errors(errors, found, alphas, xp.linalg.vector_norm(e, axis=1)))

    def _scales(self, vectors: Array, lost: Array | None, alphas: Array) -> Array:
        """Return the scales of the errors of the equations of some contrasts; shape (n_alphas, t)."""
        scales = self._rounding.scales(vectors, alphas)
        if lost is None:
            return scales
        lengths = self._xp.linalg.vector_norm(vectors @ lost, axis=1)
        return scales + self._rounding.of_lost(float(alphas[0])) / EPS * lengths

    def _errors(self, spread: Array, along: Array, alphas: Array, e: Array | float = 0.0) -> Array:
        """Bound the errors of coefficients, given what the solution makes of those of the equations."""
        return spread[:, None] * self._rounding.size(along, e, self._size_of_targets, alphas)

    @cached_property
    def _errors_of_products(self) -> Array:
        """Bound the errors of products with the images, of vectors of length 1."""
        return self.image_errors + EPS * self._xp.linalg.vector_norm(self.images, axis=1)

    @cached_property
    def _rounding(self) -> Rounding:
        return Rounding(self.spectrum, self.spectrum.complete)

    @cached_property
    def _size_of_targets(self) -> tuple[Array, Array]:
        sizes = like(self.root[:, None] * self.size, self.u)
        return self._xp.linalg.vector_norm(sizes, axis=0), self._xp.max(sizes, axis=0)

    def _identity(self, n: int) -> Array:
        return self._xp.eye(n, dtype=self._xp.float64, device=device(self.u))

    @cached_property
    def _xp(self) -> Any:
        return array_namespace(self.u)

    def _refit(self, contrasts: Rows, alphas: Array, left: tuple[Array, Array]) -> _Solved:
        """Solve for what remains, in the coordinates of the eigenvectors: a refit, but for the kernel matrix.

        Above, parts of queries err as the square of the condition, if rows recur in other queries; this does not.
        """
        xp, (A, targets) = self._xp, self._what_remains(contrasts, left)
        matrix, identity = (A * self.spectrum.values) @ A.T, self._identity(A.shape[0])
        found, errors, values = [], [], self.spectrum.values[:, None]
        for k in range(alphas.shape[0]):
            dual, inverse = solve_with_inverse(matrix + alphas[k] * identity, targets)
            found.append((values + alphas[k]) * (A.T @ dual))
            spread = _norms(xp, (values + alphas[k]) * (A.T @ inverse))
            size = self._rounding.error * xp.linalg.vector_norm(dual, axis=0) + EPS * self._size_of_targets[0]
            errors.append(spread * size)
        return _Solved(xp.stack(found, axis=1), xp.stack(errors))

    def _what_remains(self, contrasts: Rows, left: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the eigenvectors' rows for the contrasts that remain, and these contrasts' targets."""
        others = np.setdiff1d(np.arange(self.u.shape[0]), contrasts)
        xp, vectors = self._xp, self.spectrum.vectors
        rows = xp.concat([take(vectors, others), left[0] @ take(vectors, contrasts)])
        return rows, xp.concat([take(self.u, others), left[1]])

    @cached_property
    def _contrasts(self) -> list[Rows]:
        return members(self.of_contrast, int(self.of_row.max()) + 1)

    @cached_property
    def _rows(self) -> list[Rows]:
        return members(self.of_row, int(self.of_row.max()) + 1)

    @cached_property
    def _targets_along(self) -> Array:
        return self.spectrum.vectors.T @ self.u


def _multiply(xp: Any, vectors: Array, columns: Array) -> Array:
    """Multiply with (r, n_alphas, p) columns, all at once; shape (n_alphas, len(vectors), p)."""
    r, n, p = columns.shape
    return _swap(xp, xp.reshape(vectors @ xp.reshape(columns, (r, n * p)), (vectors.shape[0], n, p)))


def _norms(xp: Any, matrices: Array) -> Array:
    """Frobenius norms of matrices."""
    return xp.sqrt(xp.sum(matrices**2, axis=(-2, -1)))


def _swap(xp: Any, x: Array) -> Array:
    """Exchange the first two of three axes."""
    return xp.permute_dims(x, (1, 0, 2))


def _weighted_gram(xp: Any, vectors: Array, weights: Array) -> Array:
    """``vectors diag(w) vectors'`` for each column w of the weights; shape (n_weights, t, t)."""
    t, n = vectors.shape[0], weights.shape[1]
    if t > n:
        return (vectors * weights.T[:, None, :]) @ vectors.T
    # Products of rows are shared by the weights: half of the work, and less to write.
    i, j = np.triu_indices(t)
    numbers = np.empty((t, t), np.intp)
    numbers[i, j] = numbers[j, i] = np.arange(len(i))
    products = (take(vectors, i) * take(vectors, j)) @ weights
    return xp.permute_dims(xp.reshape(take(products, numbers.ravel()), (t, t, n)), (2, 0, 1))
