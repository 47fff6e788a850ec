"""Shortcuts against refits."""

import numpy as np
import pytest
from least_squares import ALPHAS, assert_like_refit, data, kernels, query_ids, refit
from sklearn.model_selection import KFold

from kernelrank import RLS, RankRLS, RankRLSCV
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.kernels import Gaussian


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", [RLS, RankRLS])
@pytest.mark.parametrize("outputs", [None, 2])
def test_hold_out_is_a_refit(rng, kind, kernel, n, alpha, outputs):
    X, y = data(rng, m=80, n=n, outputs=outputs, offset=1e4 if kernel == "linear" else 0.0)
    model = kind(1.0, kernel=kernel).fit(X, y)
    folds = [[3], [5, 9], np.arange(20, 40), np.arange(80) % 3 == 1]
    for fold, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
        rows = np.arange(80)[np.asarray(fold)]
        assert_like_refit(found, refit(model, X, y, rows, alpha), model, alpha)


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("alpha", ALPHAS)
def test_leave_pair_out_is_a_refit(rng, kernel, n, alpha):
    X, y = data(rng, m=60, n=n)
    model = RankRLS(alpha, kernel=kernel).fit(X, y)
    pairs = [(0, 1), (1, 0), (17, 42), (59, 3)]
    every = model.leave_pair_out()
    assert np.isnan(np.diagonal(every)).all()
    for (i, j), found in zip(pairs, model.leave_pair_out(pairs), strict=True):
        assert_like_refit(found, refit(model, X, y, [i, j], alpha), model, alpha)
        assert_like_refit(np.array([every[i, j], every[j, i]]), found, model, alpha)


def test_leave_pair_out_of_all_pairs_agrees_with_refits(rng):
    X, y = data(rng, m=25, outputs=2)
    model = RankRLS(0.1, kernel="gaussian").fit(X, y)
    every, right = model.leave_pair_out(), np.zeros(2)
    for i in range(25):
        for j in range(i):
            found = refit(model, X, y, [i, j], 0.1)
            np.testing.assert_allclose([every[i, j], every[j, i]], found, rtol=1e-9, atol=1e-10)
            right += (y[i] - y[j]) * (found[0] - found[1]) > 0
    np.testing.assert_allclose(model.leave_pair_out_concordance(), right / (25 * 24 / 2), rtol=1e-12)


def test_leave_pair_out_in_blocks(rng, monkeypatch):
    X, y = data(rng, m=40)
    y = np.round(y)  # pairs of equal utilities do not count
    model = RankRLS(0.1).fit(X, y)
    every, share = model.leave_pair_out(), model.leave_pair_out_concordance()
    monkeypatch.setattr("kernelrank.solvers.least_squares._pairs.BLOCK_ROWS", 7)
    monkeypatch.setattr("kernelrank.solvers.least_squares._blocks.ELEMENTS", 200)
    np.testing.assert_allclose(model.leave_pair_out(), every, rtol=1e-12)
    assert model.leave_pair_out_concordance() == pytest.approx(share)
    i, j = np.nonzero(y[:, None] > y)
    assert share == pytest.approx(np.mean(every[i, j] > every[j, i]))


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("alpha", [1e-8, 1e-2, 1.0, 1e8])
@pytest.mark.parametrize("sizes", [(20, 12), (3, 2), (1, 7, 5), (2, 4, 3, 10)], ids=str)
def test_leave_pair_out_without_ties_is_a_refit(rng, kernel, n, alpha, sizes):
    m = sum(sizes)
    X, _ = data(rng, m=m, n=n)
    y = rng.permutation(np.repeat(np.arange(len(sizes)) ** 2.0, sizes))
    model = RankRLS(1.0, kernel=kernel, ties="drop").fit(X, y)
    every = model.leave_pair_out(alpha=alpha)
    pairs = np.argwhere(~np.isnan(every))
    assert len(pairs) == m * (m - 1) - 2 * (sizes == (3, 2))  # without both rows of a class, there is but one
    given = [pairs[k] for k in rng.choice(len(pairs), 12, replace=False)]
    for (i, j), found in zip(given, model.leave_pair_out(given, alpha=alpha), strict=True):
        expected = refit(model, X, y, [i, j], alpha)
        assert_like_refit(found, expected, model, alpha)
        assert_like_refit(np.array([every[i, j], every[j, i]]), expected, model, alpha)
    if alpha < 1e8:  # where predictions are equal but for rounding
        winners, losers = np.nonzero(y[:, None] > y)
        right = np.mean(every[winners, losers] > every[losers, winners])
        assert model.leave_pair_out_concordance(alpha=alpha) == pytest.approx(right)


def test_leave_pair_out_without_ties(rng, monkeypatch):
    X, y = data(rng, m=40)
    y = (y > 0).astype(float)
    model = RankRLS(0.1, ties="drop").fit(X, y)
    every = model.leave_pair_out()
    assert np.isnan(np.diagonal(every)).all()
    assert np.isnan(every).sum() == 40
    monkeypatch.setattr("kernelrank.solvers.least_squares._blocks.ELEMENTS", 100)
    np.testing.assert_allclose(model.leave_pair_out(), every, rtol=1e-9)
    chosen = RankRLSCV(alphas=3, ties="drop").fit(X, y)
    for alpha, [score] in zip(chosen.alphas_, chosen.scores_, strict=True):
        assert score == pytest.approx(model.leave_pair_out_concordance(alpha=alpha))
    assert RankRLS(0.1, ties="drop").fit(np.ones((40, 2)), y).leave_pair_out_concordance() == 0.5


def test_leave_pair_out_without_ties_that_cannot_be(rng):
    X, y = data(rng, m=20)
    many = RankRLS(ties="drop").fit(X, y)
    with pytest.raises(ValueError, match="210 pairs of utilities: keep ties"):
        many.leave_pair_out()
    assert_like_refit(many.leave_pair_out([[0, 1]], alpha=0.1)[0], refit(many, X, y, [0, 1], 0.1), many, 0.1)
    rare = RankRLS(ties="drop").fit(X, np.arange(20) == 3)
    with pytest.raises(NoComparablePairsError, match="two utilities must be left"):
        rare.leave_pair_out([[3, 4]])
    assert np.isfinite(rare.leave_pair_out([[5, 4]])).all()


def parts_of_queries(qid):
    """Whole queries, rows of one, of several, all rows of some and some of others; a query of one row."""
    big, small = np.argmax(np.bincount(qid)), np.flatnonzero(qid == qid[-1])
    return [
        np.flatnonzero(qid == qid[-1]),
        np.flatnonzero(qid == big)[:1],
        np.flatnonzero(qid == big)[:-1],
        np.union1d(np.flatnonzero(qid == big)[::3], small),
        np.arange(len(qid)) % 4 == 1,
        [0],
    ]


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize(("alpha", "query_weighting"), [(1e-8, "query"), (1e-3, "pair"), (1.0, "query"), (1e8, "pair")])
@pytest.mark.parametrize("options", [{}, {"ties": "drop"}, {"cost": "unit"}, {"cost": "relative"}], ids=str)
@pytest.mark.parametrize("with_weights", [False, True])
def test_queries_and_parts_of_them_are_refits(rng, kernel, n, alpha, query_weighting, options, with_weights):
    X, y = data(rng, m=60, n=n)
    y, qid = np.round(y), query_ids(rng, 60)
    y[qid == 1] = 2.0  # ties only
    w = rng.integers(4, size=60).astype(float) if with_weights else None
    model = RankRLS(1.0, kernel=kernel, query_weighting=query_weighting, **options)
    model.fit(X, y, qid=qid, sample_weight=w)
    found = model.leave_query_out(alpha=alpha)
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        expected = refit(model, X, y, rows, alpha, qid=qid, sample_weight=w)
        assert_like_refit(found[rows], expected, model, alpha)
    folds = parts_of_queries(qid)
    for fold, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
        rows = np.arange(60)[fold]
        expected = refit(model, X, y, rows, alpha, qid=qid, sample_weight=w)
        assert_like_refit(found, expected, model, alpha)


@pytest.mark.pairwise
@pytest.mark.parametrize("n", [5, 300])
@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 1.0, 1e12])
def test_shortcuts_with_far_features(rng, n, alpha):
    X, y = data(rng, m=200, n=n, outputs=2, offset=1e4)
    qid = query_ids(rng, 200)
    one, many = RankRLS(1.0).fit(X, y), RankRLS(1.0).fit(X, y, qid=qid)
    folds = [[7], [3, 150], np.arange(0, 200, 10), np.flatnonzero(qid == 2)[1:]]
    for model, ids in ((one, None), (many, qid)):
        for rows, found in zip(folds, model.hold_out(folds, alpha=alpha), strict=True):
            expected = refit(model, X, y, rows, alpha, qid=ids)
            scale = 1.0 if ids is None else 1e4  # scores inside a query are far from zero, as the features are
            np.testing.assert_allclose(found / scale, expected / scale, rtol=1e-9, atol=1e-9)


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 1.0, 1e12])
def test_every_shortcut_of_two_hundred_rows(rng, kernel, n, alpha):
    linear = kernel == "linear"
    X, y = data(rng, m=200, n=3 * n if n > 5 else n, offset=1e4 if linear else 0.0)
    qid = query_ids(rng, 200)
    one, many = RankRLS(1.0, kernel=kernel).fit(X, y), RankRLS(1.0, kernel=kernel).fit(X, y, qid=qid)
    pair = refit(one, X, y, [3, 150], alpha)
    assert_like_refit(one.leave_pair_out([[3, 150]], alpha=alpha)[0], pair, one, alpha)
    rows = np.flatnonzero(qid == 2)
    found, expected = many.leave_query_out(alpha=alpha)[rows], refit(many, X, y, rows, alpha, qid=qid)
    assert_like_refit(found, expected, many, alpha)
    if linear:  # inside a query the level of the scores, that of the offset, is of no account
        np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.05)])
def test_many_outputs_and_overlapping_folds(rng, kernel):
    X, Y = data(rng, m=60, outputs=3)
    qid = query_ids(rng, 60)
    model = RankRLS(0.1, kernel=kernel).fit(X, Y, qid=qid)
    folds = [np.arange(10), np.arange(5, 20), [12, 3]]
    alone = [RankRLS(0.1, kernel=kernel).fit(X, y, qid=qid).hold_out(folds) for y in Y.T]
    for k, found in enumerate(model.hold_out(folds)):
        np.testing.assert_allclose(found, np.stack([each[k] for each in alone], axis=1), rtol=1e-9, atol=1e-12)


def test_alphas_are_tried_in_blocks(rng, monkeypatch):
    X, y = data(rng, m=60)
    model = RankRLS(kernel="gaussian").fit(X, y, qid=query_ids(rng, 60))
    alphas = np.geomspace(1e-4, 1, 7)
    whole = model._leave_query_out(alphas)
    np.testing.assert_allclose(whole[3, :, 0], model.leave_query_out(alpha=alphas[3]), rtol=1e-12)
    monkeypatch.setattr("kernelrank.solvers.least_squares._blocks.ELEMENTS", 2000)
    np.testing.assert_allclose(model._leave_query_out(alphas), whole, rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.leave_pair_out([[0, 0]]), "two different rows"),
        (lambda m: m.leave_pair_out([[0, 50]]), "between 0 and 49"),
        (lambda m: m.leave_pair_out([0, 1]), "two columns"),
        (lambda m: m.leave_pair_out([[0.5, 1]]), "two columns"),
        (lambda m: m.leave_query_out(), "needs queries"),
        (lambda m: m.hold_out([[1, 1]]), "twice"),
        (lambda m: m.hold_out([np.arange(49)]), "leave two rows"),
        (lambda m: m.hold_out([[50]]), "below 50"),
        (lambda m: m.hold_out(KFold(3).split(np.zeros(50))), "pass the test rows"),
        (lambda m: m.hold_out([[0.5]]), "list of held-out row indices"),
        (lambda m: m.path([0.0]), "positive"),
        (lambda m: m.hold_out([[1]], alpha=-1), "alpha"),
    ],
)
def test_bad_calls(rng, call, message):
    model = RankRLS().fit(*data(rng))
    with pytest.raises(ValueError, match=message):
        call(model)


def test_what_has_no_closed_form_says_so(rng):
    X, y = data(rng)
    pairs = np.stack([np.arange(25), np.arange(25, 50)], axis=1)
    for model, message in (
        (RankRLS().fit(X, y, sample_weight=np.ones(50)), "sample_weight"),
        (RankRLS(cost="unit").fit(X, y), 'cost="unit"'),
        (RankRLS(cost="relative").fit(X, y), 'cost="relative"'),
        (RankRLS().fit_pairs(X, pairs), "given pairs"),
    ):
        for call in (model.leave_pair_out, model.leave_pair_out_concordance, lambda: model.hold_out([[1]])):  # noqa: B023
            with pytest.raises(ValueError, match=f"{message}.*refit"):
                call()
    with pytest.raises(ValueError, match=r'ties="drop".*refit'):
        RankRLS(ties="drop").fit(X, y).hold_out([[1]])
    queries = RankRLS().fit(X, y, qid=np.arange(50) // 10)
    with pytest.raises(ValueError, match="leave_query_out"):
        queries.leave_pair_out()
    with pytest.raises(ValueError, match="leave a query"):
        queries.hold_out([np.arange(50)])
    with pytest.raises(ValueError, match="leave a query"):
        queries.hold_out([np.delete(np.arange(50), [3, 13])])
    with pytest.raises(ValueError, match="two queries"):
        RankRLS().fit(X, y, qid=np.arange(50) // 49).leave_query_out()
