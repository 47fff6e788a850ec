import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from refits import hold_out, solve_entries
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from kernelrank import RLS, RankRLS
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.kernels import Gaussian
from kernelrank.metrics import concordance_index
from kernelrank.persistence import load_model, save_model
from kernelrank.relational import KroneckerRLS, KroneckerRLSCV, TwoStepRLS

SETTINGS = ("entry", "row", "column", "both")
LOSSES = [{"ranking": False, "fit_intercept": True}, {"ranking": False, "fit_intercept": False}, {"ranking": True}]
# Features of both sides: fewer or more than elements, so that kernel matrices are of full rank or not.
SHAPES = [(2, 3), (7, 2), (2, 9), (8, 9)]


def data(rng, q=6, m=7, d1=3, d2=2):
    U, V = rng.normal(size=(q, d1)), rng.normal(size=(m, d2))
    return U, V, 5.0 + rng.normal(size=(q, m))


def leave_out(model, setting, **alphas):
    return getattr(model, f"leave_{setting}_out")(**alphas)


def with_holes(Y, rng, share=0.4):
    holes = rng.random(Y.shape) < share
    holes[np.arange(len(Y)), np.arange(len(Y)) % Y.shape[1]] = False  # every row has an entry
    holes[np.arange(Y.shape[1]) % len(Y), np.arange(Y.shape[1])] = False
    return np.where(holes, np.nan, Y)


# Fits


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_fit_is_that_of_all_products_of_features(rng, kernel, loss):
    U, V, Y = data(rng)
    model = KroneckerRLS(0.1, row_kernel=kernel, column_kernel=kernel, **loss).fit(U, V, Y)
    K, G = model.row_kernel_(U), model.column_kernel_(V)
    A, constant = solve_entries(K, G, Y, np.ones(Y.shape, bool), 0.1, loss["ranking"], loss.get("fit_intercept"))
    expected = K @ A @ G + constant
    if loss["ranking"]:
        expected -= expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict(U, V), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("unknown", [False, True])
def test_losses_are_those_of_rls_and_rank_rls(rng, unknown):
    U, V, Y = data(rng)
    Y = with_holes(Y, rng) if unknown else Y
    rows, columns = np.nonzero(~np.isnan(Y))
    X = np.einsum("ea,eb->eab", U[rows], V[columns]).reshape(len(rows), -1)
    everything = np.kron(U, V)
    pointwise, ranking = (KroneckerRLS(0.1, ranking=each, tol=1e-12).fit(U, V, Y) for each in (False, True))
    of_values = RLS(0.1).fit(X, Y[rows, columns])
    np.testing.assert_allclose(pointwise.predict(U, V).ravel(), of_values.predict(everything), rtol=0, atol=1e-10)
    np.testing.assert_allclose(pointwise.coef_.ravel(), of_values.coef_, rtol=0, atol=1e-10)
    of_pairs = RankRLS(0.1).fit(X, Y[rows, columns], qid=rows).predict(everything).reshape(Y.shape)
    of_pairs -= of_pairs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(ranking.predict(U, V), of_pairs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_unknown_entries_are_left_out(rng, kernel, loss):
    U, V, Y = data(rng)
    Z = with_holes(Y, rng)
    model = KroneckerRLS(0.1, row_kernel=kernel, column_kernel=kernel, tol=1e-12, **loss).fit(U, V, Z)
    K, G = model.row_kernel_(U), model.column_kernel_(V)
    A, constant = solve_entries(K, G, Y, ~np.isnan(Z), 0.1, loss["ranking"], loss.get("fit_intercept"))
    expected = K @ A @ G + constant
    if loss["ranking"]:
        expected -= expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict(U, V), expected, rtol=0, atol=1e-9)
    assert model.n_iter_ > 1
    assert 0 < model.residual_ <= 1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_conjugate_gradients_agree_with_the_closed_form(rng, loss):
    """With one entry in a hundred unknown, and the same entries known by their predictions, both are the same model."""
    U, V, Y = data(rng, 12, 15)
    Y[3, 4] = np.nan
    unknown = KroneckerRLS(0.05, tol=1e-13, **loss).fit(U, V, Y)
    left_out = KroneckerRLS(0.05, **loss).fit(U, V, np.nan_to_num(Y, nan=123.0)).leave_entry_out()[3, 4]
    np.testing.assert_allclose(unknown.predict(U, V)[3, 4], left_out, rtol=0, atol=1e-10)


def test_unknown_entries_are_nan_or_not_stored(rng):
    U, V, Y = data(rng)
    Z = with_holes(np.round(Y - 5.0), rng)  # zeros are known
    rows, columns = np.nonzero(~np.isnan(Z))
    stored = sp.coo_matrix((Z[rows, columns], (rows, columns)), shape=Z.shape)
    expected = KroneckerRLS(0.1).fit(U, V, Z).predict(U, V)
    for same in (stored, stored.tocsr(), sp.csc_array(stored), pd.DataFrame(Z)):
        np.testing.assert_array_equal(KroneckerRLS(0.1).fit(U, V, same).predict(U, V), expected)


@pytest.mark.parametrize("ranking", [False, True])
@pytest.mark.parametrize("row_kernel", ["linear", Gaussian(0.3)])
def test_all_forms_of_features_are_the_same(rng, row_kernel, ranking):
    U, V, Y = data(rng)
    U *= np.abs(U) > 0.3
    model = KroneckerRLS(0.1, row_kernel=row_kernel, ranking=ranking)
    expected = clone(model).fit(U, V, Y)
    forms = [(sp.csr_matrix(U), sp.csr_array(V)), (pd.DataFrame(U), V.tolist()), (np.asfortranarray(U), V[::1])]
    for u, v in forms:
        found = clone(model).fit(u, v, Y)
        np.testing.assert_allclose(found.predict(u, v), expected.predict(U, V), rtol=0, atol=1e-12)
        for setting in SETTINGS:
            np.testing.assert_allclose(leave_out(found, setting), leave_out(expected, setting), rtol=0, atol=1e-12)
    single = clone(model).fit(U.astype(np.float32), V.astype(np.float32), Y)
    double = clone(model).fit(U.astype(np.float32).astype(float), V.astype(np.float32).astype(float), Y)
    np.testing.assert_allclose(single.predict(U, V), double.predict(U, V), rtol=0, atol=1e-10)


def test_precomputed_kernels_are_those_of_the_rows(rng):
    U, V, Y = data(rng)
    K, G = rbf_kernel(U, gamma=0.3), V @ V.T
    expected = KroneckerRLS(0.1, row_kernel=Gaussian(0.3)).fit(U, V, Y)
    model = KroneckerRLS(0.1, row_kernel="precomputed", column_kernel="precomputed").fit(K, G, Y)
    new_U, new_V = rng.normal(size=(3, 3)), rng.normal(size=(4, 2))
    found = model.predict(rbf_kernel(new_U, U, gamma=0.3), new_V @ V.T)
    np.testing.assert_allclose(found, expected.predict(new_U, new_V), rtol=0, atol=1e-10)
    for setting in SETTINGS:
        np.testing.assert_allclose(leave_out(model, setting), leave_out(expected, setting), rtol=0, atol=1e-10)


def test_a_basis_of_all_elements_changes_nothing(rng):
    U, V, Y = data(rng)
    options = {"row_kernel": Gaussian(0.3), "column_kernel": Gaussian(0.3)}
    expected = KroneckerRLS(0.1, **options).fit(U, V, Y)
    found = KroneckerRLS(0.1, n_row_basis=len(U), n_column_basis=99, **options).fit(U, V, Y)
    np.testing.assert_allclose(found.predict(U, V), expected.predict(U, V), rtol=0, atol=1e-10)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), "linear", "precomputed"], ids=str)
def test_a_basis_spans_the_model(rng, kernel, unknown):
    """The reduced model is that of Nystrom's kernel matrix."""
    U, V, Y = data(rng, d1=7)
    Y = with_holes(Y, rng) if unknown else Y
    K = U @ U.T if kernel != Gaussian(0.3) and isinstance(kernel, str) else rbf_kernel(U, gamma=0.3)
    given = K if kernel == "precomputed" else U
    model = KroneckerRLS(0.1, row_kernel=kernel, n_row_basis=3, tol=1e-13).fit(given, V, Y)
    basis = np.flatnonzero(model.row_coef_ + model.coef_.any(axis=1)) if kernel == "precomputed" else None
    if basis is None:
        basis = [int(np.flatnonzero((row == U).all(axis=1))[0]) for row in model.row_basis_]
    assert len(basis) == 3
    reduced = K[:, basis] @ np.linalg.pinv(K[np.ix_(basis, basis)]) @ K[basis]
    expected = KroneckerRLS(0.1, row_kernel="precomputed", tol=1e-13).fit((reduced + reduced.T) / 2, V, Y)
    np.testing.assert_allclose(
        model.predict(given, V), expected.predict((reduced + reduced.T) / 2, V), rtol=0, atol=1e-8
    )


def test_entries_are_predicted_like_all(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS(0.1, row_kernel="gaussian", ranking=True).fit(U, V, Y)
    rows, columns = rng.integers(0, 6, 30), rng.integers(0, 7, 30)
    np.testing.assert_allclose(
        model.predict_entries(U, V, rows, columns), model.predict(U, V)[rows, columns], rtol=0, atol=1e-13
    )
    assert model.predict_entries(U, sp.csr_matrix(V), [], []).shape == (0,)


def test_a_path_has_the_weights_of_fits(rng):
    U, V, Y = data(rng)
    for Z in (Y, with_holes(Y, rng)):
        model = KroneckerRLS(0.1, tol=1e-12).fit(U, V, Z)
        for alpha, coef in zip([10.0, 1e-3], model.path([10.0, 1e-3]), strict=True):
            np.testing.assert_allclose(coef, KroneckerRLS(alpha, tol=1e-12).fit(U, V, Z).coef_, rtol=0, atol=1e-9)


def test_scores_are_concordances(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS(0.1, ranking=True).fit(U, V, Y)
    rows = np.repeat(np.arange(6), 7)
    assert model.score(U, V, Y) == concordance_index(Y.ravel(), model.predict(U, V).ravel(), qid=rows)
    model = KroneckerRLS(0.1).fit(U, V, Y)
    Z = with_holes(Y, rng)
    known = ~np.isnan(Z)
    assert model.score(U, V, Z) == concordance_index(Z[known], model.predict(U, V)[known])


# Hold-outs


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_hold_outs_are_refits(rng, setting, loss, shape):
    U, V, Y = data(rng, 5, 6, *shape)
    model = KroneckerRLS(**loss).fit(U, V, Y)
    for alpha in (1e-2, 1.0, 1e6):
        expected = hold_out(
            U @ U.T, V @ V.T, Y, alpha, setting, intercept=loss.get("fit_intercept"), ranking=loss["ranking"]
        )
        np.testing.assert_allclose(leave_out(model, setting, alpha=alpha), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)], ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_hold_outs_are_fits_to_what_remains(rng, alpha, kernel, loss):
    """Other models of this package, whose rounding errors are as small, on 40 rows and 30 columns."""
    U, V, Y = data(rng, 40, 30, 6, 5)
    model = KroneckerRLS(alpha, row_kernel=kernel, column_kernel=kernel, **loss).fit(U, V, Y)
    without_row, without_column, without_both = (leave_out(model, each) for each in ("row", "column", "both"))
    for i, j in rng.integers(0, 30, size=(4, 2)):
        u, v = np.delete(np.arange(40), i), np.delete(np.arange(30), j)
        found = clone(model).fit(U[u], V, Y[u]).predict(U[[i]], V)[0]
        np.testing.assert_allclose(without_row[i], found, rtol=0, atol=1e-9)
        found = clone(model).fit(U, V[v], Y[:, v]).predict(U, V[[j]])[:, 0]
        np.testing.assert_allclose(without_column[:, j], found, rtol=0, atol=1e-9)
        found = clone(model).fit(U[u], V[v], Y[np.ix_(u, v)]).predict(U[[i]], V[[j]])[0, 0]
        np.testing.assert_allclose(without_both[i, j], found, rtol=0, atol=1e-9)


def features_of(X):
    """Return features whose inner products are the Gaussian kernel with gamma=0.3."""
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=0.3))
    return vectors * np.sqrt(values.clip(min=0.0))


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.3)], ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_entries_that_are_held_out_with_a_small_alpha(rng, kernel, loss):
    """Least squares on all products of features, which are exact where kernel matrices are ill-conditioned."""
    (U, V, Y), alpha = data(rng, 12, 9), 1e-6
    found = KroneckerRLS(alpha, row_kernel=kernel, column_kernel=kernel, **loss).fit(U, V, Y).leave_entry_out()
    u, v = (U, V) if kernel == "linear" else (features_of(U), features_of(V))
    X, y, rows = np.kron(u, v), Y.ravel(), np.repeat(np.arange(12), 9)
    for e in rng.integers(0, 108, 5):
        rest, group = np.delete(np.arange(108), e), np.delete(rows, e)
        if not loss["ranking"]:
            group = np.zeros(107, int)
        # Differences within a group are those to its mean.
        sizes, centred = np.bincount(group)[group], loss["ranking"] or loss["fit_intercept"]
        centre = np.eye(107) - centred * (group[:, None] == group) / sizes
        weights = np.sqrt(2.0 / (12 * sizes)) if loss["ranking"] else np.full(107, 107**-0.5)
        A = np.vstack([weights[:, None] * (centre @ X[rest]), np.sqrt(alpha) * np.eye(X.shape[1])])
        w = np.linalg.lstsq(A, np.append(weights * (centre @ y[rest]), np.zeros(X.shape[1])), rcond=None)[0]
        level = -(X[rows == rows[e]] @ w).mean() if loss["ranking"] else 0.0
        if loss.get("fit_intercept"):
            level = (y[rest] - X[rest] @ w).mean()
        assert found.ravel()[e] == pytest.approx(X[e] @ w + level, abs=1e-9)


@pytest.mark.parametrize("alpha", [1e-4, 1.0, 1e6])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_an_entry_that_is_held_out_is_unknown(rng, alpha, loss):
    U, V, Y = data(rng, 12, 9)
    model = KroneckerRLS(alpha, tol=1e-14, max_iter=10_000, **loss).fit(U, V, Y)
    found = model.leave_entry_out()
    for i, j in rng.integers(0, 9, size=(4, 2)):
        Z = Y.copy()
        Z[i, j] = np.nan
        np.testing.assert_allclose(clone(model).fit(U, V, Z).predict(U, V)[i, j], found[i, j], rtol=0, atol=1e-9)


@pytest.mark.parametrize("d", [3, 9])
def test_offsets_of_the_columns_do_not_change_a_ranking(rng, d):
    """Fewer features than columns, or more: a constant per feature is the same for all columns."""
    U, V, Y = data(rng, 8, 7, 3, d)
    V = np.round(V * 1024) / 1024  # numbers to which 1e8 can be added without rounding
    expected, found = (KroneckerRLS(0.01, ranking=True).fit(U, v, Y) for v in (V, V + 1e8))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-6)
    for setting in SETTINGS:
        np.testing.assert_allclose(leave_out(found, setting), leave_out(expected, setting), rtol=0, atol=1e-6)


@pytest.mark.parametrize("setting", SETTINGS)
def test_small_matrices(rng, setting):
    """Two columns in a ranking: without an entry, the row has nothing to compare."""
    U, V, Y = data(rng, 4, 2)
    model = KroneckerRLS(0.1, ranking=True).fit(U, V, Y)
    if setting in ("column", "both"):
        with pytest.raises(ValueError, match=f"leave_{setting}_out needs at least 3 columns, got 2"):
            leave_out(model, setting)
    else:
        expected = hold_out(U @ U.T, V @ V.T, Y, 0.1, setting, ranking=True)
        np.testing.assert_allclose(leave_out(model, setting), expected, rtol=0, atol=1e-11)
    model = KroneckerRLS(0.1).fit(U[:1], V, Y[:1])
    if setting in ("row", "both"):
        with pytest.raises(ValueError, match="at least two rows, got 1"):
            leave_out(model, setting)
    else:
        expected = hold_out(U[:1] @ U[:1].T, V @ V.T, Y[:1], 0.1, setting)
        np.testing.assert_allclose(leave_out(model, setting), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("ranking", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_equal_elements_are_tied(rng, kernel, ranking):
    """As in a refit: equal columns in a row that is held out, and equal rows in a column that is held out."""
    U, V, Y = data(rng, 9, 11, 4, 3)
    V[3, 0] = 0.0
    U[5], V[8], V[2] = U[1], V[3], V[3]
    V[8, 0] = -0.0
    # With zeros that are stored, and indices in another order in every other row.
    order = np.array([np.roll(np.arange(3), k % 2) for k in range(11)])
    stored = sp.csr_matrix((np.take_along_axis(V, order, 1).ravel(), order.ravel(), 3 * np.arange(12)), V.shape)
    for u, v in ((U, V), (sp.csr_matrix(U), sp.csr_matrix(V)), (U, stored)):
        model = KroneckerRLS(0.01, row_kernel=kernel, column_kernel=kernel, ranking=ranking).fit(u, v, Y)
        predictions = model.predict(u, v)
        for found in (predictions, model.leave_row_out()):
            assert (found[:, 8] == found[:, 3]).all()
            assert (found[:, 2] == found[:, 3]).all()
        for found in (predictions, model.leave_column_out()):
            assert (found[5] == found[1]).all()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)], ids=str)
def test_two_steps_are_refits(rng, setting, intercept, kernel):
    U, V, Y = data(rng, 9, 8, 4, 9)
    model = TwoStepRLS(0.1, 0.3, row_kernel=kernel, column_kernel=kernel, fit_intercept=intercept).fit(U, V, Y)
    found = leave_out(model, setting)
    for i, j in rng.integers(0, 8, size=(4, 2)):
        u = np.delete(np.arange(9), i) if setting in ("row", "both") else np.arange(9)
        v = np.delete(np.arange(8), j) if setting in ("column", "both") else np.arange(8)
        Z = Y.copy()
        if setting == "entry":
            Z[i, j] = found[i, j]  # the value that is predicted if it is there
        refit = clone(model).fit(U[u], V[v], Z[np.ix_(u, v)])
        np.testing.assert_allclose(refit.predict(U[[i]], V[[j]])[0, 0], found[i, j], rtol=0, atol=1e-10)


def test_two_steps_are_two_ridge_regressions(rng):
    U, V, Y = data(rng)
    model = TwoStepRLS(0.1, 0.3).fit(U, V, Y)
    along_rows = RLS(0.1).fit(U, Y).predict(U)
    np.testing.assert_allclose(model.predict(U, V), RLS(0.3).fit(V, along_rows.T).predict(V).T, rtol=0, atol=1e-12)
    K, G = U @ U.T, V @ V.T
    expected = K @ np.linalg.solve(K + 0.6 * np.eye(6), Y) @ np.linalg.solve(G + 2.1 * np.eye(7), G)
    found = TwoStepRLS(0.1, 0.3, fit_intercept=False).fit(U, V, Y).predict(U, V)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# The choice of alpha


@pytest.mark.parametrize("leave", SETTINGS)
@pytest.mark.parametrize("ranking", [False, True])
def test_alpha_is_the_best_of_the_hold_out(rng, leave, ranking):
    U, V, Y = data(rng)
    Y = Y + 3 * U[:, :1] * V[:, 0]
    alphas = [1e-3, 0.1, 10.0]
    model = KroneckerRLSCV(alphas, leave=leave, ranking=ranking).fit(U, V, Y)
    rows = np.repeat(np.arange(6), 7)
    scores = []
    for alpha in alphas[::-1]:
        found = leave_out(KroneckerRLS(alpha, ranking=ranking).fit(U, V, Y), leave)
        scores.append(concordance_index(Y.ravel(), found.ravel(), qid=rows) if ranking else -np.mean((Y - found) ** 2))
    np.testing.assert_allclose(model.scores_[:, 0], scores, rtol=1e-12)
    assert model.alpha_ == alphas[::-1][int(np.argmax(scores))]
    expected = KroneckerRLS(model.alpha_, ranking=ranking).fit(U, V, Y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.held_out_, leave_out(expected, leave))
    np.testing.assert_array_equal(leave_out(model, leave), model.held_out_)


def test_progress_of_the_choice(rng, capsys):
    U, V, Y = data(rng)
    model = KroneckerRLSCV([0.1, 1.0], leave="both", verbose=1).fit(U, V, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{k + 1} of 2: alpha {alpha:g}, score {score:.6g}"
        for k, (alpha, score) in enumerate(zip([1.0, 0.1], model.scores_[:, 0], strict=True))
    ]
    calls = []
    model = KroneckerRLSCV(9, verbose=lambda *call: calls.append(call)).fit(U, V, Y)
    assert [done for done, _ in calls] == list(range(1, len(model.alphas_) + 1))
    assert (calls[0], calls[-1]) == ((1, 9), (len(model.alphas_),) * 2)
    KroneckerRLSCV([0.1, 1.0]).fit(U, V, Y)
    assert capsys.readouterr().out == ""


def test_scoring(rng):
    U, V, Y = data(rng)
    fitted = [
        KroneckerRLSCV([0.1, 1.0], scoring=scoring).fit(U, V, Y).scores_
        for scoring in ("concordance", lambda y, p: concordance_index(y, p))
    ]
    np.testing.assert_array_equal(*fitted)
    grades = np.digitize(Y, [4.0, 5.0, 6.0])
    model = KroneckerRLSCV(8, scoring="ndcg@3", ranking=True).fit(U, V, grades)
    assert 0 < model.scores_.max() <= 1
    assert len(model.alphas_) >= 8


# Bad input


def bad(message, **changes):
    return pytest.param(changes, message, id=message[:40])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        bad(r"Y has shape \(6, 6\), but U has 6 rows and V has 7: Y must have shape \(6, 7\)", Y=np.ones((6, 6))),
        bad("Y must be a matrix of shape", Y=np.ones(42)),
        bad("Y contains infinity. Entries that are unknown are NaN", Y=np.full((6, 7), np.inf)),
        bad("Y has no known entry", Y=np.full((6, 7), np.nan)),
        bad(
            "Row 2 of Y has no known entry. Leave it out of U and Y",
            Y=np.where(np.arange(6) == 2, np.nan, np.ones((7, 6))).T,
        ),
        bad(
            r"Column 3 \(and 1 more\) of Y has no known entry",
            Y=np.where(np.isin(np.arange(7), [3, 5]), np.nan, np.ones((6, 7))),
        ),
        bad("Y has squares that are no float64 numbers", Y=np.full((6, 7), 1e200)),
        bad("Y contains a missing value: elements of a masked array", Y=np.ma.masked_equal(np.eye(6, 7), 1)),
        bad("Y contains NaN. Entries that are unknown are not stored", Y=sp.csr_matrix(np.full((6, 7), np.nan))),
        bad("Y must hold real numbers", Y=np.full((6, 7), "a")),
        bad("U must be a matrix with one row per element", U=np.ones(6)),
        bad("Input U contains NaN", U=np.full((6, 3), np.nan)),
        bad("Input V contains infinity", V=np.full((7, 2), np.inf)),
        bad(r"A kernel matrix to be fitted to is square, but U has shape \(6, 3\)", row_kernel="precomputed"),
        bad("V: A kernel matrix must be symmetric", V=np.triu(np.ones((7, 7))), column_kernel="precomputed"),
        bad("must be positive semidefinite", V=1.0 - np.eye(7), column_kernel="precomputed"),
        bad(
            "positive semidefinite, but its smallest eigenvalue is -1",
            V=np.ones((7, 7)) + np.diag([0.0] * 5 + [1, 1]) - 2 * np.fliplr(np.diag([1.0, 0, 0, 0, 0, 0, 1.0])),
            column_kernel="precomputed",
        ),
        bad("alpha must be a positive number, got 0", alpha=0),
        bad("ranking must be True or False, got 'yes'", ranking="yes"),
        bad("n_row_basis must be a positive integer or None, got 0", n_row_basis=0),
        bad("kernel must be a kernel, a function, or one of", row_kernel="unknown"),
    ],
)
def test_bad_input_is_named(rng, changes, message):
    U, V, Y = data(rng)
    given = {"U": U, "V": V, "Y": Y} | {name: changes[name] for name in ("U", "V", "Y") if name in changes}
    model = KroneckerRLS().set_params(**{name: changes[name] for name in changes if name not in given})
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(**given)
    assert not hasattr(model, "coef_")


def test_a_failed_fit_leaves_the_earlier_one(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS().fit(U, V, Y)
    expected = model.predict(U, V)
    with pytest.raises(ValueError, match="Y has shape"):
        model.fit(U[:3], V, Y)
    np.testing.assert_array_equal(model.predict(U, V), expected)
    model.leave_row_out()


def test_a_ranking_needs_two_columns(rng):
    U, V, Y = data(rng, m=1)
    with pytest.raises(NoComparablePairsError, match="No row of Y has two known entries"):
        KroneckerRLS(ranking=True).fit(U, V, Y)
    with pytest.raises(NoComparablePairsError, match="No row of Y has two known entries"):
        KroneckerRLS(ranking=True).fit(U[:2], np.eye(2), [[1.0, np.nan], [np.nan, 2.0]])


@pytest.mark.parametrize("setting", SETTINGS)
def test_hold_outs_need_all_entries(rng, setting):
    U, V, Y = data(rng)
    Y[2, 3] = np.nan
    splitter = {"entry": "LeaveEntriesOut", "row": "LeaveRowsOut", "column": "LeaveColumnsOut", "both": "LeaveBothOut"}
    message = f"leave_{setting}_out needs all entries of Y, but 1 of 42 are unknown.*{splitter[setting]}"
    with pytest.raises(ValueError, match=message):
        leave_out(KroneckerRLS().fit(U, V, Y), setting)
    with pytest.raises(ValueError, match=message):
        KroneckerRLSCV(leave=setting).fit(U, V, Y)
    with pytest.raises(ValueError, match="TwoStepRLS needs all entries of Y, but 1 of 42 are unknown"):
        TwoStepRLS().fit(U, V, Y)


def test_basis_elements_are_not_held_out(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS(column_kernel="gaussian", n_column_basis=4).fit(U, V, Y)
    for setting in ("column", "both"):
        with pytest.raises(ValueError, match="would hold out elements of V that all predictions are made of"):
            leave_out(model, setting)
    basis = [int(np.flatnonzero((row == V).all(axis=1))[0]) for row in model.column_basis_]
    G = model.column_kernel_(V)
    reduced = G[:, basis] @ np.linalg.solve(G[np.ix_(basis, basis)], G[basis])
    for setting in ("entry", "row"):
        np.testing.assert_allclose(
            leave_out(model, setting), hold_out(U @ U.T, reduced, Y, 1.0, setting), rtol=0, atol=1e-9
        )


def test_predictions_need_the_features_of_the_fit(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS(row_kernel="precomputed").fit(np.eye(6), V, Y)
    with pytest.raises(ValueError, match="U has 3 kernels per row, but KroneckerRLS was fitted with 6"):
        model.predict(U, V)
    with pytest.raises(ValueError, match="V has 3 features per row, but KroneckerRLS was fitted with 2"):
        model.predict(np.eye(6), U)
    with pytest.raises(ValueError, match=r"rows must be row numbers of U, which has 6 rows \(0 to 5\), got 6"):
        model.predict_entries(np.eye(6), V, [2, 6], [0, 0])
    with pytest.raises(ValueError, match="rows and columns must have one element per entry, got 1 and 2"):
        model.predict_entries(np.eye(6), V, [2], [0, 0])
    with pytest.raises(ValueError, match="columns must hold the row numbers of V"):
        model.predict_entries(np.eye(6), V, [2], [0.5])


def test_conjugate_gradients_that_stop_early_warn(rng):
    U, V, Y = data(rng)
    with pytest.warns(
        ConvergenceWarning,
        match=r"Not converged after 1 steps with alpha=0.0001: .* relative residual of 1e-06, and it is",
    ):
        model = KroneckerRLS(1e-4, max_iter=1).fit(U, V, with_holes(Y, rng))
    assert model.residual_ > 1e-6


def test_alphas_of_a_path_that_stop_early_warn(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS(1e6, max_iter=3).fit(U, V, with_holes(Y, rng))
    with pytest.warns(ConvergenceWarning, match="Not converged after 3 steps with alpha=1e-06"):
        model.path([1e-6])


def test_columns_of_data_frames_are_those_of_the_fit(rng, tmp_path):
    U, V, Y = data(rng)
    rows, columns = pd.DataFrame(U, columns=list("abc")), pl.DataFrame(V, schema=list("xy"))
    expected = KroneckerRLS().fit(U, V, Y).predict(U, V)
    save_model(KroneckerRLS().fit(rows, columns, Y), tmp_path / "model")
    for model in (KroneckerRLS().fit(rows, columns, Y), load_model(tmp_path / "model")):
        assert list(model.row_feature_names_in_) == list("abc")
        assert list(model.column_feature_names_in_) == list("xy")
        for given in (rows, U):  # names are compared where there are some
            np.testing.assert_array_equal(model.predict(given, columns), expected)
        with pytest.raises(ValueError, match="U has the columns c, b, a, but KroneckerRLS was fitted with a, b, c"):
            model.predict(rows[["c", "b", "a"]], columns)
        with pytest.raises(ValueError, match="V has the columns y, x"):
            model.predict_entries(rows, columns.select("y", "x"), [0], [0])
    model.fit(U, V, Y)
    assert not hasattr(model, "row_feature_names_in_")


def test_models_without_training_data_predict_only(rng):
    U, V, Y = data(rng)
    model = KroneckerRLS(row_kernel="gaussian").fit(U, V, Y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(U, V), model.predict(U, V))
    with pytest.raises(ValueError, match="has no training data: they are neither pickled nor saved"):
        loaded.leave_row_out()


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1e60, 1e140])
def test_features_of_any_scale(rng, scale):
    """Kernels of extreme scale, with an alpha to match, give the same predictions, or an error; never NaN."""
    U, V, Y = data(rng)
    expected = KroneckerRLS(1.0).fit(U, V, Y)
    model = KroneckerRLS(scale**2).fit(scale * U, V, Y)
    np.testing.assert_allclose(model.predict(scale * U, V), expected.predict(U, V), rtol=1e-9)
    for setting in SETTINGS:
        np.testing.assert_allclose(leave_out(model, setting), leave_out(expected, setting), rtol=1e-8)


def test_features_without_information(rng):
    """A kernel that is zero everywhere: predictions are the mean."""
    U, V, Y = np.zeros((6, 3)), rng.normal(size=(7, 2)), rng.normal(size=(6, 7))
    model = KroneckerRLS().fit(U, V, Y)
    np.testing.assert_allclose(model.predict(U, V), Y.mean(), rtol=1e-12)
    for setting in SETTINGS:
        np.testing.assert_allclose(
            leave_out(model, setting), hold_out(np.zeros((6, 6)), V @ V.T, Y, 1.0, setting), rtol=0, atol=1e-12
        )
