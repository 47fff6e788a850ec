"""Metrics of positions: against all orders of tied rows, against other packages, and invariances."""

import definitions
import ir_measures
import numpy as np
import pandas as pd
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom
from sklearn.metrics import average_precision_score, ndcg_score

from kernelrank.exceptions import UndefinedQueryWarning
from kernelrank.metrics import _continuation, average_precision, err, ndcg, precision_at, reciprocal_rank

ALL = {
    "average_precision": (average_precision, definitions.average_precision, {}),
    "average_precision above 1": (average_precision, definitions.average_precision, {"threshold": 1.0}),
    "precision_at 1": (precision_at, definitions.precision_at, {"k": 1}),
    "precision_at 3": (precision_at, definitions.precision_at, {"k": 3}),
    "precision_at 3, above 1": (precision_at, definitions.precision_at, {"k": 3, "threshold": 1.0}),
    "reciprocal_rank": (reciprocal_rank, definitions.reciprocal_rank, {}),
    "reciprocal_rank at 2": (reciprocal_rank, definitions.reciprocal_rank, {"k": 2}),
    "reciprocal_rank above 1": (reciprocal_rank, definitions.reciprocal_rank, {"threshold": 1.0}),
    "ndcg": (ndcg, definitions.ndcg, {}),
    "ndcg at 1": (ndcg, definitions.ndcg, {"k": 1}),
    "ndcg at 3, linear": (ndcg, definitions.ndcg, {"k": 3, "gain": "linear"}),
    "ndcg over all depths": (ndcg, definitions.ndcg, {"k": "mean"}),
    "ndcg of LETOR": (ndcg, definitions.ndcg, {"convention": "letor"}),
    "ndcg of LETOR at 3": (ndcg, definitions.ndcg, {"convention": "letor", "k": 3}),
    "ndcg of LETOR over all depths": (ndcg, definitions.ndcg, {"convention": "letor", "k": "mean", "gain": "linear"}),
    "err": (err, definitions.err, {"max_grade": 4}),
    "err at 1": (err, definitions.err, {"max_grade": 4, "k": 1}),
    "err at 3": (err, definitions.err, {"max_grade": 4.5, "k": 3}),
}
METRICS = [
    (average_precision, {}),
    (precision_at, {"k": 5}),
    (reciprocal_rank, {}),
    (ndcg, {}),
    (ndcg, {"convention": "letor", "k": "mean"}),
    (err, {}),
]
every_metric = pytest.mark.parametrize(
    ("metric", "kwargs"), METRICS, ids=["-".join([metric.__name__, *kwargs]) for metric, kwargs in METRICS]
)
variants = st.sampled_from(sorted(ALL))


def near(value, rel=1e-12):
    return pytest.approx(value, rel=rel, abs=1e-14, nan_ok=True)


@st.composite
def graded(draw, max_rows=10, kinds=("none", "numbers", "anything")):
    """Grades and scores of a few rows with many ties, so that all orders can be enumerated."""
    grades = draw(st.sampled_from((st.integers(0, 4), st.integers(0, 1), st.sampled_from((0.0, 0.3, 1.0, 2.5, 4.0)))))
    kind = draw(st.sampled_from(kinds))
    row = st.tuples(grades, st.sampled_from((-1.5, 0.0, -0.0, 2.0)), st.integers(0, 0 if kind == "none" else 3))
    rows = draw(st.lists(row, min_size=1, max_size=6 if kind == "none" else max_rows))
    y, scores, queries = (np.array(column, float) for column in zip(*rows, strict=True))
    return strategies.Case(y, scores, strategies.name_queries(queries, kind))


# Against the definition


@settings(max_examples=5 * settings.default.max_examples)
@given(name=variants, case=graded(), ties=st.sampled_from((0, 0.5, 1)))
def test_expected_worst_and_best_of_all_orders(name, case, ties):
    metric, definition, kwargs = ALL[name]
    expected = definitions.over_orders(definition, *case, ties=ties, **kwargs)
    found = metric(case.y, case.scores, qid=case.qid, ties=ties, per_query=True, **kwargs)
    assert found.dtype == np.float64
    assert found.tolist() == near(expected.tolist())
    assert not (found > 1).any()
    assert not (found < 0).any()


@given(name=variants, case=graded())
def test_tied_rows_in_the_order_they_are_given(name, case):
    metric, definition, kwargs = ALL[name]
    distinct = np.empty(len(case.y))
    distinct[np.argsort(-case.scores, kind="stable")] = -np.arange(len(case.y))
    expected = definitions.over_orders(definition, case.y, distinct, case.qid, **kwargs)
    found = metric(case.y, case.scores, qid=case.qid, ties="ordinal", per_query=True, **kwargs)
    assert found.tolist() == near(expected.tolist())


@given(name=variants, case=graded())
def test_the_mean_leaves_out_undefined_queries(name, case):
    metric, _, kwargs = ALL[name]
    values = metric(case.y, case.scores, qid=case.qid, per_query=True, **kwargs)
    n_undefined = int(np.isnan(values).sum())
    if n_undefined == len(values):
        with pytest.raises(ValueError, match=r"not defined: there is no (relevant row|row with a positive grade)"):
            metric(case.y, case.scores, qid=case.qid, **kwargs)
        return
    if n_undefined:
        with pytest.warns(UndefinedQueryWarning, match=f"^{n_undefined} of {len(values)} queries have no") as caught:
            found = metric(case.y, case.scores, qid=case.qid, **kwargs)
        assert [each.filename for each in caught] == [__file__]
    else:
        found = metric(case.y, case.scores, qid=case.qid, **kwargs)
    assert type(found) is float
    assert found == near(np.nanmean(values))


@pytest.mark.parametrize("k", [None, 1, 7, 40])
def test_expected_rank_of_larger_blocks(k, rng):
    # There are too many orders to enumerate: random ones, with their standard error.
    grades = rng.integers(0, 5, 60) * (rng.random(60) < 0.4)
    above = rng.integers(0, 2, 3)
    y, scores = np.append(above, grades), np.append([3, 2, 1], np.zeros(60))
    samples = [definitions.err([*above, *rng.permutation(grades)], 4, k) for _ in range(4000)]
    found = err(y, scores, k=k, max_grade=4)
    assert abs(found - np.mean(samples)) <= 5 * np.std(samples) / np.sqrt(4000) + 1e-12


@pytest.mark.parametrize(("n", "n_zeros"), [(80, 0), (80, 1), (80, 50), (1500, 0), (1500, 700)])
@pytest.mark.parametrize("above", [0, 3])
def test_equal_grades_need_no_orders(n, n_zeros, above):
    # With one grade besides 0, the number of good rows among the first j is hypergeometric.
    stop, size = (2**2 - 1) / 2**4, n + n_zeros
    j = np.arange(min(size, 300) + 1)
    found = np.arange(min(n, 300) + 1)
    passing = np.array([hypergeom.pmf(found, size, n, each) @ (1 - stop) ** found for each in j])
    expected = ((passing[:-1] - passing[1:]) / (above + j[1:])).sum()
    y = np.concatenate([np.zeros(above), np.full(n, 2), np.zeros(n_zeros)])
    scores = np.concatenate([np.ones(above), np.zeros(size)])
    assert err(y, scores, max_grade=4) == pytest.approx(expected, rel=1e-11)  # SciPy's logarithms lose a few digits


@pytest.mark.parametrize("k", [None, 1, 9])
@pytest.mark.parametrize("shares", [(0.2, 0.2, 0.2, 0.2, 0.2), (0.002, 0.2, 0.4, 0.396, 0.002)])
def test_rows_of_a_grade_may_join_at_once(k, shares, monkeypatch, rng):
    y, scores, qid = rng.choice(5, 12_000, p=shares), rng.integers(0, 3, 12_000), rng.integers(0, 4, 12_000)
    y[:12] = 4
    monkeypatch.setattr(_continuation, "_MANY", 10**9)
    row_by_row = err(y, scores, qid=qid, k=k, per_query=True)
    joined = []
    join_levels = _continuation._join_levels
    monkeypatch.setattr(_continuation, "_MANY", 0)
    monkeypatch.setattr(_continuation, "_join_levels", lambda *args: joined.append(args) or join_levels(*args))
    assert err(y, scores, qid=qid, k=k, per_query=True).tolist() == near(row_by_row.tolist())
    assert len(joined) == 4  # one block per query: the second is reached with a negligible probability


def test_a_large_block_with_few_relevant_rows():
    # A single relevant row of m is at each position with the same probability.
    m = 200_000
    y = np.zeros(m)
    y[123] = 3
    harmonic = np.sum(1 / np.arange(m, 0, -1.0))
    assert err(y, np.zeros(m), max_grade=4) == pytest.approx(7 / 16 * harmonic / m, rel=1e-10)
    assert reciprocal_rank(y, np.zeros(m)) == pytest.approx(harmonic / m, rel=1e-12)
    assert average_precision(y, np.zeros(m)) == pytest.approx(harmonic / m, rel=1e-12)
    assert precision_at(y, np.zeros(m), k=10) == pytest.approx(1 / m, rel=1e-12)


def test_by_hand():
    y, scores = [1, 0, 1, 0], [3.0, 2.0, 2.0, 1.0]
    assert average_precision(y, scores, ties=1) == 1.0
    assert average_precision(y, scores, ties=0) == near((1 + 2 / 3) / 2)
    assert average_precision(y, scores) == near((1 + (1 + 2 / 3) / 2) / 2)
    assert precision_at(y, scores, k=2) == 0.75
    assert precision_at(y, scores, k=8) == 0.25
    assert reciprocal_rank(y, [0.0, 2.0, 1.0, 3.0]) == near(1 / 3)
    assert reciprocal_rank(y, [0.0, 2.0, 1.0, 3.0], k=2) == 0.0
    assert ndcg([3, 1, 0], [1, 2, 3]) == near((1 / np.log2(3) + 7 / 2) / (7 + 1 / np.log2(3)))
    assert err([1, 0, 2], [3, 2, 1]) == near(1 / 4 + 3 / 4 * 3 / 4 / 3)


def test_queries_without_a_relevant_row():
    y, scores, qid = [1, 0, 0, 0], [1, 2, 3, 4], ["a", "a", "b", "b"]
    for metric, kwargs in ((reciprocal_rank, {}), (err, {}), (precision_at, {"k": 1})):
        assert metric(y, scores, qid=qid, per_query=True, **kwargs)[1] == 0.0
    assert reciprocal_rank(y, scores, qid=qid) == 0.25
    for metric in (average_precision, ndcg):
        np.testing.assert_array_equal(np.isnan(metric(y, scores, qid=qid, per_query=True)), [False, True])


# Against others


def ragged(rng, n_queries=40, tied=False):
    sizes = rng.integers(1, 40, n_queries)
    qid = np.repeat([f"q{i}" for i in range(n_queries)], sizes)
    y = rng.integers(0, 5, len(qid)) * (rng.random(len(qid)) < 0.5)
    scores = rng.integers(0, 6, len(qid)) if tied else rng.permutation(len(qid)) / 7
    return y, scores.astype(float), qid


@pytest.mark.parametrize("k", [None, 1, 5, 100])
@pytest.mark.parametrize("tied", [True, False])
def test_scikit_learns_ndcg(k, tied, rng):
    y, scores, qid = ragged(rng, tied=tied)
    found = ndcg(y, scores, qid=qid, k=k, gain="linear", per_query=True)
    found_exp2 = ndcg(y, scores, qid=qid, k=k, per_query=True)
    for number, name in enumerate(pd.unique(qid)):
        rows = qid == name
        if rows.sum() == 1 or not y[rows].any():
            continue
        assert found[number] == near(ndcg_score([y[rows]], [scores[rows]], k=k))
        assert found_exp2[number] == near(ndcg_score([2.0 ** y[rows] - 1], [scores[rows]], k=k))


def test_scikit_learns_average_precision(rng):
    y, scores, qid = ragged(rng)
    found = average_precision(y, scores, qid=qid, threshold=1, per_query=True)
    for number, name in enumerate(pd.unique(qid)):
        rows = qid == name
        if (y[rows] > 1).any():
            assert found[number] == near(average_precision_score(y[rows] > 1, scores[rows]))
        else:
            assert np.isnan(found[number])


def test_trec_eval(rng):
    y, scores, qid = ragged(rng)
    documents = [f"d{row}" for row in range(len(y))]
    judged = pd.DataFrame({"query_id": qid, "doc_id": documents, "relevance": y})
    ranked = pd.DataFrame({"query_id": qid, "doc_id": documents, "score": scores})
    ours = {
        ir_measures.AP: (average_precision, {}),
        ir_measures.AP(rel=2): (average_precision, {"threshold": 1}),
        ir_measures.nDCG: (ndcg, {"gain": "linear"}),
        ir_measures.nDCG @ 7: (ndcg, {"gain": "linear", "k": 7}),
        ir_measures.P @ 5: (precision_at, {"k": 5}),
        ir_measures.P(rel=3) @ 20: (precision_at, {"k": 20, "threshold": 2}),
        ir_measures.RR: (reciprocal_rank, {}),
        ir_measures.RR(rel=4): (reciprocal_rank, {"threshold": 3}),
    }
    queries = pd.unique(qid)
    theirs = {(each.measure, each.query_id): each.value for each in ir_measures.iter_calc(list(ours), judged, ranked)}
    assert len(theirs) == len(ours) * len(queries)
    for measure, (metric, kwargs) in ours.items():
        found = metric(y, scores, qid=qid, per_query=True, **kwargs)
        expected = [theirs[measure, name] for name in queries]
        # trec_eval writes 0 for a query without a relevant row.
        assert np.nan_to_num(found).tolist() == near(expected), measure


# What must not change them


@every_metric
@given(case=graded(max_rows=30), ties=st.sampled_from((0, 0.5, 1)), seed=strategies.seeds)
def test_order_of_the_rows(metric, kwargs, case, ties, seed):
    order = np.random.default_rng(seed).permutation(len(case.y))
    qid = None if case.qid is None else [case.qid[row] for row in order]
    found = metric(case.y[order], case.scores[order], qid=qid, ties=ties, per_query=True, **kwargs)
    expected = metric(case.y, case.scores, qid=case.qid, ties=ties, per_query=True, **kwargs)
    assert sorted(found, key=str) == near(sorted(expected, key=str))


@every_metric
def test_monotone_changes_of_the_scores(metric, kwargs, rng):
    y, scores, qid = ragged(rng, tied=True)
    expected = metric(y, scores, qid=qid, per_query=True, **kwargs)
    shifts = rng.normal(size=100)[np.unique(qid, return_inverse=True)[1]]  # scores are compared within a query only
    for changed in (1e-9 * scores, scores**3, np.exp2(scores) - 1e3, 1e300 * (scores - 2), scores + 1e3 * shifts):
        np.testing.assert_array_equal(metric(y, changed, qid=qid, per_query=True, **kwargs), expected)


@every_metric
@pytest.mark.parametrize("ties", [0, 0.5, 1])
def test_a_query_does_not_see_the_others(metric, kwargs, ties, rng):
    y, scores, qid = ragged(rng, tied=True)
    shuffled = rng.permutation(len(y))
    y, scores, qid = y[shuffled], scores[shuffled], qid[shuffled]
    kwargs = {**kwargs, "max_grade": 4} if metric is err else kwargs
    found = metric(y, scores, qid=qid, ties=ties, per_query=True, **kwargs)
    for number, name in enumerate(pd.unique(qid)):
        rows = qid == name
        [alone] = metric(y[rows], scores[rows], ties=ties, per_query=True, **kwargs)
        assert found[number] == near(alone, rel=1e-14)


@every_metric
def test_worst_expected_best(metric, kwargs, rng):
    y, scores, qid = ragged(rng, tied=True)
    worst, expected, best = (metric(y, scores, qid=qid, ties=t, per_query=True, **kwargs) for t in (0, 0.5, 1))
    defined = ~np.isnan(best)
    assert (worst[defined] <= expected[defined] + 1e-15).all()
    assert (expected[defined] <= best[defined] + 1e-15).all()
    assert (worst[defined] < best[defined]).any()


def test_gains_of_any_size():
    y, scores = np.array([2.0, 0.0, 1.0]), [2.0, 3.0, 1.0]
    expected = ndcg(y, scores, gain="linear")
    for scale in (1e-310, 1e-200, 1e307, 8e307):
        assert ndcg(scale * y, scores, gain="linear") == near(expected)
    assert ndcg([1000, 1], [1, 2]) == near(1 / np.log2(3))
    # The gains of one query do not drown those of another.
    both = ndcg([1000, 0, 1e-15, 2e-15], [2, 1, 2, 1], qid=[0, 0, 1, 1], per_query=True)
    assert both[1] == near(ndcg([1e-15, 2e-15], [2, 1]))
    assert ndcg([1e-18, 0, 3e-18], [3, 2, 1]) == near(ndcg([1, 0, 3], [3, 2, 1], gain="linear"))
    assert err([1000, 0], [1, 2]) == near(0.5)
    assert err([1000, 1000, 60], [1, 1, 1]) == near(2 / 3 + 1 / 3 * 1 / 2)  # a grade of 1000 is never passed
    assert err([60, 60], [1, 1]) == 1.0
    with pytest.raises(ValueError, match="a grade of 1001, but grades must not exceed 1000"):
        ndcg([1001, 1], [1, 2])
    assert ndcg([1001, 1], [2, 1], gain="linear") == 1.0


@every_metric
def test_a_perfect_order(metric, kwargs, rng):
    y = np.append(rng.integers(0, 5, 100), 4)
    for scores in (y, y + rng.random(101) / 2):
        found = metric(y, scores, **kwargs)
        assert found == near(metric(y, scores, ties=1, **kwargs))
        if metric is not err:
            assert found == 1.0


def test_err_takes_the_largest_grade_of_all_queries():
    y, scores, qid = [4, 0, 2, 1], [1, 2, 3, 4], [1, 1, 2, 2]
    np.testing.assert_array_equal(
        err(y, scores, qid=qid, per_query=True), err(y, scores, qid=qid, max_grade=4, per_query=True)
    )
    assert err(y, scores, qid=qid, max_grade=5) < err(y, scores, qid=qid)


# Errors


@every_metric
def test_bad_input(metric, kwargs):
    with pytest.raises(ValueError, match="y_true is empty"):
        metric([], [], **kwargs)
    with pytest.raises(ValueError, match="y_score has 2 elements, but there are 3 rows"):
        metric([1, 2, 3], [1, 2], **kwargs)
    with pytest.raises(ValueError, match="qid has 1 elements, but there are 3 rows"):
        metric([1, 2, 3], [1, 2, 3], qid=[1], **kwargs)
    with pytest.raises(ValueError, match="Input y_score contains NaN"):
        metric([1, 2, 3], [1, np.nan, 3], **kwargs)
    for ties in (0.3, -1, 2, np.nan, "0", True, None):
        with pytest.raises(ValueError, match=r"ties must be 0, 0\.5 or 1 in a metric of positions"):
            metric([1, 2], [1, 2], ties=ties, **kwargs)


@pytest.mark.parametrize("metric", [ndcg, err, reciprocal_rank, precision_at])
@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True])
def test_depths_are_positive_whole_numbers(metric, k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        metric([1, 2], [1, 2], k=k)


def test_precision_needs_a_depth():
    with pytest.raises(ValueError, match="k must be a positive integer, got None"):
        precision_at([1, 2], [1, 2], k=None)


@pytest.mark.parametrize("metric", [ndcg, err])
def test_negative_grades(metric):
    with pytest.raises(ValueError, match="non-negative grades, got -1"):
        metric([1, -1], [1, 2])


def test_parameters():
    for gain in ("exp", None, np.array(["exp2"])):
        with pytest.raises(ValueError, match="gain must be 'exp2' or 'linear'"):
            ndcg([1, 2], [1, 2], gain=gain)
    with pytest.raises(ValueError, match="convention must be 'standard' or 'letor', got 'trec'"):
        ndcg([1, 2], [1, 2], convention="trec")
    with pytest.raises(ValueError, match="or 'ordinal', got 'first'"):
        ndcg([1, 2], [1, 2], ties="first")
    for threshold in ("0", None, np.nan, True):
        with pytest.raises(ValueError, match="threshold must be a number"):
            average_precision([1, 2], [1, 2], threshold=threshold)
    for max_grade in (1.5, 1001, np.nan, "4", True):
        with pytest.raises(ValueError, match="max_grade must be a number between the largest grade of y_true, 2, and"):
            err([1, 2], [1, 2], max_grade=max_grade)


def test_the_best_order_has_a_gain_of_one(rng):
    """And not more, though sums of equal gains are rounded in another order."""
    for _ in range(200):
        y = rng.integers(0, 4, size=rng.integers(3, 40))
        if y.any():
            assert ndcg(y, y + 0.5 * rng.random(len(y))) <= 1.0
