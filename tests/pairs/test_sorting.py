"""Rows sorted by query and descending score, against NumPy's stable sort."""

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from kernelrank.pairs._sorting import sort_falling


@given(seed=strategies.seeds, m=st.integers(0, 60), n_queries=st.sampled_from((None, 1, 4, 60)))
def test_stable_order(seed, m, n_queries):
    rng = np.random.default_rng(seed)
    values = rng.choice([-1e300, -2.5, -0.0, 0.0, 5e-324, 1.0, 7.0], m)
    codes = None if n_queries is None else rng.integers(0, n_queries, m).astype(np.int32)
    expected = np.lexsort((np.arange(m), -values, np.zeros(m) if codes is None else codes))
    np.testing.assert_array_equal(sort_falling(values, codes), expected)


@pytest.mark.parametrize("kind", ["distinct", "tied", "sorted", "far apart"])
def test_many_rows(kind, rng):
    m = 200_000
    values = {
        "distinct": rng.normal(size=m),
        "tied": rng.integers(0, 50, m).astype(float),
        "sorted": np.arange(m, dtype=float),
        "far apart": 10.0 ** rng.uniform(-300, 300, m) * rng.choice([-1, 1], m),
    }[kind]
    np.testing.assert_array_equal(sort_falling(values), np.argsort(-values, kind="stable"))
