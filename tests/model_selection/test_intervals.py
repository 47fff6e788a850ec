"""Standard errors of estimates, from rows and from the jackknife."""

import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.kernels import Gaussian
from kernelrank.model_selection import estimate_auc


@pytest.mark.parametrize(
    ("model", "n_features", "seed"), [(RankRLS(10.0), 2, 0), (RankRLS(1.0, kernel=Gaussian(5.0)), 1, 11)], ids=str
)
def test_a_jackknife_that_says_less_than_the_rows_is_not_believed(model, n_features, seed):
    y = np.repeat([0.0, 1.0], 6)
    X = np.random.default_rng(seed).normal(size=(12, n_features)) + y[:, None]
    found, rows = (estimate_auc(model, X, y, interval=interval) for interval in ("jackknife", "rows"))
    by_class = found.jackknife.reshape(2, 6)
    jackknife = 6 / 5 * ((by_class - by_class.mean(axis=1, keepdims=True)) ** 2).sum()
    assert jackknife < 0.9 * rows.std_error**2
    assert found.std_error == pytest.approx(rows.std_error)
    assert found.interval == pytest.approx(rows.interval)
