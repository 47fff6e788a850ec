"""The bundle's memory: bounded, and never at the expense of the bound."""

import numpy as np

from kernelrank.solvers import LinearOracle, make_products
from kernelrank.solvers._cuts import Cuts
from kernelrank.solvers._simplex_qp import SimplexSolver


def plain_vectors(n_features):
    return LinearOracle(make_products(np.zeros((1, n_features))), loss=None)


def dual_value(cuts, u, alpha):
    return cuts.offsets @ u - u @ cuts.gram @ u / (4 * alpha)


def test_the_gram_matrix_grows_with_the_planes(rng):
    cuts = Cuts(plain_vectors(7), most=100)
    planes = rng.normal(size=(40, 7))
    for a in planes:
        cuts.add(a, 0.5)
    assert cuts.size == 41
    np.testing.assert_allclose(cuts.gram[1:, 1:], planes @ planes.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(cuts.gram[0], 0)


def test_making_room_keeps_the_value_of_the_last_solution(rng):
    """With every plane in use, the least used half is replaced by its weighted mean."""
    alpha, most = 1.0, 10
    cuts = Cuts(plain_vectors(50), most)
    for _ in range(200):
        cuts.add(rng.normal(size=50), rng.random())
        before = SimplexSolver()(cuts.gram / (2 * alpha), cuts.offsets, 1e-12)
        cuts.use(before.u)
        full = cuts.size == most
        if full:
            w = cuts.combine(before.u)
            cuts._make_room()
            assert cuts.size < most
            np.testing.assert_allclose(cuts.u.sum(), 1, rtol=1e-14)
            np.testing.assert_allclose(dual_value(cuts, cuts.u, alpha), before.value, rtol=1e-9)
            np.testing.assert_allclose(cuts.combine(cuts.u), w, rtol=1e-9, atol=1e-9)
        assert cuts.size <= most


def test_unused_planes_go_first(rng):
    cuts = Cuts(plain_vectors(3), most=8)
    for k in range(7):
        cuts.add(np.full(3, float(k)), float(k))
    cuts.u = np.array([0, 0, 0.5, 0, 0.5, 0, 0, 0])
    cuts.add(np.full(3, 9.0), 9.0)
    np.testing.assert_array_equal(cuts.offsets, [0, 1, 3, 9])


def test_planes_that_are_not_used_for_long_go(rng):
    cuts = Cuts(plain_vectors(3), most=100)
    for k in range(1, 20):
        cuts.add(rng.normal(size=3), float(k))
    use = np.zeros(20)
    use[0], use[[3, 7]], use[11] = 1 - 1e-9, 0.5e-9, 1e-22  # of large features all but the first are used little
    for _ in range(5):
        cuts.use(use)
        assert cuts.size == 20
    cuts.use(use)
    np.testing.assert_array_equal(cuts.offsets, [0, 3, 7])
    np.testing.assert_allclose(cuts.gram[1:, 1:], [[a @ b for b in cuts._a[1:3]] for a in cuts._a[1:3]], rtol=1e-13)
    np.testing.assert_array_equal(cuts.u, use[[0, 3, 7]])


def test_the_gram_matrix_of_some_features_follows_their_changes(rng):
    """It is updated by the features that change, while planes come and go; more than half of them, and it is new."""
    cuts = Cuts(plain_vectors(60), most=12)
    features = rng.random(60) < 0.5
    for step in range(200):
        cuts.add(rng.normal(size=60), rng.random())
        if step % 5 == 0:
            cuts.use(rng.dirichlet(np.ones(cuts.size)))
        changed = rng.random(60) < (0.9 if step % 17 == 0 else 0.05)
        features = features ^ changed
        slopes = cuts.slopes[:, features]
        # Fifty updates of numbers of the size of 60, each rounded.
        np.testing.assert_allclose(cuts.gram_of(features), slopes @ slopes.T, atol=1e-12)
