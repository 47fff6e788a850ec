"""Alpha and kernel chosen by held-out predictions: every score is what refits give."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, LeaveOneOut, cross_val_predict

from kernelrank import RLS, RLSCV, RankRLS, RankRLSCV
from kernelrank.estimators import _least_squares
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.kernels import Gaussian, Linear, Polynomial, Precomputed, Scaled
from kernelrank.metrics import concordance_index, make_ranking_scorer, ndcg
from kernelrank.solvers.least_squares import _problem as least_squares

ALPHAS = [10.0, 0.1, 1e-3]


def data(rng, m=40, n=4, outputs=None):
    X = rng.normal(size=(m, n))
    Y = X[:, :2].sum(axis=1)[:, None] + rng.normal(size=(m, outputs or 1))
    return X, Y if outputs else Y[:, 0]


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)])
@pytest.mark.parametrize("outputs", [None, 2])
def test_leave_pair_out(rng, kernel, outputs):
    X, y = data(rng, outputs=outputs)
    model = RankRLSCV(ALPHAS, kernel=kernel).fit(X, y)
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        single = RankRLS(alpha, kernel=kernel).fit(X, y)
        assert score == pytest.approx(np.mean(single.leave_pair_out_concordance()))
    best = RankRLS(model.alpha_, kernel=kernel).fit(X, y)
    np.testing.assert_allclose(model.predict(X), best.predict(X), rtol=1e-8)
    assert model.alpha_ == model.alphas_[np.argmax(model.scores_.mean(axis=1))]
    np.testing.assert_allclose(
        model.leave_pair_out([[0, 1]]), best.leave_pair_out([[0, 1]]), rtol=1e-8
    )  # at the alpha that was chosen


@pytest.mark.parametrize("scoring", [None, "ndcg@3", make_ranking_scorer("ndcg", k=3)])
def test_leave_query_out(rng, scoring):
    X, y = data(rng)
    y, qid = np.clip(np.round(y), 0, 3), rng.permutation(np.repeat([f"q{k}" for k in range(8)], 5))
    metric = concordance_index if scoring is None else lambda *a, **k: ndcg(*a, k=3, **k)
    model = RankRLSCV(ALPHAS, scoring=scoring).fit(X, y, qid=qid)
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        found = RankRLS(alpha).fit(X, y, qid=qid).leave_query_out()
        assert score == pytest.approx(np.nanmean(metric(y, found, qid=qid, per_query=True)))


@pytest.mark.parametrize("with_queries", [False, True])
def test_folds_are_refits(rng, with_queries):
    X, y = data(rng)
    qid = np.repeat(np.arange(8), 5) if with_queries else None
    splits = list(GroupKFold(4).split(X, groups=qid) if with_queries else KFold(4).split(X))
    model = RankRLSCV(ALPHAS, cv=splits).fit(X, y, qid=qid)
    for alpha, scores in zip(model.alphas_, model.scores_, strict=True):
        for (train, test), score in zip(splits, scores, strict=True):
            metadata = {"qid": qid[train]} if with_queries else {}
            refit = RankRLS(alpha).fit(X[train], y[train], **metadata)
            expected = concordance_index(y[test], refit.predict(X[test]), qid=qid[test] if with_queries else None)
            assert score == pytest.approx(expected)
    assert RankRLSCV(ALPHAS, cv=4).fit(X, y, qid=qid).scores_.shape == (3, 4)


@pytest.mark.parametrize("n", [4, 60])
def test_rls_is_ridge_cv(rng, n):
    X, y = data(rng, n=n)
    model = RLSCV(ALPHAS).fit(X, y)
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        found = cross_val_predict(RLS(alpha), X, y, cv=LeaveOneOut())
        assert score == pytest.approx(-np.mean((y - found) ** 2))
    # RidgeCV keeps its penalty when a row is left out; nearly the same
    reference = RidgeCV(40 * np.array(ALPHAS), store_cv_results=True).fit(X, y)
    np.testing.assert_allclose(model.scores_.ravel(), -reference.cv_results_.mean(axis=0), rtol=0.05)


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("parameters", [{"kernel": Gaussian(0.1)}, {"n_basis": 40}, {}])
def test_groups_are_held_out_as_refits_do(rng, parameters, outputs):
    X, y = data(rng, outputs=outputs)
    groups = rng.choice(["a", "b", "c", "d", "e", "f"], size=40)
    model = RLSCV(ALPHAS, **parameters).fit(X, y, groups=groups)
    assert model.scores_.shape == (3, 1)
    found = {
        alpha: cross_val_predict(RLS(alpha, **parameters), X, y, groups=groups, cv=LeaveOneGroupOut())
        for alpha in model.alphas_
    }
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        assert score == pytest.approx(-np.mean((y - found[alpha]) ** 2))
    np.testing.assert_allclose(model.held_out_, found[model.alpha_])
    assert model.held_out_.shape == y.shape


def test_groups_with_a_basis(rng):
    X, y = data(rng)
    groups = np.arange(40) // 5
    model = RLSCV(ALPHAS, kernel=Gaussian(0.1), n_basis=15).fit(X, y, groups=groups)
    fixed = RLS(model.alpha_, kernel=Gaussian(0.1), n_basis=15).fit(X, y)
    found = fixed.hold_out([np.flatnonzero(groups == group) for group in range(8)])
    np.testing.assert_allclose(model.held_out_, np.concatenate(found))


def test_folds_never_split_a_group(rng):
    X, y = data(rng)
    groups = np.repeat(np.arange(8), 5)
    model = RLSCV(ALPHAS, cv=4).fit(X, y, groups=groups)
    folds = [test for _, test in GroupKFold(4).split(X, y, groups)]
    for alpha, scores in zip(model.alphas_, model.scores_, strict=True):
        found = RLS(alpha).fit(X, y).hold_out(folds)
        expected = [-np.mean((y[rows] - each) ** 2) for rows, each in zip(folds, found, strict=True)]
        np.testing.assert_allclose(scores, expected)
    with pytest.raises(ValueError, match="splits a query or group"):
        RLSCV(ALPHAS, cv=KFold(3, shuffle=True, random_state=0)).fit(X, y, groups=groups)


def test_held_out_predictions_are_those_of_the_last_fit(rng):
    X, y = data(rng)
    model = RLSCV(ALPHAS).fit(X, y)
    np.testing.assert_allclose(model.held_out_, cross_val_predict(RLS(model.alpha_), X, y, cv=LeaveOneOut()))
    by_group = model.fit(X, y, groups=np.arange(40) // 5).held_out_
    assert not np.allclose(by_group, model.fit(X, y).held_out_)  # groups are forgotten
    assert not hasattr(model.set_params(cv=5).fit(X, y), "held_out_")


def test_bad_groups_leave_the_last_fit_alone(rng):
    X, y = data(rng)
    model = RLSCV(ALPHAS).fit(X, y)
    before = model.held_out_
    for groups, message in ((np.zeros(39), "groups has 39 elements"), (np.zeros(40), "leave two rows")):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, groups=groups)
        assert model.held_out_ is before
    np.testing.assert_array_equal(model.fit(X, y).held_out_, before)


@pytest.mark.parametrize("scoring", ["concordance", "auc", concordance_index, make_ranking_scorer("auc")])
def test_leave_pair_out_accepts_the_names_of_its_score(rng, scoring):
    X, y = data(rng)
    y = np.where(y > 0, 3.0, -1.0)
    model = RankRLSCV(ALPHAS, scoring=scoring).fit(X, y)
    np.testing.assert_array_equal(model.scores_, RankRLSCV(ALPHAS).fit(X, y).scores_)


def test_scores_of_rls_may_be_anything(rng):
    X, y = data(rng)
    model = RLSCV(ALPHAS, cv=5, scoring=lambda y, p: -np.abs(y - p).max()).fit(X, y)
    assert model.scores_.shape == (3, 5)
    assert (model.scores_ < 0).all()


def test_default_grids_go_from_strong_to_weak(rng):
    X, y = data(rng, m=80)
    for model in (RankRLSCV(), RankRLSCV(kernel="gaussian"), RLSCV(kernel="gaussian")):
        model.fit(X, y)
        assert len(model.alphas_) == 20
        assert (np.diff(model.alphas_) < 0).all()
        strongest = clone(model).set_params(alphas=[model.alphas_[0]]).fit(X, y)
        weakest = clone(model).set_params(alphas=[model.alphas_[-1]]).fit(X, y)
        assert np.std(strongest.predict(X)) < np.std(weakest.predict(X))


def test_a_failed_fit_leaves_the_last_one_alone(rng):
    X, y = data(rng)
    model = RankRLSCV(ALPHAS).fit(X, y)
    before = model.predict(X)
    with pytest.raises(UndefinedMetricError):
        model.set_params(cv=2).fit(X[:4], np.array([1.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RankRLSCV(0), "alphas"),
        (RankRLSCV([0.0]), "alphas"),
        (RankRLSCV(cv="leave-one-out"), "cv must be"),
        (RankRLSCV(cv="leave-query-out"), "needs queries"),
        (RankRLSCV(scoring="ndcg@10"), r"compares pairs.*got 'ndcg@10'; pass cv=10"),
        (RankRLSCV(scoring="auc"), "auc for two classes, got 'auc'; pass cv=10"),
        (RankRLSCV(scoring="concordance:ties=0"), "compares pairs"),
        (RankRLSCV(scoring="ndgc"), "Unknown metric"),
        (RankRLSCV(cv=3, scoring="ndgc"), "Unknown metric"),
        (RLSCV(cv="leave-pair-out"), "cv must be"),
        (RankRLSCV(kernel=[]), "at least one kernel"),
        (RLSCV(kernel=()), "at least one kernel"),
        (RankRLSCV(kernel=["linear", "precomputed"]), "cannot be one of several"),
        (RLSCV(kernel=[Precomputed()]), "cannot be one of several"),
        (RankRLSCV(kernel=["linear", "gausian"]), "got 'gausian'"),
    ],
)
def test_bad_parameters(rng, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*data(rng))


KERNELS = [Gaussian(0.01), "linear", Gaussian(3.0), "gaussian", Polynomial(2)]
CHOICES = {
    "leave-pair-out": (RankRLSCV(6), False),
    "leave-pair-out of classes": (RankRLSCV(ALPHAS, ties="drop"), False),
    "leave-pair-out, basis": (RankRLSCV(6, n_basis=12), False),
    "leave-query-out": (RankRLSCV(6), True),
    "leave-query-out, basis": (RankRLSCV(ALPHAS, n_basis=12, scoring="concordance"), True),
    "leave-query-out, relative": (RankRLSCV(ALPHAS, cost="relative"), True),
    "folds": (RankRLSCV(6, cv=4), False),
    "folds of queries": (RankRLSCV(ALPHAS, cv=4), True),
    "folds, basis": (RankRLSCV(6, cv=4, n_basis=12), False),
    "leave-one-out": (RLSCV(6), False),
    "leave-one-out, basis": (RLSCV(ALPHAS, n_basis=12), False),
    "RLS, folds": (RLSCV(6, cv=5), False),
}


@pytest.mark.pairwise
@pytest.mark.parametrize(("model", "with_queries"), CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("first", [0, 3])
def test_a_kernel_is_the_best_of_separate_fits(rng, model, with_queries, first):
    X, y = data(rng)
    if model.get_params().get("ties") == "drop":
        y = np.round(np.clip(y, -1, 1))
    metadata = {"qid": rng.permutation(np.repeat(np.arange(8), 5))} if with_queries else {}
    kernels = KERNELS[first:] + KERNELS[:first]
    separate = [clone(model).set_params(kernel=kernel).fit(X, y, **metadata) for kernel in kernels]
    expected = [np.max(each.scores_.mean(axis=1)) for each in separate]
    best = separate[int(np.argmax(expected))]
    found = clone(model).set_params(kernel=kernels).fit(X, y, **metadata)
    np.testing.assert_array_equal(found.kernel_scores_, expected)
    assert repr(found.kernel_) == repr(best.kernel_)
    assert vars(found).keys() == vars(best).keys() | {"kernel_scores_"}  # nothing of another kernel
    for name in ("alphas_", "scores_", "alpha_", "intercept_", "coef_", "dual_coef_", "basis_indices_"):
        assert hasattr(found, name) == hasattr(best, name)
        np.testing.assert_array_equal(getattr(found, name, 0), getattr(best, name, 0))
    np.testing.assert_array_equal(found.predict(X), best.predict(X))


def test_a_linear_function_needs_no_other_kernel(rng):
    X, y = data(rng, m=60)
    linear = RankRLSCV(ALPHAS, kernel=[Gaussian(5.0), Linear()]).fit(X, X @ [1.0, -2.0, 0.5, 0.0])
    assert linear.kernel_ == linear.kernel[1]
    assert hasattr(linear, "coef_")
    assert not hasattr(linear, "dual_coef_")
    curved = linear.fit(X, np.sum(X**2, axis=1))
    assert isinstance(curved.kernel_, Gaussian)
    assert hasattr(curved, "dual_coef_")
    assert not hasattr(curved, "coef_")
    assert not hasattr(curved.set_params(kernel="linear").fit(X, y), "kernel_scores_")


def test_the_first_of_equal_kernels(rng):
    X, y = data(rng)
    once, again = Gaussian(0.1), 1.0 * Gaussian(0.1)
    assert isinstance(RankRLSCV(ALPHAS, kernel=[once, again]).fit(X, y).kernel_, Gaussian)
    assert isinstance(RankRLSCV(ALPHAS, kernel=(again, once)).fit(X, y).kernel_, Scaled)


@pytest.mark.parametrize("kind", [RankRLSCV, RLSCV])
@pytest.mark.parametrize(
    "cv",
    [
        lambda: 4,
        lambda: KFold(4, shuffle=True),
        lambda: KFold(4, shuffle=True, random_state=np.random.RandomState(1)),
        lambda: KFold(4).split(np.zeros(40)),  # which can be asked once
    ],
)
def test_kernels_are_compared_on_the_same_folds_and_with_the_same_basis(rng, kind, cv):
    X, y = data(rng)
    for random_state in (None, np.random.RandomState(2)):
        kernel = [Gaussian(0.1)] * 3
        model = kind(ALPHAS, cv=cv(), kernel=kernel, n_basis=10, random_state=random_state).fit(X, y)
        np.testing.assert_array_equal(model.kernel_scores_, model.kernel_scores_[0])


def test_random_numbers_are_drawn_as_for_one_kernel(rng):
    X, y = data(rng)
    options = {"alphas": ALPHAS, "cv": 4, "n_basis": 10}
    states = [np.random.RandomState(3), np.random.RandomState(3)]
    one, several = (
        RankRLSCV(kernel=kernel, random_state=state, **options).fit(X, y)
        for kernel, state in zip((Gaussian(0.1), [Gaussian(0.1), Linear()]), states, strict=True)
    )
    assert several.kernel_scores_[0] == np.max(one.scores_.mean(axis=1))
    assert states[0].randint(1 << 30) == states[1].randint(1 << 30)  # as far as after one kernel


@pytest.mark.parametrize(("model", "with_queries"), CHOICES.values(), ids=CHOICES)
def test_two_kernels_are_in_memory(rng, monkeypatch, model, with_queries):
    X, y = data(rng)
    if model.get_params().get("ties") == "drop":
        y = np.round(np.clip(y, -1, 1))
    solvers, alive = [], []
    compose = _least_squares.compose

    def watched(*args, **options):
        alive.append(sum(solver() is not None for solver in solvers))
        model = compose(*args, **options)
        solvers.append(weakref.ref(model.solver))
        return model

    monkeypatch.setattr(_least_squares, "compose", watched)
    metadata = {"qid": np.arange(40) // 5} if with_queries else {}
    kernel = [Gaussian(gamma) for gamma in (3.0, 0.1, 1.0, 0.01, 0.3)]  # better ones and worse ones by turns
    gc.disable()  # memory must not wait for the next collection
    try:
        found = clone(model).set_params(kernel=kernel).fit(X, y, **metadata)
    finally:
        gc.enable()
    assert {-1.0, 1.0} <= set(np.sign(np.diff(found.kernel_scores_)))
    assert alive == [0, 1, 1, 1, 1]  # the best so far, when another one is begun


@pytest.mark.parametrize("with_queries", [False, True])
def test_a_kernel_takes_one_decomposition_and_no_refit(rng, monkeypatch, with_queries):
    X, y = data(rng)
    calls, decompose = [], least_squares.decompose_kernel

    def counted(*args):
        calls.append(args)
        return decompose(*args)

    monkeypatch.setattr(least_squares, "decompose_kernel", counted)
    monkeypatch.setattr(least_squares, "solve_kernel", lambda *args: pytest.fail("a refit"))
    metadata = {"qid": np.arange(40) // 5} if with_queries else {}
    RankRLSCV(ALPHAS, kernel=[Gaussian(gamma) for gamma in (3.0, 0.1, 1.0)]).fit(X, y, **metadata)
    assert len(calls) == 3


def test_a_list_of_kernels_is_a_parameter(rng):
    X, y = data(rng)
    kernels = ["linear", Gaussian("scale")]
    model = RankRLSCV(ALPHAS, kernel=kernels).fit(X, y)
    assert model.get_params(deep=False)["kernel"] is kernels
    assert kernels[1].gamma == "scale"
    copied = clone(model)
    assert copied.kernel == ["linear", copied.kernel[1]]
    assert copied.kernel[1] is not kernels[1]
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.kernel_scores_, model.kernel_scores_)
    assert not model.__sklearn_tags__().input_tags.pairwise


def test_a_kernel_that_fails_is_named_and_leaves_the_last_fit_alone(rng):
    X, y = data(rng)
    model = RankRLSCV(ALPHAS).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="negative") as caught:
        model.set_params(kernel=["linear", "chi2"]).fit(X, y)
    assert "chi2" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="not finite") as caught:
        model.set_params(kernel=["linear", lambda X, Y: np.full((len(X), len(Y)), np.nan)]).fit(X, y)
    assert "FunctionKernel" in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(TypeError, match="kernel must be"):
        model.set_params(kernel=["linear", ["gaussian"]]).fit(X, y)
