from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelrank import RankRLS, RankSVM, RankSVMCV
from kernelrank.exceptions import NoComparablePairsError, UndefinedQueryWarning
from kernelrank.inspection import learning_curve
from kernelrank.kernels import Gaussian
from kernelrank.metrics import concordance_index, ndcg
from kernelrank.model_selection import LeaveRowsOut, estimate_concordance
from kernelrank.pipelines import make_query_pipeline

N_QUERIES, PER = 20, 6
M = N_QUERIES * PER
QID = np.array([f"q{k % 7}{k}" for k in np.arange(M) // PER])


@pytest.fixture
def data(rng):
    return data_of(rng)


def data_of(rng):
    X = rng.normal(size=(M, 5))
    return X, np.round(X[:, 0] - X[:, 1] + rng.normal(size=M), 1)


class Recorder(BaseEstimator):
    """Ranker that records the rows it is fitted to; its features are the numbers of the rows."""

    seen: ClassVar[list] = []

    def fit(self, X, y, qid=None):
        type(self).seen.append((set(X[:, 0].astype(int).tolist()), None if qid is None else set(qid)))
        return self

    def predict(self, X):
        return -X[:, 0]


def test_training_sets_are_nested_whole_queries(data):
    _, y = data
    Recorder.seen = []
    numbers = np.arange(M, dtype=float)[:, None]
    curve = learning_curve(Recorder(), numbers, y, qid=QID, sizes=[2, 5, 16], cv=GroupKFold(5))
    assert curve.sizes.tolist() == [2, 5, 16]
    assert curve.unit == "queries"
    assert curve.n_rows.tolist() == [12, 30, 96]
    assert curve.n_fits == len(Recorder.seen) == 15
    for fold in range(5):
        rows, queries = zip(*Recorder.seen[3 * fold : 3 * fold + 3], strict=True)
        assert rows[0] < rows[1] < rows[2]
        assert [len(each) for each in queries] == [2, 5, 16]
        for some, names in zip(rows, queries, strict=True):
            assert some == set(np.flatnonzero(np.isin(QID, list(names))).tolist())
        test = sorted(set(range(M)) - rows[2])
        expected = concordance_index(y[test], -np.array(test, dtype=float), qid=QID[test])
        np.testing.assert_allclose(curve.scores[:, fold], expected)


def test_all_rows_are_a_cross_validation(data):
    X, y = data
    model = RankSVM(alpha=0.01)
    curve = learning_curve(model, X, y, qid=QID, sizes=[1.0], cv=5)
    for fold, (train, test) in enumerate(GroupKFold(5).split(X, y, np.arange(M) // PER)):
        scores = clone(model).fit(X[train], y[train], qid=QID[train]).predict(X[test])
        expected = concordance_index(y[test], scores, qid=QID[test])
        assert curve.scores[0, fold] == pytest.approx(expected, abs=1e-9)
    estimate = estimate_concordance(model, X, y, qid=QID, strategy="averaged", cv=5).estimate
    assert curve.mean[0] == pytest.approx(estimate)  # all folds have equally many queries


def test_more_data_are_better(data):
    X, y = data
    curve = learning_curve(RankRLS(alpha=0.1), X, y, qid=QID, sizes=[1, 16])
    assert curve.mean[1] > curve.mean[0]
    assert (curve.std >= 0).all()
    text = str(curve).splitlines()
    assert text[0] == "concordance on held-out queries, mean and standard deviation of 5 folds"
    assert text[2] == f"16 queries  {curve.mean[1]:.3f} ± {curve.std[1]:.3f}"


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_data_frames_and_pipelines(data, table, rng):
    X, y = data
    columns = {"a": X[:, 0], "b": X[:, 1], "kind": rng.choice(["x", "y"], M), "qid": QID}
    transform = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["kind"]))
    frame = table(columns)
    curve = learning_curve(make_query_pipeline(transform, RankSVM(alpha=0.01)), frame, y, sizes=[0.5, 1.0])
    assert curve.sizes.tolist() == [8, 16]
    features = frame.drop(columns="qid") if table is pd.DataFrame else frame.drop("qid")
    same = learning_curve(
        make_pipeline(transform, RankSVM(alpha=0.01)), features, y, qid=QID, sizes=[0.5, 1.0], random_state=0
    )
    np.testing.assert_array_equal(curve.scores, same.scores)


def test_estimators_without_queries(data):
    X, y = data
    curve = learning_curve(
        Ridge(), sp.csr_array(X), y - y.min(), qid=QID, scoring="ndcg@3:gain=linear", sizes=[0.25, 1.0]
    )
    assert curve.metric == "ndcg@3:gain=linear"
    rows = learning_curve(Ridge(), X, y, sizes=(0.1, 0.5), cv=4)
    assert rows.unit == "rows"
    assert rows.sizes.tolist() == [9, 45]
    np.testing.assert_array_equal(rows.n_rows, rows.sizes)
    names = np.where(y > 0, "yes", "no")
    classes = learning_curve(LogisticRegression(), X, names, scoring="auc", cv=3)
    assert classes.mean[-1] > 0.7


def test_other_metrics_and_parameters(data):
    X, y = data
    model, options = RankSVM(alpha=0.01), {"qid": QID, "sizes": [0.5]}
    by_name, by_function = (learning_curve(model, X, y - y.min(), scoring=s, **options) for s in ("ndcg", ndcg))
    np.testing.assert_array_equal(by_name.scores, by_function.scores)
    assert (by_name.metric, by_function.metric) == ("ndcg", "ndcg")
    error = learning_curve(model, X, y, scoring="pairwise_error", **options)
    assert error.metric == "minus pairwise_error"
    np.testing.assert_allclose(1 + error.scores, learning_curve(model, X, y, **options).scores)
    weighted = learning_curve(model, X, y, params={"sample_weight": np.arange(M) + 1.0}, **options)
    assert (weighted.scores != learning_curve(model, X, y, **options).scores).any()
    groups = np.arange(M) // (2 * PER)
    assert learning_curve(model, X, y, qid=QID, groups=groups, sizes=[1.0]).unit == "groups"
    kernel = learning_curve(RankRLS(kernel="precomputed"), Gaussian(0.2)(X), y, **options)
    direct = learning_curve(RankRLS(kernel=Gaussian(0.2)), X, y, **options)
    np.testing.assert_allclose(kernel.scores, direct.scores)
    seen = y < np.quantile(y, 0.8)
    censored = learning_curve(model, X, np.minimum(y, np.quantile(y, 0.8)), observed=seen, **options)
    assert 0.5 < censored.mean[0] < 1.0
    chosen = learning_curve(RankSVMCV(alphas=2, cv=2), X, y, qid=QID, sizes=[1.0], cv=2)
    assert chosen.scores.shape == (1, 2)


def test_the_same_for_any_number_of_processes():
    X, y = data_of(np.random.default_rng(0))
    options = {"qid": QID, "sizes": [0.3, 1.0], "random_state": 3}
    expected = learning_curve(RankRLS(), X, y, **options)
    np.testing.assert_array_equal(learning_curve(RankRLS(), X, y, n_jobs=2, **options).scores, expected.scores)
    other = learning_curve(RankRLS(), X, y, **options | {"random_state": 4})
    np.testing.assert_allclose(other.scores[1], expected.scores[1])  # all queries
    assert (other.scores[0] != expected.scores[0]).any()


def test_undefined_scores(data):
    X, y = data
    sparse = np.where(np.arange(M) // PER < 14, 0.0, y)  # most queries have no pair
    with pytest.warns(UndefinedQueryWarning) as caught:
        curve = learning_curve(RankSVM(), X, sparse, qid=QID, sizes=[1, 15], cv=4, verbose=0)
    text = " ".join(str(each.message) for each in caught)
    assert f"{np.isnan(curve.scores).sum()} of 8 scores are undefined" in text
    for size in range(2):
        known = curve.scores[size][~np.isnan(curve.scores[size])]
        np.testing.assert_allclose([curve.mean[size], curve.std[size]], [known.mean(), known.std()])
    alone = np.arange(M)
    with pytest.raises(NoComparablePairsError, match="undefined for every fold and size"):
        learning_curve(RankSVM(), X, y, qid=alone, sizes=[0.5])


def test_entries_of_a_matrix(data):
    X, y = data
    with pytest.raises(ValueError, match="cv must hold out queries or rows, not entries of a matrix, got LeaveRowsOut"):
        learning_curve(RankSVM(), X, y, cv=LeaveRowsOut(2), groups=np.column_stack(np.divmod(np.arange(M), 6)))


def test_sizes_that_are_too_large(data):
    X, y = data
    with pytest.raises(ValueError, match="sizes must be at most 16, the queries of the smallest training set, got 17"):
        learning_curve(RankSVM(), X, y, qid=QID, sizes=[17])
    for sizes in ([], [0.0], [1.5], [-1], "x", [[1]], None, [True]):
        with pytest.raises(ValueError, match="sizes must be a list of shares"):
            learning_curve(RankSVM(), X, y, qid=QID, sizes=sizes)
