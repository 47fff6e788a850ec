"""Hold-outs of reduced sets: basis rows that are held out are gone."""

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from least_squares import data, query_ids
from sklearn.base import clone

from kernelrank import RLS, RLSCV, NystromMap, OrdinalSVM, RankRLS, RankRLSCV, RankSVM
from kernelrank.kernels import Gaussian, Polynomial
from kernelrank.metrics import concordance_index

KERNELS = {
    "linear": "linear",
    "gaussian": Gaussian(0.3),
    "next to linear": Gaussian(1e-4),
    "deficient": Polynomial(2, gamma=0.1),
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
ALPHAS = [1e-6, 0.1]


def refit(model, X, y, rows, alpha, qid=None, shuffle=None):
    """Predict some rows by a model of the other rows, and of the basis rows among these."""
    rest = np.setdiff1d(np.arange(len(y)), rows)
    kept = rest if model.n_basis >= len(y) else np.setdiff1d(model.basis_indices_, rows)
    kept = kept if shuffle is None else shuffle.permutation(kept)
    if len(kept) == 0:
        features = np.zeros((len(y), 1))
    elif model.kernel == "linear":
        features = X @ scipy.linalg.orth(X[kept].T)
    else:
        features = NystromMap(model.kernel_, selection=kept).fit(X).transform(X)
    other = RLS(alpha) if isinstance(model, RLS | RLSCV) else RankRLS(alpha, ties=model.ties)
    ids = {} if qid is None else {"qid": qid[rest]}
    return other.fit(features[rest], y[rest], **ids).predict(features[rows])


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("n_basis", [3, 20, 45, 50])
@pytest.mark.parametrize(("kind", "outputs"), [(RLS, None), (RankRLS, 2)])
def test_folds_of_one_ranking(rng, kernel, n_basis, kind, outputs):
    X, y = data(rng, n=8, outputs=outputs)
    X[7] = X[11]
    model = kind(kernel=kernel, n_basis=n_basis).fit(X, y)
    basis = model.basis_indices_
    folds = [
        basis[:1],
        basis[:2],
        [7, 11],
        rng.permutation(50)[:9],
        np.setdiff1d(np.arange(38), basis[1:3]),
        basis[:30],
    ]
    for alpha in ALPHAS:
        for rows, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
            close(found, refit(model, X, y, rows, alpha))


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("n_basis", [3, 20, 45, 50])
def test_folds_with_queries(rng, kernel, n_basis):
    X, y = data(rng, n=8)
    X[7] = X[11]
    qid = query_ids(rng)
    model = RankRLS(kernel=kernel, n_basis=n_basis).fit(X, y, qid=qid)
    folds = [np.flatnonzero(qid == k) for k in np.unique(qid)]
    folds += [np.flatnonzero(qid == 1)[:2], np.flatnonzero(qid < 3), model.basis_indices_[:2], [7, 11]]
    folds += [np.flatnonzero(qid <= 2)[:-2]]
    for alpha in ALPHAS:
        for rows, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
            close(found, refit(model, X, y, rows, alpha, qid))
        every = model.leave_query_out(alpha=alpha)
        for k in np.unique(qid):
            close(every[qid == k], refit(model, X, y, np.flatnonzero(qid == k), alpha, qid))


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian(1.0)], ids=repr)
def test_more_basis_rows_than_differences_inside_queries(rng, kernel):
    """Ten queries of 40 rows have 30 such differences: features of 36 basis rows are not determined by them."""
    X, y = data(rng, m=40, n=3)
    qid = np.arange(40) // 4
    model = RankRLS(kernel=kernel, n_basis=36).fit(X, y, qid=qid)
    folds = [model.basis_indices_[:1], model.basis_indices_[:5], np.arange(4), np.arange(12), [0, 5, 13]]
    for alpha in ALPHAS:
        for rows, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
            close(found, refit(model, X, y, rows, alpha, qid))


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize(("n_basis", "outputs"), [(2, None), (6, 2), (10, None)])
def test_pairs(rng, kernel, n_basis, outputs):
    X, y = data(rng, m=11, n=8, outputs=outputs)
    model = RankRLS(kernel=kernel, n_basis=n_basis).fit(X, y)
    a, b = model.basis_indices_[:2]
    X[a] = X[b]  # neither loses anything alone, but both together do
    model = model.fit(X, y)
    pairs = np.array(list(combinations(range(11), 2)))
    for alpha in ALPHAS:
        expected = np.array([refit(model, X, y, pair, alpha) for pair in pairs])
        close(model.leave_pair_out(pairs, alpha=alpha), expected)
        F = model.leave_pair_out(alpha=alpha)
        close(F[pairs[:, 0], pairs[:, 1]], expected[:, 0])
        close(F[pairs[:, 1], pairs[:, 0]], expected[:, 1])
        assert np.isnan(np.diagonal(F)).all()


def test_pairs_of_next_to_equal_basis_rows(rng):
    X, y = data(rng, m=15)
    model = RankRLS(kernel=Gaussian(0.3), n_basis=6).fit(X, y)
    a, b = model.basis_indices_[:2]
    X[a] = X[b] + 1e-5  # what they lose is next to parallel
    model = model.fit(X, y)
    found = model.leave_pair_out([[a, b], [b, a]], alpha=0.1)
    expected = refit(model, X, y, [a, b], 0.1)
    np.testing.assert_allclose(found, [expected, expected[::-1]], rtol=1e-9)


@pytest.mark.parametrize("n_basis", [1, 6, 30])
def test_concordance(rng, n_basis):
    X, Y = data(rng, m=30, outputs=2)
    Y[:, 1] = Y[:, 1] > 0
    model = RankRLS(kernel=Gaussian(0.3), n_basis=n_basis).fit(X, Y)
    F = np.moveaxis(model.leave_pair_out(alpha=0.1), 2, 0)
    for f, y, found in zip(F, Y.T, model.leave_pair_out_concordance(alpha=0.1), strict=True):
        i, j = np.nonzero(y[:, None] > y)
        gain = f[i, j] - f[j, i]
        assert found == pytest.approx(0.5 * np.mean(gain > 1e-12) + 0.5 * np.mean(gain >= -1e-12))
    # Against the basis of all rows, so that the pairs above tell something.
    kept = RankRLS().fit(NystromMap(Gaussian(0.3), selection=model.basis_indices_).fit_transform(X), Y)
    assert (
        n_basis == 30
        or np.abs(F - np.moveaxis(kept.leave_pair_out(alpha=0.1), 2, 0))[:, ~np.eye(30, dtype=bool)].max() > 1e-3
    )


def test_an_alpha_is_chosen_without_held_out_basis_rows(rng):
    X, y = data(rng, m=30)
    options = {"alphas": [1e-4, 0.1], "kernel": Gaussian(0.3), "n_basis": 12}
    chosen = RLSCV(**options).fit(X, y)
    for alpha, [score] in zip(chosen.alphas_, chosen.scores_, strict=True):
        errors = [y[i] - refit(chosen, X, y, [i], alpha)[0] for i in range(30)]
        assert score == pytest.approx(-np.mean(np.square(errors)))
    chosen = RankRLSCV(**options).fit(X, y)
    ranker = RankRLS(kernel=Gaussian(0.3), n_basis=12).fit(X, y)
    expected = [[ranker.leave_pair_out_concordance(alpha=alpha)] for alpha in chosen.alphas_]
    np.testing.assert_allclose(chosen.scores_, expected)
    qid = np.arange(30) // 5
    chosen = RankRLSCV(**options).fit(X, y, qid=qid)
    for alpha, [score] in zip(chosen.alphas_, chosen.scores_, strict=True):
        scores = np.concatenate([refit(chosen, X, y, np.flatnonzero(qid == k), alpha, qid) for k in range(6)])
        assert score == pytest.approx(concordance_index(y, scores, qid=qid))


def test_a_matrix_in_place_of_rows(rng):
    X, y = data(rng)
    kernel = Gaussian(0.3)
    K, fold = kernel(X), [np.arange(9)]
    rows, matrix = (RankRLS(0.1, kernel=k, n_basis=12).fit(D, y) for k, D in ((kernel, X), ("precomputed", K)))
    np.testing.assert_array_equal(matrix.basis_indices_, rows.basis_indices_)
    np.testing.assert_allclose(matrix.predict(K[:5]), rows.predict(X[:5]), rtol=1e-9)
    assert np.count_nonzero(matrix.dual_coef_) == 12
    np.testing.assert_allclose(matrix.hold_out(fold), rows.hold_out(fold), rtol=1e-8)
    np.testing.assert_allclose(matrix.path([1.0])[:, matrix.basis_indices_], rows.path([1.0]), rtol=1e-7, atol=1e-10)
    with pytest.raises(ValueError, match="square"):
        matrix.fit(K[:, :20], y)


def test_given_pairs_with_queries(rng):
    X, y = data(rng, m=30)
    qid = np.arange(30) // 6
    i, j = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    model = RankRLS(0.1, kernel=Gaussian(0.3), n_basis=10).fit_pairs(X, np.stack([i, j], axis=1), qid=qid)
    rows = np.flatnonzero(qid == 2)
    kept = np.setdiff1d(model.basis_indices_, rows)
    features = NystromMap(model.kernel_, selection=kept).fit(X).transform(X)
    outside = qid[i] != 2
    other = RankRLS(0.1).fit_pairs(features, np.stack([i, j], axis=1)[outside], qid=qid)
    np.testing.assert_allclose(model.hold_out([rows])[0], other.predict(features[rows]), rtol=1e-8, atol=1e-10)


@pytest.mark.pairwise
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_basis", [2, 7, 10])
def test_pairs_without_ties(rng, n_classes, n_basis):
    X, y = data(rng, m=11)
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)).astype(float)
    model = RankRLS(kernel=Gaussian(0.3), n_basis=n_basis, ties="drop").fit(X, y)
    X[model.basis_indices_[0]] = X[model.basis_indices_[1]]
    model = model.fit(X, y)
    pairs = np.array(list(combinations(range(11), 2)))
    for alpha in (1e-5, 0.1):
        expected = np.array([refit(model, X, y, pair, alpha) for pair in pairs])
        close(model.leave_pair_out(pairs, alpha=alpha), expected)
        F = model.leave_pair_out(alpha=alpha)
        # A ranking without ties has no level of its own: differences are what is predicted.
        close((F - F.T)[pairs[:, 0], pairs[:, 1]], expected[:, 0] - expected[:, 1])
        i, j = np.nonzero(y[:, None] > y)
        gain = F[i, j] - F[j, i]
        right = 0.5 * np.mean(gain > 1e-8) + 0.5 * np.mean(gain >= -1e-8)
        assert model.leave_pair_out_concordance(alpha=alpha) == pytest.approx(right)


@pytest.mark.pairwise
@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("n_folds", [2, 10])
@pytest.mark.parametrize("kernel", ["gaussian", Gaussian(1e-3), Polynomial(3)], ids=str)
def test_bases_with_next_to_dependent_rows(rng, n_features, n_folds, kernel):
    """As near to a refit as one is to another whose basis comes in another order."""
    X = rng.normal(size=(200, n_features))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=200)
    model = RankRLS(kernel=kernel, n_basis=120).fit(X, y)
    assert len(model.basis_indices_) < 120
    folds = np.array_split(rng.permutation(200), n_folds)
    for alpha in (1e-6, 1e-3):
        errors, noise = [], []
        for rows, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
            expected = refit(model, X, y, rows, alpha)
            errors.append(np.abs(found - expected).max())
            noise.append(np.abs(refit(model, X, y, rows, alpha, shuffle=rng) - expected).max())
        assert max(errors) <= 1e-9 + 30 * max(noise)
        assert max(noise) < 1e-3


@pytest.mark.parametrize("scale", [1e9, 1e-9])
def test_features_of_other_sizes(rng, scale):
    X, y = data(rng, n=3)
    X[:, 0] *= scale
    model = RLS(1e-3, n_basis=20).fit(X, y)
    assert len(model.basis_indices_) == 3
    rows = model.basis_indices_[:1]
    np.testing.assert_allclose(model.hold_out([rows])[0], refit(model, X, y, rows, 1e-3), rtol=1e-6)
    [found] = RLS(1e-3, n_basis=50).fit(X, y).hold_out([rows])
    rest = np.setdiff1d(np.arange(50), rows)
    np.testing.assert_allclose(found, RLS(1e-3).fit(X[rest], y[rest]).predict(X[rows]), rtol=1e-6)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (-np.eye(6), "positive semidefinite"),
        (np.eye(6)[::-1].copy(), "positive semidefinite"),
        (np.eye(6) + np.eye(6, k=1), "symmetric"),
    ],
)
@pytest.mark.parametrize("model", [RankRLS(kernel="precomputed", n_basis=6), RankSVM(kernel="precomputed")], ids=str)
def test_matrices_of_no_kernel(model, K, message):
    with pytest.raises(ValueError, match=message):
        model.fit(K, np.arange(6.0))


@pytest.mark.parametrize("model", [RankRLS(n_basis=6), RankSVM(), OrdinalSVM(), RankRLSCV(n_basis=6)], ids=str)
@pytest.mark.parametrize(
    "kernel", [Polynomial(3), lambda X, Y: np.full((len(X), len(Y)), np.nan)], ids=["too large", "NaN"]
)
def test_kernels_that_are_no_numbers(rng, model, kernel):
    X, y = data(rng, m=12)
    with pytest.raises(ValueError, match="not finite"):
        clone(model).set_params(kernel=kernel).fit(X * 1e150, np.round(y))


def test_a_kernel_that_is_zero(rng):
    X, y = np.zeros((12, 3)), rng.normal(size=12)
    for model in (
        RankRLS(kernel=Polynomial(2, coef0=0.0), n_basis=4),
        RLS(n_basis=4),
        RankSVM(kernel=Polynomial(2, coef0=0.0)),
    ):
        assert np.ptp(model.fit(X, y).predict(X)) == 0.0
    [found] = RLS(n_basis=4).fit(X, y).hold_out([[0, 1, 2, 3]])
    np.testing.assert_allclose(found, y[4:].mean())


def test_sets_of_folds_one_after_the_other(rng):
    """What is kept of one set does not stand in the way of the next."""
    X, y = data(rng, n=8)
    model = RLS(kernel=Gaussian(0.3), n_basis=20).fit(X, y)
    for k in (5, 7, 5, 3):
        folds = [np.arange(start, 50, k) for start in range(k)]
        for alpha in ALPHAS:
            for rows, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
                close(found, refit(model, X, y, rows, alpha))


def test_sparse_rows_on_different_scales(rng):
    X, y = np.where(rng.random((60, 90)) < 0.3, rng.normal(size=(60, 90)), 0.0), rng.normal(size=60)
    X[:, 7] = 1e6 * rng.random(60)
    dense, sparse = (RLS(1e-3, n_basis=30).fit(form(X), y) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(sparse.basis_indices_, dense.basis_indices_)
    close(sparse.predict(X), dense.predict(X))


@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_sparse_rows_too_wide_for_memory_stay_sparse(rng, kind, monkeypatch):
    monkeypatch.setattr("kernelrank.estimators._least_squares_model.available_memory", lambda: 10**9)
    X, y = sp.random_array((50, 80), density=0.2, rng=rng, format="csr"), rng.normal(size=50)
    dense = kind(0.1, n_basis=20).fit(X.toarray(), y)
    wide = X.copy()
    wide.resize(50, 10**7)  # 4 GB, were it dense
    model = kind(0.1, n_basis=20).fit(wide, y)
    np.testing.assert_array_equal(model.basis_indices_, dense.basis_indices_)
    close(model.coef_[:80], dense.coef_)
    assert not model.coef_[80:].any()
    close(model.predict(wide), dense.predict(X))
    folds = [model.basis_indices_[:3], np.arange(10)]
    for found, expected in zip(model.hold_out(folds, alpha=0.01), dense.hold_out(folds, alpha=0.01), strict=True):
        close(found, expected)
