"""Cross-validation over a path of alphas: every number is what separate fits give, up to their certificates."""

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import NystromMap, RankSVM, RankSVMCV
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.kernels import Gaussian
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.metrics import concordance_index, make_ranking_scorer, ndcg
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Newton, SmoothLinearOracle, make_products

ALPHAS = [1.0, 0.1, 0.01, 1e-3]

both_losses = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def data(rng, m=150, n=4):
    X = rng.normal(size=(m, n))
    return X, X @ np.arange(1.0, n + 1) + 2 * rng.normal(size=m)


def query_data(rng, m=180, n_queries=12):
    X, y = data(rng, m)
    return X, np.round(y), rng.integers(n_queries, size=m)


def objective(X, y, w, alpha, loss, qid=None, weights=None):
    value = {"hinge": oracles.pairwise_hinge, "squared_hinge": oracles.pairwise_squared_hinge}[loss]
    return value(y, X @ w, qid=qid, weights=weights) + alpha * w @ w


@both_losses
def test_the_path_is_certified(rng, loss):
    X, y = data(rng)
    model = RankSVMCV(ALPHAS, loss=loss).fit(X, y)
    assert model.coef_path_.shape == (4, 4)
    np.testing.assert_array_equal(model.alphas_, ALPHAS)
    for alpha, w, gap in zip(model.alphas_, model.coef_path_, model.gaps_, strict=True):
        single = RankSVM(alpha, loss=loss, tol=1e-6).fit(X, y)
        suboptimality = objective(X, y, w, alpha, loss) - (single.objective_ - single.gap_)
        assert -1e-12 <= suboptimality <= gap + single.gap_ + 1e-12
        if loss == "hinge":
            assert -1e-12 <= gap <= model.tol


@both_losses
def test_scores_are_those_of_separate_fits(rng, loss):
    X, y = data(rng)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    model = RankSVMCV(ALPHAS, cv=folds, loss=loss, tol=1e-7, max_iter=5000).fit(X, y)
    assert model.scores_.shape == (4, 4)
    for k, alpha in enumerate(ALPHAS):
        for f, (train, test) in enumerate(folds):
            single = RankSVM(alpha, loss=loss, tol=1e-7, max_iter=5000).fit(X[train], y[train])
            assert model.scores_[k, f] == pytest.approx(single.score(X[test], y[test]), abs=0.003)


@both_losses
def test_scores_with_queries_and_weights(rng, loss):
    X, y, qid = query_data(rng)
    weights = rng.integers(1, 4, len(y)).astype(float)
    folds = list(GroupKFold(3).split(X, groups=qid))
    model = RankSVMCV(ALPHAS[1:3], cv=folds, loss=loss, tol=1e-7, max_iter=5000)
    model.fit(X, y, qid=qid, sample_weight=weights)
    for k, alpha in enumerate(ALPHAS[1:3]):
        for f, (train, test) in enumerate(folds):
            single = RankSVM(alpha, loss=loss, tol=1e-7, max_iter=5000)
            single.fit(X[train], y[train], qid=qid[train], sample_weight=weights[train])
            scores = single.predict(X[test])
            expected = concordance_index(y[test], scores, qid=qid[test], sample_weight=weights[test])
            assert model.scores_[k, f] == pytest.approx(expected, abs=0.003)
    assert model.n_pairs_ == RankSVM().fit(X, y, qid=qid, sample_weight=weights).n_pairs_


def test_alpha_has_the_best_mean_and_coef_is_its_solution(rng):
    X, y = data(rng)
    model = RankSVMCV(12).fit(X, y)
    best = int(np.argmax(model.scores_.mean(axis=1)))
    assert model.alpha_ == model.alphas_[best]
    np.testing.assert_array_equal(model.coef_, model.coef_path_[best])
    assert model.gap_ == model.gaps_[best]
    assert model.objective_ == pytest.approx(objective(X, y, model.coef_, model.alpha_, "hinge"), rel=1e-12)
    np.testing.assert_array_equal(model.predict(X), X @ model.coef_)


def test_of_equal_scores_the_larger_alpha_is_taken(rng):
    x = rng.normal(size=40)
    model = RankSVMCV([1e-3, 1e-2, 1e-1]).fit(x[:, None], x)  # one feature: every alpha orders alike
    assert np.ptp(model.scores_) == 0
    assert model.alpha_ == 0.1


@both_losses
def test_default_grid_begins_where_directions_begin_to_change(rng, loss):
    X, y = data(rng, m=60)
    model = RankSVMCV(15, loss=loss).fit(X, y)
    largest = model.alphas_[0]
    np.testing.assert_allclose(model.alphas_[:15], largest * np.logspace(0, -4, 15), rtol=1e-12)
    differences = (X[:, None] - X)[y[:, None] > y]
    slope = differences.mean(axis=0)
    exact = (differences @ slope).max() / 2  # math of the hinge: above it w = slope / (2 alpha)
    assert exact <= largest <= 2.0001 * exact
    if loss == "hinge":
        single = RankSVM(1.01 * exact, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(single.coef_, slope / (2.02 * exact), rtol=1e-6)


def test_alphas_in_any_order_and_only_once(rng):
    X, y = data(rng)
    model = RankSVMCV([0.01, 1.0, 0.01, 0.1]).fit(X, y)
    np.testing.assert_array_equal(model.alphas_, [1.0, 0.1, 0.01])


@pytest.mark.parametrize("alphas", [0, -3, [], [0.1, 0.0], [0.1, -1.0], [0.1, np.nan], [[0.1], [0.2, 0.3]]])
def test_bad_alphas(rng, alphas):
    with pytest.raises(ValueError, match=r"alphas|inhomogeneous"):
        RankSVMCV(alphas).fit(*data(rng, 30))


# Folds


def test_a_number_of_folds_keeps_queries_whole(rng):
    X, y, qid = query_data(rng)
    model = RankSVMCV(3, cv=4).fit(X, y, qid=qid)
    explicit = RankSVMCV(3, cv=GroupKFold(4)).fit(X, y, qid=qid)
    np.testing.assert_array_equal(model.scores_, explicit.scores_)


@pytest.mark.parametrize("cv", [KFold(3), ShuffleSplit(2, random_state=0)])
def test_a_splitter_that_tears_queries_apart_is_refused(rng, cv):
    X, y, qid = query_data(rng)
    with pytest.raises(ValueError, match=r"Fold 0 of cv splits a query.*GroupKFold"):
        RankSVMCV(3, cv=cv).fit(X, y, qid=qid)


def test_groups_are_kept_whole_without_being_queries(rng):
    X, y = data(rng, 60)
    groups = np.arange(60) // 20
    model = RankSVMCV(3, cv=3).fit(X, y, groups=groups)
    explicit = RankSVMCV(3, cv=list(LeaveOneGroupOut().split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(np.sort(model.scores_, axis=1), np.sort(explicit.scores_, axis=1))
    assert model.n_pairs_ == 60 * 59 / 2  # compared across groups


def test_unsorted_rows_are_shuffled_the_same_way_every_time(rng):
    X, y = data(rng)
    order = np.argsort(y)
    first, second = (RankSVMCV(4).fit(X[order], y[order]) for _ in range(2))
    np.testing.assert_array_equal(first.scores_, second.scores_)
    other = RankSVMCV(4, random_state=1).fit(X[order], y[order])
    assert (first.scores_ != other.scores_).any()
    assert first.scores_.min() > 0.5  # not folds of neighbours in y


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(np.arange(20), np.arange(10, 30))], "tests on rows that it trains on"),
        ([(np.r_[0, 0, 1:20], np.arange(20, 30))], "trains on some rows twice"),
        ([], "no fold"),
        (31, "cv asks for 31 folds of 30 rows"),
        (1, "cv must be .*at least 2"),
    ],
)
def test_bad_folds(rng, cv, message):
    with pytest.raises(ValueError, match=message):
        RankSVMCV(3, cv=cv).fit(*data(rng, 30))


def test_fewer_queries_than_folds(rng):
    X, y, _ = query_data(rng)
    with pytest.raises(ValueError, match="cv asks for 5 folds of 3 queries"):
        RankSVMCV(3, cv=5).fit(X, y, qid=np.arange(len(y)) % 3)


def test_masks_and_partial_folds(rng):
    X, y = data(rng, 60)
    train, test = np.arange(60) < 30, np.arange(60) >= 40  # ten rows take part in neither
    by_mask = RankSVMCV(3, cv=[(train, test)]).fit(X, y)
    by_number = RankSVMCV(3, cv=[(np.arange(30), np.arange(40, 60))]).fit(X, y)
    np.testing.assert_array_equal(by_mask.scores_, by_number.scores_)


def test_a_fold_without_a_pair_has_no_say(rng):
    X, y = data(rng, 40)
    y[30:] = 5.0
    folds = [(np.arange(20), np.arange(20, 30)), (np.arange(20), np.arange(30, 40))]
    model = RankSVMCV(5, cv=folds).fit(X, y)
    assert np.isnan(model.scores_[:, 1]).all()
    assert model.alpha_ == model.alphas_[np.argmax(model.scores_[:, 0])]
    with pytest.raises(NoComparablePairsError, match="The score is undefined for every fold"):
        RankSVMCV(5, cv=folds[1:]).fit(X, y)
    with pytest.raises(NoComparablePairsError, match="no pair to learn from"):
        RankSVMCV([0.1], cv=[(np.arange(30, 40), np.arange(20))]).fit(X, y)


# Input and surroundings


@both_losses
def test_sparse_data_frames_and_threads_agree(rng, loss):
    X, y, qid = query_data(rng)
    X[np.abs(X) < 0.5] = 0
    settings = {"alphas": ALPHAS[:3], "loss": loss}
    dense = RankSVMCV(**settings).fit(X, y, qid=qid)
    np.testing.assert_array_equal(RankSVMCV(n_jobs=2, **settings).fit(X, y, qid=qid).coef_path_, dense.coef_path_)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    from_frame = RankSVMCV(**settings).fit(frame, y)
    np.testing.assert_array_equal(from_frame.scores_, dense.scores_)
    assert list(from_frame.feature_names_in_) == list("abcd")
    for X_sparse in (sp.csr_matrix(X), sp.csc_array(X)):
        sparse = RankSVMCV(**settings).fit(X_sparse, y, qid=qid)
        np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=0.02)


def test_a_constant_offset_changes_nothing(rng):
    X, y = data(rng)
    near = RankSVMCV(ALPHAS, tol=1e-6).fit(X, y)
    far = RankSVMCV(ALPHAS, tol=1e-6).fit(X + [1e8, 0, -1e6, 5], y)
    np.testing.assert_allclose(far.coef_path_, near.coef_path_, atol=1e-2)
    np.testing.assert_allclose(far.scores_, near.scores_, atol=0.01)


def test_queries_are_routed_through_a_pipeline(rng):
    X, y, qid = query_data(rng)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), RankSVMCV(3)).fit(X, y, qid=qid)
    direct = RankSVMCV(3).fit(StandardScaler().fit_transform(X), y, qid=qid)
    np.testing.assert_array_equal(model[-1].scores_, direct.scores_)


def test_not_converged_is_said_once_for_all_fits(rng):
    X, y = data(rng)
    with pytest.warns(ConvergenceWarning, match=r"^\d+ of 18 fits miss tol\. The worst: .* certified gap") as caught:
        RankSVMCV([1e-4, 1e-5, 1e-6], max_iter=2).fit(X, y)
    assert [each.filename for each in caught if each.category is ConvergenceWarning] == [__file__]


@both_losses
def test_positive_paths(rng, loss):
    X, y = data(rng)
    X[:, 0] *= -1
    model = RankSVMCV(ALPHAS, loss=loss, positive=True).fit(X, y)
    assert (model.coef_path_ >= 0).all()
    assert (model.coef_path_[:, 0] == 0).all()
    for alpha, w, gap in zip(ALPHAS, model.coef_path_, model.gaps_, strict=True):
        single = RankSVM(alpha, loss=loss, positive=True, tol=1e-6).fit(X, y)
        assert objective(X, y, w, alpha, loss) <= single.objective_ + gap + 1e-12


def test_progress(rng, capsys):
    X, y = data(rng)
    RankSVMCV(ALPHAS, cv=4, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("fold 1 of 4: concordance 0.")


def test_a_function_is_told_every_fit(rng, capsys):
    X, y = data(rng)
    told = []
    RankSVMCV(ALPHAS[:3], cv=4, verbose=lambda *numbers: told.append(numbers)).fit(X, y)
    assert told == [(k + 1, 15) for k in range(15)]
    assert capsys.readouterr().out == ""


def test_alpha_is_chosen_by_what_is_asked_for(rng):
    X, y, qid = query_data(rng)

    def worst(y_true, y_score, qid):
        return -concordance_index(y_true, y_score, qid=qid)

    best, other = (RankSVMCV(ALPHAS, cv=3, scoring=by).fit(X, y, qid=qid) for by in (None, worst))
    np.testing.assert_array_equal(best.scores_, -other.scores_)
    assert other.alpha_ == other.alphas_[np.argmax(other.scores_.mean(axis=1))]


def test_scoring_by_name_by_scorer_and_by_function(rng):
    X, y, qid = query_data(rng)
    y = np.clip(y, 0, 4)
    given = ["ndcg@3", make_ranking_scorer("ndcg", k=3), lambda y, s, qid: ndcg(y, s, qid=qid, k=3)]
    one, *others = (RankSVMCV(ALPHAS, cv=3, scoring=each).fit(X, y, qid=qid) for each in given)
    for other in others:
        np.testing.assert_array_equal(one.scores_, other.scores_)
    with pytest.raises(ValueError, match="Unknown metric"):
        RankSVMCV(scoring="ndgc").fit(X, y, qid=qid)


def test_a_fold_without_a_relevant_row_has_no_say(rng):
    X, y = data(rng, m=60)
    grades, folds = (y > 0).astype(int), [np.arange(60) % 3 == k for k in range(3)]
    grades[folds[0]] = 0
    model = RankSVMCV(ALPHAS, cv=[(~test, test) for test in folds], scoring="map").fit(X, grades)
    assert np.isnan(model.scores_[:, 0]).all()
    assert np.isfinite(model.scores_[:, 1:]).all()


def test_a_score_that_is_not_defined_has_no_say(rng):
    X, y = data(rng)
    asked = []

    def sometimes(y_true, y_score, qid):
        asked.append(len(y_true))
        return np.nan if len(asked) <= len(ALPHAS) else float(len(asked))  # nothing in the first fold

    model = RankSVMCV(ALPHAS, cv=3, scoring=sometimes).fit(X, y)
    assert np.isnan(model.scores_[:, 0]).all()
    assert model.alpha_ == min(ALPHAS)


def test_a_failed_fit_leaves_the_last_one_alone(rng):
    X, y = data(rng)
    model = RankSVMCV(3).fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="y"):
        model.fit(X[:, :2], np.full(len(y), np.nan))
    assert model.coef_ is before
    assert model.n_features_in_ == 4


def test_a_path_takes_fewer_products_than_its_fits(rng):
    """The point of sharing; benchmarks/path.py measures how much."""
    X, y = data(rng, 400, 10)
    products, pairs = make_products(X), UtilityPairs(y)
    alphas = np.logspace(0, -4, 20)
    for make in (
        lambda: Bundle(LinearOracle(products, PairwiseHinge(pairs))),
        lambda: Newton(SmoothLinearOracle(products, PairwiseSquaredHinge(pairs))),
    ):
        solver = make()
        path = [solver.minimize(alpha) for alpha in alphas]
        assert all(result.converged for result in path)
        apart = sum(make().minimize(alpha).history["n_products"][-1] for alpha in alphas)
        assert path[-1].history["n_products"][-1] < apart / 2


def test_folds_are_those_of_the_splitter_for_the_same_ids(rng):
    X, y, qid = query_data(rng)
    by_hand = list(GroupKFold(3).split(X, y, qid))
    np.testing.assert_array_equal(
        RankSVMCV(3, cv=GroupKFold(3)).fit(X, y, qid=qid).scores_, RankSVMCV(3, cv=by_hand).fit(X, y, qid=qid).scores_
    )
    ids = [("query", int(k)) if k % 2 else str(k) for k in qid]  # nothing that could be sorted
    assert RankSVMCV(ALPHAS, cv=3).fit(X, y, qid=ids).scores_.shape == (4, 3)


def test_no_cv_means_five_folds(rng):
    X, y, qid = query_data(rng)
    assert RankSVMCV(ALPHAS[:2], cv=None).fit(X, y, qid=qid).scores_.shape == (2, 5)


def test_a_fold_that_cannot_be_trained_on_is_named(rng):
    X, y = data(rng, 40)
    y[:10] = 1.0
    folds = [(np.arange(20), np.arange(20, 40)), (np.arange(10), np.arange(20, 40))]
    with pytest.raises(NoComparablePairsError, match="Fold 1 cannot be trained on"):
        RankSVMCV([0.1], cv=folds).fit(X, y)


@pytest.mark.parametrize(
    "parameters", [{"alphas": 0.5}, {"alphas": None}, {"alphas": [[0.1], [0.2]]}, {"positive": "no"}]
)
def test_parameters_of_the_wrong_kind(rng, parameters):
    with pytest.raises((ValueError, TypeError), match=next(iter(parameters))):
        RankSVMCV(**parameters).fit(*data(rng, 30))


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
def test_a_query_of_tiny_weights_is_scored_as_any_other(rng, query_weighting):
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = X[:, 0] + 0.5 * rng.normal(size=60)

    def fit(factor):
        weights = np.where(qid == 5, factor, 1.0)
        return RankSVMCV([0.1], cv=3, query_weighting=query_weighting).fit(X, y, qid=qid, sample_weight=weights)

    # The product of two weights of 2^-700 is no number of float64. Pairs that weigh so little have no influence where
    # pairs count by their weight; where queries count the same, factors of a query have none. Scores count queries.
    tiny = fit(2.0**-700)
    reference = fit(1.0 if query_weighting == "query" else 2.0**-400)
    np.testing.assert_array_equal(tiny.scores_, reference.scores_)
    np.testing.assert_array_equal(tiny.coef_, reference.coef_)


def test_given_pairs_of_tiny_weights_count_by_query(rng):
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    pairs = np.array([(i, j) for i in range(60) for j in range(60) if qid[i] == qid[j] and X[i, 0] > X[j, 0]])
    models = [
        RankSVMCV([0.1], cv=3).fit_pairs(X, pairs, qid=qid, weight=np.where(qid[pairs[:, 0]] == 5, factor, 1.0))
        for factor in (1.0, 2.0**-1000)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    np.testing.assert_array_equal(models[0].scores_, models[1].scores_)
    assert models[1].n_pairs_ == pytest.approx(225.0)


def test_a_fold_without_basis_rows_has_converged():
    # What is left of its features is rounding: the gradient at zero is noise, and no step makes it much smaller.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) + 3
    y = np.round(X[:, 0] + rng.normal(size=200), 1)
    kernel = Gaussian(0.1)
    basis = NystromMap(kernel, n_basis=20).fit(X).basis_indices_
    others = np.setdiff1d(np.arange(200), basis)
    held_out = np.concatenate([basis, others[:50]])
    model = RankSVMCV([1.0, 0.1, 0.01], cv=[(others[50:], held_out)], loss="squared_hinge", kernel=kernel, n_basis=20)
    model.fit(X, y)  # warns of nothing
    np.testing.assert_array_equal(model.basis_indices_, basis)
