"""Arrays of other libraries: everything as with NumPy, in the namespace and on the device of X."""

import array_api_compat
import array_api_strict
import numpy as np
import pytest
from least_squares import query_ids
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.utils.estimator_checks import check_array_api_input, check_array_api_same_namespace

from kernelrank import RLS, RLSCV, NystromMap, OrdinalSVM, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank._arrays import GroupSums, place, to_host
from kernelrank.kernels import Gaussian, Linear, Polynomial
from kernelrank.metrics import concordance_index, pairwise_error
from kernelrank.persistence import load_model, load_svmlight_model, save_model, save_svmlight_model
from kernelrank.solvers import make_products

KERNELS = {
    "few features": ("linear", 5),
    "many features": ("linear", 60),
    "scale": ("gaussian", 5),
    "sum and product": (0.5 * Gaussian(0.1) * Linear() + Polynomial(2, gamma=0.1), 5),
    "function": (lambda X, Y: X @ Y.T, 5),
}
kernels = pytest.mark.parametrize(("kernel", "n"), KERNELS.values(), ids=KERNELS)


pytestmark = pytest.mark.usefixtures("array_api")


def data(rng, n, outputs=None, m=30):
    X = rng.normal(size=(m, n)) + 3.0
    Y = np.round(X[:, :1] + rng.normal(size=(m, outputs or 1)), 1)
    return X, Y if outputs else Y[:, 0]


def fit_both(model, put, X, y, dispatch=True, **metadata):
    """Return a model of NumPy arrays, and one of others."""
    other = type(model)(**model.get_params(deep=False))
    with config_context(array_api_dispatch=dispatch):
        given = {name: values if name == "qid" else put(values) for name, values in metadata.items()}
        return model.fit(X, y, **metadata), other.fit(put(X), put(y), **given)


def assert_same(expected, found, place):
    if isinstance(expected, list):
        assert len(expected) == len(found)
        for one, other in zip(expected, found, strict=True):
            assert_same(one, other, place)
        return
    assert array_api_compat.array_namespace(found) is array_api_compat.array_namespace(place)
    assert array_api_compat.device(found) == array_api_compat.device(place)
    assert_allclose(to_host(found), expected, rtol=1e-9, atol=1e-9 * max(1.0, np.nanmax(np.abs(expected), initial=0.0)))


def assert_same_model(model, other, put, X):
    names = [name for name in ("coef_", "dual_coef_", "basis_") if hasattr(model, name)]
    assert names
    place = put(X)
    for name in names:
        assert_same(getattr(model, name), getattr(other, name), place)
    assert_allclose(to_host(other.intercept_), model.intercept_, rtol=1e-9, atol=1e-9)
    with config_context(array_api_dispatch=True):
        assert_same(model.predict(X), other.predict(place), place)


@pytest.mark.pairwise(each=["put"])
@kernels
@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("n_basis", [None, 8])
def test_one_ranking(rng, put, kernel, n, outputs, n_basis):
    X, y = data(rng, n, outputs)
    for model in (RLS(1e-2, kernel=kernel, n_basis=n_basis), RankRLS(1e-2, kernel=kernel, n_basis=n_basis)):
        model, other = fit_both(model, put, X, y)
        assert_same_model(model, other, put, X)
        place, folds = put(X), [[0, 3, 4], np.arange(0), np.arange(30) < 7]
        assert_same(model.path([1e-3, 10.0]), other.path([1e-3, 10.0]), place)
        assert_same(model.hold_out(folds), other.hold_out(folds), place)
    pairs = [[0, 1], [7, 2]]
    assert_same(model.leave_pair_out(), other.leave_pair_out(), place)
    assert_same(model.leave_pair_out(pairs), other.leave_pair_out(pairs), place)
    assert_allclose(other.leave_pair_out_concordance(), model.leave_pair_out_concordance(), rtol=1e-14)


@pytest.mark.pairwise(each=["put"])
@kernels
@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("weighted", [False, True])
def test_queries(rng, put, kernel, n, ties, weighted):
    X, y = data(rng, n)
    metadata = {"qid": query_ids(rng, 30)}
    if weighted:
        metadata["sample_weight"] = rng.integers(3, size=30) + 0.5
    model, other = fit_both(RankRLS(1e-2, kernel=kernel, ties=ties), put, X, y, **metadata)
    assert_same_model(model, other, put, X)
    folds = [np.flatnonzero(metadata["qid"] == metadata["qid"][5]), [1, 2, 3, 4], [29]]
    assert_same(model.leave_query_out(), other.leave_query_out(), put(X))
    assert_same(model.leave_query_out(alpha=3.0), other.leave_query_out(alpha=3.0), put(X))
    assert_same(model.hold_out(folds), other.hold_out(folds), put(X))


@pytest.mark.parametrize("cost", ["magnitude", "unit"])
def test_weights_and_costs(rng, put, cost):
    X, y = data(rng, 5)
    weights = rng.integers(3, size=30) * 1.0
    model, other = fit_both(RankRLS(kernel="gaussian", cost=cost), put, X, y, sample_weight=weights)
    assert_same_model(model, other, put, X)


@pytest.mark.pairwise(each=["put"])
@pytest.mark.parametrize("kernel", ["linear", "gaussian", ["linear", "gaussian", Gaussian(0.01)]])
@pytest.mark.parametrize(
    ("model", "queries"),
    [
        (RLSCV(alphas=5), False),
        (RLSCV(alphas=5, cv=3), False),
        (RankRLSCV(alphas=5), False),
        (RankRLSCV(alphas=5), True),
        (RankRLSCV(alphas=5, cv=3), True),
    ],
)
def test_choice_of_alpha(rng, put, model, queries, kernel):
    X, y = data(rng, 5, outputs=2)
    metadata = {"qid": query_ids(rng, 30)} if queries else {}
    model, other = fit_both(model.set_params(kernel=kernel), put, X, y, **metadata)
    assert_allclose(other.alphas_, model.alphas_, rtol=1e-9)
    assert_allclose(other.scores_, model.scores_, rtol=1e-9)
    assert_same_model(model, other, put, X)


def test_rank_and_score(rng, put):
    X, y = data(rng, 5)
    model, other = fit_both(RankRLS(), put, X, y)
    with config_context(array_api_dispatch=True):
        np.testing.assert_array_equal(other.rank(put(X)), model.rank(X))
        assert other.score(put(X), put(y)) == model.score(X, y)


def test_precomputed(rng, put):
    X, y = data(rng, 5)
    model, other = fit_both(RankRLS(kernel="precomputed"), put, X @ X.T, y)
    assert_same(model.dual_coef_, other.dual_coef_, put(X))
    assert_same(model.leave_pair_out(), other.leave_pair_out(), put(X))


@pytest.mark.parametrize("n_basis", [None, 8])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_float32_is_learnt_from_in_float64(rng, put, kernel, n_basis):
    X, y = data(rng, 5)
    X = X.astype(np.float32)
    model, other = fit_both(RankRLS(kernel=kernel, n_basis=n_basis), put, X, y)
    assert_same_model(model, other, put, X)


def test_without_dispatch_arrays_become_numpy(rng):
    torch = pytest.importorskip("torch")
    X, y = data(rng, 5)
    model, other = fit_both(RankRLS(), torch.asarray, X, y, dispatch=False)
    assert isinstance(other.coef_, np.ndarray)
    np.testing.assert_array_equal(other.coef_, model.coef_)


def test_partial_fit_and_other_estimators_convert(rng, put):
    X, y = data(rng, 5)
    model, other = fit_both(RankRLS(), put, X, y)
    with config_context(array_api_dispatch=True):
        other.partial_fit(put(X[:5]), put(y[:5]))
        classifier = OrdinalSVM().fit(put(X), put(y > 3))
    assert_allclose(other.coef_, model.partial_fit(X[:5], y[:5]).coef_, rtol=1e-9)
    np.testing.assert_array_equal(classifier.coef_, OrdinalSVM().fit(X, y > 3).coef_)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: RankRLS(solver="cg").fit(X, y), 'solver="direct"'),
        (lambda X, y: RankRLS(cost="relative").fit(X, y), "take NumPy arrays"),
        (lambda X, y: RankRLS().fit_pairs(X, [[0, 1]]), "take NumPy arrays"),
        (lambda X, y: RankRLS(ties="drop").fit(X, y).leave_pair_out([[0, 1]]), "fit to NumPy"),
        (lambda X, y: RankRLS(kernel="rbf").fit(X, y), "use a kernel of kernelrank"),
        (lambda X, y: RankRLS().fit(X, y).predict(to_host(X)), "X is of NumPy"),
        (lambda X, y: RankRLS().fit(to_host(X), y).predict(X), "the model of NumPy"),
        (lambda X, y: RankSVM().fit(X, y).predict(to_host(X)), "X is of NumPy"),
        (lambda X, y: RankSVM().fit(to_host(X), y).predict(X), "the model of NumPy"),
        (lambda X, y: RankSVM().fit_pairs(X, [[0, 1]]), "takes NumPy arrays"),
        (lambda X, y: RankSVMCV().fit_pairs(X, [[0, 1]]), "takes NumPy arrays"),
        (lambda X, y: RankSVM(kernel="gaussian").fit(X, y), "set n_basis to less than the number of rows, 30"),
        (lambda X, y: RankSVM(kernel="rbf", n_basis=5).fit(X, y), "use a kernel of kernelrank"),
    ],
)
def test_what_is_for_numpy_alone_says_so(rng, put, call, message):
    X, y = data(rng, 5)
    with config_context(array_api_dispatch=True), pytest.raises(ValueError, match=message):
        call(put(X), put(np.round(y)))


@pytest.mark.parametrize("model", [RLS(), RLS(kernel=Gaussian(0.1)), RankRLS(), RankRLS(kernel=Gaussian(0.1))], ids=str)
def test_scikit_learns_checks(model):
    for dtype in ("float64", "float32"):
        check_array_api_input(type(model).__name__, model, "array_api_strict", "device1", dtype, check_values=True)
    check_array_api_same_namespace(type(model).__name__, model, "array_api_strict")


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)], ids=["few vectors", "all vectors"])
def test_plain_pairs_are_the_compiled_ones(rng, kernel):
    """With equal rows, whose predictions are equal but for rounding."""
    X, y = data(rng, 5, outputs=2)
    X[:3] = X[3:6]
    ranking = RankRLS(kernel=kernel).fit(X, y)._training.hold_out.held_out
    m, alpha, halves, pairs = len(X), 0.1, 0, 0
    F = ranking.all_pairs(alpha)
    ties = ranking.tolerances(alpha), ranking.limits
    for rows, equations in ranking.blocks(np.arange(m), np.arange(m), alpha):
        assert_allclose(equations.predict(y.T[:, rows, None], y.T[:, None], *ties)[0], F[:, rows], rtol=1e-10)
        counts = equations.count(y.T[:, rows, None], y.T[:, None], *ties, alone=False)
        halves, pairs = halves + counts[0], pairs + counts[1]
    counted = ranking.count(alpha)
    assert pairs.tolist() == counted.pairs.tolist()
    assert halves.tolist() == counted.halves.tolist()
    assert (halves % 2).any()  # or no pair was a tie


@pytest.mark.parametrize("n_groups", [1, 2, 7, 40])
def test_sums_over_groups(rng, put, n_groups):
    groups = rng.permutation(np.append(np.arange(n_groups), rng.integers(n_groups, size=60) ** 2 % n_groups))
    x, weights = rng.normal(size=(len(groups), 3)), rng.normal(size=len(groups))
    sums = GroupSums(groups, weights)
    expected = np.stack([weights[groups == g] @ x[groups == g] for g in range(n_groups)])
    assert_allclose(sums(x), expected, atol=1e-12)
    assert_allclose(to_host(sums(put(x))), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_model_files_have_arrays_of_numpy(rng, put, tmp_path, kernel):
    X, y = data(rng, 5)
    expected, model = fit_both(RankRLS(0.1, kernel=kernel), put, X, y)
    with config_context(array_api_dispatch=True):
        save_model(model, tmp_path / "model")
    assert_allclose(load_model(tmp_path / "model").predict(X), expected.predict(X), rtol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(0.1), "linear", "precomputed"], ids=["gaussian", "linear", "matrix"])
def test_features(rng, put, kernel):
    X, _ = data(rng, 5)
    X = Gaussian(0.1)(X) if kernel == "precomputed" else X
    ours, theirs = NystromMap(kernel, n_basis=12), NystromMap(kernel, n_basis=12)
    with config_context(array_api_dispatch=True):
        place, fold = put(X), ours.fit(X).basis_indices_[:3]
        theirs.fit(place)
        features = theirs.transform(place)
        assert_same(ours.transform(X) @ ours.transform(X).T, features @ features.T, place)
        without, same = theirs.without(fold), ours.without(fold)
        restricted, expected = without.restrict(features), same.transform(X)
        assert_same(expected @ expected.T, restricted @ restricted.T, place)
        w = expected.T @ X[:, 0]
        assert_same(same.coefficients(w), without.coefficients(restricted.T @ place[:, 0]), place)
        with pytest.raises(ValueError, match=r"NystromMap.transform\(\) must use the same namespace"):
            theirs.transform(X)


# Ranking SVMs: cutting planes go their own way where sums are rounded differently, so solutions agree within tol.

losses = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def assert_same_certificate(model, other):
    """Assert that each of two fits has an objective that the certificate of the other allows."""
    assert other.n_pairs_ == model.n_pairs_
    assert other.gap_ <= 1e-3
    assert other.objective_ - other.gap_ <= model.objective_
    assert model.objective_ - model.gap_ <= other.objective_


@losses
@pytest.mark.filterwarnings("ignore::kernelrank.exceptions.UndefinedQueryWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"positive": True}, {"query_weighting": "pair", "alpha": 0.1}], ids=str)
def test_ranking_svm(rng, put, loss, queries, dtype, parameters):
    X, y = data(rng, 5, m=200)
    X = X.astype(dtype)
    metadata = {"qid": query_ids(rng, 200)} if queries else {}
    model, other = fit_both(RankSVM(loss=loss, **parameters), put, X, y, **metadata)
    assert_same_certificate(model, other)
    assert place(other.coef_) == place(put(X))
    assert_allclose(to_host(other.coef_), model.coef_, atol=1e-3)
    with config_context(array_api_dispatch=True):
        found = other.predict(put(X))
        assert place(found) == place(other.decision_function(put(X))) == place(put(X))
        assert_allclose(to_host(found), X @ to_host(other.coef_), rtol=1e-5)
        assert other.score(put(X), put(y), **metadata) == pytest.approx(model.score(X, y, **metadata), abs=1e-2)
        assert other.rank(put(X), **metadata).min() == 1


@losses
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("names", [["sample_weight"], ["observed"], ["sample_weight", "observed"]], ids=" and ".join)
def test_ranking_svm_with_weights_and_censoring(rng, put, loss, queries, names):
    X, y = data(rng, 5, m=200)
    given = {"sample_weight": rng.integers(3, size=200) + 1e-3, "observed": rng.random(200) < 0.7}
    metadata = {name: given[name] for name in names} | ({"qid": query_ids(rng, 200)} if queries else {})
    model, other = fit_both(RankSVM(loss=loss), put, X, y, **metadata)
    assert_same_certificate(model, other)
    assert_allclose(to_host(other.coef_), model.coef_, atol=1e-3)


@losses
def test_certificate_of_float32_holds_for_a_precise_fit_in_float64(rng, put, loss):
    X, y = data(rng, 5, m=200)
    X = (1e3 * X).astype(np.float32)
    with config_context(array_api_dispatch=True):
        found = RankSVM(loss=loss, tol=1e-5).fit(put(X), put(y))
    best = RankSVM(loss=loss, tol=1e-7).fit(X.astype(np.float64), y)
    assert found.objective_ - found.gap_ <= best.objective_
    assert best.objective_ - best.gap_ <= found.objective_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("queries", [False, True])
def test_products(rng, put, queries, dtype):
    """With columns that are far from zero, in all rows or in each query, and with constant ones."""
    m = 300
    codes = np.arange(m, dtype=np.int32) % 7 if queries else None
    X = rng.normal(size=(m, 6))
    X[:, 1] += 1e5
    X[:, 2] = 4.0
    X[:, 3] += 0.0 if codes is None else 1e5 * codes
    X[:, 4] = 1.0 if codes is None else codes
    X = X.astype(dtype)
    found, expected = (make_products(each, queries=codes) for each in (put(X), X))
    w, g = rng.normal(size=6), rng.normal(size=m)
    g -= g.mean() if codes is None else (np.bincount(codes, g) / np.bincount(codes))[codes]
    scores = found.forward(w)
    assert place(scores) == place(found.zeros()) == place(put(X))
    assert_allclose(to_host(scores), expected.forward(w), rtol=1e-12)
    assert_allclose(found.backward(put(g)), expected.backward(g), atol=1e-11)
    d = rng.uniform(size=m)
    assert_allclose(found.squares(put(d)), expected.squares(d), rtol=1e-12)
    assert_allclose(found.diagonal(put(d)), expected.diagonal(d), rtol=1e-9)
    assert (expected.squares(d) == 0).sum() == 2


@pytest.mark.parametrize("kernel", ["gaussian", Polynomial(2, gamma=0.1)], ids=["gaussian", "polynomial"])
def test_ranking_svm_with_basis_rows(rng, put, kernel):
    X, y = data(rng, 5, m=200)
    model, other = fit_both(RankSVM(kernel=kernel, n_basis=20), put, X, y)
    assert_same_certificate(model, other)
    assert place(other.dual_coef_) == place(other.basis_) == place(put(X))
    with config_context(array_api_dispatch=True):
        assert_allclose(to_host(other.predict(put(X))), model.predict(X), atol=1e-2)


@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"loss": "squared_hinge"}, {"kernel": ["linear", Gaussian(0.1)], "n_basis": 20}, {"scoring": "ndcg@5"}],
    ids=["hinge", "squared hinge", "two kernels", "another metric"],
)
def test_choice_of_alpha_of_ranking_svm(rng, put, queries, parameters):
    X, y = data(rng, 5, m=200)
    metadata = {"qid": rng.integers(10, size=200)} if queries else {"sample_weight": rng.integers(1, 4, size=200)}
    y = y - y.min()  # NDCG takes no negative utilities
    model, other = fit_both(RankSVMCV([1.0, 0.1, 0.01], cv=3, **parameters), put, X, y, **metadata)
    assert_allclose(other.scores_, model.scores_, atol=5e-3)
    assert other.scores_.shape == (3, 3)
    assert_allclose(other.coef_path_, model.coef_path_, atol=2e-3 * np.abs(model.coef_path_).max())
    assert (other.gaps_ <= 1e-3).all()
    if other.alpha_ == model.alpha_:
        assert_same_certificate(model, other)
    assert place(other.dual_coef_ if hasattr(other, "dual_coef_") else other.coef_) == place(put(X))


@pytest.mark.parametrize("metric", [concordance_index, pairwise_error])
def test_metrics(rng, put, metric):
    y, scores = rng.integers(0, 9, 200) * 1.0, rng.integers(0, 20, 200) / 4
    qid, weights = rng.integers(0, 20, 200), rng.uniform(size=200)
    with config_context(array_api_dispatch=True):
        for options in ({}, {"qid": qid}, {"qid": qid, "per_query": True}, {"ties": 0.0}):
            assert_array_equal(metric(put(y), put(scores), **options), metric(y, scores, **options))
            assert_array_equal(metric(y, put(scores), **options), metric(y, scores, **options))
        for options in ({"sample_weight": weights}, {"observed": weights > 0.2}, {"truncation": 7.0}):
            assert metric(put(y), put(scores), **options) == metric(y, scores, **options)
        for each in (scores.astype(np.float32), scores.astype(np.int64)):
            assert metric(y, put(each)) == metric(y, each)
        with pytest.raises(ValueError, match="NaN"):
            metric(put(y), put(np.append(scores[1:], np.nan)))
        with pytest.raises(ValueError, match="y_score has 3 elements"):
            metric(put(y), put(scores[:3]))
        with pytest.raises(ValueError, match="y_score and y_true must be in the same place"):
            metric(array_api_strict.asarray(y, device=array_api_strict.Device("device2")), put(scores))


def test_labels_may_be_numpys_but_not_elsewhere(rng, put):
    X, y = data(rng, 5)
    qid = query_ids(rng, 30)
    with config_context(array_api_dispatch=True):
        expected = RankSVM().fit(put(X), put(y), qid=qid)
        for labels, queries in ((y, put(qid)), (y.tolist(), qid.tolist())):
            assert_same(to_host(expected.coef_), RankSVM().fit(put(X), labels, qid=queries).coef_, put(X))
        with pytest.raises(ValueError, match=r"X and y must be in the same place: .* the second of array_api_s"):
            RankSVM().fit(put(X), array_api_strict.asarray(y, device=array_api_strict.Device("device2")))


def test_sparse_tensors_are_refused(rng):
    torch = pytest.importorskip("torch")
    X, y = data(rng, 5)
    with config_context(array_api_dispatch=True), pytest.raises(ValueError, match=r"layout torch.sparse_coo, .* dense"):
        RankSVM().fit(torch.asarray(X).to_sparse(), y)


@losses
def test_ranking_svm_from_its_last_solution_and_in_a_file(rng, put, tmp_path, loss):
    X, y = data(rng, 5)
    with config_context(array_api_dispatch=True):
        model = RankSVM(0.01, loss=loss, warm_start=True).fit(put(X), put(y))
        n_iter = model.n_iter_
        assert model.fit(put(X), put(y)).n_iter_ < n_iter
        save_model(model, tmp_path / "model")
        save_svmlight_model(model, tmp_path / "svmlight")
    for load in (load_model, load_svmlight_model):
        loaded = load(tmp_path / ("model" if load is load_model else "svmlight"))
        assert_allclose(loaded.predict(X), X @ to_host(model.coef_), rtol=1e-12)
