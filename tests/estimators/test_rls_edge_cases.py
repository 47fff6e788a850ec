"""Least squares where something is missing, repeated, very large, very small, or changed behind their back."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from least_squares import data, refit
from sklearn.model_selection import TimeSeriesSplit

from kernelrank import RLS, RLSCV, GreedyRLS, RankRLS, RankRLSCV
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.kernels import Gaussian

QID = np.repeat([0, 1, 2], 20)


@pytest.mark.parametrize("n", [5, 80])
@pytest.mark.parametrize("alpha", [1e-6, 1e-12, 1e-300])
def test_decompositions_keep_the_digits_of_a_fit(rng, n, alpha):
    X, y = data(rng, m=60, n=n)
    once = RankRLS(alpha).fit(X, y).coef_
    np.testing.assert_allclose(RankRLS(1.0).fit(X, y).path([alpha])[0], once, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(RankRLSCV([alpha]).fit(X, y).coef_, once, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("alpha", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("n_queries", [5, 20])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(1e-3)])
def test_parts_of_queries_with_rows_that_recur(rng, alpha, n_queries, kernel):
    X, y = data(rng, m=200, n=400)
    X[100:] = X[rng.integers(0, 100, size=100)]
    qid, rows = np.arange(200) // 10, np.arange(0, 10 * n_queries, 10)
    model = RankRLS(alpha, kernel=kernel).fit(X, y, qid=qid)
    [found] = model.hold_out([rows])
    expected = refit(model, X, y, rows, alpha, qid=qid)
    largest = model._training.solver.spectrum.values.max()
    np.testing.assert_allclose(found, expected, atol=max(1e-9, 1e3 * np.finfo(float).eps * largest / alpha))


@pytest.mark.parametrize("model", [RLS(), RLSCV(alphas=3), GreedyRLS(2)])
def test_regression_leaves_a_column_of_queries_alone(rng, model):
    X, y = data(rng, m=60)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=QID)
    named = model.fit(frame, y)
    assert named.n_features_in_ == 4
    found = named.predict(frame)
    np.testing.assert_allclose(found, model.fit(X, y).predict(X))


def test_scores_of_several_outputs_know_the_column_of_queries(rng):
    X, Y = data(rng, m=60, outputs=2)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=QID)
    by_query = np.mean([RankRLS().fit(frame, y).score(frame, y) for y in Y.T])
    assert RankRLS().fit(frame, Y).score(frame, Y) == pytest.approx(by_query)
    with pytest.raises(ValueError, match="outputs"):
        RankRLS().fit(X, Y).score(X, Y[:, :1])


@pytest.mark.parametrize("kind", [RLSCV, RankRLSCV])
def test_folds_that_do_not_train_on_all_others_are_refused(rng, kind):
    with pytest.raises(ValueError, match="train on all others"):
        kind(alphas=2, cv=TimeSeriesSplit(4)).fit(*data(rng))


def test_weights_that_leave_a_query_without_pairs(rng):
    X, y = data(rng, m=60)
    w = np.ones(60)
    w[1:20] = 0.0
    model = RankRLS(0.1).fit(X, y, qid=QID, sample_weight=w)
    [found] = model.hold_out([[3, 25]])
    np.testing.assert_allclose(found, refit(model, X, y, [3, 25], 0.1, qid=QID, sample_weight=w), rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"cost": "unit"}, {"cost": "relative"}, {"kernel": "gaussian"}], ids=str)
@pytest.mark.parametrize("qid", [None, QID])
def test_weights_that_leave_no_pair(rng, options, qid):
    X, y = data(rng, m=60)
    w = np.zeros(60)
    w[5] = 1.0
    with pytest.raises(NoComparablePairsError):
        RankRLS(**options).fit(X, y, qid=qid, sample_weight=w)
    classes = (np.arange(60) % 2).astype(float)
    with pytest.raises(NoComparablePairsError):
        RankRLS(ties="drop", **options).fit(X, classes, qid=qid, sample_weight=classes)


@pytest.mark.parametrize("scale", [1e155, 1e-160])
def test_the_unit_of_weights_is_of_no_account(rng, scale):
    X, y = data(rng, m=60)
    w = rng.random(60) + 0.1
    for qid in (None, QID):
        expected = RankRLS(query_weighting="pair").fit(X, y, qid=qid, sample_weight=w)
        found = RankRLS(query_weighting="pair").fit(X, y, qid=qid, sample_weight=scale * w)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    light = np.where(QID == 0, 1e-16, 1.0)  # every query counts the same
    np.testing.assert_allclose(
        RankRLS().fit(X, y, qid=QID, sample_weight=light).coef_, RankRLS().fit(X, y, qid=QID).coef_, rtol=1e-9
    )


def test_a_query_that_is_nearly_all_there_is(rng):
    X, y = data(rng, m=60)
    w = np.where(QID == 0, 1e4, 1.0)
    model = RankRLS(1e-3, query_weighting="pair").fit(X, y, qid=QID, sample_weight=w)
    rows = np.flatnonzero(QID == 0)
    expected = refit(model, X, y, rows, 1e-3, qid=QID, sample_weight=w)
    np.testing.assert_allclose(model.leave_query_out()[rows], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.hold_out([rows])[0], expected, rtol=1e-4, atol=1e-4)


def test_equal_rows_tie_without_ties(rng):
    rows = rng.normal(size=(4, 40))
    X, y = rows[rng.integers(4, size=12)], np.arange(12) % 2.0
    for alpha in (1e-2, 1e-4):
        every = RankRLS(alpha, ties="drop").fit(X, y)
        F = every.leave_pair_out()
        i, j = np.nonzero(y[:, None] > y)
        equal = (X[i] == X[j]).all(axis=1)
        margin = np.where(equal, 0.0, F[i, j] - F[j, i])
        expected = np.mean(np.where(margin > 0, 1.0, np.where(margin == 0, 0.5, 0.0)))
        assert every.leave_pair_out_concordance() == pytest.approx(expected)


def test_what_is_done_to_the_data_later_changes_nothing(rng):
    X, y = data(rng, m=60)
    y, w, qid = y.copy(), np.ones(60), QID.astype(np.int32)
    for model in (
        RankRLS().fit(X, y),
        RankRLS(kernel="gaussian").fit(X, y, qid=qid),
        RankRLS().fit(X, y, qid=qid, sample_weight=w),
    ):
        before, scores = model.hold_out([[0, 21]])[0], model.predict(X)
        rows, kept = X.copy(), (y.copy(), w.copy(), qid.copy())
        X[:], y[:], w[:], qid[:] = 0.0, 0.0, 3.0, 0
        np.testing.assert_array_equal(model.hold_out([[0, 21]])[0], before)
        np.testing.assert_array_equal(model.predict(rows), scores)
        X[:], y[:], w[:], qid[:] = rows, *kept


@pytest.mark.parametrize("change", [{"cost": "unit"}, {"query_weighting": "pair"}, {"ties": "drop"}])
def test_what_is_learnt_stays_the_same(rng, change):
    X, y = data(rng, m=60)
    model = RankRLS().fit(X[:40], y[:40], qid=QID[:40]).set_params(**change)
    with pytest.raises(ValueError, match="new estimator"):
        model.partial_fit(X[40:], y[40:], qid=QID[40:])
    begun = RankRLS().partial_fit(X[:40], y[:40], qid=QID[:40])
    with pytest.raises(ValueError, match="has 20 rows, and is forgotten as a whole; here are 5"):
        begun.forget(X[:5], y[:5], qid=QID[:5])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize(
    "model", [RankRLS(), RLS(), RankRLSCV(alphas=3), RankRLS(kernel="polynomial"), RankRLS(solver="cg")], ids=repr
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_features_beyond_squares(rng, model, scale):
    X, y = data(rng, m=60)
    try:
        scores = model.fit(scale * X, y).predict(scale * X)
    except ValueError as reason:
        assert "scale" in str(reason) or "infinity" in str(reason)  # noqa: PT017 - either is right
    else:
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("scale", [1e155, 1e-200])
@pytest.mark.parametrize("model", [RankRLS(), RLSCV(), GreedyRLS(), RankRLS(solver="cg")], ids=repr)
def test_targets_beyond_squares(rng, model, scale):
    X, y = data(rng)
    with pytest.raises(ValueError, match="scale it"):
        model.fit(X, scale * y)


def test_differences_of_very_different_size(rng):
    X, y = rng.normal(size=(6, 2)), np.array([0.0, 1e-9, 1.0, 2.0, 3.5, 5.0])
    winners, losers = np.nonzero(y[:, None] > y)
    d = y[winners] - y[losers]
    rows = np.vstack([(X[winners] - X[losers]) / d[:, None], np.sqrt(1e-3 * len(d)) * np.eye(2)])
    expected = np.linalg.lstsq(rows, np.append(np.ones(len(d)), [0.0, 0.0]), rcond=None)[0]
    np.testing.assert_allclose(RankRLS(cost="relative").fit(X, y).coef_, expected, rtol=1e-6)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_a_linear_basis_with_an_offset(rng, offset):
    X, y = data(rng, m=60)
    found, expected = RankRLS(n_basis=4).fit(X + offset, y).coef_, RankRLS(n_basis=4).fit(X, y).coef_
    np.testing.assert_allclose(found, expected, atol=1e-14 * offset + 1e-12)


def test_many_rows_held_out_at_once(rng):
    X, y = data(rng, m=300, n=3)
    for model in (RLS(0.01), RankRLS(0.01)):
        rows = np.arange(200)
        [found] = model.fit(X, y).hold_out([rows])
        np.testing.assert_allclose(found, refit(model, X, y, rows, 0.01), rtol=1e-9, atol=1e-11)


def test_given_pairs_with_features_form_no_graph(rng, monkeypatch):
    X, _ = data(rng, m=3000)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 2**22)
    model = RankRLS().fit_pairs(
        sp.csr_array(X), np.c_[np.arange(1500), np.arange(1500, 3000)], qid=np.arange(3000) % 1500
    )
    with pytest.raises(MemoryError, match="graph"):
        model.leave_query_out()


def test_paths_after_other_parameters(rng):
    X, y = data(rng)
    model = RankRLS().fit(X, y)
    expected = model.path([0.1])
    np.testing.assert_array_equal(model.set_params(n_basis=5).path([0.1]), expected)
    for alphas in ([], 1.0, [0.1, -1.0]):
        with pytest.raises(ValueError, match="non-empty list"):
            model.path(alphas)
    for alpha in ("1", -1, np.nan):
        with pytest.raises(ValueError, match=f"got {alpha!r}"):
            model.hold_out([[1]], alpha=alpha)


def held_bytes(thing, seen=None):
    """Size of all arrays that can be reached from a model."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    parts = list(getattr(thing, "__dict__", {}).values())
    parts += [*thing] if isinstance(thing, tuple | list) else [*thing.args] if isinstance(thing, partial) else []
    return sum(held_bytes(part, seen) for part in parts)


def test_a_fit_keeps_no_kernel_matrix(rng):
    X, y = data(rng, m=500)
    model = RankRLS(0.1, kernel="gaussian").fit(X, y, qid=np.arange(500) // 10)
    matrix = 8 * 500**2
    assert held_bytes(model) < matrix / 4
    path = model.path([0.1])
    np.testing.assert_allclose(path[0], model.dual_coef_, rtol=1e-6, atol=1e-9)
    assert held_bytes(model) > matrix
