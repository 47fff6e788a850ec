"""RankSVM.fit_pairs: explicit preferences, for both losses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from oracles import comparable_pairs

from kernelrank import RankSVM
from kernelrank.exceptions import MissingQueryWarning, NoComparablePairsError

pytestmark = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def make(loss, **kwargs):
    return RankSVM(1e-2, loss=loss, **{"tol": 1e-9, **kwargs})


def data(rng, m=60, n=4):
    X = rng.normal(size=(m, n))
    return X, np.round(2 * X @ rng.normal(size=n) + rng.normal(size=m))  # with ties


def all_pairs(y, qid=None):
    lower, higher = np.nonzero(comparable_pairs(y, qid, None))
    return np.column_stack([higher, lower])


def check_same(model, other):
    """Within the gaps, which at this tolerance tell the coefficients to four digits."""
    assert -1e-12 <= model.gap_ <= 1e-9
    assert model.objective_ == pytest.approx(other.objective_, abs=3e-9)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=2e-4 * np.abs(other.coef_).max())


def losses(model, X, pairs):
    difference = (X @ model.coef_)[pairs[:, 0]] - (X @ model.coef_)[pairs[:, 1]]
    return np.maximum(0.0, 1 - difference) ** (1 if model.loss == "hinge" else 2)


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_pairs_of_y_are_y(rng, loss, query_weighting, queries, weighted):
    X, y = data(rng)
    qid = rng.integers(0, 5, 60) if queries else None
    weights = rng.choice([0.0, 1.0, 2.5], 60) if weighted else None
    pairs = rng.permutation(all_pairs(y, qid))
    weight = weights[pairs].prod(axis=1) if weighted else None
    found = make(loss, query_weighting=query_weighting).fit_pairs(X, pairs, weight=weight, qid=qid)
    expected = make(loss, query_weighting=query_weighting).fit(X, y, qid=qid, sample_weight=weights)
    check_same(found, expected)
    assert found.n_pairs_ == pytest.approx(expected.n_pairs_, rel=1e-12)
    assert type(found.n_pairs_) is (float if weighted else int)


def test_the_attributes_say_what_they_promise(rng, loss):
    X, _ = data(rng)
    pairs, weight = rng.integers(0, 60, (200, 2)), rng.random(200)
    pairs[:, 1] = np.where(pairs[:, 0] == pairs[:, 1], (pairs[:, 1] + 1) % 60, pairs[:, 1])
    loose, tight = (make(loss, tol=tol).fit_pairs(X, pairs, weight=weight) for tol in (1e-2, 1e-9))
    expected = weight @ losses(loose, X, pairs) / weight.sum() + 1e-2 * loose.coef_ @ loose.coef_
    assert loose.objective_ == pytest.approx(expected, rel=1e-12)
    assert -1e-12 <= loose.objective_ - tight.objective_ <= loose.gap_ + 1e-12
    assert loose.n_pairs_ == pytest.approx(weight.sum(), rel=1e-14)
    assert loose.n_iter_ == len(loose.history_)
    assert loose.n_features_in_ == 4


def test_winners_get_the_higher_scores(rng, loss):
    X = rng.normal(size=(50, 3))
    utility = X @ [1.0, -2.0, 0.5]
    pairs = rng.integers(0, 50, (300, 2))
    pairs = pairs[utility[pairs[:, 0]] > utility[pairs[:, 1]] + 1]
    scores = make(loss).fit_pairs(X, pairs).predict(X)
    assert (scores[pairs[:, 0]] > scores[pairs[:, 1]]).all()
    assert (np.sign(make(loss).fit_pairs(X, pairs).coef_) == [1, -1, 1]).all()


def test_a_pair_given_twice_counts_twice(rng, loss):
    X, y = data(rng)
    pairs = all_pairs(y)[::3]
    times = rng.integers(0, 4, len(pairs))
    repeated, weighted = (
        make(loss).fit_pairs(X, np.repeat(pairs, times, axis=0)),
        make(loss).fit_pairs(X, pairs, weight=times),
    )
    check_same(repeated, weighted)
    assert repeated.n_pairs_ == weighted.n_pairs_ == times.sum()
    assert np.abs(repeated.coef_ - make(loss).fit_pairs(X, pairs).coef_).max() > 1e-2  # the weights matter


def test_the_order_of_pairs_and_other_rows_do_not_matter(rng, loss):
    X, y = data(rng)
    pairs = all_pairs(y)[::5]
    expected = make(loss).fit_pairs(X, pairs)
    check_same(make(loss).fit_pairs(X, pairs[::-1]), expected)
    more = np.vstack([100 * rng.normal(size=(7, 4)), X, 100 * rng.normal(size=(5, 4))])
    check_same(make(loss).fit_pairs(more, pairs + 7), expected)


def test_opposite_pairs_leave_nothing_to_learn(rng, loss):
    X, _ = data(rng)
    model = make(loss).fit_pairs(X, [[0, 1], [1, 0], [2, 3], [3, 4], [3, 2], [4, 3]])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.objective_ == 1
    assert -1e-12 <= model.gap_ <= 1e-9


def test_an_offset_leaves_the_model_unchanged(rng, loss):
    X, y = data(rng)
    pairs = all_pairs(y)[::3]
    reference = RankSVM(loss=loss).fit_pairs(X, pairs).coef_
    offset = X + [1e8, 0, -1e8, 5.0]
    for shifted in (offset, sp.csr_array(offset)):
        np.testing.assert_allclose(RankSVM(loss=loss).fit_pairs(shifted, pairs).coef_, reference, rtol=0, atol=1e-6)


@pytest.mark.parametrize("convert", [np.ndarray.tolist, np.int32, np.uint8, pd.DataFrame, pl.DataFrame])
def test_any_container_of_pairs(rng, loss, convert):
    X, y = data(rng)
    pairs = all_pairs(y)[::7]
    expected = make(loss).fit_pairs(X, pairs).coef_
    np.testing.assert_array_equal(make(loss).fit_pairs(X, convert(pairs)).coef_, expected)


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, np.asfortranarray, np.ndarray.tolist])
def test_any_container_of_features(rng, loss, convert):
    X, y = data(rng)
    X[rng.random(X.shape) < 0.3] = 0
    pairs = all_pairs(y)[::7]
    check_same(make(loss).fit_pairs(convert(X), pairs), make(loss).fit_pairs(X, pairs))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_column_named_qid_is_the_query(rng, loss, kind):
    X, y = data(rng, n=2)
    qid = rng.integers(0, 4, 60)
    table, pairs = kind({"a": X[:, 0], "qid": qid, "b": X[:, 1]}), all_pairs(y, qid)[::2]
    model = make(loss).fit_pairs(table, pairs)
    check_same(model, make(loss).fit_pairs(X, pairs, qid=qid))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.score(table, y) > 0.6
    with pytest.warns(MissingQueryWarning):
        make(loss).fit_pairs(X, pairs, qid=qid).score(X, y)
    with pytest.raises(ValueError, match="qid was given twice"):
        make(loss).fit_pairs(table, pairs, qid=qid)


def test_a_warm_start_from_utilities(rng, loss):
    X, y = data(rng)
    model = make(loss, warm_start=True, tol=1e-6).fit(X, y)
    objective = model.objective_
    model.fit_pairs(X, all_pairs(y))
    assert model.history_["upper_bound"][0] == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"pairs": [[0, 1], [1, 60]]}, r"pairs\[1\] is \[1, 60\], but X has 60 rows, 0 to 59"),
        ({"pairs": [[0, -1]]}, r"pairs\[0\] is \[0, -1\]"),
        ({"pairs": [[0, 1], [2, 2]]}, r"pairs\[1\] compares row 2 with itself"),
        ({"pairs": [0, 1]}, r"pairs must have shape \(n_pairs, 2\)"),
        ({"pairs": [[0.0, 1.0]]}, "integer row indices, got dtype float64"),
        ({"pairs": [[0, 1]], "weight": [-1]}, "weight must not be negative"),
        ({"pairs": [[0, 1]], "weight": [np.nan]}, "weight contains NaN"),
        ({"pairs": [[0, 1]], "weight": [1, 1]}, "weight has 2 elements"),
        ({"pairs": [[0, 1]], "qid": np.arange(60)}, r"pairs\[0\] is \[0, 1\], two rows of different queries"),
        ({"pairs": [[0, 1]], "qid": [1, 1]}, "qid has 2 elements, but there are 60 rows"),
    ],
)
def test_wrong_preferences_are_refused_and_change_nothing(rng, loss, arguments, match):
    X, y = data(rng)
    model = make(loss).fit(X, y)
    scores = model.predict(X)
    with pytest.raises(ValueError, match=match):
        model.fit_pairs(X, **arguments)
    np.testing.assert_array_equal(model.predict(X), scores)


def test_nothing_to_learn_from(rng, loss):
    X, _ = data(rng)
    for arguments in ({"pairs": []}, {"pairs": np.empty((0, 2), int)}, {"pairs": [[0, 1]], "weight": [0.0]}):
        with pytest.raises(NoComparablePairsError):
            make(loss).fit_pairs(X, **arguments)


def test_wrong_features_are_refused(rng, loss):
    X, _ = data(rng)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        make(loss).fit_pairs(X, [[0, 1]])
    with pytest.raises(ValueError, match="0 feature"):
        make(loss).fit_pairs(X[:, :0], [[0, 1]])


@pytest.mark.parametrize("scale", [1e308, 1e-320])
def test_the_scale_of_pair_weights_does_not_matter(rng, loss, scale):
    X, y = data(rng)
    pairs = np.argwhere(y[:, None] > y)[::10]
    scaled = RankSVM(loss=loss).fit_pairs(X, pairs, weight=np.full(len(pairs), scale))
    np.testing.assert_allclose(scaled.coef_, RankSVM(loss=loss).fit_pairs(X, pairs).coef_, rtol=1e-6)
