r"""Separation of ``1 / (l s + penalty)`` into products of a function of l and a function of s.

For nodes x_j > 0 and n_j > 0,

    1 / (x + n) = sum_j (x_j + n_j) f_j(x) g_j(n) + error,
    f_j(x) = prod_{i<j} (x - x_i) / (x + n_i) / (x + n_j),    g_j(n) = prod_{i<j} (n - n_i) / (n + x_i) / (n + x_j).

The relative error is the product of all factors, ``prod_i (x - x_i) (n - n_i) / ((x + n_i) (n + x_i))``. The nodes that
make it least for all x in [0, largest] and n in [smallest, infinity) are Zolotarev's, which elliptic functions give:
their number grows with ``log(1 / error) log(largest / smallest)``. From the smallest x_j upwards, no product of
factors of x, or of n, exceeds 1 in size, so that rounding errors do not grow.

References
----------
Beckermann, Townsend: On the singular values of matrices with displacement structure. SIAM Journal on Matrix Analysis
and Applications 38 (2017).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipj, ellipkm1

Array = NDArray[np.float64]

_ERROR = 1e-15  # relative
_SMALL = 1e-5


def separate(largest: float, smallest: float) -> tuple[Array, Array]:
    """Return the nodes of x and n, in increasing order, for x up to `largest` and n from `smallest`.

    Examples
    --------
    >>> from kernelrank.solvers.kronecker._separation import separate
    >>> x, n = separate(10.0, 0.1)
    >>> len(x)
    27
    """
    ratio = largest / smallest
    if ratio <= _ERROR:  # x adds nothing to n
        return np.zeros(1), np.full(1, smallest)
    # A Moebius map takes 0, largest, -smallest and infinity to a, 1, -a and -1.
    rest = 2.0 * ratio + 2.0 * np.sqrt(ratio * (ratio + 1.0))
    a = 1.0 / (1.0 + rest)
    n_nodes = max(1, int(np.ceil(np.log(4.0 / _ERROR) * np.log(16.0 * (ratio + 1.0)) / np.pi**2)))
    places = _dn((2.0 * np.arange(n_nodes, dtype=np.float64)[::-1] + 1.0) / (2.0 * n_nodes), a)
    scale = 0.5 * smallest * rest
    return scale * (places - a) / (1.0 + places), scale * (places + a) / (1.0 - places)


def _dn(shares: Array, a: float) -> Array:
    """Return the elliptic function dn at shares of its quarter period; it decreases from 1 to a."""
    quarter = float(ellipkm1(a**2))
    first = shares <= 0.5
    u = quarter * np.where(first, shares, 1.0 - shares)
    # The argument 1 - a^2 loses a small a; without it, dn is wrong by a share of a / 4, which moves nodes by as little.
    found = ellipj(u, 1.0 - a**2)[2] if a > _SMALL else 1.0 / np.cosh(u)
    return np.asarray(np.where(first, found, a / found))
