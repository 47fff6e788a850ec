"""Estimates of concordance and AUC, against models that are trained for everything that is held out."""

import re
import tracemalloc

import held_out
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.special import expit, logit, ndtr, ndtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, RepeatedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelrank import RLS, RLSCV, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.exceptions import IdenticalRowsWarning, NoComparablePairsError, PooledEstimateWarning
from kernelrank.kernels import Gaussian
from kernelrank.metrics import auc_interval, concordance_index
from kernelrank.model_selection import (
    LeaveQueryOut,
    estimate_auc,
    estimate_concordance,
    permutation_test,
    tournament_roc,
)

pooled_is_biased = pytest.mark.filterwarnings("ignore::kernelrank.exceptions.PooledEstimateWarning")


@pytest.fixture
def data(rng):
    X = rng.normal(size=(16, 3))
    return X, X[:, 0] + rng.normal(size=16)


@pytest.fixture
def classes(data):
    X, y = data
    return X, (y > np.quantile(y, 0.6)).astype(float)


ESTIMATORS = [
    RankRLS(0.1),
    RankRLS(0.1, kernel="gaussian"),
    RankRLS(0.5, ties="drop"),
    RankRLS(0.1, kernel="gaussian", n_basis=16),
    RLS(0.3),
    Ridge(),
    RankSVM(0.01),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_leave_pair_out_is_what_refits_give(estimator, classes):
    X, y = classes
    # Parameters of a kernel are those of all rows.
    refitted = estimator
    if getattr(estimator, "kernel", "linear") == "gaussian":
        refitted = RankRLS(0.1, kernel=RankRLS(kernel="gaussian").fit(X, y).kernel_)
    wins, pairs = held_out.leave_pair_out(refitted, X, y)
    found = estimate_auc(estimator, X, y, interval="rows")
    assert found.estimate == pytest.approx(wins.sum() / pairs.sum(), abs=1e-12)
    assert found.n_pairs == pairs.sum() / 2
    assert found.n_fits == (1 if isinstance(estimator, RLS | RankRLS) else found.n_pairs)
    assert found.skipped == ()


def test_real_utilities(data):
    X, y = data
    y[3] = y[4]
    for estimator in (RankRLS(0.1), Ridge()):
        wins, pairs = held_out.leave_pair_out(estimator, X, y)
        found = estimate_concordance(estimator, X, y)
        assert found.estimate == pytest.approx(wins.sum() / pairs.sum(), abs=1e-12)
        assert found.n_pairs == 16 * 15 / 2 - 1


@pytest.mark.parametrize("estimator", [RankRLS(0.1), Ridge()], ids=repr)
def test_groups_are_held_out_as_a_whole(estimator, data, rng):
    X, y = data
    groups = np.array(list("aabbbcdeefghhiij"))
    wins, pairs = held_out.leave_pair_out(estimator, X, y, groups)
    found = estimate_concordance(estimator, X, y, groups=groups)
    assert found.estimate == pytest.approx(wins.sum() / pairs.sum(), abs=1e-12)
    split = estimate_concordance(estimator, X, y, groups=groups, split_groups=True)
    assert split.estimate == estimate_concordance(estimator, X, y).estimate
    assert found.estimate != split.estimate


@pytest.mark.parametrize("estimator", [RankRLS(0.1), RankSVM(0.1)], ids=repr)
def test_whole_queries_are_held_out(estimator, rng):
    X, qid = rng.normal(size=(24, 3)), rng.permutation(np.repeat(list("xyzuvw"), 4))
    y = X[:, 0] + rng.normal(size=24)
    values = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        values.append(concordance_index(y[rows], held_out.scores_without(estimator, X, y, rows, qid=qid)))
    found = estimate_concordance(estimator, X, y, qid=qid)
    assert found.estimate == pytest.approx(np.mean(values))
    assert found.strategy == "averaged"
    assert found.n_pairs == 6 * 6
    np.testing.assert_allclose(np.sort(found.values), np.sort(values))
    half_width = 2.570582 * np.std(values, ddof=1) / np.sqrt(6)  # Student's, five degrees of freedom
    np.testing.assert_allclose(
        found.interval, np.clip(np.mean(values) + half_width * np.array([-1, 1]), 0, 1), rtol=1e-5
    )
    frame = pd.DataFrame(X).assign(qid=qid)
    frame.columns = frame.columns.astype(str)
    assert estimate_concordance(estimator, frame, y).estimate == found.estimate
    with pytest.raises(ValueError, match="whole queries"):
        estimate_concordance(estimator, X, y, qid=qid, strategy="leave-pair-out")
    torn = estimate_concordance(estimator, X, y, qid=qid, strategy="leave-pair-out", split_groups=True)
    wins, pairs = held_out.leave_pair_out(estimator, X, y, queries=qid, qid=qid)
    assert torn.estimate == pytest.approx(wins.sum() / pairs.sum(), abs=1e-12)


def test_queries_without_a_pair_are_skipped(rng):
    X, qid = rng.normal(size=(20, 3)), np.repeat(np.arange(5), 4)
    y = X[:, 0] + rng.normal(size=20)
    y[qid == 2] = 1.0
    found = estimate_concordance(RankRLS(), X, y, qid=qid)
    assert found.skipped == ("1 of 5 queries, whose rows have all the same y",)
    assert np.isnan(found.values[2])
    assert len(found.influence) == 4
    y[:] = qid
    with pytest.raises(NoComparablePairsError):
        estimate_concordance(RankRLS(), X, y, qid=qid)


def test_leave_query_out_as_folds(rng):
    X, qid = rng.normal(size=(24, 2)), np.arange(24) // 4
    y = X[:, 0] + rng.normal(size=24)
    y[:4] = 1.0  # LeaveQueryOut does not hold this query out, and there is nothing to compare in it
    found = estimate_concordance(RankRLS(), X, y, qid=qid, cv=LeaveQueryOut())
    np.testing.assert_array_equal(found.values, estimate_concordance(RankRLS(), X, y, qid=qid).values)
    folds = list(LeaveQueryOut().split(X, y, qid))
    with pytest.raises(ValueError, match="each row once"):
        estimate_concordance(RankRLS(), X, y, qid=qid, cv=folds[1:])


def test_queries_in_groups(rng):
    X, qid = rng.normal(size=(24, 3)), np.repeat(np.arange(8), 3)
    y, groups = X[:, 0] + rng.normal(size=24), np.repeat(np.arange(4), 6)
    found = estimate_concordance(RankRLS(), X, y, qid=qid, groups=groups)
    values = []
    for group in range(4):
        rows = np.flatnonzero(groups == group)
        scores = held_out.scores_without(RankRLS(), X, y, rows, qid=qid)
        values.extend(concordance_index(y[rows], scores, qid=qid[rows], per_query=True))
    np.testing.assert_allclose(found.values, values)
    by_group = np.reshape(np.array(values) - np.mean(values), (4, 2)).sum(axis=1) / 8
    assert found.std_error**2 == pytest.approx(4 / 3 * (by_group**2).sum())
    with pytest.raises(ValueError, match="several groups"):
        estimate_concordance(RankRLS(), X, y, qid=qid, groups=np.arange(24))


@pooled_is_biased
@pytest.mark.parametrize("estimator", [RankRLS(0.1), RLS(0.1), LinearDiscriminantAnalysis()], ids=repr)
def test_pooled(estimator, classes):
    X, y = classes
    for cv, splitter in ((None, LeaveOneOut()), (StratifiedKFold(4), StratifiedKFold(4))):
        scores = np.empty(len(y))
        for _, rows in splitter.split(X, y):
            scores[rows] = held_out.scores_without(estimator, X, y, rows)
        found = estimate_auc(estimator, X, y, strategy="pooled", cv=cv)
        assert found.estimate == pytest.approx(held_out.concordance(y, scores), abs=1e-12)
        # The variance is DeLong's, as for scores of test rows.
        low, high = auc_interval(y, scores)[1:]
        if low > 0 and high < 1:
            assert found.std_error == pytest.approx((high - low) / 2 / ndtri(0.975))


@pytest.mark.parametrize("estimator", [RankRLS(0.1), LogisticRegression(), GaussianNB()], ids=repr)
def test_averaged(estimator, classes):
    X, y = classes
    cv = KFold(4, shuffle=True, random_state=0)
    right = total = empty = 0
    for _, rows in cv.split(X):
        if isinstance(estimator, GaussianNB):
            rest = np.setdiff1d(np.arange(len(y)), rows)
            scores = estimator.fit(X[rest], y[rest]).predict_proba(X[rows])[:, 1]
        else:
            scores = held_out.scores_without(estimator, X, y, rows)
        pairs = (y[rows] == 1).sum() * (y[rows] == 0).sum()
        if pairs:
            right, total = right + pairs * held_out.concordance(y[rows], scores), total + pairs
        empty += not pairs
    found = estimate_auc(estimator, X, y, strategy="averaged", cv=cv)
    assert found.estimate == pytest.approx(right / total, abs=1e-12)
    assert found.n_pairs == total
    assert found.skipped == ((f"{empty} of 4 folds, whose rows have all the same y",) if empty else ())


def test_folds_keep_the_share_of_classes_and_never_more_than_the_rarer(rng):
    X, y = rng.normal(size=(40, 2)), np.zeros(40)
    y[:3] = 1
    found = estimate_auc(RankRLS(), X, y, strategy="averaged")
    assert found.skipped == ()
    assert found.n_pairs == 13 + 12 + 12  # three folds, each with a positive row
    again = estimate_auc(
        RankRLS(), X, y, strategy="averaged", cv=RepeatedKFold(n_splits=2, n_repeats=3, random_state=0)
    )
    splits = RepeatedKFold(n_splits=2, n_repeats=3, random_state=0).split(X)
    assert again.n_pairs == sum(y[test].sum() * (y[test] == 0).sum() for _, test in splits)


def test_folds_without_classes_are_skipped_and_said(rng):
    X, y = rng.normal(size=(12, 2)), np.repeat([0, 1], 6)
    splits = [
        (np.r_[6:12, 0:3], np.arange(3, 6)),
        (np.r_[0:4, 8:12], np.arange(4, 8)),
        (np.arange(6), np.arange(6, 12)),
    ]
    found = estimate_auc(RankRLS(), X, y, strategy="averaged", cv=splits)
    assert found.n_pairs == 4
    assert found.skipped == (
        "1 of 3 folds, whose rows have all the same y",
        "1 of 3 folds, because the remaining rows have all the same y",
    )


@pytest.mark.parametrize("estimator", [RankRLS(0.1), RankRLS(0.1, ties="drop"), RankSVM(0.1)], ids=repr)
def test_tournament(estimator, classes):
    X, y = classes
    scores = held_out.tournament(estimator, X, y)
    curve = tournament_roc(estimator, X, y)
    np.testing.assert_allclose(curve.scores, scores, atol=1e-12)
    assert curve.auc == pytest.approx(held_out.concordance(y, scores))
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(curve.auc)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    found = estimate_auc(estimator, X, y, strategy="tournament")
    assert (found.estimate, found.interval) == (curve.auc, curve.interval)


def test_the_interval_has_delongs_variance_of_the_held_out_wins(classes):
    X, y = classes
    found = estimate_auc(RankRLS(0.1), X, y, interval="rows")
    F = RankRLS(0.1).fit(X, y).leave_pair_out()
    wins = (F > F.T)[np.ix_(y == 1, y == 0)]
    variance = wins.mean(axis=1).var(ddof=1) / (y == 1).sum() + wins.mean(axis=0).var(ddof=1) / (y == 0).sum()
    assert found.std_error == pytest.approx(np.sqrt(variance))
    half_width = ndtri(0.975) * np.sqrt(variance) / (found.estimate * (1 - found.estimate))
    np.testing.assert_allclose(found.interval, expit(logit(found.estimate) + half_width * np.array([-1, 1])))
    narrower = estimate_auc(RankRLS(0.1), X, y, confidence=0.5, interval="rows")
    assert found.interval[0] < narrower.interval[0] < found.estimate < narrower.interval[1] < found.interval[1]


def test_groups_widen_the_interval_of_rows_that_are_copies(rng):
    X, y = rng.normal(size=(20, 2)), np.tile([0.0, 1.0], 10)
    alone = estimate_auc(RankRLS(), X, y, interval="rows")
    X, y, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(20), 4)
    found = estimate_auc(RankRLS(), X, y, groups=groups, interval="rows")
    # Copies of a group know nothing new: estimate and interval are as they were without them.
    assert found.estimate == pytest.approx(alone.estimate)
    np.testing.assert_allclose(found.interval, alone.interval)


def test_perfect_order_is_not_certainty(rng):
    y = np.repeat([0.0, 1.0], [20, 5])
    X = (y + rng.uniform(0, 0.1, size=25))[:, None]
    for sign, ends in ((1, (5 / (5 + ndtri(0.975) ** 2), 1.0)), (-1, (0.0, 1 - 5 / (5 + ndtri(0.975) ** 2)))):
        found = estimate_auc(Against() if sign < 0 else RankRLS(0.1), X, y)
        assert found.estimate == (sign > 0)
        np.testing.assert_allclose(found.interval, ends)


def test_perfect_queries_are_not_certainty(rng):
    X, qid = rng.uniform(size=(20, 1)), np.arange(20) // 4
    found = estimate_concordance(RankRLS(0.1), X, X[:, 0], qid=qid)
    assert found.estimate == 1
    np.testing.assert_allclose(found.interval, (5 / (5 + ndtri(0.975) ** 2), 1.0))


class Against(RankRLS):
    """Learns the opposite."""

    def leave_pair_out_order(self, *, alpha=None):
        return -super().leave_pair_out_order(alpha=alpha)


def test_a_model_that_knows_nothing_ties_all_pairs(rng):
    X = np.where(np.arange(20)[:, None] == 0, 1.0, 0.0)  # one row differs, and tells nothing about others
    with pytest.warns(IdenticalRowsWarning):
        found = estimate_auc(RankRLS(), X, np.tile([0, 1], 10))
    assert found.estimate == pytest.approx(0.5, abs=0.06)


def test_jackknife(classes):
    X, y = classes
    found = estimate_auc(RankRLS(0.1), X, y, interval="jackknife")
    without = np.array(
        [
            estimate_auc(RankRLS(0.1), np.delete(X, k, axis=0), np.delete(y, k), interval="rows").estimate
            for k in range(len(y))
        ]
    )
    variance = 0.0
    for c in (0, 1):
        each = without[y == c]
        variance += (len(each) - 1) / len(each) * ((each - each.mean()) ** 2).sum()
    rows = estimate_auc(RankRLS(0.1), X, y, interval="rows")
    assert found.std_error == pytest.approx(np.sqrt(max(np.sqrt(variance), rows.std_error) * rows.std_error))
    assert found.n_fits == 1 + len(y)
    assert found.estimate == rows.estimate
    for other in (estimate_auc(RankRLS(0.1), X, y), estimate_auc(RankRLS(0.1), X, y, interval="jackknife", n_jobs=2)):
        np.testing.assert_array_equal(found.jackknife, other.jackknife)
        assert found.interval == other.interval
    # Where it would cost many fits, it must be asked for.
    assert estimate_auc(Ridge(), X, y).jackknife is None
    assert estimate_auc(RankRLS(), X, y, strategy="averaged", cv=3).jackknife is None


def test_jackknife_of_queries_and_groups(rng):
    X, qid = rng.normal(size=(24, 3)), np.repeat(np.arange(6), 4)
    y = X[:, 0] + rng.normal(size=24)
    for given in ({"qid": qid}, {"groups": qid}):
        found = estimate_concordance(RankRLS(), X, y, interval="jackknife", **given)
        [(name, values)] = given.items()
        without = [
            estimate_concordance(RankRLS(), X[values != k], y[values != k], **{name: values[values != k]}).estimate
            for k in range(6)
        ]
        rows = estimate_concordance(RankRLS(), X, y, interval="rows", **given)
        deviation = max(np.sqrt(5 / 6 * 6 * np.var(without)), rows.std_error)
        assert found.std_error == pytest.approx(np.sqrt(deviation * rows.std_error))
    with pytest.raises(ValueError, match="other folds would be drawn"):
        estimate_concordance(RankRLS(), X, y, strategy="averaged", interval="jackknife")
    with pytest.raises(ValueError, match="three"):
        estimate_auc(RankRLS(), X[:8], np.repeat([0, 1], [6, 2]), interval="jackknife")


def test_many_rows_are_left_out_in_a_hundred_parts(rng):
    X = rng.normal(size=(230, 2))
    for y in ((X[:, 0] + rng.normal(size=230) > 1).astype(float), X[:, 0] + rng.normal(size=230)):
        found = estimate_concordance(RankRLS(), X, y, verbose=0)
        assert found.n_fits == 101
        assert len(found.jackknife) == 100
        # The same as by rows, where a model is good and there are many of them.
        rows = estimate_concordance(RankRLS(), X, y, interval="rows")
        assert 1 <= found.std_error / rows.std_error < 1.5
    X = rng.normal(size=(501, 2))
    assert estimate_concordance(RankRLS(), X, X[:, 0]).n_fits == 1  # too many to do so unasked


@pytest.mark.parametrize("signal", [0.0, 0.5])
def test_intervals_hold_the_truth(signal):
    rng = np.random.default_rng(2)
    y, held, narrow = np.repeat([0.0, 1.0], 12), [], []
    for _ in range(60):
        X = rng.normal(size=(24, 6)) + signal * y[:, None]
        w = RankRLS(1.0).fit(X, y).coef_
        truth = ndtr(signal * w.sum() / np.sqrt(2 * w @ w))
        for interval, found in (("jackknife", held), ("rows", narrow)):
            low, high = estimate_auc(RankRLS(1.0), X, y, interval=interval, verbose=0).interval
            found.append(low <= truth <= high)
    assert sum(held) >= 55  # of 60, where 57 are expected
    assert sum(narrow) < sum(held)


def test_choices_are_made_anew_for_every_pair(classes):
    X, y = classes
    estimator = RankRLSCV(alphas=[1e-3, 1.0, 1e3])
    wins, pairs = held_out.leave_pair_out(estimator, X, y)
    found = estimate_auc(estimator, X, y)
    assert found.estimate == pytest.approx(wins.sum() / pairs.sum(), abs=1e-12)
    assert found.n_fits == found.n_pairs
    once = estimate_auc(estimator, X, y, nested=False, interval="rows")
    alpha = estimator.fit(X, y).alpha_
    assert once.estimate == pytest.approx(estimate_auc(RankRLS(alpha), X, y, interval="rows").estimate, abs=1e-12)
    assert once.n_fits == 2


@pytest.mark.parametrize(
    ("chooser", "plain"),
    [
        (RLSCV(alphas=[0.1, 1.0]), RLS),
        (RankSVMCV(alphas=[0.1, 1.0], cv=3), RankSVM),
        (GridSearchCV(RLS(), {"alpha": [0.1, 1.0]}, scoring="neg_mean_squared_error", cv=3), RLS),
    ],
    ids=repr,
)
def test_a_choice_can_be_made_once(chooser, plain, classes):
    X, y = classes
    chooser.fit(X, y)
    alpha = chooser.best_params_["alpha"] if hasattr(chooser, "best_params_") else chooser.alpha_
    found = estimate_auc(chooser, X, y, nested=False)
    assert found.estimate == pytest.approx(estimate_auc(plain(alpha), X, y, interval="rows").estimate, abs=1e-12)


def test_inner_pairs_become_folds_where_there_are_many(classes, monkeypatch):
    (X, y), fitted = classes, []

    class Spy(RankRLSCV):
        def fit(self, X, y, *, qid=None):
            fitted.append(self.cv)
            return super().fit(X, y, qid=qid)

    def inner_folds(**given):
        fitted.clear()
        estimate_auc(Spy(alphas=[0.1, 1.0], **given), X, y)
        return set(fitted)

    assert inner_folds() == {None}
    monkeypatch.setattr("kernelrank.model_selection._tuning._ROWS_IN_INNER_PAIRS", 15)
    monkeypatch.setattr("kernelrank.model_selection._tuning._INNER_FOLDS", 2)
    assert inner_folds() == {2}
    assert inner_folds(cv="leave-pair-out") == {"leave-pair-out"}


def test_selection_by_all_rows_is_optimistic_and_nested_is_not():
    rng = np.random.default_rng(0)
    nested, once = [], []
    for _ in range(20):
        X, y = rng.normal(size=(12, 2)), np.repeat([0.0, 1.0], 6)
        estimator = RankRLSCV(alphas=np.logspace(-4, 4, 5), kernel="gaussian")
        nested.append(estimate_auc(estimator, X, y, verbose=0).estimate)
        once.append(estimate_auc(estimator, X, y, nested=False, interval="rows").estimate)
    assert np.mean(once) > 0.52  # the truth is 0.5
    assert np.mean(nested) < np.mean(once) - 0.05


def test_pooling_warns_and_is_pessimistic_without_signal():
    rng = np.random.default_rng(1)
    y = np.repeat([0.0, 1.0], 10)
    pooled, pairs = [], []
    for _ in range(80):
        X = rng.normal(size=(20, 10))
        with pytest.warns(PooledEstimateWarning, match="pessimistic") as caught:
            pooled.append(estimate_auc(RankRLS(1.0), X, y, strategy="pooled").estimate)
        assert caught[0].filename == __file__
        pairs.append(estimate_auc(RankRLS(1.0), X, y, interval="rows").estimate)
    assert np.mean(pooled) < 0.5 - 3 * np.std(pooled) / np.sqrt(80)
    assert abs(np.mean(pairs) - 0.5) < 3 * np.std(pairs) / np.sqrt(80)


def test_identical_rows_are_noticed(classes):
    X, y = classes
    X, y = np.vstack([X, X[:2]]), np.append(y, y[:2])
    groups = np.append(np.arange(16), [0, 1])
    kinds = {"dense": X, "sparse": sp.csr_array(X), "frame": pd.DataFrame(X, columns=list("abc"))}
    for kind, rows in kinds.items():
        with pytest.warns(IdenticalRowsWarning, match="4 rows") as caught:
            found = estimate_auc(RankRLS(), rows, y)
        assert caught[0].filename == __file__, kind
        assert found.n_pairs == estimate_auc(RankRLS(), rows, y, groups=groups).n_pairs  # and no warning
    with pytest.warns(IdenticalRowsWarning):
        estimate_auc(RankRLS(), X, y, strategy="averaged", cv=GroupKFold(3), groups=np.arange(18) // 3)
    estimate_auc(RankRLS(), X, y, strategy="averaged", cv=GroupKFold(3), groups=groups)  # and no warning
    signed = X.copy()
    signed[:, 0], signed[0, 0], signed[16, 0] = 1.0, -0.0, 0.0
    with pytest.warns(IdenticalRowsWarning):  # zeros are equal
        estimate_auc(RankRLS(), signed, y)
    with pytest.warns(IdenticalRowsWarning, match="4 rows"):
        permutation_test(RankRLS(), X, y, n_permutations=30)
    permutation_test(RankRLS(), X, y, strategy="averaged", cv=GroupKFold(3), groups=groups, n_permutations=30)
    texts = [["binds", "ignores"][k % 2] + f" {k}" for k in range(18)]
    frame = pd.DataFrame({"text": texts, "mass": X[:, 0]})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), RLS())
    estimate_auc(model, frame, y)  # the texts differ
    frame["text"] = "binds"
    with pytest.warns(IdenticalRowsWarning, match="4 rows"):
        estimate_auc(model, frame, y)


def test_searches_can_be_told_of_groups(rng):
    groups = np.repeat(np.arange(12), 3)
    X, y = rng.normal(size=(36, 2)), (np.arange(36) % 3 > 0).astype(float)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=GroupKFold(2), scoring="r2")
    found = estimate_auc(search, X, y, strategy="averaged", cv=3, groups=groups, params={"groups": groups})
    assert found.n_pairs == 3 * 8 * 4
    with pytest.raises(ValueError, match="groups"):
        estimate_auc(search, X, y, strategy="averaged", cv=3, groups=groups)


def test_folds_that_split_a_group_must_be_asked_for(data):
    X, y = data
    groups = np.repeat(np.arange(8), 2)
    cv = KFold(4, shuffle=True, random_state=1)
    with pytest.raises(ValueError, match="splits a query or group"):
        estimate_concordance(RankRLS(), X, y, groups=groups, strategy="averaged", cv=cv)
    estimate_concordance(RankRLS(), X, y, groups=groups, strategy="averaged", cv=cv, split_groups=True)


def test_any_kind_of_rows_and_estimators(classes):
    X, y = classes
    expected = estimate_auc(LogisticRegression(), X, y).estimate
    labels = np.where(y == 1, "sick", "healthy")  # the later in the alphabet is positive
    assert estimate_auc(LogisticRegression(), X, labels).estimate == expected
    assert estimate_auc(LogisticRegression(), X.tolist(), y.astype(bool), n_jobs=2).estimate == expected
    frame = pd.DataFrame({"sex": np.where(X[:, 0] > 0, "f", "m"), "age": X[:, 1]})
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), RLS())
    wins, pairs = held_out.leave_pair_out(pipeline, frame.to_numpy(), y)
    assert estimate_auc(pipeline, frame, y).estimate == pytest.approx(wins.sum() / pairs.sum())
    pipeline = make_pipeline(StandardScaler(), RankRLS(0.1))
    wins, pairs = held_out.leave_pair_out(pipeline, X, y)
    assert estimate_auc(pipeline, X, y).estimate == pytest.approx(wins.sum() / pairs.sum())
    K = X @ X.T
    assert estimate_auc(RankRLS(0.1, kernel="precomputed"), K, y, interval="rows").estimate == pytest.approx(
        estimate_auc(RankRLS(0.1), X, y, interval="rows").estimate
    )
    from sklearn.svm import SVC

    assert estimate_auc(SVC(kernel="precomputed"), K, y).estimate == estimate_auc(SVC(kernel="linear"), X, y).estimate
    weights = np.linspace(1, 2, 16)
    wins, pairs = held_out.leave_pair_out(RankRLS(0.1), X, y, sample_weight=weights)
    found = estimate_auc(RankRLS(0.1), X, y, params={"sample_weight": weights})
    assert found.estimate == pytest.approx(wins.sum() / pairs.sum())


def test_queries_reach_the_ranker_in_pipelines_and_searches(rng):
    X, qid = rng.normal(size=(24, 3)), np.arange(24) // 4
    y = X[:, 0] + 0.3 * rng.normal(size=24)
    X[:, 0] -= 5 * qid  # between queries, less is better
    y += 5 * qid
    expected = estimate_concordance(RankRLS(0.1), X, y, qid=qid)
    assert expected.estimate > 0.8
    assert estimate_concordance(Ridge(), X, y, qid=qid).estimate < 0.5
    search = GridSearchCV(make_pipeline("passthrough", RankRLS()), {"rankrls__alpha": [0.1]}, cv=2, scoring="r2")
    for estimator in (make_pipeline("passthrough", RankRLS(0.1)), search):
        found = estimate_concordance(estimator, X, y, qid=qid)
        np.testing.assert_allclose(found.values, expected.values)
    with sklearn.config_context(enable_metadata_routing=True):
        found = estimate_concordance(make_pipeline("passthrough", RankRLS(0.1)), X, y, qid=qid)
    np.testing.assert_allclose(found.values, expected.values)


def test_many_rows_in_folds(rng):
    X = rng.normal(size=(50_000, 2))  # pairs of a fold, listed, would take 200 MB
    y = X[:, 0] + rng.normal(size=50_000)
    tracemalloc.start()
    found = estimate_concordance(RankRLS(), X, y, strategy="averaged", cv=10)
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()
    assert found.n_pairs == 10 * (5000 * 4999 // 2)
    assert found.estimate == pytest.approx(0.75, abs=0.01)


def test_classes_of_any_kind_for_estimators_that_learn_numbers(classes):
    X, y = classes
    labels = np.where(y == 1, "sick", "healthy")
    for estimator in (RankRLS(0.1), RankSVM(0.1), make_pipeline(StandardScaler(), Ridge())):
        assert (
            estimate_auc(estimator, X, labels, interval="rows").estimate
            == estimate_auc(estimator, X, y, interval="rows").estimate
        )


@pytest.mark.parametrize("estimator", [RankRLS(0.1), RankRLS(0.1, ties="drop")], ids=repr)
def test_pairs_that_leave_one_level_are_skipped(rng, estimator):
    X, y = rng.normal(size=(8, 2)), np.array([0.0] * 6 + [1.0, 2.0])
    found = estimate_concordance(estimator, X, y)
    refitted = estimate_concordance(make_pipeline(estimator), X, y)
    assert found.n_pairs == refitted.n_pairs == 12
    assert found.estimate == pytest.approx(refitted.estimate)
    assert found.skipped == refitted.skipped == ("1 pairs, because the remaining rows have all the same y",)
    y = np.array([0.0] * 6 + [1.0, 1.0])
    curve, refitted = (tournament_roc(each, X, y) for each in (estimator, make_pipeline(estimator)))
    np.testing.assert_allclose(curve.scores, refitted.scores)
    assert curve.skipped == refitted.skipped == ("1 pairs, because the remaining rows have all the same y",)


def test_a_choice_is_made_once_inside_a_pipeline(classes):
    X, y = classes
    pipeline = make_pipeline(StandardScaler(), RankRLSCV(alphas=[1e-3, 1e3]))
    alpha = pipeline.fit(X, y)[-1].alpha_
    found = estimate_auc(pipeline, X, y, nested=False, strategy="averaged", cv=3)
    expected = estimate_auc(make_pipeline(StandardScaler(), RankRLS(alpha)), X, y, strategy="averaged", cv=3)
    assert found.estimate == pytest.approx(expected.estimate)
    with pytest.raises(ValueError, match="Got Ridge"):
        estimate_auc(make_pipeline(StandardScaler(), Ridge()), X, y, nested=False)
    kernels = RankRLSCV(alphas=[0.1], kernel=[Gaussian(0.01), Gaussian(5.0)])
    chosen = kernels.fit(X, y).kernel_
    assert estimate_auc(kernels, X, y, nested=False, interval="rows").estimate == pytest.approx(
        estimate_auc(RankRLS(0.1, kernel=chosen), X, y, interval="rows").estimate
    )


def test_split_groups_still_depend_on_each_other(rng):
    y = np.tile([0.0, 1.0], 8)
    X = rng.normal(size=(16, 2))
    X, y, groups = (
        np.repeat(X, 4, axis=0) + 1e-6 * rng.normal(size=(64, 2)),
        np.repeat(y, 4),
        np.repeat(np.arange(16), 4),
    )
    torn = estimate_auc(RankRLS(), X, y, groups=groups, split_groups=True, interval="rows")
    alone = estimate_auc(RankRLS(), X, y, interval="rows")
    assert torn.estimate == alone.estimate
    assert torn.std_error > 1.5 * alone.std_error
    with pytest.raises(ValueError, match="groups has 2 elements"):
        estimate_auc(RankRLS(), X, y, groups=[1, 2], split_groups=True)


class Broken(Ridge):
    """Knows no numbers."""

    def predict(self, X):
        return np.full(len(X), np.nan)


def test_bad_calls(classes):
    X, y = classes
    for call, match in [
        (lambda: estimate_auc(RankRLS(), X, y, strategy="bootstrap"), "strategy"),
        (lambda: estimate_auc(RankRLS(), X, y, interval="wide"), "interval"),
        (lambda: estimate_auc(RankRLS(), X, y, confidence=1.0), "confidence"),
        (lambda: estimate_auc(RankRLS(), X, y, cv=5), "cv must be None"),
        (lambda: estimate_auc(RankRLS(), X, y, qid=y, strategy="tournament"), "takes no qid"),
        (lambda: estimate_auc(RankRLS(), X, np.arange(16)), "more than two"),
        (lambda: estimate_auc(RankRLS(), X, y[:5]), "elements"),
        (lambda: estimate_auc(RankRLS(), X, np.zeros(16)), "equal"),
        (lambda: estimate_auc(RankRLS(), X, np.arange(16) == 3), "two rows of each class"),
        (lambda: estimate_auc(RankRLS(), X, np.arange(16) == 3, strategy="averaged"), "A class has only one row"),
        (lambda: estimate_auc(RankRLS(), X, y, strategy="averaged", groups=y), "in only one group"),
        (lambda: estimate_auc(RankRLS(), X, np.full(16, np.nan)), "NaN"),
        (lambda: estimate_auc(RankRLS(), X, y, groups=[1, 2]), "groups has 2 elements"),
        (lambda: estimate_auc(RankRLS(), X, y, groups=np.full(16, np.nan)), "groups contains NaN"),
        (lambda: estimate_auc(Broken(), X, y), "NaN or infinite"),
        (lambda: estimate_auc(Ridge(), X, y, params={"sample_weight": np.ones(20)}), "'sample_weight' has not 16"),
        (lambda: estimate_auc(Ridge(), X, y, params={"sample_weight": 1.0}), "'sample_weight' has not 16"),
        (lambda: estimate_auc(Ridge(), X, ["a", None] * 8), "one kind"),
        (
            lambda: estimate_concordance(GaussianNB(), X, np.arange(16) % 3, strategy="averaged", cv=2),
            "one score per row",
        ),
        (lambda: estimate_auc(RankRLS(), X, y, strategy="averaged", cv=[([0, 1], [2, 3])]), "all others"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()
    for estimator in (RankRLS, "RankRLS"):
        with pytest.raises(TypeError, match="estimator must be an estimator"):
            estimate_auc(estimator, X, y)
    with pytest.raises(ValueError, match="each row once"), pytest.warns(PooledEstimateWarning):
        estimate_auc(RankRLS(), X, y, strategy="pooled", cv=RepeatedKFold(n_splits=2, n_repeats=2))


def test_progress_of_long_work(classes, capsys, monkeypatch):
    X, y = classes
    monkeypatch.setattr("kernelrank.model_selection._parallel._SHORT", np.inf)
    estimate_auc(RankSVM(), X, y)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("kernelrank.model_selection._parallel._SHORT", 0.0)
    estimate_auc(RankSVM(), X, y)
    assert re.match(r"60 fits of RankSVM, about \d+ s\n", capsys.readouterr().err)
    estimate_auc(RankSVM(), X, y, verbose=0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "interval by the jackknife"),
        ({"interval": "rows"}, "interval from rows"),
        ({"groups": np.arange(24) // 2}, "interval from groups"),
        ({"qid": np.arange(24) // 6}, "interval from queries"),
        ({"qid": np.arange(24) // 6, "interval": "jackknife"}, "interval by the jackknife"),
    ],
)
def test_the_kind_of_an_interval_is_shown(rng, options, told):
    found = estimate_concordance(RankRLS(), rng.normal(size=(24, 2)), rng.normal(size=24), verbose=0, **options)
    assert told in str(found)
