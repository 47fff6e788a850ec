"""Rows that are added and forgotten, against fits to what remains."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from least_squares import data, query_ids

from kernelrank import RLS, RLSCV, RankRLS, RankRLSCV


def assert_same(model, expected, rtol=1e-9):
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=rtol, atol=1e-7)


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", [RLS, RankRLS])
@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("alpha", [1e-9, 0.1])
def test_rows_of_one_ranking(rng, kind, outputs, with_weights, alpha):
    X, y = data(rng, m=200, outputs=outputs, offset=1e4)
    w = rng.random(200) + 0.1 if with_weights else None

    def part(rows):
        return {"X": X[rows], "y": y[rows], "sample_weight": w[rows] if with_weights else None}

    model = kind(alpha)
    for rows in (slice(0, 1), slice(1, 90), slice(90, 120), slice(120, 200)):
        model.partial_fit(**part(rows))
    assert_same(model, kind(alpha).fit(**part(slice(None))), rtol=1e-8)
    model.forget(**part(slice(90, 95))).forget(**part(slice(0, 1)))
    assert_same(model, kind(alpha).fit(**part(np.r_[1:90, 95:200])), rtol=1e-8)


@pytest.mark.pairwise
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("options", [{}, {"ties": "drop"}, {"cost": "unit"}, {"cost": "relative"}], ids=str)
@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("n", [4, 150])
def test_whole_queries(rng, query_weighting, options, with_weights, n):
    X, y = data(rng, m=100, n=n, offset=10.0)
    y, qid = np.round(y), query_ids(rng, 100)
    w = rng.random(100) + 0.1 if with_weights else None
    model = RankRLS(0.01, query_weighting=query_weighting, **options)

    def part(*queries):
        rows = np.isin(qid, queries)
        return {
            "X": X[rows],
            "y": y[rows],
            "qid": qid[rows],
            "sample_weight": w[rows] if with_weights else None,
        }

    ids = np.unique(qid)
    model.partial_fit(**part(99)).partial_fit(**part(*ids[:2])).partial_fit(**part(*ids[2:-1]))
    fresh = RankRLS(0.01, query_weighting=query_weighting, **options)
    assert_same(model, fresh.fit(**part(*ids)), rtol=1e-7)
    model.forget(**part(ids[1])).forget(**part(99))
    assert_same(model, fresh.fit(**part(*np.setdiff1d(ids, [ids[1], 99]))), rtol=1e-7)
    # From fit, too.
    assert_same(fresh.partial_fit(**part(ids[1])), RankRLS(**model.get_params()).fit(**part(*ids)), rtol=1e-7)


@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_going_on_from_fit(rng, kind):
    X, y = data(rng, m=100, outputs=2, offset=100.0)
    w = rng.random(100)
    model = kind(0.1).fit(X[:60], y[:60], sample_weight=w[:60])
    model.partial_fit(X[60:], y[60:], sample_weight=w[60:]).forget(X[:7], y[:7], sample_weight=w[:7])
    assert_same(model, kind(0.1).fit(X[7:], y[7:], sample_weight=w[7:]))
    with pytest.raises(ValueError, match="partial_fit"):
        model.path([1.0])
    copy = pickle.loads(pickle.dumps(model))
    assert_same(
        copy.forget(X[10:20], y[10:20], sample_weight=w[10:20]),
        model.forget(X[10:20], y[10:20], sample_weight=w[10:20]),
    )
    assert_same(model.fit(X, y), kind(0.1).fit(X, y))
    assert_same(model.partial_fit(X[:5], y[:5]), kind(0.1).fit(np.vstack([X, X[:5]]), np.vstack([y, y[:5]])))


def test_forgetting_leaves_no_more_than_rounding(rng):
    """With next to no regularisation, what was the only row with a feature would be seen."""
    X, y = data(rng, m=50)
    X = np.hstack([X, np.zeros((50, 1))])
    X[7, -1] = 3.0
    model = RankRLS(1e-12).fit(X, y).forget(X[[7]], y[[7]])
    rest = np.delete(np.arange(50), 7)
    assert_same(model, RankRLS(1e-12).fit(X[rest], y[rest]), rtol=1e-8)
    assert model.coef_[-1] == pytest.approx(0.0, abs=1e-12)


def test_sparse_rows(rng):
    X, y = data(rng)
    model = RankRLS(0.1).partial_fit(sp.csr_array(X[:20]), y[:20]).partial_fit(X[20:], y[20:])
    assert_same(model, RankRLS(0.1).fit(X, y))


def test_conjugate_gradients_keep_no_sums(rng, monkeypatch):
    X, y = data(rng)
    monkeypatch.setattr("kernelrank.estimators._least_squares_model._DENSE_ELEMENTS", 10)
    model = RankRLS().fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="conjugate gradients: begin with partial_fit"):
        model.partial_fit(X, y)


def test_what_cannot_be(rng):
    X, y = data(rng)
    qid = np.arange(50) // 10
    with pytest.raises(ValueError, match="learnt nothing"):
        RankRLS().forget(X, y)
    with pytest.raises(ValueError, match="no row"):
        RankRLS().fit(X, y).forget(X, y)
    queries = RankRLS().partial_fit(X[:40], y[:40], qid=qid[:40])
    before = queries.coef_.copy()
    for call, message in (
        (lambda: queries.partial_fit(X[40:], y[40:]), "Either all calls"),
        (lambda: queries.partial_fit(X[:5], y[:5], qid=qid[:5]), "Query 0 has been learnt before"),
        (lambda: queries.forget(X[40:], y[40:], qid=qid[40:]), "Query 4 has not been learnt"),
        (lambda: queries.forget(X[:40], y[:40], qid=qid[:40]), "leave no query"),
        (lambda: queries.partial_fit(X[40:, :2], y[40:], qid=qid[40:]), "features"),
        (lambda: queries.partial_fit(X[40:], np.c_[y, y][40:], qid=qid[40:]), "shape"),
        (lambda: queries.forget(5 + 9 * X[:10], y[:10], qid=qid[:10]), "that were learnt"),
        (lambda: RankRLS(ties="drop").partial_fit(X, y), 'ties="drop" only by a refit'),
        (lambda: RankRLS(cost="unit").partial_fit(X, y), "only by a refit"),
        (lambda: RankRLS().fit_pairs(X, [[0, 1]]).partial_fit(X, y), "fit_pairs"),
        (lambda: RankRLS(n_basis=2).fit(X, y).set_params(n_basis=None).partial_fit(X, y), "n_basis"),
        (lambda: RankRLS(kernel="gaussian").fit(X, y).set_params(kernel="linear").partial_fit(X, y), "a kernel"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    np.testing.assert_array_equal(queries.coef_, before)
    for options, message in (
        ({"kernel": "gaussian"}, "linear kernel without n_basis"),
        ({"n_basis": 3}, "linear kernel without n_basis"),
        ({"solver": "cg"}, 'solver="auto" or "direct"'),
    ):
        with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as caught:
            RankRLS(**options).partial_fit(X, y)
        assert message in str(caught.value.__cause__)
    for model in (RankRLSCV(), RLSCV()):
        assert not hasattr(model, "partial_fit")
        assert not hasattr(model, "forget")
    assert not hasattr(RankRLSCV(), "fit_pairs")


class OnlyLooksUp(dict):
    """A dictionary that can neither be copied nor gone through: each takes as long as there are elements."""

    def _refuse(self, *_):
        raise AssertionError("all that came before was gone through")

    __iter__ = keys = items = values = copy = __or__ = __ror__ = __eq__ = _refuse
    __hash__ = None


def test_the_cost_of_a_call_is_that_of_its_rows(rng):
    X, y = data(rng, m=40)
    qid = np.arange(40) // 5
    model = RankRLS().partial_fit(X[:20], y[:20], qid=qid[:20])
    model._ids = OnlyLooksUp(model._ids)
    model.partial_fit(X[20:], y[20:], qid=qid[20:]).forget(X[:10], y[:10], qid=qid[:10])
    assert_same(model, RankRLS().fit(X[10:], y[10:], qid=qid[10:]))
    with pytest.raises(ValueError, match="learnt before"):
        model.partial_fit(X[20:], y[20:], qid=qid[20:])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_learns_for_itself(rng, duplicate):
    X, y = data(rng, m=40)
    qid = np.arange(40) // 5
    model = RankRLS().partial_fit(X[:20], y[:20], qid=qid[:20])
    other = duplicate(model)
    model.partial_fit(X[20:], y[20:], qid=qid[20:])
    other.partial_fit(X[20:], y[20:], qid=qid[20:]).forget(X[:5], y[:5], qid=qid[:5])
    assert_same(model.forget(X[:10], y[:10], qid=qid[:10]), RankRLS().fit(X[10:], y[10:], qid=qid[10:]))
    assert_same(other, RankRLS().fit(X[5:], y[5:], qid=qid[5:]))


def test_what_fails_leaves_the_queries_as_they_were(rng):
    X, y = data(rng, m=40)
    qid = np.arange(40) // 5
    model = RankRLS().partial_fit(X[:20], y[:20], qid=qid[:20])
    with pytest.raises(ValueError, match="sums are impossible"):  # other rows than were learnt
        model.forget(1e3 * X[:5], y[:5], qid=qid[:5])
    assert_same(model.forget(X[:5], y[:5], qid=qid[:5]), RankRLS().fit(X[5:20], y[5:20], qid=qid[5:20]))


@pytest.mark.parametrize("unit", [1e-170, 1e160])
def test_weights_of_any_size(rng, unit):
    X, y = data(rng)
    weights = rng.random(50) + 0.1
    expected = RLS(0.1).fit(X, y, sample_weight=weights)
    found = RLS(0.1).partial_fit(X[:20], y[:20], sample_weight=unit * weights[:20])
    assert_same(found.partial_fit(X[20:], y[20:], sample_weight=unit * weights[20:]), expected)
