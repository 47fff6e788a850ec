"""Random samples of pairs per row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import rows, seeds

from kernelrank import RankSVM
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import sample_pairs


def partners(y, qid):
    """Return, for each row, the rows of its query with another utility."""
    queries = [0] * len(y) if qid is None else qid
    return [[j for j in range(len(y)) if queries[i] == queries[j] and y[i] != y[j]] for i in range(len(y))]


@given(rows(), st.integers(1, 6), seeds)
def test_every_row_gets_k_different_partners_or_all(case, k, seed):
    possible = partners(case.y, case.qid)
    if not any(possible):
        with pytest.raises(NoComparablePairsError, match="no pair to sample"):
            sample_pairs(case.y, k, qid=case.qid, random_state=seed)
        return
    pairs = sample_pairs(case.y, k, qid=case.qid, random_state=seed)
    winners, losers = pairs.T
    assert (case.y[winners] > case.y[losers]).all()
    begin = 0
    for row, others in enumerate(possible):  # in the order of the rows
        n = min(k, len(others))
        drawn = [next(int(each) for each in pair if each != row) for pair in pairs[begin : begin + n]]
        assert len(set(drawn)) == n
        assert set(drawn) <= set(others)
        begin += n
    assert begin == len(pairs)


def test_every_partner_is_as_likely():
    """Row 0 has 6 partners and draws 2: each of the 15 sets has probability 1/15."""
    y, rng = np.array([1, 0, 0, 2, 2, 3, 4, 1]), np.random.RandomState(0)
    counts = np.zeros((8, 8))
    n = 3000
    for _ in range(n):
        # Sum of the indices of the partners of row 0.
        first, second = sample_pairs(y, 2, random_state=rng)[:2].sum(axis=1)
        counts[min(first, second), max(first, second)] += 1
    drawn = counts[counts > 0]
    assert len(drawn) == 15
    assert ((drawn - n / 15) ** 2 / (n / 15)).sum() < 40  # chi square with 14 degrees of freedom: p = 0.0003


def test_the_draw_is_the_seeds():
    y = np.arange(50)
    np.testing.assert_array_equal(sample_pairs(y, 3, random_state=1), sample_pairs(y, 3, random_state=1))
    assert (sample_pairs(y, 3, random_state=1) != sample_pairs(y, 3, random_state=2)).any()


def test_they_train_a_ranker(rng):
    X = rng.normal(size=(200, 3))
    y = X @ [2.0, -1.0, 0.5]
    assert RankSVM().fit_pairs(X, sample_pairs(y, 5, random_state=0)).score(X, y) > 0.98


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (1.5, TypeError)])
def test_k_is_a_positive_number(k, error):
    with pytest.raises(error, match="k"):
        sample_pairs([1, 2], k)


def test_no_rows():
    with pytest.raises(NoComparablePairsError, match="n_samples = 0"):
        sample_pairs([], 1)
