"""Held-out concordance of censored utilities, against loops over folds and pairs."""

import numpy as np
import oracles
import pytest
from sklearn.utils import check_random_state

from kernelrank import RankRLS, RankSVM
from kernelrank.exceptions import NoComparablePairsError, PooledEstimateWarning
from kernelrank.metrics import concordance_index
from kernelrank.model_selection import compare, estimate_auc, estimate_concordance, permutation_test, tournament_roc
from kernelrank.model_selection._permutations import Exchanges


def make(m=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    true, until = np.round(X[:, 0] + rng.normal(size=m), 1), np.round(rng.normal(size=m), 1) + 0.5
    return X, np.minimum(true, until), true <= until


def structured(y, observed):
    found = np.empty(len(y), dtype=[("event", "?"), ("time", "f8")])
    found["event"], found["time"] = observed, y
    return found


def fit_without(model, X, y, observed, rows, qid=None):
    rest = np.delete(np.arange(len(y)), rows)
    queries = {} if qid is None else {"qid": qid[rest]}
    return model.fit(X[rest], y[rest], observed=observed[rest], **queries).predict(X[rows])


@pytest.mark.parametrize("model", [RankSVM(), RankRLS(0.1)])
def test_leave_pair_out_compares_known_pairs(model):
    X, y, observed = make()
    values = []
    for lower, higher in np.argwhere(oracles.comparable_pairs(y, None, None, observed)):
        first, second = fit_without(model, X, y, observed, [lower, higher])
        values.append(0.5 * (1 + np.sign(second - first)))
    found = estimate_concordance(model, X, y, observed=observed, interval="rows")
    assert found.estimate == pytest.approx(np.mean(values))
    assert found.n_pairs == len(values)


def test_folds_and_pooled_scores():
    X, y, observed = make(60)
    folds = np.array_split(np.random.default_rng(0).permutation(60), 5)
    cv = [(np.delete(np.arange(60), fold), fold) for fold in folds]
    scores, wins, total = np.empty(60), 0, 0
    for fold in folds:
        scores[fold] = fit_without(RankSVM(), X, y, observed, fold)
        n = oracles.comparable_pairs(y[fold], None, None, observed[fold]).sum()
        wins, total = wins + n * concordance_index(y[fold], scores[fold], observed=observed[fold]), total + n
    found = estimate_concordance(RankSVM(), X, y, observed=observed, strategy="averaged", cv=cv)
    assert found.estimate == pytest.approx(wins / total)
    with pytest.warns(PooledEstimateWarning):
        found = estimate_concordance(RankSVM(), X, y, observed=observed, strategy="pooled", cv=cv)
    assert found.estimate == pytest.approx(concordance_index(y, scores, observed=observed))


def test_queries_are_strata():
    X, y, observed = make(60)
    qid = np.repeat(np.arange(6), 10)
    values = []
    for query in range(6):
        rows = np.flatnonzero(qid == query)
        scores = fit_without(RankSVM(), X, y, observed, rows, qid)
        values.append(concordance_index(y[rows], scores, observed=observed[rows]))
    found = estimate_concordance(RankSVM(), X, y, qid=qid, observed=observed)
    assert found.estimate == pytest.approx(np.mean(values))


def test_structured_arrays_and_tournaments():
    X, y, observed = make()
    expected = estimate_concordance(RankSVM(), X, y, observed=observed, strategy="tournament")
    found = estimate_concordance(RankSVM(), X, structured(y, observed), strategy="tournament")
    assert found.estimate == expected.estimate
    assert 0.5 < found.estimate < 1


def test_comparisons_are_those_of_the_estimates():
    X, y, observed = make()
    both, models = structured(y, observed), {"one": RankSVM(), "other": RankSVM(alpha=10.0)}
    found = compare(models, X, both, strategy="averaged")
    expected = [estimate_concordance(each, X, both, strategy="averaged").estimate for each in models.values()]
    np.testing.assert_allclose(found.estimates, expected, rtol=1e-12)


@pytest.mark.parametrize("model", [RankSVM(), RankRLS(0.1)], ids=["svm", "rls"])
def test_permutations_keep_a_utility_and_whether_it_is_observed_together(model):
    X, y, observed = make(12)
    options = {"strategy": "averaged", "cv": 3, "verbose": 0}
    found = permutation_test(model, X, structured(y, observed), n_permutations=4, **options)
    exchanges, rng = Exchanges(np.arange(12.0)), check_random_state(0)
    expected = [np.arange(12), *(exchanges.draw(rng) for _ in range(4))]
    estimates = [
        estimate_concordance(model, X, y[rows], observed=observed[rows], **options).estimate for rows in expected
    ]
    np.testing.assert_allclose([found.statistic, *found.permuted], estimates, rtol=1e-12)


def test_permutations_of_held_out_pairs_know_censoring():
    X, y, observed = make(9)
    found = permutation_test(RankRLS(0.1), X, structured(y, observed), n_permutations=2, verbose=0)
    assert found.statistic == estimate_concordance(RankRLS(0.1), X, y, observed=observed).estimate


@pytest.mark.parametrize("function", [estimate_auc, tournament_roc])
def test_classes_are_not_censored(function):
    X, y, observed = make()
    with pytest.raises(ValueError, match="Censored utilities have no classes; use estimate_concordance"):
        function(RankSVM(), X, structured(y > np.median(y), observed))


def test_jackknife():
    X, y, observed = make(14)
    found = estimate_concordance(RankRLS(0.1), X, y, observed=observed, interval="jackknife")
    assert found.interval_from == "jackknife"
    assert found.interval[0] < found.estimate < found.interval[1]


def test_nothing_to_compare():
    X, y, _ = make()
    with pytest.raises(NoComparablePairsError):
        estimate_concordance(RankSVM(), X, y, observed=np.zeros(len(y), bool))
    with pytest.raises(ValueError, match="observed must have one element"):
        estimate_concordance(RankSVM(), X, y, observed=[True])
