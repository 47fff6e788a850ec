"""Estimators are no noisier than the metric they report."""

import numpy as np
import pytest

from kernelrank import RankSVM, RankSVMCV
from kernelrank.exceptions import UndefinedQueryWarning
from kernelrank.metrics import concordance_index


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


def test_folds_do_not_warn(rows):
    X, y, qid = rows
    folds = [(np.flatnonzero(qid % 4 != k), np.flatnonzero(qid % 4 == k)) for k in range(4)]
    folds.append((np.flatnonzero(qid != 0), np.flatnonzero(qid == 0)))  # nothing to compare
    model = RankSVMCV(alphas=[1e-3, 1e-1], cv=folds).fit(X, y, qid=qid)  # warnings are errors
    np.testing.assert_array_equal(np.isnan(model.scores_), np.tile([False] * 4 + [True], (2, 1)))
    weights = np.where(qid % 4 == 1, 0.0, 1.0)
    model = RankSVMCV(alphas=[1e-3], cv=folds[:4]).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_array_equal(np.isnan(model.scores_), [[False, True, False, False]])
