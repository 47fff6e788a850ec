"""All counting methods on all kinds of data, against the definition: the integers are equal."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelrank.pairs import UtilityPairs, count_violations

METHODS = strategies.METHODS
all_methods = pytest.mark.parametrize("method", METHODS)
one_or_two_threads = pytest.mark.parametrize("n_jobs", [1, 2])


def check(found, expected):
    """Assert equal integers for one set of pairs: sum(c) == sum(d) == total."""
    c, d = expected[:2]
    assert found.c.dtype == found.d.dtype == np.int64
    np.testing.assert_array_equal(found.c, c)
    np.testing.assert_array_equal(found.d, d)
    assert found.total == found.c.sum() == found.d.sum()


def number_of_pairs(y):
    """Return m^2 / 2 minus the number of pairs with equal utilities, in Python's integers."""
    sizes = np.unique(y, return_counts=True)[1].tolist()
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


# Against the definition


@all_methods
@one_or_two_threads
@given(case=strategies.cases)
def test_counts_are_those_of_the_definition(method, n_jobs, case):
    y, scores, qid = case
    check(count_violations(y, scores, qid=qid, method=method, n_jobs=n_jobs), oracles.count_violations(*case))


def check_all_methods(case):
    pairs = UtilityPairs(case.y, qid=case.qid)
    expected = oracles.count_violations(*case)
    for method in METHODS:
        check(pairs.count(case.scores, method=method), expected)


# 100,000 generated cases are required: these, and twenty for each seed of the next test.
@pytest.mark.slow
@settings(max_examples=10_000)
@given(case=strategies.cases)
def test_ten_thousand_cases(case):
    check_all_methods(case)


@pytest.mark.slow
@settings(max_examples=4_500)
@given(seed=strategies.seeds)
def test_ninety_thousand_cases(seed):
    for case in strategies.random_tables(seed, 20):
        check_all_methods(case)


@settings(max_examples=20)
@given(case=strategies.large_cases)
def test_large_cases(case):
    check_all_methods(case)


@given(case=strategies.cases, margin=st.sampled_from((0.0, 0.5, -1.0, 1e-300, 1e300, np.inf, -np.inf)))
def test_any_margin(case, margin):
    pairs = UtilityPairs(case.y, qid=case.qid)
    expected = oracles.count_violations(*case, margin=margin)
    for method in METHODS:
        check(pairs.count(case.scores, method=method, margin=margin), expected)


@given(case=strategies.cases)
def test_comparable_pairs_of_each_query(case):
    pairs = UtilityPairs(case.y, qid=case.qid)
    query = oracles.query_numbers(case.qid, len(case.y))
    of_queries = [number_of_pairs(case.y[query == k]) for k in np.unique(query)]
    assert type(pairs.n_pairs) is int
    assert pairs.n_pairs == sum(of_queries)
    assert pairs.n_queries == len(of_queries)
    assert sorted(pairs.pairs_per_query) == sorted(of_queries)


@one_or_two_threads
@given(case=strategies.cases)
def test_totals_and_risk_are_those_of_the_counts(n_jobs, case):
    y, qid = case.y, case.qid
    scores = np.clip(case.scores, -1e9, 1e9)  # sums must not overflow
    pairs = UtilityPairs(y, qid=qid, n_jobs=n_jobs)
    c, d, total = pairs.count(scores)
    g, totals, inner = pairs.violated().count(scores, np.arange(1.0, pairs.n_queries + 1))
    assert totals.sum() == total
    np.testing.assert_array_equal(pairs.count_totals(scores), totals)
    if pairs.n_queries == 1:
        np.testing.assert_array_equal(g, c - d)
        magnitude = np.sum(np.abs((c - d) * (scores - np.median(scores))))
        assert inner[0] == pytest.approx((c - d) @ (scores - np.median(scores)), rel=0, abs=1e-13 * magnitude)


def test_risk_scales_each_query(rng):
    y, scores, query = rng.integers(0, 4, 500), rng.normal(size=500), rng.integers(0, 7, 500)
    query[:7] = np.arange(7)  # queries appear in this order, whatever their codes
    pairs = UtilityPairs(y, qid=query)
    scale = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 0.0, 0.25])
    g, totals, inner = pairs.violated().count(scores, scale)
    c, d = oracles.count_violations(y, scores, query)
    np.testing.assert_array_equal(g, scale[query] * (c - d))
    np.testing.assert_array_equal(totals, np.bincount(query, c))
    np.testing.assert_allclose(inner, np.bincount(query, (c - d) * scores), rtol=1e-11, atol=1e-9)


# Ties, rounding and the margin


@all_methods
@pytest.mark.parametrize("n_levels", [2, 5, 16, 17, 700])
def test_number_of_distinct_utilities(method, n_levels, rng):
    y = rng.integers(0, n_levels, 700) if n_levels < 700 else rng.permutation(700)
    scores = rng.integers(-20, 21, 700) / 4
    check(count_violations(y, scores, method=method), oracles.count_violations(y, scores))


@all_methods
def test_a_difference_of_exactly_one_is_no_violation(method):
    below = np.nextafter(1.0, 0.0)
    assert count_violations([1, 2], [0.0, 1.0], method=method).total == 0
    assert count_violations([1, 2], [-1.0, -0.0], method=method).total == 0
    assert count_violations([1, 2], [0.0, below], method=method).total == 1
    check(count_violations([1, 1, 2, 2], [0, 1, 1, 0], method=method), ([1, 2, 0, 0], [0, 0, 1, 2]))


@all_methods
def test_scores_on_a_grid_of_hundredths_give_one_set_of_pairs(method, rng):
    y, scores = rng.permutation(1000), rng.integers(-200, 201, 1000) / 100
    above, below = scores[None, :] < scores[:, None] + 1, scores[:, None] > scores[None, :] - 1
    assert (above != below)[y[:, None] < y[None, :]].any()  # two different comparisons would give two sets
    check(count_violations(y, scores, method=method), oracles.count_violations(y, scores))


@all_methods
def test_negative_zero_ties_with_zero(method):
    assert UtilityPairs([0.0, -0.0]).n_pairs == 0
    assert UtilityPairs([-0.0, 0.0, 1.0]).n_pairs == 2
    y, scores = [1, 2, 3, 4], np.array([0.0, -0.0, 0.0, -0.0])
    for margin, total in ((0.0, 0), (5e-324, 6)):
        assert UtilityPairs(y).count(scores, margin=margin, method=method).total == total
        assert UtilityPairs(y).count(-scores, margin=margin, method=method).total == total


@all_methods
def test_tied_scores_violate_every_pair(method, rng):
    y = rng.integers(0, 30, 500)
    pairs = UtilityPairs(y)
    found = pairs.count(np.zeros(500), method=method)
    assert found.total == pairs.n_pairs == number_of_pairs(y)
    np.testing.assert_array_equal(found.c, [(y > each).sum() for each in y])
    np.testing.assert_array_equal(found.d, [(y < each).sum() for each in y])


@pytest.mark.parametrize(
    ("method", "n_levels", "n_jobs"),
    [(name, 1000, 2) for name in ("tree", "levels", "rbtree", "auto")]
    + [("tree", 10**5, n_jobs) for n_jobs in (1, 2, 3)]
    + [pytest.param("pairs", 1000, 2, marks=pytest.mark.slow)],
)
def test_more_than_two_to_the_32_violations(method, n_levels, n_jobs):
    m = 10**5
    y = np.random.default_rng(0).permutation(m) % n_levels
    a_level = m // n_levels
    pairs = UtilityPairs(y, n_jobs=n_jobs)
    check(pairs.count(np.zeros(m), method=method), ((n_levels - 1 - y) * a_level, y * a_level))
    assert pairs.n_pairs == pairs.count_totals(np.zeros(m), method=method).item() == number_of_pairs(y) > 2**32


@all_methods
@pytest.mark.parametrize("y", [[3.0], [2.0, 2.0, 2.0], [0.0, -0.0]], ids=["one row", "one level", "zeros"])
def test_nothing_to_compare_counts_nothing(method, y):
    pairs = UtilityPairs(y)
    assert pairs.n_pairs == 0
    assert pairs.pairs_per_query.tolist() == [0]
    check(pairs.count(np.arange(len(y)), method=method), (np.zeros(len(y)), np.zeros(len(y))))


# Sizes: every depth of the tree, one thread and several


def utilities_of(kind, m, rng):
    return {"distinct": rng.permutation(m), "tied": rng.integers(0, max(2, m // 100), m)}[kind]


@pytest.mark.parametrize("kind", ["distinct", "tied"])
@pytest.mark.parametrize("m", [2, 63, 64, 65, 2047, 2048, 2049])
def test_sizes_around_the_borders_of_the_tree(m, kind, rng):
    y, scores = utilities_of(kind, m, rng), rng.normal(size=m) * 2
    expected = oracles.count_violations(y, scores)
    for method in METHODS:
        check(count_violations(y, scores, method=method), expected)


@pytest.mark.parametrize(("m", "kind"), [(65535, "tied"), (65536, "tied"), (65536, "distinct")])
def test_sizes_at_which_threads_join(m, kind):
    rng = np.random.default_rng(m)
    y, scores = utilities_of(kind, m, rng), rng.integers(-300, 301, m) / 100
    expected = UtilityPairs(y, n_jobs=1).count(scores, method="pairs")
    for n_jobs in (1, 2, 3):
        pairs = UtilityPairs(y, n_jobs=n_jobs)
        check(pairs.count(scores, method="tree"), expected)
        assert pairs.count_totals(scores, method="tree").item() == expected.total
    check(pairs.count(scores, method="rbtree"), expected)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("m", [2**20 - 1, 2**20])
def test_a_million_rows_by_formula(m, n_jobs):
    y = np.random.default_rng(m).permutation(m)
    pairs = UtilityPairs(y, n_jobs=n_jobs)
    check(pairs.count(y / 1024), (np.minimum(1023, m - 1 - y), np.minimum(1023, y)))
    check(pairs.count(-y), (m - 1 - y, y))
    check(pairs.count(y), (np.zeros(m), np.zeros(m)))


def test_a_million_rows_by_red_black_tree():
    rng = np.random.default_rng(0)
    m = 2**20 + 2**16 + 1
    y, scores = rng.integers(0, 5000, m), rng.normal(size=m) * 3
    expected = count_violations(y, scores, method="rbtree", n_jobs=1)
    for n_jobs in (1, 2, 3):
        check(count_violations(y, scores, n_jobs=n_jobs), expected)


def test_a_million_rows_by_binary_search():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 2**20 + 1), rng.normal(size=2**20 + 1)
    expected = oracles.count_violations_of_levels(y, scores)
    for method in ("tree", "levels", "rbtree"):
        check(count_violations(y, scores, method=method, n_jobs=2), expected)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_sixteen_million_rows(n_jobs):
    rng = np.random.default_rng(0)
    m = 2**24 + 2**20 + 1
    y = rng.permutation(m)
    pairs = UtilityPairs(y, n_jobs=n_jobs)
    check(pairs.count(y / 2**20), (np.minimum(2**20 - 1, m - 1 - y), np.minimum(2**20 - 1, y)))
    check(pairs.count(-y), (m - 1 - y, y))
    scores = rng.normal(size=m)
    expected = oracles.count_violations_of_levels(y % 4, scores)
    check(count_violations(y % 4, scores, method="tree", n_jobs=n_jobs), expected)


@pytest.mark.parametrize("kind", ["distinct", "tied"])
@pytest.mark.parametrize("shuffled", [False, True], ids=["grouped", "shuffled"])
def test_large_and_small_queries_together(shuffled, kind):
    rng = np.random.default_rng(1)
    sizes = [7, 70_000, 1, 300, 65_536, 20_000, 2, 2048, 64]
    y = np.concatenate([utilities_of(kind, size, rng) for size in sizes])
    qid = np.repeat([5, 3, 8, 1, 0, 7, 2, 6, 4], sizes)
    if shuffled:
        order = rng.permutation(len(y))
        y, qid = y[order], qid[order]
    scores = rng.normal(size=len(y))
    c, d = np.empty(len(y), np.int64), np.empty(len(y), np.int64)
    for query in range(len(sizes)):
        rows = qid == query
        c[rows], d[rows], _ = count_violations(y[rows], scores[rows], method="rbtree", n_jobs=1)
    for n_jobs in (1, 2, 3):
        pairs = UtilityPairs(y, qid=qid, n_jobs=n_jobs)
        check(pairs.count(scores, method="tree"), (c, d))
        assert sorted(pairs.count_totals(scores)) == sorted(c[qid == query].sum() for query in range(len(sizes)))


# Scores that are hard to sort

HARD_TO_SORT = {
    "all equal": lambda rng, m: np.full(m, 0.1),
    "one huge outlier": lambda rng, m: np.append(rng.normal(size=m - 1), 1e300),
    "two outliers": lambda rng, m: np.concatenate([[-1e18], rng.normal(size=m - 2), [1e18]]),
    "geometric": lambda rng, m: np.exp(30 * rng.normal(size=m)),
    "geometric, both signs": lambda rng, m: np.exp(30 * rng.normal(size=m)) * rng.choice([-1, 1], m),
    "two clusters": lambda rng, m: rng.choice([0.5, 0.5 + 1e-12], m) + 1e-15 * rng.integers(0, 9, m),
    "two far clusters": lambda rng, m: rng.choice([0.0, 1e12], m) + rng.normal(size=m),
    "the largest numbers": lambda rng, m: rng.choice([-1e308, -1.79e308, 0.0, 1.79e308, 1e308, 1.0], m),
    "the whole range": lambda rng, m: rng.uniform(-1, 1, m) * 1.79e308,
    "subnormal": lambda rng, m: rng.integers(-(10**6), 10**6, m) * 5e-324,
    "a few subnormal": lambda rng, m: rng.integers(-3, 4, m) * 5e-324,
    "zeros of both signs": lambda rng, m: rng.choice([0.0, -0.0, 5e-324, -5e-324], m),
    "zeros of both signs and more": lambda rng, m: rng.choice([0.0, -0.0, 5e-324, 1e-323, 1e-300], m),
    "any bits": lambda rng, m: np.nan_to_num(rng.integers(0, 2**64, m, dtype=np.uint64).view(np.float64), nan=0.0),
    "neighbours": lambda rng, m: 1.0 + rng.integers(0, 50, m) * 2.0**-52,
    "from 1 to 10": lambda rng, m: rng.uniform(1, 10, m),
    "two equal halves": lambda rng, m: (rng.permutation(m) % 2) * rng.uniform(999, 1000, m),
    "sorted": lambda rng, m: np.sort(rng.normal(size=m)),
    "reversed": lambda rng, m: np.sort(rng.normal(size=m))[::-1],
}
hard_to_sort = pytest.mark.parametrize("kind", HARD_TO_SORT)


@hard_to_sort
@pytest.mark.parametrize("m", [20, 21, 100, 20_000, 65_536, 70_000])
def test_scores_that_are_hard_to_sort(kind, m):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 6, m), HARD_TO_SORT[kind](rng, m)
    for margin in (0.0, 1.0):  # with 0, every error of the order is visible
        expected = oracles.count_violations_of_levels(y, scores, margin)
        for n_jobs in (1, 2, 3):
            check(UtilityPairs(y, n_jobs=n_jobs).count(scores, margin=margin, method="tree"), expected)
        check(UtilityPairs(y, n_jobs=2).count(scores, margin=margin, method="levels"), expected)


@hard_to_sort
def test_hard_scores_of_distinct_utilities(kind):
    rng = np.random.default_rng(0)
    pairs, scores = UtilityPairs(rng.permutation(20_000)), HARD_TO_SORT[kind](rng, 20_000)
    expected = pairs.count(scores, margin=0.0, method="pairs")  # does not sort
    check(pairs.count(scores, margin=0.0, method="tree"), expected)
    check(pairs.count(scores, margin=0.0, method="rbtree"), expected)


@hard_to_sort
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_utilities_that_are_hard_to_sort(kind, n_jobs):
    rng = np.random.default_rng(0)
    y, scores = HARD_TO_SORT[kind](rng, 70_000), rng.normal(size=70_000)
    ranks = np.unique(y, return_inverse=True)[1]
    pairs = UtilityPairs(y, n_jobs=n_jobs)
    assert pairs.n_pairs == number_of_pairs(y)
    check(pairs.count(scores), count_violations(ranks, scores))


# Invariances


@all_methods
@pytest.mark.parametrize("m", [300, 20_000])
def test_order_of_the_rows(method, m):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 40, m), rng.integers(-200, 201, m) / 100
    c, d, _ = count_violations(y, scores, method=method)
    ascending = np.argsort(scores, kind="stable")
    orders = {
        "sorted": ascending,
        "reversed": ascending[::-1],
        "organ pipe": np.concatenate([ascending[::2], ascending[1::2][::-1]]),
        "by utility": np.argsort(y),
        "by falling utility": np.argsort(-y),
    }
    for order in orders.values():
        check(count_violations(y[order], scores[order], method=method), (c[order], d[order]))


@given(case=strategies.cases)
def test_monotone_changes_of_the_utilities(case):
    ranks = np.unique(case.y, return_inverse=True)[1]
    expected = count_violations(case.y, case.scores, qid=case.qid)
    check(count_violations(ranks, case.scores, qid=case.qid), expected)
    check(count_violations(np.exp2(ranks) - 1e3, case.scores, qid=case.qid), expected)


@given(case=strategies.cases)
def test_reversing_utilities_and_scores_swaps_the_counts(case):
    c, d = oracles.count_violations(*case, margin=0.0)
    check(UtilityPairs(-case.y, qid=case.qid).count(-case.scores, margin=0.0), (d, c))


# Reuse


@given(case=strategies.cases, seed=strategies.seeds)
def test_one_ranking_counts_many_scores(case, seed):
    rng = np.random.default_rng(seed)
    pairs = UtilityPairs(case.y, qid=case.qid)
    for method in rng.choice(METHODS, 6):
        scores = rng.permutation(case.scores)
        check(pairs.count(scores, method=method), oracles.count_violations(case.y, scores, case.qid))


def test_results_are_not_shared_between_calls(rng):
    pairs = UtilityPairs(rng.permutation(200))
    first = pairs.count(np.zeros(200))
    kept = first.c.copy(), first.d.copy()
    pairs.count(rng.normal(size=200) * 5)
    check(first, kept)


@pytest.mark.parametrize("m", [500, 66_000])
@one_or_two_threads
def test_threads_count_at_the_same_time(m, n_jobs):
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 1000, m), np.where(np.arange(m) < m - 100, 0, 1)
    many_scores = rng.normal(size=(24, m)) * rng.choice([0.0, 0.5, 2.0], (24, 1))
    methods = ["tree", "auto", "rbtree"] * 8
    expected = [UtilityPairs(y, qid=qid).count(scores) for scores in many_scores]
    shared = UtilityPairs(y, qid=qid, n_jobs=n_jobs)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda scores, method: shared.count(scores, method=method), many_scores, methods))
    for one, other in zip(found, expected, strict=True):
        check(one, other)
