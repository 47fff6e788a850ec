"""Writing svmlight files, and reading them back."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from kernelrank.io import _dump, dump_svmlight, load_svmlight

values = st.one_of(
    st.just(0.0), st.integers(-3, 3).map(float), st.floats(), st.floats(width=32), st.sampled_from([5e-324, -0.0, 0.1])
)
ids = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\v\f#"), min_size=1),
)
comment_texts = st.text(st.characters(codec="utf-8", exclude_characters="\n")).map(lambda text: text.strip(" \t\r"))


def are_written_differently(qid):
    return len(set(map(str, qid))) == len(set(qid))


@st.composite
def tables(draw):
    m, n = draw(st.integers(0, 6)), draw(st.integers(0, 5))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    with np.errstate(over="ignore"):
        X = np.array([draw(values) for _ in range(m * n)]).reshape(m, n).astype(dtype)
    y = np.array([draw(values) for _ in range(m)], dtype=np.float64)
    qid = draw(st.none() | st.lists(ids, min_size=m, max_size=m).filter(are_written_differently))
    comments = draw(st.none() | st.lists(comment_texts, min_size=m, max_size=m))
    return X, y, qid, comments


def dump(X, y, **options):
    file = BytesIO()
    dump_svmlight(X, y, file, **options)
    return file.getvalue()


def unsorted(X):
    """Return the same matrix as CSR, with reversed rows and an explicit zero in each."""
    rows = [np.append(np.flatnonzero(row)[::-1], np.flatnonzero(row == 0)[:1]) for row in X]
    indices = np.concatenate([[], *rows]).astype(np.int64)
    starts = np.cumsum([0] + [len(row) for row in rows])
    data = X[np.repeat(np.arange(len(X)), np.diff(starts)), indices]
    return sp.csr_matrix((data, indices, starts), shape=X.shape)


@given(tables(), st.booleans(), st.sampled_from([np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_matrix, unsorted]))
def test_what_is_written_is_read_back(table, zero_based, storage):
    X, y, qid, comments = table
    lines = dump(storage(X), y, qid=qid, comments=comments, zero_based=zero_based)
    assert lines.count(b"\n") == len(y)
    found = load_svmlight(BytesIO(lines), n_features=X.shape[1], zero_based=zero_based, dtype=X.dtype)
    np.testing.assert_array_equal(found.X.toarray(), X, strict=True)
    assert found.X.nnz == np.count_nonzero(X)
    np.testing.assert_array_equal(found.y, y, strict=True)
    np.testing.assert_array_equal(np.signbit(found.y[y == 0]), np.signbit(y[y == 0]))
    assert (None if found.qid is None else [str(each) for each in found.qid]) == ([str(q) for q in qid or []] or None)
    assert (None if found.comments is None else list(found.comments)) == (comments if any(comments or []) else None)
    if found.comments is not None or comments is None:  # nothing else is lost: it is written again as it was
        again = dump(found.X, found.y, qid=found.qid, comments=found.comments, zero_based=zero_based)
        assert again == lines


@pytest.mark.parametrize("block", [1, 7, 100])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_blocks_do_not_show(rng, monkeypatch, block, storage):
    X = np.round(rng.normal(size=(50, 4)))
    y, comments = rng.normal(size=50), [f"row {k}" for k in range(50)]
    expected = dump(storage(X), y, qid=np.arange(50), comments=comments)
    monkeypatch.setattr(_dump, "_BLOCK_ELEMENTS", block)
    assert dump(storage(X), y, qid=np.arange(50), comments=comments) == expected


def test_the_fewest_digits():
    assert dump([[0.1, 1e22, -3, 1 / 3]], [2]) == b"2 1:0.1 2:1e+22 3:-3 4:0.3333333333333333\n"
    assert dump(np.float32([[0.1, 1 / 3]]), np.float32([0.5])) == b"0.5 1:0.1 2:0.33333334\n"
    assert dump([[np.nan, np.inf, -np.inf]], [-np.inf], zero_based=True) == b"-inf 0:nan 1:inf 2:-inf\n"


def test_data_frames_and_other_types():
    frame = pd.DataFrame({"a": [1, 0], "b": [0.5, 2]})
    expected = b"1 qid:x 1:1 2:0.5 # c\n0 qid:y 2:2\n"
    assert dump(frame, pd.Series([1, 0]), qid=pd.Series(["x", "y"]), comments=pd.Series(["c", ""])) == expected
    assert dump(frame.to_numpy(), [True, False], qid=np.array(["x", "y"]), comments=np.array(["c", ""])) == expected
    assert dump([[1], [2]], [1, 2], qid=[np.int8(1), "b"]) == b"1 qid:1 1:1\n2 qid:b 1:2\n"
    assert dump([[1]], [1], qid=["a\0"], comments=["b\0"]) == b"1 qid:a\0 1:1 # b\0\n"
    assert dump(np.asfortranarray([[1.0, 2], [3, 4]])[::-1], np.arange(4.0)[::2]) == b"0 1:3 2:4\n2 1:1 2:2\n"


def test_duplicates_are_added_up_and_the_matrix_is_not_changed():
    X = sp.csr_matrix((np.array([1.0, 2, 3]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert dump(X, [1]) == b"1 1:2 2:4\n"
    assert list(X.data) == [1, 2, 3]
    assert list(X.indices) == [1, 0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1]}, "y must have one element for each of the 2 rows"),
        ({"y": [[1], [2]]}, r"y must have one element for each of the 2 rows of X, got shape \(2, 1\)"),
        ({"qid": [1]}, "qid must have one element for each of the 2 rows"),
        ({"comments": ["a"]}, "comments must have one element for each of the 2 rows"),
        ({"qid": ["a b", "c"]}, "qid must not be empty or contain white space or '#', got 'a b' in row 0"),
        ({"qid": ["a", "c#"]}, "qid must not be empty or contain white space or '#', got 'c#' in row 1"),
        ({"qid": ["a", ""]}, "qid must not be empty or contain white space or '#', got '' in row 1"),
        ({"qid": ["a\n", "b"]}, "qid must not be empty or contain white space"),
        ({"qid": [1.5, 2.5]}, "qid must hold integers or text, got"),
        ({"qid": [True, False]}, "qid must hold integers or text, got"),
        ({"comments": ["a\n1 1:1", "b"]}, r"comments must not contain a newline, got 'a\\n1 1:1' in row 0"),
        ({"comments": ["a", None]}, "comments must hold text"),
        ({"comments": ["a", "\ud800"]}, "comments must hold text that UTF-8 can encode"),
        ({"qid": np.array([[1], [2]])}, r"qid must hold integers or text, got \[1\]"),
        ({"X": [1, 2]}, "Expected 2D array"),
    ],
)
def test_bad_input(options, message, tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        dump_svmlight(**{"X": [[1], [2]], "y": [1, 2], "target": path} | options)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_file():
    with pytest.raises(TypeError, match="target must be a path"):
        dump_svmlight([[1]], [1], 7)


def test_standard_output():
    script = "from kernelrank.io import dump_svmlight; dump_svmlight([[1, 0, 2.5]], [3], '-')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"3 1:1 3:2.5\n"


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".GZ"])
def test_compressed_by_name(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    dump_svmlight(np.eye(200), np.arange(200), path)
    assert (path.read_bytes()[:6] == b"0 1:1\n") == (suffix == "")
    X, y, _, _ = load_svmlight(path)
    np.testing.assert_array_equal(X.toarray(), np.eye(200))
    np.testing.assert_array_equal(y, np.arange(200))


def test_different_ids_that_would_be_written_alike():
    with pytest.raises(ValueError, match="a number and a string with the same text"):
        dump([[1.0], [2.0]], [1, 2], qid=[1, "1"])
    assert dump([[1.0], [2.0]], [1, 2], qid=[1, np.int64(1)]) == b"1 qid:1 1:1\n2 qid:1 1:2\n"


@pytest.mark.parametrize("path", ["data.txt", Path("data.txt"), BytesIO()], ids=["str", "Path", "file"])
def test_arguments_in_the_wrong_order(path):
    X, y = [[1.0], [2.0]], [1, 2]
    for arguments in ((path, X, y), (path, y, X)):
        with pytest.raises(
            TypeError, match=r"X must be a matrix, got .*; the arguments are dump_svmlight\(X, y, target\)"
        ):
            dump_svmlight(*arguments)
    with pytest.raises(TypeError, match=r"target must be a path.*, got list; the arguments are dump_svmlight"):
        dump_svmlight(X, y, y)
    assert not Path("data.txt").exists()
