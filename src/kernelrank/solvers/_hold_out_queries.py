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
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, slices, take, take_rows
from kernelrank.pairs import members
from kernelrank.solvers._held_out_basis import Directions, HeldOutBasis
from kernelrank.solvers._ridge import Spectrum, largest

Rows = NDArray[np.intp]

_BLOCK_ELEMENTS = 1 << 22  # of some eigenvectors, times factors for several alphas: 32 MiB
_SHARE = 0.3  # of the contrasts: if more are touched by parts of queries, the others are few
_WELL = 1e3  # condition up to which its square costs no digits that matter


@dataclass(frozen=True)
class HeldOutQueries:
    """Hold-outs of rows with their queries.

    Attributes
    ----------
    spectrum : Spectrum
        Of the contrasts.
    u : ndarray of shape (k, p)
        Targets of the contrasts.
    of_contrast, of_row : ndarray of shape (k,) and (m,)
        Query of each contrast, and of each row: 0, 1, ...
    images : ndarray of shape (m, r)
        Kernel of each row and the contrasts, times the eigenvectors.
    basis : HeldOutBasis, optional
        Rows that take features along when they are held out.
    features : ndarray of shape (m, n), optional
        The features, if there is a basis.
    """

    spectrum: Spectrum
    u: Array
    of_contrast: NDArray[np.integer]
    of_row: NDArray[np.integer]
    images: Array
    basis: HeldOutBasis | None = None
    features: Array | None = None

    def every_query(self, alphas: NDArray[np.float64]) -> Array:
        """Predict the rows of every query without it, at the alpha of its refit.

        Parameters
        ----------
        alphas : ndarray of shape (n_alphas, n_queries)

        Returns
        -------
        ndarray of shape (n_alphas, m, p)
        """
        found = [
            self._predict(rows, contrasts, alphas[:, query])
            for query, (rows, contrasts) in enumerate(zip(self._rows, self._contrasts, strict=True))
        ]
        return take(self._xp.concat(found, axis=1), np.argsort(np.concatenate(self._rows)), axis=1)

    def predict(self, rows: Rows, contrasts: Rows, alpha: float, left: tuple[Array, Array] | None = None) -> Array:
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
        return self._predict(rows, contrasts, np.array([alpha]), left)[0, ...]

    def contrasts_of(self, queries: NDArray[np.integer]) -> Rows:
        """Contrasts of some queries."""
        return np.concatenate([np.empty(0, np.intp), *(self._contrasts[query] for query in queries)])

    def _predict(
        self, rows: Rows, contrasts: Rows, alphas: NDArray[np.float64], left: tuple[Array, Array] | None = None
    ) -> Array:
        directions = None if self.basis is None else self.basis.directions(rows)
        if directions is not None:
            weights = [self._weights(contrasts, float(alpha), left, directions) for alpha in alphas]
            return self._xp.stack([take(self.features, rows) @ w for w in weights])
        images, size = take_rows(self.images, rows), len(contrasts) * self.spectrum.values.shape[0]
        blocks = [like(alphas[some], self.u) for some in slices(len(alphas), _BLOCK_ELEMENTS // max(1, size))]
        found = [_multiply(self._xp, images, self._coefficients(contrasts, some, left)) for some in blocks]
        return found[0] if len(found) == 1 else self._xp.concat(found)

    def _coefficients(self, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None) -> Array:
        """Solve for several alphas; shape (r, n_alphas, p)."""
        values = self.spectrum.values
        if left is not None and self.spectrum.complete:
            many = len(contrasts) > _SHARE * values.shape[0]
            if many or largest(values) > _WELL * float(self._xp.min(alphas)):
                return self._refit(contrasts, alphas, left)
        return self._along_without(contrasts, alphas, left) / (values[:, None] + alphas)[:, :, None]

    def _weights(
        self, contrasts: Rows, alpha: float, left: tuple[Array, Array] | None, directions: Directions
    ) -> Array:
        """Solve for one alpha, orthogonally to directions that are lost; weights of the features, of shape (n, p)."""
        assert self.basis is not None
        xp, values, U = self._xp, self.spectrum.values[:, None], self.spectrum.right
        if left is not None and self.spectrum.complete:
            vectors, targets = self._what_remains(contrasts, left)
            Z = U @ (values**0.5 * vectors.T)
            N = self.basis.whole(directions)
            Z -= N @ (N.T @ Z)
            return Z @ xp.linalg.solve(Z.T @ Z + alpha * self._identity(Z.shape[1]), targets)
        lost = self.basis.lost(directions, alpha)
        along = self._along_without(contrasts, like(np.array([alpha]), self.u), left, lost.shrunk)[:, 0, :]
        along = (values / (values + alpha)) ** 0.5 * along
        taken = lost.inside.T @ along
        w = U @ ((along - lost.inside @ taken) / (values + alpha) ** 0.5)
        return w - lost.outside @ taken / alpha**0.5 if lost.outside.shape[0] else w

    def _along_without(
        self, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None, lost: Array | None = None
    ) -> Array:
        """Return ``V' (u - e)``, e being the residuals of the contrasts; shape (r, n_alphas, p).

        With G of what is lost, for one alpha.
        """
        xp, values, along = self._xp, self.spectrum.values, self._along[:, None, :]
        vectors, u = take_rows(self.spectrum.vectors, contrasts), take(self.u, contrasts)
        inverse = 1.0 / (values[:, None] + alphas)
        shrunk = values[:, None] * inverse
        if len(contrasts) > values.shape[0]:
            gone, right = vectors.T @ vectors, self._along - vectors.T @ u
            if left is not None:
                new = left[0] @ vectors
                gone, right = gone - new.T @ new, right + new.T @ left[1]
            matrix = self._identity(values.shape[0]) - gone * shrunk.T[:, None, :]
            if lost is not None:
                matrix = matrix + (gone @ lost) @ lost.T
            return _swap(xp, xp.linalg.solve(matrix, right[None, ...]))
        if self.spectrum.complete:
            rest = alphas * inverse
            N = _weighted_gram(xp, vectors, rest)
            g = _multiply(xp, vectors, rest[:, :, None] * along)
        else:
            N = self._identity(len(contrasts)) - _weighted_gram(xp, vectors, shrunk)
            g = u - _multiply(xp, vectors, shrunk[:, :, None] * along)
        if lost is not None:
            Y = vectors @ lost
            N, g = N + Y @ Y.T, g + Y @ (lost.T @ self._along)
        e = xp.linalg.solve(N, g)
        if left is not None:
            Q, t = left
            spread = xp.linalg.solve(N, Q.T[None, ...])
            c = xp.linalg.solve(self._identity(Q.shape[0]) - Q @ Q.T + Q @ spread, t - Q @ (u - e))
            e = e - spread @ c
        back = _multiply(xp, vectors.T, _swap(xp, e))
        return along - _swap(xp, back)

    def _identity(self, n: int) -> Array:
        return self._xp.eye(n, dtype=self._xp.float64, device=device(self.u))

    @cached_property
    def _xp(self) -> Any:
        return array_namespace(self.u)

    def _refit(self, contrasts: Rows, alphas: Array, left: tuple[Array, Array]) -> Array:
        """Solve for what remains, in the coordinates of the eigenvectors: a refit, but for the kernel matrix.

        Above, parts of queries err as the square of the condition, if rows recur in other queries; this does not.
        """
        xp, (A, targets) = self._xp, self._what_remains(contrasts, left)
        matrix, identity = (A * self.spectrum.values) @ A.T, self._identity(A.shape[0])
        found = [A.T @ xp.linalg.solve(matrix + alphas[k] * identity, targets) for k in range(alphas.shape[0])]
        return xp.stack(found, axis=1)

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
    def _along(self) -> Array:
        return self.spectrum.vectors.T @ self.u


def _multiply(xp: Any, vectors: Array, columns: Array) -> Array:
    """Multiply with (r, n_alphas, p) columns, all at once; shape (n_alphas, len(vectors), p)."""
    r, n, p = columns.shape
    return _swap(xp, xp.reshape(vectors @ xp.reshape(columns, (r, n * p)), (vectors.shape[0], n, p)))


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
