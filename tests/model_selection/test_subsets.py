"""Some rows of everything that an estimator may be fitted to."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVR

from kernelrank import RankRLS
from kernelrank.model_selection import estimate_concordance
from kernelrank.model_selection._subsets import take_features, take_params, take_rows

ROWS = np.array([4, 0, 2])
X = np.arange(12.0).reshape(6, 2)
FORMS = {
    "array": X,
    "vector": X[:, 0],
    "cube": X[:, :, None],
    "CSR": sp.csr_array(X),
    "matrix": sp.csr_matrix(X),
    "list": X.tolist(),
    "list of text": list("abcdef"),
    "tuple": tuple("abcdef"),
    "range": range(6),
    "pandas": pd.DataFrame(X, columns=["a", "b"], index=list("uvwxyz")),
    "pandas, equal names": pd.DataFrame(X, columns=["a", "a"]),
    "pandas series": pd.Series(list("abcdef"), index=list("uvwxyz")),
    "categories": pd.Series(list("abcabc"), dtype="category"),
    "polars": pl.DataFrame({"a": X[:, 0], "b": list("abcdef")}),
    "polars series": pl.Series(list("abcdef")),
}


def as_rows(values):
    """Return a list of the rows, and of the index that pandas has."""
    index = list(values.index) if hasattr(values, "iloc") else []
    values = values.toarray() if sp.issparse(values) else values
    rows = values.rows() if isinstance(values, pl.DataFrame) else list(np.asarray(values))
    return [np.asarray(row).tolist() for row in rows], index


@pytest.mark.parametrize("name", FORMS)
def test_rows_keep_their_order_index_and_kind(name):
    (all_rows, index), found = as_rows(FORMS[name]), take_rows(FORMS[name], ROWS)
    expected = [all_rows[k] for k in ROWS], [index[k] for k in ROWS] if index else []
    assert as_rows(found) == expected
    assert type(found) is (list if isinstance(FORMS[name], tuple | range) else type(FORMS[name]))
    if hasattr(found, "dtype"):
        assert found.dtype == FORMS[name].dtype


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_a_kernel_matrix_is_cut_in_both_directions(convert):
    K = X @ X.T
    for columns, expected in ((None, K[np.ix_(ROWS, ROWS)]), (np.array([1, 5]), K[np.ix_(ROWS, [1, 5])])):
        found = take_features(SVR(kernel="precomputed"), convert(K), ROWS, columns)
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected)
    with pytest.raises(ValueError, match=r"square kernel matrix, got an array of shape \(6, 2\)"):
        take_features(SVR(kernel="precomputed"), X, ROWS)


def test_params_are_cut_alike():
    found = take_params({"sample_weight": X[:, 0], "ids": list("abcdef")}, ROWS)
    np.testing.assert_array_equal(found["sample_weight"], X[ROWS, 0])
    assert found["ids"] == ["e", "a", "c"]


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, np.ndarray.tolist, sp.csr_array])
def test_estimates_by_refits_take_them_all(rng, convert):
    features = rng.normal(size=(12, 2))
    y = features[:, 0] + 0.3 * rng.normal(size=12)
    pipeline = make_pipeline(FunctionTransformer(), RankRLS(0.1))
    options = {"strategy": "averaged", "cv": 3, "verbose": 0}
    expected = estimate_concordance(pipeline, features, y, **options).estimate
    assert estimate_concordance(pipeline, convert(features), y, **options).estimate == pytest.approx(expected)
