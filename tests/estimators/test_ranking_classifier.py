"""Categories from any ranker."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from ordinal import fewest_errors as least_weight_of_errors
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import RankingClassifier, RankRLS, RankSVM
from kernelrank.estimators._categories import fewest_errors
from kernelrank.exceptions import NoComparablePairsError


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks([RankingClassifier(), RankingClassifier(RankRLS())])
def test_estimator_checks(estimator, check):
    check(estimator)


@st.composite
def cases(draw):
    m, r = draw(st.integers(2, 10)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = np.append(rng.integers(0, r, m - 1), r - 1)
    scores = rng.integers(-3, 4, m).astype(float) + (draw(st.booleans()) * classes)
    return classes, scores, rng.integers(1, 4, m).astype(float) if draw(st.booleans()) else None


@given(cases())
def test_no_thresholds_make_fewer_errors(case):
    classes, scores, weights = case
    thresholds = fewest_errors(classes, scores, weights)
    assert len(thresholds) == classes.max()
    assert (thresholds[1:] >= thresholds[:-1]).all()
    wrong = np.searchsorted(thresholds, scores, side="left") != classes
    assert (np.ones(len(classes)) if weights is None else weights)[wrong].sum() == least_weight_of_errors(*case)


def test_between_neighbouring_floats():
    scores = np.array([1.0, np.nextafter(1.0, 2.0)])
    thresholds = fewest_errors(np.array([0, 1]), scores)
    np.testing.assert_array_equal(np.searchsorted(thresholds, scores, side="left"), [0, 1])


@pytest.fixture
def graded(rng):
    X = rng.normal(size=(150, 3))
    return X, np.searchsorted([-2.0, 0.5, 1.5], X @ [2.0, -1.0, 0.0] + 0.3 * rng.normal(size=150))


@pytest.mark.parametrize("ranker", [None, RankRLS(), Ridge(), make_pipeline(StandardScaler(), RankSVM())])
def test_any_ranker_will_do(graded, ranker):
    X, y = graded
    model = RankingClassifier(ranker).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > 0.7
    np.testing.assert_array_equal(model.score_samples(X), model.ranker_.predict(X))
    np.testing.assert_array_equal(model.predict_category(X), model.predict(X))
    errors = (model.predict(X[:100]) != y[:100]).sum()
    assert errors <= (y[:100] != np.bincount(y[:100]).argmax()).sum()


def test_queries_and_weights_reach_the_ranker(graded, rng):
    X, y = graded
    qid, weights = rng.integers(0, 9, len(y)), rng.choice([0.0, 1.0, 2.0], len(y))
    model = RankingClassifier().fit(X, y, qid=qid, sample_weight=weights)
    expected = RankSVM().fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_allclose(model.ranker_.coef_, expected.coef_, atol=1e-9)
    scores, kept = model.score_samples(X), weights > 0
    np.testing.assert_array_equal(model.thresholds_, fewest_errors(y[kept], scores[kept], weights[kept]))
    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=qid)
    by_column = RankingClassifier().fit(frame, y)
    np.testing.assert_allclose(by_column.ranker_.coef_, RankSVM().fit(X, y, qid=qid).coef_, rtol=1e-9)
    np.testing.assert_array_equal(by_column.predict(frame), by_column.predict(frame.drop(columns="qid")))


def test_routing_needs_no_request(graded, rng):
    X, y = graded
    qid = rng.integers(0, 9, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(RankingClassifier(), X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})
        inner = RankingClassifier(make_pipeline(StandardScaler(), RankSVM())).fit(X, y, qid=qid)
    assert scores.min() > 0.6
    expected = RankSVM().fit(StandardScaler().fit_transform(X), y, qid=qid)
    np.testing.assert_array_equal(inner.ranker_[-1].coef_, expected.coef_)


def test_errors_name_the_matter(graded):
    X, y = graded
    with pytest.raises(NoComparablePairsError, match="two classes"):
        RankingClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="requires y"):
        RankingClassifier().fit(X, None)
    with pytest.raises(ValueError, match="ranker must give one score per row"):
        RankingClassifier(StandardScalerAsRanker()).fit(X, y)
    assert not hasattr(RankingClassifier(), "n_features_in_")
    assert RankingClassifier().fit(X, y).n_features_in_ == 3


class StandardScalerAsRanker(Ridge):
    """Returns a column a feature."""

    def predict(self, X):
        return np.asarray(X)
