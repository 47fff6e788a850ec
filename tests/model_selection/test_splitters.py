"""Splitters of pairs and queries, inside and outside of scikit-learn."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_score

from kernelrank import RankRLS
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics import make_ranking_scorer
from kernelrank.model_selection import LeavePairOut, LeaveQueryOut, estimate_auc, estimate_concordance


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12))
def test_every_comparable_pair_is_held_out_once(rows):
    y, groups = np.array(rows).T
    for queries in (None, groups):
        pairs = {
            (i, j)
            for i, j in itertools.permutations(range(len(y)), 2)
            if y[i] > y[j] and (queries is None or queries[i] == queries[j])
        }
        if not pairs:
            with pytest.raises(NoComparablePairsError):
                list(LeavePairOut().split(y, y, queries))
            continue
        splits = list(LeavePairOut().split(y, y, queries))
        assert {tuple(test) for _, test in splits} == pairs
        assert len(splits) == len(pairs) == LeavePairOut().get_n_splits(y, y, queries)
        for train, test in splits:
            np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))


def test_pairs_are_made_as_they_are_asked_for():
    m = 200_000  # 10^10 pairs
    y = np.arange(m) % 2
    assert LeavePairOut().get_n_splits(None, y) == (m // 2) ** 2
    train, test = next(LeavePairOut().split(None, y))
    np.testing.assert_array_equal(test, [1, 0])
    np.testing.assert_array_equal(train, np.arange(2, m))


def test_scikit_learn_takes_them(rng):
    X = rng.normal(size=(14, 2))
    y = (X[:, 0] + rng.normal(size=14) > 0).astype(float)
    scoring = make_ranking_scorer("auc")
    found = cross_val_score(Ridge(), X, y, cv=LeavePairOut(), scoring=scoring)
    assert found.mean() == pytest.approx(estimate_auc(Ridge(), X, y).estimate)
    labels = np.where(y == 1, "b", "a")
    again = cross_val_score(LogisticRegression(), X, labels, cv=LeavePairOut(), scoring="roc_auc")
    assert again.mean() == pytest.approx(estimate_auc(LogisticRegression(), X, labels).estimate)
    search = GridSearchCV(RankRLS(), {"alpha": [0.1, 10.0]}, cv=LeavePairOut(), scoring=scoring).fit(X, y)
    expected = [RankRLS(alpha).fit(X, y).leave_pair_out_concordance() for alpha in (0.1, 10.0)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)


def test_queries(rng):
    qid, X = rng.permutation(np.repeat(np.arange(5), 4)), rng.normal(size=(20, 2))
    y = X[:, 0] + rng.normal(size=20)
    ours, theirs = list(LeaveQueryOut().split(X, y, qid)), list(LeaveOneGroupOut().split(X, y, qid))
    # The same, each in the order of its queries' first rows.
    assert sorted(tuple(test) for _, test in ours) == sorted(tuple(test) for _, test in theirs)
    for train, test in ours:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(20))
    assert LeaveQueryOut().get_n_splits(X, y, qid) == 5
    found = estimate_concordance(Ridge(), X, y, qid=qid, cv=LeaveQueryOut())
    assert found.estimate == pytest.approx(estimate_concordance(Ridge(), X, y, qid=qid).estimate)
    y[qid == qid[0]] = 1.0
    assert LeaveQueryOut().get_n_splits(X, y, qid) == 4
    assert all(qid[test[0]] != qid[0] for _, test in LeaveQueryOut().split(X, y, qid))


def test_bad_calls():
    for splitter in (LeavePairOut(), LeaveQueryOut()):
        with pytest.raises(ValueError, match="y must be given"):
            splitter.get_n_splits([[1.0], [2.0]], groups=[1, 1])
    with pytest.raises(ValueError, match="needs groups"):
        list(LeaveQueryOut().split([[1.0], [2.0]], [1, 2]))
    with pytest.raises(NoComparablePairsError):
        list(LeaveQueryOut().split([[1.0], [2.0]], [1, 2], [1, 2]))
    with pytest.raises(ValueError, match="y contains NaN"):
        list(LeavePairOut().split(None, [1.0, np.nan]))
