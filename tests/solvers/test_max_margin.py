"""The search for labels: its shortcuts against the matrix W, and its result against all labels."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.utils import check_random_state

from kernelrank import RLS
from kernelrank.kernels import Gaussian
from kernelrank.solvers import LabelSearch

KINDS = {  # a stored W with all eigenvectors, one with fewer, and columns that are computed from few eigenvectors
    "complete": (9, 12, "linear"),
    "stored": (12, 4, "linear"),
    "factors": (20, 2, "linear"),
    "gaussian": (12, 3, Gaussian(0.3)),
}


def problem(rng, kind, alpha=0.05, smallest=2):
    """Return a search, and W, column by column from the residuals of fits."""
    m, n, kernel = KINDS[kind]
    X = rng.normal(size=(m, n))
    W = np.column_stack([target - RLS(alpha, kernel=kernel).fit(X, target).predict(X) for target in np.eye(m)])
    model = RLS(alpha, kernel=kernel, solver="direct").fit(X, np.arange(m))
    return LabelSearch(model._fitted_model().decomposed.held_out_pairs().W, alpha, smallest), W


def draw(rng, m):
    return rng.permutation(np.where(np.arange(m) % 2 == 0, -1.0, 1.0))


def neighbours(y, smallest):
    """Yield all labels with one label turned, or two different ones, that leave enough rows per cluster."""
    pairs = [(i, j) for i, j in combinations(range(len(y)), 2) if y[i] != y[j]]
    for rows in [*((i,) for i in range(len(y))), *pairs]:
        other = y.copy()
        other[list(rows)] *= -1
        if smallest <= np.count_nonzero(other > 0) <= len(y) - smallest:
            yield other


def all_labels(m, smallest):
    """Yield all labels with enough rows per cluster, and -1 for the first row."""
    for bits in range(2 ** (m - 1)):
        y = np.where((bits >> np.arange(m)) & 1, 1.0, -1.0)[::-1]
        if smallest <= np.count_nonzero(y > 0) <= m - smallest:
            yield y


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_residuals_are_those_of_fits(rng, kind):
    search, W = problem(rng, kind)
    assert (search._matrix is None) == (kind == "factors")
    y = draw(rng, len(W))
    np.testing.assert_allclose(search.residuals(y), W @ y, atol=1e-9)
    np.testing.assert_allclose([search.column(i) for i in range(len(W))], W, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_changes_are_those_of_the_objective(rng, kind):
    search, W = problem(rng, kind)
    y = draw(rng, len(W))
    changes = search.changes(y, search.residuals(y))
    for i in range(len(y)):
        other = y * np.where(np.arange(len(y)) == i, -1.0, 1.0)
        assert changes[i] == pytest.approx(other @ W @ other - y @ W @ y, abs=1e-9)
        for j in np.flatnonzero(y != y[i]):
            both = other * np.where(np.arange(len(y)) == j, -1.0, 1.0)
            together = changes[i] + changes[j] - 8 * search.column(i)[j]
            assert together == pytest.approx(both @ W @ both - y @ W @ y, abs=1e-9)


@pytest.mark.pairwise
@pytest.mark.parametrize("alpha", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("smallest", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_search_ends_in_a_local_optimum(rng, kind, smallest, alpha):
    search, W = problem(rng, kind, alpha, smallest)
    for _ in range(5):
        start = draw(rng, len(W))
        found = search.descend(start)
        assert set(found.y) == {-1.0, 1.0}
        assert found.objective == pytest.approx(found.y @ W @ found.y / len(W), rel=1e-7)
        assert found.objective <= start @ W @ start / len(W)
        assert (found.n_steps == 0) == (found.y == start).all()
        assert min(y @ W @ y for y in neighbours(found.y, smallest)) >= found.y @ W @ found.y - 1e-9


def test_two_labels_are_exchanged_where_no_single_one_may_be_turned(rng):
    search, W = problem(rng, "stored", smallest=6)
    start = draw(rng, len(W))
    found = search.descend(start)
    assert found.objective < start @ W @ start / len(W)
    assert np.count_nonzero(found.y > 0) == 6


@pytest.mark.pairwise
@pytest.mark.parametrize("alpha", [1e-2, 0.3])
@pytest.mark.parametrize("smallest", [1, 3, 4])
@pytest.mark.parametrize("kind", ["complete", "stored", "gaussian"])
def test_enough_starts_find_the_optimum(rng, kind, smallest, alpha):
    search, W = problem(rng, kind, alpha, smallest)
    best = min(y @ W @ y / len(W) for y in all_labels(len(W), smallest))
    assert search.best(50, check_random_state(0)).objective == pytest.approx(best, rel=1e-7)


def test_the_best_start_is_kept(rng):
    search, _ = problem(rng, "factors", smallest=5)
    generator = check_random_state(3)
    found = [search.descend(search.start(number, generator)) for number in range(7)]
    best = search.best(7, check_random_state(3))
    assert best.objective == pytest.approx(min(each.objective for each in found), abs=1e-12)
    assert any((best.y == each.y).all() for each in found)


def test_starts_differ_and_have_equally_many_rows(rng):
    search, _ = problem(rng, "complete")
    generator = check_random_state(0)
    starts = [search.start(number, generator) for number in range(40)]
    assert len(set(map(tuple, starts))) > 20
    assert {sum(y) for y in starts} == {1.0}  # nine rows
    others = [search.start(number, check_random_state(1)) for number in (0, 3)]
    assert [(starts[0] == others[0]).all(), (starts[3] == others[1]).all()] == [True, False]


def test_the_first_start_is_the_leading_direction(rng):
    X = rng.normal(size=(20, 3)) * [1.0, 9.0, 1.0]
    model = RLS(solver="direct").fit(X, X[:, 0])
    search = LabelSearch(model._fitted_model().decomposed.held_out_pairs().W, 1e-3, 1)
    _, _, directions = np.linalg.svd(X - X.mean(axis=0))
    scores = X @ directions[0]
    assert abs(search.start(0, check_random_state(0)) @ np.sign(scores - np.median(scores))) == 20


def test_labels_that_may_be_turned_agree_with_leave_one_out_predictions(rng):
    X = rng.normal(size=(40, 3))
    model = RLS(0.05, solver="direct").fit(X, X[:, 0])
    search = LabelSearch(model._fitted_model().decomposed.held_out_pairs().W, 0.05, 1)
    y = search.best(5, check_random_state(0)).y
    same_sum = 0.05 * 40 / 39  # RLS keeps alpha in a hold-out, the search the penalty of a sum
    held_out = np.concatenate(RLS(same_sum).fit(X, y).hold_out([[i] for i in range(40)]))
    label, sizes = (y > 0).astype(int), [np.count_nonzero(y < 0), np.count_nonzero(y > 0)]
    free = np.take(sizes, label) > 1
    assert free.sum() >= 20
    assert (y * held_out > 0)[free].all()
