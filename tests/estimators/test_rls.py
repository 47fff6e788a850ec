"""Closed forms against definitions, and shortcuts against refits."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from kernelrank import RLS, RankRLS
from kernelrank._memory import available_memory
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.kernels import Gaussian, Linear, Polynomial
from kernelrank.pairs import all_pairs
from kernelrank.solvers import ConjugateGradients, make_products

EPS = np.finfo(float).eps


def data(rng, m=50, n=4, outputs=None, offset=0.0):
    X = rng.normal(size=(m, n))
    Y = X[:, :2].sum(axis=1)[:, None] + rng.normal(size=(m, outputs or 1))
    return X + offset, Y if outputs else Y[:, 0]


def query_ids(rng, m=50, n_queries=7):
    """Of very different sizes; one has a single row."""
    return np.concatenate([[99], rng.permutation(np.sort(rng.integers(n_queries, size=m - 1) ** 2 % n_queries))])


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


KERNELS = {
    "few features": ("linear", 5),
    "many features": ("linear", 100),
    "gaussian": (Gaussian(0.05), 5),
    "deficient": (Polynomial(2, gamma=1e-4), 3),
    "sum": (Linear() + 0.1 * Gaussian(0.1), 5),
}
kernels = pytest.mark.parametrize(("kernel", "n"), KERNELS.values(), ids=KERNELS)
ALPHAS = [1e-12, 1e-6, 1e-2, 1.0, 1e4, 1e12]


def assert_like_refit(found, expected, model, alpha):
    """Equal to 1e-9, or to 100 times what rounding does to a system of that condition."""
    solver = model._training.solver
    values = solver.spectrum.values
    smallest = 0.0 if solver.spectrum.complete else values.min()
    largest = values.max()
    if solver._matrix is not None:  # a constant in the kernel costs digits, too
        largest = max(largest, solver._root.max() ** 2 * np.linalg.norm(solver._matrix, 2))
    condition = (largest + alpha) / (smallest + alpha)
    tolerance = max(1e-9, 100 * EPS * condition)
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def refit(model, X, y, rows, alpha, qid=None):
    """Predictions for some rows by a model of the others, the kernel's parameters being those of all."""
    other = clone(model).set_params(alpha=alpha, kernel=model.kernel_)
    rest = np.setdiff1d(np.arange(len(y)), rows)
    metadata = {} if qid is None else {"qid": qid[rest]}
    return other.fit(X[rest], y[rest], **metadata).predict(X[rows])


@kernels
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", [RLS, RankRLS])
@pytest.mark.parametrize("outputs", [None, 2])
def test_hold_out_is_a_refit(rng, kind, kernel, n, alpha, outputs):
    X, y = data(rng, m=80, n=n, outputs=outputs, offset=1e4 if kernel == "linear" else 0.0)
    model = kind(1.0, kernel=kernel).fit(X, y)
    folds = [[3], [5, 9], np.arange(20, 40), np.arange(80) % 3 == 1]
    for fold, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
        rows = np.arange(80)[np.asarray(fold)]
        assert_like_refit(found, refit(model, X, y, rows, alpha), model, alpha)


@kernels
@pytest.mark.parametrize("alpha", ALPHAS)
def test_leave_pair_out_is_a_refit(rng, kernel, n, alpha):
    X, y = data(rng, m=60, n=n)
    model = RankRLS(alpha, kernel=kernel).fit(X, y)
    pairs = [(0, 1), (1, 0), (17, 42), (59, 3)]
    every = model.leave_pair_out()
    assert np.isnan(np.diagonal(every)).all()
    for (i, j), found in zip(pairs, model.leave_pair_out(pairs), strict=True):
        assert_like_refit(found, refit(model, X, y, [i, j], alpha), model, alpha)
        assert_like_refit(np.array([every[i, j], every[j, i]]), found, model, alpha)


def test_leave_pair_out_of_all_pairs_agrees_with_refits(rng):
    X, y = data(rng, m=25, outputs=2)
    model = RankRLS(0.1, kernel="gaussian").fit(X, y)
    every, right = model.leave_pair_out(), np.zeros(2)
    for i in range(25):
        for j in range(i):
            found = refit(model, X, y, [i, j], 0.1)
            np.testing.assert_allclose([every[i, j], every[j, i]], found, rtol=1e-9, atol=1e-10)
            right += (y[i] - y[j]) * (found[0] - found[1]) > 0
    np.testing.assert_allclose(model.leave_pair_out_concordance(), right / (25 * 24 / 2), rtol=1e-12)


def test_leave_pair_out_in_blocks(rng, monkeypatch):
    X, y = data(rng, m=40)
    y = np.round(y)  # pairs of equal utilities do not count
    model = RankRLS(0.1).fit(X, y)
    every, share = model.leave_pair_out(), model.leave_pair_out_concordance()
    monkeypatch.setattr("kernelrank.solvers._hold_out._BLOCK_ROWS", 7)
    monkeypatch.setattr("kernelrank.solvers._hold_out._BLOCK_ELEMENTS", 200)
    np.testing.assert_allclose(model.leave_pair_out(), every, rtol=1e-12)
    assert model.leave_pair_out_concordance() == pytest.approx(share)
    i, j = np.nonzero(y[:, None] > y)
    assert share == pytest.approx(np.mean(every[i, j] > every[j, i]))


@kernels
@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 1.0, 1e8])
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_leave_query_out_is_a_refit(rng, kernel, n, alpha, query_weighting, ties):
    X, y = data(rng, m=60, n=n)
    y, qid = np.round(y), query_ids(rng, 60)
    model = RankRLS(1.0, kernel=kernel, query_weighting=query_weighting, ties=ties).fit(X, y, qid=qid)
    found = model.leave_query_out(alpha=alpha)
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        assert_like_refit(found[rows], refit(model, X, y, rows, alpha, qid), model, alpha)
    both = np.flatnonzero(np.isin(qid, [0, 1]))
    [together] = model.hold_out([both], alpha=alpha)
    assert_like_refit(together, refit(model, X, y, both, alpha, qid), model, alpha)


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
    with pytest.raises(ValueError, match="not pickled"):
        copy.leave_pair_out([[0, 1]])


def test_predictions_in_blocks(rng, monkeypatch):
    X, y = data(rng)
    model = RankRLS(kernel=Gaussian(0.3)).fit(X, y)
    whole = model.predict(X)
    monkeypatch.setattr("kernelrank.estimators._least_squares._PREDICTED_AT_ONCE", 170)
    np.testing.assert_allclose(model.predict(X), whole, rtol=1e-12, atol=1e-12)


def test_memory_is_asked_for_before_it_is_taken(rng, monkeypatch):
    X, y = data(rng, m=300, n=200)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 2**20)
    for kernel, shape in ((Gaussian(0.1), r"\(300, 300\)"), ("linear", r"\(300, 200\)")):
        with pytest.raises(MemoryError, match=rf"{shape}.* GiB .* GiB are available\. Train on fewer rows"):
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.leave_pair_out([[0, 0]]), "two different rows"),
        (lambda m: m.leave_pair_out([[0, 50]]), "between 0 and 49"),
        (lambda m: m.leave_pair_out([0, 1]), "two columns"),
        (lambda m: m.leave_pair_out([[0.5, 1]]), "two columns"),
        (lambda m: m.leave_query_out(), "needs queries"),
        (lambda m: m.hold_out([[1, 1]]), "twice"),
        (lambda m: m.hold_out([np.arange(49)]), "leave two rows"),
        (lambda m: m.path([0.0]), "positive"),
        (lambda m: m.hold_out([[1]], alpha=-1), "alpha"),
    ],
)
def test_bad_calls(rng, call, message):
    model = RankRLS().fit(*data(rng))
    with pytest.raises(ValueError, match=message):
        call(model)


def test_what_has_no_closed_form_says_so(rng):
    X, y = data(rng)
    with pytest.raises(ValueError, match="sample_weight"):
        RankRLS().fit(X, y, sample_weight=np.ones(50)).leave_pair_out([[0, 1]])
    dropped = RankRLS(ties="drop").fit(X, y)
    for call in (dropped.leave_pair_out, lambda: dropped.hold_out([[1]])):
        with pytest.raises(ValueError, match="ties"):
            call()
    with pytest.raises(ValueError, match="one by one"):
        RankRLS(ties="drop").fit(X, np.stack([y, y], axis=1))
    queries = RankRLS().fit(X, y, qid=np.arange(50) // 10)
    with pytest.raises(ValueError, match="whole queries"):
        queries.hold_out([[0, 1]])
    with pytest.raises(ValueError, match="leave_query_out"):
        queries.leave_pair_out()
    with pytest.raises(ValueError, match="leave a query"):
        queries.hold_out([np.arange(50)])


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
    laplacian = all_pairs(np.zeros(500, np.int32), np.ones(500))
    root = np.sqrt(laplacian.strengths * 2 / 500**2)
    steps = [
        ConjugateGradients(make_products(X), laplacian, root, laplacian.multiply(y[:, None]), preconditioned=p)
        .solve(1e-3, tol=1e-8, max_iter=1000)
        .n_iter
        for p in (True, False)
    ]
    assert steps[0] < 0.8 * steps[1]


def test_conjugate_gradients_are_taken_for_large_sparse_data(rng, monkeypatch):
    X, y = sparse_data(rng)
    assert RankRLS().fit(X, y).n_iter_ == 1
    monkeypatch.setattr("kernelrank.estimators._least_squares._DENSE_ELEMENTS", 1000)
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


def preferences(rng, m=40, n_pairs=120, qid=None):
    """Random pairs with repetitions and contradictions, inside queries; some rows are in none."""
    pairs = rng.integers(m - 3, size=(20 * n_pairs, 2))
    keep = (pairs[:, 0] != pairs[:, 1]) & (True if qid is None else qid[pairs[:, 0]] == qid[pairs[:, 1]])
    return pairs[keep][:n_pairs]


def graph_equations(pairs, magnitude, weight, qid, m, cost, query_weighting):
    """L and b of the average loss, pair by pair."""
    L, b = np.zeros((m, m)), np.zeros(m)
    of_pair = np.zeros(len(pairs), int) if qid is None else qid[pairs[:, 0]]
    totals = {q: weight[of_pair == q].sum() for q in np.unique(of_pair)}
    for (i, j), d, w, q in zip(pairs, magnitude, weight, of_pair, strict=True):
        c = w / (totals[q] * len(totals) if query_weighting == "query" else sum(totals.values()))
        z, c = {"magnitude": (d, c), "unit": (1.0, c), "relative": (d, c / d**2)}[cost]
        e = np.zeros(m)
        e[i], e[j] = 1.0, -1.0
        L += c * np.outer(e, e)
        b += c * z * e
    return L, b


@pytest.mark.parametrize("cost", ["magnitude", "unit", "relative"])
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("with_queries", [False, True])
@pytest.mark.parametrize("n", [4, 70])
def test_given_pairs(rng, n, with_queries, query_weighting, cost):
    X, _ = data(rng, m=40, n=n, offset=10.0)
    qid = rng.integers(4, size=40) if with_queries else None
    pairs = preferences(rng, qid=qid)
    magnitude, weight = rng.random(len(pairs)) + 0.1, rng.random(len(pairs)) + 0.1
    L, b = graph_equations(pairs, magnitude, weight, qid, 40, cost, query_weighting)
    expected = np.linalg.solve(X.T @ L @ X + 0.01 * np.eye(n), X.T @ b)
    for solver in ("direct", "cg"):
        model = RankRLS(0.01, cost=cost, query_weighting=query_weighting, solver=solver, tol=1e-13)
        model.fit_pairs(X, pairs, magnitude=magnitude, weight=weight, qid=qid)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-6, atol=1e-9)
        assert model.intercept_ == 0.0
    kernel = RankRLS(0.01, cost=cost, query_weighting=query_weighting, kernel=Gaussian(0.1))
    kernel.fit_pairs(X, pairs, magnitude=magnitude, weight=weight, qid=qid)
    K = Gaussian(0.1)(X)
    dual = np.linalg.solve(L @ K + 0.01 * np.eye(40), b)
    np.testing.assert_allclose(kernel.predict(X), K @ dual, rtol=1e-8, atol=1e-10)


def test_all_pairs_of_utilities_are_utilities(rng):
    X, y = data(rng, m=30)
    y = np.round(y)
    winners, losers = np.nonzero(y[:, None] > y)
    given = RankRLS(0.1, query_weighting="pair").fit_pairs(
        X, np.stack([winners, losers], axis=1), magnitude=y[winners] - y[losers]
    )
    np.testing.assert_allclose(given.coef_, RankRLS(0.1, ties="drop").fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)])
def test_a_path_of_given_pairs(rng, kernel):
    X, _ = data(rng, m=40)
    qid = np.arange(40) % 5
    pairs = preferences(rng, qid=qid)
    model = RankRLS(0.1, kernel=kernel).fit_pairs(X, pairs, qid=qid)
    for alpha, found in zip([0.01, 1.0], model.path([0.01, 1.0]), strict=True):
        single = RankRLS(alpha, kernel=kernel).fit_pairs(X, pairs, qid=qid)
        rows = X if kernel == "linear" else model.kernel_(X)
        np.testing.assert_allclose(rows @ found, single.predict(X), rtol=1e-8, atol=1e-10)


def test_given_pairs_that_are_wrong(rng):
    X, y = data(rng, m=10)
    pairs = [[0, 1], [2, 3]]
    for options, message in (
        ({"magnitude": [1.0, 0.0]}, "magnitude must be positive"),
        ({"magnitude": [1.0]}, "magnitude"),
        ({"weight": [1.0, -1.0]}, "weight"),
        ({"qid": np.arange(10)}, "different queries"),
    ):
        with pytest.raises(ValueError, match=message):
            RankRLS().fit_pairs(X, pairs, **options)
    with pytest.raises(ValueError, match="itself"):
        RankRLS().fit_pairs(X, [[1, 1]])
    with pytest.raises(ValueError, match="fit_pairs"):
        RankRLS(cost="unit").fit(X, y)
    for model in (RankRLS().fit_pairs(X, pairs), RankRLS().fit_pairs(X, pairs, qid=np.arange(10) // 5)):
        for call in (model.leave_pair_out, model.leave_query_out, lambda: model.hold_out([[1]])):  # noqa: B023
            with pytest.raises(ValueError, match="given pairs"):
                call()
