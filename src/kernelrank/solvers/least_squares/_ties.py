r"""Rounding errors of held-out predictions, and the rule for ties.

**The rule.** A held-out prediction comes with a bound of its rounding error. Two predictions are tied if they differ by
no more than the sum of their bounds, and tied predictions get the same value, so that every metric sees the tie. Ties
are transitive: predictions whose intervals overlap, directly or through others, are one group.

**The bound.** All closed forms solve ``W_SS e = r_S`` for the residuals e of held-out rows S, with
``W = V diag(d) V'`` and ``r = W y`` (``_residual.py``). Errors dW and dr change e by
``W_SS^-1 (dr - dW e)``. Let row k of ``dr - dW e`` be of size at most ``s_k b``. Its elements are rounding, of random
signs, so row i of the solution is off by about

    ``b (sum over k of (W_SS^-1)_ik^2 s_k^2)^1/2``.

With ``y~ = y - I_S e`` (the targets, with the predictions in the place of held-out ones), ``a = V'y~``, and
``c = a / (lambda + alpha)``, the dual coefficients of the held-out model, there are two sources of ``s_k b``:

1. Products of rounded numbers. If all eigenvectors are known, ``s_k = ||V_k d||`` by Cauchy and Schwarz, and
   ``b = eps (||a|| + ||e||)``. If W is the difference of the identity and few eigenvectors, ``s_k = 1`` and
   ``b = eps (max |y~| + h ||a||)`` with h the norm of the longest row of V.
2. The decomposition, which is that of a matrix nearby. ``M + E`` instead of M changes W by ``-W E W / alpha``, hence
   ``dr - dW e = -W E c``. Eigenvalues of the size of E have been set to zero, and E with them; let ``+`` be the others
   and 0 these. Then row k of ``W E c`` is at most ``||E|| (||V_k d|| ||c_+|| + ||V_k+ / (lambda + alpha)|| ||a_0||)``.
   With lambda_+ the least of the others, ``b = ||E|| (||c_+|| + ||a_0|| / (lambda_+ + alpha))``, where ``s_k`` is the
   norm of ``V_k d`` and ``V_k+ (lambda_+ + alpha) / (lambda + alpha)`` together, or of ``V_k d`` if there are no zeros.
   For singular vectors, ``Z + E`` changes M by ``E Z' + Z E'``: ``b = h ||E|| (||w|| + g ||y~||)``, with the weights
   ``w = Z'c`` and g the greatest of ``lambda_+^1/2 / (lambda_+ + alpha)``.

The bounds are of first order in eps, and hold up to the factor `SAFETY`, which stands for the moderate constants of
LAPACK and of sums.

**The limit.** No tie is wider than `LIMIT` times the largest target, half of the digits. Where rounding may be larger,
with an alpha of 1e-10 times the largest eigenvalue, ties are not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, to_host
from kernelrank.solvers.least_squares._blocks import blocks
from kernelrank.solvers.least_squares._spectrum import Spectrum, largest

EPS = float(np.finfo(np.float64).eps)
SAFETY = 16.0
LIMIT = EPS**0.5


class Predicted(NamedTuple):
    """Held-out predictions, and bounds of their rounding errors; arrays of the same shape."""

    values: Array
    errors: Array

    def tied(self, groups: NDArray[np.integer] | None = None) -> Array:
        """Return the predictions with ties of the same value, as an array like the predictions.

        Parameters
        ----------
        groups : ndarray of int, of shape (n_rows,), optional
            Rows of the same group are compared with each other: all, by default. Columns, if there are any, are not.
        """
        return like(merge_ties(to_host(self.values), to_host(self.errors), groups), self.values)


def merge_ties(
    values: NDArray[np.float64], errors: NDArray[np.float64], groups: NDArray[np.integer] | None = None
) -> NDArray[np.float64]:
    """Assign the same value to all values whose intervals ``value - error`` to ``value + error`` overlap.

    Parameters
    ----------
    values, errors : ndarray of shape (n_rows,) or (n_rows, n_columns)
        NaN is tied with nothing.
    groups : ndarray of int, of shape (n_rows,), optional
        Only values of the same group and column can be tied.

    Returns
    -------
    ndarray of the shape of `values`
        For each set of ties, the value with the least error. O(n log n).
    """
    if len(values) < 2:
        return values
    flat, sizes = values.ravel(), np.nan_to_num(errors.ravel())
    columns = np.arange(values.size) % (values.size // len(values))
    group = columns if groups is None else np.repeat(groups, values.size // len(values)) * (columns.max() + 1) + columns
    # Both ends as ranks, larger ones in later groups: one running maximum then serves all groups.
    ends, n = (
        np.unique(np.concatenate([flat - sizes, flat + sizes]), return_inverse=True, equal_nan=False)[1],
        values.size,
    )
    low, high = ends[:n] + group * (2 * n), ends[n:] + group * (2 * n)
    order = np.argsort(low, kind="stable")
    begins = np.append(True, low[order[1:]] > np.maximum.accumulate(high[order])[:-1])
    if begins.all():
        return values
    cluster = np.empty(n, np.intp)
    cluster[order] = np.cumsum(begins) - 1
    best = np.lexsort((sizes, cluster))  # the least error of each cluster comes first
    first = np.append(True, np.diff(cluster[best]) > 0)
    return np.asarray(flat[best[first]][cluster].reshape(values.shape))


@dataclass(frozen=True)
class Rounding:
    """Sizes of the errors of W and r, for a spectrum.

    Attributes
    ----------
    spectrum : Spectrum
    complete : bool
        Whether W is made of all eigenvectors; if not, it is the identity, less a few.
    """

    spectrum: Spectrum
    complete: bool

    def scales(self, vectors: Array, alphas: Array) -> Array:
        """Return s of some rows of V, for several alphas; shape (n_alphas, n_rows)."""
        xp, values = array_namespace(vectors), self.spectrum.values[:, None]
        if not self.complete:
            return like(np.ones((alphas.shape[0], vectors.shape[0])), vectors)
        shifted = values + alphas
        factors = (alphas / shifted) ** 2
        if self._n_positive < values.shape[0]:
            factors = factors + xp.where(values > 0.0, ((self._least_positive + alphas) / shifted) ** 2, 0.0)
        parts = [vectors[part, :] ** 2 @ factors for part in blocks(*vectors.shape)]
        return xp.sqrt(xp.concat([vectors[:0, :] @ factors, *parts])).T

    def size(self, along: Array, e: Array | float, target: tuple[Array, Array], alpha: Array) -> Array:
        """Return b of held-out models; shape (n, p).

        Parameters
        ----------
        along : array of shape (r, n, p)
            The targets along the eigenvectors, with predictions in the place of held-out ones.
        e : array of shape (n, p)
            Norms of the residuals of the held-out rows.
        target : tuple of array of shape (p,)
            Norm, and the largest element, of the targets of all rows, or of the numbers that they are made of.
        alpha : array of shape (n,) or (1,)
        """
        xp = array_namespace(along)
        values = self.spectrum.values[:, None, None]
        shifted, known = values + alpha[:, None], xp.astype(values > 0.0, along.dtype)
        length, top = target
        if self.complete:
            dual, lost = norm(known * along / shifted), norm((1.0 - known) * along)
            least = self._least_positive + alpha[:, None]
            return EPS * (length + norm(along) + e) + self.error * (dual + lost / least)
        weights = norm(values**0.5 * along / shifted)
        gain = xp.max(known * values**0.5 / shifted, axis=0) if values.shape[0] else 0.0
        inside = norm(along) + largest(self.spectrum.values) ** 0.5 * (weights + gain * (length + e))
        return EPS * (top + e + self._longest_row * inside)

    def of_lost(self, alpha: float) -> float:
        """Return the relative error of G (``_basis.py``), whose vectors are scaled by ``(lambda + alpha)^-1/2``."""
        return float(EPS * ((largest(self.spectrum.values) + alpha) / (self._least_positive + alpha)) ** 0.5)

    @property
    def error(self) -> float:
        """Norm of E."""
        return max(self.spectrum.error, EPS * largest(self.spectrum.values))

    @cached_property
    def _least_positive(self) -> float:
        values = np.asarray(to_host(self.spectrum.values))
        return float(np.min(values[values > 0.0])) if self._n_positive else 0.0

    @cached_property
    def _n_positive(self) -> int:
        return int(np.count_nonzero(to_host(self.spectrum.values) > 0.0))

    @cached_property
    def _longest_row(self) -> float:
        V, xp = self.spectrum.vectors, array_namespace(self.spectrum.vectors)
        longest = max((float(xp.max(xp.sum(V[part, :] ** 2, axis=1))) for part in blocks(*V.shape)), default=0.0)
        return float(longest**0.5)


def solve_with_inverse(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Return the solutions of stacked equations, and the inverses, which amplify errors."""
    xp, p, n = array_namespace(matrix), right.shape[-1], matrix.shape[-1]
    both = xp.concat([right, xp.broadcast_to(identity(n, matrix), (*right.shape[:-1], n))], axis=-1)
    solution = xp.linalg.solve(matrix, both)
    return solution[..., :p], solution[..., p:]


def identity(n: int, x: Array) -> Array:
    """Return the identity matrix, in the namespace and on the device of x."""
    xp = array_namespace(x)
    return xp.eye(n, dtype=xp.float64, device=device(x))


def norm(x: Array, axis: int = 0) -> Array:
    """Return Euclidean norms along an axis."""
    return array_namespace(x).linalg.vector_norm(x, axis=axis)
