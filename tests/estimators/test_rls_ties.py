"""What a refit ties, every shortcut ties, and what it orders is ordered: against refits in rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from covering import PROFILE
from exact_refits import exact_predictions, exact_signs, signs

from kernelrank import RLS, RLSCV, RankRLS, RankRLSCV
from kernelrank.kernels import Gaussian, Polynomial

# Of which a shortcut without a rule for ties gets one in twelve wrong.
MANY = 500 if PROFILE == "thorough" else 150
ALPHAS = (1e-6, 1e-3, 0.1, 1.0, 100.0)


def binary_features(rng):
    """A design in which ties abound: few features of few levels, rows repeated, targets of few levels."""
    m, n = int(rng.integers(8, 15)), int(rng.integers(1, 5))
    X = rng.integers(2 if rng.random() < 0.7 else 3, size=(m, n)).astype(float)
    if rng.random() < 0.3:
        X[m // 2 :] = X[: m - m // 2]
    y = rng.integers(2 if rng.random() < 0.5 else 4, size=m).astype(float)
    return X, y, float(rng.choice(ALPHAS))


def cases(seed, n_cases):
    rng = np.random.default_rng(seed)
    found = 0
    while found < n_cases:
        X, y, alpha = binary_features(rng)
        folds = np.array_split(rng.permutation(len(y)), int(rng.integers(2, 5)))
        if all(len(np.unique(np.delete(y, fold))) > 1 for fold in folds):
            found += 1
            yield X, y, alpha, folds


@pytest.mark.pairwise
@pytest.mark.parametrize("kernel", ["linear", "matrix", "basis"])
@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_folds_of_binary_features(rng, kernel, kind):
    seed = int(rng.integers(2**31))
    for X, y, alpha, folds in cases(seed, MANY if (kind, kernel) == (RankRLS, "linear") else 40):
        # The mean over pairs is twice that over rows.
        refit_alpha = alpha if kind is RankRLS else 2 * alpha
        options = {"matrix": {"kernel": "precomputed"}, "basis": {"n_basis": len(y)}}.get(kernel, {})
        model = kind(alpha, **options).fit(X @ X.T if kernel == "matrix" else X, y)
        for fold, found in zip(folds, model.hold_out(folds), strict=True):
            np.testing.assert_array_equal(signs(found), exact_signs(X, y, refit_alpha, fold))


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_queries_of_binary_features(rng, kernel):
    for _ in range(50):
        X, y, alpha = binary_features(rng)
        qid = rng.permutation(np.arange(len(y)) % int(rng.integers(2, 5)))
        model = RankRLS(alpha, kernel=kernel).fit(X @ X.T if kernel == "precomputed" else X, y, qid=qid)
        found = model.leave_query_out()
        parts = np.array_split(rng.permutation(len(y)), 3)  # which split queries
        for fold, scores in [
            *((np.flatnonzero(qid == q), found[qid == q]) for q in np.unique(qid)),
            *zip(parts, model.hold_out(parts), strict=True),
        ]:
            expected = exact_signs(X, y, alpha, fold, qid)
            same = qid[fold][:, None] == qid[fold]
            np.testing.assert_array_equal(signs(scores)[same], expected[same])


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_pairs_of_binary_features(rng, kernel):
    for _ in range(25):
        X, y, alpha = binary_features(rng)
        if len(np.unique(y)) < 2 or np.bincount(np.unique(y, return_inverse=True)[1]).min() < 3:
            continue
        model = RankRLS(alpha, kernel=kernel).fit(X @ X.T if kernel == "precomputed" else X, y)
        m, F, order = len(y), model.leave_pair_out(), model.leave_pair_out_order()
        pairs = np.array([(i, j) for i in range(m) for j in range(i)])
        expected = np.array([exact_signs(X, y, alpha, pair)[0, 1] for pair in pairs])
        given, (i, j) = model.leave_pair_out(pairs), pairs.T
        for found in (order[i, j], -order[j, i], np.sign(F[i, j] - F[j, i]), np.sign(given[:, 0] - given[:, 1])):
            np.testing.assert_array_equal(found, expected)
        right = ((expected * np.sign(y[i] - y[j]) + 1) / 2)[y[i] != y[j]]
        assert model.leave_pair_out_concordance() == pytest.approx(right.mean())


@pytest.mark.pairwise
@pytest.mark.parametrize("n_basis", [None, 28, 30, 12])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 10.0])
@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_rows_that_have_nothing_in_common_are_tied(rng, n_basis, alpha, ties):
    # With an identity kernel, a model of other rows predicts the same for all.
    y = np.repeat([0.0, 1.0], 15) if ties == "drop" else rng.normal(size=30)
    model = RankRLS(alpha, kernel="precomputed", n_basis=n_basis, ties=ties).fit(np.eye(30), y)
    assert model.leave_pair_out_concordance() == 0.5
    assert not model.leave_pair_out_order().any()
    F = model.leave_pair_out()
    np.testing.assert_array_equal(F, F.T)
    folds = np.array_split(rng.permutation(30), 4)
    qid = rng.permutation(np.repeat([0, 1, 2], 10))
    by_query = RankRLS(alpha, kernel="precomputed", n_basis=n_basis, ties=ties).fit(np.eye(30), y, qid=qid)
    found = by_query.leave_query_out()
    held_out = [found[qid == q] for q in range(3)] + ([] if ties == "drop" else model.hold_out(folds))
    for scores in held_out:
        assert len(np.unique(scores)) == 1


@pytest.mark.parametrize(("kernel", "n"), [(Gaussian(0.5), 2), (Polynomial(3, gamma=1.0), 4), ("linear", 5)])
@pytest.mark.parametrize("share", [1e-2, 1e-6, 1e-10])
def test_copies_of_rows_are_tied_and_others_are_not(rng, kernel, n, share):
    X = np.repeat(rng.normal(size=(20, n)), 2, axis=0)
    y, qid = X[:, 0] + rng.normal(size=40), np.arange(40) // 8
    one, many = RankRLS(kernel=kernel).fit(X, y), RankRLS(kernel=kernel).fit(X, y, qid=qid)
    alpha = share * one._training.solver.spectrum.values.max()
    folds = [np.sort(np.r_[2 * part, 2 * part + 1]) for part in np.array_split(rng.permutation(20), 4)]
    by_query = many.leave_query_out(alpha=share * many._training.solver.spectrum.values.max())
    for scores in [*one.hold_out(folds, alpha=alpha), *by_query.reshape(5, 8)]:
        np.testing.assert_array_equal(scores[::2], scores[1::2])
        assert len(np.unique(scores)) == len(scores) // 2
    order = one.leave_pair_out_order(alpha=alpha)
    np.testing.assert_array_equal(order == 0, np.arange(40)[:, None] // 2 == np.arange(40) // 2)


def test_a_ranking_without_copies_has_no_ties(rng):
    X = rng.normal(size=(300, 6))
    y, folds = X[:, 0] + rng.normal(size=300), [np.arange(100), np.arange(100, 250)]
    for kernel in ("linear", Gaussian(0.1), Polynomial(2, gamma=1.0)):
        model = RankRLS(kernel=kernel).fit(X, y)
        for alpha in model._training.solver.spectrum.values.max() * np.array([1e-8, 1e-4, 1.0]):
            assert (np.abs(model.leave_pair_out_order(alpha=alpha)).sum(axis=1) == 299).all()
            for scores in model.hold_out(folds, alpha=alpha):
                assert len(np.unique(scores)) == len(scores)


def test_errors_are_within_their_bounds(rng):
    for X, y, alpha, folds in cases(int(rng.integers(2**31)), 40):
        model = RankRLS(alpha, kernel="precomputed").fit(X @ X.T, y)
        for fold, found in zip(folds, model._held_out(folds, alpha), strict=True):
            expected = exact_predictions(X, y, alpha, fold)
            wrong = [abs(float(Fraction(float(f)) - e)) for f, e in zip(found.values, expected, strict=True)]
            assert (wrong <= found.errors).all()


@pytest.mark.parametrize("with_queries", [False, True])
def test_scores_of_alphas_are_those_of_exact_refits(rng, with_queries):
    for X, y, _, folds in cases(int(rng.integers(2**31)), 15):
        qid = np.concatenate([np.full(len(fold), k) for k, fold in enumerate(folds)])[np.argsort(np.concatenate(folds))]
        known = [fold for fold in folds if len(np.unique(y[fold])) > 1]
        if len(known) < 2 or any(len(fold) < 2 for fold in folds):
            continue
        cv = [(np.delete(np.arange(len(y)), fold), fold) for fold in known]
        model = RankRLSCV([1.0, 1e-3], cv="leave-query-out" if with_queries else cv)
        model.fit(X, y, qid=qid if with_queries else None)
        for alpha, found in zip(model.alphas_, model.scores_, strict=True):
            shares = []
            for fold in known:
                right = exact_signs(X, y, alpha, fold, qid if with_queries else None) * signs(y[fold])
                shares.append((right[signs(y[fold]) != 0].mean() + 1) / 2)
            np.testing.assert_allclose(found, np.mean(shares) if with_queries else shares, rtol=1e-12)


def test_regression_of_single_rows_ties_what_is_the_same(rng):
    # Rows with the same features and target are held out of the same model.
    X, y = np.repeat(rng.integers(2, size=(10, 3)), 2, axis=0).astype(float), np.repeat(rng.integers(3, size=10), 2)
    for kernel in ("linear", Gaussian(0.3)):
        held_out = RLSCV([1e-2], kernel=kernel).fit(X, y).held_out_
        np.testing.assert_array_equal(held_out[::2], held_out[1::2])
