"""Estimates count what a refit ties as a tie, whatever is held out."""

import warnings

import numpy as np
import pytest

from kernelrank import RLS, RankRLS
from kernelrank.exceptions import IdenticalRowsWarning, PooledEstimateWarning
from kernelrank.model_selection import compare, estimate_auc, estimate_concordance, permutation_test, tournament_roc


def silently(call, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdenticalRowsWarning)
        warnings.simplefilter("ignore", PooledEstimateWarning)
        return call(*args, verbose=0, **kwargs)


def ignorant(kind, X):
    return kind(1e-3, kernel="precomputed" if X.shape[0] == X.shape[1] else "linear")


@pytest.mark.parametrize("kind", [RLS, RankRLS])
@pytest.mark.parametrize("X", [np.ones((24, 3)), np.eye(24)], ids=["equal rows", "nothing in common"])
@pytest.mark.parametrize("strategy", ["leave-pair-out", "averaged", "tournament"])
def test_a_model_that_cannot_know_has_one_half(rng, kind, X, strategy):
    y, options = np.arange(24) % 2, {"strategy": strategy, "interval": "rows"}
    assert silently(estimate_auc, ignorant(kind, X), X, y, **options).estimate == 0.5
    assert silently(estimate_concordance, ignorant(kind, X), X, rng.normal(size=24), **options).estimate == 0.5


@pytest.mark.parametrize("X", [np.ones((24, 3)), np.eye(24)], ids=["equal rows", "nothing in common"])
def test_nor_is_there_anything_to_tell_inside_queries(rng, X):
    model, y, qid = ignorant(RankRLS, X), rng.normal(size=24), np.arange(24) % 4
    assert silently(estimate_concordance, model, X, y, qid=qid, interval="rows").estimate == 0.5
    assert silently(permutation_test, model, X, y, qid=qid, n_permutations=20).pvalue == 1.0
    assert silently(permutation_test, model, X, y, n_permutations=20).pvalue == 1.0
    found = silently(compare, [model, RankRLS(10.0, kernel=model.kernel)], X, y, qid=qid)
    assert found.differences[0].difference == 0.0
    if X.shape[1] == 24:
        assert silently(tournament_roc, model, X, np.arange(24) % 2).auc == 0.5


@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_binary_features_are_estimated_as_by_refits(rng, kind):
    class Refitted(kind):  # has no shortcuts
        shortcuts = frozenset()

    for _ in range(4):
        X, y = rng.integers(2, size=(16, 2)).astype(float), rng.permutation(np.arange(16) % 2)
        for strategy in ("leave-pair-out", "averaged", "pooled"):
            options = {"strategy": strategy, "interval": "rows"}
            closed = silently(estimate_auc, kind(0.1), X, y, **options)
            assert closed.estimate == pytest.approx(silently(estimate_auc, Refitted(0.1), X, y, **options).estimate)
            assert closed.n_fits == 1
