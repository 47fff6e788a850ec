"""Classifiers that compare scores with thresholds obey scikit-learn."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import OrdinalSVM, RankingClassifier, RankRLS
from kernelrank.estimators._categories import ThresholdClassifier
from kernelrank.metrics import auc, concordance_index, make_ranking_scorer
from kernelrank.model_selection import FScoreClassifier, estimate_concordance


class Given(ThresholdClassifier):
    """Scores are the first column of X."""

    def __init__(self, thresholds):
        self.thresholds_ = np.array(thresholds, dtype=float)
        self.classes_ = np.arange(len(thresholds) + 1)

    def score_samples(self, X):
        return np.asarray(X, dtype=float)[:, 0]


values = st.sampled_from([-np.inf, -1.7e308, -1.0, -1e-320, 0.0, 5e-324, 1.0, 1.0 + 2**-52, 3.0, 1.7e308, np.inf])
finite = values.filter(np.isfinite)


@given(st.lists(values, min_size=1, max_size=4).map(sorted), st.lists(finite, min_size=1, max_size=8))
@example([-np.inf, np.inf], [0.0])
@example([1.0, 1.0], [1.0, 2.0])
def test_decisions_are_finite_and_agree_with_predictions(thresholds, scores):
    model, X = Given(thresholds), np.array(scores)[:, None]
    decisions = model.decision_function(X)
    assert np.isfinite(decisions).all()
    if len(thresholds) == 1:
        assert decisions.shape == (len(scores),)
        np.testing.assert_array_equal(decisions > 0, model.predict(X) == 1)
        in_order = decisions[np.argsort(scores)]
        assert (in_order[1:] >= in_order[:-1]).all()
    else:
        assert decisions.shape == (len(scores), len(thresholds) + 1)
        np.testing.assert_array_equal(decisions.argmax(axis=1), model.predict(X))


def test_decisions_of_several_classes_are_distances_to_the_nearer_threshold():
    found = Given([0.0, 10.0]).decision_function([[-1.0], [2.0], [10.0], [13.0]])
    np.testing.assert_array_equal(found, [[1, -1, -11], [-2, 2, -8], [-10, 0, 0], [-13, -3, 3]])


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(90, 3))
    return X, np.where(X @ [1.0, -1.0, 0.0] + rng.normal(size=90) > 1, "yes", "no")


@pytest.mark.parametrize("model", [OrdinalSVM(), RankingClassifier(), FScoreClassifier()], ids=repr)
def test_scorers_of_scikit_learn_and_ours_see_the_same_order(two_classes, model):
    X, y = two_classes
    model.fit(X, y)
    area = roc_auc_score(y, model.score_samples(X))
    assert get_scorer("roc_auc")(model, X, y) == pytest.approx(area, rel=1e-12)
    assert make_ranking_scorer(auc)(model, X, y == "yes") == pytest.approx(area, rel=1e-12)
    expected = model.score_samples(X) - model.thresholds_[0]
    np.testing.assert_array_equal(model.decision_function(X), expected)


def test_scores_pass_through_pipelines_searches_and_other_thresholds(rng):
    X = rng.normal(size=(90, 3))
    y = np.searchsorted([-1.0, 1.0], X @ [1.0, -1.0, 0.0])
    search = GridSearchCV(make_pipeline(StandardScaler(), OrdinalSVM()), {"ordinalsvm__alpha": [1e-3]}, cv=2).fit(X, y)
    inner = search.best_estimator_
    scores = inner[-1].score_samples(inner[0].transform(X))
    np.testing.assert_array_equal(search.score_samples(X), scores)
    assert make_ranking_scorer(concordance_index)(search, X, y) == concordance_index(y, scores)
    np.testing.assert_array_equal(RankingClassifier(search).fit(X, y).score_samples(X), scores)
    assert estimate_concordance(OrdinalSVM(), X, y, strategy="averaged", cv=3, verbose=0).estimate > 0.9
    assert CalibratedClassifierCV(RankingClassifier(RankRLS()), cv=3).fit(X, y).predict_proba(X).shape == (90, 3)
