"""Standard errors of estimates, from rows and from the jackknife."""

import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.model_selection import estimate_auc


@pytest.mark.parametrize("seed", range(4))
def test_a_jackknife_that_says_less_than_the_rows_is_not_believed(seed):
    """With one feature there is little to learn: models settle, and only chance moves the jackknife."""
    y = np.repeat([0.0, 1.0], 8)
    X = np.random.default_rng(seed).normal(size=(16, 1)) + 1.2 * y[:, None]
    found, rows = (estimate_auc(RankRLS(1.0), X, y, interval=interval) for interval in ("jackknife", "rows"))
    assert found.std_error >= rows.std_error * (1 - 1e-12)
    assert found.interval[0] <= rows.interval[0] + 1e-12
