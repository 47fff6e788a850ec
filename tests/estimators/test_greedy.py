"""Greedy selection against refits for every candidate and everything that is held out."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline

from kernelrank import RLS, GreedyRankRLS, GreedyRLS, RankRLS
from kernelrank.exceptions import MissingQueryWarning, NoComparablePairsError
from kernelrank.metrics import concordance_index


def data(rng, m=24, n=6, outputs=None, offset=0.0):
    X = rng.normal(size=(m, n)) * np.exp(rng.normal(size=n))
    Y = (X @ rng.normal(size=n))[:, None] + 3 * rng.normal(size=(m, outputs or 1))
    return X + offset, Y if outputs else Y[:, 0]


def query_ids(rng, m):
    """Of very different sizes, shuffled; one has a single row."""
    return np.append(99, rng.permutation(np.sort(rng.integers(6, size=m - 1) ** 2 % 5)))


def pair_loss(y, predicted):
    """Average over all ordered pairs of rows, and sum over the outputs."""
    errors = np.reshape(y - predicted, (len(y), -1))
    return np.mean((errors[:, None] - errors[None]) ** 2, axis=(0, 1)).sum()


def leave_one_out_error(X, y, model):
    """As documented: mean squared error, summed over the outputs."""
    m, total = len(y), 0.0
    for i in range(m):
        rest = np.arange(m) != i
        if X.shape[1]:
            predicted = RLS(model.alpha, solver="direct").fit(X[rest], y[rest]).predict(X[[i]])
        else:
            predicted = y[rest].mean(axis=0)
        total += np.sum((y[i] - predicted) ** 2) / m
    return total


def held_out_error(X, y, model, qid, folds):
    """As documented in the notes of GreedyRankRLS."""
    units = np.zeros(len(y), int) if qid is None else np.unique(qid, return_inverse=True)[1]
    if qid is None:  # a fold counts as a query
        for number, fold in enumerate(folds):
            units[fold] = number
    sizes = np.bincount(units)
    counts = (sizes > 1) * (1.0 if model.query_weighting == "query" else sizes**2.0)
    unit_shares = counts / counts.sum()
    shares = [len(fold) / len(y) if qid is None else unit_shares[np.unique(units[fold])].sum() for fold in folds]
    n_parts = np.count_nonzero(shares)
    total = 0.0
    for fold, share in zip(folds, shares, strict=True):
        rest = np.setdiff1d(np.arange(len(y)), fold)
        alpha = model.alpha * (1 - 1 / n_parts) / (1 - share)
        refit = RankRLS(alpha, query_weighting=model.query_weighting, solver="direct")
        if X.shape[1]:
            refit.fit(X[rest], y[rest], qid=None if qid is None else qid[rest])
            predicted = refit.predict(X[fold])
        else:
            predicted = np.zeros_like(y[fold])
        for unit in np.unique(units[fold]):
            rows = units[fold] == unit
            total += unit_shares[unit] * pair_loss(y[fold][rows], predicted[rows])
    return total


def select_by_refits(X, error, n_features):
    """Of equally good features, the first."""
    selected, errors = [], []
    for _ in range(n_features):
        found = np.array([np.inf if j in selected else error(X[:, [*selected, j]]) for j in range(X.shape[1])])
        selected.append(int(np.argmax(found <= found.min() * (1 + 1e-12))))
        errors.append(found[selected[-1]])
    return selected, errors


def assert_selects(model, selected, errors, rtol=1e-9):
    assert model.selected_.tolist() == selected
    np.testing.assert_allclose(model.errors_, errors, rtol=rtol)


def folds_of(cv, m, groups=None):
    return [test for _, test in cv.split(np.zeros((m, 1)), groups=groups)]


ALPHAS_AND_OUTPUTS = pytest.mark.parametrize(("alpha", "outputs"), [(1e-8, None), (1e-3, 3), (1.0, None), (1e5, 3)])
OUTPUTS = pytest.mark.parametrize("outputs", [None, 3])


@pytest.mark.pairwise
@pytest.mark.parametrize(("m", "n", "k"), [(16, 4, 3), (8, 12, 2), (4, 3, 2)])
@ALPHAS_AND_OUTPUTS
def test_leave_one_out(rng, m, n, k, alpha, outputs):
    X, y = data(rng, m, n, outputs)
    model = GreedyRLS(k, alpha=alpha).fit(X, y)
    assert_selects(model, *select_by_refits(X, lambda some: leave_one_out_error(some, y, model), k))


@pytest.mark.pairwise
@ALPHAS_AND_OUTPUTS
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize(("m", "n", "k"), [(30, 4, 3), (12, 15, 2)])
def test_leave_query_out(rng, m, n, k, alpha, outputs, query_weighting):
    X, y = data(rng, m, n, outputs)
    qid = query_ids(rng, m)
    model = GreedyRankRLS(k, alpha=alpha, query_weighting=query_weighting).fit(X, y, qid=qid)
    queries = [np.flatnonzero(qid == q) for q in np.unique(qid)]
    assert_selects(model, *select_by_refits(X, lambda some: held_out_error(some, y, model, qid, queries), k))


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
def test_folds_of_queries(rng, query_weighting):
    X, y = data(rng, 30)
    qid = query_ids(rng, 30)
    model = GreedyRankRLS(3, cv=GroupKFold(3), query_weighting=query_weighting).fit(X, y, qid=qid)
    folds = folds_of(GroupKFold(3), 30, qid)
    assert_selects(model, *select_by_refits(X, lambda some: held_out_error(some, y, model, qid, folds), 3))


@pytest.mark.pairwise
@ALPHAS_AND_OUTPUTS
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("cv", [3, KFold(10)])  # of 13 rows: folds of unequal sizes, some of them of one row
def test_folds_of_one_ranking(rng, cv, alpha, outputs, query_weighting):
    X, y = data(rng, 13, 4, outputs)
    model = GreedyRankRLS(3, alpha=alpha, query_weighting=query_weighting, cv=cv).fit(X, y)
    folds = folds_of(KFold(cv, shuffle=True, random_state=0) if isinstance(cv, int) else cv, 13)
    assert_selects(model, *select_by_refits(X, lambda some: held_out_error(some, y, model, None, folds), 3))


@pytest.mark.parametrize(("m", "n_folds"), [(4, 2), (9, 4), (40, 10)])
def test_default_folds_of_one_ranking(rng, m, n_folds):
    X, y = data(rng, m)
    model = GreedyRankRLS(2).fit(X, y)
    again = GreedyRankRLS(2, cv=KFold(n_folds, shuffle=True, random_state=0)).fit(X, y)
    assert_selects(model, again.selected_.tolist(), again.errors_, rtol=0)


def test_equal_shares_are_refits_with_alpha_itself(rng):
    X, y = data(rng, 20)
    qid = rng.permutation(np.repeat(np.arange(5), [2, 3, 4, 5, 6]))
    by_query = GreedyRankRLS(1, alpha=0.1).fit(X, y, qid=qid)
    held_out = RankRLS(0.1).fit(X[:, by_query.selected_], y, qid=qid).leave_query_out()
    losses = [pair_loss(y[qid == q], held_out[qid == q]) for q in range(5)]
    assert by_query.errors_ == pytest.approx([np.mean(losses)], rel=1e-10)
    one_ranking = GreedyRankRLS(1, alpha=0.1, cv=KFold(5)).fit(X, y)
    folds = folds_of(KFold(5), 20)
    held_out = RankRLS(0.1).fit(X[:, one_ranking.selected_], y).hold_out(folds)
    losses = [pair_loss(y[fold], each) for fold, each in zip(folds, held_out, strict=True)]
    assert one_ranking.errors_ == pytest.approx([np.mean(losses)], rel=1e-10)


@given(st.data())
def test_small_integers(drawn):
    """Full of ties between features, constants among them."""
    m, n = drawn.draw(st.integers(4, 6)), drawn.draw(st.integers(1, 3))
    numbers = st.integers(-2, 2).map(float)
    X = np.array(drawn.draw(st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=m, max_size=m)))
    y = np.array(drawn.draw(st.lists(numbers, min_size=m, max_size=m)))
    k = drawn.draw(st.integers(1, n))
    model = GreedyRLS(k, alpha=0.1).fit(X, y)
    _, errors = select_by_refits(X, lambda some: leave_one_out_error(some, y, model), k)
    # Which of equals comes first can hang on the last bit; what it leads to first cannot.
    np.testing.assert_allclose(model.errors_[0], errors[0], rtol=1e-9, atol=1e-12)
    for step in range(1, k + 1):
        expected = leave_one_out_error(X[:, model.selected_[:step]], y, model)
        np.testing.assert_allclose(model.errors_[step - 1], expected, rtol=1e-9, atol=1e-12)


@OUTPUTS
def test_final_model_is_that_of_the_selected_features(rng, outputs):
    X, y = data(rng, 30, outputs=outputs)
    qid = query_ids(rng, 30)
    for model, final, queries in (
        (GreedyRLS(3, alpha=0.1), RLS(0.1), {}),
        (GreedyRankRLS(3, alpha=0.1), RankRLS(0.1), {}),
        (GreedyRankRLS(3, alpha=0.1, query_weighting="pair"), RankRLS(0.1, query_weighting="pair"), {"qid": qid}),
    ):
        model.fit(X, y, **queries)
        final.fit(X[:, model.selected_], y, **queries)
        np.testing.assert_allclose(model.coef_[..., model.selected_], final.coef_, rtol=1e-12)
        assert np.count_nonzero(model.coef_) == final.coef_.size
        np.testing.assert_allclose(model.intercept_, final.intercept_, rtol=1e-12)
        # Scores near zero are sums of terms near one that cancel, in another order.
        np.testing.assert_allclose(model.predict(X), final.predict(X[:, model.selected_]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("model", [GreedyRLS(alpha=0.05), GreedyRankRLS(alpha=0.05)])
def test_stops_when_the_error_grows(rng, model):
    X, y = data(rng, 20, 12)
    stopped, complete = clone(model).fit(X, y), clone(model).set_params(n_features=12).fit(X, y)
    rises = np.flatnonzero(np.diff(complete.errors_) >= 0)
    n_selected = 12 if len(rises) == 0 else rises[0] + 1
    assert stopped.selected_.tolist() == complete.selected_[:n_selected].tolist()
    assert sorted(complete.selected_) == list(range(12))


def test_keeps_one_feature_of_noise():
    model = GreedyRLS().fit(np.eye(6), [1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    assert len(model.selected_) == 1


@pytest.mark.parametrize("alpha", [1e-12, 1e-3])
def test_offset_costs_no_digits(rng, alpha):
    X, y = data(rng)
    qid = query_ids(rng, 24)
    for model, queries in ((GreedyRLS(4, alpha=alpha), {}), (GreedyRankRLS(4, alpha=alpha), {"qid": qid})):
        near, far = clone(model).fit(X, y, **queries), clone(model).fit(X + 1e4, y + 1e4, **queries)
        assert_selects(far, near.selected_.tolist(), near.errors_, rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-10, 1e-3])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e4 / 3])
@pytest.mark.parametrize("qid", [None, np.arange(24) % 4])
def test_constants_and_copies_come_last(rng, alpha, constant, qid):
    X = rng.uniform(-1, 1, size=(24, 2))
    y = X @ [2.0, 1.0] + 0.1 * rng.normal(size=24)
    X = np.column_stack([np.full(24, constant), X, X, -X])
    model = GreedyRankRLS(7, alpha=alpha).fit(X, y, qid=qid)
    assert model.selected_[:2].tolist() == [1, 2]  # the first of their copies
    if alpha < 1e-9:  # what is left lessens the penalty, at most
        np.testing.assert_allclose(model.errors_[2:], model.errors_[1], rtol=1e-6)
    assert np.isfinite(model.coef_).all()
    assert GreedyRLS(7, alpha=alpha).fit(X, y).selected_[:2].tolist() == [1, 2]


def test_constant_in_every_query_does_not_help(rng):
    X, y = data(rng, n=2)
    qid = np.arange(24) % 4
    model = GreedyRankRLS(alpha=1e-12).fit(np.column_stack([1e3 / (qid + 3), X]), y + 100 * qid, qid=qid)
    assert 0 not in model.selected_


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_extreme_scales(rng, scale):
    X, y = data(rng)
    model = GreedyRLS(3, alpha=1e-3 * scale**2).fit(X * scale, y)
    expected = GreedyRLS(3, alpha=1e-3).fit(X, y)
    assert_selects(model, expected.selected_.tolist(), expected.errors_)


def test_order_of_rows_and_queries_does_not_matter(rng):
    X, y = data(rng, 30)
    qid, order = query_ids(rng, 30), rng.permutation(30)
    model = GreedyRankRLS(3).fit(X, y, qid=qid)
    names = np.array([f"query {q}" for q in qid])
    again = GreedyRankRLS(3).fit(X[order], y[order], qid=names[order])
    assert_selects(again, model.selected_.tolist(), model.errors_)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, np.asfortranarray, np.float32])
def test_kinds_of_matrices(rng, make):
    X, y = data(rng)
    X = np.float64(np.float32(np.where(X > 0, X, 0.0)))
    model, other = GreedyRankRLS(3).fit(X, y), GreedyRankRLS(3).fit(make(X), y)
    assert_selects(other, model.selected_.tolist(), model.errors_)
    np.testing.assert_allclose(other.predict(make(X)), model.predict(X), rtol=1e-5, atol=1e-5)
    assert other.transform(make(X)).shape == (24, 3)


def test_selector(rng):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = GreedyRLS(2).fit(frame, y)
    chosen = sorted(model.selected_)
    assert model.get_support(indices=True).tolist() == chosen
    assert model.get_feature_names_out().tolist() == list(frame.columns[chosen])
    np.testing.assert_array_equal(model.set_output(transform="default").transform(frame), X[:, chosen])
    back = model.inverse_transform(X[:, chosen])
    np.testing.assert_array_equal(back[:, chosen], X[:, chosen])
    assert np.count_nonzero(back) == 2 * 24


def test_qid_column(rng):
    X, y = data(rng, 30)
    qid = rng.permutation(np.repeat(["one", "two", "three"], [4, 10, 16]))
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(qid=qid)
    model, expected = GreedyRankRLS(2).fit(frame, y), GreedyRankRLS(2).fit(X, y, qid=qid)
    assert_selects(model, expected.selected_.tolist(), expected.errors_)
    with pytest.warns(MissingQueryWarning, match="metadata routing"):
        assert model.transform(frame).shape == (30, 2)
    assert model.score(frame, y) == expected.score(X, y, qid=qid)
    np.testing.assert_array_equal(model.rank(frame), expected.rank(X, qid))
    np.testing.assert_array_equal(model.decision_function(frame), model.predict(frame))


def test_score_of_several_outputs(rng):
    X, Y = data(rng, 30, outputs=2)
    qid = np.arange(30) % 5
    model = GreedyRankRLS(2).fit(X, Y, qid=qid)
    scores = model.predict(X)
    assert scores.shape == (30, 2)
    expected = np.mean([concordance_index(Y[:, k], scores[:, k], qid=qid) for k in range(2)])
    assert model.score(X, Y, qid=qid) == pytest.approx(expected)


def test_pipeline_with_queries(rng):
    X, y = data(rng, 60)
    qid = np.arange(60) % 6
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(GreedyRankRLS(2), RankRLS(0.1)).fit(X, y, qid=qid)
        scores = cross_val_score(pipeline, X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3))
    chosen = np.sort(GreedyRankRLS(2).fit(X, y, qid=qid).selected_)
    expected = RankRLS(0.1).fit(X[:, chosen], y, qid=qid)
    np.testing.assert_allclose(pipeline[-1].coef_, expected.coef_)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("model", "queries", "message"),
    [
        (GreedyRLS(7), None, "n_features is 7, but X has 6 features"),
        (GreedyRLS(0), None, "n_features"),
        (GreedyRLS(2, alpha=0.0), None, "alpha"),
        (GreedyRankRLS(2, query_weighting="row"), None, "query_weighting must be"),
        (GreedyRankRLS(2), np.zeros(24), "At least two queries with pairs"),
        (GreedyRankRLS(2, cv=KFold(24)), None, "No fold of cv has two rows"),
        (GreedyRankRLS(2, cv=ShuffleSplit(3, random_state=0)), None, "every row once"),
        (GreedyRankRLS(2, cv=[([0, 1, 2], [3, 4])]), None, "train on all others"),
        (GreedyRankRLS(2, cv=[(np.arange(24), [])]), None, "test on some rows"),
        (GreedyRankRLS(2, cv=KFold(2)), np.arange(24) % 5, "splits a query"),
    ],
)
def test_refusals(model, queries, message):
    X, y = data(np.random.default_rng(0))
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y) if queries is None else model.fit(X, y, qid=queries)
    assert not hasattr(model, "coef_")


def test_too_few_rows():
    with pytest.raises(ValueError, match="n_samples = 2"):
        GreedyRLS().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="n_samples = 3"):
        GreedyRankRLS().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(NoComparablePairsError):
        GreedyRankRLS().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[0, 1, 2])


def test_memory_is_asked_for():
    wide = sp.csr_array((100_000, 50_000_000))
    with pytest.raises(MemoryError, match="fewer rows"):
        GreedyRLS(2).fit(wide, np.arange(100_000.0))


def test_candidates_a_few_at_a_time(rng, monkeypatch):
    X, y = data(rng, 30, 7)
    qid = query_ids(rng, 30)
    for model, queries in ((GreedyRLS(5), {}), (GreedyRankRLS(5), {"qid": qid})):
        at_once = clone(model).fit(X, y, **queries)
        with monkeypatch.context() as patch:
            patch.setattr("kernelrank.estimators._greedy.panel_width", lambda m: 2)
            few = clone(model).fit(sp.csr_array(X), y, **queries)
        assert_selects(few, at_once.selected_.tolist(), at_once.errors_)


@pytest.mark.parametrize("kind", [GreedyRLS, GreedyRankRLS])
def test_progress_is_reported(rng, capsys, kind):
    X, y = data(rng)
    told = []
    model = kind(3, verbose=lambda done, total: told.append((done, total))).fit(X, y)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert capsys.readouterr().out == ""
    model.set_params(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == f"3 of 3: feature {model.selected_[2]}, held-out error {model.errors_[2]:.6g}"
    assert kind(3).fit(X, y).selected_.tolist() == model.selected_.tolist()
    assert capsys.readouterr().out == ""
