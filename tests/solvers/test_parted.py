"""Risks of rows in parts: the same solutions as for all rows in one place, whatever is lost on the way."""

import gc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank.losses import BinnedHinge, PairwiseHinge, PairwiseSquaredHinge, normaliser
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Newton, SmoothLinearOracle, largest_alpha, make_products
from kernelrank.solvers._binned_oracle import BinnedOracle
from kernelrank.solvers._part import Part
from kernelrank.solvers._parted import PartedOracle, PartsLost, SmoothPartedOracle, ask_again

LOSSES = {"hinge": PairwiseHinge, "squared": PairwiseSquaredHinge}


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Accept more losses in a row than workers have: here, they come at random with each request."""
    monkeypatch.setattr("kernelrank.solvers._parted._MOST_LOSSES", 50)


class Parts:
    """Parts in this process; some requests find a part lost."""

    def __init__(self, makers, n_rows, n_columns, rng=None, share_lost=0.0):
        self.n_rows, self.n_columns = n_rows, n_columns
        self._makers, self._rng, self._share = makers, rng, share_lost
        self.parts, self.n_lost, self.n_asked = [make() for make in makers], 0, 0

    @property
    def n_parts(self):
        return len(self.parts)

    def ask(self, requests):
        self.n_asked += 1
        if self._share and self._rng.random() < self._share:
            lost = self._rng.integers(self.n_parts)
            # The others may have answered already, or not.
            for k in range(lost):
                self.parts[k].answer(requests[k])
            self.parts[lost] = self._makers[lost]()
            self.n_lost += 1
            raise PartsLost
        return [part.answer(each)[-1] for part, each in zip(self.parts, requests, strict=True)]


def data(rng, m=400, n=5):
    X = rng.normal(size=(m, n))
    X[:, 1] += 5e5
    y = np.round(X[:, 0] + rng.normal(size=m), 1)
    return X, y, np.repeat(np.arange(40, dtype=np.int32), m // 40)


def in_queries(X, y, qid, weights, loss, weighting, cuts, form=np.asarray, **options):
    pairs = UtilityPairs(y, qid=qid, sample_weight=weights)
    total = normaliser(pairs, weighting)

    def maker(rows):
        def make():
            codes = (qid[rows] - qid[rows].min()).astype(np.int32)
            part = UtilityPairs(y[rows], qid=codes, sample_weight=None if weights is None else weights[rows])
            return Part(make_products(form(X[rows]), queries=codes), LOSSES[loss](part, weighting, total=total))

        return make

    engine = Parts([maker(rows) for rows in np.split(np.arange(len(y)), cuts)], *X.shape, **options)
    oracle = SmoothPartedOracle(engine) if loss == "squared" else PartedOracle(engine)
    whole = LOSSES[loss](pairs, weighting)
    return oracle, (SmoothLinearOracle if loss == "squared" else LinearOracle)(make_products(X, queries=qid), whole)


def solve(oracle, alphas=(1e-2, 1e-4), **options):
    solver = (Newton if hasattr(oracle, "curvature") else Bundle)(oracle, **options)
    return [solver.minimize(alpha) for alpha in alphas]


@pytest.mark.pairwise
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", ["query", "pair"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", [[], [100], [10, 20, 350]])
@pytest.mark.parametrize("share_lost", [0.0, 0.05])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_solutions_do_not_depend_on_the_parts(rng, loss, weighting, weighted, cuts, share_lost, positive, form):
    X, y, qid = data(rng)
    weights = rng.random(len(y)) * (rng.random(len(y)) < 0.9) if weighted else None
    parted, whole = in_queries(X, y, qid, weights, loss, weighting, cuts, form, rng=rng, share_lost=share_lost)
    for here, there in zip(solve(parted, positive=positive), solve(whole, positive=positive), strict=True):
        assert here.converged
        assert there.lower_bound - 1e-12 <= here.objective <= there.objective + there.gap
        assert here.lower_bound <= there.objective + 1e-12
        if not share_lost:
            np.testing.assert_allclose(here.objective, there.objective, rtol=1e-6)
    if share_lost:
        assert parted._engine.n_lost > 0


def test_losses_do_not_change_the_solution(rng):
    X, y, qid = data(rng)
    for loss in LOSSES:
        calm, _ = in_queries(X, y, qid, None, loss, "query", [120, 300])
        stormy, _ = in_queries(X, y, qid, None, loss, "query", [120, 300], rng=rng, share_lost=0.05)
        for here, there in zip(solve(calm), solve(stormy), strict=True):
            np.testing.assert_allclose(here.w, there.w, atol=1e-6 * np.abs(here.w).max())
            np.testing.assert_allclose(here.objective, there.objective, rtol=1e-7)


def test_workers_that_keep_dying_are_an_error(rng):
    X, y, qid = data(rng)
    parted, _ = in_queries(X, y, qid, None, "hinge", "query", [200], rng=rng, share_lost=1.0)
    with pytest.raises(RuntimeError, match="keep dying"):
        solve(parted)


def test_a_request_that_is_always_lost_is_an_error(monkeypatch):
    monkeypatch.setattr("kernelrank.solvers._parted._MOST_LOSSES", 3)
    asked = []

    def ask():
        asked.append(None)
        raise PartsLost("tcp://there")

    with pytest.raises(RuntimeError, match="lost 3 times in a row, last on tcp://there: workers keep dying"):
        ask_again(ask)
    assert len(asked) == 3


@pytest.mark.parametrize("loss", LOSSES)
def test_parts_keep_no_vectors_that_are_not_in_use(rng, loss):
    X, y, qid = data(rng)
    parted, _ = in_queries(X, y, qid, None, loss, "query", [200])
    most, ask = [0], parted._engine.ask

    def watched(requests):
        answers = ask(requests)
        most[0] = max(most[0], *(len(part._vectors) for part in parted._engine.parts))
        return answers

    parted._engine.ask = watched
    results = solve(parted, alphas=np.geomspace(1, 1e-6, 8))
    assert most[0] <= len(results) + 7  # each result has scores
    del results
    gc.collect()
    parted.spread(parted.zeros())
    kept = 2 if loss == "squared" else 0  # second derivatives are known at the scores evaluated last
    assert all(len(part._vectors) <= kept for part in parted._engine.parts)


def test_the_largest_alpha_is_that_of_all_rows(rng):
    X, y, qid = data(rng)
    X[:, 1] = 0.0
    parted, whole = in_queries(X, y, qid, None, "hinge", "query", [120, 300])
    assert largest_alpha(parted) == pytest.approx(largest_alpha(whole), rel=1e-12)


def test_scores_that_are_not_finite_are_an_error(rng):
    X, y, qid = data(rng)
    parted, _ = in_queries(X * 1e300, y, qid, None, "hinge", "query", [200])
    with pytest.raises(ValueError, match="range of float64"):
        solve(parted)


# One ranking, from histograms.


def in_bins(X, y, weights, cuts, *, by_levels, tol=1e-3, **options):
    """Return an oracle of rows in parts, by ranges of y, or by levels wherever the rows are."""
    levels, level = np.unique(y, return_inverse=True)
    level = level.astype(np.int32)
    total = UtilityPairs(y, sample_weight=weights).n_pairs
    if by_levels:
        places = np.split(np.arange(len(y)), cuts)
        groups = [np.unique(level[rows]) for rows in places]
    else:
        bounds = [0, *cuts, len(levels)]
        places = [np.flatnonzero((level >= a) & (level < b)) for a, b in pairwise(bounds)]
        groups = [np.array([k]) for k in range(len(places))]

    def maker(rows, numbers):
        def make():
            w = None if weights is None else weights[rows]
            local = (
                np.searchsorted(numbers, level[rows]).astype(np.int32) if by_levels else np.zeros(len(rows), np.int32)
            )
            pairs = UtilityPairs(y[rows], sample_weight=w)
            within = None if by_levels or pairs.n_pairs == 0 else PairwiseHinge(pairs, "pair", total=total)
            return Part(make_products(X[rows]), BinnedHinge(local, len(numbers), w, within, total))

        return make

    makers = [maker(rows, numbers) for rows, numbers in zip(places, groups, strict=True)]
    return BinnedOracle(Parts(makers, *X.shape, **options), groups, float(total), tol), places


@pytest.mark.pairwise
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_levels", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("decimals", [None, 1])
def test_bins_bound_the_risk(rng, weighted, by_levels, scale, decimals):
    """The plane is below the risk everywhere, and the value is above it by no more than the accuracy."""
    m = 300
    X, y = rng.normal(size=(m, 4)), rng.integers(0, 7, m).astype(float)
    weights = rng.random(m) if weighted else None
    oracle, _ = in_bins(X, y, weights, [100, 180] if by_levels else [2, 5], by_levels=by_levels)
    exact = LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y, sample_weight=weights), "pair"))
    rounded = (lambda v: v) if decimals is None else (lambda v: np.round(v, decimals))
    for _ in range(5):
        w, other = rounded(scale * rng.normal(size=4)), scale * rng.normal(size=4)
        risk = oracle.risk(oracle.scores(w))
        truth = exact.risk(exact.scores(w)).value
        assert truth - 1e-12 <= risk.value <= truth + 1e-5
        slope = oracle.subgradient(risk.g)
        for v in (w, other, np.zeros(4)):
            assert risk.offset + slope @ v <= exact.risk(exact.scores(v)).value + 1e-12
        assert risk.offset + slope @ w >= truth - 1e-5


@pytest.mark.parametrize("by_levels", [False, True])
@pytest.mark.parametrize("share_lost", [0.0, 0.1])
def test_fits_from_bins_are_certified(rng, by_levels, share_lost, monkeypatch):
    monkeypatch.setattr("kernelrank.solvers._parted._MOST_LOSSES", 50)  # many are lost here
    m = 500
    X = rng.normal(size=(m, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=m), np.linspace(-2, 2, 12)).astype(float)
    cuts = [100, 300] if by_levels else [3, 8]
    oracle, _ = in_bins(X, y, None, cuts, by_levels=by_levels, rng=rng, share_lost=share_lost)
    exact = LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y), "pair"))
    for alpha, here in zip((1e-2, 1e-4), solve(oracle), strict=True):
        assert here.converged
        truth = exact.risk(exact.scores(here.w)).value + alpha * here.w @ here.w
        assert truth <= here.objective + 1e-12
        [there] = solve(exact, [alpha])
        assert here.lower_bound <= there.objective + 1e-12
        assert here.objective >= there.lower_bound - 1e-12


def test_a_plane_that_is_made_again_has_the_bins_it_had(rng):
    """After a loss the offset of a plane is known already, whatever the bins of other planes are."""
    m = 400
    X, y = rng.normal(size=(m, 4)), rng.integers(0, 7, m).astype(float)
    oracle, _ = in_bins(X, y, None, [2, 5], by_levels=False, rng=rng)
    risk = oracle.risk(oracle.scores(rng.normal(size=4)))
    before, resolution = oracle.subgradient(risk.g), oracle._resolution
    far = oracle.risk(oracle.scores(1e3 * rng.normal(size=4)))
    coarse = oracle._resolution
    assert coarse < resolution
    oracle._engine.parts[1] = oracle._engine._makers[1]()
    oracle._stale = True
    np.testing.assert_array_equal(oracle.subgradient(risk.g), before)
    assert oracle._resolution == coarse
    del far


def test_scores_too_far_apart_for_bins_are_an_error(rng):
    X, y = rng.normal(size=(100, 2)) * 1e7, np.arange(100) % 3.0
    oracle, _ = in_bins(X, y, None, [50], by_levels=True)
    with pytest.raises(ValueError, match='counting="gather"'):
        oracle.risk(oracle.scores(np.ones(2)))


def test_few_bins_for_many_parts_are_part_of_the_certificate(rng, monkeypatch):
    monkeypatch.setattr("kernelrank.solvers._binned_oracle._MOST_POOLED", 3 * 64)
    X = rng.normal(size=(500, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=500), np.linspace(-2, 2, 12)).astype(float)
    oracle, _ = in_bins(X, y, None, [3, 8], by_levels=False)
    exact = LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y), "pair"))
    w = rng.normal(size=4)
    risk, truth = oracle.risk(oracle.scores(w)), exact.risk(exact.scores(w)).value
    assert truth <= risk.value <= truth + 0.1
    assert risk.value - (risk.offset + oracle.subgradient(risk.g) @ w) > 1e-3  # more than all bins would leave
