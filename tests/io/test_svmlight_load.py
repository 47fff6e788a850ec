"""Reading svmlight files: format, options, errors and sources."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import time
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from ctrl_c import interrupt
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

from kernelrank.exceptions import DataFormatError
from kernelrank.io import SvmlightData, _load, dump_svmlight, load_svmlight


def load(text, **options):
    return load_svmlight(BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def large_file(rng, m=3_000, n=40):
    X = sp.random(m, n, 0.4, "csr", rng=rng, data_rvs=lambda size: rng.normal(size=size))
    file = BytesIO()
    comments = [f"docid = {k}" if k % 3 else "" for k in range(m)]
    dump_svmlight(X, rng.integers(5, size=m), file, qid=np.sort(rng.integers(99, size=m)), comments=comments)
    return file.getvalue()


def assert_equal(found, expected):
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found.X, part), getattr(expected.X, part), strict=True)
    assert found.X.shape == expected.X.shape
    for ours, theirs in zip(found[1:], expected[1:], strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_array_equal(ours, theirs, strict=True)


def assert_like_scikit_learn(found, file):
    X, y, qid = load_svmlight_file(file, query_id=True)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    assert_equal(found._replace(comments=None), SvmlightData(X, y, qid.astype(np.int64), None))


class TestFormat:
    def test_a_letor_file(self):
        X, y, qid, comments = load(
            "2 qid:10032 1:0.056537 2:0.000000 3:0.666667 #docid = GX029-35-5894638 inc = 0.0119881192468859\n"
            "0 qid:10032 1:0.279152 2:0.5 3:0 # docid = GX030-77-6315042 # twice\n"
            "1 qid:10033 3:1e-3\n"
        )
        assert isinstance(X, sp.csr_matrix)
        assert X.dtype == np.float64
        assert X.indices.dtype == X.indptr.dtype == np.int32
        np.testing.assert_array_equal(X.toarray(), [[0.056537, 0, 0.666667], [0.279152, 0.5, 0], [0, 0, 1e-3]])
        assert X.nnz == 7  # zeros of the file are stored
        np.testing.assert_array_equal(y, np.array([2.0, 0, 1]), strict=True)
        np.testing.assert_array_equal(qid, np.array([10032, 10032, 10033], dtype=np.int64), strict=True)
        assert list(comments) == [
            "docid = GX029-35-5894638 inc = 0.0119881192468859",
            "docid = GX030-77-6315042 # twice",
            "",
        ]

    def test_white_space_and_lines_to_skip(self):
        plain = load("1 qid:1 1:2 3:4\n2 qid:1 2:5\n")
        odd = "\ufeff# heading\r\n\r\n \t\n1  qid:1\t1:2 \t 3:4\t\r\n#\n\t2 qid:1 2:5#\t \r\n   # end"
        assert_equal(load(odd), plain)

    def test_the_last_line_needs_no_end(self):
        assert_equal(load("1 1:2\n2 1:33"), load("1 1:2\n2 1:33\n"))
        assert_equal(load("1 1:2\r\n2 1:33\r"), load("1 1:2\n2 1:33\n"))

    def test_features_in_any_order(self):
        X = load("1 7:7 2:2 5:5\n1 1:1\n").X
        np.testing.assert_array_equal(X.indices, [1, 4, 6, 0])
        np.testing.assert_array_equal(X.data, [2, 5, 7, 1])
        assert X.has_canonical_format

    def test_rows_without_features(self):
        X, y, qid, comments = load("1\n2 # empty\n3\n")
        assert X.shape == (3, 0)
        assert list(y) == [1, 2, 3]
        assert qid is None
        assert list(comments) == ["", "empty", ""]

    @pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "\ufeff", " "])
    def test_no_rows(self, text):
        X, y, qid, comments = load(text)
        assert X.shape == (0, 0)
        assert y.shape == (0,)
        assert qid is comments is None
        assert load(text, n_features=4).X.shape == (0, 4)

    @pytest.mark.parametrize(
        "ids", [["7", "query-7b"], ["007"], ["+1"], ["-0"], ["9223372036854775808"], ["1.0"], ["é"]]
    )
    def test_ids_that_are_text(self, ids):
        ids = ["3", "-5", *ids, "3"]
        qid = load("".join(f"1 qid:{each} 1:1\n" for each in ids)).qid
        assert qid.dtype == object
        assert list(qid) == ids

    def test_ids_that_are_numbers(self):
        ids = ["0", "-1", "9223372036854775807", "-9223372036854775808"]
        qid = load("".join(f"1 qid:{each}\n" for each in ids)).qid
        np.testing.assert_array_equal(qid, np.array(ids, dtype=np.int64), strict=True)

    def test_bytes_that_are_not_utf_8_survive(self):
        data = b"1 qid:\xff\xc3\xa9 1:2 # \xfe\x00 caf\xc3\xa9 \xc3\n"
        X, y, qid, comments = load(data)
        assert list(qid) == ["\udcffé"]
        assert list(comments) == ["\udcfe\x00 café \udcc3"]
        file = BytesIO()
        dump_svmlight(X, y, file, qid=qid, comments=comments)
        assert file.getvalue() == data


class TestOptions:
    def test_n_features_pads(self):
        assert load("1 2:1\n", n_features=5).X.shape == (1, 5)
        assert load("1 0:1\n", n_features=np.int64(5)).X.shape == (1, 5)

    @pytest.mark.parametrize(("zero_based", "columns"), [("auto", [0, 2]), (False, [0, 2]), (True, [1, 3])])
    def test_one_is_the_least_index(self, zero_based, columns):
        X = load("1 1:1\n1 3:1\n", zero_based=zero_based).X
        assert list(X.indices) == columns
        assert X.shape[1] == columns[-1] + 1

    @pytest.mark.parametrize("block", [1, 6, 1 << 20])
    def test_an_index_0_turns_up_late(self, block, monkeypatch):
        monkeypatch.setattr(_load, "_BLOCK_BYTES", block)
        assert list(load("1 1:1 4:1\n" * 3 + "1 0:1\n1 2:1\n").X.indices) == [1, 4] * 3 + [0, 2]
        wide = load("1 1:1 2147483648:1\n" * 3 + "1 0:1\n1 2:1\n").X
        assert list(wide.indices) == [1, 2**31] * 3 + [0, 2]

    def test_float32(self):
        X, y, _, _ = load("0.1 1:0.1 2:16777217\n", dtype="float32")
        np.testing.assert_array_equal(X.data, np.array([0.1, 16777216], dtype=np.float32), strict=True)
        assert y.dtype == np.float64
        assert y[0] == 0.1

    @pytest.mark.parametrize(
        ("text", "options", "n_features", "dtype"),
        [
            ("1 2147483647:1\n", {}, 2**31 - 1, np.int32),
            ("1 2147483648:1\n", {}, 2**31, np.int64),
            ("1 0:1 2147483646:1\n", {}, 2**31 - 1, np.int32),
            ("1 0:1 2147483647:1\n", {}, 2**31, np.int64),
            ("1 1:1\n", {"n_features": 2**31 - 1}, 2**31 - 1, np.int32),
            ("1 1:1\n", {"n_features": 2**31}, 2**31, np.int64),
            ("1 9223372036854775806:1\n", {}, 2**63 - 2, np.int64),
        ],
    )
    def test_indices_are_as_wide_as_they_must_be(self, text, options, n_features, dtype):
        X = load("1 1:1\n1\n" + text, **options).X
        assert X.shape == (3, n_features)
        assert X.indices.dtype == X.indptr.dtype == dtype
        assert X.indices[0] == (1 if text.startswith("1 0:") else 0)

    @pytest.mark.parametrize(
        "options", [{"n_features": -1}, {"n_features": 2.0}, {"zero_based": "yes"}, {"dtype": int}]
    )
    def test_bad_options(self, options):
        with pytest.raises(ValueError, match=f"^{next(iter(options))} must be"):
            load("1 1:1\n", **options)

    def test_text_mode(self):
        with pytest.raises(TypeError, match="binary mode"):
            load_svmlight(StringIO("1 1:1\n"))

    def test_no_file(self):
        with pytest.raises(TypeError, match="source must be a path"):
            load_svmlight(7)


ERRORS = [
    ("1 12:", 'expected index:value, got "12:"'),
    ("1 2:3 :4", 'expected index:value, got ":4"'),
    ("1 7", 'expected index:value, got "7"'),
    ("1 1:2:3", 'expected index:value, got "1:2:3"'),
    ("1 -1:2", 'expected index:value, got "-1:2"'),
    ("1 1 : 2", 'expected index:value, got "1"'),
    ("1 foo:2", 'expected index:value, got "foo:2"'),
    ("1 3:abc#c", 'expected index:value, got "3:abc"'),
    ("1 1:2\r 2:3", 'expected index:value, got "1:2\\r"'),
    ("1 1:\0", 'expected index:value, got "1:\\x00"'),
    ("1 1:é" + "x" * 100, 'expected index:value, got "1:é' + "x" * 37 + '..."'),
    ("1 sid:3 1:2", 'sid: is not supported, got "sid:3"'),
    ("1 qid:1 cost:0.5 1:2", 'cost: is not supported, got "cost:0.5"'),
    ("1 1:2 qid:3", 'qid must come right after the target, got "qid:3"'),
    ("1 qid: 1:2", 'expected qid:id, got "qid:"'),
    ("1 qid:a\v2:1 3:1", 'expected qid:id, got "qid:a\\x0b2:1"'),
    ("1 qid:a\rb", 'expected qid:id, got "qid:a\\rb"'),
    ("1,2 3:4", 'several targets, got "1,2"'),
    ("1:2 3:4", 'expected a number as target, got "1:2"'),
    ("qid:1 3:4", 'expected a number as target, got "qid:1"'),
    (b"1 2\xff:4", 'expected index:value, got "2\\xff:4"'),
    ("1 3:1 2:1 3:1", 'an index occurs twice in the row: "3"'),
    ("1 3:1 3:1", 'an index occurs twice in the row: "3"'),
    ("1 9223372036854775807:1", 'index too large, got "9223372036854775807:1"'),
    ("1 18446744073709551617:1", 'index too large, got "18446744073709551617:1"'),
]


class TestErrors:
    @pytest.mark.parametrize(("line", "message"), ERRORS)
    def test_the_line_and_the_text(self, tmp_path, line, message):
        path = tmp_path / "train.txt"
        line = line if isinstance(line, bytes) else line.encode()
        good_row = b"1 qid:1 1:1" if line.startswith(b"1 qid:") else b"1 1:1"
        path.write_bytes(b"# heading\n\n" + good_row + b"\n" + line + b"\nx\n")  # only the first error is reported
        with pytest.raises(DataFormatError) as error:
            load_svmlight(path)
        assert str(error.value) == f"{path}:4: {message}"

    @pytest.mark.parametrize("zero_based", ["auto", True, False])
    def test_n_features_is_too_small(self, zero_based):
        with pytest.raises(DataFormatError, match=r'^<stream>:2: index beyond n_features=3, got "4:1"$'):
            load("1 1:1\n1 4:1\n1 9:1", n_features=3, zero_based=zero_based)

    def test_n_features_is_too_small_for_zero_based_indices(self):
        assert load("1 1:1\n1 3:1", n_features=3).X.shape == (2, 3)
        with pytest.raises(DataFormatError, match=r'^<stream>:2: zero-based index beyond n_features=3, got "3"$'):
            load("1 1:1\n1 3:1\n1 0:1\n1 3:1", n_features=3)
        with pytest.raises(DataFormatError, match=r'^<stream>:2: index beyond n_features=3, got "3:1"$'):
            load("1 1:1\n1 3:1\n", n_features=3, zero_based=True)
        with pytest.raises(DataFormatError, match=r"^<stream>:1: index beyond n_features=0"):
            load("1 0:1\n", n_features=0, zero_based=True)

    def test_an_index_0_that_must_not_be(self):
        with pytest.raises(DataFormatError, match=r'^<stream>:2: index 0 although zero_based=False, got "0:1"$'):
            load("1 1:1\n1 0:1", zero_based=False)

    @pytest.mark.parametrize("block", [1, 7, 1 << 20])
    def test_some_rows_have_no_qid(self, block, monkeypatch):
        monkeypatch.setattr(_load, "_BLOCK_BYTES", block)
        with pytest.raises(DataFormatError, match=r"^<stream>:3: this row has no qid, the rows before have one$"):
            load("1 qid:1 1:1\n\n1 1:1\n1 qid:1\n")
        with pytest.raises(DataFormatError, match=r"^<stream>:2: this row has a qid, the rows before have none$"):
            load("1 1:1\n1 qid:1 1:1\n1\n")

    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_the_first_error_of_a_large_file(self, rng, n_jobs):
        lines = large_file(rng).splitlines(keepends=True)
        for first in rng.integers(len(lines), size=10):
            damaged = lines.copy()
            for line in (first, *rng.integers(first, len(lines), size=3)):
                damaged[line] = rng.choice([b"1 1:1\n", b"1 qid:1 x\n", b"x\n"] if first else [b"x\n"])
            with pytest.raises(DataFormatError, match=f"^<stream>:{first + 1}: "):
                load(b"".join(damaged), n_jobs=n_jobs)


class TestBlocksAndThreads:
    def test_blocks_do_not_show(self, rng, monkeypatch):
        data = b"\xef\xbb\xbf" + large_file(rng, 30)
        expected = load(data)
        for size in (1, 2, 3, 5, 64, 1000):
            monkeypatch.setattr(_load, "_BLOCK_BYTES", size)
            assert_equal(load(data), expected)
            assert_equal(load(data.replace(b"\n", b"\r\n")), expected)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_threads_do_not_show(self, rng, dtype, monkeypatch):
        data = large_file(rng)
        as_text = data.replace(b"qid:98", b"qid:x98")  # only ids of the last rows are text
        late_zero = data + b"1 qid:99 0:1\n"
        for each in (data, as_text, late_zero):
            expected = load(each, dtype=dtype)
            for n_jobs in (2, 3, 8):
                for size in (1 << 16, 1 << 22):
                    monkeypatch.setattr(_load, "_BLOCK_BYTES", size // n_jobs)
                    assert_equal(load(each, dtype=dtype, n_jobs=n_jobs), expected)

    def test_like_scikit_learn(self, rng):
        data = large_file(rng)
        assert_like_scikit_learn(load(data, n_jobs=2), BytesIO(data))

    def test_a_file_object_that_returns_what_it_likes(self):
        class Dripping(BytesIO):
            def read(self, size=-1):
                return memoryview(super().read(min(size, 5)))

        data = b"1 1:2\n2 3:4\n" * 10
        assert_equal(load_svmlight(Dripping(data)), load(data))


class TestSources:
    DATA = b"1 qid:1 1:2 # a\n2 qid:1 2:3\n" * 5_000

    @pytest.mark.parametrize(
        ("suffix", "compress"),
        [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
    )
    def test_paths(self, tmp_path, suffix, compress):
        path = tmp_path / f"rows.txt{suffix}"
        path.write_bytes(compress(self.DATA))
        for source in (path, str(path)):
            assert_equal(load_svmlight(source), load(self.DATA))
        path.write_bytes(compress(self.DATA + b"oops\n"))
        with pytest.raises(DataFormatError, match=rf"rows.txt{suffix}:10001: expected a number as target, got "):
            load_svmlight(path)

    @pytest.mark.parametrize(
        ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
    )
    def test_damaged_files(self, tmp_path, suffix, compress):
        path = tmp_path / f"rows{suffix}"
        good = compress(self.DATA)
        middle = len(good) // 2
        flipped = good[:middle] + bytes(255 - byte for byte in good[middle : middle + 9]) + good[middle + 9 :]
        for damaged in (good[:middle], b"1 1:2\n", flipped):
            path.write_bytes(damaged)
            with pytest.raises(DataFormatError, match=rf"rows{suffix}: damaged or not {suffix} data"):
                load_svmlight(path)

    def test_a_missing_file(self, tmp_path):
        for name in ("missing.txt", "missing.txt.gz"):
            with pytest.raises(FileNotFoundError):
                load_svmlight(tmp_path / name)

    def test_a_file_object_is_left_open_and_names_itself(self, tmp_path):
        path = tmp_path / "rows.txt"
        path.write_bytes(b"1 1:2\n1 x\n")
        with open(path, "rb") as file:
            with pytest.raises(DataFormatError, match=r"rows.txt:2: expected index:value"):
                load_svmlight(file)
            assert not file.closed

    def test_standard_input(self):
        script = "from kernelrank.io import load_svmlight; X, y, _, _ = load_svmlight('-'); print(X.sum(), len(y))"
        done = subprocess.run([sys.executable, "-c", script], input=self.DATA, capture_output=True, check=True)
        assert done.stdout == b"25000.0 10000\n"
        done = subprocess.run([sys.executable, "-c", script], input=b"1 1:1\n1 1", capture_output=True, check=False)
        assert b'DataFormatError: <stdin>:2: expected index:value, got "1"' in done.stderr

    @pytest.mark.skipif("KERNELRANK_DATA" not in os.environ, reason="KERNELRANK_DATA names no folder with real data")
    def test_letor_files(self):
        for path in sorted(Path(os.environ["KERNELRANK_DATA"], "letor").glob("*.txt.xz")):
            found = load_svmlight(path, n_jobs=2)
            with lzma.open(path) as file:
                assert_like_scikit_learn(found, file)
            assert (found.comments is not None) == path.name.startswith("OHSUMED")


MEMORY = """
from io import BytesIO
from pathlib import Path
from kernelrank.io import load_svmlight

def status(field):
    return 1024 * int(Path("/proc/self/status").read_text().split(field + ":")[1].split()[0])

data = b"".join(b"1 qid:%d " % k + b" ".join(b"%d:0.5" % j for j in range(1, 50)) + b"\\n" for k in range(1000)) * 100
load_svmlight(BytesIO(data[:500]))
file = BytesIO(data)
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
X, y, qid, _ = load_svmlight(file, n_jobs=JOBS)
print((status("VmHWM") - before) / sum(part.nbytes for part in (X.data, X.indices, X.indptr, y, qid)))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.skipif("KERNELRANK_CORE" in os.environ, reason="a sanitizer keeps freed memory")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_is_that_of_the_result(n_jobs):
    script = MEMORY.replace("JOBS", str(n_jobs))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 0.9 < float(done.stdout) < 1.5


INTERRUPTED = """
import signal, sys, time
from kernelrank.io import load_svmlight
signal.signal(signal.SIGINT, signal.default_int_handler)

class Endless:
    block = b"1 qid:1 " + b" ".join(b"%d:0.123456" % k for k in range(1, 50)) + b"# comment\\n"
    def read(self, size):
        return self.block * (SIZE // len(self.block))

print("ready", flush=True)
try:
    load_svmlight(Endless(), n_jobs=JOBS)
except KeyboardInterrupt:
    print(time.time(), time.process_time(), flush=True)
print("works" if load_svmlight(sys.stdin.buffer).y[0] == 1 else "broken")
"""


@pytest.mark.parametrize(("n_jobs", "block_bytes"), [(2, 1 << 22), (1, 1 << 28)])
def test_ctrl_c_returns_within_a_second(n_jobs, block_bytes):
    script = INTERRUPTED.replace("JOBS", str(n_jobs)).replace("SIZE", str(block_bytes))
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    seconds, output = interrupt(process, "1 1:1\n")
    assert output == ["works"]
    assert seconds < 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_rows(rng, dtype):
    content = large_file(rng)
    found = load(content, dense=True, dtype=dtype, n_features=45)
    assert type(found.X) is np.ndarray
    sparse = load(content, dtype=dtype, n_features=45)
    np.testing.assert_array_equal(found.X, sparse.X.toarray(), strict=True)
    assert found.X.flags.c_contiguous
    np.testing.assert_array_equal(found.y, sparse.y)
    StandardScaler().fit_transform(found.X)  # it raises an error for sparse rows
    assert load("", dense=True).X.shape == (0, 0)


def test_dense_rows_that_do_not_fit_into_memory(tmp_path):
    (tmp_path / "wide").write_text("1 1000000000000000:1\n")
    with pytest.raises(MemoryError, match=r"wide: a dense array of shape \(1, 1000000000000000\) takes .* dense=False"):
        load_svmlight(tmp_path / "wide", dense=True)


def test_dense_is_true_or_false():
    with pytest.raises(ValueError, match="dense must be True or False, got 'yes'"):
        load("1 1:1", dense="yes")


def test_ids_are_compared_as_written():
    ids = ["01", "1", "001", "1.10", "1.1", "1e5", "100000", "12345678901234567890", "+1", "-0", "0"]
    assert load("".join(f"1 qid:{each} 1:1\n" for each in ids)).qid.tolist() == ids
