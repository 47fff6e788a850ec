"""Warnings point to the user's line, and are shown once per call."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import OrdinalSVM, RankRLS, RankSVM
from kernelrank._warnings import Recorded, record, warn_once
from kernelrank.exceptions import ConvergenceWarning, UndefinedQueryWarning
from kernelrank.model_selection import estimate_concordance

ALPHAS = {"alpha": [1e-3, 1e-4, 1e-5, 1e-6]}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    return X, X[:, 0] + rng.normal(size=60)


def shown(call, action="default"):
    """Return the warnings that a call shows under one filter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        call()
    return caught


def here():
    return sys._getframe(1).f_lineno


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(1e-5, max_iter=2),
        RankRLS(1e-9, solver="cg", max_iter=2),
        OrdinalSVM(1e-5, max_iter=2),
        make_pipeline(StandardScaler(), RankSVM(1e-5, max_iter=2)),
        GridSearchCV(RankSVM(max_iter=2), ALPHAS, refit=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_users_line_is_named(data, model):
    X, y = data
    if isinstance(model, OrdinalSVM):
        y = (y > 0).astype(int)
    (warning,) = shown(lambda: model.fit(X, y))
    assert warning.category is ConvergenceWarning
    assert (warning.filename, warning.lineno) == (__file__, here() - 2)


def test_a_search_warns_once_and_its_refit_once(data):
    search = GridSearchCV(RankSVM(max_iter=2), ALPHAS, cv=5)
    of_folds, of_refit = shown(lambda: search.fit(*data))  # 21 fits
    assert "shown once for all fits" in str(of_folds.message)
    assert "shown once for all fits" not in str(of_refit.message)


def test_every_search_warns_anew(data):
    for _ in range(3):
        assert len(shown(lambda: cross_validate(RankSVM(1e-5, max_iter=2), *data))) == 1


def test_categories_are_counted_apart(data):
    X, y = data
    queries = np.arange(60) // 6  # two per fold; all utilities are equal in one of them
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=queries)
    found = shown(lambda: cross_validate(RankSVM(1e-6, max_iter=2), frame, np.where(queries % 2, y, 0.0), cv=KFold(5)))
    assert sorted(each.category.__name__ for each in found) == ["ConvergenceWarning", "UndefinedQueryWarning"]


def test_filters_that_ask_for_more_are_obeyed(data):
    model = RankSVM(1e-5, max_iter=2)
    assert len(shown(lambda: cross_validate(model, *data), "always")) == 5
    assert shown(lambda: cross_validate(model, *data), "ignore") == []
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Not converged", ConvergenceWarning)
        with pytest.raises(ValueError, match="All the 5 fits failed"):
            cross_validate(model, *data)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_estimate_counts_the_warnings_of_its_fits(data, n_jobs):
    model = RankSVM(1e-5, max_iter=2)
    (warning,) = shown(lambda: estimate_concordance(model, *data, strategy="averaged", cv=10, n_jobs=n_jobs), "always")
    assert str(warning.message).startswith("Not converged after 2 iterations")
    assert str(warning.message).endswith("(10 such warnings among 10 fits of RankSVM.)")
    assert warning.filename == __file__


def test_warnings_that_differ_in_figures_are_of_one_kind():
    recorded = [
        *(Recorded(f"{k} of 9 queries have none", UndefinedQueryWarning) for k in (3, 4)),
        Recorded("other", UserWarning),
        Recorded("another", UserWarning),
    ]
    found = shown(lambda: warn_once(recorded, "4 fits"))
    texts = sorted(str(each.message) for each in found)
    assert texts == ["3 of 9 queries have none (2 such warnings among 4 fits.)", "another", "other"]


def test_recorded_warnings_are_those_that_would_be_shown():
    def work(x):
        warnings.warn("seen", UserWarning, stacklevel=1)
        warnings.warn("unseen", DeprecationWarning, stacklevel=1)
        return x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        assert record(work, 1) == (2, [Recorded("seen", UserWarning)])


@pytest.mark.parametrize("model", [RankSVM(), OrdinalSVM()], ids=lambda model: type(model).__name__)
def test_a_column_as_target_is_warned_of_at_the_line_of_the_user(model):
    with pytest.warns(DataConversionWarning, match=r"A column-vector y was passed.*ravel\(\)") as caught:
        model.fit([[1.0], [2.0], [3.0]], pd.DataFrame({"y": [0, 1, 2]}))
    assert [each.filename for each in caught] == [__file__]
