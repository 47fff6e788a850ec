r"""The small quadratic program of the bundle method, from a factor of its matrix.

    maximise  D(u) = b . u - ||F u||^2 / 2   over the simplex  u >= 0, sum u = 1

Where alpha is tiny compared with the squares of the features, the planes almost cancel in F u. ``H = F' F`` then has
too few digits, because it is rounded relative to the squares; F itself has enough. ``z = F u`` keeps them if it is not
summed up but solved for from the conditions of the optimum, ``f_k . z = b_k - b . u`` up to a constant for every plane
in use: u is rounded relative to 1, which F multiplies, while z is rounded relative to itself.

An active-set method in the manner of Wolfe ("Finding the nearest point in a polytope", 1976): D is maximised over the
affine span of the planes in use, as far as none becomes negative; one that reaches zero leaves, and when none does,
the plane with the steepest slope enters. D never falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_FAR = 1e3  # a step that leaves the simplex
_EPS = float(np.finfo(np.float64).eps)


class Refined(NamedTuple):
    """A point of the simplex, and ``z = F u`` of the optimum over the planes in use."""

    u: Vector
    z: Vector


def refine(F: Matrix, b: Vector, u: Vector, accuracy: float) -> Refined:
    """Return a point of the simplex where D is within `accuracy` of its maximum, if float64 can tell.

    Parameters
    ----------
    F : ndarray of shape (n, k)
    b : ndarray of shape (k,)
    u : ndarray of shape (k,)
        A point of the simplex to start from.
    accuracy : float

    Returns
    -------
    Refined
    """
    basis = None
    if F.shape[0] > F.shape[1]:
        basis, F = scipy.linalg.qr(F, mode="economic", check_finite=False)
    u, used = u / u.sum(), u > 0
    barred = np.zeros_like(used)  # planes that would enter and leave in turn, while u stays where it is
    for _ in range(2 * len(b) + 20):
        direction, z = _towards_best(F, b, u, used)
        falling = used & (direction < 0)
        step = float(np.min(u[falling] / -direction[falling], initial=np.inf))
        leaving = falling & (u <= -step * direction * (1 + 4 * _EPS)) if step < 1.0 else np.zeros_like(used)
        u = np.where(used & ~leaving, np.maximum(u + min(step, 1.0) * direction, 0.0), 0.0)
        u /= u.sum()
        used &= ~leaving
        barred = barred | leaving if step == 0 else np.zeros_like(used)
        if not leaving.any():
            slope = b - F.T @ z
            entering = int(np.argmax(np.where(used | barred, -np.inf, slope)))
            if used[entering] or barred[entering] or slope[entering] - slope @ u <= accuracy:
                break
            used[entering] = True
    return Refined(u, z if basis is None else basis @ z)


def _towards_best(F: Matrix, b: Vector, u: Vector, used: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Return the step from u to the maximum of D over all combinations of the planes in use that sum to 1, and F u.

    Where D is unbounded, the step goes far in a direction of growth.
    """
    direction = np.zeros_like(u)
    planes = np.flatnonzero(used)
    base = planes[np.argmax(u[planes])]
    others = planes[planes != base]
    if len(others) == 0:
        return direction, F[:, base]
    differences, gain = F[:, others] - F[:, [base]], b[others] - b[base]
    left, sizes, right = scipy.linalg.svd(differences, full_matrices=False, check_finite=False)
    known = sizes > max(differences.shape) * _EPS * sizes[0]
    left, sizes, right = left[:, known], sizes[known], right[known]
    within = right @ gain
    beyond = gain - right.T @ within
    if np.abs(beyond).max() > np.sqrt(_EPS) * np.abs(gain).max():
        direction[others] = beyond / np.abs(beyond).max() * _FAR
    else:
        direction[others] = right.T @ ((within / sizes - left.T @ (F @ u)) / sizes)
    direction[base] = -direction[others].sum()
    # The part orthogonal to the differences stays; if it is at the level of rounding, it is zero.
    rest = F[:, base] - left @ (left.T @ F[:, base])
    if np.linalg.norm(rest) <= len(F) * _EPS * np.linalg.norm(F[:, base]):
        rest = np.zeros_like(rest)
    return direction, rest + left @ (within / sizes)
