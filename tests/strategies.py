"""Strategies for rankings with many ties, differences of exactly 1, and numbers that round badly."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

METHODS = ("tree", "levels", "pairs", "rbtree", "auto")  # counting methods


class Case(NamedTuple):
    y: np.ndarray
    scores: np.ndarray
    qid: Any = None


EXTREMES = (0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1.7e308, -1.7e308, 1e-300, -1e-300, 2.5e-308, 5e-324, -5e-324)

# Single numbers, by kind.
NUMBERS = {
    "integers": st.integers(-3, 3).map(float),
    "hundredths": st.integers(-250, 250).map(lambda k: k / 100),
    "halves": st.integers(-6, 6).map(lambda k: k / 2),
    "offset": st.integers(-6, 6).map(lambda k: 1e8 + k / 2),
    "large offset": st.integers(-6, 6).map(lambda k: 2.0**53 + k),  # adding 1 rounds
    "extremes": st.sampled_from(EXTREMES),
    "floats": st.floats(allow_nan=False, allow_infinity=False),
}

# Arrays of the same kinds.
_ARRAYS = {
    "integers": lambda rng, m: rng.integers(-3, 4, m).astype(float),
    "hundredths": lambda rng, m: rng.integers(-250, 251, m) / 100,
    "halves": lambda rng, m: rng.integers(-6, 7, m) / 2,
    "offset": lambda rng, m: 1e8 + rng.integers(-6, 7, m) / 2,
    "large offset": lambda rng, m: 2.0**53 + rng.integers(-6, 7, m),
    "extremes": lambda rng, m: rng.choice(EXTREMES, m),
    "floats": lambda rng, m: rng.normal(size=m) * 10.0 ** rng.integers(-3, 4),
    "distinct": lambda rng, m: rng.permutation(m).astype(float),
    "distinct, dense": lambda rng, m: rng.permutation(m) / 16,
}

# Forms of query ids; the last mixes types that cannot be sorted.
QUERY_NAMES = {
    "none": None,
    "numbers": lambda k: k,
    "negative, with gaps": lambda k: 17 - 10 * k,
    "strings": lambda k: f"query {k}",
    "floats": lambda k: 0.5 - k,
    "anything": lambda k: (k, str(k), (k,), frozenset({k}), k + 0.5)[k % 5],
}


def name_queries(numbers, kind):
    return None if QUERY_NAMES[kind] is None else [QUERY_NAMES[kind](int(k)) for k in numbers]


@st.composite
def rows(draw, max_rows=30):
    """Return a case drawn row by row, which shrinks well."""
    numbers = st.sampled_from(sorted(NUMBERS))
    y, scores, kind = draw(numbers), draw(numbers), draw(st.sampled_from(sorted(QUERY_NAMES)))
    row = st.tuples(NUMBERS[y], NUMBERS[scores], st.integers(0, 0 if kind == "none" else 4))
    columns = zip(*draw(st.lists(row, min_size=1, max_size=max_rows)), strict=True)
    y, scores, queries = (np.array(column) for column in columns)
    return Case(y, scores, name_queries(queries, kind))


def _table(rng, m, y, scores, kind, n_queries):
    return Case(_ARRAYS[y](rng, m), _ARRAYS[scores](rng, m), name_queries(rng.integers(n_queries, size=m), kind))


_CHOICES = (sorted(_ARRAYS), sorted(_ARRAYS), sorted(QUERY_NAMES), (1, 2, 5, 30))


@st.composite
def tables(draw, sizes):
    """Return a case drawn as a whole from a seed, which is fast and may be large."""
    m, choices = draw(sizes), [draw(st.sampled_from(choice)) for choice in _CHOICES]
    return _table(np.random.default_rng(draw(seeds)), m, *choices)


def random_tables(seed, n_cases):
    """Return many cases from one seed, which is faster still."""
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        choices = [choice[rng.integers(len(choice))] for choice in _CHOICES]
        yield _table(rng, int(rng.integers(1, 131)), *choices)


seeds = st.integers(0, 2**32 - 1)
# The tree of counts has one level up to 63 rows, two up to 2047.
cases = st.one_of(rows(), tables(st.integers(1, 120)), tables(st.sampled_from((63, 64, 65, 127, 128, 129))))


def _moderate(case):
    """Return a case with scores within 50 of their median, so that squared differences keep their precision."""
    near = np.median(np.clip(case.scores, -1e9, 1e9))
    return case._replace(scores=np.clip(case.scores, near - 50, near + 50))


moderate_cases = cases.map(_moderate)
large_cases = tables(st.sampled_from((2047, 2048, 2049)))


def weights(m, seed):
    """Return row weights of different magnitudes; some are zero, some equal, never all zero."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice([0.0, 1.0, 1.0, 2.0, 0.1, 1e-6, 1e6, np.nan], m)
    drawn = np.where(np.isnan(drawn), rng.uniform(0, 3, m), drawn)
    drawn[rng.integers(m)] = 1.5
    return drawn
