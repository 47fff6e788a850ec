"""Columns of the parts of a ColumnTransformer, beside those that it takes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer

from kernelrank.pipelines._selection import selected_columns

TABLE = pd.DataFrame([[0, 1, 2, 3]], columns=list("abcd"))


@pytest.mark.parametrize(
    "key",
    [
        ["c", "a"],
        pd.Index(["b", "d"]),
        np.array(["d", "b"], dtype=object),
        slice("b", "c"),
        slice(None, "b"),
        slice("c", None),
        slice(None),
        slice(3, None, -2),
        slice(-3, -1),
        [2, -4],
        np.array([1, 3]),
        [True, False, False, True],
        np.array([False, True, True, False]),
        list(np.array([False, True, True, False])),
        pd.Series([True, False, True, False]),
        [],
    ],
    ids=repr,
)
def test_columns_are_those_that_are_taken(key):
    columns = ColumnTransformer([("part", "passthrough", key)]).fit(TABLE)
    [(_, _, fitted)] = [each for each in columns.transformers_ if each[0] == "part"]
    found = selected_columns(fitted, 4, columns.feature_names_in_)
    assert found == columns.transform(TABLE)[0].tolist()
    assert selected_columns(key, 4, list("abcd")) == found


def test_one_column():
    for key in ("c", np.str_("c"), 2, -2, np.int64(2)):
        assert selected_columns(key, 4, list("abcd")) == [2]


@pytest.mark.parametrize(
    "key", ["e", ["a", "e"], 4, -5, [0, 4], [True], [0, "a"], slice("a", "e"), slice("a", 2), None]
)
def test_columns_that_do_not_exist(key):
    with pytest.raises((IndexError, TypeError, ValueError)):
        selected_columns(key, 4, list("abcd"))


def test_names_without_names():
    with pytest.raises(ValueError, match="names of columns, but no feature_names_in_"):
        selected_columns(["a"], 4, None)
