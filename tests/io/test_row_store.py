"""Row stores: what is written is read, interrupted writes continue, and damage is an error that names the file."""

import errno
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from kernelrank import _memory
from kernelrank.io import RowStore, _row_sources, _row_tables, _row_writer, dump_svmlight, load_svmlight, load_table
from kernelrank.io._row_writer import write_rows

M, N = 400, 6
NUMBERS, TEXTS = "numbers", "texts"


def make(rng, form=np.asarray, dtype=np.float64, ids=None, m=M):
    """Return X, y and query ids of 1 to 12 rows per query."""
    X = (rng.normal(size=(m, N)) * (rng.random((m, N)) < 0.6)).astype(dtype)
    codes = np.repeat(np.arange(m), rng.integers(1, 13, m))[:m]
    names = rng.permutation(m)[codes]
    qid = {None: None, NUMBERS: names - 50, TEXTS: np.array([f"0{each}\n" for each in names], object)}[ids]
    return form(X), rng.normal(size=m), qid


def cut(rows, *stops):
    """Return the rows in chunks."""
    X, y, qid = rows
    bounds = [0, *stops, len(y)]
    return [(X[a:b], y[a:b]) if qid is None else (X[a:b], y[a:b], qid[a:b]) for a, b in pairwise(bounds)]


def read(store):
    """Return all rows of a store as one dense matrix, and the sizes of the blocks."""
    found = [(X.toarray() if sp.issparse(X) else X.copy()) for _, X, _ in store.blocks()]
    return np.concatenate(found), [len(each) for each in found]


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ids", [None, NUMBERS, TEXTS])
def test_rows_are_read_as_they_were_written(rng, folder, form, dtype, ids):
    X, y, qid = rows = make(rng, form, dtype, ids)
    store = RowStore.write(folder, cut(rows, 7, 7, 130, 390), block_bytes=2_000)
    assert store.shape == (store.n_rows, store.n_features) == X.shape
    assert store.dtype == dtype
    assert store.format == ("dense" if form is np.asarray else "csr")
    found, sizes = read(store)
    assert len(sizes) > 3
    np.testing.assert_array_equal(found, X if form is np.asarray else X.toarray())
    np.testing.assert_array_equal(store.y, y)
    if ids is None:
        assert store.qid is store.query_codes() is None
        assert store.n_queries == 0
        assert all(codes is None for *_, codes in store.blocks())
    else:
        assert store.qid.tolist() == qid.tolist()
        assert store.qid.dtype == (np.int64 if ids == NUMBERS else object)
        assert store.n_queries == len(set(qid.tolist())) == store.query_codes().max() + 1
    store.verify()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_blocks_follow_from_the_rows_and_split_no_query(rng, folder, tmp_path, form):
    rows = make(rng, form, ids=NUMBERS)
    store = RowStore.write(folder, cut(rows), block_bytes=2_000)
    RowStore.write(tmp_path / "other", cut(rows, *range(1, M)), block_bytes=2_000)
    assert content(folder) == content(tmp_path / "other")
    ends = np.cumsum([0] + [X.shape[0] for _, X, _ in store.blocks()])
    assert [start for start, *_ in store.blocks()] == ends[:-1].tolist()
    inner = ends[1:-1]
    assert (rows[2][inner] != rows[2][inner - 1]).all()
    for start, X, codes in store.blocks():
        expected = np.unique(store.query_codes()[start : start + X.shape[0]], return_inverse=True)[1]
        np.testing.assert_array_equal(codes, expected)
        if sp.issparse(X):
            assert X.has_canonical_format


def test_a_large_query_is_a_large_block(rng, folder):
    X, y, _ = make(rng)
    qid = np.repeat([3, 1, 2], [10, 380, 10])
    store = RowStore.write(folder, cut((X, y, qid), *range(25, 400, 25)), block_bytes=1_000)
    assert read(store)[1] == [10, 380, 10]


def test_a_query_that_does_not_fit_into_memory(rng, folder, monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 20_000)
    X, y, _ = make(rng)
    with pytest.raises(MemoryError, match=r"Query '7', of which .* bytes were read, takes .* Split the query"):
        RowStore.write(folder, cut((X, y, np.full(M, 7)), *range(25, 400, 25)), block_bytes=1_000)


def test_stored_zeros_and_repeated_indices_become_canonical(folder):
    X = sp.csr_matrix((np.array([1.0, 2.0, 0.0, 5.0]), np.array([2, 2, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))
    store = RowStore.write(folder, [(X, [1, 2])])
    [(_, found, _)] = store.blocks()
    assert found.nnz == 2
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 3], [0, 5, 0]])


# Text and tables.


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_svmlight_text_is_read_piece_by_piece(rng, folder, tmp_path, monkeypatch, dense, name):
    monkeypatch.setattr(_row_sources, "_PIECE", 300)
    X, y, qid = make(rng, ids=NUMBERS)
    dump_svmlight(X, y, tmp_path / name, qid=qid)
    whole, told = load_svmlight(tmp_path / name), []
    options = {"dense": True, "n_features": N} if dense else {}
    store = RowStore.write_svmlight(
        folder, tmp_path / name, block_bytes=2_000, report=lambda *each: told.append(each), **options
    )
    np.testing.assert_array_equal(read(store)[0], whole.X.toarray())
    np.testing.assert_array_equal(store.y, whole.y)
    np.testing.assert_array_equal(store.qid, whole.qid)
    assert store.zero_based is False
    rows, shares = zip(*told, strict=True)
    assert rows[-1] == M
    assert 0 < shares[0] <= shares[-1] == 1.0


def test_ids_of_text_are_compared_as_written(folder, tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n2 qid:01 1:2\n\n3 qid:1.0 3:1 # x")
    store = RowStore.write_svmlight(folder, tmp_path / "a.txt")
    assert store.qid.tolist() == ["1", "01", "1.0"]
    assert store.shape == (3, 3)


def test_a_mistake_in_text_names_the_line(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_row_sources, "_PIECE", 30)
    path = tmp_path / "a.txt"
    path.write_text("1 1:1\n" * 50 + "1 1:x\n")
    with pytest.raises(ValueError, match=r"a\.txt:51: "):
        RowStore.write_svmlight(folder, path)
    path.write_text("1 1:1\n" * 50 + "1 2:nan\n")
    with pytest.raises(ValueError, match=r"after line .* has a value of nan in row .*, column 1"):
        RowStore.write_svmlight(folder, path)
    path.write_text("1 qid:1 1:1\n" * 50 + "1 2:1\n" * 50)
    with pytest.raises(ValueError, match="some rows have a qid and others have none"):
        RowStore.write_svmlight(folder, path)


def test_options_of_text(folder, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 0:1\n2 2:1\n")
    with pytest.raises(ValueError, match="dense=True needs n_features"):
        RowStore.write_svmlight(folder, path, dense=True)
    store = RowStore.write_svmlight(folder, path, zero_based=True, dtype=np.float32)
    assert store.zero_based
    np.testing.assert_array_equal(read(store)[0], [[1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
def test_tables_are_read_in_batches(rng, folder, tmp_path, monkeypatch, name):
    monkeypatch.setattr(_row_tables, "_BATCH_ELEMENTS", 200)
    X, y, qid = make(rng, ids=NUMBERS)
    frame = pl.DataFrame({f"f{k}": X[:, k] for k in range(N)} | {"price": y, "qid": qid, "note": ["a"] * M})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if name.endswith("tsv") else ",")
    options = {"target": "price", "drop": ["note"]}
    table = load_table(path, **options)
    store = RowStore.write_table(folder, path, block_bytes=2_000, **options)
    np.testing.assert_array_equal(read(store)[0], table.X.to_numpy())
    np.testing.assert_array_equal(store.y, table.y)
    np.testing.assert_array_equal(store.qid, table.qid)
    assert store.feature_names == [f"f{k}" for k in range(N)]
    some = RowStore.write_table(tmp_path / "some", path, features=["f3", "f1"], **options)
    np.testing.assert_array_equal(read(some)[0], X[:, [3, 1]])


def test_compressed_tables(folder, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,2\n3,4\n"))
    assert RowStore.write_table(folder, path, target="y").shape == (2, 1)
    path = path.rename(tmp_path / "a.csv.xz")
    with pytest.raises(ValueError, match=r"a \.xz file cannot be read in batches; decompress it first"):
        RowStore.write_table(folder, path, target="y")


def test_mistakes_in_tables(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_row_tables, "_BATCH_ELEMENTS", 4)
    path = tmp_path / "a.csv"
    for text, match in (
        ("a,y\n1,2\n", 'there is no column "z"'),
        ("a,z\n1,2\n3,4\n5,6\nx,8\n", "column \"a\" does not hold numbers, but 'x'; encode or drop it"),
        ("a,z\n1,2,3\n", "cannot be read as a table"),
        ("a,z\n1,2\n3,4\n,8\n", 'after row 2: column "a" has missing values'),
        ("a,z\n1,2\n3,4\ninf,8\n", 'after row 2: column "a" holds inf'),
        ("a,z,qid\n1,2,x\n3,4,y\n5,8,x\n", "query 'x' are not contiguous"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=match):
            RowStore.write_table(folder, path, target="z")


# Writing that stops, and goes on.

SLOW = """
import sys, time
import numpy as np
from kernelrank.io import RowStore

def chunks():
    for number in range(20):
        X = np.random.default_rng(number).normal(size=(50, 4))
        yield X, X[:, 0]
        time.sleep(float(sys.argv[2]))

if __name__ == "__main__":
    RowStore.write(sys.argv[1], chunks(), block_bytes=1_600)
"""


def test_a_killed_write_continues(folder, tmp_path):
    for pause, path in (("0", tmp_path / "whole"), ("0.05", folder)):
        process = subprocess.Popen([sys.executable, "-c", SLOW, str(path), pause])
        while pause != "0" and not (path / "rows-00000003.bin").exists():
            time.sleep(0.005)
        if pause != "0":
            process.send_signal(signal.SIGKILL)
        assert process.wait(60) == (0 if pause == "0" else -signal.SIGKILL)
    with pytest.raises(ValueError, match=r"was interrupted after .* rows\. Write them again with the same source"):
        RowStore(folder)
    n_complete = len(json.loads((folder / "manifest.json").read_text())["chunks"])
    assert 0 < n_complete < 20
    (folder / ".kernelrank-0123456789abcdef.tmp").touch()  # as a process leaves it that is killed a little earlier
    before = [(folder / f"rows-{number:08d}.bin").stat().st_mtime_ns for number in range(n_complete)]
    subprocess.run([sys.executable, "-c", SLOW, str(folder), "0"], check=True)
    after = [(folder / f"rows-{number:08d}.bin").stat().st_mtime_ns for number in range(n_complete)]
    assert before == after
    assert content(folder) == content(tmp_path / "whole")


@pytest.fixture
def half(rng, folder):
    """Write half of the rows, and return all of them."""
    rows = make(rng)

    def stop():
        yield from cut(rows, 200)[:1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RowStore.write(folder, stop(), block_bytes=2_000)
    return rows


def test_an_interrupted_write_continues(folder, half, tmp_path):
    with pytest.raises(ValueError, match="was interrupted after"):
        RowStore(folder)
    RowStore.write(folder, cut(half, 100), block_bytes=2_000)
    RowStore.write(tmp_path / "whole", cut(half), block_bytes=2_000)
    assert content(folder) == content(tmp_path / "whole")


def test_another_source_is_noticed(folder, half):
    X, y, _ = half
    for chunks, options, match in (
        ([(X + 1, y)], {}, "rows 1 to 41 of the source are not those"),
        ([(X[:60], y[:60])], {}, "of the source are not those"),
        ([(X, y)], {"block_bytes": 3_000}, "written with block_bytes=2000, and now it is 3000"),
        ([(X, y)], {"dtype": np.float32}, "written with dtype='float64', and now it is 'float32'"),
        ([(X, y, np.arange(M))], {}, "written with ids=None, and now it is 'integers'"),
        ([(sp.csr_matrix(X), y)], {}, "written with format='dense'"),
    ):
        with pytest.raises(ValueError, match=match):
            RowStore.write(folder, chunks, **{"block_bytes": 2_000, **options})
    assert RowStore.write(folder, [(X, y)], block_bytes=2_000).n_rows == M


def test_a_file_that_was_written_is_not_read_again(rng, folder, tmp_path, monkeypatch):
    X, y, _ = make(rng)
    dump_svmlight(X, y, tmp_path / "a.txt")
    RowStore.write_svmlight(folder, tmp_path / "a.txt")
    with monkeypatch.context() as patch:
        patch.setattr(_row_sources.SvmlightText, "parts", lambda _: pytest.fail("read again"))
        assert RowStore.write_svmlight(folder, tmp_path / "a.txt").n_rows == M
    dump_svmlight(X + 1, y, tmp_path / "a.txt")
    with pytest.raises(ValueError, match="are not those that were written before"):
        RowStore.write_svmlight(folder, tmp_path / "a.txt")


def test_a_block_that_was_lost_is_written_again(rng, folder):
    rows = make(rng)
    RowStore.write(folder, cut(rows), block_bytes=2_000)
    before = content(folder)
    (folder / "rows-00000001.bin").unlink()
    (folder / "rows-00000002.bin").write_bytes(b"x")
    RowStore.write(folder, cut(rows), block_bytes=2_000)
    assert content(folder) == before


def test_a_file_that_was_lost_is_written_again_from_the_same_text(rng, folder, tmp_path):
    X, y, _ = make(rng)
    dump_svmlight(X, y, tmp_path / "a.txt")
    RowStore.write_svmlight(folder, tmp_path / "a.txt", block_bytes=2_000)
    before = content(folder)
    for name in ("rows-00000001.bin", "rows-00000002.bin"):
        (folder / name).unlink()
        with pytest.raises(ValueError, match=r"Write the rows again with the same source: the other files stay\."):
            RowStore(folder)
        RowStore.write_svmlight(folder, tmp_path / "a.txt", block_bytes=2_000)
    assert content(folder) == before


def test_a_store_that_is_complete_stays_as_it_is(rng, folder):
    X, y, _ = rows = make(rng)
    block_bytes = 50 * 8 * N  # the last block is full, and more rows are another block
    RowStore.write(folder, cut(rows), block_bytes=block_bytes)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    RowStore.write(folder, cut(rows, 100), block_bytes=block_bytes)
    for more in (1, 500):
        with pytest.raises(ValueError, match="of the source are not those that were written before"):
            RowStore.write(folder, [(X, y), (X[:more], y[:more])], block_bytes=block_bytes)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert RowStore(folder).n_rows == M


def test_the_manifest_is_written_after_each_sixteenth_of_the_blocks(rng, folder, monkeypatch):
    X, y, _ = make(rng, m=2_000)
    listed, write = [], _row_writer.write_manifest

    def count(folder, manifest):
        listed.append(len(manifest.chunks))
        write(folder, manifest)

    def stop():
        yield X, y
        raise KeyboardInterrupt

    monkeypatch.setattr(_row_writer, "write_manifest", count)
    with pytest.raises(KeyboardInterrupt):
        RowStore.write(folder, stop(), block_bytes=8 * N)
    n_blocks = len(list(folder.glob("*.bin")))
    assert 1_900 < n_blocks == listed[-1] < 2_000  # the last one waits for more rows
    assert len(listed) < 120
    RowStore.write(folder, [(X, y)], block_bytes=8 * N)
    assert listed[-1] == 2_000


def test_one_writer_at_a_time(rng, folder):
    rows = make(rng)

    def chunks():
        yield from cut(rows, 200)[:1]
        with pytest.raises(ValueError, match="another process is writing to the folder"):
            RowStore.write(folder, cut(rows))
        yield from cut(rows, 200)[1:]

    assert RowStore.write(folder, chunks()).n_rows == M


def test_other_files_stay(rng, folder):
    folder.mkdir()
    (folder / "thesis.tex").touch()
    with pytest.raises(ValueError, match=r"has other files, such as 'thesis\.tex'"):
        RowStore.write(folder, cut(make(rng)))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(rng, folder):
    folder.mkdir(mode=0o500)
    with pytest.raises(PermissionError):
        RowStore.write(folder, cut(make(rng)))


def test_a_full_disk_leaves_what_is_complete(rng, folder, monkeypatch):
    rows, fsync, left = make(rng), os.fsync, [5]

    def full(descriptor):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: .*rows-00000002\.bin|No space.*manifest"):
            RowStore.write(folder, cut(rows), block_bytes=2_000)
    assert not list(folder.glob(".kernelrank*"))
    assert RowStore.write(folder, cut(rows), block_bytes=2_000).n_rows == M


# Bad rows.


@pytest.mark.parametrize(
    ("chunks", "match"),
    [
        ([], "there are no rows to write"),
        ([(np.empty((0, 3)), [])], "there are no rows to write"),
        ([(np.eye(3), [1, 2, np.nan])], "y of chunk 0 of chunks contains NaN"),
        ([(np.eye(3), [1, 2])], "y of chunk 0 of chunks has 2 elements, but there are 3 rows"),
        ([(np.eye(3), [1, 2, 3]), (np.eye(2), [1, 2])], "chunk 1 of chunks has 2 columns, and those before have 3"),
        ([(np.eye(3), [1, 2, 3]), (sp.eye(3).tocsr(), [1, 2, 3])], "chunk 1 of chunks is sparse, and those before"),
        ([(np.eye(3), [1, 2, 3]), (np.eye(3, dtype=np.float32), [1, 2, 3])], "chunk 1 .* dtype float32.*dtype="),
        ([([[0, 1], [np.nan, 2]], [1, 2])], "chunk 0 of chunks has a value of nan in row 1, column 0"),
        ([(np.eye(2), [1, 2]), ([[0, 1], [2, -np.inf]], [1, 2])], "chunk 1 .* value of -inf in row 1, column 1"),
        ([(sp.csr_matrix([[0, 1], [0, np.inf]]), [1, 2])], "value of inf in row 1, column 1"),
        ([(np.eye(2), [1, 2], ["a", "b"]), (np.eye(2), [1, 2], ["b", "a"])], "query 'a' are not contiguous.*Sort"),
        ([(np.eye(2), [1, 2], [1, 2]), (np.eye(2), [1, 2])], "some rows have a qid and others have none"),
        ([(np.eye(2), [1, 2], [1, 2]), (np.eye(2), [1, 2], ["a", "b"])], "holds text, and those before integers"),
        ([(np.eye(2), [1, 2], [1.5, 2])], "qid of chunk 0 of chunks must hold integers or text, got 1.5"),
        ([(np.eye(2), [1, 2], [1])], r"qid of chunk 0 of chunks has shape \(1,\), but there are 2 rows"),
        ([np.eye(2)], r"chunk 0 of chunks must be \(X, y\) or \(X, y, qid\), got ndarray"),
    ],
)
def test_bad_rows(folder, chunks, match):
    with pytest.raises(ValueError, match=match):
        RowStore.write(folder, iter(chunks))


def test_numbers_beyond_float32(folder):
    with pytest.raises(ValueError, match="value of inf in row 0, column 0; all values must be finite numbers of float"):
        RowStore.write(folder, [([[1e300]], [1])], dtype=np.float32)


def test_one_row_is_a_store(folder):
    assert RowStore.write(folder, [([[1.0, 2.0]], [3.0])]).shape == (1, 2)


# Damage, and files made on purpose.


@pytest.fixture
def stored(rng, folder):
    RowStore.write(folder, cut(make(rng, ids=NUMBERS)), block_bytes=4_000)
    return folder


def edit(path, change):
    found = bytearray(path.read_bytes())
    path.write_bytes(change(found) or found)


def flip(at):
    def change(found):
        found[at] ^= 1

    return change


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("rows-00000001.bin", flip(100), "checksum"),
        ("rows-00000001.bin", flip(-1), "checksum"),
        ("rows-00000001.bin", lambda found: found[:-1], "it has .* bytes instead of"),
        ("rows-00000001.bin", lambda found: found + b"x", "it has .* bytes instead of"),
        ("manifest.json", lambda found: found[:-2], "damaged or not the manifest"),
        ("manifest.json", lambda found: b"[" * 100_000, "damaged or not the manifest"),
        ("manifest.json", lambda found: b"{}", "does not describe a row store"),
    ],
)
def test_damage_is_noticed(stored, name, change, match):
    edit(stored / name, change)
    with pytest.raises(ValueError, match=match) as caught:
        RowStore(stored).verify()
    assert str(stored / name) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "remedy"),
    [
        ("rows-00000001.bin", flip(100), r"Remove the file, and write the rows again with the same source: the other"),
        ("rows-00000001.bin", lambda found: found[:-1], r"Remove the file, and write the rows again with the same"),
        ("manifest.json", lambda found: found[:-2], r"Remove the folder, and write the rows again\."),
    ],
)
def test_damage_is_repaired_as_the_error_says(rng, folder, name, change, remedy):
    rows = make(rng, ids=NUMBERS)
    RowStore.write(folder, cut(rows), block_bytes=4_000)
    before = content(folder)
    edit(folder / name, change)
    with pytest.raises(ValueError, match=remedy):
        RowStore(folder).verify()
    (folder / name).unlink() if "the file" in remedy else shutil.rmtree(folder)
    RowStore.write(folder, cut(rows), block_bytes=4_000)
    assert content(folder) == before


def test_one_block_is_read_from_its_own_file(stored, monkeypatch):
    store = RowStore(stored)
    whole, y, codes = read(store)[0], store.y, store.query_codes()
    monkeypatch.chdir(stored)
    assert RowStore(".").path == stored
    for name in stored.glob("rows-*.bin"):
        if name.name != "rows-00000001.bin":
            name.unlink()
    first = store.block_sizes[0]
    rows = slice(first, first + store.block_sizes[1])
    for found, expected in zip(store.read_block(1), (whole, y, codes), strict=True):
        np.testing.assert_array_equal(found, expected[rows])


def test_a_missing_file(stored):
    (stored / "rows-00000001.bin").unlink()
    with pytest.raises(ValueError, match=r"rows-00000001\.bin: the file is missing"):
        RowStore(stored)
    with pytest.raises(ValueError, match="this is not a row store"):
        RowStore(stored.parent)
    with pytest.raises(ValueError, match="this is not a row store"):
        RowStore(stored / "rows-00000000.bin")


def test_a_file_that_changes_while_it_is_read(stored):
    store = RowStore(stored)
    store.verify()
    edit(stored / "rows-00000001.bin", lambda found: found[:40])
    with pytest.raises(ValueError, match="it is shorter than it was"):
        list(store.blocks())


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"format": "pickle"},
        {"dtype": "object"},
        {"n_features": 2**40},
        {"n_features": -1},
        {"n_features": True},
        {"ids": None},
        {"block_bytes": "x"},
        {"features": ["a"]},
        {"more": 1},
        {"chunks": [[2**40, N * 2**40, 5, 0, 5, [0, 0]]]},
        {"chunks": [[2**100, 1, 1, 0, 1, [0, 0]]]},
        {"chunks": [[-1, 1, 1, 0, 1, [0, 0]]]},
        {"chunks": [[1, N, 1, 0]]},
        {"chunks": 5},
        {"format": "csr", "chunks": [[1, 1, 1, 2, 1, [0, 0]]]},
        {"chunks": [[1, N, 2, 2, 0, [0, 0]]]},
        {"chunks": []},
        {"features": "abcdef"},
        {"source": ["a.txt"]},
    ],
)
def test_manifests_that_cannot_be(stored, change):
    path = stored / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=r"manifest\.json|rows-00000000\.bin"):
        RowStore(stored)


def forge(folder, change):
    """Change the arrays of a CSR matrix, and the checksum with them."""
    path, manifest = folder / "rows-00000000.bin", folder / "manifest.json"
    content, found = bytearray(path.read_bytes()), json.loads(manifest.read_text())
    change(content)
    end = -(-8 * 4 // 64) * 64 + -(-4 * 4 // 64) * 64 + -(-4 * 4 // 64) * 64
    found["chunks"][0][-1][0] = zlib.crc32(content[:end])
    path.write_bytes(content)
    manifest.write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("at", "value"),
    [(64, 7), (64, -1), (64 + 4, 0), (128 + 4, 9), (128 + 4, -5), (128 + 12, 3)],
)
def test_indices_of_a_stranger(folder, at, value):
    RowStore.write(folder, [(sp.csr_matrix([[1.0, 2.0, 0.0], [0.0, 3.0, 0.0], [0, 0, 4.0]]), [1, 2, 3])])
    assert len(list(RowStore(folder).blocks())) == 1
    forge(folder, lambda content: content.__setitem__(slice(at, at + 4), np.int32(value).tobytes()))
    with pytest.raises(ValueError, match=r"rows-00000000\.bin: damaged: "):
        list(RowStore(folder).blocks())


def test_a_model_is_not_much_larger_than_the_rows(folder):
    with pytest.raises(ValueError, match="features are too many"):
        RowStore.write(folder, [(sp.csr_matrix(([1.0], [5], [0, 1]), shape=(1, 2**40)), [1])])


def test_blocks_that_do_not_fit_into_memory(stored, monkeypatch):
    store = RowStore(stored)
    monkeypatch.setattr(_memory, "available_memory", lambda: 5_000)
    with pytest.raises(MemoryError, match=r"reading blocks of \d+ bytes takes .* smaller block_bytes"):
        next(store.blocks())


# Reading ahead.


def test_no_thread_outlives_a_loop(stored):
    store = RowStore(stored)
    before = threading.active_count()
    for _ in store.blocks():
        break
    blocks = store.blocks()
    next(blocks)
    blocks.close()
    assert threading.active_count() == before


def test_loops_do_not_disturb_each_other(stored):
    store = RowStore(stored)
    whole = read(store)[0]
    for (start, X, _), (_, again, _) in zip(store.blocks(), store.blocks(), strict=True):
        np.testing.assert_array_equal(X, whole[start : start + len(X)])
        np.testing.assert_array_equal(X, again)


def test_a_store_is_not_an_array(stored):
    with pytest.raises(TypeError, match=r"kernelrank\.RankSVM, with a linear kernel"):
        np.asarray(RowStore(stored))
    assert repr(RowStore(stored)).startswith("RowStore(400 rows, 6 features, ")


def test_compressed_text_that_ends_early(folder, tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n" * 1000)[:-9])
    with pytest.raises(ValueError, match=r"a\.txt\.gz: damaged"):
        RowStore.write_svmlight(folder, path)


def test_rows_of_an_unknown_source(folder):
    with pytest.raises(NotImplementedError):
        write_rows(folder, _row_sources.Source(), 1, None)
