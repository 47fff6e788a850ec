"""The swapped-pairs SVM of Díez, del Coz and Bahamonde (2006) is RankSVM with another C."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from kernelrank import RankSVM
from kernelrank.metrics import pairwise_error
from kernelrank.pairs import count_violations

LEVELS = np.array([1, 1, 2, 2, 3])  # 8 pairs, so 256 labellings of them


def pairs_of(y):
    """Every pair with y[i] > y[j]."""
    return [(i, j) for i, j in product(range(len(y)), repeat=2) if y[i] > y[j]]


def program_9(X, y, C):
    """Solve it with all its constraints, eq. 9 with eq. 12 and 18: one a labelling of the pairs by +1 and -1.

    The slack is not negative, as in the paper's algorithm 1.
    """
    differences = np.array([X[i] - X[j] for i, j in pairs_of(y)])
    labellings = np.array(list(product([-1, 1], repeat=len(differences))))
    swapped = (1 - labellings).sum(axis=1) / 2
    n = X.shape[1]
    # w . [Psi(y) - Psi(y')] + slack >= swapped pairs of y'
    constraints = np.hstack(((1 - labellings) @ differences, np.ones((len(labellings), 1))))
    found = minimize(
        lambda v: v[:n] @ v[:n] / 2 + C * v[n],
        np.append(np.zeros(n), float(len(differences))),
        jac=lambda v: np.append(v[:n], C),
        bounds=[(None, None)] * n + [(0, None)],
        constraints=LinearConstraint(constraints, swapped, np.inf),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert found.status in (0, 8)  # 8: no descent is left but for rounding
    return found.x[:n], found.fun


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 10.0])
def test_program_9_is_a_rank_svm(rng, C):
    """Of twice the solution: alpha = 1 / (8 C N) for the mean over N pairs."""
    X = rng.normal(size=(len(LEVELS), 2))
    w, objective = program_9(X, LEVELS, C)
    n_pairs = len(pairs_of(LEVELS))
    model = RankSVM(1 / (8 * C * n_pairs), tol=1e-9, max_iter=10_000).fit(X, LEVELS)
    assert C * n_pairs * model.objective_ == pytest.approx(objective, rel=1e-5)
    np.testing.assert_allclose(model.coef_ / 2, w, atol=1e-3 * max(1.0, np.abs(w).max()))


def test_algorithm_2_counts_the_levels(rng):
    """Its vectors c' and d' label a pair -1 if the scores, of half the size, are less than 1/2 apart: eq. 21."""
    y, half = rng.integers(1, 6, 60), rng.normal(size=60)
    c, d = np.zeros(60), np.zeros(60)
    for i, j in pairs_of(y):
        label = 1 if (half[i] - 0.25) - (half[j] + 0.25) >= 0 else -1
        c[i] += label
        d[j] += label
    found = count_violations(y, 2 * half, method="levels")
    below, above = (np.array([np.sum(y < each) for each in y]), np.array([np.sum(y > each) for each in y]))
    np.testing.assert_array_equal(c, below - 2 * found.d)
    np.testing.assert_array_equal(d, above - 2 * found.c)
    assert found.total == (below - c).sum() / 2  # eq. 16


def test_swapped_pairs_are_the_pairwise_error(rng):
    """Eq. 1, where a tie counts as swapped."""
    y, scores = rng.integers(1, 6, 60), rng.integers(0, 9, 60)
    pairs = pairs_of(y)
    swapped = sum(scores[i] <= scores[j] for i, j in pairs)
    assert pairwise_error(y, scores, ties=1) == pytest.approx(swapped / len(pairs), rel=1e-14)
