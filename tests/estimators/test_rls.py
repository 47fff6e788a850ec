"""Closed forms against definitions."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from least_squares import data, kernels, query_ids
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from kernelrank import RLS, RankRLS
from kernelrank._memory import available_memory
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.kernels import Gaussian, Polynomial
from kernelrank.losses import squares_of_utilities
from kernelrank.solvers import ConjugateGradients, make_products

EPS = np.finfo(float).eps


def laplacian(y, qid, weights, ties, query_weighting):
    """The average loss as a matrix, from all ordered pairs."""
    m, L, totals = len(y), {}, {}
    qid = np.zeros(m, int) if qid is None else qid
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        L[q], totals[q] = np.zeros((m, m)), 0.0
        for i in rows:
            for j in rows:
                if ties == "keep" or y[i] != y[j]:
                    w = weights[i] * weights[j] / 2
                    totals[q] += w
                    L[q][i, i] += w
                    L[q][j, j] += w
                    L[q][i, j] -= w
                    L[q][j, i] -= w
        if len(rows) < 2:
            totals[q] = 0.0
    known = [q for q in totals if totals[q] > 0]
    if query_weighting == "query":
        return sum(L[q] / totals[q] for q in known) / len(known)
    return sum(L[q] for q in known) / sum(totals[q] for q in known)


@pytest.mark.pairwise
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("with_queries", [False, True])
@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("n", [4, 80])
def test_definition(rng, n, with_weights, with_queries, ties, query_weighting):
    X, y = data(rng, n=n)
    y = np.round(y)
    qid = query_ids(rng) if with_queries else None
    w = rng.random(50) + 0.1 if with_weights else None
    L = laplacian(y, qid, np.ones(50) if w is None else w, ties, query_weighting)
    linear = RankRLS(0.01, ties=ties, query_weighting=query_weighting).fit(X, y, qid=qid, sample_weight=w)
    expected = np.linalg.solve(X.T @ L @ X + 0.01 * np.eye(n), X.T @ L @ y)
    np.testing.assert_allclose(linear.coef_, expected, rtol=1e-9, atol=1e-11)
    kernel = RankRLS(0.01, kernel=Gaussian(0.2), ties=ties, query_weighting=query_weighting)
    kernel.fit(X, y, qid=qid, sample_weight=w)
    K = Gaussian(0.2)(X)
    dual = np.linalg.solve(L @ K + 0.01 * np.eye(50), L @ y)
    np.testing.assert_allclose(K @ kernel.dual_coef_, K @ dual, rtol=1e-9, atol=1e-11)
    level = 0.0 if with_queries else np.average(y - K @ dual, weights=w)
    np.testing.assert_allclose(kernel.predict(X), K @ dual + level, rtol=1e-9, atol=1e-10)
    assert kernel.intercept_ == pytest.approx(level, abs=1e-10)


@pytest.mark.pairwise
@pytest.mark.parametrize("cost", ["unit", "relative"])
@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("with_queries", [False, True])
@pytest.mark.parametrize("with_weights", [False, True])
def test_other_costs_are_those_of_all_pairs(rng, cost, ties, query_weighting, with_queries, with_weights):
    X, y = data(rng)
    y, w = np.round(2 * y) / 2, rng.random(50) + 0.1 if with_weights else np.ones(50)
    qid = query_ids(rng) if with_queries else np.zeros(50, int)
    L, b, totals = np.zeros((50, 50)), np.zeros(50), {}
    pairs = [(i, j) for i in range(50) for j in range(50) if qid[i] == qid[j] and (ties == "keep" or y[i] != y[j])]
    if cost == "relative":
        pairs = [(i, j) for i, j in pairs if y[i] != y[j]]
    for i, j in pairs:
        totals[qid[i]] = totals.get(qid[i], 0.0) + w[i] * w[j] / 2
    totals.pop(99, None)  # a row with itself
    for i, j in pairs:
        if qid[i] in totals:
            c = w[i] * w[j] / 2 / (totals[qid[i]] * len(totals) if query_weighting == "query" else sum(totals.values()))
            target = np.sign(y[i] - y[j]) if cost == "unit" else y[i] - y[j]
            c = c if cost == "unit" else c / (y[i] - y[j]) ** 2
            e = np.eye(50)[i] - np.eye(50)[j]
            L += c * np.outer(e, e)
            b += c * target * e
    expected = np.linalg.solve(X.T @ L @ X + 0.01 * np.eye(4), X.T @ b)
    for solver in ("direct", "cg"):
        model = RankRLS(0.01, cost=cost, ties=ties, query_weighting=query_weighting, solver=solver, tol=1e-12)
        model.fit(X, y, qid=qid if with_queries else None, sample_weight=w if with_weights else None)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-10)
        assert model.intercept_ == 0.0


def test_relative_costs_of_too_many_pairs(rng, monkeypatch):
    X, y = data(rng, m=300)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 2**21)
    with pytest.raises(MemoryError, match=r"forms all pairs.*n_samples = 300.*fit_pairs"):
        RankRLS(cost="relative").fit(X, y)
    RankRLS(cost="unit").fit(X, y)
    RankRLS(cost="relative", solver="cg").fit(X, y, qid=np.arange(300) // 10)


def test_relative_costs_of_tiny_differences(rng):
    X, y = data(rng)
    y[3] = 0.0
    y[4] = 1e-200
    with pytest.raises(ValueError, match="too small"):
        RankRLS(cost="relative").fit(X, y)


@pytest.mark.parametrize("options", [{"ties": "drop"}, {"cost": "relative"}])
def test_some_losses_take_one_output(rng, options):
    X, Y = data(rng, outputs=2)
    with pytest.raises(ValueError, match="one by one"):
        RankRLS(**options).fit(X, Y)


@pytest.mark.parametrize("kernel", ["linear", "gaussian", Polynomial(2)])
@pytest.mark.parametrize("kind", [RLS, RankRLS])
@pytest.mark.parametrize("outputs", [None, 2])
def test_a_reduced_set(rng, kernel, kind, outputs):
    X, y = data(rng, n=8, outputs=outputs)
    model = kind(0.1, kernel=kernel, n_basis=6).fit(X, y)
    basis = model.basis_indices_
    assert len(np.unique(basis)) == 6
    np.testing.assert_array_equal(model.basis_, X[basis])
    K, y = model.kernel_(X), np.reshape(y, (50, -1))
    centring = (np.eye(50) - 1 / 50) * (1 if kind is RLS else 2) / 50
    a = np.linalg.solve(K[basis] @ centring @ K[:, basis] + 0.1 * K[np.ix_(basis, basis)], K[basis] @ centring @ y)
    fitted = K[:, basis] @ a
    np.testing.assert_allclose(
        model.predict(X).reshape(50, -1), fitted + (y - fitted).mean(axis=0), rtol=1e-7, atol=1e-9
    )
    [other] = model.path([2.0])
    again = kind(2.0, kernel=kernel, n_basis=6).fit(X, y if outputs else y[:, 0])
    expected = (again.coef_.T if outputs else again.coef_) if kernel == "linear" else again.dual_coef_
    np.testing.assert_allclose(other, expected, rtol=1e-7, atol=1e-10)


def test_a_basis_of_all_rows_loses_nothing(rng):
    X, y = data(rng)
    X[3] = X[4]  # the matrix of the basis has no inverse
    reduced, whole = (RankRLS(0.1, kernel=Gaussian(0.3), n_basis=n).fit(X, y) for n in (60, None))
    np.testing.assert_allclose(reduced.predict(X), whole.predict(X), rtol=1e-6)
    sparse = RankRLS(0.1, kernel=Gaussian(0.3), n_basis=9).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        sparse.predict(sp.csr_array(X)), RankRLS(0.1, kernel=Gaussian(0.3), n_basis=9).fit(X, y).predict(X), rtol=1e-7
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_basis": 0}, "n_basis"),
        ({"n_basis": 5, "solver": "cg"}, "without n_basis"),
    ],
)
def test_bases_that_cannot_be(rng, options, message):
    X, y = data(rng, n=50)
    with pytest.raises(ValueError, match=message):
        RankRLS(**options).fit(X, y)


@pytest.mark.parametrize("n", [4, 80])
@pytest.mark.parametrize("outputs", [None, 3])
def test_rls_is_ridge_regression(rng, n, outputs):
    X, y = data(rng, n=n, outputs=outputs, offset=5.0)
    weights = rng.random(50) + 0.1
    for w, total in ((None, 50), (weights, weights.sum())):
        model, ridge = RLS(0.02).fit(X, y, sample_weight=w), Ridge(0.02 * total).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-8)
        np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-8)


def test_rls_with_a_kernel_and_no_mean_is_kernel_ridge(rng):
    X, y = data(rng)
    centred = np.eye(50) - 1 / 50
    K = centred @ Gaussian(0.3)(X) @ centred
    reference = KernelRidge(alpha=50 * 0.02, kernel="precomputed").fit(K, y - y.mean())
    np.testing.assert_allclose(RLS(0.02, kernel=Gaussian(0.3)).fit(X, y).predict(X), reference.predict(K) + y.mean())


def test_one_ranking_is_centred_ridge_regression(rng):
    X, y = data(rng, offset=3.0)
    np.testing.assert_allclose(RankRLS(0.02).fit(X, y).coef_, Ridge(0.02 * 50 / 2).fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize(
    "model", [RLS(0.1), RankRLS(0.1), RankRLS(0.1, ties="drop"), RankRLS(0.1, kernel=Gaussian(0.5))]
)
def test_weights_are_repetitions(rng, model):
    X, y = data(rng, m=20)
    y, k = np.round(y), rng.integers(0, 4, size=20)
    weighted = clone(model).fit(X, y, sample_weight=k).predict(X)
    np.testing.assert_allclose(
        weighted, clone(model).fit(np.repeat(X, k, axis=0), np.repeat(y, k)).predict(X), rtol=1e-8
    )


@kernels
@pytest.mark.parametrize("outputs", [None, 2])
def test_a_path_is_its_fits(rng, kernel, n, outputs):
    X, y = data(rng, n=n, outputs=outputs)
    model = RankRLS(kernel=kernel).fit(X, y)
    for alpha, found in zip([1e-3, 1.0, 100.0], model.path([1e-3, 1.0, 100.0]), strict=True):
        single = clone(model).set_params(alpha=alpha, kernel=model.kernel_).fit(X, y)
        if kernel == "linear":
            np.testing.assert_allclose(found.T if outputs else found, single.coef_, rtol=1e-8, atol=1e-12)
        else:
            K = model.kernel_(X)
            np.testing.assert_allclose(K @ found, K @ single.dual_coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_offsets_of_features_and_utilities_change_nothing(rng, kind):
    X, y = data(rng, n=5)
    reference = kind(1e-6).fit(X, y)
    shifted = kind(1e-6).fit(X + 1e4, y + 1e4)
    np.testing.assert_allclose(shifted.coef_, reference.coef_, rtol=1e-8)
    np.testing.assert_allclose(shifted.predict(X + 1e4) - 1e4, reference.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)])
def test_sparse_rows_and_precomputed_kernels(rng, kernel):
    X, y = data(rng)
    X[rng.random(X.shape) < 0.5] = 0.0
    dense = RankRLS(0.1, kernel=kernel).fit(X, y)
    for other in (sp.csr_array(X), sp.csc_matrix(X)):
        np.testing.assert_allclose(
            RankRLS(0.1, kernel=kernel).fit(other, y).predict(other), dense.predict(X), rtol=1e-9
        )
    K = dense.kernel_(X)
    given = RankRLS(0.1, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.predict(K[:5]), dense.predict(X[:5]), rtol=1e-8)


def test_precomputed_kernels_in_cross_validation(rng):
    X, y = data(rng)
    K = Gaussian(0.1)(X)
    scores = cross_val_score(RankRLS(0.1, kernel="precomputed"), K, y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(RankRLS(0.1, kernel=Gaussian(0.1)), X, y, cv=3))
    with pytest.raises(ValueError, match=r"square.*\(30, 50\)"):
        RankRLS(kernel="precomputed").fit(K[:30], y[:30])


def test_outputs_are_learnt_side_by_side(rng):
    X, Y = data(rng, outputs=3)
    together = RankRLS(0.1, kernel=Gaussian(0.2)).fit(X, Y)
    for k in range(3):
        alone = RankRLS(0.1, kernel=Gaussian(0.2)).fit(X, Y[:, k])
        np.testing.assert_allclose(together.predict(X)[:, k], alone.predict(X), rtol=1e-10)
    ranks = [RankRLS(0.1, kernel=Gaussian(0.2)).fit(X, y).rank(X) for y in Y.T]
    np.testing.assert_array_equal(together.rank(X), np.stack(ranks, axis=1))
    assert together.score(X, Y) == pytest.approx(
        np.mean([RankRLS(0.1, kernel=Gaussian(0.2)).fit(X, y).score(X, y) for y in Y.T])
    )


def test_training_data_are_not_pickled(rng):
    X, y = data(rng, m=2000)
    model = RankRLS().fit(X, y)
    model.path([1.0])
    copy = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(model)) < 5_000
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="neither pickled"):
        copy.leave_pair_out([[0, 1]])


def test_predictions_in_blocks(rng, monkeypatch):
    X, y = data(rng)
    model = RankRLS(kernel=Gaussian(0.3)).fit(X, y)
    whole = model.predict(X)
    monkeypatch.setattr("kernelrank.estimators._ranker._PREDICTED_AT_ONCE", 170)
    np.testing.assert_allclose(model.predict(X), whole, rtol=1e-12, atol=1e-12)


def test_memory_is_asked_for_before_it_is_taken(rng, monkeypatch):
    X, y = data(rng, m=300, n=200)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 2**20)
    for kernel, shape in ((Gaussian(0.1), r"\(300, 300\)"), ("linear", r"\(300, 200\)")):
        with pytest.raises(
            MemoryError, match=rf"{shape}.* GiB .* GiB are available\. Train on fewer rows, or with n_basis"
        ):
            RankRLS(kernel=kernel).fit(X, y)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: None)
    RankRLS().fit(X, y)


def test_the_memory_that_is_available_is_known():
    assert 2**24 < available_memory() < 2**50


def test_nothing_to_learn_from(rng):
    X, _ = data(rng, m=6)
    with pytest.raises(NoComparablePairsError):
        RankRLS(ties="drop").fit(X, np.ones(6))
    with pytest.raises(NoComparablePairsError):
        RankRLS().fit(X, np.arange(6), qid=np.arange(6))


def sparse_data(rng, m=200, n=60):
    X = sp.random_array((m, n), density=0.1, rng=rng, format="csr", data_sampler=rng.normal)
    X.data *= np.exp(rng.normal(size=n))[X.indices]  # of different scales
    return X, np.round(X @ rng.normal(size=n) + rng.normal(size=m))


@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("with_queries", [False, True])
@pytest.mark.parametrize("with_weights", [False, True])
def test_conjugate_gradients_find_the_same(rng, ties, with_queries, with_weights):
    X, y = sparse_data(rng)
    metadata = {"qid": query_ids(rng, 200) if with_queries else None}
    metadata["sample_weight"] = rng.random(200) if with_weights else None
    direct = RankRLS(1e-3, ties=ties, solver="direct").fit(X, y, **metadata)
    for rows in (X, X.tocsc(), X.toarray()):
        found = RankRLS(1e-3, ties=ties, solver="cg", tol=1e-12).fit(rows, y, **metadata)
        np.testing.assert_allclose(found.coef_, direct.coef_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.predict(rows), direct.predict(X), rtol=1e-7, atol=1e-8)
        assert 0 < found.n_iter_ < 200


@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_conjugate_gradients_with_outputs_and_offsets(rng, kind):
    X, _ = sparse_data(rng)
    X = X.toarray() + 1e6
    Y = X[:, :3] + rng.normal(size=(200, 3))
    direct, found = (kind(1e-2, solver=s, tol=1e-12).fit(X, Y) for s in ("direct", "cg"))
    np.testing.assert_allclose(found.coef_, direct.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.predict(X), direct.predict(X), rtol=1e-9)


def test_the_preconditioner_saves_steps(rng):
    X, y = sparse_data(rng, m=500)
    loss = squares_of_utilities(y[:, None], np.zeros(500, np.int32), np.ones(500), "keep", "magnitude", "query")
    steps = [
        ConjugateGradients(make_products(X), loss, preconditioned=p).solve(1e-3, tol=1e-8, max_iter=1000).n_iter
        for p in (True, False)
    ]
    assert steps[0] < 0.8 * steps[1]


def test_conjugate_gradients_are_taken_for_large_sparse_data(rng, monkeypatch):
    X, y = sparse_data(rng)
    assert RankRLS().fit(X, y).n_iter_ == 1
    monkeypatch.setattr("kernelrank.estimators._least_squares_model._DENSE_ELEMENTS", 1000)
    model = RankRLS().fit(X, y)
    assert model.n_iter_ > 1
    assert RankRLS().fit(X.toarray(), y).n_iter_ == 1
    for call in (lambda: model.path([1.0]), lambda: model.leave_pair_out([[0, 1]]), lambda: model.hold_out([[0]])):
        with pytest.raises(ValueError, match='solver="direct"'):
            call()


def test_conjugate_gradients_that_end_early_say_so(rng):
    X, y = sparse_data(rng)
    with pytest.warns(ConvergenceWarning, match="Not converged after 2 steps: .* residual of 1e-06, and it is"):
        model = RankRLS(1e-4, solver="cg", max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    with pytest.raises(ValueError, match="linear kernel"):
        RankRLS(solver="cg", kernel="gaussian").fit(X, y)
    with pytest.raises(ValueError, match="solver must be"):
        RankRLS(solver="lsmr").fit(X, y)


def test_queries_weighted_as_in_rlscore(rng):
    """Its QueryRankRLS centres each query: a pair of a query of n rows weighs 1 / n."""
    sizes = np.array([3, 10, 25, 7])
    qid, m = np.repeat(np.arange(4), sizes), sizes.sum()
    X, y = rng.normal(size=(m, 5)), rng.normal(size=m)
    centring = np.eye(m) - (qid[:, None] == qid) / sizes[qid]
    expected = np.linalg.solve(X.T @ centring @ X + 0.7 * np.eye(5), X.T @ centring @ y)
    model = RankRLS(2 * 0.7 / m, query_weighting="pair").fit(X, y, qid=qid, sample_weight=sizes[qid] ** -0.5)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-12)
