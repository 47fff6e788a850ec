"""Input: any container gives the same counts, and invalid input raises an error that names the argument."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import UtilityPairs, count_violations

RNG = np.random.default_rng(0)
Y, SCORES, WEIGHTS = RNG.integers(0, 6, 90), RNG.integers(0, 5, 90), RNG.integers(0, 3, 90)


def read_only(values):
    values = values.astype(float)
    values.flags.writeable = False
    return values


def memory_map(values, folder):
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, values.astype(float))
    return np.load(path, mmap_mode="r")


CONTAINERS = {
    "list": list,
    "list of Python numbers": lambda values: values.tolist(),
    "tuple": tuple,
    "int64": lambda values: values.astype(np.int64),
    "int8": lambda values: values.astype(np.int8),
    "uint64": lambda values: values.astype(np.uint64),
    "float16": lambda values: values.astype(np.float16),
    "float32": lambda values: values.astype(np.float32),
    "long double": lambda values: values.astype(np.longdouble),
    "big-endian": lambda values: values.astype(">f8"),
    "objects": lambda values: values.astype(object),
    "read-only": read_only,
    "every third": lambda values: np.repeat(values.astype(float), 3)[1::3],
    "backwards in memory": lambda values: values.astype(float)[::-1].copy()[::-1],
    "row of a Fortran-ordered matrix": lambda values: np.asfortranarray([values, values + 1.0])[0],
    "field of records": lambda values: np.rec.fromarrays([values + 1.0, values.astype(float)], names="a,b").b,
    "unaligned": lambda values: np.frombuffer(b"x" + values.astype(float).tobytes(), np.uint8)[1:].view(float),
    "pandas": lambda values: pd.Series(values, index=np.arange(len(values))[::-1]),
    "pandas float32": lambda values: pd.Series(values, dtype=np.float32),
    "pandas nullable": lambda values: pd.Series(values, dtype="Int64"),
    "pandas categories": lambda values: pd.Series(values, dtype="category"),
    "column of a data frame": lambda values: pd.DataFrame({"a": values + 1.0, "b": values / 1.0})["b"],
    "polars": pl.Series,
}


def check_same(convert):
    kept = [convert(values) for values in (Y, SCORES, WEIGHTS)]
    for found, expected in zip(count_violations(*kept[:2]), count_violations(Y / 1.0, SCORES / 1.0), strict=True):
        np.testing.assert_array_equal(found, expected)
    found = UtilityPairs(kept[0], sample_weight=kept[2]).count(kept[1])
    expected = UtilityPairs(Y / 1.0, sample_weight=WEIGHTS / 1.0).count(SCORES / 1.0)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    for values, original in zip(kept, (Y, SCORES, WEIGHTS), strict=True):
        np.testing.assert_array_equal(np.asarray(values, dtype=float), original)  # the input is not modified


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS)
def test_any_container_gives_the_same_counts(convert):
    check_same(convert)


def test_memory_maps_give_the_same_counts(tmp_path):
    check_same(lambda values: memory_map(values, tmp_path))


def test_booleans_are_utilities():
    assert UtilityPairs([True, False, True]).n_pairs == 2
    assert UtilityPairs(Y > 2).count(SCORES).total == UtilityPairs((Y > 2) / 1.0).count(SCORES).total


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector"):
        pairs = UtilityPairs(Y[:, None])
    with pytest.warns(UserWarning, match="column-vector"):
        assert pairs.count(SCORES[:, None]).total == count_violations(Y, SCORES).total


def test_one_weight_for_all():
    assert UtilityPairs(Y, sample_weight=2).n_pairs == 4 * UtilityPairs(Y).n_pairs


def test_no_rows():
    for more in ({}, {"qid": []}, {"sample_weight": []}):
        with pytest.raises(ValueError, match="y is empty"):
            UtilityPairs([], **more)


def test_weights_whose_products_overflow():
    with pytest.raises(ValueError, match=r"sample_weight overflow; divide"):
        UtilityPairs([1, 2, 3], sample_weight=[1e200, 1e200, 1.0])


def test_a_margin_that_is_no_number():
    with pytest.raises(ValueError, match="margin must be a number"):
        UtilityPairs([1, 2]).count([1, 2], margin=np.nan)
    with pytest.raises(ValueError, match="margin must be a number"):
        UtilityPairs([1, 2]).count_totals([1, 2], margin=np.nan)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(bad):
    with pytest.raises(ValueError, match=r"Input y contains"):
        UtilityPairs([1, bad, 3])
    with pytest.raises(ValueError, match=r"Input scores contains"):
        UtilityPairs([1, 2, 3]).count([0, bad, 0])
    with pytest.raises(ValueError, match=r"Input scores contains"):
        UtilityPairs([1, 2, 3]).count_totals([0, bad, 0])
    with pytest.raises(ValueError, match=r"Input sample_weight contains"):
        UtilityPairs([1, 2, 3], sample_weight=[1, bad, 1])


@pytest.mark.parametrize("bad", [[1, None, 2], pd.Series([1, None, 2], dtype="Int64"), pl.Series([1, None, 2])])
def test_missing_values_are_refused(bad):
    with pytest.raises(ValueError, match=r"Input y contains NaN"):
        UtilityPairs(bad)
    with pytest.raises(ValueError, match=r"Input scores contains NaN"):
        UtilityPairs([1, 2, 3]).count(bad)


def test_huge_numbers_are_not_infinite():
    # Their sum is infinite, and scikit-learn checks the sum for infinity.
    huge = np.array([1.7e308, 1.7e308, -1.7e308, -1.7e308])
    assert UtilityPairs(huge).n_pairs == 4
    assert UtilityPairs([1, 2, 3, 4]).count(huge).total == 4


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (3, 1, 1), ()], ids=str)
def test_wrong_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"\by\b"):
        UtilityPairs(np.ones(shape))
    with pytest.raises(ValueError, match=r"\bscores\b"):
        UtilityPairs([1, 2, 3]).count(np.ones(shape))


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (3, 1)], ids=str)
def test_weights_of_wrong_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"sample_weight must be a 1D array with one element for each of the rows"):
        UtilityPairs([1, 2, 3], sample_weight=np.ones(shape))


@pytest.mark.parametrize("n", [0, 2, 4])
def test_wrong_lengths_are_refused(n):
    with pytest.raises(ValueError, match=f"scores has {n} elements, but there are 3 rows"):
        UtilityPairs([1, 2, 3]).count(np.ones(n))
    with pytest.raises(ValueError, match=f"scores has {n} elements, but there are 3 rows"):
        count_violations([1, 2, 3], np.ones(n))
    with pytest.raises(ValueError, match=f"sample_weight has {n} elements, but there are 3 rows"):
        UtilityPairs([1, 2, 3], sample_weight=np.ones(n))


@pytest.mark.parametrize("bad", [["a", "b", "c"], [1j, 2, 3]], ids=["text", "complex numbers"])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(ValueError, match=r"y must hold real numbers"):
        UtilityPairs(bad)
    with pytest.raises(ValueError, match=r"must hold real numbers"):
        UtilityPairs([1, 2, 3]).count(bad)


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match=r"method must be .*'rbtree', got 'fast'"):
        count_violations([1, 2], [1, 2], method="fast")
    with pytest.raises(ValueError, match=r"method must be .*'rbtree', got 'fast'"):
        UtilityPairs([1, 2]).count_totals([1, 2], method="fast")
    with pytest.raises(ValueError, match=r"method must be .*'rbtree', got None"):
        count_violations([1, 2], [1, 2], method=None)


def test_wrong_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        UtilityPairs([1, 2, 3], sample_weight=[1, -1e-300, 1])
    for zeros in ([0, 0, 0], 0.0, [-0.0, 0.0, 0.0]):
        with pytest.raises(NoComparablePairsError, match="sample_weight is zero everywhere"):
            UtilityPairs([1, 2, 3], sample_weight=zeros)


def test_an_error_does_no_harm():
    pairs = UtilityPairs(Y)
    before = pairs.count(SCORES)
    for scores, method in ((SCORES[1:], "tree"), (np.full(90, np.nan), "tree"), (SCORES, "fast")):
        with pytest.raises(ValueError, match=r"scores|method"):
            pairs.count(scores, method=method)
    for found, expected in zip(pairs.count(SCORES), before, strict=True):
        np.testing.assert_array_equal(found, expected)
