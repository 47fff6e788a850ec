"""The experiments that have a quick run, and what only they compute."""

import numpy as np
import pytest

from kernelrank import RLS


def test_the_quick_run_of_ppi(run):
    output = run("experiments.ppi.run", "--quick")
    for title in (
        "table 1",
        "tables 2 to 5",
        "figure 3",
        "The pitfall",
        "figure 1 of Airola et al. (2011)",
        "The pipeline",
    ):
        assert title in output
    assert "nan" not in output


@pytest.mark.slow
def test_the_quick_run_of_auc_estimation(run):
    output = run("experiments.auc_estimation.run", "--quick")
    for title in ("Bias", "Spread", "Other models", "Intervals", "Tests", "Choosing by the same pairs", "Speed"):
        assert f"## {title}" in output
    assert "Left out: it needs letor/OHSUMED" in output
    assert "nan" not in output


@pytest.mark.parametrize("lam", [0.1, 10.0])
def test_nested_hold_outs_are_refits(load, rng, lam):
    HeldOut = load("experiments.ppi._nested").HeldOut
    X, groups = rng.normal(size=(40, 60)), rng.integers(8, size=40)
    K, y = X @ X.T, rng.choice([-1.0, 1.0], size=40)
    fold, others = np.flatnonzero(groups < 2), np.flatnonzero(groups >= 2)

    def refit(train, test):
        model = RLS(lam / len(train), kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
        return model.predict(K[np.ix_(test, train)])

    model = HeldOut(K.copy(), y)
    found = model.at(lam).nested(fold, groups)
    np.testing.assert_allclose(found.fold, refit(others, fold), rtol=1e-6)
    np.testing.assert_allclose(found.fold, model.at(lam).hold_out(fold), rtol=1e-6)
    for group in range(2, 8):
        inside = groups[others] == group
        np.testing.assert_allclose(found.others[inside], refit(others[~inside], others[inside]), rtol=1e-6)
    each = model.at(lam).hold_out_each(groups)
    np.testing.assert_allclose(
        each[fold[groups[fold] == 0]], refit(np.flatnonzero(groups), np.flatnonzero(groups == 0))
    )
    new = model.weights(lam)
    np.testing.assert_allclose((K - K.mean(axis=0)) @ new + y.mean(), refit(np.arange(40), np.arange(40)), rtol=1e-6)


def test_nested_hold_outs_without_a_mean(load, rng):
    HeldOut = load("experiments.ppi._nested").HeldOut
    X = rng.normal(size=(30, 5))
    K, y, test, train = X @ X.T, rng.choice([-1.0, 1.0], size=30), np.arange(6), np.arange(6, 30)
    weights = np.linalg.solve(K[np.ix_(train, train)] + 0.5 * np.eye(24), y[train])
    np.testing.assert_allclose(
        HeldOut(K.copy(), y, mean=False).at(0.5).hold_out(test), K[np.ix_(test, train)] @ weights
    )
