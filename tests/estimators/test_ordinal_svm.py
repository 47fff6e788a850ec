"""Support vector ordinal regression."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from ordinal import ordinal_hinge
from scipy.optimize import LinearConstraint, minimize
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import NystromMap, OrdinalSVM
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.kernels import Gaussian

ANOTHER_DRAW = "which rows are drawn for the basis depends on their number"


def expected_failures(estimator):
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return {} if estimator.n_basis is None else dict.fromkeys(checks, ANOTHER_DRAW)


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks(
    [OrdinalSVM(), OrdinalSVM(kernel="gaussian", n_basis=1)],
    expected_failed_checks=expected_failures,
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture
def graded(rng):
    """Rows of four classes, of different sizes, that overlap."""
    X = rng.normal(size=(120, 3))
    return X, np.searchsorted([-2.0, 0.5, 1.5], X @ [2.0, -1.0, 0.0] + rng.normal(size=120))


def direct_solution(X, y, alpha, weights=None):
    """Minimise eq. 4 of Díez et al., in the scale of the mean, over w, b, and a slack a row and threshold."""
    (m, n), r = X.shape, y.max() + 1
    weights = np.ones(m) if weights is None else weights
    shares = np.repeat(weights / (weights.sum() * (r - 1)), r - 1)
    above = np.repeat(y, r - 1) > np.tile(np.arange(r - 1), m)
    signs = np.where(above, 1.0, -1.0)[:, None]
    # signs * (w.x - b_k) >= 1 - slack
    constraints = np.hstack(
        (signs * np.repeat(X, r - 1, axis=0), -signs * np.tile(np.eye(r - 1), (m, 1)), np.eye(m * (r - 1)))
    )
    start = np.concatenate((np.zeros(n + r - 1), np.ones(m * (r - 1))))
    found = minimize(
        lambda v: alpha * v[:n] @ v[:n] + shares @ v[n + r - 1 :],
        start,
        jac=lambda v: np.concatenate((2 * alpha * v[:n], np.zeros(r - 1), shares)),
        bounds=[(None, None)] * (n + r - 1) + [(0, None)] * len(shares),
        constraints=LinearConstraint(constraints, 1.0, np.inf),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_the_program_with_slacks(rng, weighted):
    X, y = rng.normal(size=(12, 2)), np.array([0, 1, 2] * 4)
    weights = rng.choice([0.5, 1.0, 3.0], 12) if weighted else None
    alpha = 0.05
    found = direct_solution(X, y, alpha, weights)
    model = OrdinalSVM(alpha, tol=1e-8).fit(X, y, sample_weight=weights)
    assert model.objective_ == pytest.approx(found.fun, abs=1e-7)
    np.testing.assert_allclose(model.coef_, found.x[:2], atol=2e-4)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.3)])
def test_the_objective_is_the_definition_and_the_certificate_holds(graded, kernel):
    X, y = graded
    rough, fine = (OrdinalSVM(1e-2, kernel=kernel, tol=tol).fit(X, y) for tol in (0.05, 1e-7))
    for model in (rough, fine):
        scores = model.score_samples(X)
        dual = None if kernel == "linear" else model.dual_coef_
        norm = model.coef_ @ model.coef_ if dual is None else dual @ kernel(model.basis_) @ dual
        value = ordinal_hinge(y, scores, model.thresholds_) + 1e-2 * norm
        assert model.objective_ == pytest.approx(value, rel=1e-9)
        assert model.n_iter_ == len(model.history_)
    assert fine.gap_ <= 1e-7
    assert rough.objective_ - rough.gap_ <= fine.objective_ <= rough.objective_


def test_no_thresholds_are_better(graded):
    X, y = graded
    model = OrdinalSVM(1e-2).fit(X, y)
    scores = model.score_samples(X)
    best = ordinal_hinge(y, scores, model.thresholds_)
    for k in range(3):
        for step in (-0.5, -1e-3, 1e-3, 0.5):
            other = model.thresholds_ + step * (np.arange(3) == k)
            assert ordinal_hinge(y, scores, other) >= best - 1e-12


def test_two_classes_are_a_support_vector_machine(rng):
    """SVC minimises 1/2 ||w||^2 + C * sum(loss): alpha = 1 / (2 * C * m)."""
    X = rng.normal(size=(80, 3))
    y = (X @ [1.0, 2.0, -1.0] + rng.normal(size=80) > 0.3).astype(int)
    ours = OrdinalSVM(1 / (2 * 0.7 * 80), tol=1e-9, max_iter=10_000).fit(X, y)
    theirs = SVC(C=0.7, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_basis_of_all_rows_is_the_kernel_method(rng):
    X = rng.normal(size=(80, 2))
    y = np.searchsorted([0.8, 1.6], np.hypot(*X.T))
    model = OrdinalSVM(1e-4, kernel=Gaussian(0.5)).fit(X, y)
    assert model.score(X, y) > 0.9 > OrdinalSVM(1e-4).fit(X, y).score(X, y)
    nystrom = NystromMap(Gaussian(0.5), n_basis=80).fit(X)
    linear = OrdinalSVM(1e-4).fit(nystrom.transform(X), y)
    np.testing.assert_allclose(model.score_samples(X), linear.score_samples(nystrom.transform(X)), rtol=1e-6, atol=1e-6)
    few = OrdinalSVM(1e-4, kernel=Gaussian(0.5), n_basis=20).fit(X, y)
    assert few.basis_.shape == (20, 2)
    assert few.dual_coef_.shape == (20,)
    assert few.score(X, y) > 0.8


def test_a_matrix_of_kernels_will_do(graded):
    X, y = graded
    weights = np.where(np.arange(120) < 20, 0.0, 1.0)  # rows without weight still have columns
    model = OrdinalSVM(kernel=Gaussian(0.5)).fit(X, y, sample_weight=weights)
    given = OrdinalSVM(kernel="precomputed").fit(Gaussian(0.5)(X), y, sample_weight=weights)
    np.testing.assert_allclose(given.score_samples(Gaussian(0.5)(X[:9], X)), model.score_samples(X[:9]), atol=1e-6)


def test_predictions_follow_the_thresholds(graded):
    """T11 eq. 3.6: a score on a threshold belongs to the class below."""
    X, y = graded
    model = OrdinalSVM().fit(X, y)
    scores = model.score_samples(X)
    expected = [sum(score > threshold for threshold in model.thresholds_) for score in scores]
    np.testing.assert_array_equal(model.predict(X), expected)
    model.thresholds_ = np.sort(scores[:3])
    np.testing.assert_array_equal(model.predict(X[:3]), np.argsort(np.argsort(scores[:3])))
    np.testing.assert_array_equal(model.predict_category(X), model.predict(X))


def test_score_is_accuracy(graded):
    X, y = graded
    model = OrdinalSVM().fit(X, y)
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert cross_val_score(OrdinalSVM(), X, y, cv=3).min() > 0.4


def test_classes_may_be_named_in_their_order(graded):
    X, y = graded
    names = np.array(["poor", "fair", "good", "excellent"])
    model = OrdinalSVM(classes=names).fit(X, names[y])
    numbers = OrdinalSVM().fit(X, y)
    np.testing.assert_array_equal(model.coef_, numbers.coef_)
    np.testing.assert_array_equal(model.predict(X), names[numbers.predict(X)])
    assert model.classes_.tolist() == names.tolist()
    without_good = OrdinalSVM(classes=names).fit(X[y != 2], names[y[y != 2]])
    assert without_good.classes_.tolist() == ["poor", "fair", "excellent"]
    assert OrdinalSVM().fit(X, names[y]).classes_.tolist() == sorted(names)


@pytest.mark.parametrize(
    ("classes", "message"),
    [(["poor", "fair"], "not among classes: 'good'"), (["poor", "poor", "good"], "each class once")],
)
def test_classes_that_do_not_fit(classes, message):
    with pytest.raises(ValueError, match=message):
        OrdinalSVM(classes=classes).fit([[1.0], [2.0]], ["poor", "good"])


def test_rows_without_weight_are_not_there(graded):
    X, y = graded
    weights = np.where(y == 3, 0.0, 1.0)
    model, other = OrdinalSVM().fit(X, y, sample_weight=weights), OrdinalSVM().fit(X[y < 3], y[y < 3])
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-9)
    assert model.classes_.tolist() == [0, 1, 2]


def test_formats_give_the_same(graded):
    X, y = graded
    X[np.abs(X) < 0.5] = 0.0
    expected = OrdinalSVM().fit(X, y)
    for form in (sp.csr_matrix, sp.csc_array, np.asfortranarray, pd.DataFrame):
        model = OrdinalSVM().fit(form(X), y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(model.predict(form(X)), expected.predict(X))


def test_an_offset_of_the_features_changes_nothing(graded):
    X, y = graded
    model, other = OrdinalSVM().fit(X, y), OrdinalSVM().fit(X + 1e6, y)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-4)
    np.testing.assert_array_equal(other.predict(X + 1e6), model.predict(X))


def test_threads_change_nothing(graded):
    X, y = graded
    np.testing.assert_array_equal(OrdinalSVM(n_jobs=2).fit(X, y).coef_, OrdinalSVM().fit(X, y).coef_)


def test_zero_may_be_the_best():
    """One row of the rare class, in the middle of the others: no direction separates it."""
    X, y = np.array([[-1.0], [1.0], [0.0]] * 10), np.array([0, 0, 0] * 9 + [0, 0, 1])
    model = OrdinalSVM().fit(X, y)
    assert model.objective_ == pytest.approx(2 / 30)
    assert model.gap_ <= 1e-3 * 2 / 30
    assert (model.predict(X) == 0).all()


def test_not_converged(graded):
    X, y = graded
    with pytest.warns(ConvergenceWarning, match="Not converged after 2 iterations"):
        model = OrdinalSVM(1e-6, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        longer = OrdinalSVM(1e-6, max_iter=120, tol=1e-12).fit(X, y)  # more than one round
    assert longer.n_iter_ == len(longer.history_) <= 120
    assert (np.diff(longer.history_["seconds"]) >= 0).all()
    assert model.objective_ - model.gap_ <= longer.objective_ <= model.objective_


def test_a_second_fit_leaves_nothing_of_the_first(graded):
    X, y = graded
    model = OrdinalSVM(kernel="gaussian").fit(X, y)
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "basis_")


@pytest.mark.parametrize(
    ("parameters", "y", "error", "message"),
    [
        ({"alpha": 0.0}, [0, 1], ValueError, "alpha"),
        ({"max_iter": 0}, [0, 1], ValueError, "max_iter"),
        ({"kernel": "gaussian", "n_basis": 0}, [0, 1], ValueError, "n_basis"),
        ({"n_basis": 1}, [0, 1], ValueError, "n_basis"),
        ({}, [1, 1], NoComparablePairsError, "two classes"),
        ({}, [0.5, 1.25], ValueError, "Unknown label type"),
        ({}, [0, 1, 2], ValueError, "y has 3 elements"),
        ({}, None, ValueError, "requires y"),
    ],
)
def test_errors_name_the_matter(parameters, y, error, message):
    with pytest.raises(error, match=message):
        OrdinalSVM(**parameters).fit([[1.0], [2.0]], y)
