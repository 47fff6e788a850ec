"""Hold-outs of one ranking against refits, and their fast loops against a solution of each pair alone."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.linalg import helmert

from kernelrank._core import HeldOutRows, count_held_out, order_held_out, predict_held_out
from kernelrank.solvers.least_squares import RankingHoldOut, Residual, _blocks, _pairs
from kernelrank.solvers.least_squares._pairs import HeldOutPairs
from kernelrank.solvers.least_squares._spectrum import Spectrum, decompose_features

ALPHA = 0.3


def centre_and_decompose(X):
    contrasts = helmert(len(X))  # orthonormal, and orthogonal to the constants
    spectrum = decompose_features(contrasts @ X)
    return Spectrum(spectrum.values, contrasts.T @ spectrum.vectors), spectrum.complete


def few_features(rng, m):
    return centre_and_decompose(rng.normal(size=(m, 2)))


def all_features(rng, m):
    return centre_and_decompose(rng.normal(size=(m, m)))


def not_orthonormal(rng, m):
    vectors = rng.normal(size=(m, m + 2))
    return Spectrum(rng.random(m + 2), vectors - vectors.mean(axis=0)), True


forms = pytest.mark.parametrize("form", [few_features, all_features, not_orthonormal])


def one_ranking(spectrum, complete, y, n_jobs=None):
    held_out = HeldOutPairs(Residual(spectrum, complete, y, mean=True), n_jobs=n_jobs)
    return RankingHoldOut(lambda: held_out)


def counts_of(ranking, alpha):
    return ranking.held_out.count(alpha * (1 - 2 / ranking.held_out.W.n_rows))


def matrix(W, alpha):
    """I - A, written out."""
    values, V = W.spectrum.values, W.spectrum.vectors
    if W.complete:
        return V @ np.diag(alpha / (values + alpha)) @ V.T
    m = W.n_rows
    return np.eye(m) - 1 / m - V @ np.diag(values / (values + alpha)) @ V.T


def solve_each_pair(ranking, alpha):
    """F for each output, from two equations a pair; alpha is that of the refit."""
    W, y, m = matrix(ranking.held_out.W, alpha), ranking.held_out.W.targets, ranking.held_out.W.n_rows
    residuals = W @ (y - y.mean(axis=0))
    pairs = np.array([(i, j) for i in range(m) for j in range(i)])
    i, j = pairs.T
    found = y[pairs] - np.linalg.solve(W[pairs[:, :, None], pairs[:, None, :]], residuals[pairs])
    F = np.full((y.shape[1], m, m), np.nan)
    F[:, i, j], F[:, j, i] = found[:, 0].T, found[:, 1].T
    return F


def count_each_pair(y, F):
    """Halves and pairs of one output."""
    pairs = [(i, j) for i in range(len(y)) for j in range(i) if y[i] != y[j]]
    differences = [np.sign(y[i] - y[j]) * (F[i, j] - F[j, i]) for i, j in pairs]
    noise = 1e-11 * np.nanmax(np.abs(F))
    return sum(int(d > noise) + int(d >= -noise) for d in differences), len(pairs)


def targets(rng, m, p):
    return np.round(2 * rng.normal(size=(m, p)))


# Sizes on both sides of the tiles, 16 x 128.
@forms
@pytest.mark.parametrize("m", [4, 16, 17, 60, 150])
def test_each_pair_has_two_equations(rng, form, m):
    ranking = one_ranking(*form(rng, m), targets(rng, m, 2))
    F = ranking.all_pairs(ALPHA)
    expected = solve_each_pair(ranking, ALPHA * (1 - 2 / m))
    np.testing.assert_allclose(F, expected, rtol=1e-8, atol=1e-8)
    assert np.isnan(F[:, range(m), range(m)]).all()
    found, y = counts_of(ranking, ALPHA), ranking.held_out.W.targets
    for k in range(2):
        assert (found.halves[k], found.pairs[k]) == count_each_pair(y[:, k], expected[k])
    np.testing.assert_array_equal(ranking.concordances(np.array([ALPHA])), [found.halves / found.pairs / 2])


@pytest.mark.parametrize("n", [2, 30])
def test_a_refit_says_the_same(rng, n):
    X, y = rng.normal(size=(20, n)) + 10, rng.normal(size=20)
    F = one_ranking(*centre_and_decompose(X), y[:, None]).all_pairs(ALPHA)[0]
    for i, j in [(0, 1), (5, 19), (19, 5), (18, 3)]:
        rest = np.setdiff1d(np.arange(20), [i, j])
        means = X[rest].mean(axis=0), y[rest].mean()
        Z = X[rest] - means[0]
        # The mean loss of 18 rows in units of the sum over 20.
        w = np.linalg.solve(Z.T @ Z + ALPHA * 18 / 20 * np.eye(n), Z.T @ (y[rest] - means[1]))
        assert F[i, j] == pytest.approx((X[i] - means[0]) @ w + means[1], rel=1e-9)


@st.composite
def rankings(draw):
    m, p = draw(st.integers(4, 45)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    form = draw(st.sampled_from([few_features, all_features, not_orthonormal]))
    y = rng.integers(draw(st.integers(1, 5)), size=(m, p)).astype(float)
    return one_ranking(*form(rng, m), y, n_jobs=draw(st.integers(1, 3)))


@given(rankings(), st.floats(1e-3, 1e3))
def test_counts_and_order(ranking, alpha):
    m = ranking.held_out.W.n_rows
    expected = solve_each_pair(ranking, alpha * (1 - 2 / m))
    differences, scale = np.abs(expected - expected.transpose(0, 2, 1)), np.nanmax(np.abs(expected))
    assume(not ((differences > 1e-13 * scale) & (differences < 1e-9 * scale)).any())
    found, order = counts_of(ranking, alpha), ranking.order(alpha)
    for k, (y, F) in enumerate(zip(ranking.held_out.W.targets.T, expected, strict=True)):
        assert (found.halves[k], found.pairs[k]) == count_each_pair(y, F)
        differences = np.nan_to_num(F - F.T)
        np.testing.assert_array_equal(order[k], np.where(np.abs(differences) > 1e-11 * scale, np.sign(differences), 0))


def test_equal_predictions_are_half_right():
    # I - A is I: whatever is held out, the mean is predicted, and it is a whole number here.
    y = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    ranking = one_ranking(Spectrum(np.zeros(4), np.eye(4)), True, y)
    found = counts_of(ranking, 1.0)
    np.testing.assert_array_equal(found.halves, [5, 0])
    np.testing.assert_array_equal(found.pairs, [5, 0])
    np.testing.assert_array_equal(found.concordance, [0.5, np.nan])


@pytest.mark.parametrize("form", [few_features, all_features])
@pytest.mark.parametrize("m", [5, 30, 49, 150])
def test_rounding_does_not_tell_predictions_apart(rng, form, m):
    spectrum, complete = form(rng, m)
    ignorant = one_ranking(
        Spectrum(np.zeros_like(spectrum.values), spectrum.vectors), complete, rng.normal(size=(m, 3))
    )
    np.testing.assert_array_equal(ignorant.concordances(np.array([ALPHA])), 0.5)
    y = rng.normal(size=(m, 3)) + 1e-3 * np.arange(3)
    almost = one_ranking(Spectrum(1e-6 * spectrum.values, spectrum.vectors), complete, y)
    assert (counts_of(almost, ALPHA).halves % 2 == 0).all()  # small, but no rounding: no pair is tied


@pytest.mark.parametrize("n", [3, 80])
def test_equal_rows_are_tied(rng, n):
    X = np.tile(rng.normal(size=(20, n)), (2, 1))
    ranking = one_ranking(*centre_and_decompose(X), rng.normal(size=(40, 5)))
    for alpha in (1e-2, 1.0, 1e3):
        order = ranking.order(alpha)
        assert not order[:, range(20), range(20, 40)].any()
        assert order.any()


@forms
def test_some_rows_against_some_columns(rng, form, monkeypatch):
    monkeypatch.setattr(_blocks, "ELEMENTS", 2000)
    ranking = one_ranking(*form(rng, 40), targets(rng, 40, 2)).held_out
    F, y = ranking.all_pairs(ALPHA), ranking.W.targets.T
    rows, columns = rng.permutation(40)[:21], rng.permutation(40)[:30]
    for others in (columns, columns[:0]):
        blocks = list(ranking.blocks(rows, others, ALPHA))
        np.testing.assert_array_equal(np.concatenate([some for some, _ in blocks]), rows)
        for some, equations in blocks:
            first, second = equations.solve()
            np.testing.assert_allclose(y[:, some, None] - first, F[:, some[:, None], others], rtol=1e-9)
            np.testing.assert_allclose(y[:, None, others] - second, F[:, others, some[:, None]], rtol=1e-9)
    assert len(list(ranking.blocks(rows, columns, ALPHA))) > 1
    assert not list(ranking.blocks(rows[:0], columns, ALPHA))


@forms
def test_the_alpha_of_the_refit_can_be_given(rng, form):
    usual = one_ranking(*form(rng, 12), targets(rng, 12, 1))
    pairs, refit = np.array([[3, 5]]), ALPHA * (1 - 2 / 12)
    for found, at_refit in (
        (usual.all_pairs(ALPHA), usual.held_out.all_pairs(refit)),
        (usual.order(ALPHA), usual.held_out.order(refit)),
        (usual.pairs(pairs, ALPHA), usual.held_out.pairs(pairs, refit)),
        (usual.concordances(np.array([ALPHA])), [usual.held_out.count(refit).concordance]),
    ):
        np.testing.assert_array_equal(found, at_refit)
    e, _ = usual.held_out.each_row(ALPHA * (1 - 1 / 12))
    np.testing.assert_array_equal(usual.each_row(ALPHA).values, usual.held_out.W.targets - e)
    rows = np.array([[1, 2, 7], [4, 0, 5]])
    e, _ = usual.held_out.W.residuals(rows, ALPHA * (1 - 3 / 12))
    for fold, found, residuals in zip(rows, usual.folds(list(rows), ALPHA), e, strict=True):
        np.testing.assert_array_equal(found.values, usual.held_out.W.targets[fold] - residuals)


@forms
def test_given_pairs_are_elements_of_all_pairs(rng, form, monkeypatch):
    ranking = one_ranking(*form(rng, 30), targets(rng, 30, 3))
    pairs = np.array([(i, j) for i in range(30) for j in range(30) if i != j])
    F, (i, j) = ranking.all_pairs(ALPHA), pairs.T
    monkeypatch.setattr(_blocks, "ELEMENTS", 100)
    found = ranking.pairs(pairs, ALPHA)
    np.testing.assert_allclose(found[:, 0], F[:, i, j].T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], F[:, j, i].T, rtol=1e-9, atol=1e-12)


@forms
@pytest.mark.parametrize("block_rows", [1, 7, 100])
def test_blocks_and_threads_change_nothing(rng, form, block_rows, monkeypatch):
    spectrum, complete = form(rng, 170)
    y = targets(rng, 170, 2)
    one, three = (one_ranking(spectrum, complete, y, n_jobs=n_jobs) for n_jobs in (None, 3))
    F, counts, order = one.all_pairs(ALPHA), counts_of(one, ALPHA), one.order(ALPHA)
    monkeypatch.setattr(_pairs, "BLOCK_ROWS", block_rows)
    np.testing.assert_array_equal(three.all_pairs(ALPHA), one.all_pairs(ALPHA))
    np.testing.assert_allclose(one.all_pairs(ALPHA), F, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(counts_of(three, ALPHA), counts)
    np.testing.assert_array_equal(three.order(ALPHA), order)


def test_counting_takes_memory_for_a_few_rows(rng):
    m = 3_000
    ranking = one_ranking(*few_features(rng, m), rng.normal(size=(m, 2)))
    tracemalloc.start()
    counts_of(ranking, ALPHA)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * m * (_pairs.BLOCK_ROWS + 30)


def test_memory_is_asked_for_before_it_is_taken(rng, monkeypatch):
    ranking = one_ranking(*few_features(rng, 400), targets(rng, 400, 1))
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"\(1, 400, 400\).*Ask for some of the pairs, or for their concordance"):
        ranking.all_pairs(ALPHA)
    assert ranking.pairs(np.array([[0, 1]]), ALPHA).shape == (1, 2, 1)


def test_arrays_that_do_not_fit():
    rows = HeldOutRows(np.ones(5), np.ones((2, 5)), np.ones((2, 5)), np.ones(5))
    out, signs, counts = np.zeros((2, 5, 5)), np.zeros((2, 5, 5), np.int8), np.zeros((2, 2), np.int64)
    place = {"first": 0, "shift": 0.0, "n_threads": 1, "tolerances": np.zeros(2), "limits": np.zeros(2)}
    block = np.ones((3, 5))
    for call, message in (
        (lambda: HeldOutRows(np.ones(5), np.ones((2, 4)), np.ones((2, 5)), np.ones(5)), "one element per row"),
        (lambda: HeldOutRows(np.ones(5), np.ones((2, 5)), np.ones((2, 5)), np.ones(4)), "one element per row"),
        (lambda: HeldOutRows(np.ones(5), np.ones((1, 5)), np.ones((2, 5)), np.ones(5)), "same outputs"),
        (lambda: predict_held_out(rows, np.ones((6, 5)), out, **place), "too many rows"),
        (lambda: predict_held_out(rows, block, out, **place | {"first": 3}), "too many rows"),
        (lambda: predict_held_out(rows, block, out, **place | {"first": 1}), "one column per remaining row"),
        (lambda: predict_held_out(rows, block, out[:, :4].copy(), **place), "out must"),
        (lambda: predict_held_out(rows, block, out, **place | {"n_threads": 0}), "n_threads"),
        (lambda: predict_held_out(rows, block, out, **place | {"tolerances": np.zeros(1)}), "per output"),
        (lambda: order_held_out(rows, block, signs[:, :4].copy(), **place), "out must"),
        (lambda: order_held_out(rows, block, signs, **place | {"tolerances": np.zeros(1)}), "per output"),
        (lambda: count_held_out(rows, block, counts[0, :1], counts[1], **place), "per output"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()
