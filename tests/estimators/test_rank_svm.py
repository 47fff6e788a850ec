"""RankSVM: what it promises, on data of every kind."""

import contextlib
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import concordance, pairwise_hinge
from sklearn.base import clone

from kernelrank import RankSVM
from kernelrank.exceptions import ConvergenceWarning, MissingQueryWarning, NoComparablePairsError
from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import UtilityPairs


def data(rng, m=120, n=4, noise=0.5):
    X = rng.normal(size=(m, n))
    return X, X @ rng.normal(size=n) + noise * rng.normal(size=m)


def objective(model, X, y, **kwargs):
    return pairwise_hinge(y, X @ model.coef_, **kwargs) + model.alpha * model.coef_ @ model.coef_


# Certificates


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
def test_the_attributes_say_what_they_promise(rng, query_weighting):
    X, y = data(rng)
    qid = rng.integers(0, 9, len(y))
    model = RankSVM(alpha=1e-2, query_weighting=query_weighting).fit(X, y, qid=qid)
    tight = RankSVM(alpha=1e-2, query_weighting=query_weighting, tol=1e-8).fit(X, y, qid=qid)
    assert -1e-12 <= model.objective_ - tight.objective_ <= model.gap_ + 1e-12 <= 1e-3 + 1e-12
    assert model.objective_ == pytest.approx(
        objective(model, X, y, qid=qid, query_weighting=query_weighting), rel=1e-12
    )
    assert model.n_pairs_ == sum(y[i] < y[j] and qid[i] == qid[j] for i in range(len(y)) for j in range(len(y)))
    assert model.n_iter_ == len(model.history_)
    assert model.history_["upper_bound"][-1] - model.history_["lower_bound"][-1] == model.gap_


def test_not_converged_warns_with_the_gap_and_keeps_the_best(rng):
    X, y = data(rng)
    with pytest.warns(ConvergenceWarning, match=r"after 2 iterations.*certified gap is .*Increase max_iter"):
        model = RankSVM(alpha=1e-6, max_iter=2).fit(X, y)
    assert model.gap_ > 1e-3
    assert model.objective_ == model.history_["upper_bound"].min()


@pytest.mark.parametrize("alpha", [1e-12, 1e12])
def test_extreme_alphas(rng, alpha):
    X, y = data(rng)
    model = RankSVM(alpha=alpha).fit(X, y)
    assert -1e-12 <= model.gap_ <= 1e-3
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) > 0.75  # it orders, however small it is
    if alpha == 1e12:
        np.testing.assert_allclose(model.coef_, 0, atol=1e-11)
        assert model.objective_ == pytest.approx(1, abs=1e-9)


# Invariances


def test_only_the_order_of_y_matters(rng):
    X, y = data(rng)
    first = RankSVM().fit(X, y)
    np.testing.assert_array_equal(RankSVM().fit(X, np.exp(3 * y)).coef_, first.coef_)


def test_reversed_utilities_reverse_the_model(rng):
    X, y = data(rng)
    np.testing.assert_allclose(RankSVM(tol=1e-9).fit(X, -y).coef_, -RankSVM(tol=1e-9).fit(X, y).coef_, atol=1e-4)


def test_the_order_of_rows_does_not_matter(rng):
    X, y = data(rng)
    qid = rng.integers(0, 5, len(y))
    order = rng.permutation(len(y))
    first, second = (
        RankSVM(alpha=1e-2, tol=1e-9).fit(X[rows], y[rows], qid=qid[rows]) for rows in (slice(None), order)
    )
    assert first.objective_ == pytest.approx(second.objective_, abs=2e-9)
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-3)


@pytest.mark.parametrize(
    "ids", [lambda q: [f"query {k}" for k in q], lambda q: -1000 * q, lambda q: [(k, "x") for k in q]]
)
def test_names_of_queries_do_not_matter(rng, ids):
    X, y = data(rng)
    qid = rng.integers(0, 5, len(y))
    first, second = RankSVM().fit(X, y, qid=qid), RankSVM().fit(X, y, qid=ids(qid))
    np.testing.assert_allclose(second.coef_, first.coef_, rtol=1e-9)


def test_splitting_off_rows_without_a_partner_changes_nothing(rng):
    X, y = data(rng)
    qid = rng.integers(0, 5, len(y))
    alone = RankSVM().fit(np.vstack([X, X[:3] * 10]), np.append(y, [9, 9, 9]), qid=np.append(qid, [77, 78, 79]))
    np.testing.assert_allclose(alone.coef_, RankSVM().fit(X, y, qid=qid).coef_, rtol=1e-9)


def test_an_offset_leaves_the_model_unchanged(rng):
    X, y = data(rng)
    reference = RankSVM().fit(X, y).coef_
    offset = X + [1e8, 0, -1e8, 5.0]
    for shifted in (offset, sp.csr_array(offset), np.asfortranarray(offset)):
        np.testing.assert_allclose(RankSVM().fit(shifted, y).coef_, reference, rtol=0, atol=1e-6)


def test_a_constant_feature_gets_weight_zero(rng):
    X, y = data(rng)
    assert RankSVM(alpha=1e-9).fit(np.column_stack([X, np.full(len(y), 1e8)]), y).coef_[-1] == 0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_feature_that_is_constant_in_every_query_changes_nothing(rng, loss):
    X, y = data(rng)
    qid = np.arange(len(y)) // 10
    when = 1e12 * rng.normal(size=len(y))[qid]
    model = RankSVM(alpha=1e-6, loss=loss).fit(np.column_stack([X, when]), y, qid=[f"q{k}" for k in qid])
    assert model.coef_[-1] == 0
    np.testing.assert_allclose(model.coef_[:-1], RankSVM(alpha=1e-6, loss=loss).fit(X, y, qid=qid).coef_, rtol=1e-9)
    pairs = [[k, k + 1] if y[k] > y[k + 1] else [k + 1, k] for k in range(0, len(y) - 1, 2)]
    assert RankSVM(alpha=1e-6, loss=loss).fit_pairs(np.column_stack([X, when]), pairs, qid=qid).coef_[-1] == 0


@pytest.mark.parametrize("k", [2, 3])
def test_repeated_rows_equal_weights(rng, k):
    X, y = data(rng, m=60)
    repeated = RankSVM(alpha=1e-2, tol=1e-9).fit(np.repeat(X, k, axis=0), np.repeat(y, k))
    weighted = RankSVM(alpha=1e-2, tol=1e-9).fit(X, y, sample_weight=np.full(len(y), k))
    single = RankSVM(alpha=1e-2, tol=1e-9).fit(X, y)
    assert repeated.n_pairs_ == k * k * single.n_pairs_ == weighted.n_pairs_
    for model in (repeated, weighted):
        np.testing.assert_allclose(model.coef_, single.coef_, atol=1e-3)


def test_uneven_weights_equal_repetitions(rng):
    X, y = data(rng, m=60)
    qid, weights = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    repeated = RankSVM(alpha=1e-2, tol=1e-9).fit(X[rows], y[rows], qid=qid[rows])
    weighted = RankSVM(alpha=1e-2, tol=1e-9).fit(X, y, qid=qid, sample_weight=weights)
    assert weighted.n_pairs_ == repeated.n_pairs_
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=2e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
def test_the_scale_of_the_weights_does_not_matter(rng, scale):
    X, y = data(rng)
    weights = rng.random(len(y))
    reference = RankSVM(tol=1e-8).fit(X, y, sample_weight=weights)
    scaled = RankSVM(tol=1e-8).fit(X, y, sample_weight=scale * weights)
    assert scaled.objective_ == pytest.approx(reference.objective_, abs=2e-8)


@pytest.mark.parametrize("alpha", [10.0, 1e3, 1e9])
def test_a_large_alpha_still_orders(rng, alpha):
    """Zero is within tol of the optimum, but no ranking."""
    X, y = data(rng)
    assert RankSVM(alpha=alpha).fit(X, y).score(X, y) > 0.7


def test_a_failed_fit_leaves_the_last_one_alone(rng):
    X, y = data(rng)
    model = RankSVM().fit(X, y)
    scores = model.predict(X)
    with pytest.raises(NoComparablePairsError):
        model.fit(X[:, :2], np.ones(len(y)))
    np.testing.assert_array_equal(model.predict(X), scores)


def test_sparse_arrays_that_are_longer_strided_or_wrong(rng):
    X, y = data(rng)
    X[:, 0] += 1e6
    reference, c = RankSVM().fit(X, y), sp.csr_matrix(X)
    longer = sp.csr_matrix(X)
    longer.data, longer.indices = np.append(c.data, [9.0] * 50), np.append(c.indices, np.zeros(50, np.int32))
    strided = sp.csr_matrix((np.repeat(c.data, 2)[::2], np.repeat(c.indices, 2)[::2], c.indptr), shape=c.shape)
    for matrix in (longer, strided):
        np.testing.assert_allclose(RankSVM().fit(matrix, y).coef_, reference.coef_, rtol=1e-6)
    for index in (4, 10**8, -1):
        wrong = sp.csr_matrix(X)
        wrong.indices[7] = index
        with pytest.raises(ValueError, match="indices"):
            RankSVM().fit(wrong, y)


# Storage, threads, scale


def containers(X):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = [f"feature {k}" for k in range(X.shape[1])]
    return {
        "list": X.tolist(),
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "csr_matrix": sp.csr_matrix(X),
        "csc_array": sp.csc_array(X),
        "coo_array": sp.coo_array(X),
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
    }


@pytest.mark.parametrize("container", list(containers(np.eye(2))))
def test_any_container_gives_the_same_model(rng, container):
    X, y = data(rng)
    X[rng.random(X.shape) < 0.3] = 0
    reference = RankSVM().fit(X, y)
    model = RankSVM().fit(containers(X)[container], y)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(containers(X)[container]), X @ model.coef_, rtol=1e-12, atol=1e-12)


def test_memory_maps_and_read_only_arrays(rng, tmp_path):
    X, y = data(rng)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(RankSVM().fit(mapped, y).coef_, RankSVM().fit(X, y).coef_)


def test_integers_and_float32(rng):
    X, y = data(rng)
    integers = np.round(X * 10).astype(np.int64)
    reference = RankSVM(tol=1e-9).fit(integers.astype(float), y)
    for converted in (integers, integers.astype(np.float32), sp.csr_array(integers.astype(np.float32))):
        model = RankSVM(tol=1e-9).fit(converted, y)
        assert model.objective_ == pytest.approx(reference.objective_, abs=1e-9)
        np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_show(rng, sparse, weighted):
    X, y = data(rng, m=70_000)
    weights = rng.random(len(y)) if weighted else None
    X = sp.csr_array(X * (rng.random(X.shape) < 0.3)) if sparse else X
    one, two = (RankSVM(alpha=1e-2, n_jobs=n).fit(X, y, sample_weight=weights) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.history_["lower_bound"], two.history_["lower_bound"])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-30, 1e30, 1e100])
def test_tiny_and_large_features(rng, scale, loss):
    X, y = data(rng)
    model = RankSVM(loss=loss, max_iter=30)
    # Warnings are errors here; the fit is checked all the same.
    with np.errstate(all="raise", under="ignore"), contextlib.suppress(ConvergenceWarning):
        model.fit(X * scale, y)
    assert np.isfinite(model.coef_).all()
    assert -1e-12 <= model.gap_ <= 1
    if scale > 1e-300:  # there all scores are too small for float64
        assert model.score(X * scale, y) > 0.75


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e100])
def test_with_alpha_scaled_as_the_features_are_the_model_is_the_same(rng, loss, scale):
    X, y = data(rng)
    reference = RankSVM(loss=loss).fit(X, y)
    with np.errstate(all="raise", under="ignore"):
        model = RankSVM(1e-3 * scale**2, loss=loss).fit(X * scale, y)
    np.testing.assert_allclose(model.coef_ * scale, reference.coef_, rtol=1e-2)
    assert model.objective_ == pytest.approx(reference.objective_, abs=1e-3)
    assert -1e-12 <= model.gap_ <= 1e-3


def test_features_too_large_for_float64_are_a_clear_error(rng):
    X, y = data(rng)
    for model, scale in ((RankSVM(), 1e300), (RankSVM(alpha=5e-324), 1)):
        with pytest.raises(ValueError, match=r"features are too large, or alpha is too small for them\. Rescale"):
            model.fit(X * scale, y)


# Prediction


def test_predictions_score_and_rank(rng):
    X, y = data(rng)
    qid = rng.integers(0, 6, len(y))
    model = RankSVM().fit(X, y, qid=qid)
    scores = model.predict(X)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert model.score(X, y, qid=qid) == pytest.approx(concordance(y, scores, qid), rel=1e-14)
    ranks = model.rank(X, qid)
    for row in range(len(y)):
        rivals = scores[qid == qid[row]]
        assert ranks[row] == 1 + (rivals > scores[row]).sum()


def test_equal_scores_share_a_rank():
    model = RankSVM().fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.rank([[1.0], [3.0], [3.0], [2.0]]), [4, 1, 1, 3])


def test_warm_start_begins_where_the_last_fit_ended(rng):
    X, y = data(rng, m=1000)
    model = RankSVM(alpha=1e-5, warm_start=True).fit(X, y)
    first = model.n_iter_, model.objective_
    model.fit(X, y)
    assert model.history_["upper_bound"][0] == pytest.approx(first[1], rel=1e-12)
    assert -1e-12 <= model.gap_ <= 1e-3
    assert model.n_iter_ < first[0]
    model.fit(X[:, :2], y)  # another number of features: from scratch
    assert model.coef_.shape == (2,)
    assert RankSVM(alpha=1e-5).fit(X, y).n_iter_ == first[0]


@pytest.mark.parametrize("alpha", [1e3, 1e6, 1e9])
def test_a_warm_start_from_far_away_keeps_the_certificate(rng, alpha):
    X, y = data(rng, noise=0)
    model = RankSVM(alpha=1e-12, warm_start=True).fit(X, y)
    model.set_params(alpha=alpha).fit(X, y)
    assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-13)
    assert -1e-15 <= model.gap_ <= 1e-3  # a difference of rounded numbers


def test_pickle_and_clone(rng):
    X, y = data(rng)
    model = RankSVM(alpha=1e-2).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert len(pickle.dumps(model)) < 10_000  # the data stays out
    assert clone(model).get_params() == model.get_params()


def test_fit_leaves_the_parameters_alone(rng):
    X, y = data(rng)
    model = RankSVM(alpha=1e-2)
    before = model.get_params()
    assert model.fit(X, y).get_params() == before


def test_a_function_is_told_every_iteration(rng, capsys):
    records = []
    model = RankSVM(verbose=records.append).fit(*data(rng))
    np.testing.assert_array_equal(np.array(records, dtype=model.history_.dtype), model.history_)
    assert capsys.readouterr().out == ""


def test_verbose_prints_the_bounds(rng, capsys):
    model = RankSVM(verbose=1).fit(*data(rng))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert all("objective" in line and "lower bound" in line and "gap" in line for line in lines)
    RankSVM().fit(*data(rng))
    assert capsys.readouterr().out == ""


# Errors


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"alpha": np.inf}, "alpha"),
        ({"tol": np.nan}, "tol"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"loss": "squared"}, "loss must be 'hinge' or 'squared_hinge', got 'squared'"),
        ({"kernel": "gauss"}, "gauss"),
        ({"kernel": "gaussian", "positive": True}, "linear kernel"),
        ({"query_weighting": "row"}, "query_weighting must be 'query' or 'pair'"),
        ({"n_basis": 10}, "n_basis"),
    ],
)
def test_bad_parameters(rng, parameters, match):
    with pytest.raises(ValueError, match=match):
        RankSVM(**parameters).fit(*data(rng))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y), "X contains NaN"),
        (lambda X, y: (np.where(X[0, 0] == X, np.inf, X), y), "X contains infinity"),
        (lambda X, y: (X, np.where(y == y[0], np.nan, y)), "y contains NaN"),
        (lambda X, y: (X, np.where(y == y[0], -np.inf, y)), "y contains infinity"),
        (lambda X, y: (X, y[:-1]), "y has 119 elements, but there are 120 rows"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X[:, :0], y), "0 feature"),
        (lambda X, y: (X, None), "requires y to be passed"),
    ],
)
def test_bad_data(rng, change, match):
    with pytest.raises(ValueError, match=match):
        RankSVM().fit(*change(*data(rng)))


@pytest.mark.parametrize("y", [[1, 1, 1], [0.0, -0.0, 0.0]])
def test_nothing_to_rank(y):
    with pytest.raises(NoComparablePairsError):
        RankSVM().fit(np.eye(3), y)
    with pytest.raises(NoComparablePairsError):
        RankSVM().fit(np.eye(3), [1, 2, 3], qid=[1, 2, 3])
    with pytest.raises(NoComparablePairsError):
        RankSVM().fit([[1.0]], [1])


def test_a_failed_fit_can_be_repeated(rng):
    X, y = data(rng)
    model = RankSVM()
    with pytest.raises(NoComparablePairsError):
        model.fit(X, np.ones(len(y)))
    np.testing.assert_array_equal(model.fit(X, y).coef_, RankSVM().fit(X, y).coef_)


def test_scoring_without_the_queries_warns_with_both_remedies(rng):
    X, y = data(rng)
    qid = rng.integers(0, 6, len(y))
    model = RankSVM().fit(X, y, qid=qid)
    with pytest.warns(MissingQueryWarning, match=r'Pass qid to score.*column named "qid".*enable_metadata_routing'):
        model.score(X, y)
    RankSVM().fit(X, y).score(X, y)  # nothing to warn about


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("small", [1e-10, 1e-160, 1e-200, 1e-300])
def test_a_query_counts_the_same_whatever_its_weights_are_multiplied_by(rng, loss, small):
    """At 1e-160 the features were blamed, and at 1e-200 the query was left out without a word."""
    X, y = data(rng, m=60)
    qid = np.repeat([0, 1, 2], 20)
    weights = rng.integers(1, 4, 60).astype(float)
    reference = RankSVM(loss=loss, tol=1e-6).fit(X, y, qid=qid, sample_weight=weights)
    scaled = np.where(qid == 1, small, 1.0) * weights
    model = RankSVM(loss=loss, tol=1e-6).fit(X, y, qid=qid, sample_weight=scaled)
    assert model.objective_ == pytest.approx(reference.objective_, abs=1e-6)
    pairs = np.array([(j, i) for i in range(60) for j in range(60) if qid[i] == qid[j] and y[i] < y[j]])
    weight = np.where(qid[pairs[:, 0]] == 1, small, 1.0)
    even, uneven = (
        RankSVM(loss=loss, tol=1e-6).fit_pairs(X, pairs, qid=qid, weight=each) for each in (weight**0, weight)
    )
    assert uneven.objective_ == pytest.approx(even.objective_, abs=1e-6)
    assert uneven.n_pairs_ == pytest.approx(weight.sum(), rel=1e-12)


def test_weights_that_float64_cannot_average_are_named(rng):
    """Estimators scale the weights of each query; a loss takes them as they are."""
    y, qid = rng.normal(size=60), np.repeat([0, 1, 2], 20)
    pairs = UtilityPairs(y, qid=qid, sample_weight=np.where(qid == 1, 1e-160, 1.0))
    with pytest.raises(ValueError, match=r"weights of some quer.*query 1"):
        PairwiseHinge(pairs)
