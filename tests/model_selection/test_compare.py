"""Estimators compared by the same held-out rows."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RLS, RankRLS
from kernelrank.model_selection import compare, estimate_auc, estimate_concordance


@pytest.fixture
def data(rng):
    X = rng.normal(size=(24, 3))
    return X, X[:, 0] + rng.normal(size=24)


def test_differences_of_held_out_wins(data):
    X, y = data
    y = (y > 0).astype(float)
    models = {"few": RankRLS(10.0), "all": RankRLS(0.01), "ridge": Ridge()}
    found = compare(models, X, y, interval="rows")
    alone = {name: estimate_auc(model, X, y, interval="rows") for name, model in models.items()}
    assert found.names == tuple(models)
    assert found.method == "DeLong"
    for name, estimate, interval in zip(found.names, found.estimates, found.intervals, strict=True):
        assert estimate == pytest.approx(alone[name].estimate)
        assert interval == pytest.approx(alone[name].interval)
    for each in found.differences:
        a, b = alone[each.first], alone[each.second]
        assert each.difference == pytest.approx(a.estimate - b.estimate)
        u, variance = a.influence - b.influence, 0.0
        for c in (0, 1):
            variance += (y == c).sum() / ((y == c).sum() - 1) * (u[y == c] ** 2).sum()
        if variance > 0:
            assert each.pvalue == pytest.approx(2 * ndtr(-abs(each.difference) / np.sqrt(variance)))
        assert each.pvalue <= each.corrected_pvalue <= 1


def test_the_same_model_is_as_good_as_itself(data):
    X, y = data
    for interval in ("rows", "jackknife"):
        [found] = compare([RankRLS(), RankRLS()], X, y, interval=interval).differences
        assert (found.first, found.second) == (0, 1)
        assert (found.difference, found.low, found.high, found.pvalue) == (0, 0, 0, 1)


def test_queries_are_compared_by_signed_ranks(rng):
    X, qid = rng.normal(size=(80, 3)), np.repeat(np.arange(16), 5)
    y = X[:, 0] + rng.normal(size=80)
    y[qid == 3] = 1.0
    models = [RankRLS(1e-3), RankRLS(1e-3, kernel="gaussian")]
    found = compare(models, X, y, qid=qid)
    first, second = (estimate_concordance(model, X, y, qid=qid).values for model in models)
    known = ~np.isnan(first)
    assert found.method == "Wilcoxon signed ranks"
    assert found.estimates == pytest.approx([first[known].mean(), second[known].mean()])
    expected = wilcoxon(np.round(first - second, 12)[known], zero_method="pratt", method="asymptotic").pvalue
    assert found.differences[0].pvalue == pytest.approx(expected, abs=0.05)
    groups = qid // 2
    by_group = compare(models, X, y, qid=qid, groups=groups)
    first, second = (estimate_concordance(model, X, y, qid=qid, groups=groups).values for model in models)
    means = [np.mean([np.nanmean(each[2 * g : 2 * g + 2]) for g in range(8)]) for each in (first, second)]
    assert by_group.estimates == pytest.approx(means)


def test_jackknife(data):
    X, y = data
    models = [RankRLS(1e-3), RLS(10.0)]
    found = compare(models, X, y, interval="jackknife")
    without = [
        [
            estimate_concordance(model, np.delete(X, k, axis=0), np.delete(y, k), interval="rows").estimate
            for k in range(24)
        ]
        for model in models
    ]
    differences = np.subtract(*without)
    variance = 23 / 24 * ((differences - differences.mean()) ** 2).sum()
    u = np.subtract(*(estimate_concordance(model, X, y, interval="rows").influence for model in models))
    direct = 24 / 23 * (u**2).sum()
    deviation = np.sqrt(np.sqrt(direct * max(direct, variance)))
    [each] = found.differences
    assert each.pvalue == pytest.approx(2 * ndtr(-abs(each.difference) / deviation))
    assert found.method == "DeLong, with the jackknife"
    assert found.notes == ("Estimates: leave-pair-out, 50 fits.", "Intervals of concordance: jackknife.")
    assert compare(models, X, y) == found
    mixed = compare({"rank": RankRLS(), "ridge": Ridge(), "rls": RLS()}, X, y)
    assert mixed.method == "DeLong"  # where it would cost many fits
    assert "concordance: jackknife (rank, rls), rows (ridge); pass interval to get the same kind" in str(mixed)


def test_equal_models_are_rarely_found_different():
    rng = np.random.default_rng(4)
    y, found = np.repeat([0.0, 1.0], 12), {"rows": [], "jackknife": []}
    for _ in range(60):
        X = rng.normal(size=(24, 8))
        models = [RankRLS(1.0, kernel=first_half), RankRLS(1.0, kernel=second_half)]
        for interval, pvalues in found.items():
            pvalues.append(compare(models, X, y, interval=interval, verbose=0).differences[0].pvalue)
    assert np.mean(np.array(found["jackknife"]) < 0.05) <= 0.1
    assert np.mean(np.array(found["rows"]) < 0.05) > 0.1


def first_half(X, Y):
    """Inner products of four of the features."""
    return X[:, :4] @ Y[:, :4].T


def second_half(X, Y):
    """Inner products of the others."""
    return X[:, 4:] @ Y[:, 4:].T


def test_better_models_are_found_better(rng):
    X = rng.normal(size=(120, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=120) > 0, "b", "a")
    found = compare({"all": LogisticRegression(), "poor": PoorModel()}, X, y, strategy="averaged", cv=5)
    assert found.differences[0].pvalue < 1e-3
    assert found.differences[0].low > 0


class PoorModel(LogisticRegression):
    """Sees the last feature only."""

    def fit(self, X, y):
        return super().fit(X[:, 3:], y)

    def decision_function(self, X):
        return super().decision_function(X[:, 3:])


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(1)], ids=["none", "a generator"])
def test_folds_are_the_same_for_all(data, random_state):
    X, y = data
    for cv in (4, KFold(4, shuffle=True), (split for split in KFold(4).split(X))):
        options = {"strategy": "averaged", "cv": cv, "random_state": random_state}
        [found] = compare([RankRLS(), RankRLS()], X, y, **options).differences
        assert (found.difference, found.pvalue) == (0, 1)


def test_groups_of_unequal_sizes(rng):
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(12), 5)
    y, groups = X[:, 0] + rng.normal(size=60), np.minimum(qid, 5)
    found = compare([RankRLS(1e-3), RankRLS(1e2)], X, y, qid=qid, groups=groups)
    for model, estimate, (low, high) in zip(
        [RankRLS(1e-3), RankRLS(1e2)], found.estimates, found.intervals, strict=True
    ):
        values = estimate_concordance(model, X, y, qid=qid, groups=groups).values
        means = [values[groups[::5] == g].mean() for g in range(6)]
        assert estimate == pytest.approx(np.mean(means))
        assert (low + high) / 2 == pytest.approx(estimate) or high == 1


def test_groups_of_rows_count_in_the_variance(rng):
    X, y = rng.normal(size=(20, 3)), np.tile([0.0, 1.0], 10)
    models = [RankRLS(1e-3), RankRLS(10.0)]
    alone = compare(models, X, y, interval="rows").differences[0]
    X, y, groups = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(20), 3)
    found = compare(models, X, y, groups=groups, interval="rows").differences[0]
    assert found.difference == pytest.approx(alone.difference)
    assert found.pvalue == pytest.approx(alone.pvalue)


def test_bad_calls(data):
    X, y = data
    with pytest.raises(ValueError, match="estimators must have at least two"):
        compare([RankRLS()], X, y)
    for estimator in (RankRLS(), make_pipeline(StandardScaler(), RankRLS())):
        with pytest.raises(TypeError, match="estimators must be a list"):
            compare(estimator, X, y)
    with pytest.raises(TypeError, match="must be an estimator"):
        compare([("linear", RankRLS()), ("other", RLS())], X, y)
    with pytest.raises(ValueError, match="strategy"):
        compare([RankRLS(), RLS()], X, y, strategy="best")
