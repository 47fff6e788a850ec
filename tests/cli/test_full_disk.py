"""Errors of a full disk."""

import contextlib
import os
import sys

import pytest

from kernelrank import cli

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")


def test_a_file(shell, train, tmp_path):
    shell("train", train.path, "-o", tmp_path / "m", "-q")
    shell("predict", train.path, "-m", tmp_path / "m", "-o", "/dev/full").assert_refused("/dev/full: No space left")


def test_standard_output(shell, train, tmp_path, monkeypatch):
    shell("train", train.path, "-o", tmp_path / "m", "-q")
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:  # closing it flushes it again
        monkeypatch.setattr(sys, "stdout", full)
        shell.code = cli.main(["evaluate", train.path, "-m", str(tmp_path / "m")])
    monkeypatch.undo()
    shell.out, shell.err = shell._capsys.readouterr()
    shell.assert_refused("error: <stdout>: No space left on device")
