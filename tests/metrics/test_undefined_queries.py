"""Queries for which a metric is undefined: their value and the warning."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score

from kernelrank import RankSVM, RankSVMCV, metrics
from kernelrank.exceptions import UndefinedMetricError, UndefinedQueryWarning
from kernelrank.metrics import concordance_index, make_ranking_scorer


@pytest.fixture
def rows(rng):
    """Twelve queries, every third without a pair."""
    qid = np.repeat(np.arange(12), 8)
    X = rng.normal(size=(96, 3))
    return X, np.where(qid % 3 == 0, 1.0, X[:, 0].round(1)), qid


def test_score_warns_once(rows):
    X, y, qid = rows
    model = RankSVM().fit(X, y, qid=qid)
    with pytest.warns(UndefinedQueryWarning, match="4 of 12 queries have no pair of rows") as caught:
        found = model.score(X, y, qid=qid)
    assert len(caught) == 1
    assert found == np.nanmean(concordance_index(y, model.predict(X), qid=qid, per_query=True))


def test_folds_that_split_queries_come_with_the_remedy(rows):
    X, y, qid = rows
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(qid=qid)
    told = "In a search or cross-validation, use GroupKFold, so that queries are not split"
    with pytest.warns(UndefinedQueryWarning, match=told):
        cross_val_score(RankSVM(), table, y, cv=KFold(3, shuffle=True, random_state=0))
    with pytest.warns(UndefinedQueryWarning) as caught:
        RankSVM().fit(table, y).score(table, y)
    assert told not in str(caught[0].message)


def test_folds_do_not_warn(rows):
    X, y, qid = rows
    folds = [(np.flatnonzero(qid % 4 != k), np.flatnonzero(qid % 4 == k)) for k in range(4)]
    folds.append((np.flatnonzero(qid != 0), np.flatnonzero(qid == 0)))  # no comparable pair
    model = RankSVMCV(alphas=[1e-3, 1e-1], cv=folds).fit(X, y, qid=qid)  # warnings are errors
    np.testing.assert_array_equal(np.isnan(model.scores_), np.tile([False] * 4 + [True], (2, 1)))
    weights = np.where(qid % 4 == 1, 0.0, 1.0)
    model = RankSVMCV(alphas=[1e-3], cv=folds[:4]).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_array_equal(np.isnan(model.scores_), [[False, True, False, False]])


# Their value in a mean

METRICS = {
    "auc": {},
    "average_precision": {},
    "concordance_index": {},
    "err": {},
    "kendall_tau": {},
    "ndcg": {},
    "pairwise_error": {},
    "precision_at": {"k": 3},
    "reciprocal_rank": {"k": 2},
}
every_metric = pytest.mark.parametrize("name", sorted(METRICS))


def binary(rng):
    """Return ten queries, of which the first, the fourth and the last have no relevant row."""
    qid = np.repeat(np.arange(10), 6)
    y = rng.integers(0, 2, 60).astype(float)
    y[::6], y[1::6] = 1.0, 0.0
    y[np.isin(qid, (0, 3, 9))] = 0.0
    return y, rng.normal(size=60), qid


@every_metric
def test_they_are_left_out_or_count_0_or_1(name, rng):
    metric, kwargs = getattr(metrics, name), METRICS[name]
    y, scores, qid = binary(rng)
    values = metric(y, scores, qid=qid, undefined="skip", per_query=True, **kwargs)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(values)), [0, 3, 9])
    for row, value in enumerate(values):  # each query on its own
        rows = qid == row
        options = {**kwargs, "max_grade": 1} if name == "err" else kwargs
        [alone] = metric(y[rows], scores[rows], per_query=True, undefined="skip", **options)
        assert value == pytest.approx(alone, rel=1e-13, nan_ok=True)
    with pytest.warns(UndefinedQueryWarning, match="^3 of 10 queries have no") as caught:
        assert metric(y, scores, qid=qid, undefined="skip", **kwargs) == pytest.approx(np.nanmean(values), rel=1e-15)
    assert [each.filename for each in caught] == [__file__]
    for undefined in (0, 1, 0.0, np.int64(1)):  # warnings are errors
        expected = np.where(np.isnan(values), undefined, values)
        found = metric(y, scores, qid=qid, undefined=undefined, per_query=True, **kwargs)
        np.testing.assert_array_equal(found, expected)
        assert metric(y, scores, qid=qid, undefined=undefined, **kwargs) == pytest.approx(expected.mean(), rel=1e-15)


@every_metric
def test_none_is_defined(name):
    metric, kwargs = getattr(metrics, name), METRICS[name]
    for undefined in (0, 1):
        assert metric([0, 0], [1, 2], undefined=undefined, **kwargs) == undefined
    with pytest.raises(UndefinedMetricError, match="not defined: there is no"):
        metric([0, 0], [1, 2], undefined="skip", **kwargs)


@every_metric
@pytest.mark.parametrize("undefined", [2, 0.5, -1, np.nan, "0", "drop", None, True, [0], np.array([0, 1])])
def test_other_values_are_refused(name, undefined):
    with pytest.raises(ValueError, match="undefined must be 'skip' or 0 or 1, got"):
        getattr(metrics, name)([0, 1], [1, 2], undefined=undefined, **METRICS[name])


def test_the_warning_names_the_remedy(rng):
    y, scores, qid = binary(rng)
    for metric in (metrics.ndcg, metrics.average_precision):
        with pytest.warns(UndefinedQueryWarning, match=r"no .*row.* left out of the mean\. Pass undefined=0"):
            metric(y, scores, qid=qid)


def test_the_mean_of_trec_eval(rng):
    """trec_eval averages over all judged queries."""
    y, scores, qid = binary(rng)
    documents, queries = [f"d{row}" for row in range(60)], [f"q{each}" for each in qid]
    judged = pd.DataFrame({"query_id": queries, "doc_id": documents, "relevance": y.astype(int)})
    ranked = pd.DataFrame({"query_id": queries, "doc_id": documents, "score": scores})
    theirs = ir_measures.calc_aggregate([ir_measures.AP, ir_measures.nDCG, ir_measures.RR], judged, ranked)
    assert metrics.average_precision(y, scores, qid=qid, undefined=0) == pytest.approx(theirs[ir_measures.AP])
    assert metrics.ndcg(y, scores, qid=qid, gain="linear", undefined=0) == pytest.approx(theirs[ir_measures.nDCG])
    assert metrics.reciprocal_rank(y, scores, qid=qid) == pytest.approx(theirs[ir_measures.RR])


def test_a_scorer_and_a_search_choose_it(rng):
    y, scores, qid = binary(rng)
    named = make_ranking_scorer("map:undefined=0").evaluate(y, scores, qid=qid)
    given = make_ranking_scorer("map", undefined=0).evaluate(y, scores, qid=qid)
    assert named == given == metrics.average_precision(y, scores, qid=qid, undefined=0)
    X = np.c_[scores, rng.normal(size=60)]
    skip, zero = (RankSVMCV([1e-2], cv=2, scoring=name).fit(X, y, qid=qid) for name in ("ndcg", "ndcg:undefined=0"))
    assert (zero.scores_ < skip.scores_).all()
