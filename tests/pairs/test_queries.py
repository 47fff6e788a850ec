"""Query ids: any hashable objects in any order, none missing."""

import datetime

import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from kernelrank._query_ids import encode_queries
from kernelrank.pairs import UtilityPairs, count_violations

NUMBERS = np.array([3, 0, 1, 3, 3, 0, 2, 1, 0, 3, 1, 1])  # of twelve rows, unsorted; query 2 has one row
Y = np.array([1, 5, 2, 4, 2, 3, 9, 2, 1, 3, 5, 4])
SCORES = np.array([0.0, 0.5, 3.0, 0.5, 1.0, 2.0, 0.0, 1.5, 2.5, 0.0, 0.0, 3.5])


def check_grouping(qid, numbers=NUMBERS):
    """Assert that the counts equal those of queries with plain codes."""
    found, expected = UtilityPairs(Y, qid=qid), oracles.count_violations(Y, SCORES, numbers)
    c, d, total = found.count(SCORES)
    assert found.n_queries == len(np.unique(numbers))
    assert (c.tolist(), d.tolist()) == (expected[0].tolist(), expected[1].tolist())
    assert total == expected[0].sum() > 0
    assert found.n_pairs == oracles.count_violations(Y, SCORES, numbers, margin=np.inf)[0].sum()


def named(names):
    return [names[number] for number in NUMBERS]


ARRAYS = {
    "integers": NUMBERS,
    "negative, with gaps": 1000 - 700 * NUMBERS,
    "unsigned": NUMBERS.astype(np.uint64) + np.uint64(2**63),
    "bytes": NUMBERS.astype(np.uint8),
    "floats": NUMBERS / 3,
    "float32": NUMBERS.astype(np.float32),
    "both signs": NUMBERS - 2,
    "strings": np.array(["b", "a", "long name", ""])[NUMBERS],
    "byte strings": np.array([b"b", b"a", b"long name", b""])[NUMBERS],
    "dates": np.array(["2020-01-01", "1960-01-01", "2020-01-02", "1999-12-31"], dtype="M8[D]")[NUMBERS],
    "a column": NUMBERS[:, None],
    "strided": np.repeat(NUMBERS, 3)[::3],
    "objects": np.array(named([1, "1", (1,), int]), dtype=object),
}
LISTS = {
    "integers": named([1, -5, 10**6, 0]),
    "integers beyond 64 bits": named([2**70, -(2**70), 1, 0]),
    "strings": named(["b", "a", "long name", ""]),
    "numbers that look like strings": named([1, "1", 2, "2"]),
    "integers, strings and tuples": named([1, "1", (1,), (1, 2)]),
    "tuples": named([(1, 2), (2, 1), (1, 1), (2, 2)]),
    "tuples of different lengths": named([(1,), (1, 2), (), (1, 2, 3)]),
    "sets": named([frozenset(), frozenset({1}), frozenset({2}), frozenset({1, 2})]),
    "dates": named([datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]),
    "numpy and Python numbers": named([1, np.int64(5), 7, np.float32(0.5)]),
    "types": named([int, str, float, list]),
}
SERIES = {
    "pandas": pd.Series(NUMBERS * 10, index=np.arange(12)[::-1] * 7),
    "pandas strings": pd.Series(named(["b", "a", "c", ""]), index=np.zeros(12, int)),
    "pandas categories": pd.Series(named(["b", "a", "c", ""])).astype("category"),
    "pandas categories, some unused": pd.Series(pd.Categorical(NUMBERS, categories=[9, 3, 2, 1, 0, 8])),
    "pandas nullable": pd.Series(NUMBERS, dtype="Int64"),
    "pandas index": pd.Index(NUMBERS),
    "pandas times": pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(NUMBERS, unit="D")),
    "polars": pl.Series(NUMBERS),
    "polars strings": pl.Series(named(["b", "a", "c", ""])),
    "polars categories": pl.Series(named(["b", "a", "c", "d"]), dtype=pl.Categorical),
}


@pytest.mark.parametrize(
    "qid",
    [*ARRAYS.values(), *LISTS.values(), *SERIES.values()],
    ids=[*(f"array of {name}" for name in ARRAYS), *(f"list of {name}" for name in LISTS), *SERIES],
)
def test_ids_of_any_type(qid):
    check_grouping(qid)


def test_equal_ids_are_one_query_whatever_their_type():
    check_grouping(named([1, True, "1", 1.0]), np.where(NUMBERS == 2, 1, 0))
    check_grouping(named([0.0, -0.0, 2.0, 3.0]), np.maximum(NUMBERS, 1))


def test_any_iterable_of_ids():
    check_grouping(tuple(NUMBERS))
    check_grouping(str(number) for number in NUMBERS)


@given(case=strategies.cases, kind=st.sampled_from([name for name in strategies.QUERY_NAMES if name != "none"]))
def test_other_names_change_nothing(case, kind):
    numbers = oracles.query_numbers(case.qid, len(case.y))
    shuffled = np.random.default_rng(0).permutation(len(case.y))[numbers]
    expected = oracles.count_violations(case.y, case.scores, numbers)
    for each in (numbers, shuffled):
        found = count_violations(case.y, case.scores, qid=strategies.name_queries(each, kind))
        np.testing.assert_array_equal((found.c, found.d), expected)


@given(case=strategies.cases, seed=strategies.seeds)
def test_order_of_the_rows_changes_nothing(case, seed):
    numbers = oracles.query_numbers(case.qid, len(case.y))
    expected = oracles.count_violations(case.y, case.scores, numbers)
    orders = (np.random.default_rng(seed).permutation(len(case.y)), np.argsort(numbers), np.argsort(-numbers))
    for order in orders:
        found = count_violations(case.y[order], case.scores[order], qid=numbers[order])
        np.testing.assert_array_equal((found.c, found.d), np.array(expected)[:, order])


@given(case=strategies.cases)
def test_queries_are_counted_as_if_alone(case):
    numbers = oracles.query_numbers(case.qid, len(case.y))
    pairs = UtilityPairs(case.y, qid=numbers)  # already coded by first appearance
    found, totals = pairs.count(case.scores), pairs.count_totals(case.scores)
    for query in range(pairs.n_queries):
        rows = numbers == query
        alone = UtilityPairs(case.y[rows])
        c, d, total = alone.count(case.scores[rows])
        np.testing.assert_array_equal((found.c[rows], found.d[rows]), (c, d))
        assert totals[query] == total
        assert pairs.pairs_per_query[query] == alone.n_pairs


def test_queries_without_a_pair_contribute_nothing():
    y, qid = [1, 2, 7, 7, 7, 3], ["two", "two", "level", "level", "level", "row"]
    pairs = UtilityPairs(y, qid=qid)
    assert sorted(pairs.pairs_per_query) == [0, 0, 1]
    c, d, total = pairs.count(np.zeros(6))
    assert (c.tolist(), d.tolist(), total) == ([1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], 1)
    assert UtilityPairs(y, qid=range(6)).count(np.zeros(6)).total == 0


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_many_small_queries(n_jobs, rng):
    query = rng.integers(0, 30_000, 50_000)
    y, scores = rng.integers(0, 3, 50_000), rng.integers(-2, 3, 50_000) / 2
    found = UtilityPairs(y, qid=query, n_jobs=n_jobs).count(scores)
    order = np.argsort(query, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1)[:1000]:
        expected = oracles.count_violations(y[rows], scores[rows])
        np.testing.assert_array_equal((found.c[rows], found.d[rows]), expected)
    expected = UtilityPairs(y[order], qid=query[order], n_jobs=1).count(scores[order], method="pairs")
    np.testing.assert_array_equal((found.c[order], found.d[order]), (expected.c, expected.d))


MISSING = {
    "NaN in an array": np.array([1.0, np.nan, 1.0]),
    "infinity in an array": np.array([1.0, -np.inf, 1.0]),
    "NaN in a list": [1.0, float("nan"), 1.0],
    "NaN among strings": ["a", float("nan"), "a"],
    "None": [1, None, 1],
    "None among strings": ["a", None, "a"],
    "None in an array": np.array([None, 1, 1], dtype=object),
    "pandas' NA in a list": [1, pd.NA, 1],
    "pandas' NA": pd.Series([1, None, 1], dtype="Int64"),
    "pandas' NA among objects": pd.Series([1, pd.NA, 1], dtype=object),
    "pandas strings": pd.Series(["a", None, "a"]),
    "pandas categories": pd.Series(["a", None, "a"], dtype="category"),
    "pandas times": pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-01"])),
    "NaT": np.array(["2020-01-01", "NaT", "2020-01-01"], dtype="M8[D]"),
    "polars numbers": pl.Series([1, None, 1]),
    "polars strings": pl.Series(["a", None, "a"]),
}


@pytest.mark.parametrize("qid", MISSING.values(), ids=MISSING)
def test_missing_ids_are_refused(qid):
    with pytest.raises(ValueError, match="qid contains"):
        UtilityPairs([1, 2, 3], qid=qid)


@pytest.mark.parametrize("qid", [[1, 2], [1, 2, 3, 4], [], np.ones(4)])
def test_wrong_lengths_are_refused(qid):
    with pytest.raises(ValueError, match=f"qid has {len(qid)} elements, but there are 3 rows"):
        UtilityPairs([1, 2, 3], qid=qid)


@pytest.mark.parametrize(
    "qid",
    [np.ones((3, 2)), np.ones((1, 3)), np.ones((3, 1, 1)), np.array(1), [[1, 2]] * 3],
    ids=["(3, 2)", "(1, 3)", "(3, 1, 1)", "()", "nested list"],
)
def test_wrong_shapes_are_refused(qid):
    with pytest.raises(ValueError, match="qid must have one element per row"):
        UtilityPairs([1, 2, 3], qid=qid)


@pytest.mark.parametrize(
    "qid", [["b", "b", "a", "a", "a"], ["b", "a", "b", "a", "a"], [7, 3, 7, 3, 3], [(1,), "x", (1,), "x", "x"]]
)
def test_queries_are_in_the_order_of_their_first_rows(qid):
    assert UtilityPairs(range(5), qid=qid).pairs_per_query.tolist() == [1, 3]


@pytest.mark.parametrize(
    "ids",
    [
        ["a", "a\0", "a"],
        [2**63, 2**63 + 1, 2**63],
        [2**63, -1, 2**63],
        np.array(["x", "y", "x"], dtype=object),
        np.array([-128, 127, -128], dtype=np.int8),
        np.array([2**63 + 5, 2**63, 2**63 + 5], dtype=np.uint64),
    ],
)
def test_ids_that_are_nearly_the_same(ids):
    codes, n_queries = encode_queries(ids, 3)
    assert codes.tolist() == [0, 1, 0]
    assert n_queries == 2


@pytest.mark.parametrize("kind", [int, str, object])
def test_ids_are_numbered_as_they_appear(rng, kind):
    ids = rng.integers(20, size=200)
    if kind is not int:
        ids = np.array([f"q{k}" for k in ids], dtype=kind)
    order = list(dict.fromkeys(ids.tolist()))
    codes, n_queries = encode_queries(ids, 200)
    assert codes.tolist() == [order.index(each) for each in ids.tolist()]
    assert n_queries == len(order)
