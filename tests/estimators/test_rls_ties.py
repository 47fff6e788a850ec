"""What a refit ties, every shortcut ties, and what it orders is ordered: against refits in rational arithmetic."""

import numpy as np
import pytest
from exact_refits import exact_signs, signs

from kernelrank import RLS, RankRLS

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


@pytest.mark.parametrize("kernel", ["linear", "matrix", "basis"])
@pytest.mark.parametrize("kind", [RLS, RankRLS])
def test_folds_of_binary_features(rng, kernel, kind):
    seed = int(rng.integers(2**31))
    for X, y, alpha, folds in cases(seed, 500 if (kind, kernel) == (RankRLS, "linear") else 60):
        # The mean over pairs is twice that over rows.
        refit_alpha = alpha if kind is RankRLS else 2 * alpha
        options = {"matrix": {"kernel": "precomputed"}, "basis": {"n_basis": len(y)}}.get(kernel, {})
        model = kind(alpha, **options).fit(X @ X.T if kernel == "matrix" else X, y)
        for fold, found in zip(folds, model.hold_out(folds), strict=True):
            np.testing.assert_array_equal(signs(found), exact_signs(X, y, refit_alpha, fold))


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_queries_of_binary_features(rng, kernel):
    for _ in range(100):
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
