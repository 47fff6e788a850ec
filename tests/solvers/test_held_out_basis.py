"""Directions that are lost with basis rows."""

import numpy as np
import pytest

from kernelrank.solvers.least_squares._basis import Basis, HeldOutBasis
from kernelrank.solvers.least_squares._spectrum import Spectrum

EPS = np.finfo(float).eps


@pytest.mark.parametrize("share", [1.0, 1e-3, 1e-6, 1e-9])
def test_what_the_features_do_not_reach_is_orthogonal_to_them(rng, share):
    """However small it is: it will be divided by the root of alpha, and so would be what rounding adds to it."""
    n, rank = 12, 7
    axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
    U, others = axes[:, :rank], axes[:, rank:]
    direction = U @ rng.normal(size=rank) + share * others @ rng.normal(size=n - rank)
    whitening = np.vstack([direction, rng.normal(size=(n - 1, n))])
    spectrum = Spectrum(rng.random(rank), np.linalg.qr(rng.normal(size=(9, rank)))[0], U)
    held_out = HeldOutBasis(Basis(np.arange(n), whitening), spectrum, 20)
    found = held_out.directions(np.array([0, 15]))
    assert found.n_lost == 1
    length = np.linalg.norm(found.outside)
    assert length == pytest.approx(np.linalg.norm(others.T @ direction) / np.linalg.norm(direction), rel=1e-5)
    assert np.abs(U.T @ found.outside).max() <= 10 * EPS * length
    whole = held_out.whole(found)
    np.testing.assert_allclose(whole @ whole.T, np.outer(direction, direction) / (direction @ direction), atol=1e-14)
