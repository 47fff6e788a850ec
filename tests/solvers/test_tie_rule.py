"""Ties are intervals that overlap, directly or through others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernelrank.solvers.least_squares import merge_ties


def clusters(values, errors):
    """Connected components of overlapping intervals, one pair at a time."""
    label = list(range(len(values)))
    for i in range(len(values)):
        for j in range(i):
            if abs(values[i] - values[j]) <= errors[i] + errors[j]:
                old, new = label[i], label[j]
                label = [new if each == old else each for each in label]
    return np.array(label)


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0, 0, 1, 2]), st.integers(0, 2)), max_size=25))
def test_components_of_overlapping_intervals(rows):
    values, errors, groups = np.array(rows, dtype=float).reshape(-1, 3).T
    found = merge_ties(values, errors, groups.astype(int))
    for group in range(3):
        mine = groups == group
        label = clusters(values[mine], errors[mine])
        same = label[:, None] == label
        np.testing.assert_array_equal(found[mine][:, None] == found[mine], same)
        for k, value in enumerate(found[mine]):
            members = np.flatnonzero(same[k])
            least = members[errors[mine][members] == errors[mine][members].min()]
            assert value in values[mine][least]


def test_columns_are_apart_and_nan_is_alone(rng):
    values = np.array([[1.0, 5.0], [1.5, 6.0], [np.nan, 6.5], [np.nan, 8.0]])
    errors = np.full((4, 2), 0.3)
    errors[0, 0] = 0.2
    found = merge_ties(values, errors)
    np.testing.assert_array_equal(found, [[1.0, 5.0], [1.0, 6.0], [np.nan, 6.0], [np.nan, 8.0]])
    assert merge_ties(np.empty((0, 2)), np.empty((0, 2))).shape == (0, 2)
    apart = rng.normal(size=50)
    np.testing.assert_array_equal(merge_ties(apart, np.zeros(50)), apart)
