"""A fit replaces an earlier one as a whole, or not at all."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone

from kernelrank import GreedyRankRLS, MaxMarginClustering, NystromMap, OrdinalSVM, RankingClassifier, RankSVM, RankSVMCV
from kernelrank._refit import refit
from kernelrank.model_selection import FScoreClassifier

MODELS = [
    *(RankSVM(), RankSVM(kernel="gaussian"), RankSVMCV(2, cv=2), RankSVMCV(2, kernel=["linear", "gaussian"], cv=2)),
    *(OrdinalSVM(), RankingClassifier(), FScoreClassifier(cv=2), GreedyRankRLS(1), NystromMap(n_basis=3)),
    MaxMarginClustering(),
]


class Model:
    def __init__(self):
        self.alpha, self.coef_, self._sums, self._requests = 1.0, 2.0, 3.0, 4.0


def test_state_is_replaced_at_the_end_of_the_block():
    model = Model()
    with refit(model, "_sums") as fitted:
        assert vars(fitted) == {"alpha": 1.0, "_requests": 4.0}
        fitted.intercept_ = 5.0
        assert model.coef_ == 2.0
    assert vars(model) == {"alpha": 1.0, "_requests": 4.0, "intercept_": 5.0}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_changes_nothing(error):
    model, before = Model(), vars(Model())

    def fail():
        with refit(model) as fitted:
            fitted.coef_ = 7.0
            raise error

    with pytest.raises(error):
        fail()
    assert vars(model) == before


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_nothing_stays_of_an_earlier_fit(rng, model):
    model = clone(model)
    X, y = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd")), rng.integers(2, size=40)
    names = set(vars(clone(model).fit(X.to_numpy(), y)))
    model.fit(X, y).leftover_ = 1
    assert set(vars(model.fit(X.to_numpy(), y))) == names
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((40, 4), np.nan), y)
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_requests_for_metadata_and_output_stay(rng):
    X, y = rng.normal(size=(40, 4)), rng.integers(2, size=40)
    with sklearn.config_context(enable_metadata_routing=True):
        model = RankSVM().set_fit_request(sample_weight=True).fit(X, y)
        assert model.get_metadata_routing().fit.requests["sample_weight"] is True
    selector = GreedyRankRLS(1).set_output(transform="pandas").fit(X, y)
    assert isinstance(selector.transform(X), pd.DataFrame)
