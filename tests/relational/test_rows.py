"""KroneckerRows: an array of Kronecker products in all but memory."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

import kernelrank as kr
from kernelrank import RLS, RankRLS, RankSVM, RankSVMCV
from kernelrank import _memory as memory
from kernelrank.exceptions import InvalidParameterError, NoComparablePairsError
from kernelrank.model_selection import estimate_concordance
from kernelrank.persistence import load_model, save_model
from kernelrank.relational import KroneckerRows
from kernelrank.solvers import make_kronecker_products, make_products

FORMS = {"dense": np.asarray, "csr": sp.csr_matrix, "csc array": sp.csc_array, "frame": pd.DataFrame}
SYMMETRIES = [None, "symmetric", "antisymmetric"]


def make(rng, form=np.asarray, dtype=np.float64, symmetry=None, n=150, d=(3, 4)):
    """Return rows, the same rows formed, and utilities that depend on them."""
    U, V = (rng.normal(size=(size, k)) * (rng.random((size, k)) < 0.8) for size, k in ((12, d[0]), (15, d[1])))
    rows, columns = rng.integers(12, size=n), rng.integers(12 if symmetry else 15, size=n)
    U, V = U.astype(dtype), None if symmetry else V.astype(dtype)
    X = KroneckerRows(form(U), None if symmetry else form(V), rows, columns, symmetry=symmetry)
    F = formed(U, V, rows, columns, symmetry)
    y = np.rint(2 * F @ np.linspace(-1, 1, F.shape[1]) + rng.normal(size=n))
    return X, F, y


def formed(U, V, rows, columns, symmetry=None):
    V = U if V is None else V
    pairs = [(np.asarray(U[r], float), np.asarray(V[c], float)) for r, c in zip(rows, columns, strict=True)]
    sign = {None: 0, "symmetric": 1, "antisymmetric": -1}[symmetry]
    return np.stack([np.kron(u, v) + (sign * np.kron(v, u) if sign else 0) for u, v in pairs])


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shape_type_and_products(rng, form, symmetry, dtype):
    X, F, _ = make(rng, FORMS[form], dtype, symmetry)
    assert X.shape == F.shape
    assert (X.ndim, len(X), X.dtype) == (2, 150, dtype)
    np.testing.assert_allclose(X.toarray(), F, rtol=1e-6 if dtype == np.float32 else 1e-15, atol=1e-6)
    w, g = rng.normal(size=(F.shape[1], 2)), rng.normal(size=150)
    products = make_kronecker_products(X)
    for scores in (X @ w[:, 0], (X @ w)[:, 0], products.forward(w[:, 0]), products.forward(w[:, 0], np.empty(150))):
        np.testing.assert_allclose(scores, F @ w[:, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(X @ w, F @ w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.backward(g), F.T @ g, rtol=1e-12, atol=1e-12)
    if symmetry is None:
        d = np.abs(g)
        np.testing.assert_allclose(products.squares(d), (F**2).T @ d, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(products.diagonal(d), make_products(F).diagonal(d), rtol=1e-9, atol=1e-9)


def test_float32_is_summed_in_float64(rng):
    X, F, _ = make(rng, dtype=np.float32)
    w = rng.normal(size=12)
    np.testing.assert_allclose(X @ w, F @ w, rtol=0, atol=1e-13)  # F was computed in float64


def test_symmetries(rng):
    U, w = rng.normal(size=(8, 3)), rng.normal(size=9)
    a, b = np.triu_indices(8)
    for symmetry, sign in (("symmetric", 1), ("antisymmetric", -1)):
        one, other = (KroneckerRows(U, None, *pair, symmetry=symmetry) @ w for pair in ((a, b), (b, a)))
        np.testing.assert_allclose(one, sign * other, rtol=1e-13, atol=1e-13)
        W = w.reshape(3, 3)
        np.testing.assert_allclose(one, ((U @ W @ U.T) + sign * (U @ W @ U.T).T)[a, b], rtol=1e-12, atol=1e-12)


@given(key=st.one_of(st.slices(20), st.lists(st.integers(-20, 19)), st.lists(st.booleans(), min_size=20, max_size=20)))
def test_indexing_is_that_of_the_formed_rows(key):
    rng = np.random.default_rng(0)
    X, F, _ = make(rng, n=20)
    key = key if isinstance(key, slice) else np.array(key, bool if key and isinstance(key[0], bool) else int)
    for part in (X[key], X[key, ...], X[key, :]):
        np.testing.assert_array_equal(part.toarray(), F[key])
        assert part.U is X.U
        assert part.V is X.V


def test_indices_that_select_no_rows(rng):
    X, *_ = make(rng)
    for key in (3, (3, ...), np.array([[1, 2]])):
        with pytest.raises(IndexError, match="slice, an array of indices or a mask"):
            X[key]
    for key in ((slice(None), [0, 1]), (slice(None), 0)):
        with pytest.raises(IndexError, match="by entries only"):
            X[key]
    with pytest.raises(IndexError):
        X[[150]]


def test_rows_are_fixed_and_can_be_shown_and_pickled(rng):
    X, F, _ = make(rng)
    assert repr(X) == "KroneckerRows(150 entries of 12 x 15, 3 x 4 features)"
    assert "antisymmetric" in repr(KroneckerRows(np.eye(2), None, [0], [1], symmetry="antisymmetric"))
    for numbers in (X.rows, X[:5].columns):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1
    rows = np.array([0, 1])
    kept = KroneckerRows(np.eye(2), None, rows, rows)
    rows[:] = 1
    np.testing.assert_array_equal(kept.rows, [0, 1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(X))[3:9].toarray(), F[3:9])


def test_bad_input_is_refused():
    U, V = np.ones((3, 2)), np.ones((4, 5))
    for arguments, words in (
        (([1.0, 2.0], V, [0], [0]), "U: Expected 2D array"),
        ((U, np.ones((2, 2, 2)), [0], [0]), "V: Found array with dim 3"),
        ((np.array([[np.nan, 1.0]]), V, [0], [0]), "U contains NaN"),
        ((U, np.array([[np.inf, 1.0]]), [0], [0]), "V contains infinity"),
        ((sp.csr_array([[np.nan, 1.0]]), V, [0], [0]), "U contains NaN"),
        ((np.ma.masked_array(U, U > 0), V, [0], [0]), "U contains a missing value"),
        ((U, V, [0, 1], [0]), "rows and columns must have one element per entry, got 2 and 1"),
        ((U, V, [3], [0]), r"rows must be row numbers of U, which has 3 rows \(0 to 2\), got 3"),
        ((U, V, [0], [-1]), r"columns must be row numbers of V, which has 4 rows \(0 to 3\), got -1"),
        ((U, None, [0], [3]), "columns must be row numbers of U"),
        ((U, V, [0.0], [0]), "rows must hold the row numbers of U, one integer per entry"),
        ((U, V, [[0]], [0]), "rows must hold the row numbers of U"),
        ((U, V, [True], [0]), "rows must hold the row numbers of U"),
    ):
        with pytest.raises(ValueError, match=words):
            KroneckerRows(*arguments)
    with pytest.raises(ValueError, match=r"V must be None with symmetry='symmetric'"):
        KroneckerRows(U, U, [0], [0], symmetry="symmetric")
    with pytest.raises(InvalidParameterError, match="symmetry must be 'symmetric' or 'antisymmetric' or None"):
        KroneckerRows(U, None, [0], [0], symmetry="both")
    with pytest.raises(ValueError, match="Weights must have 10 elements"):
        KroneckerRows(U, V, [0], [0]) @ np.ones(3)


def test_what_does_not_fit_into_memory(monkeypatch):
    wide = sp.csr_array((3, 50_000))
    X = KroneckerRows(np.ones((3, 100)), np.ones((2, 100)), np.zeros(1000, int), np.zeros(1000, int))
    monkeypatch.setattr(memory, "available_memory", lambda: 200_000)
    with pytest.raises(MemoryError, match=r"50000 x 50000 weights.*Reduce the features of U and V"):
        KroneckerRows(wide, wide, [0], [0])
    with pytest.raises(MemoryError, match=r"100 x 100 weights.*KroneckerRLS"):
        RankSVM().fit(X, np.arange(1000))
    with pytest.raises(MemoryError, match="dense matrix of 1000 entries"):
        X.toarray()
    many = KroneckerRows(np.ones((3000, 20)), None, np.arange(3000), np.arange(3000))
    with pytest.raises(MemoryError, match=r"product of 3000 rows of features.*Score fewer entries"):
        many @ np.ones(400)
    assert len(many[:10] @ np.ones(400)) == 10


# Offsets

UNIT = 2.0**-12


def rounded(rng, *shape):
    return np.round(rng.normal(size=shape) / UNIT) * UNIT  # exact with an offset added


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_an_offset_of_what_is_ranked_costs_no_digits(rng, form, side):
    """With the queries on one side, offsets of the other side are the same for all rows of a query."""
    U, V = rounded(rng, 20, 3), rounded(rng, 30, 3)
    U[:, 0] += 1.0
    rows, columns = rng.integers(20, size=400), rng.integers(30, size=400)
    queries = np.unique(rows if side == "rows" else columns, return_inverse=True)[1].astype(np.int32)
    offset = [2.0**30, 0, -(2.0**29)]
    moved = (U, V + offset) if side == "rows" else (U + offset, V)
    products = make_kronecker_products(KroneckerRows(*map(form, moved), rows, columns), queries=queries)
    w, g = rng.normal(size=9), rng.normal(size=400)
    sums = np.bincount(queries)
    centred = lambda values: values - (np.bincount(queries, values) / sums)[queries]  # noqa: E731
    F = formed(U, V, rows, columns)
    np.testing.assert_allclose(centred(products.forward(w)), centred(F @ w), rtol=0, atol=1e-10)
    np.testing.assert_allclose(products.backward(centred(g)), F.T @ centred(g), rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_offsets_of_both_sides_cost_no_more_digits_than_they_must(rng, form):
    """Among all entries, a product of two offsets is the same for all; one offset is a feature of the other side."""
    U, V = rounded(rng, 20, 2), rounded(rng, 30, 2)
    rows, columns = rng.integers(20, size=400), rng.integers(30, size=400)
    s, t = 2.0**20, -(2.0**21)
    products = make_kronecker_products(KroneckerRows(form(U + s), form(V + t), rows, columns))
    u, v = (side.astype(np.longdouble)[numbers] for side, numbers in ((U, rows), (V, columns)))
    F = np.stack([(u[:, a] + s) * v[:, b] + u[:, a] * t for a in range(2) for b in range(2)], axis=1)
    F -= F.mean(axis=0)
    w, g = rng.normal(size=4), rng.normal(size=400)
    g -= g.mean()
    scores = products.forward(w)
    size = float(np.abs(F).max())
    np.testing.assert_allclose(scores - scores.mean(), (F @ w).astype(float), rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(products.backward(g), (F.T @ g).astype(float), rtol=0, atol=1e-12 * size)
    plain = make_kronecker_products(KroneckerRows(U, V, rows, columns))
    diagonal = plain.diagonal(np.ones(400)) + 0.0
    assert (products.diagonal(np.ones(400)) > diagonal).all()  # the offsets weigh on the other side's features


def test_constant_products_get_exactly_nothing(rng):
    ones = np.column_stack([np.full(20, 0.1), rng.normal(size=20)])
    rows, columns = rng.integers(20, size=300), rng.integers(20, size=300)
    g = rng.normal(size=300)
    for queries, constant in ((None, [0]), (rows, [0, 2]), (columns, [0, 1])):
        codes = None if queries is None else np.unique(queries, return_inverse=True)[1].astype(np.int32)
        products = make_kronecker_products(KroneckerRows(ones, None, rows, columns), queries=codes)
        backward, squares = products.backward(g), products.squares(np.abs(g))
        np.testing.assert_array_equal(np.flatnonzero(backward == 0), constant)
        np.testing.assert_array_equal(np.flatnonzero(squares == 0), constant)


# Estimators


def given_queries(X, name):
    return {} if name is None else {"qid": getattr(X, name)}


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("queries", [None, "rows", "columns"])
@pytest.mark.parametrize("positive", [False, True])
def test_rank_svm_has_the_certificate_of_the_formed_rows(rng, form, loss, queries, positive):
    X, F, y = make(rng, FORMS[form])
    options = given_queries(X, queries)
    model, other = (RankSVM(loss=loss, positive=positive).fit(each, y, **options) for each in (X, F))
    lower = max(each.objective_ - each.gap_ for each in (model, other))
    assert lower <= model.objective_ <= lower + model.gap_ + other.gap_
    assert model.gap_ <= 1e-3
    assert model.coef_.shape == (12,)
    judge = RankSVM(loss=loss, positive=positive, warm_start=True, max_iter=1, tol=10.0)
    judge.coef_ = model.coef_
    assert judge.fit(F, y, **options).objective_ == pytest.approx(model.objective_, rel=1e-9)  # J at the same weights
    np.testing.assert_allclose(model.predict(X), model.predict(F), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.rank(X, qid=X.rows), model.rank(F, qid=X.rows))
    assert model.score(X, y, **options) == model.score(F, y, **options)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_preferences_warm_starts_and_symmetries(rng, symmetry):
    X, F, y = make(rng, symmetry=symmetry)
    winners, losers = rng.integers(150, size=(2, 300))
    differ = y[winners] != y[losers]
    pairs = np.column_stack([winners, losers])[differ]
    pairs = np.where((y[pairs[:, 0]] > y[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    for fit in (lambda model, rows: model.fit(rows, y), lambda model, rows: model.fit_pairs(rows, pairs)):
        model, other = fit(RankSVM(), X), fit(RankSVM(), F)
        assert model.objective_ - model.gap_ <= other.objective_
        assert other.objective_ - other.gap_ <= model.objective_
    warm = RankSVM(warm_start=True, tol=1e-4).fit(X, y)
    assert warm.n_iter_ > warm.fit(X, y).n_iter_
    smooth = RankSVM(loss="squared_hinge").fit(X, y)
    assert smooth.objective_ == pytest.approx(RankSVM(loss="squared_hinge").fit(F, y).objective_, rel=1e-3)
    if symmetry == "antisymmetric":
        W = model.coef_.reshape(3, 3)
        np.testing.assert_allclose(W, -W.T, atol=1e-12)


@pytest.mark.parametrize("queries", [None, "rows"])
@pytest.mark.parametrize("solver", ["auto", "cg"])
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_conjugate_gradients_solve_the_equations_of_the_formed_rows(rng, queries, solver, symmetry):
    X, F, y = make(rng, symmetry=symmetry)
    model = RankRLS(solver=solver, tol=1e-12).fit(X, y, **given_queries(X, queries))
    other = RankRLS(solver="direct").fit(F, y, **given_queries(X, queries))
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), other.predict(F), rtol=0, atol=1e-8)


def test_several_outputs_and_an_intercept(rng):
    X, F, y = make(rng, sp.csr_array)
    Y = np.column_stack([y, y**2])
    model, other = RLS(tol=1e-12).fit(X, Y), RLS(solver="direct").fit(F, Y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), other.predict(F), rtol=0, atol=1e-8)
    assert model.score(X, Y) == pytest.approx(other.score(F, Y))


def test_threads_and_equal_rows(rng):
    X, _, y = make(rng, n=3000, d=(8, 9))
    one, two = (RankSVM(n_jobs=n).fit(X, y, qid=X.rows).coef_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    U = X.U.copy()
    U[3] = U[5]
    twins = KroneckerRows(U, X.V, np.repeat([3, 5], 15), np.tile(np.arange(15), 2))
    scores = RankSVM().fit(X, y).predict(twins)
    np.testing.assert_array_equal(scores[:15], scores[15:])


def test_the_alpha_is_chosen_as_with_the_formed_rows(rng):
    X, F, y = make(rng)
    for arguments in ({}, {"qid": X.rows}, {"groups": X.columns}):
        model, other = (RankSVMCV([1e-3, 1e-2, 1e-1], cv=3).fit(each, y, **arguments) for each in (X, F))
        np.testing.assert_allclose(model.scores_, other.scores_, atol=0.02)
        assert model.coef_.shape == (12,)


def test_scikit_learn_splits_and_searches(rng):
    X, F, y = make(rng)
    for model in (RankSVM(), RankRLS()):
        found, expected = (cross_val_score(model, each, y, cv=3) for each in (X, F))
        np.testing.assert_allclose(found, expected, atol=0.02)
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3, 1e-1]}, cv=3).fit(X, y)
    assert search.predict(X[:7]).shape == (7,)


def test_estimates_take_refits_and_notice_equal_rows(rng):
    X, F, y = make(rng, n=40)
    distinct = np.unique(np.column_stack([X.rows, X.columns]), axis=0, return_index=True)[1]
    X, F, y = X[distinct], F[distinct], y[distinct]
    options = {"strategy": "averaged", "cv": 4, "verbose": 0}
    for model in (RankSVM(), RankRLS(solver="cg", tol=1e-12)):
        found, expected = (estimate_concordance(model, each, y, **options).estimate for each in (X, F))
        assert found == pytest.approx(expected, abs=0.02)
    doubled, twice = X[np.tile(np.arange(len(X)), 2)], np.tile(y, 2)
    with pytest.warns(kr.exceptions.IdenticalRowsWarning):
        estimate_concordance(RankSVM(), doubled, twice, **options)


def test_models_are_saved(rng, tmp_path):
    X, _, y = make(rng)
    for model in (RankSVM().fit(X, y, qid=X.rows), RankRLS().fit(X, y, qid=X.rows)):
        save_model(model, tmp_path / "model.kr")
        np.testing.assert_array_equal(load_model(tmp_path / "model.kr").predict(X), model.predict(X))


def test_what_cannot_be_fitted(rng):
    X, F, y = make(rng)
    for call in (
        lambda: RankSVM(kernel="gaussian").fit(X, y),
        lambda: RankSVMCV(kernel=["linear", "gaussian"]).fit(X, y),
        lambda: RankRLS(kernel="gaussian").fit(X, y),
        lambda: RankRLS(solver="direct").fit(X, y),
        lambda: RankRLS(n_basis=5).fit(X, y),
        lambda: RLS(solver="direct").fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"A KroneckerRows requires .*kernelrank\.relational\.KroneckerRLS"):
            call()
    for call in (
        lambda: kr.RankRLSCV().fit(X, y),
        lambda: kr.GreedyRankRLS().fit(X, y),
        lambda: kr.OrdinalSVM().fit(X, y),
        lambda: RankRLS().partial_fit(X, y),
        lambda: Ridge().fit(X, y),
    ):
        with pytest.raises(TypeError, match=r"A KroneckerRows is not an array.*kernelrank\.RankSVM"):
            call()
    model = RankRLS().fit(X, y)
    for call in (lambda: model.hold_out([[0, 1]]), model.leave_pair_out, lambda: model.path([1.0])):
        with pytest.raises(ValueError, match=r"decomposition.*kernelrank\.relational\.KroneckerRLS"):
            call()
    with pytest.raises(ValueError, match="n_basis is for non-linear kernels"):
        RankSVM(n_basis=5).fit(X, y)
    model = RankSVM().fit(X, y)
    with pytest.raises(ValueError, match="The KroneckerRows has 6 features, but RankSVM was fitted with 12"):
        model.predict(KroneckerRows(np.eye(2), np.eye(3), [0], [0]))
    with pytest.raises(ValueError, match=r"0 sample\(s\).*has no row"):
        model.fit(X[:0], y[:0])
    with pytest.raises(NoComparablePairsError):
        model.fit(X[:1], y[:1])
    with pytest.raises(NoComparablePairsError):
        model.fit(X, np.ones(150))
    np.testing.assert_allclose(model.predict(X), model.predict(F), rtol=1e-12, atol=1e-12)  # the fit of before
