"""Random Fourier features: scikit-learn's RBFSampler before a ranker, with queries."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from kernelrank import NystromMap, RankSVM
from kernelrank.kernels import Gaussian
from kernelrank.metrics import concordance_index


@pytest.fixture
def rings(rng):
    """Rows of 12 queries at different levels; inside a query, the far from the centre is better."""
    qid = np.tile(np.arange(12), 25)
    X = rng.normal(size=(300, 2))
    return X, np.hypot(*X.T) + 100.0 * rng.permutation(12)[qid], qid


def sampler(n_components=200):
    return RBFSampler(gamma=0.5, n_components=n_components, random_state=0)


def test_routing_carries_the_queries_past_the_features(rings):
    X, y, qid = rings
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(sampler(), RankSVM()).fit(X, y, qid=qid)
        search = GridSearchCV(pipeline, {"ranksvm__alpha": [1e-4, 1e-2]}, cv=GroupKFold(3), error_score="raise")
        search.fit(X, y, qid=qid, groups=qid)
        score = pipeline.score(X, y, qid=qid)
    expected = RankSVM().fit(sampler().fit_transform(X), y, qid=qid)
    np.testing.assert_array_equal(pipeline[-1].coef_, expected.coef_)
    assert score == concordance_index(y, pipeline.predict(X), qid=qid)
    assert search.best_score_ > 0.9
    assert concordance_index(y, search.predict(X)) < 0.75  # between queries there is nothing to learn


def test_a_step_parameter_carries_them_without_routing(rings):
    X, y, qid = rings
    pipeline = make_pipeline(sampler(), RankSVM()).fit(X, y, ranksvm__qid=qid)
    np.testing.assert_array_equal(pipeline[-1].coef_, RankSVM().fit(sampler().fit_transform(X), y, qid=qid).coef_)


def test_many_features_are_nearly_the_kernel(rings):
    X, y, qid = rings
    scores = make_pipeline(sampler(5000), RankSVM(1e-2)).fit(X, y, ranksvm__qid=qid).predict(X)
    exact = NystromMap(Gaussian(0.5), n_basis=300).fit_transform(X)
    expected = RankSVM(1e-2).fit(exact, y, qid=qid).predict(exact)
    assert np.corrcoef(scores, expected)[0, 1] > 0.99


def test_a_qid_column_is_not_for_the_sampler(rings):
    """It would take the column for a feature: the queries of a pipeline come by routing."""
    X, y, qid = rings
    table = pd.DataFrame(X, columns=["a", "b"]).assign(qid=qid)
    assert make_pipeline(sampler(), RankSVM()).fit(table, y)[0].n_features_in_ == 3
