"""RankRLS on collections: the solutions and held-out predictions of the rows in memory."""

import pickle
import warnings

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

import kernelrank
from kernelrank.dask import RankRLS
from kernelrank.dask._engine import LocalEngine
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError


def data(rng, m=600, n=5):
    X = rng.normal(size=(m, n))
    X[:, 1] += 1e4
    y = np.round(X[:, 0] + rng.normal(size=m))
    sizes = rng.integers(1, 20, m)
    return X, y, rng.permutation(np.repeat(np.arange(m), sizes)[:m])


@pytest.mark.pairwise
@pytest.mark.filterwarnings("ignore::kernelrank.exceptions.UndefinedQueryWarning")
@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("weighting", ["query", "pair"])
@pytest.mark.parametrize("cost", ["magnitude", "unit"])
@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_solutions_are_those_of_the_rows_in_memory(
    rng, client, solver, queries, weighted, outputs, form, weighting, cost, ties
):
    X, y, qid = data(rng)
    if not queries:
        cost = ties = None
    if ties == "drop":
        outputs = 1
    y = y if outputs == 1 else np.column_stack([y, X[:, 2] + y])
    qid = qid if queries else None
    weights = rng.random(len(y)) * (rng.random(len(y)) < 0.9) if weighted else None
    parameters = {"alpha": 0.1, "query_weighting": weighting}
    if cost:
        parameters |= {"cost": cost, "ties": ties}
    local = kernelrank.RankRLS(**parameters).fit(X, y, qid=qid, sample_weight=weights)
    chunks = da.from_array(X, chunks=(150, -1)).map_blocks(form)
    model = RankRLS(**parameters, solver=solver, tol=1e-11, client=client).fit(
        chunks, y, qid=qid, sample_weight=weights
    )
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, local.intercept_, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(model.predict(chunks).compute(), local.predict(X), rtol=1e-6, atol=1e-4)
    assert model.score(X, y, qid=qid) == pytest.approx(local.score(X, y, qid=qid), abs=1e-9)


@pytest.mark.pairwise
@pytest.mark.parametrize("weighting", ["query", "pair"])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("n", [4, 40])
def test_held_out_queries_are_those_of_refits(rng, client, weighting, alpha, n):
    X, y, qid = data(rng, 300, n)
    chunks = da.from_array(X, chunks=(80, -1))
    weights = rng.random(300) + 0.1
    local = kernelrank.RankRLS(alpha, query_weighting=weighting).fit(X, y, qid=qid, sample_weight=weights)
    model = RankRLS(alpha, query_weighting=weighting, client=client).fit(chunks, y, qid=qid, sample_weight=weights)

    def centred(p):
        return p - (np.bincount(qid, p) / np.maximum(np.bincount(qid), 1))[qid]

    held_out = model.leave_query_out()
    assert held_out.shape == (300,)
    np.testing.assert_allclose(centred(held_out), centred(local.leave_query_out()), atol=1e-6)
    for query in np.unique(qid)[:3]:  # a refit
        rest = qid != query
        refit = kernelrank.RankRLS(alpha, query_weighting=weighting)
        refit.fit(X[rest], y[rest], qid=qid[rest], sample_weight=weights[rest])
        expected = refit.predict(X[~rest])
        np.testing.assert_allclose(held_out[~rest] - held_out[~rest].mean(), expected - expected.mean(), atol=1e-6)
    folds = [np.flatnonzero(qid % 4 == k)[::-1] for k in range(4)]
    for fold, here, there in zip(folds, model.hold_out(folds), local.hold_out(folds), strict=True):
        np.testing.assert_allclose(here - here[0], there - there[0], atol=1e-5)
        assert here.shape == fold.shape
    np.testing.assert_allclose(
        centred(model.leave_query_out(alpha=0.5)), centred(local.leave_query_out(alpha=0.5)), atol=1e-6
    )


@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_part_without_a_pair(rng, cluster, ties, form):
    X, y, qid = rng.normal(size=(8, 2)), np.array([0.0, 1, 2, 3, 5, 5, 7, 8]), np.array([0, 0, 1, 1, 2, 3, 4, 5])
    chunks = da.from_array(X, chunks=(4, -1)).map_blocks(form)
    for cost in ("magnitude", "relative"):
        local = kernelrank.RankRLS(ties=ties, cost=cost, solver="cg").fit(X, y, qid=qid)
        model = RankRLS(ties=ties, cost=cost, solver="cg", client=cluster).fit(chunks, y, qid=qid)
        np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-4)


def test_requests_that_come_twice_change_nothing(rng, monkeypatch):
    """If a part is lost, the others are asked again."""
    X, y, _ = data(rng)
    chunks = da.from_array(X, chunks=(150, -1))
    weights = rng.random(len(y))
    wanted = RankRLS(0.1, solver="cg", tol=1e-11).fit(chunks, y, sample_weight=weights)
    set_up = LocalEngine.set_up
    monkeypatch.setattr(LocalEngine, "set_up", lambda self, asked: [set_up(self, asked) for _ in range(2)][1])
    model = RankRLS(0.1, solver="cg", tol=1e-11).fit(chunks, y, sample_weight=weights)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)


def test_data_that_change_after_the_fit(rng, client):
    X, y, qid = data(rng)
    weights = np.ones(len(y))
    model = RankRLS(0.1, client=client).fit(da.from_array(X, chunks=(150, -1)), y, qid=qid, sample_weight=weights)
    wanted = model.leave_query_out()
    for array in (y, qid, weights):
        array[:] = 0
    np.testing.assert_array_equal(model.leave_query_out(), wanted)


@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_errors_are_those_of_the_rows_in_memory(rng, client, solver):
    X, y, qid = data(rng, 200)
    chunks = da.from_array(X, chunks=(50, -1))
    one = np.zeros(200)
    one[3] = 1.0
    for given, more in (((chunks[:1], y[:1]), {}), ((chunks, y), {"sample_weight": one})):
        with pytest.raises(NoComparablePairsError):
            RankRLS(solver=solver, client=client).fit(*given, **more)
    for more in ({}, {"qid": qid}):
        with pytest.raises(ValueError, match="cannot be solved in float64: scale features"):
            RankRLS(solver=solver, client=client).fit(chunks * 1e300, y, **more)


def test_held_out_folds_are_as_in_memory(rng, client):
    X, y, qid = data(rng, 100)
    chunks, whole = da.from_array(X, chunks=(50, -1)), np.flatnonzero(qid < 3)
    Y = np.column_stack([y, -y])
    model = RankRLS(client=client).fit(chunks, da.from_array(Y, chunks=(30, 1)), qid=qid)
    empty, some = model.hold_out([[], whole])
    assert empty.shape == (0, 2)
    assert some.shape == (len(whole), 2)
    with pytest.raises(ValueError, match="a row twice"):
        model.hold_out([np.append(whole, whole)])
    local = kernelrank.RankRLS().fit(X, Y, qid=qid)
    model.fit(chunks, y, qid=qid)
    before = model.leave_query_out()
    model.set_params(ties="drop", cost="unit", query_weighting="pair")
    np.testing.assert_array_equal(model.leave_query_out(), before)
    assert local.score(X, Y, qid=qid) == pytest.approx(
        RankRLS(client=client).fit(chunks, Y, qid=qid).score(chunks, da.from_array(Y, chunks=(30, 1)), qid=qid)
    )


def test_what_cannot_be(rng, client):
    X, y, qid = data(rng, 100)
    chunks = da.from_array(X, chunks=(50, -1))
    model = RankRLS(client=client).fit(chunks, y)
    with pytest.raises(ValueError, match="leave_query_out needs queries"):
        model.leave_query_out()
    with pytest.raises(ValueError, match='got ties="drop"'):
        RankRLS(ties="drop", client=client).fit(chunks, y)
    with pytest.raises(NoComparablePairsError):
        RankRLS(client=client).fit(chunks, y, qid=np.arange(100))
    with pytest.raises(NoComparablePairsError):
        RankRLS(client=client, solver="cg").fit(chunks, y, qid=np.arange(100))
    model.fit(chunks, y, qid=qid)
    torn = np.flatnonzero(qid == np.bincount(qid).argmax())[:1]
    with pytest.raises(ValueError, match="splits a query"):
        model.hold_out([torn])
    with pytest.raises(ValueError, match="leave a query"):
        model.hold_out([np.arange(100)])
    with pytest.raises(ValueError, match="linear kernel only"):
        RankRLS(kernel="gaussian").fit(chunks, y)
    with pytest.warns(ConvergenceWarning, match="relative residual"):
        RankRLS(solver="cg", max_iter=1, client=client).fit(chunks, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="not pickled"):
        copy.leave_query_out()
    assert isinstance(model.to_local(), kernelrank.RankRLS)


def test_what_travels_for_gradients_does_not_grow(rng, client):
    bytes_per_round = []
    for m in (500, 4000):
        X, y, _ = data(rng, m)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = RankRLS(solver="cg", client=client).fit(da.from_array(X, chunks=(m // 4, -1)), y)
        bytes_per_round.append(sum(model.communication_[2:]) / model.communication_.rounds)
    assert bytes_per_round[1] < 1.5 * bytes_per_round[0] + 20_000
