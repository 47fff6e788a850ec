"""Permuted outputs, and what they are for."""

import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.model_selection import permuted_outputs


def test_columns_are_permutations(rng):
    y = rng.normal(size=30)
    Y = permuted_outputs(y, 50, random_state=1)
    np.testing.assert_array_equal(Y[:, 0], y)
    np.testing.assert_array_equal(np.sort(Y, axis=0), np.sort(y)[:, None] + np.zeros(51))
    assert len({tuple(column) for column in Y.T}) == 51
    np.testing.assert_array_equal(Y, permuted_outputs(y, 50, random_state=1))


def test_every_place_is_as_likely_as_any_other():
    Y = permuted_outputs(np.arange(4), 20_000, random_state=0)[:, 1:]
    for value in range(4):
        shares = (value == Y).mean(axis=1)
        assert np.abs(shares - 0.25).max() < 0.02  # six standard deviations


def test_permutations_stay_inside_queries(rng):
    y, qid = rng.normal(size=60), rng.integers(7, size=60)
    Y = permuted_outputs(y, 20, qid=qid, random_state=rng.integers(1000))
    for q in np.unique(qid):
        np.testing.assert_array_equal(np.sort(Y[qid == q], axis=0), np.sort(y[qid == q])[:, None] + np.zeros(21))
    assert (Y[:, 1:] != y[:, None]).any(axis=0).all()


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_they_are_learnt_as_if_alone(rng, kernel):
    X = rng.normal(size=(30, 4))
    Y = permuted_outputs(X[:, 0] + rng.normal(size=30), 5, random_state=0)
    together = RankRLS(0.1, kernel=kernel).fit(X, Y)
    alone = [RankRLS(0.1, kernel=kernel).fit(X, y) for y in Y.T]
    np.testing.assert_allclose(
        together.leave_pair_out_concordance(), [model.leave_pair_out_concordance() for model in alone]
    )
    qid = np.arange(30) // 6
    Y = permuted_outputs(Y[:, 0], 5, qid=qid, random_state=0)
    together = RankRLS(0.1, kernel=kernel).fit(X, Y, qid=qid).leave_query_out()
    for y, found in zip(Y.T, together.T, strict=True):
        np.testing.assert_allclose(found, RankRLS(0.1, kernel=kernel).fit(X, y, qid=qid).leave_query_out(), rtol=1e-9)


@pytest.mark.parametrize(("y", "n"), [([1.0, np.nan], 3), ([[1.0, 2.0]], 3), ([1.0, 2.0], -1)])
def test_bad_calls(y, n):
    with pytest.raises(ValueError, match=r"y|n_permutations"):
        permuted_outputs(y, n)
