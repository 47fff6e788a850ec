"""Files are replaced as a whole or not at all."""

import gzip
import os
import stat
import threading

import pytest

from kernelrank.io._files import open_for_reading, replace_file

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions of POSIX")


def write(path, content):
    with replace_file(path) as file:
        file.write(content)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2"])
def test_new_and_replaced_files(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    for content in (b"new", b"newer" * 10_000):
        write(path, content)
        with open_for_reading(path) as file:
            assert file.read() == content
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file(tmp_path, suffix, error):
    path = tmp_path / f"file{suffix}"
    for old in (None, b"old"):
        if old:
            path.write_bytes(old)

        def fail():
            with replace_file(path) as file:
                file.write(b"half" * 100_000)
                raise error

        with pytest.raises(error):
            fail()
        assert os.listdir(tmp_path) == ([path.name] if old else [])
        assert not old or path.read_bytes() == old


def test_the_old_file_is_there_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replace_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing/file"):  # not the name it is written aside under
        write(tmp_path / "missing" / "file", b"")
    with pytest.raises(IsADirectoryError):
        write(tmp_path, b"")


def test_a_name_as_long_as_names_may_be(tmp_path):
    write(tmp_path / ("x" * 255), b"new")
    assert (tmp_path / ("x" * 255)).read_bytes() == b"new"


def test_equal_contents_make_equal_files(tmp_path):
    for name in ("a.gz", "b.gz"):
        write(tmp_path / name, b"content")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"content"


def test_a_name_does_not_compress_what_has_a_format_of_its_own(tmp_path):
    with replace_file(tmp_path / "file.gz", compress=False) as file:
        file.write(b"plain")
    assert (tmp_path / "file.gz").read_bytes() == b"plain"


@posix
def test_permissions(tmp_path):
    new, private = tmp_path / "new", tmp_path / "private"
    private.write_bytes(b"old")
    private.chmod(0o600)
    before = os.umask(0o027)
    try:
        write(new, b"")
        write(private, b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(private.stat().st_mode) == 0o600  # no new reader of what was private


@posix
@pytest.mark.parametrize("exists", [False, True])
def test_links_are_written_through(tmp_path, exists):
    (tmp_path / "folder").mkdir()
    link, file = tmp_path / "link", tmp_path / "folder" / "file"
    link.symlink_to(os.path.join("folder", "file"))
    if exists:
        file.write_bytes(b"old")
    write(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert os.listdir(tmp_path / "folder") == ["file"]


@posix
def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write(path, b"content")
    reader.join(timeout=10)
    assert read == [b"content"]
    assert stat.S_ISFIFO(path.stat().st_mode)
