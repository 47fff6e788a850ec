"""Covering arrays: a few combinations of parameters that contain every pair of values.

A test marked `pairwise` runs on a covering array of its parameters, including those of its fixtures (seeds). A defect
that needs one value, or two values together, is found as by the full product, which the thorough profile runs.
Parameters named by `each` get one covering array per value: `@pytest.mark.pairwise(each=["put"])`.
"""

import os
from itertools import combinations

import pytest

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fast")


def covering_array(rows, strength=2):
    """Return the indices of rows that hold all values, and all combinations of `strength` values, that `rows` hold.

    Greedy: the row with the most combinations that are still missing comes next, of several the first. A row is a
    mapping from factors to values; those with fewer factors than `strength` have one combination, themselves.
    """
    missing = [set(combinations(sorted(row.items()), min(strength, len(row)))) for row in rows]
    chosen = []
    while any(missing):
        best = max(range(len(rows)), key=lambda k: len(missing[k]))
        chosen.append(best)
        covered = set(missing[best])
        missing = [each - covered for each in missing]
    return sorted(chosen)


def factors_of(item):
    """Return the values of a test's parameters; those of one decorator, which change together, are one factor."""
    left = dict(item.callspec.params)
    factors = {}
    for marker in item.iter_markers("parametrize"):
        names = marker.args[0]
        names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
        # Values may be of any type; a decorator's are the same objects in all combinations.
        factors[names] = tuple(id(left.pop(name)) for name in names)
    return factors | {(name,): (id(value),) for name, value in left.items()}


def choose(items):
    """Split the collected tests into those that run and those that a covering array leaves out."""
    arrays = {}
    for item in items:
        if (marker := item.get_closest_marker("pairwise")) and hasattr(item, "callspec"):
            of = tuple(id(item.callspec.params[name]) for name in marker.kwargs.get("each", ()))
            arrays.setdefault((item.parent.nodeid, item.originalname, *of), []).append(item)
    left_out = set()
    for array in arrays.values():
        chosen = covering_array([factors_of(item) for item in array])
        left_out |= set(array).difference(array[k] for k in chosen)
    return [item for item in items if item not in left_out], [item for item in items if item in left_out]


class Covering:
    """Plugin of pytest that leaves out what no covering array needs."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        items[:], left_out = choose(items)
        config.hook.pytest_deselected(items=left_out)
