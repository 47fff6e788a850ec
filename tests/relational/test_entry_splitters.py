"""Splitters of entries: what is held out is not trained on, and what is compared is held out together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from kernelrank import RankRLS, RankSVM, RankSVMCV
from kernelrank.exceptions import InvalidParameterError
from kernelrank.metrics import concordance_index
from kernelrank.model_selection import (
    LeaveBothOut,
    LeaveColumnsOut,
    LeaveEntriesOut,
    LeaveRowsOut,
    compare,
    estimate_concordance,
)
from kernelrank.relational import KroneckerRows

SPLITTERS = [LeaveEntriesOut, LeaveRowsOut, LeaveColumnsOut, LeaveBothOut]


def make(rng, n=300, q=12, m=15, noise=1.0):
    """Return rows with some entries, and utilities that depend on them."""
    U, V = rng.normal(size=(q, 3)), rng.normal(size=(m, 4))
    rows, columns = np.divmod(rng.permutation(q * m)[:n], m)
    y = ((U @ rng.normal(size=(3, 4)) @ V.T)[rows, columns] + noise * rng.normal(size=len(rows))).round(1)
    return KroneckerRows(U, V, rows, columns), y


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("shuffle", [False, True])
@given(data=st.data(), k=st.integers(2, 3))
def test_every_entry_is_tested_once_by_models_that_know_as_much_as_they_may(splitter, shuffle, data, k):
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcde")), max_size=20))
    pairs += [(row, column) for row in range(3) for column in "abc"]  # so that all folds have entries
    rows, columns = (np.array(each) for each in zip(*pairs, strict=True))
    seed = data.draw(st.integers(0, 5))
    cv = splitter(k, shuffle=shuffle, random_state=seed)
    try:
        splits = list(cv.split(np.zeros(len(pairs)), groups=pairs))
    except ValueError as error:
        assert splitter is LeaveBothOut, error  # noqa: PT017
        assert "no entry to" in str(error)  # noqa: PT017
        return
    assert len(splits) == cv.get_n_splits()
    tested = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tested), np.arange(len(pairs)))
    for train, test in splits:
        shares_row, shares_column = np.isin(rows, rows[test]), np.isin(columns, columns[test])
        known = {pairs[e] for e in test}
        allowed = {
            LeaveEntriesOut: np.array([pair not in known for pair in pairs]),
            LeaveRowsOut: ~shares_row,
            LeaveColumnsOut: ~shares_column,
            LeaveBothOut: ~shares_row & ~shares_column,
        }[splitter]
        assert len(train)
        assert len(test)
        assert allowed[train].all()
        if splitter is not LeaveBothOut:
            np.testing.assert_array_equal(train, np.flatnonzero(allowed))


def test_both_out_holds_out_whole_folds_of_rows_and_columns(rng):
    X, _ = make(rng)
    cv = LeaveBothOut(3)
    of_rows, of_columns = set(), set()
    for train, test in cv.split(X):
        held_rows, held_columns = set(range(12)) - {*X.rows[train]}, set(range(15)) - {*X.columns[train]}
        inside = np.isin(X.rows, list(held_rows)) & np.isin(X.columns, list(held_columns))
        np.testing.assert_array_equal(test, np.flatnonzero(inside))
        of_rows.add(frozenset(held_rows))
        of_columns.add(frozenset(held_columns))
    assert (len(of_rows), len(of_columns)) == (3, 3)
    assert sorted(map(len, of_rows)) == [4, 4, 4]
    assert sorted(map(len, of_columns)) == [5, 5, 5]


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_ids_of_any_kind_give_the_folds_of_the_rows(rng, splitter):
    X, y = make(rng, n=100)
    expected = list(splitter(3).split(X))
    names = np.array([f"drug {row}" for row in X.rows], object)
    for groups in (
        X.entries,
        X.entries.tolist(),
        list(zip(names, X.columns, strict=True)),
        np.column_stack([names, X.columns.astype(object)]),
        pd.DataFrame({"drug": names, "target": X.columns}),
    ):
        for (train, test), (train_of_rows, test_of_rows) in zip(
            splitter(3).split(X.toarray(), y, groups), expected, strict=True
        ):
            np.testing.assert_array_equal(train, train_of_rows)
            np.testing.assert_array_equal(test, test_of_rows)


def test_folds_are_drawn_from_the_seed(rng):
    X, _ = make(rng)
    folds = [[test.tolist() for _, test in LeaveRowsOut(3, random_state=seed).split(X)] for seed in (0, 0, 1)]
    assert folds[0] == folds[1] != folds[2]
    ordered = LeaveRowsOut(3, shuffle=False)
    first_entries = list(dict.fromkeys(X.rows.tolist()))
    assert [list(dict.fromkeys(X.rows[test].tolist())) for _, test in ordered.split(X)] == [
        first_entries[start : start + 4] for start in (0, 4, 8)
    ]
    assert repr(ordered) == "LeaveRowsOut(n_splits=3, random_state=0, shuffle=False)"


def test_bad_input_is_refused(rng):
    X, _ = make(rng)
    for cv, arguments, words in (
        (LeaveRowsOut(), (np.eye(3),), r"LeaveRowsOut needs groups, an array of shape \(n_samples, 2\)"),
        (LeaveRowsOut(), (np.eye(3), None, [1, 2, 3]), r"groups must have two columns.*shape \(3,\)"),
        (LeaveRowsOut(), (np.eye(3), None, [[1, 2, 3]] * 3), r"groups must have two columns.*shape \(3, 3\)"),
        (LeaveRowsOut(2), (np.eye(3), None, [[1, 2], [2, 1]]), "it has 2, but X has 3"),
        (LeaveRowsOut(2), (None, None, [[1, None], [2, 1]]), "groups contains a missing value"),
        (LeaveRowsOut(13), (X,), "more folds than there are rows, which are 12"),
        (LeaveColumnsOut(16), (X,), "more folds than there are columns, which are 15"),
        (LeaveEntriesOut(3), (None, None, [[1, 1], [1, 2], [1, 1]]), "different entries, which are 2"),
        (LeaveRowsOut(), (X[:0],), "at least one entry"),
        (LeaveBothOut(2), (None, None, [[1, 1], [2, 2]]), r"no entry to (test|train) on.*smaller n_splits than 2"),
    ):
        with pytest.raises(ValueError, match=words):
            list(cv.split(*arguments))
    for cv, name in (
        (LeaveRowsOut(1), "n_splits"),
        (LeaveRowsOut(shuffle=2), "shuffle"),
        (LeaveRowsOut(random_state=-1), "random_state"),
    ):
        with pytest.raises(InvalidParameterError, match=name):
            list(cv.split(X))


# In scikit-learn


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_scikit_learn_uses_them(rng, splitter):
    X, y = make(rng, n=120)
    splits = list(splitter(2).split(X))
    expected = [RankSVM().fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
    np.testing.assert_array_equal(cross_val_score(RankSVM(), X, y, cv=splitter(2)), expected)
    formed = cross_val_score(Ridge(), X.toarray(), y, groups=X.entries, cv=splitter(2))
    assert formed.shape == (splitter(2).get_n_splits(),)
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 10.0]}, cv=splitter(2)).fit(X.toarray(), y, groups=X.entries)
    assert search.cv_results_["mean_test_score"].shape == (2,)
    if splitter is not LeaveBothOut:
        assert cross_val_predict(RankSVM(), X, y, cv=splitter(2)).shape == y.shape
    with config_context(enable_metadata_routing=True):
        params = {"groups": X.entries}
        np.testing.assert_array_equal(cross_val_score(Ridge(), X.toarray(), y, params=params, cv=splitter(2)), formed)


# In this package


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("queries", [None, "rows", "columns"])
@pytest.mark.filterwarnings("ignore::kernelrank.exceptions.UndefinedQueryWarning")  # of the refits
def test_rank_svm_cv_scores_the_held_out_pairs_of_each_query(rng, splitter, queries):
    X, y = make(rng, n=130)
    qid = None if queries is None else getattr(X, queries)
    cv = splitter(2)
    options = {"loss": "squared_hinge", "tol": 1e-10}
    model = RankSVMCV([1e-2], cv=cv, **options).fit(X, y, qid=qid)
    for score, (train, test) in zip(model.scores_[0], cv.split(X), strict=True):
        part = None if qid is None else qid[train], None if qid is None else qid[test]
        refit = RankSVM(1e-2, **options).fit(X[train], y[train], qid=part[0])
        assert score == pytest.approx(refit.score(X[test], y[test], qid=part[1]), abs=1e-12)
    formed = RankSVMCV([1e-2], cv=cv, **options).fit(X.toarray(), y, qid=qid, groups=X.entries)
    np.testing.assert_allclose(formed.scores_, model.scores_, atol=1e-12)


def test_rank_svm_cv_splits_the_rows_of_preferences(rng):
    X, y = make(rng, n=130)
    pairs = rng.integers(130, size=(400, 2))
    pairs = pairs[y[pairs[:, 0]] > y[pairs[:, 1]]]
    cv = LeaveRowsOut(3)
    options = {"loss": "squared_hinge", "tol": 1e-10}
    model = RankSVMCV([1e-2], cv=cv, **options).fit_pairs(X, pairs)
    for score, (train, test) in zip(model.scores_[0], cv.split(X), strict=True):
        inner, outer = (pairs[np.isin(pairs, part).all(axis=1)] for part in (train, test))
        places = np.searchsorted(train, inner)
        scores = RankSVM(1e-2, **options).fit_pairs(X[train], places).predict(X)
        assert score == pytest.approx(np.mean(scores[outer[:, 0]] > scores[outer[:, 1]]), abs=1e-12)


def test_other_splitters_still_must_not_split_queries(rng):
    X, y = make(rng, n=130)
    splits = list(LeaveColumnsOut(2).split(X))
    with pytest.raises(ValueError, match="Fold 0 of cv splits a query or group"):
        RankSVMCV([1e-2], cv=splits).fit(X, y, qid=X.rows)
    with pytest.raises(ValueError, match="groups must have one element per row"):
        RankSVMCV([1e-2], cv=2).fit(X, y, groups=X.entries)
    with pytest.raises(ValueError, match="LeaveRowsOut needs groups"):
        RankSVMCV([1e-2], cv=LeaveRowsOut(2)).fit_pairs(X.toarray(), [[0, 1]])
    with pytest.raises(ValueError, match="LeaveRowsOut needs groups"):
        RankSVMCV([1e-2], cv=LeaveRowsOut(2)).fit(X.toarray(), y, qid=X.rows)


def expected_values(model, X, y, queries, cv):
    """Return the share of pairs in the right order per query, of rows that the same model predicts."""
    wins, pairs = np.zeros(queries.max() + 1), np.zeros(queries.max() + 1)
    for train, test in cv.split(X):
        scores = clone(model).fit(X[train], y[train], qid=queries[train]).predict(X[test])
        for query in np.unique(queries[test]):
            rows = np.flatnonzero(queries[test] == query)
            of_y, of_scores = (values[rows, None] - values[rows] for values in (y[test], scores))
            wins[query] += ((of_y > 0) & (of_scores > 0)).sum() + ((of_y > 0) & (of_scores == 0)).sum() / 2
            pairs[query] += (of_y > 0).sum()
    return np.divide(wins, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("queries", ["rows", "columns"])
@pytest.mark.parametrize("form", ["rows", "formed"])
def test_estimates_are_means_over_conditions(rng, splitter, queries, form):
    X, y = make(rng, n=150)
    qid, cv, model = getattr(X, queries), splitter(2), RankRLS(solver="cg", tol=1e-10)
    codes = pd.factorize(qid)[0]
    expected = expected_values(model, X, y, codes, cv)
    options = {"cv": cv, "qid": qid, "verbose": 0}
    if form == "rows":
        found = estimate_concordance(model, X, y, **options)
    else:
        found = estimate_concordance(model, X.toarray(), y, groups=X.entries, **options)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert found.estimate == pytest.approx(np.nanmean(expected))
    assert found.n_fits == cv.get_n_splits()
    assert found.interval_from == "queries"
    assert found.interval[0] < found.estimate < found.interval[1]


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_without_queries_the_pairs_of_each_fold_are_compared(rng, splitter):
    X, y = make(rng, n=150)
    wins = pairs = 0
    for train, test in splitter(2).split(X):
        scores = RankSVM().fit(X[train], y[train]).predict(X[test])
        n_pairs = (y[test][:, None] > y[test]).sum()
        wins, pairs = wins + n_pairs * concordance_index(y[test], scores), pairs + n_pairs
    options = {"strategy": "averaged", "cv": splitter(2), "verbose": 0}
    found = estimate_concordance(RankSVM(), X, y, **options)
    assert found.estimate == pytest.approx(wins / pairs)
    assert found.n_pairs == pairs
    direct = RankRLS(solver="direct", alpha=0.1)
    shortcut = estimate_concordance(direct, X.toarray(), y, groups=X.entries, **options)
    assert shortcut.n_fits == 1
    wins = 0.0
    for train, test in splitter(2).split(X):
        scores = clone(direct).fit(X.toarray()[train], y[train]).predict(X.toarray()[test])
        wins += (y[test][:, None] > y[test]).sum() * concordance_index(y[test], scores)
    assert shortcut.estimate == pytest.approx(wins / pairs)


def test_estimates_refuse_groups_that_would_be_split(rng):
    X, y = make(rng, n=150)
    options = {"qid": X.rows, "cv": LeaveColumnsOut(2), "verbose": 0}
    with pytest.raises(ValueError, match="LeaveColumnsOut holds out entries by their rows and columns"):
        estimate_concordance(RankSVM(), X, y, groups=X.rows // 2, **options)
    given = estimate_concordance(RankSVM(), X, y, groups=X.rows // 2, split_groups=True, **options)
    assert given.estimate == estimate_concordance(RankSVM(), X, y, **options).estimate
    assert given.interval_from == "groups"
    with pytest.raises(ValueError, match="LeaveColumnsOut needs groups"):
        estimate_concordance(RankSVM(), X.toarray(), y, **options)


def test_settings_differ_as_they_should(rng):
    """With nothing known about rows but their numbers, nothing is learnt for new ones."""
    V = rng.normal(size=(30, 4))
    rows, columns = np.divmod(np.arange(600), 30)
    X = KroneckerRows(np.eye(20), V, rows, columns)
    y = (rng.normal(size=(20, 4)) @ V.T).ravel() + 0.1 * rng.normal(size=600)
    options = {"qid": rows, "verbose": 0}
    entry, row, column, both = (estimate_concordance(RankSVM(), X, y, cv=cv(3), **options).estimate for cv in SPLITTERS)
    assert min(entry, column) > 0.9
    assert row == both == 0.5  # all scores of a row are equal
    compared = compare({"hinge": RankSVM(), "squares": RankRLS()}, X, y, cv=LeaveColumnsOut(3), **options)
    assert compared.names == ("hinge", "squares")
