"""RankSVM with the squared hinge, and what both losses promise alike."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from oracles import comparable_pairs, concordance, pairwise_hinge, pairwise_squared_hinge, squared_hinge_gradient
from scipy.optimize import minimize_scalar

from kernelrank import RankSVM
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError

VALUE = {"hinge": pairwise_hinge, "squared_hinge": pairwise_squared_hinge}
both_losses = pytest.mark.parametrize("loss", VALUE)
both_weightings = pytest.mark.parametrize("query_weighting", ["query", "pair"])


def squared(alpha=1e-2, **kwargs):
    return RankSVM(alpha, loss="squared_hinge", **kwargs)


def data(rng, m=120, n=4, noise=0.5):
    X = rng.normal(size=(m, n))
    return X, X @ rng.normal(size=n) + noise * rng.normal(size=m)


def objective(model, X, y, **kwargs):
    return VALUE[model.loss](y, X @ model.coef_, **kwargs) + model.alpha * model.coef_ @ model.coef_


def close(model, other, rel=1e-5):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=rel * np.abs(other.coef_).max())


# Certificates


@both_weightings
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_the_attributes_say_what_they_promise(rng, query_weighting, weighted, positive):
    X, y = data(rng)
    qid, weights = rng.integers(0, 9, 120), rng.choice([0.0, 1.0, 2.5], 120) if weighted else None
    settings = {"query_weighting": query_weighting, "positive": positive}
    model, tight = (squared(tol=tol, **settings).fit(X, y, qid=qid, sample_weight=weights) for tol in (1e-2, 1e-9))
    expected = objective(model, X, y, qid=qid, weights=weights, query_weighting=query_weighting)
    assert model.objective_ == pytest.approx(expected, rel=1e-12)
    assert -1e-12 <= model.objective_ - tight.objective_ <= model.gap_ + 1e-12
    assert -1e-12 <= tight.gap_ <= 1e-12
    assert model.n_pairs_ == pytest.approx(comparable_pairs(y, qid, weights).sum(), rel=1e-12)
    assert type(model.n_pairs_) is (float if weighted else int)
    assert model.n_iter_ == len(model.history_) > 1
    assert model.history_.dtype.names == (
        "upper_bound",
        "lower_bound",
        "seconds",
        "n_products",
        "n_evaluations",
        "goal",
    )
    assert model.history_["upper_bound"][-1] == model.objective_
    assert model.history_["upper_bound"][-1] - model.history_["lower_bound"][-1] == model.gap_
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_tol_is_the_gradient_relative_to_that_of_zero(rng, tol):
    X, y = data(rng)
    model = squared(tol=tol).fit(X, y)
    at_zero, at_end = (X.T @ squared_hinge_gradient(y, X @ w) + 2 * 1e-2 * w for w in (np.zeros(4), model.coef_))
    assert np.linalg.norm(at_end) <= tol * np.linalg.norm(at_zero) * (1 + 1e-6)


def test_not_converged_warns_with_the_gap_and_keeps_the_best(rng):
    X, y = data(rng)
    text = (
        r"Not converged after 2 iterations: tol=1e-06 asks for a gap of 1e-06, and a gradient of 1e-06 relative to that"
        r" of w = 0; the certified gap is 0\.\d+, of an objective of 0\.\d+\. The best solution found is kept.*Increase"
        r" max_iter, tol or alpha"
    )
    with pytest.warns(ConvergenceWarning, match=text) as record:
        model = squared(1e-3, tol=1e-6, max_iter=2).fit(X, y)
    assert record[0].filename == __file__
    assert model.objective_ == model.history_["upper_bound"].min() < 1
    assert model.objective_ - squared(1e-3, tol=1e-9).fit(X, y).objective_ <= model.gap_


@both_losses
@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 1.0])
def test_a_tight_tolerance_is_met_by_a_model(rng, loss, alpha):
    X, y = data(rng)
    model = RankSVM(alpha, loss=loss, tol=1e-5).fit(X, y)
    assert -1e-12 <= model.gap_ <= 1e-5
    assert (model.coef_ != 0).all()
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize("alpha", [1e-12, 1e12])
def test_extreme_alphas(rng, alpha):
    X, y = data(rng)
    model = squared(alpha).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-12)
    assert -1e-12 <= model.gap_ <= model.objective_
    assert model.score(X, y) > 0.75  # it orders, however small it is
    if alpha == 1e12:
        expected = -X.T @ squared_hinge_gradient(y, np.zeros(120)) / 2e12
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-3)
        assert model.objective_ == pytest.approx(1, abs=1e-9)


@both_losses
def test_predictions_rise_with_y(rng, loss):
    """Scores, not risks: the better row has the larger one."""
    X, y = data(rng, noise=0.1)
    model = RankSVM(loss=loss).fit(X, y)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_, rtol=1e-12, atol=1e-14)
    assert concordance(y, model.predict(X)) > 0.9
    assert model.rank(X)[y.argmax()] < 12
    assert RankSVM(loss=loss).fit(np.arange(9.0)[:, None], np.arange(9)).coef_[0] > 0
    assert RankSVM(loss=loss).fit(np.arange(9.0)[:, None], -np.arange(9)).coef_[0] < 0


# Pairs


@both_losses
def test_ties_are_not_trained_on(rng, loss):
    """Two classes: only pairs across count, and the order of the rows inside a class is nothing to learn."""
    X = rng.normal(size=(150, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=150) > 0).astype(int)
    model = RankSVM(1e-2, loss=loss, tol=1e-8).fit(X, y)
    assert model.n_pairs_ == y.sum() * (150 - y.sum())
    low, high = (X[y == level] @ model.coef_ for level in (0, 1))
    across = np.mean(np.maximum(0.0, 1 + np.subtract.outer(low, high)) ** (1 if loss == "hinge" else 2))
    assert model.objective_ == pytest.approx(across + 1e-2 * model.coef_ @ model.coef_, rel=1e-11)
    shuffled = np.arange(150)
    for level in (0, 1):
        shuffled[y == level] = rng.permutation(np.flatnonzero(y == level))
    again = RankSVM(1e-2, loss=loss, tol=1e-8).fit(X[shuffled], y)
    assert again.objective_ == pytest.approx(model.objective_, abs=2e-8)
    close(again, model, rel=1e-3)
    broken = RankSVM(1e-2, loss=loss, tol=1e-8).fit(X, y + 1e-9 * rng.permutation(150))
    assert np.abs(broken.coef_ - model.coef_).max() > 1e-2 * np.abs(model.coef_).max()  # the test would notice


def mean_over_all_pairs(w, m, power):
    """Mean of max(0, 1 - w * k / m)^power for the m - k pairs of rows that are k apart, in O(m)."""
    k = np.arange(1.0, m)
    return (m - k) @ np.maximum(0.0, 1 - w * k / m) ** power / (m * (m - 1) / 2)


@both_losses
def test_more_than_two_to_the_31_pairs(loss):
    m, alpha, power = 130_000, 1e-2, 1 if loss == "hinge" else 2
    rows = np.random.default_rng(0).permutation(m)
    model = RankSVM(alpha, loss=loss, tol=1e-6, n_jobs=2).fit(rows[:, None] / m, rows)
    assert type(model.n_pairs_) is int
    assert model.n_pairs_ == m * (m - 1) // 2 > 2**32
    w = model.coef_.item()
    assert model.objective_ == pytest.approx(mean_over_all_pairs(w, m, power) + alpha * w * w, rel=1e-10)
    best = minimize_scalar(lambda w: mean_over_all_pairs(w, m, power) + alpha * w * w, bounds=(0, 20)).fun
    assert -1e-10 <= model.objective_ - best <= model.gap_ + 1e-10
    assert -1e-12 <= model.gap_ <= 1e-6


@both_weightings
def test_queries_are_compared_inside_only(rng, query_weighting):
    X, y = data(rng)
    qid = rng.integers(0, 6, 120)
    model = squared(tol=1e-9, query_weighting=query_weighting).fit(X, y, qid=qid)
    levels = squared(tol=1e-9, query_weighting=query_weighting).fit(X, y + 100.0 * qid, qid=qid)
    np.testing.assert_array_equal(levels.coef_, model.coef_)
    order = rng.permutation(120)
    names = np.array([f"query {k}" for k in qid])[order]
    close(squared(tol=1e-9, query_weighting=query_weighting).fit(X[order], y[order], qid=names), model)
    assert model.score(X, y, qid=qid) == pytest.approx(concordance(y, X @ model.coef_, qid), rel=1e-14)


def test_query_weightings_differ_where_sizes_do(rng):
    X, y = data(rng)
    qid = np.where(np.arange(120) < 100, 0, 1)
    y[qid == 1] = -y[qid == 1]
    by_query, by_pair = (squared(query_weighting=each).fit(X, y, qid=qid) for each in ("query", "pair"))
    assert np.abs(by_query.coef_ - by_pair.coef_).max() > 0.1 * np.abs(by_pair.coef_).max()


def test_a_column_named_qid_is_the_query(rng):
    X, y = data(rng, n=2)
    qid = rng.integers(0, 6, 120)
    model = squared().fit(pd.DataFrame({"a": X[:, 0], "qid": qid, "b": X[:, 1]}), y)
    np.testing.assert_array_equal(model.coef_, squared().fit(np.asfortranarray(X), y, qid=qid).coef_)
    assert model.feature_names_in_.tolist() == ["a", "b"]


# Positive coefficients


@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
def test_positive_coefficients(rng, alpha):
    X = rng.normal(size=(120, 4))
    y = X @ [1.0, -0.5, 2.0, -1.0] + 0.5 * rng.normal(size=120)
    free, positive = squared(alpha, tol=1e-8).fit(X, y), squared(alpha, tol=1e-8, positive=True).fit(X, y)
    assert (free.coef_ < 0).any()
    assert (positive.coef_ >= 0).all()
    assert positive.objective_ > free.objective_
    g = X.T @ squared_hinge_gradient(y, X @ positive.coef_) + 2 * alpha * positive.coef_
    held = positive.coef_ == 0
    assert (g[held] >= -1e-6).all()
    np.testing.assert_allclose(g[~held], 0, atol=1e-6)
    flipped = X * np.sign(free.coef_)
    close(squared(alpha, tol=1e-8, positive=True).fit(flipped, y), squared(alpha, tol=1e-8).fit(flipped, y))


@both_losses
@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
def test_positive_coefficients_of_both_losses(rng, loss, alpha):
    X = rng.normal(size=(120, 4))
    y = X @ [1.0, -0.5, 2.0, -1.0] + 0.5 * rng.normal(size=120)

    def fit(X, positive):
        return RankSVM(alpha, loss=loss, tol=1e-8, positive=positive).fit(X, y)

    model = fit(X, positive=True)
    assert (model.coef_ >= 0).all()
    assert (model.coef_[[0, 2]] > 0).all()
    assert -1e-12 <= model.gap_ <= 1e-8
    only = fit(X * [1, 0, 1, 0], positive=False)  # the features with the right sign, which need no bound
    assert model.objective_ <= only.objective_ + 1e-8
    signs = np.array([1, -1, 1, -1])
    free, flipped = fit(X, positive=False), fit(X * signs, positive=True)
    assert flipped.objective_ == pytest.approx(free.objective_, abs=2e-8)
    np.testing.assert_allclose(flipped.coef_, signs * free.coef_, rtol=0, atol=2e-3 * np.abs(free.coef_).max())


# Invariances


def test_only_the_order_of_y_matters(rng):
    X, y = data(rng)
    np.testing.assert_array_equal(squared().fit(X, np.exp(3 * y)).coef_, squared().fit(X, y).coef_)
    close(squared(tol=1e-9).fit(-X, -y), squared(tol=1e-9).fit(X, y))


@both_weightings
def test_weights_equal_repetitions(rng, query_weighting):
    X, y = data(rng, m=80)
    qid, weights = rng.integers(0, 4, 80), rng.integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    repeated = squared(tol=1e-9, query_weighting=query_weighting).fit(X[rows], y[rows], qid=qid[rows])
    weighted = squared(tol=1e-9, query_weighting=query_weighting).fit(X, y, qid=qid, sample_weight=weights)
    assert weighted.n_pairs_ == repeated.n_pairs_
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    close(weighted, repeated, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
def test_the_scale_of_the_weights_does_not_matter(rng, scale):
    X, y = data(rng)
    weights = rng.random(120)
    close(squared().fit(X, y, sample_weight=scale * weights), squared().fit(X, y, sample_weight=weights), rel=1e-9)


def test_an_offset_leaves_the_model_unchanged(rng):
    X, y = data(rng)
    reference = squared().fit(X, y).coef_
    offset = X + [1e8, 0, -1e8, 5.0]
    for shifted in (offset, sp.csr_array(offset), np.asfortranarray(offset)):
        np.testing.assert_allclose(squared().fit(shifted, y).coef_, reference, rtol=0, atol=1e-6)


def test_a_constant_feature_gets_weight_zero(rng):
    X, y = data(rng)
    wider = squared(1e-9).fit(np.column_stack([X, np.full(120, 1e8)]), y)
    assert wider.coef_[-1] == 0
    assert (wider.coef_[:-1] != 0).all()


@pytest.mark.parametrize(
    "convert", [sp.csr_matrix, sp.csc_array, sp.coo_array, np.asfortranarray, np.ndarray.tolist, pd.DataFrame]
)
def test_any_container_gives_the_same_model(rng, convert):
    X, y = data(rng)
    X[rng.random(X.shape) < 0.3] = 0
    close(squared().fit(convert(X), y), squared().fit(X, y), rel=1e-9)


def test_integers_and_float32(rng):
    X, y = data(rng)
    integers = np.round(X * 10).astype(np.int64)
    reference = squared(1.0, tol=1e-8).fit(integers.astype(float), y)
    for converted in (integers, integers.astype(np.float32), sp.csr_array(integers.astype(np.float32))):
        close(squared(1.0, tol=1e-8).fit(converted, y), reference, rel=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_show(sparse, weighted):
    rng = np.random.default_rng(0)
    X, y = data(rng, m=66_000)
    weights = rng.random(len(y)) if weighted else None
    X = sp.csr_array(X * (rng.random(X.shape) < 0.3)) if sparse else X
    one, two = (squared(n_jobs=n).fit(X, y, sample_weight=weights) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.history_["lower_bound"], two.history_["lower_bound"])


def test_features_too_large_for_float64_are_a_clear_error(rng):
    X, y = data(rng)
    with pytest.raises(ValueError, match=r"features are too large, or alpha is too small for them\. Rescale"):
        squared().fit(X * 1e300, y)


# Fitting again


def test_warm_start_begins_where_the_last_fit_ended(rng):
    X, y = data(rng, m=500)
    model = squared(1e-4, warm_start=True).fit(X, y)
    first = model.objective_, model.coef_.copy(), model.n_iter_
    model.fit(X, y)
    assert first[2] > model.n_iter_ == 1
    assert model.objective_ == pytest.approx(first[0], rel=1e-12)
    np.testing.assert_array_equal(model.coef_, first[1])
    model.fit(X[:, :2], y)  # another number of features: from scratch
    assert model.history_["upper_bound"][0] == pytest.approx(1, abs=1e-12)
    assert squared(1e-4).fit(X, y).fit(X, y).n_iter_ == first[2]


def test_a_warm_start_between_losses(rng):
    X, y = data(rng)
    model = RankSVM(1e-2, warm_start=True, tol=1e-8).fit(X, y)
    model.set_params(loss="squared_hinge", positive=True).fit(X, y)
    close(model, squared(tol=1e-8, positive=True).fit(X, y))


def test_a_failed_fit_leaves_the_last_one_alone(rng):
    X, y = data(rng)
    model = squared().fit(X, y)
    scores = model.predict(X)
    with pytest.raises(NoComparablePairsError):
        model.fit(X[:, :2], np.ones(120))
    with pytest.raises(NoComparablePairsError):
        model.fit_pairs(X[:, :2], [])
    np.testing.assert_array_equal(model.predict(X), scores)


def test_verbose_prints_the_bounds(rng, capsys):
    model = squared(verbose=1).fit(*data(rng))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert all("objective" in line and "lower bound" in line and "gap" in line for line in lines)


def test_the_certificate_of_far_features():
    rng = np.random.default_rng(0)
    for far in (1e4, 1e6):
        x = np.repeat(np.arange(50), 4) * far + rng.uniform(-0.5, 0.5, 200)
        y = x + 0.2 * rng.normal(size=200)
        for alpha in (1e-3, 1e-6):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = RankSVM(alpha, loss="squared_hinge", tol=1e-12).fit(x[:, None], y)
            true = pairwise_squared_hinge(y, x * model.coef_) + alpha * model.coef_ @ model.coef_
            assert model.objective_ == pytest.approx(true, rel=1e-14 * 50 * far)
            assert model.gap_ >= -1e-14 * 50 * far
            assert model.objective_ - model.gap_ <= true + 1e-14 * 50 * far


@pytest.mark.parametrize("tol", [1.0, 2.0])
def test_a_loose_tolerance_still_orders(rng, tol):
    X, y = data(rng)
    assert RankSVM(loss="squared_hinge", tol=tol).fit(X, y).score(X, y) > 0.7


def test_underflow_is_not_called_converged(rng):
    X, y = data(rng)
    with pytest.warns(ConvergenceWarning):
        RankSVM(loss="squared_hinge").fit(X * 1e-200, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1e170, 1e200, 1e300])
def test_a_huge_alpha(rng, alpha):
    X, y = data(rng)
    model = RankSVM(alpha, loss="squared_hinge").fit(X, y)
    assert model.objective_ == pytest.approx(1, abs=1e-12)
    assert np.isfinite(model.gap_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1e-3, 1e-6])
@pytest.mark.parametrize("far", [1e4, 1e6, 1e7])
def test_the_certificate_of_far_features_with_weights(far, alpha):
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(50), 4) * far + rng.uniform(-0.5, 0.5, 200)
    y, weights = x + 0.2 * rng.normal(size=200), rng.uniform(0.5, 2, 200)
    model = RankSVM(alpha, loss="squared_hinge", tol=1e-12).fit(x[:, None], y, sample_weight=weights)

    def objective(w):
        return pairwise_squared_hinge(y, x * w, weights=weights) + alpha * w * w

    best = min(map(objective, model.coef_[0] * np.linspace(0.5, 1.5, 101)))
    assert model.gap_ >= 0
    assert model.objective_ - model.gap_ <= best + 1e-9


def test_a_feature_of_another_scale_does_not_end_the_fit_too_soon(rng):
    x = np.r_[rng.normal(size=60), 1e3 + rng.normal(size=60)]
    X = np.c_[x, rng.normal(size=120)]
    model = RankSVM(1e-6, loss="squared_hinge").fit(X, x)
    assert -1e-12 <= model.gap_ <= 1e-3
    assert model.score(X, x) > 0.85
