"""Features scaled inside each query."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import NystromMap, RankingClassifier, RankRLS, RankSVM, RankSVMCV
from kernelrank._validation import count_rows
from kernelrank.io import load_svmlight
from kernelrank.metrics import concordance_index
from kernelrank.pipelines import QueryPipeline, QueryScaler, make_query_pipeline


def by_definition(X, qid):
    """Scale each feature of each query in Python, one number after the other."""
    scaled = np.zeros(X.shape)
    for query in set(qid):
        rows = [row for row in range(len(qid)) if qid[row] == query]
        for column in range(X.shape[1]):
            values = [X[row, column] for row in rows]
            low, high = min(values), max(values)
            for row in rows:
                scaled[row, column] = (X[row, column] - low) / (high - low) if high > low else 0.0
    return scaled


queries = st.lists(st.sampled_from(["a", "b", "c", 7]), min_size=1, max_size=12)


@given(queries, st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 1000]))
def test_dense_rows(qid, seed, spread):
    X = np.random.default_rng(seed).integers(-spread, spread + 1, size=(len(qid), 3)) / 8
    np.testing.assert_array_equal(QueryScaler().fit_transform(X, qid=qid), by_definition(X, qid))


@given(queries, st.integers(0, 2**32 - 1))
def test_sparse_rows_differ_by_a_shift_of_each_query(qid, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(len(qid), 3)) * (rng.random((len(qid), 3)) < 0.6) / 8
    given = sp.csr_matrix(X)
    scaled = QueryScaler().fit_transform(given, qid=qid)
    assert sp.issparse(scaled)
    assert (given != sp.csr_matrix(X)).nnz == 0  # the input is as it was
    assert not ((X == 0) & (scaled.toarray() != 0)).any()
    expected = by_definition(X, qid)
    for query in set(qid):
        rows = [row for row in range(len(qid)) if qid[row] == query]
        difference = scaled.toarray()[rows] - expected[rows]
        np.testing.assert_allclose(difference, np.broadcast_to(difference[0], difference.shape), atol=1e-14)
        constant = np.ptp(X[rows], axis=0) == 0
        assert (scaled.toarray()[rows][:, constant] == 0).all()


def with_explicit_zeros(X):
    rows, columns = np.indices(X.shape)
    return sp.coo_matrix((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape).tocsr()


@pytest.mark.parametrize(
    "form", [np.asarray, np.float32, np.asfortranarray, sp.csr_matrix, sp.csc_array, with_explicit_zeros]
)
def test_the_order_of_rows_and_of_queries_changes_nothing(rng, form):
    X = rng.normal(size=(60, 4)).round(1) * (rng.random((60, 4)) < 0.7)
    qid = rng.integers(7, size=60)
    scaled = QueryScaler().fit_transform(form(X), qid=qid)
    as_array = scaled.toarray() if sp.issparse(scaled) else scaled
    assert as_array.dtype == form(X).dtype
    order = rng.permutation(60)
    again = QueryScaler().fit_transform(form(X[order]), qid=10 - qid[order])
    np.testing.assert_array_equal(again.toarray() if sp.issparse(again) else again, as_array[order])
    alone = QueryScaler().fit_transform(form(X[qid == 3]), qid=qid[qid == 3])
    np.testing.assert_array_equal(alone.toarray() if sp.issparse(alone) else alone, as_array[qid == 3])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300, 5e-324])
def test_extreme_numbers(form, size):
    X = size * np.array([[1.0, 0.0], [-1.0, 1.0], [1.0, 1.0]])
    scaled = QueryScaler().fit_transform(form(X), qid=[0, 0, 0])
    scaled = scaled.toarray() if sp.issparse(scaled) else scaled
    np.testing.assert_array_equal(scaled - scaled.min(axis=0), [[1, 0], [0, 1], [1, 1]])


def test_constant_features_and_queries_of_one_row_become_zero():
    X = np.array([[5.0, 1.0], [5.0, 2.0], [7.0, 7.0]])
    for rows in (X, sp.csr_matrix(X)):
        scaled = QueryScaler().fit_transform(rows, qid=["a", "a", "b"])
        dense = scaled.toarray() if sp.issparse(scaled) else scaled
        assert (dense[:, 0] == 0).all()
        assert (dense[2] == 0).all()
    assert not np.signbit(QueryScaler().fit_transform([[-0.0], [0.0]], qid=[0, 0])).any()


@pytest.mark.skipif("KERNELRANK_DATA" not in os.environ, reason="KERNELRANK_DATA names no folder with real data")
@pytest.mark.parametrize("part", ["S1", "S3"])
def test_it_makes_the_published_sets_of_letor_from_the_raw_ones(part):
    folder = Path(os.environ["KERNELRANK_DATA"], "letor")
    raw, published = (load_svmlight(folder / f"OHSUMED_{kind}_{part}.txt.xz") for kind in ("min", "QueryLevelNorm"))
    scaled = QueryScaler().fit_transform(raw.X.toarray(), qid=raw.qid)
    np.testing.assert_allclose(scaled, published.X.toarray(), atol=5.1e-7)  # six decimals are published


# In pipelines


@pytest.fixture
def prices(rng):
    """Return rows where the same feature has another unit in each query."""
    qid = np.repeat(np.arange(12), 15)
    Z = rng.random((180, 3))
    X = Z * np.exp(3 * rng.normal(size=(12, 3)))[qid] + 100 * rng.normal(size=(12, 3))[qid]
    order = rng.permutation(180)
    return X[order], (Z @ [1.0, -0.5, 0.2])[order], qid[order]


def frame(X, qid, kind=pd.DataFrame):
    return kind({"a": X[:, 0], "qid": qid, "b": X[:, 1], "c": X[:, 2]})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("ranker", [RankSVM(), RankRLS(), RankSVMCV(alphas=3, cv=3)])
def test_a_pipeline_passes_the_queries_whenever_it_transforms(prices, kind, routing, ranker):
    X, y, qid = prices
    table, scaled = frame(X, qid, kind), QueryScaler().fit_transform(X, qid=qid)
    by_hand = ranker.fit(scaled, y, qid=qid)
    expected = by_hand.predict(scaled), by_hand.rank(scaled, qid), by_hand.score(scaled, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = make_query_pipeline(QueryScaler(), ranker).fit(table, y)
        for given in ({"X": table}, {"X": X, "qid": qid}):
            model = model if given["X"] is table else make_query_pipeline(QueryScaler(), ranker).fit(X, y, qid=qid)
            np.testing.assert_array_equal(model.predict(**given), expected[0])
            np.testing.assert_array_equal(model.decision_function(**given), expected[0])
            np.testing.assert_array_equal(model.rank(**given), expected[1])
            assert model.score(y=y, **given) == expected[2] > 0.85
            np.testing.assert_array_equal(model[:-1].transform(**given), scaled)
    assert make_query_pipeline(StandardScaler(), RankSVM()).fit(table, y).score(table, y) < 0.8


@pytest.mark.parametrize("method", ["predict", "decision_function", "rank", "score", "fit"])
def test_missing_queries_are_an_error(prices, method):
    X, y, qid = prices
    model = make_query_pipeline(QueryScaler(), RankSVM()).fit(X, y, qid=qid)
    given = {"y": y} if method in ("fit", "score") else {}
    with pytest.raises(ValueError, match=f"{method} of a query pipeline requires queries"):
        getattr(model, method)(X, **given)
    with pytest.raises(ValueError, match="qid was given twice"):
        getattr(model, method)(frame(X, qid), qid=qid, **given)


def test_outside_of_a_query_pipeline(prices):
    X, y, qid = prices
    model = make_pipeline(QueryScaler(), RankSVM())
    with pytest.raises(ValueError, match=r"fit of QueryScaler requires queries.*make_query_pipeline"):
        model.fit(X, y, ranksvm__qid=qid)
    model.fit(X, y, ranksvm__qid=qid, queryscaler__qid=qid)
    with pytest.raises(ValueError, match=r"transform of QueryScaler requires queries.*pass qid="):
        model.predict(X)
    with pytest.raises(ValueError, match=r"expecting 3 features"):
        model[0].transform(X[:, :2], qid=qid)


def test_searches_and_held_out_predictions(prices):
    X, y, qid = prices
    table, model = frame(X, qid), make_query_pipeline(QueryScaler(), RankSVM())
    search = GridSearchCV(model, {"ranksvm__alpha": [1e-4, 1e-2]}, cv=GroupKFold(3), error_score="raise")
    assert search.fit(table, y, groups=qid).best_score_ > 0.85
    scores = cross_val_predict(model, table, y, groups=qid, cv=GroupKFold(3))
    assert concordance_index(y, scores, qid=qid) > 0.85


def test_other_steps(prices, tmp_path):
    X, y, qid = prices
    table = frame(X, qid)
    scaled = QueryScaler().fit_transform(X, qid=qid)
    columns = make_column_transformer((StandardScaler(), ["b"]), remainder="passthrough")
    model = make_query_pipeline(columns, "passthrough", QueryScaler(), RankSVM(), memory=str(tmp_path)).fit(table, y)
    assert model.fit(table, y).score(table, y) > 0.85  # from the cache
    nystrom = make_query_pipeline(QueryScaler(), NystromMap(n_basis=9)).fit(table, y)
    features = NystromMap(n_basis=9).fit(scaled, qid=qid).transform(scaled)
    np.testing.assert_array_equal(nystrom.transform(table), features)
    np.testing.assert_array_equal(nystrom.fit_transform(table, y), features)
    nested = make_query_pipeline(make_query_pipeline(StandardScaler(), QueryScaler()), RankSVM()).fit(table, y)
    assert nested.score(table, y) > 0.85
    last = make_query_pipeline(StandardScaler(), make_query_pipeline(QueryScaler(), RankSVM())).fit(table, y)
    np.testing.assert_array_equal(last.rank(table), last[1].rank(last[0].transform(table.drop(columns="qid")), qid))
    classes = (y > np.median(y)).astype(int)
    classifier = make_query_pipeline(QueryScaler(), RankingClassifier(RankSVM())).fit(table, classes)
    assert classifier.score(table, classes) == np.mean(classifier.predict(table) == classes)


def test_names_and_output_of_frames(prices):
    X, y, qid = prices
    table, scaled = frame(X, qid), QueryScaler().fit_transform(X, qid=qid)
    scaler = QueryScaler().set_output(transform="pandas").fit(table)
    assert scaler.get_feature_names_out().tolist() == ["a", "b", "c"]
    found = scaler.transform(table)
    assert list(found.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(found.to_numpy(), scaled)
    with pytest.raises(ValueError, match="feature names"):
        scaler.transform(table.rename(columns={"a": "other"}))
    model = QueryPipeline([("scale", QueryScaler()), ("rank", RankSVM())]).set_output(transform="pandas")
    assert model.fit(table, y)[-1].feature_names_in_.tolist() == ["a", "b", "c"]


class OneQuery(QueryScaler):
    """Scaler for scikit-learn's checks, which pass no queries: all rows are one query."""

    def _check(self, X, qid, method, *, reset):
        return super()._check(X, np.zeros(count_rows(X)), method, reset=reset)


SUBSETS = {"check_methods_subset_invariance": "rows of a query scale each other"}


@parametrize_with_checks([OneQuery()], expected_failed_checks=lambda _: SUBSETS)
def test_estimator_checks(estimator, check):
    check(estimator)
