"""Mutated files are read, or rejected at the same line, as by the reference reader."""

import random
from io import BytesIO

import numpy as np
import pytest
from reference import Refused, mutate, random_file, read
from sklearn.datasets import load_svmlight_file

from kernelrank.exceptions import DataFormatError
from kernelrank.io import _load, load_svmlight


def assert_same_floats(ours, expected):
    ours, expected = np.asarray(ours), np.asarray(expected, dtype=np.float64)
    np.testing.assert_array_equal(ours, expected)
    signed = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(ours[signed]), np.signbit(expected[signed]))


def assert_reads_as_the_rules_say(data, **options):
    """Return the data, or None if the file was rejected as by the reference reader."""
    try:
        expected = read(data, **options)
    except Refused as refused:
        with pytest.raises(DataFormatError, match=rf"^<stream>:{refused.line}: "):
            load_svmlight(BytesIO(data), **options)
        return None
    found = load_svmlight(BytesIO(data), **options)
    values, indices, starts = expected.csr_parts()
    assert_same_floats(found.y, expected.y)
    assert_same_floats(found.X.data, values)
    np.testing.assert_array_equal(found.X.indices, indices)
    np.testing.assert_array_equal(found.X.indptr, starts)
    assert found.X.shape == (len(expected.y), expected.n_features)
    assert (None if found.qid is None else list(map(str, found.qid))) == expected.qid
    assert (None if found.comments is None else list(found.comments)) == expected.comments
    return found


def assert_agrees_with_scikit_learn(data, found):
    """Compare with scikit-learn, unless it rejects the file."""
    try:
        X, y, qid = load_svmlight_file(BytesIO(data), query_id=True)
    except Exception:
        return False
    assert_same_floats(y, found.y)
    assert_same_floats(X.data, found.X.data)
    np.testing.assert_array_equal(X.indices, found.X.indices)
    np.testing.assert_array_equal(X.indptr, found.X.indptr)
    if found.qid is not None and found.qid.dtype == np.int64:
        np.testing.assert_array_equal(qid, found.qid)
    return True


def fuzz(seeds, monkeypatch):
    """Return the number of files that were read, and of those that scikit-learn read as well."""
    n_read = n_compared = 0
    for seed in seeds:
        rng = random.Random(seed)
        data = random_file(rng)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
            data = mutate(data, rng)
        monkeypatch.setattr(_load, "_BLOCK_BYTES", rng.choice([1, 2, 3, 7, 40, 1 << 20]))
        options = {}
        if rng.random() < 0.3:
            options = {"zero_based": rng.choice([True, False, "auto"]), "n_features": rng.choice([None, 5, 11, 12, 13])}
        try:
            found = assert_reads_as_the_rules_say(data, **options)
            n_read += found is not None
            if found is not None and not options:
                n_compared += assert_agrees_with_scikit_learn(data, found)
        except BaseException:
            print(f"seed {seed}: {data!r}, {options}")
            raise
    return n_read, n_compared


def test_mutated_files(monkeypatch):
    n_read, n_compared = fuzz(range(2_000), monkeypatch)
    assert 700 < n_read < 1_700  # neither all rejected nor all read
    assert n_compared > 200


@pytest.mark.slow
def test_many_mutated_files(monkeypatch):
    fuzz(range(10_000, 110_000), monkeypatch)
