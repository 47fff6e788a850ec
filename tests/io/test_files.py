"""Atomic replacement of files, and removal of temporary files."""

import gzip
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from kernelrank.io import dump_svmlight
from kernelrank.io._files import open_for_reading, replace_file
from kernelrank.io._temporary import open_temporary

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
    with pytest.raises(FileNotFoundError, match="missing/file"):  # not the name of the temporary file
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
    assert stat.S_IMODE(private.stat().st_mode) == 0o600  # the content must not become readable to others


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


# Errors of the system


@posix
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    import resource

    path = tmp_path / "file"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))  # stands for a quota or a full disk
    try:
        with pytest.raises(OSError, match=f"{path.name}'$") as caught:
            write(path, bytes(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_device_that_is_full():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        dump_svmlight([[1.0]], [1], "/dev/full")


@posix
def test_errors_about_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), replace_file(tmp_path / "file"):
        (tmp_path / "other").read_bytes()


@posix
def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", refuse)  # root is never denied a permission, so the error is raised here
    with pytest.raises(PermissionError, match=r"file'$"):
        write(tmp_path / "file", b"new")


def test_the_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, name=name, function=function: (calls.append(name), function(*a))[1])
    write(tmp_path / "file", b"new")
    assert calls == ["fsync", "replace"]


# Leftovers

WRITE_AND_WAIT = """
import sys, time
from kernelrank.io._files import replace_file
with replace_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("written", flush=True)
    time.sleep(600)
"""


@posix
def test_leftovers_of_killed_processes_are_removed_and_others_stay(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    (tmp_path / ".kernelrank-notes.tmp").write_bytes(b"not ours")
    (tmp_path / ".0123456789abcdef.tmp").write_bytes(b"not ours")
    os.mkfifo(tmp_path / ".kernelrank-0123456789abcdef.tmp")
    known = set(os.listdir(tmp_path))
    writer = subprocess.Popen([sys.executable, "-c", WRITE_AND_WAIT, path], stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"written\n"
        write(tmp_path / "another", b"new")
        assert len(set(os.listdir(tmp_path)) - known - {"another"}) == 1  # it is still being written
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    assert path.read_bytes() == b"old"
    assert len(set(os.listdir(tmp_path)) - known - {"another"}) == 1
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert set(os.listdir(tmp_path)) == known | {"another"}


@posix
def test_files_that_are_written_at_the_same_time(tmp_path):
    """Without locks, each writer would remove the files of the others as leftovers."""
    with (
        replace_file(tmp_path / "a") as first,
        replace_file(tmp_path / "b") as second,
        replace_file(tmp_path / "a") as third,
    ):
        first.write(b"first")
        second.write(b"second")
        third.write(b"third")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"first", "b": b"second"}


@posix
def test_many_threads_write_one_file(tmp_path):
    errors = []

    def write_often(content):
        try:
            for _ in range(30):
                write(tmp_path / "file", content)
        except BaseException as error:
            errors.append(error)

    contents = [bytes([65 + k]) * 5000 for k in range(4)]
    threads = [threading.Thread(target=write_often, args=[content]) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() in contents


@posix
def test_a_file_that_is_taken_for_a_leftover_before_it_is_locked(tmp_path, monkeypatch):
    from kernelrank.io import _temporary

    locks = []

    def remove_then_lock(descriptor, how):
        if not locks:
            (left,) = tmp_path.iterdir()
            left.unlink()
        locks.append(how)

    monkeypatch.setattr(_temporary.fcntl, "flock", remove_then_lock)
    path, descriptor = open_temporary(tmp_path)
    os.close(descriptor)
    assert len(locks) == 2
    assert list(tmp_path.iterdir()) == [path]
