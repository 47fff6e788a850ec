"""Comparison of scorers on the same rows."""

import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import strategies
import variances
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t, ttest_1samp, wilcoxon

from kernelrank.exceptions import NoComparablePairsError, UndefinedQueryWarning
from kernelrank.metrics import auc, auc_interval, compare_scores, concordance_index
from kernelrank.metrics._comparison import QuerySample, RowSample, compare_samples, correct_pvalues
from kernelrank.metrics._influence import RowCounts

FEW = ((0, 0.0, 1.0), (0, 1.0, 0.0), (1, 1.0, 1.0), (1, -1.0, 2.0))  # two rows of each class


def scorers(rng, m, n_levels=2, noises=(1.0, 1.0, 2.0)):
    """Return true values, and noisy scores rounded to have ties."""
    y = rng.normal(size=m) if n_levels is None else rng.integers(0, n_levels, m).astype(float)
    y[:4] = 0, 1, 0, 1
    return y, {f"noise {k}": np.round(y + noise * rng.normal(size=m), 1) for k, noise in enumerate(noises)}


def pvalue(y, first, second, **kwargs):
    return compare_scores(y, [first, second], **kwargs).differences[0].pvalue


# Rows


@given(
    rows=st.lists(st.tuples(st.integers(0, 1), *2 * [strategies.NUMBERS["integers"]]), min_size=1, max_size=50),
    confidence=st.sampled_from((0.5, 0.95)),
)
def test_delongs_test(rows, confidence):
    y, first, second = (np.array(column) for column in zip(*rows, *FEW, strict=True))
    areas, covariance = variances.delong(y, [first, second])
    found = compare_scores(y, {"first": first, "second": second}, confidence=confidence)
    assert found.method == "DeLong"
    assert found.names == ("first", "second")
    assert found.estimates == pytest.approx(areas, rel=1e-14)
    for scores, ends in zip((first, second), found.intervals, strict=True):
        assert ends == auc_interval(y, scores, confidence=confidence)[1:]
    (pair,) = found.differences
    deviation = np.sqrt(max(np.array([1, -1]) @ covariance @ [1, -1], 0))
    difference, half = areas[0] - areas[1], norm.ppf((1 + confidence) / 2) * deviation
    assert (pair.first, pair.second) == ("first", "second")
    assert pair.difference == pytest.approx(difference, abs=1e-15)
    assert (pair.low, pair.high) == pytest.approx((max(difference - half, -1), min(difference + half, 1)), abs=1e-8)
    if deviation > 1e-6:
        assert pair.pvalue == pytest.approx(2 * norm.sf(abs(difference) / deviation), rel=1e-8)
    assert pair.corrected_pvalue == pair.pvalue


def test_delongs_test_of_many_rows_and_scorers(rng):
    y, scores = scorers(rng, 1500, noises=(1.0, 1.1, 1.2, 2.0))
    areas, covariance = variances.delong(y, list(scores.values()))
    found = compare_scores(y, scores)
    assert found.estimates == pytest.approx(areas, rel=1e-13)
    expected = []
    for (i, j), pair in zip(combinations(range(4), 2), found.differences, strict=True):
        deviation = np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        expected.append(2 * norm.sf(abs(areas[i] - areas[j]) / deviation))
        assert pair.pvalue == pytest.approx(expected[-1], rel=1e-8)
        assert (pair.first, pair.second) == (found.names[i], found.names[j])
    assert [pair.corrected_pvalue for pair in found.differences] == pytest.approx(variances.holm(expected), rel=1e-8)


@pytest.mark.parametrize("n_levels", [3, None])
def test_any_true_values(n_levels, rng):
    y, scores = scorers(rng, 90, n_levels)
    found = compare_scores(y, scores)
    comparable = variances.right_order(y, y)[0]
    rights = [variances.right_order(y, each)[1] for each in scores.values()]
    for pair, (a, b) in zip(found.differences, combinations(rights, 2), strict=True):
        difference = (a - b).sum() / comparable.sum()
        u = (a - b - difference * comparable).sum(axis=1) / (comparable.sum() / 2)
        deviation = np.sqrt(len(y) / (len(y) - 1) * (u**2).sum())
        assert pair.difference == pytest.approx(difference, abs=1e-14)
        assert pair.high - pair.low == pytest.approx(2 * norm.ppf(0.975) * deviation, rel=1e-10)
        assert pair.pvalue == pytest.approx(2 * norm.sf(abs(difference) / deviation), rel=1e-8)
    assert found.estimates == pytest.approx([concordance_index(y, each) for each in scores.values()], rel=1e-14)


@pytest.mark.parametrize("n_levels", [2, 5, None])
def test_pvalues_are_uniform_if_nothing_is_better(n_levels):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(1000):
        y, scores = scorers(rng, 60, n_levels, noises=(1.0, 1.0))
        found.append(compare_scores(y, scores).differences[0])
    pvalues = np.array([each.pvalue for each in found])
    assert 0.03 <= (pvalues < 0.05).mean() <= 0.075
    assert 0.44 <= (pvalues < 0.5).mean() <= 0.56
    assert ((pvalues < 0.05) == [not each.low <= 0 <= each.high for each in found]).all()


@pytest.mark.parametrize("n_levels", [2, None])
def test_what_two_scorers_share_is_no_noise(n_levels):
    # A difference in quality is easier to detect if most of the errors are common to both scorers.
    rng = np.random.default_rng(0)
    common, separate = [], []
    for _ in range(100):
        y, noise, more, other = rng.normal(size=(4, 400))
        y = y if n_levels is None else (y > 0).astype(float)
        common.append(pvalue(y, y + noise, y + noise + 0.8 * more) < 0.05)
        separate.append(pvalue(y, y + noise, y + np.hypot(1, 0.8) * other) < 0.05)
    assert np.mean(common) > 0.7
    assert np.mean(separate) < np.mean(common) - 0.25


@given(seed=strategies.seeds, n_levels=st.sampled_from((2, 3, None)))
def test_only_the_order_of_scores_matters(seed, n_levels):
    rng = np.random.default_rng(seed)
    y, scores = scorers(rng, 30, n_levels)
    expected = compare_scores(y, scores)
    assert compare_scores(y, {name: np.exp(each / 3) for name, each in scores.items()}) == expected
    assert compare_scores(np.exp(y), scores) == expected
    order = rng.permutation(30)
    shuffled = compare_scores(y[order], {name: each[order] for name, each in scores.items()})
    for one, other in zip(shuffled.differences, expected.differences, strict=True):
        assert dataclasses.astuple(one)[2:] == pytest.approx(dataclasses.astuple(other)[2:], rel=1e-9, abs=1e-12)


def test_the_order_of_scorers_is_a_matter_of_sign(rng):
    y, scores = scorers(rng, 80)
    (pair,) = compare_scores(y, [scores["noise 0"], scores["noise 2"]]).differences
    (back,) = compare_scores(y, [scores["noise 2"], scores["noise 0"]]).differences
    assert (back.difference, back.low, back.high) == pytest.approx((-pair.difference, -pair.high, -pair.low), rel=1e-12)
    assert back.pvalue == pytest.approx(pair.pvalue, rel=1e-12)


@pytest.mark.parametrize("n_levels", [2, 3, None])
@pytest.mark.parametrize("qid", [None, np.arange(60) % 6])
def test_equal_scorers(n_levels, qid, rng):
    y, scores = scorers(rng, 60, n_levels)
    found = compare_scores(y, [scores["noise 0"], 7 * scores["noise 0"], scores["noise 0"] ** 3], qid=qid)
    for pair in found.differences:
        assert (pair.difference, pair.low, pair.high, pair.pvalue, pair.corrected_pvalue) == (0, 0, 0, 1, 1)


@pytest.mark.parametrize(
    ("y", "n_disjoint"),
    [
        ([0, 0, 1, 1], 2),
        ([0, 0, 0, 0, 0, 1, 1, 1], 3),
        ([1, 2, 3, 4], 2),
        ([1, 2, 3, 4, 5], 2),
        ([0, 0, 0, 0, 0, 1, 2], 2),
        ([0, 0, 1, 1, 2, 2, 3], 3),
    ],
)
@pytest.mark.parametrize("worse", [np.zeros_like, np.negative])
def test_without_variance_signs_are_tested(y, n_disjoint, worse):
    y = np.array(y)
    found = compare_scores(y, [y, worse(y)])
    (pair,) = found.differences
    assert found.estimates[0] == 1
    assert pair.difference == pair.low == pair.high == 1 - found.estimates[1]
    assert pair.pvalue == 2.0 ** (1 - n_disjoint)
    assert compare_scores(y, [worse(y), y]).differences[0].pvalue == pair.pvalue


def test_rounding_is_no_variance():
    # In floating point, 1 / 49 * 49 is not 1. With held-out pairs, each row may have one more correct pair.
    sample = RowSample(np.full(98, 49.0), strata=np.repeat([0, 1], 49))
    _, its_variance = sample.moments(np.ones(98))
    assert 0 < its_variance < 1e-30
    found = compare_samples("ab", [np.full(98, 30.0), np.full(98, 29.0)], sample, 0.95)
    assert found.differences[0].pvalue == 2.0**-48


def test_many_rows_without_variance():
    y = np.arange(5000) % 2
    assert pvalue(y, y, np.zeros(5000)) == 0.0


def test_units_are_compared_as_one(rng):
    # A row that is repeated three times is no more evidence than a single one.
    y, scores = scorers(rng, 60)
    rows, repeated = RowCounts(y), RowCounts(np.repeat(y, 3))
    once = compare_samples("ab", [rows.wins(scores[f"noise {k}"]) for k in (0, 2)], RowSample(rows.pairs), 0.95)
    sample = RowSample(repeated.pairs, units=np.repeat(np.arange(60), 3))
    thrice = compare_samples("ab", [repeated.wins(np.repeat(scores[f"noise {k}"], 3)) for k in (0, 2)], sample, 0.95)
    assert dataclasses.astuple(thrice.differences[0])[2:] == pytest.approx(
        dataclasses.astuple(once.differences[0])[2:], rel=1e-9
    )
    perfect = [repeated.wins(np.repeat(each, 3)) for each in (y, -y)]
    expected = compare_scores(y, [y, -y]).differences[0].pvalue
    assert compare_samples("ab", perfect, sample, 0.95).differences[0].pvalue == expected


# Queries


def queries(rng, n_queries, size=8, noises=(1.0, 1.0, 2.0)):
    y, scores = scorers(rng, n_queries * size, 3, noises)
    y.reshape(n_queries, size)[:, :2] = 0, 1  # every query has a comparable pair
    return y, scores, np.repeat(np.arange(n_queries), size)


def three_pairs(numbers):
    """Return scores for rows of y = 0, 1, 1, 1 per query, with the given numbers of correctly ordered pairs."""
    return np.ravel([[3 - number, 0.5, 1.5, 2.5] for number in numbers])


@pytest.mark.parametrize("n_queries", [2, 9, 30, 400])
def test_wilcoxons_test(n_queries, rng):
    y, scores, qid = queries(rng, n_queries)
    found = compare_scores(y, scores, qid=qid, confidence=0.9)
    values = [concordance_index(y, each, qid=qid, per_query=True) for each in scores.values()]
    assert found.method == "Wilcoxon signed ranks"
    assert found.estimates == pytest.approx([each.mean() for each in values], rel=1e-15)
    for each, ends in zip(values, found.intervals, strict=True):
        half = t.ppf(0.95, n_queries - 1) * each.std(ddof=1) / np.sqrt(n_queries)
        assert ends == pytest.approx((max(each.mean() - half, 0), min(each.mean() + half, 1)), rel=1e-12)
    for pair, (a, b) in zip(found.differences, combinations(values, 2), strict=True):
        expected = ttest_1samp(a - b, 0).confidence_interval(0.9)
        assert pair.difference == pytest.approx((a - b).mean(), abs=1e-15)
        assert (pair.low, pair.high) == pytest.approx((max(expected.low, -1), min(expected.high, 1)), rel=1e-9)
        if n_queries < 10:
            assert pair.pvalue == pytest.approx(variances.signed_ranks(np.round(a - b, 12)), rel=1e-12)
        else:
            approximate = wilcoxon(np.round(a - b, 12), zero_method="pratt", method="asymptotic").pvalue
            assert pair.pvalue == pytest.approx(approximate, abs=1e-12 if n_queries > 100 else 0.01)
    corrected = variances.holm([pair.pvalue for pair in found.differences])
    assert [pair.corrected_pvalue for pair in found.differences] == pytest.approx(corrected, rel=1e-15)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=11))
def test_equal_differences_of_queries_tie(numbers):
    # In floating point, 1 - 2/3 differs from 1/3.
    first, second = np.transpose(numbers)
    y, qid = np.tile([0, 1, 1, 1], len(numbers)), np.repeat(np.arange(len(numbers)), 4)
    found = pvalue(y, three_pairs(first), three_pairs(second), qid=qid)
    assert found == pytest.approx(variances.signed_ranks(first - second), rel=1e-12)


@pytest.mark.parametrize("n", [3, 12, 30, 50])
def test_signed_ranks_without_ties_are_scipys(n, rng):
    differences = rng.normal(size=n) + 0.3
    assert QuerySample(n).pvalue(differences, 0.0, 1.0) == pytest.approx(wilcoxon(differences).pvalue, rel=1e-10)


@pytest.mark.parametrize(("n_signed", "exact"), [(50, True), (51, False)])
def test_many_signed_ranks_are_approximated(n_signed, exact, rng):
    differences = np.append(rng.choice([-2, -1, 1, 2, 3], n_signed), np.zeros(20)) / 10
    found = QuerySample(n_signed + 20).pvalue(differences, 0.0, 1.0)
    approximate = wilcoxon(differences, zero_method="pratt", method="asymptotic").pvalue
    assert found == pytest.approx(approximate, abs=0.01)
    assert (abs(found - approximate) > 1e-10) == exact


def test_pvalues_of_queries_are_uniform_if_nothing_is_better():
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(500):
        y, scores, qid = queries(rng, 60, noises=(1.0, 1.0))
        pvalues.append(compare_scores(y, scores, qid=qid).differences[0].pvalue)
    assert 0.03 <= np.mean(np.array(pvalues) < 0.05) <= 0.075


def test_better_on_every_query():
    qid = np.repeat(np.arange(10), 2)
    y = np.tile([0, 1], 10)
    found = compare_scores(y, [y, -y], qid=qid)
    (pair,) = found.differences
    assert (pair.difference, pair.low, pair.high) == (1, 1, 1)
    assert pair.pvalue == 2 / 2**10


def test_equal_queries_have_no_sign():
    y, qid = np.tile([0, 1], 40), np.repeat(np.arange(40), 2)
    assert pvalue(y, y, np.where(qid < 7, -y, y), qid=qid) == 2 / 2**7
    # With a great many zeros, the smallest difference has almost the same rank as the largest.
    few = np.array([3, -1, 2, 4, 5, 6, 7])
    assert QuerySample(7).pvalue(few / 10, 0.0, 1.0) == 4 / 2**7
    assert QuerySample(10**6).pvalue(np.append(few / 10, np.zeros(10**6 - 7)), 0.0, 1.0) == 4 / 2**7
    few[:2] = -3, 1
    assert QuerySample(7).pvalue(few / 10, 0.0, 1.0) == variances.signed_ranks(few) == 10 / 2**7
    assert QuerySample(10**6).pvalue(np.append(few / 10, np.zeros(10**6 - 7)), 0.0, 1.0) == 8 / 2**7


def test_queries_without_pairs_are_left_out(rng):
    y, scores, qid = queries(rng, 12)
    expected = compare_scores(y[:-8], {name: each[:-8] for name, each in scores.items()}, qid=qid[:-8])
    y[-8:] = 1
    with pytest.warns(
        UndefinedQueryWarning, match="1 of 12 queries have no pair of rows with different values"
    ) as caught:
        assert compare_scores(y, scores, qid=qid) == expected
    assert [each.filename for each in caught] == [__file__]
    with (
        pytest.warns(UndefinedQueryWarning, match="1 of 2 queries"),
        pytest.raises(ValueError, match="at least two queries with a comparable pair, got one"),
    ):
        compare_scores(y[-16:], {name: each[-16:] for name, each in scores.items()}, qid=qid[-16:])


def test_names_of_queries_do_not_matter(rng):
    y, scores, qid = queries(rng, 12)
    expected = compare_scores(y, scores, qid=qid)
    for kind in ("negative, with gaps", "strings", "anything"):
        assert compare_scores(y, scores, qid=strategies.name_queries(qid, kind)) == expected


# Correction


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from((0.0, 0.01, 0.02, 0.03, 1.0))), max_size=12))
def test_holms_correction(pvalues):
    corrected = correct_pvalues(pvalues)
    assert corrected == pytest.approx(variances.holm(pvalues), rel=1e-14)
    assert all(p <= each <= min(1, len(pvalues) * p) * (1 + 1e-15) for p, each in zip(pvalues, corrected, strict=True))


def test_holms_correction_by_hand():
    assert correct_pvalues([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


# Input and output


def test_forms_of_scores(rng):
    y, scores = scorers(rng, 40)
    expected = compare_scores(y, scores)
    assert compare_scores(y, pd.DataFrame(scores)) == expected
    assert compare_scores(y, pl.DataFrame(scores)) == expected
    table = np.column_stack(list(scores.values()))
    numbered = compare_scores(y, table)
    assert numbered.names == (0, 1, 2)
    assert numbered.estimates == expected.estimates
    assert compare_scores(y, np.asfortranarray(table)) == numbered
    assert compare_scores(y, list(scores.values())) == numbered
    assert compare_scores(list(y), [each.tolist() for each in scores.values()]) == numbered
    assert compare_scores(y, pd.DataFrame(table)) == numbered


@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([0, 0, 1, 1], {"a": [1, 2, 3, 4]}, "at least two scorers to compare, got 1"),
        ([0, 0, 1, 1], [], "at least two scorers to compare, got 0"),
        ([0, 0, 1, 1], np.arange(4.0), r"one column per scorer, got an array of shape \(4,\)"),
        ([0, 0, 1, 1], {"a": [1, 2, 3, 4], "b": [1, 2, np.nan, 4]}, r"scores\['b'\] contains NaN"),
        ([0, 0, 1, 1], [[1, 2, 3, 4], [1, 2, 3]], r"scores\[1\] has 3 elements, but there are 4 rows"),
        ([0, np.inf, 1, 1], np.ones((4, 2)), "y_true contains infinity"),
        ([0, 1, 1, 1], np.ones((4, 2)), "at least two positive and two negative rows, got 3 and 1"),
        ([], np.ones((0, 2)), "empty"),
    ],
)
def test_bad_input(y, scores, message):
    with pytest.raises(ValueError, match=message):
        compare_scores(y, scores)


@pytest.mark.parametrize("qid", [None, [0, 0, 1, 1]])
def test_nothing_to_compare(qid):
    with pytest.raises(NoComparablePairsError, match="no pair of rows with different values of y_true"):
        compare_scores([1, 1, 0, 0] if qid else [1, 1, 1, 1], np.eye(4), qid=qid)


@pytest.mark.parametrize("confidence", [0, 1, 95, np.nan])
def test_confidence_is_a_probability(confidence):
    with pytest.raises(
        ValueError, match=f"confidence must be a number between 0 and 1, both excluded, got {confidence}"
    ):
        compare_scores([0, 0, 1, 1], np.eye(4), confidence=confidence)


def test_the_result_is_plain(rng):
    y, scores = scorers(rng, 40)
    for found in (compare_scores(y, scores), compare_scores(y, scores, qid=np.arange(40) % 5)):
        numbers = [
            *found.estimates,
            *sum(found.intervals, ()),
            *sum((dataclasses.astuple(d)[2:] for d in found.differences), ()),
        ]
        assert {type(each) for each in numbers} == {float}
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.method = "another"
    frame = pd.DataFrame(list(found.differences))
    assert frame["pvalue"].tolist() == [pair.pvalue for pair in found.differences]


def test_the_table():
    y = [0, 0, 0, 1, 1, 1]
    found = compare_scores(y, {"a": [0, 1, 3, 2, 4, 5], "second": [0, 4, 1, 5, 3, 2]}, confidence=0.9)
    (pair,) = found.differences
    lines = str(found).splitlines()
    assert lines[0].split() == ["scorer", "concordance", "90%", "interval"]
    assert lines[1].split() == ["a", "0.8889", *f"{found.intervals[0][0]:.4f} to {found.intervals[0][1]:.4f}".split()]
    assert lines[5].startswith("a - second      0.1111  ")
    assert lines[5].split()[-2:] == [f"{pair.pvalue:.3g}", f"{pair.corrected_pvalue:.3g}"]
    assert len({len(line) for line in lines[:3]}) == len({len(line) for line in lines[4:6]}) == 1
    assert auc(y, [0, 1, 3, 2, 4, 5]) == found.estimates[0]
