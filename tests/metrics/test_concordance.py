"""Concordance against its definition and against other packages."""

import numpy as np
import oracles
import pandas as pd
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau, somersd
from sklearn.metrics import roc_auc_score

from kernelrank.exceptions import NoComparablePairsError, UndefinedQueryWarning
from kernelrank.metrics import concordance_index, kendall_tau, pairwise_error
from kernelrank.pairs import UtilityPairs

# Most cases have queries without a pair. The warning about them is tested separately.
pytestmark = pytest.mark.filterwarnings("ignore::kernelrank.exceptions.UndefinedQueryWarning")

any_ties = st.sampled_from((0, 0.5, 1, 0.25, 0.7))
comparable_cases = strategies.cases.filter(lambda case: UtilityPairs(case.y, qid=case.qid).n_pairs > 0)


def near(value):
    return pytest.approx(value, rel=1e-14, abs=1e-15)


# Against the definition


@given(case=comparable_cases, ties=any_ties)
def test_concordance_is_that_of_the_definition(case, ties):
    found = concordance_index(case.y, case.scores, qid=case.qid, ties=ties)
    assert type(found) is float
    assert 0 <= found <= 1
    assert found == near(oracles.concordance(*case, ties=ties))


@given(case=comparable_cases, ties=any_ties, seed=strategies.seeds)
def test_weighted_concordance_is_that_of_the_definition(case, ties, seed):
    weights = strategies.weights(len(case.y), seed)
    pairs = UtilityPairs(case.y, qid=case.qid, sample_weight=weights)
    assume(pairs.n_pairs > 0)
    found = concordance_index(case.y, case.scores, qid=case.qid, sample_weight=weights, ties=ties)
    # The weight of ties is the result of a subtraction: its error is relative to the total.
    assert found == pytest.approx(oracles.concordance(*case, weights, ties=ties), rel=0, abs=1e-13)


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
def test_rounded_weights_do_not_leave_the_range(metric, rng):
    for ties in (0, 0.5, 1) * 10:
        y, weights = rng.integers(0, 5, 30), rng.uniform(0, 3, 30)
        for scores in (y, -y, np.zeros(30)):
            assert 0 <= metric(y, scores, sample_weight=weights, ties=ties) <= 1


def test_by_hand():
    y, scores = [1, 2, 3, 3], [0.0, 0.0, -1.0, 5.0]  # one pair tied, two right, two wrong
    assert concordance_index(y, scores) == 0.5
    assert concordance_index(y, scores, ties=0) == 0.4
    assert concordance_index(y, scores, ties=1) == 0.6
    assert pairwise_error(y, scores, ties=0) == near(0.4)
    assert pairwise_error(y, scores, ties=1) == near(0.6)
    assert concordance_index(y, y) == 1.0
    assert concordance_index(y, np.negative(y)) == 0.0
    assert concordance_index(y, np.ones(4)) == 0.5


def test_the_mean_is_over_queries_that_have_a_pair():
    y = [1, 2, 1, 2, 3, 5, 5, 4]
    qid = ["a", "a", "b", "b", "b", "tied", "tied", "single"]
    scores = [1, 0, 1, 2, 3, 1, 2, 3]  # query a all wrong, b all right
    assert concordance_index(y, scores, qid=qid) == 0.5
    assert concordance_index(y, scores, qid=qid, sample_weight=[1, 1, 5, 5, 5, 1, 1, 1]) == 0.5
    assert concordance_index(y, scores, qid=qid, sample_weight=[0, 1, 1, 1, 1, 1, 1, 1]) == 1.0


@given(case=comparable_cases, ties=any_ties)
def test_error_is_what_concordance_leaves(case, ties):
    error = pairwise_error(case.y, case.scores, qid=case.qid, ties=ties)
    assert error == near(1 - concordance_index(case.y, case.scores, qid=case.qid, ties=1 - ties))
    assert error == near(1 - oracles.concordance(*case, ties=1 - ties))


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
@given(case=strategies.cases, ties=any_ties)
def test_values_of_queries(metric, case, ties):
    values = metric(case.y, case.scores, qid=case.qid, ties=ties, per_query=True)
    query = oracles.query_numbers(case.qid, len(case.y))
    assert len(values) == query.max() + 1
    for number, value in enumerate(values):
        y, scores = case.y[query == number], case.scores[query == number]
        if y.min() == y.max():
            assert np.isnan(value)
        elif metric is concordance_index:
            assert value == near(oracles.concordance(y, scores, ties=ties))
        else:
            assert value == near(1 - oracles.concordance(y, scores, ties=1 - ties))


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error, kendall_tau])
@pytest.mark.filterwarnings("error")
def test_queries_left_out_are_counted_in_one_warning(metric):
    y, qid = [1, 2, 1, 2, 3, 5, 5, 4], ["a", "a", "b", "b", "b", "tied", "tied", "single"]
    with pytest.warns(
        UndefinedQueryWarning, match=r"^2 of 4 queries have no pair .* left out of the mean\.$"
    ) as caught:
        mean = metric(y, y, qid=qid)
    assert [each.filename for each in caught] == [__file__]
    values = metric(y, y, qid=qid, per_query=True)
    np.testing.assert_array_equal(values, [mean, mean, np.nan, np.nan])
    assert metric(y[:5], y[:5], qid=qid[:5]) == mean


# Kendall's tau


def tau_b(y, scores):
    """Return tau-b from its definition, by a loop over all pairs."""
    y, scores = (np.sign(np.subtract.outer(values, values)) for values in (y, scores))
    differing = np.abs(y).sum() * np.abs(scores).sum()
    return np.nan if differing == 0 else (y * scores).sum() / np.sqrt(differing)


@given(case=strategies.cases)
def test_tau_is_that_of_the_definition(case):
    found = kendall_tau(case.y, case.scores, qid=case.qid, per_query=True)
    query = oracles.query_numbers(case.qid, len(case.y))
    with np.errstate(over="ignore"):
        expected = [tau_b(case.y[query == number], case.scores[query == number]) for number in range(query.max() + 1)]
    assert found.tolist() == pytest.approx(expected, rel=1e-14, abs=1e-15, nan_ok=True)
    np.testing.assert_array_equal(kendall_tau(case.scores, case.y, qid=case.qid, per_query=True), found)


@pytest.mark.parametrize("levels", [2, 5, 300])
@pytest.mark.parametrize("m", [10, 1000, 20_000])
def test_tau_is_scipys(levels, m, rng):
    y = rng.integers(0, levels, m)
    scores = np.round(rng.normal(size=m) + y / levels, 1)
    assert kendall_tau(y, scores) == pytest.approx(kendalltau(y, scores).statistic, rel=1e-12, abs=1e-15)


def test_tau_reaches_one_exactly(rng):
    y = rng.integers(0, 20, 1001)
    assert kendall_tau(y, 3.0 * y - 7) == 1.0
    assert kendall_tau(y, -y) == -1.0
    assert kendall_tau([1, 2, 3, 3], [1, 1, 2, 2]) < 1


@pytest.mark.parametrize(("y", "scores"), [([1, 1], [1, 2]), ([1, 2], [1, 1]), ([1], [1])])
def test_tau_of_a_constant(y, scores):
    assert np.isnan(kendall_tau(y, scores, per_query=True)).all()
    with pytest.raises(NoComparablePairsError, match="no pair that differs in y_true or none that differs in y_score"):
        kendall_tau(y, scores)


def test_a_million_rows_are_counted_exactly():
    m = 1_000_000
    y = np.arange(m)
    swapped = y.copy()
    swapped[[0, -1]] = swapped[[-1, 0]]  # 2 m - 3 of the pairs are now wrong
    n_pairs, n_wrong = m * (m - 1) // 2, 2 * m - 3
    assert n_pairs > 2**32
    assert concordance_index(y, swapped) == (n_pairs - n_wrong) / n_pairs
    assert pairwise_error(y, swapped) == n_wrong / n_pairs
    assert pairwise_error(y, np.zeros(m)) == 0.5
    assert kendall_tau(y, swapped) == (n_pairs - 2 * n_wrong) / n_pairs


# Against other packages


@pytest.mark.parametrize("m", [20, 1000, 30_000])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_two_classes_give_the_area_under_the_roc_curve(m, decimals, rng):
    y = rng.integers(0, 2, m)
    y[:2] = 0, 1
    scores = np.round(rng.normal(size=m) + y, decimals)
    assert concordance_index(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)
    weights = rng.uniform(0.1, 3, m)
    expected = roc_auc_score(y, scores, sample_weight=weights)
    assert concordance_index(y, scores, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_without_ties_it_is_kendalls_tau(rng):
    y, scores = rng.normal(size=500), rng.normal(size=500)
    scores += y
    assert 2 * concordance_index(y, scores) - 1 == pytest.approx(kendalltau(y, scores).statistic, rel=1e-12)


def test_with_ties_it_is_somers_d(rng):
    y, scores = rng.integers(0, 5, 200), rng.integers(0, 7, 200)
    assert 2 * concordance_index(y, scores) - 1 == pytest.approx(somersd(y, scores).statistic, rel=1e-12, abs=1e-14)


# Invariances


@given(case=comparable_cases, ties=any_ties)
def test_monotone_changes_of_scores_and_utilities(case, ties):
    expected = concordance_index(case.y, case.scores, qid=case.qid, ties=ties)
    ranks_of_y, ranks = (np.unique(values, return_inverse=True)[1] for values in (case.y, case.scores))
    for y, scores in ((case.y, ranks), (case.y, np.exp2(ranks)), (ranks_of_y, case.scores), (ranks_of_y**3, ranks)):
        assert concordance_index(y, scores, qid=case.qid, ties=ties) == expected


@given(case=comparable_cases, ties=any_ties)
def test_negated_scores(case, ties):
    found = concordance_index(case.y, -case.scores, qid=case.qid, ties=ties)
    assert found == near(1 - concordance_index(case.y, case.scores, qid=case.qid, ties=1 - ties))


@given(case=comparable_cases, seed=strategies.seeds)
def test_order_of_the_rows(case, seed):
    order = np.random.default_rng(seed).permutation(len(case.y))
    qid = None if case.qid is None else [case.qid[row] for row in order]
    found = concordance_index(case.y[order], case.scores[order], qid=qid)
    assert found == near(concordance_index(case.y, case.scores, qid=case.qid))


@given(case=comparable_cases, seed=strategies.seeds)
def test_integer_weights_are_repeated_rows(case, seed):
    weights = np.random.default_rng(seed).integers(0, 4, len(case.y))
    assume(weights.any() and UtilityPairs(case.y, qid=case.qid, sample_weight=weights).n_pairs > 0)
    rows = np.repeat(np.arange(len(case.y)), weights)
    qid = None if case.qid is None else [case.qid[row] for row in rows]
    found = concordance_index(case.y, case.scores, qid=case.qid, sample_weight=weights)
    assert found == near(concordance_index(case.y[rows], case.scores[rows], qid=qid))


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40, 1e-200, 1e200])
def test_the_scale_of_the_weights(scale):
    y, scores, weights = [1, 2, 3, 3], [0.0, 0.0, -1.0, 5.0], np.array([1.0, 2.0, 1.0, 4.0])
    expected = concordance_index(y, scores, sample_weight=weights)
    assert concordance_index(y, scores, sample_weight=scale * weights) == near(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads(weighted):
    rng = np.random.default_rng(0)
    y, scores, qid = rng.integers(0, 50, 80_000), rng.normal(size=80_000).round(2), rng.random(80_000) < 0.1
    weights = rng.uniform(0, 2, 80_000) if weighted else None
    one, two, three = (concordance_index(y, scores, qid=qid, sample_weight=weights, n_jobs=n) for n in (1, 2, 3))
    assert one == two == three


def test_containers():
    y, scores, qid = [1, 2, 3, 1, 2], [1, 0, 3, 1, 1], ["a", "a", "a", "b", "b"]
    expected = oracles.concordance(y, scores, qid)
    assert concordance_index(y, scores, qid=qid) == near(expected)
    frame = pd.DataFrame({"y": y, "scores": scores, "qid": qid}, index=[4, 3, 2, 1, 0])
    assert concordance_index(frame["y"], frame["scores"], qid=frame["qid"]) == near(expected)


# Errors


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
@pytest.mark.parametrize(
    ("y", "qid"), [([1], None), ([2, 2, 2], None), ([0.0, -0.0], None), ([1, 2, 3, 3], [0, 1, 2, 2])]
)
def test_nothing_to_compare(metric, y, qid):
    with pytest.raises(NoComparablePairsError, match="there is no pair of rows with different values of y_true"):
        metric(y, np.arange(len(y)), qid=qid)


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
def test_no_rows(metric):
    with pytest.raises(ValueError, match="empty"):
        metric([], [])


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
def test_weights_that_leave_nothing_to_compare(metric):
    for weights in ([0, 0, 0], [0, 1, 1], [1, 0, 0]):
        with pytest.raises(NoComparablePairsError):
            metric([1, 2, 2], [1, 2, 3], sample_weight=weights)


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_by_name(metric, bad):
    with pytest.raises(ValueError, match=r"Input y_score contains"):
        metric([1, 2, 3], [1, bad, 2])
    with pytest.raises(ValueError, match=r"Input y_true contains"):
        metric([1, bad, 3], [1, 2, 3])


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
def test_wrong_lengths_are_refused(metric):
    with pytest.raises(ValueError, match="y_score has 2 elements, but there are 3 rows"):
        metric([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="qid has 2 elements, but there are 3 rows"):
        metric([1, 2, 3], [1, 2, 3], qid=[0, 0])


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
@pytest.mark.parametrize("ties", [-0.1, 2, np.nan])
def test_ties_must_be_a_share(metric, ties):
    with pytest.raises(ValueError, match=f"ties must be a number from 0 to 1, got {ties}"):
        metric([1, 2], [1, 2], ties=ties)
