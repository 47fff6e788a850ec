"""Small data files, and programs called as from a shell."""

import json
import sys

import numpy as np
import pytest

from kernelrank import cli
from kernelrank.cli import _working


@pytest.fixture
def rng():
    """Return a generator with a single seed, as programs start slowly and their functions are tested elsewhere."""
    return np.random.default_rng(0)


class Rows:
    """Graded rows in queries, in memory and in a file."""

    def __init__(self, path, rng, n_queries):
        sizes = rng.integers(5, 12, n_queries)
        self.qid = np.repeat([f"q{k}" for k in range(n_queries)], sizes)
        self.X = rng.normal(size=(len(self.qid), 4))
        self.y = np.clip(np.rint(self.X @ [1.0, 0.5, 0.0, -0.5] + rng.normal(size=len(self.qid))), 0, 3).astype(int)
        self.path = str(path)
        self.save()

    def save(self):
        with open(self.path, "w") as file:
            for row, target, query in zip(self.X.tolist(), self.y, self.qid, strict=True):
                features = " ".join(f"{k + 1}:{value!r}" for k, value in enumerate(row))
                file.write(f"{target} qid:{query} {features}\n")


@pytest.fixture
def train(tmp_path, rng):
    return Rows(tmp_path / "train.txt", rng, 30)


@pytest.fixture
def held_out(tmp_path, rng):
    return Rows(tmp_path / "test.txt", rng, 15)


class Shell:
    """Program run in this process; keeps its exit code and output."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *arguments, program=cli.main):
        try:
            self.code = program([str(each) for each in arguments])
        except SystemExit as left:  # argparse
            self.code = left.code
        self.out, self.err = self._capsys.readouterr()
        return self

    @property
    def json(self):
        return json.loads(self.out, parse_constant=pytest.fail)

    def assert_refused(self, *words):
        """Assert that the program failed with exit code 2 and a one-line error that contains the words."""
        assert self.code == 2
        last = self.err.strip().splitlines()[-1]
        assert ": error: " in last
        assert "Traceback" not in self.err
        for word in words:
            assert word in last, last


@pytest.fixture
def shell(capsys):
    return Shell(capsys)


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Make standard error a terminal, on which progress is shown at once."""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True, raising=False)
    monkeypatch.setattr(_working, "PATIENCE", 0.0)
