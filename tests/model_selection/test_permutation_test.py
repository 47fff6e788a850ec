"""Permutation tests, against their definition."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from kernelrank import RLS, RankRLS, RankRLSCV
from kernelrank.exceptions import FewPermutationsWarning, NoComparablePairsError
from kernelrank.model_selection import estimate_auc, estimate_concordance, permutation_test
from kernelrank.model_selection._permutations import Exchanges


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7))
def test_all_distinct_exchanges(rows):
    y, queries = np.array(rows, dtype=float).T
    for blocks in (np.zeros(len(y)), queries):
        exchanges = Exchanges(y, None if blocks is not queries else queries.astype(int))
        expected = {
            tuple(y[list(order)])
            for order in itertools.permutations(range(len(y)))
            if (blocks[list(order)] == blocks).all()
        }
        found = [tuple(y[order]) for order in exchanges.every()]
        assert len(found) == len(set(found)) == exchanges.n_distinct
        assert set(found) == expected
        rng = np.random.RandomState(0)
        assert all(tuple(y[exchanges.draw(rng)]) in expected for _ in range(5))


def test_whole_groups_exchange_what_all_their_rows_have():
    groups, y = np.array([0, 0, 1, 2, 2, 2]), np.array([5.0, 5, 7, 9, 9, 9])
    found = {tuple(y[order]) for order in Exchanges(y, groups=groups).every()}
    assert found == {(a, a, b, c, c, c) for a, b, c in itertools.permutations([5.0, 7, 9])}
    y[0] = 6.0  # no longer
    found = {tuple(y[order]) for order in Exchanges(y, groups=groups).every()}
    assert found == {(6.0, 5.0, 7, 9, 9, 9), (5.0, 6.0, 7, 9, 9, 9)}


def test_the_number_of_all_fits_is_shown_before_they_begin(rng, capsys, monkeypatch):
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    called = []

    class Told(Ridge):
        def fit(self, X, y):
            called.append((len(y), capsys.readouterr().err))
            return super().fit(X, y)

    monkeypatch.setattr("kernelrank.model_selection._parallel._SHORT", 0.0)
    found = permutation_test(Told(), X, y, n_permutations=30)
    assert found.n_fits == 31 * 36
    told = "".join(err for _, err in called)
    assert re.match(r"31 estimates of 36 fits of Told each, 1,116 in total, about \d+ s\n", told)
    first = next(k for k, (n, _) in enumerate(called) if n < 12)
    assert called[first][1].startswith("31 estimates")
    called.clear()
    capsys.readouterr()
    permutation_test(Told(), X, y, n_permutations=30, verbose=0)
    assert len(called) == found.n_fits
    assert not any(err for _, err in called)


@pytest.mark.parametrize("estimator", [RankRLS(0.1), RankRLS(0.5, ties="drop"), Ridge()], ids=repr)
def test_exact_for_few_rows(estimator, rng):
    X, y = rng.normal(size=(7, 2)), np.array([0.0, 0, 0, 0, 1, 1, 1])
    X[:, 0] += y
    found = permutation_test(estimator, X, y)
    assert found.exact
    assert found.std_error == 0
    assert len(found.permuted) == math.comb(7, 3)
    estimates = []
    for positive in itertools.combinations(range(7), 3):
        permuted = np.zeros(7)
        permuted[list(positive)] = 1
        estimates.append(estimate_auc(estimator, X, permuted, interval="rows").estimate)
    np.testing.assert_allclose(np.sort(found.permuted), np.sort(estimates), atol=1e-12)
    assert found.statistic == pytest.approx(estimate_auc(estimator, X, y, interval="rows").estimate)
    assert found.pvalue == pytest.approx(np.mean(np.array(estimates) >= found.statistic - 1e-9))


@pytest.mark.pairwise
@pytest.mark.filterwarnings("ignore::kernelrank.exceptions.PooledEstimateWarning")
@pytest.mark.parametrize("strategy", ["leave-pair-out", "pooled", "averaged", "tournament"])
@pytest.mark.parametrize("estimator", [RankRLS(0.1), RLS(0.1, kernel="gaussian")], ids=repr)
def test_outputs_learnt_together_are_estimates_of_each(estimator, strategy, rng):
    X = rng.normal(size=(20, 2))
    y = X[:, 0] + rng.normal(size=20)
    found = permutation_test(estimator, X, y, strategy=strategy, n_permutations=9, random_state=3)
    assert found.statistic == pytest.approx(
        estimate_concordance(estimator, X, y, strategy=strategy, random_state=3, interval="rows").estimate
    )
    assert not found.exact
    draw = np.random.RandomState(3)
    exchanges = Exchanges(y)
    for value in found.permuted:
        permuted = y[exchanges.draw(draw)]
        assert value == pytest.approx(
            estimate_concordance(estimator, X, permuted, strategy=strategy, random_state=3, interval="rows").estimate
        )
    larger = (found.permuted >= found.statistic).sum()
    assert found.pvalue == (1 + larger) / 10
    assert found.std_error == pytest.approx(np.sqrt(found.pvalue * (1 - found.pvalue) / 9))
    assert found.n_fits == (2 if strategy in ("leave-pair-out", "pooled") else 10)


def test_queries_and_groups(rng):
    X, qid = rng.normal(size=(20, 2)), np.repeat(np.arange(5), 4)
    y = X[:, 0] + rng.normal(size=20)
    y[qid == 1] = 0.0  # nothing to compare there
    found = permutation_test(RankRLS(), X, y, qid=qid, n_permutations=19)
    assert found.n_fits == 2
    assert found.strategy == "averaged"
    draw = np.random.RandomState(0)
    for value in found.permuted:
        permuted = y[Exchanges(y, qid).draw(draw)]
        assert value == pytest.approx(estimate_concordance(RankRLS(), X, permuted, qid=qid, interval="rows").estimate)
    # Ten patients of two samples each have one diagnosis a patient.
    groups, sick = np.repeat(np.arange(10), 2), np.repeat(rng.permutation([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]), 2)
    found = permutation_test(RankRLS(), X, sick, groups=groups)
    assert found.exact
    assert len(found.permuted) == math.comb(10, 4)


def test_any_estimator_and_kind_of_classes(rng):
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    found = permutation_test(LogisticRegression(), X, y, strategy="averaged", cv=4, n_permutations=24, n_jobs=2)
    assert found.pvalue == pytest.approx(1 / 25)
    assert found.n_fits == 25 * 4
    assert str(found).endswith(", p = 0.04 (standard error 0.04, 24 permutations)")
    chosen = permutation_test(
        RankRLSCV(alphas=[0.1, 1.0]), X[:8], y[:8] == "yes", strategy="averaged", n_permutations=3
    )
    assert chosen.n_fits > 4
    with pytest.raises(ValueError, match="n_permutations"):
        permutation_test(RankRLS(), X, y, n_permutations=0)
    with pytest.raises(NoComparablePairsError):
        permutation_test(RankRLS(), X, np.ones(20))


def test_a_choice_made_once_is_made_by_the_permuted_utilities(rng):
    X = rng.normal(size=(14, 2))
    y = X[:, 0] + rng.normal(size=14)
    estimator = RankRLSCV(alphas=[1e-3, 1.0, 1e3])
    found = permutation_test(estimator, X, y, nested=False, n_permutations=8, random_state=5)
    draw = np.random.RandomState(5)
    for value in found.permuted:
        permuted = y[Exchanges(y).draw(draw)]
        assert value == pytest.approx(
            estimate_concordance(estimator, X, permuted, nested=False, interval="rows").estimate
        )


def test_the_same_whatever_the_processes(rng):
    X = rng.normal(size=(20, 2))
    y = X[:, 0] + rng.normal(size=20)
    runs = [
        permutation_test(
            Ridge(),
            X,
            y,
            strategy="averaged",
            cv=cv(),
            n_permutations=6,
            random_state=np.random.RandomState(7),
            n_jobs=n_jobs,
        ).permuted
        for cv in (lambda: 4, lambda: KFold(4, shuffle=True, random_state=np.random.RandomState(1)))
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[2], runs[3])


def test_too_few_ways_to_exchange(rng):
    X, groups = rng.normal(size=(20, 2)), np.repeat(np.arange(10), 2)
    y = np.repeat(np.tile([0, 1], 5), 2)
    assert permutation_test(RankRLS(), X, y, groups=groups).exchanged == "whole groups"
    y[0] = 1  # of all groups, one can exchange anything
    with pytest.warns(FewPermutationsWarning, match="2 distinct permutations of y between rows inside groups"):
        found = permutation_test(RankRLS(), X, y, groups=groups)
    assert "2 permutations of rows inside groups" in str(found)
    for estimator in (RankRLS(), Ridge()):
        with pytest.raises(ValueError, match="two rows of each class"):
            permutation_test(estimator, X, np.arange(20) == 3)


def test_p_values_of_nothing_are_uniform():
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 10)
    pvalues = np.array(
        [
            permutation_test(RankRLS(1.0), rng.normal(size=(20, 3)), y, n_permutations=99, random_state=k).pvalue
            for k in range(400)
        ]
    )
    for level in (0.05, 0.2, 0.5):
        assert binomtest(int((pvalues <= level).sum()), 400, level).pvalue > 1e-4


def test_fixed_folds_are_kept(rng):
    X = rng.normal(size=(12, 2))
    found = permutation_test(Ridge(), X, X[:, 0], strategy="averaged", cv=KFold(3), n_permutations=5)
    assert found.n_fits == 18
