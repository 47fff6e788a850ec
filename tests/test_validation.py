"""Validation: masks, dates, text, missing values and names of query ids."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import (
    RLS,
    GreedyRankRLS,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    _validation,
)
from kernelrank.exceptions import MissingQueryWarning, QueryColumnWarning
from kernelrank.metrics import concordance_index
from kernelrank.pairs import UtilityPairs

M = 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, 3))
Y = RNG.normal(size=M)
QID = np.repeat(np.arange(5), 6)
FRAMES = [pd.DataFrame, pl.DataFrame]


def frame(kind=pd.DataFrame, **columns):
    return kind({"a": X[:, 0], "b": X[:, 1], **columns})


def masked(values, *places):
    found = np.ma.array(values, mask=False)
    for place in places:
        found[place] = np.ma.masked
    return found


def test_a_mask_that_hides_nothing_is_no_mask():
    expected = RankSVM().fit(X, Y, qid=QID, sample_weight=np.ones(M))
    found = RankSVM().fit(masked(X), masked(Y), qid=masked(QID), sample_weight=masked(np.ones(M)))
    np.testing.assert_array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize(
    "rows", [masked(X, (3, 1)), list(masked(X, (3, 1)))], ids=["array", "list of held-out row indices"]
)
def test_masked_features_are_refused(rows):
    with pytest.raises(ValueError, match="X contains a missing value: elements of a masked array are masked"):
        RankSVM().fit(rows, Y)
    with pytest.raises(ValueError, match="X contains a missing value"):
        RankSVM().fit(X, Y).predict(rows)


def test_masked_vectors_are_refused():
    with pytest.raises(ValueError, match="y contains a missing value"):
        UtilityPairs(masked(Y, 0))
    with pytest.raises(ValueError, match="y contains a missing value"):
        UtilityPairs([np.ma.masked, 1.0, 2.0])
    with pytest.raises(ValueError, match="y_score contains a missing value"):
        concordance_index(Y, masked(Y, 0))
    with pytest.raises(ValueError, match="y contains a missing value"):
        RankRLS().fit(X, masked(np.stack([Y, Y], axis=1), (0, 1)))


def test_booleans_are_features():
    found = RankSVM().fit(X > 0, Y)
    np.testing.assert_array_equal(found.coef_, RankSVM().fit((X > 0) / 1.0, Y).coef_)


@pytest.mark.parametrize("kind", FRAMES)
def test_dates_are_refused_by_column(kind):
    days = (np.datetime64("2020-01-01") + np.arange(M)).astype("datetime64[ms]")
    for each in (days, days - days[0]):
        with pytest.raises(ValueError, match=r"X must hold numbers, but it has dates.*: 'day'\."):
            RankSVM().fit(frame(kind, day=each), Y)
        with pytest.raises(ValueError, match=r"it has dates.*: 'start', 'end'\."):
            RankSVM().fit(kind({"start": each, "end": each}), Y)
    with pytest.raises(ValueError, match="it has dates, times or durations: all of its elements"):
        RankSVM().fit(np.stack([days, days], axis=1), Y)


@pytest.mark.parametrize("kind", FRAMES)
def test_text_is_refused_by_column(kind):
    table = frame(kind, colour=["red"] * M, size=["5"] * M, shape=["round"] * M)
    with pytest.raises(
        ValueError, match=r"not numbers: 'colour' \(such as 'red'\), 'shape' .*OneHotEncoder.*drop them"
    ):
        RankSVM().fit(table, Y)
    with pytest.raises(ValueError, match=r"not numbers: column 1 \(such as 'x'"):
        RankSVM().fit([[1.0, "x"]] * M, Y)
    with pytest.raises(ValueError, match=r"not numbers: 'c0' .*, 'c4' \(such as 'x'\) and 3 more\. Encode"):
        RankSVM().fit(frame(kind, **{f"c{k}": ["x"] * M for k in range(8)}), Y)


@pytest.mark.parametrize("kind", FRAMES)
def test_missing_values_are_refused_with_the_remedy(kind):
    table = frame(kind, size=np.where(np.arange(M) < 4, np.nan, 1.0))
    with pytest.raises(
        ValueError, match=r"contains NaN: 4 of 30 rows .*in 'size'\. RankSVM does not support them.*SimpleImputer"
    ):
        RankSVM().fit(table, Y)
    sparse = sp.csr_matrix(np.where(X > 1.5, np.nan, X))
    with pytest.raises(ValueError, match=r"contains NaN.* in column \d.*RLS does not support them.*SimpleImputer"):
        RLS().fit(sparse, Y)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        RankSVM().fit(np.where(X > 1.5, np.inf, X), Y)


@pytest.mark.parametrize(("names", "shown"), [([0, 1, 2], "column 1"), ([("a", 1), ("a", 2), ("b", 1)], r"\('a', 2\)")])
def test_names_of_columns_that_are_no_text(names, shown):
    table = pd.DataFrame(X, columns=pd.Index(names))
    assert RankSVM().fit(table, Y).n_features_in_ == 3
    table.iloc[0, 1] = np.nan
    with pytest.raises(ValueError, match=f"in .*{shown}"):
        RankSVM().fit(table, Y)


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(ValueError, match="X must have distinct column names"):
        RankSVM().fit(pd.DataFrame(X, columns=["a", "a", "b"]), Y)


def test_other_errors_of_scikit_learn_name_x():
    with pytest.raises(ValueError, match=r"^X: Expected 2D array, got 1D array instead"):
        RankSVM().fit(Y, Y)
    with pytest.raises(ValueError, match=r"^X has 2 features, but RankSVM is expecting 3"):
        RankSVM().fit(X, Y).predict(X[:, :2])


def test_sizes_of_groups_get_a_hint():
    sizes = [10, 15, 5]
    with pytest.raises(
        ValueError, match=r"qid has 3 elements, but there are 30 rows\. If these are the sizes"
    ) as caught:
        RankSVM().fit(X, Y, qid=sizes)
    [conversion] = re.findall(r"pass (numpy\.repeat\(.*\))\.", str(caught.value))
    qid = eval(conversion, {"numpy": np, "sizes": sizes})
    assert RankSVM().fit(X, Y, qid=qid).n_pairs_ == sum(n * (n - 1) // 2 for n in sizes)
    with pytest.raises(ValueError, match=r"qid has 3 elements, but there are 30 rows\.$"):
        RankSVM().fit(X, Y, qid=[10, 15, 4])


RANKERS = [RankSVM(), RankSVMCV(alphas=2, cv=2), RankRLS(), RankRLSCV(alphas=2), GreedyRankRLS()]


@pytest.mark.parametrize("name", ["query_id", "group", "groups", "QueryID", "remainder__qid", "scale__group_id"])
def test_a_feature_with_the_name_of_query_ids_is_a_warning(name):
    for ranker in RANKERS:
        with pytest.warns(
            QueryColumnWarning, match=f"fitted without queries, but the feature '{name}'.*make_query_pip"
        ):
            ranker.fit(frame(**{name: QID}), Y)
    with pytest.warns(QueryColumnWarning):
        RankSVM().fit_pairs(frame(pl.DataFrame, **{name: QID}), [[0, 1]])


@pytest.mark.parametrize("name", ["qid2", "my_group", "groupings", "liquid", "age", "query"])
def test_other_names_are_features(name):
    RankSVM().fit(frame(**{name: QID}), Y)  # warnings are errors


def test_no_warning_where_queries_are_given_or_not_taken():
    RankSVM().fit(frame(qid=QID), Y)
    RankSVM().fit(frame(query_id=QID), Y, qid=QID)
    RLS().fit(frame(query_id=QID), Y)
    with pytest.warns(QueryColumnWarning):
        model = RankSVM().fit(frame(query_id=QID), Y)
    model.predict(frame(query_id=QID))  # warned once, in fit
    model.score(frame(query_id=QID), Y)


def test_a_column_that_a_transformer_passes_through():
    transformer = make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough")
    pipeline = make_pipeline(transformer.set_output(transform="pandas"), RankSVM())
    with pytest.warns(QueryColumnWarning, match="the feature 'remainder__qid'"):
        pipeline.fit(frame(qid=QID), Y)
    with pytest.warns(QueryColumnWarning):
        RankingClassifier(pipeline).fit(frame(qid=QID), Y > 0)


def test_the_warning_of_a_score_without_queries_names_the_cause_and_both_remedies():
    pipeline = make_pipeline(StandardScaler(), RankSVM()).fit(X, Y, ranksvm__qid=QID)
    told = r"Pipeline\.score.* only get it with metadata routing.*make_query_pipeline.*enable_metadata_routing=True"
    with pytest.warns(MissingQueryWarning, match=told):
        pipeline.score(X, Y, qid=QID)
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3]}, cv=GroupKFold(2))
    with pytest.warns(MissingQueryWarning, match=told):
        search.fit(X, Y, groups=QID, qid=QID)
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pipeline.score(X, Y, qid=QID) == concordance_index(Y, pipeline.predict(X), qid=QID)


@pytest.mark.parametrize("model", [RankSVM(), RankSVMCV(2, cv=2), OrdinalSVM()], ids=repr)
def test_every_input_of_a_fit_is_checked_once(monkeypatch, model):
    checked, check_array = [], _validation.check_array

    def count(values, **options):
        if len(values) == M:  # scorers check the rows of a fold
            checked.append(options["input_name"])
        return check_array(values, **options)

    monkeypatch.setattr(_validation, "check_array", count)
    queries = {} if isinstance(model, OrdinalSVM) else {"qid": QID}
    model.fit(X, Y > 0, sample_weight=np.arange(1.0, M + 1), **queries)
    assert checked.count("sample_weight") == 1
    assert checked.count("y") == (not isinstance(model, OrdinalSVM))  # whose classes are no numbers
