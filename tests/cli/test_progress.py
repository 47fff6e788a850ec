"""Progress of commands: on a terminal, after two seconds, and never elsewhere."""

import re
import time

import pytest

from kernelrank.cli import _estimate, _working
from kernelrank.cli._working import Working

LONG = (
    ("train", "-o", "m"),
    ("train", "-o", "m", "--method", "rankrls"),
    ("train", "-o", "m", "--alpha", "auto"),
    ("cv", "--alphas", "8", "--folds", "2"),
    ("select", "-k", "2"),
    ("estimate", "--strategy", "averaged", "--folds", "3"),
)


@pytest.mark.parametrize("command", LONG)
def test_nothing_is_shown_in_a_pipe(shell, train, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    assert shell(name, train.path, *options).code == 0
    assert shell.err == ""


def test_the_fits_of_long_estimates_are_told_everywhere(shell, train, monkeypatch):
    monkeypatch.setattr(_estimate, "_LONG", 0.0)
    options = ("--alpha", "auto", "--strategy", "averaged", "--folds", "3", "--permutations", "9")
    shell("estimate", train.path, *options)
    [line] = shell.err.splitlines()
    assert re.fullmatch(
        r"kernelrank estimate: up to 11 estimates of 3 fits of RankRLSCV each, 33 in total, about \d+ s", line
    )
    assert shell("estimate", train.path, *options, "-q").err == ""
    [line] = shell("estimate", train.path, "--method", "ranksvm").err.splitlines()
    assert re.fullmatch(r"kernelrank estimate: 30 fits of RankSVM, about \d+ s", line)
    assert shell("estimate", train.path, "--method", "rankrls", "--permutations", "9").err == ""  # in closed form


@pytest.mark.parametrize("command", [*LONG[:1], *LONG[2:5]])
def test_a_terminal_gets_a_bar(shell, train, tmp_path, monkeypatch, terminal, command):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    assert shell(name, train.path, *options).code == 0
    assert "\r[" in shell.err
    assert shell.err.endswith("\r\x1b[K")
    assert shell(name, train.path, *options, "-q").err == ""


def test_short_work_shows_nothing_on_a_terminal(shell, train, tmp_path, terminal, monkeypatch):
    monkeypatch.setattr(_working, "PATIENCE", 2.0)
    assert shell("train", train.path, "-o", tmp_path / "m").err == ""


def test_work_of_unknown_length_shows_its_time(terminal, monkeypatch, capsys):
    monkeypatch.setattr(_working, "_PERIOD", 0.01)
    with Working(True, "reading rows.csv"):
        time.sleep(0.1)
    err = capsys.readouterr().err
    assert "\rreading rows.csv, 0 s" in err
    assert err.endswith("\r\x1b[K")
    with Working(False, "reading rows.csv"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_an_error_ends_the_display(terminal, monkeypatch, capsys):
    monkeypatch.setattr(_working, "_PERIOD", 0.01)

    def fail():
        with Working(True, "reading"):
            time.sleep(0.05)
            raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        fail()
    shown = capsys.readouterr().err
    time.sleep(0.05)
    assert shown.endswith("\r\x1b[K")
    assert capsys.readouterr().err == ""
