"""Held-out pairs, against a loop over them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelrank import RankSVM
from kernelrank.exceptions import NoComparablePairsError, UndefinedQueryWarning
from kernelrank.metrics import concordance_index, pair_accuracy


def by_loop(pairs, scores, weight=None, ties=0.5):
    weight = [1] * len(pairs) if weight is None else weight
    right = [1 if scores[i] > scores[j] else ties if scores[i] == scores[j] else 0 for i, j in pairs]
    return sum(w * r for w, r in zip(weight, right, strict=True)) / sum(weight)


@st.composite
def cases(draw):
    m = draw(st.integers(2, 8))
    scores = draw(st.lists(st.sampled_from((-1.0, -0.0, 0.0, 2.5)), min_size=m, max_size=m))
    rows = st.lists(st.integers(0, m - 1), min_size=2, max_size=2, unique=True)
    pairs = draw(st.lists(rows, min_size=1, max_size=12))
    weight = draw(st.none() | st.lists(st.integers(1, 9), min_size=len(pairs), max_size=len(pairs)))
    return pairs, scores, weight


@given(case=cases(), ties=st.sampled_from((0, 0.25, 0.5, 1)))
def test_every_pair_counts(case, ties):
    pairs, scores, weight = case
    found = pair_accuracy(pairs, scores, weight=weight, ties=ties)
    assert type(found) is float
    assert found == pytest.approx(by_loop(pairs, scores, weight, ties), rel=1e-14)


def test_the_mean_over_queries(rng):
    scores, qid = rng.integers(0, 4, 30).astype(float), rng.permutation(np.repeat(list("abcde"), 6))
    pairs = np.array([(i, j) for i in range(30) for j in range(30) if i != j and qid[i] == qid[j] != "c"])
    pairs = pairs[rng.permutation(len(pairs))[:60]]
    names = list(dict.fromkeys(qid))
    values = pair_accuracy(pairs, scores, qid=qid, per_query=True)
    for name, value in zip(names, values, strict=True):
        mine = [pair for pair in pairs if qid[pair[0]] == name]
        assert value == (pytest.approx(by_loop(mine, scores)) if mine else pytest.approx(np.nan, nan_ok=True))
    with pytest.warns(UndefinedQueryWarning, match=r"^1 of 5 queries have no pair and are left out of the mean\.$"):
        assert pair_accuracy(pairs, scores, qid=qid) == pytest.approx(np.nanmean(values))
    assert pair_accuracy(pairs, scores, qid=qid, undefined=0) == pytest.approx(np.nansum(values) / 5)


def test_all_pairs_are_the_concordance(rng):
    y, scores = rng.integers(0, 4, 40), rng.integers(0, 6, 40).astype(float)
    pairs = np.argwhere(y[:, None] > y)
    assert pair_accuracy(pairs, scores) == pytest.approx(concordance_index(y, scores), rel=1e-14)


def test_weights_of_any_size():
    for unit in (1e-300, 1.0, 1e300):
        assert pair_accuracy([[0, 1], [1, 0]], [1, 2], weight=[unit, 3 * unit]) == 0.75


def test_a_model_on_pairs_that_it_has_not_seen(rng):
    X = rng.normal(size=(100, 3))
    utility = X @ [1.0, -2.0, 0.5]
    pairs = rng.permuted(np.tile(np.arange(100), (20, 1)), axis=1).reshape(-1, 2)
    pairs = np.where((utility[pairs[:, 0]] > utility[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    model = RankSVM(1e-4).fit_pairs(X, pairs[:500])
    assert pair_accuracy(pairs[500:], model.predict(X)) > 0.97


@pytest.mark.parametrize(
    ("pairs", "kwargs", "words"),
    [
        ([], {}, "pairs is empty"),
        ([0, 1], {}, r"pairs must have shape \(n_pairs, 2\)"),
        ([[0.0, 1.0]], {}, "pairs must hold integer row indices"),
        ([[0, 1], [0, 3]], {}, r"pairs\[1\] is \[0, 3\], but y_score has 3 rows, 0 to 2"),
        ([[0, -1]], {}, "but y_score has 3 rows"),
        ([[1, 1]], {}, r"pairs\[0\] compares row 1 with itself"),
        ([[0, 2]], {"qid": [1, 1, 2]}, r"pairs\[0\] is \[0, 2\], two rows of different queries"),
        ([[0, 1]], {"qid": [1, 1]}, "qid has 2 elements, but there are 3 rows"),
        ([[0, 1]], {"weight": [1, 2]}, "weight has 2 elements, but there are 1 pairs"),
        ([[0, 1]], {"weight": [-1]}, "weight must not be negative"),
        ([[0, 1]], {"weight": [0]}, "weight is zero everywhere"),
        ([[0, 1]], {"ties": 2}, "ties must be a number from 0 to 1"),
        ([[0, 1]], {"ties": "half"}, "ties must be a number from 0 to 1"),
        ([[0, 1]], {"undefined": 3}, "undefined must be 'skip' or 0 or 1"),
    ],
)
def test_bad_input(pairs, kwargs, words):
    with pytest.raises(ValueError, match=words):
        pair_accuracy(pairs, [1, 2, 3], **kwargs)


def test_scores_are_finite():
    with pytest.raises(ValueError, match="y_score contains NaN"):
        pair_accuracy([[0, 1]], [1, np.nan])
    with pytest.raises(NoComparablePairsError, match="empty"):
        pair_accuracy(np.empty((0, 2), int), [1, 2])
