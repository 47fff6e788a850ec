"""Readers of judged documents, on small folders in the published layouts."""

import bz2
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pytest

from kernelrank.datasets import load_istella, load_letor, load_mslr, load_yahoo
from kernelrank.exceptions import DataFormatError
from kernelrank.io import load_svmlight

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


def write(path, X, y, qid, suffix="", comment="", zeros=True):
    """Write rows as they are published: all features of each row, or those that are not zero."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for row, grade, query in zip(X, y, qid, strict=True):
        features = " ".join(f"{k}:{value!r}" for k, value in enumerate(row.tolist(), 1) if zeros or value)
        lines.append(f"{grade} qid:{query} {features}{comment}\n")
    path.with_name(path.name + suffix).write_bytes(COMPRESS[suffix]("".join(lines).encode()))


def draw(n_features, seed, m=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (m, n_features)) / 4
    X[0, -1] = 0.5
    return X, rng.integers(0, 3, m), np.sort(rng.integers(1, 4, m))


def check(found, expected, dense=False):
    X, y, qid = found
    np.testing.assert_array_equal(X if dense else X.toarray(), expected[0])
    np.testing.assert_array_equal(y, expected[1])
    np.testing.assert_array_equal(qid, expected[2])
    assert y.dtype == np.float64
    assert isinstance(X, np.ndarray) == dense


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("names", [("train", "vali", "test"), ("trainingset", "validationset", "testset")])
def test_letor(tmp_path, names, suffix):
    data = {}
    for fold in range(1, 6):
        for part, name in zip(("train", "vali", "test"), names, strict=True):
            data[fold, part] = draw(45, seed=10 * fold + len(part))
            path = tmp_path / "OHSUMED" / "QueryLevelNorm" / f"Fold{fold}" / f"{name}.txt"
            write(path, *data[fold, part], suffix, comment=" #docid = 40626")
    folder = tmp_path / "OHSUMED" / "QueryLevelNorm"
    for fold, part in [(1, "train"), (3, "vali"), (5, "test")]:
        check(load_letor(folder, fold, part), data[fold, part])
        check(load_letor(str(folder), fold=fold, part=part, dense=True), data[fold, part], dense=True)


@pytest.mark.parametrize("fold", [1, 4])
def test_mslr(tmp_path, fold):
    data = draw(136, seed=fold)
    write(tmp_path / f"Fold{fold}" / "vali.txt", *data)
    check(load_mslr(tmp_path, fold, "vali"), data)
    check(load_mslr(tmp_path, fold, "vali", dense=True), data, dense=True)
    assert load_mslr(tmp_path, fold, "vali", dtype=np.float32).X.dtype == np.float32


@pytest.mark.parametrize("place", ["", "full", "sample"])
def test_istella(tmp_path, place):
    data = draw(220, seed=3)
    data[0][2, 5] = 1.79769313486e308
    write(tmp_path / place / "test.txt", *data)
    check(load_istella(tmp_path, "test"), data)
    check(load_istella(tmp_path / place, part="test", dense=True), data, dense=True)
    with pytest.raises(DataFormatError, match=r"test\.txt:3: .*float32"):
        load_istella(tmp_path, "test", dtype=np.float32)


@pytest.mark.parametrize("number", [1, 2])
def test_yahoo(tmp_path, number):
    data = {part: draw(700, seed=number + len(part)) for part in ("train", "valid", "test")}
    for part, rows in data.items():
        write(tmp_path / f"set{number}.{part}.txt", *rows, zeros=False)
    for part, rows in data.items():
        check(load_yahoo(tmp_path, number, "vali" if part == "valid" else part), rows)


def test_all_parts_have_the_same_columns_if_the_last_ones_are_zero(tmp_path):
    X, y, qid = draw(46, seed=0)
    X[:, 40:] = 0
    write(tmp_path / "Fold1" / "train.txt", X, y, qid, zeros=False)
    assert load_letor(tmp_path).X.shape[1] == 40
    check(load_letor(tmp_path, n_features=46), (X, y, qid))
    write(tmp_path / "set1.train.txt", X, y, qid, zeros=False)
    assert load_yahoo(tmp_path).X.shape[1] == 700


READERS = {"letor": load_letor, "mslr": load_mslr, "istella": load_istella, "yahoo": load_yahoo}
FILES = {"letor": "Fold1/train.txt", "mslr": "Fold1/train.txt", "istella": "train.txt", "yahoo": "set1.train.txt"}
each_reader = pytest.mark.parametrize("name", READERS)


@each_reader
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 qid:1 1:0.5\n2 qid:1 1:x\n", r':2: .*"1:x"'),
        ("0 qid:1 1:0.5\nbad qid:1 1:1\n", ':2: expected a number as target, got "bad"'),
        ("0 qid:1 0:0.5\n", ":1: .*0"),
        ("0 1:0.5\n", ":1: the row has no query, such as qid:10"),
        ("0 qid:1 1:0.5\n0 1:0.5\n", ":2: this row has no qid"),
        ("", ": there are no rows"),
        ("0 qid:1 1:NULL\n", ":1: .*NULL.* read the version Feature_min, MIN or QueryLevelNorm"),
    ],
)
def test_mistakes_are_told_with_the_line(tmp_path, name, text, message):
    path = tmp_path / FILES[name]
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(DataFormatError, match=f"^{path}{message}"):
        READERS[name](tmp_path)


@pytest.mark.parametrize(("name", "n_features"), [("mslr", 136), ("istella", 220), ("yahoo", 700)])
def test_too_many_features_are_told_with_the_line(tmp_path, name, n_features):
    path = tmp_path / FILES[name]
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"0 qid:1 1:1 {n_features}:1\n0 qid:1 1:1 {n_features + 1}:1\n")
    with pytest.raises(DataFormatError, match=f"^{path}:2: .*{n_features + 1}"):
        READERS[name](tmp_path)


def test_letor_is_not_mslr(tmp_path):
    write(tmp_path / "Fold1" / "train.txt", *draw(46, seed=1))
    with pytest.raises(DataFormatError, match=r"largest index of a feature is 46, .* 136 .* load_letor"):
        load_mslr(tmp_path)


@each_reader
def test_a_folder_that_is_missing_or_a_file(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=r"folder must be a folder that holds .*, but .*nowhere does not exist"):
        READERS[name](tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"folder must be .*file is a file"):
        READERS[name](tmp_path / "file")


@each_reader
def test_files_that_are_missing(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=r"folder must hold .*, but .* is empty"):
        READERS[name](tmp_path)
    write(tmp_path / FILES[name], *draw(220, seed=1))
    with pytest.raises(FileNotFoundError, match=r"folder must hold .*test.*, but .* has only .*"):
        READERS[name](tmp_path, part="test")


@each_reader
def test_two_versions_of_a_file(tmp_path, name):
    path = tmp_path / FILES[name]
    write(path, *draw(136, seed=1))
    write(path, *draw(136, seed=1), suffix=".gz")
    with pytest.raises(
        ValueError, match=f"folder must have one of {path.name}, {path.name}.gz, but .* has all of them"
    ):
        READERS[name](tmp_path)


def test_the_folder_of_one_fold(tmp_path):
    write(tmp_path / "Fold2" / "train.txt", *draw(46, seed=1))
    with pytest.raises(FileNotFoundError, match=f"Pass the folder above it, {tmp_path}, and the number of the fold"):
        load_letor(tmp_path / "Fold2")
    with pytest.raises(FileNotFoundError, match=r"must hold Fold1, but .* has only Fold2"):
        load_letor(tmp_path)


def test_the_folder_above_the_versions(tmp_path):
    for version in ("Feature-min", "QueryLevelNorm"):
        write(tmp_path / version / "Fold1" / "train.txt", *draw(45, seed=1))
    below = f"{tmp_path}/Feature-min, {tmp_path}/QueryLevelNorm"
    with pytest.raises(FileNotFoundError, match=f"Pass one of the folders below that have folds: {below}"):
        load_letor(tmp_path)


def test_two_sets_of_istella(tmp_path):
    for place in ("full", "sample"):
        write(tmp_path / place / "train.txt", *draw(220, seed=1))
    with pytest.raises(ValueError, match=r"folder must hold one set, but train.txt is in each of .*full, .*sample"):
        load_istella(tmp_path)
    with pytest.raises(FileNotFoundError, match="The first release of Istella has no part for validation"):
        load_istella(tmp_path / "full", "vali")


@pytest.mark.parametrize("read", [load_letor, load_mslr])
def test_there_are_five_folds(tmp_path, read):
    with pytest.raises(ValueError, match=r"^fold must be an integer from 1 to 5, got 6\.$"):
        read(tmp_path, 6)


@pytest.mark.skipif("KERNELRANK_DATA" not in os.environ, reason="KERNELRANK_DATA names no folder with real data")
@pytest.mark.parametrize("version", ["min", "QueryLevelNorm"])
def test_ohsumed(tmp_path, version):
    """The folds of OHSUMED, made of its five parts, which the folder has: fold k tests on part k + 4."""
    parts = [Path(os.environ["KERNELRANK_DATA"], "letor", f"OHSUMED_{version}_S{k}.txt.xz") for k in range(1, 6)]
    texts = [lzma.decompress(path.read_bytes()) for path in parts]
    (tmp_path / "Fold3").mkdir()
    (tmp_path / "Fold3" / "train.txt").write_bytes(texts[2] + texts[3] + texts[4])
    (tmp_path / "Fold3" / "test.txt.xz").symlink_to(parts[1])
    train, test = (load_letor(tmp_path, 3, part, dense=True) for part in ("train", "test"))
    assert train.X.shape == (3573 + 3538 + 3383, 45)
    assert len(np.unique(train.qid)) == 22 + 21 + 21
    expected = load_svmlight(parts[1], dense=True)
    check(test, (expected.X, expected.y, expected.qid), dense=True)
