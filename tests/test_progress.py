"""Progress bars and lines."""

import io

import numpy as np
import pytest

from kernelrank import OrdinalSVM, RankSVM, _progress
from kernelrank._progress import FitProgress, FoldProgress, Progress


class Clock:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_progress, "monotonic", clock)
    return clock


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(upper, lower):
    return {"upper_bound": upper, "lower_bound": lower, "n_products": 3, "seconds": 0.5, "goal": 1e-4}


def test_a_terminal_gets_a_bar_that_grows_and_goes_away():
    stream = Terminal()
    with FitProgress(stream=stream) as progress:
        progress(record(1.0, 0.0))
        progress(record(0.5, 0.49))
        progress(record(0.6, 0.4))  # a gap may increase; the bar does not decrease
        progress(record(0.5, 0.49999))
    bars = [line.count("#") for line in stream.getvalue().split("\r") if line.startswith("[")]
    assert bars == [0, 12, 12, 24]
    assert "objective 0.500000  gap 1.0e-02 of 1.0e-04  0.5 s" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()


def test_a_bar_does_not_wrap(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    with FitProgress(stream=stream) as progress:
        progress(record(1.0, 0.0))
    assert max(len(line.removesuffix("\x1b[K")) for line in stream.getvalue().split("\r")) == 39


def test_a_pipe_gets_lines_but_not_too_many(clock):
    stream = io.StringIO()
    with FoldProgress(stream=stream) as progress:
        for done in range(100):
            progress(done, 100)
            assert stream.getvalue() == "0 of 100 fits\n"
            clock.seconds += 0.009
    assert stream.getvalue() == "0 of 100 fits\n99 of 100 fits\n"


def test_lines_become_rarer(clock):
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        for second in range(4 * 3600):
            progress.show(0.5, f"{second}")
            clock.seconds += 1.0
    *shown, last = map(int, stream.getvalue().split())
    assert shown[:10] == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]
    assert set(np.diff(shown[6:])) == {60}
    assert last == 4 * 3600 - 1


def test_a_terminal_is_always_up_to_date(clock):
    stream = Terminal()
    with Progress(stream=stream) as progress:
        for second in range(200):
            progress.show(0.5, f"after {second} s")
            assert f" after {second} s\x1b[K" in stream.getvalue()
            clock.seconds += 0.01


class Notebook(io.StringIO):
    """Stream whose class is in ipykernel, as that of a notebook."""

    def __init__(self):
        super().__init__()
        self.n_flushes = 0

    def flush(self):
        self.n_flushes += 1

    def shown(self):
        """Return the lines that a notebook shows: a carriage return overwrites, and erases nothing."""
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for text in line.split("\r"):
                shown = text + shown[len(text) :]
            lines.append(shown.rstrip())
        return lines


Notebook.__module__ = "ipykernel.iostream"


@pytest.mark.parametrize("terminal", [False, True])
def test_a_notebook_gets_one_line_whose_final_state_stays(clock, monkeypatch, terminal):
    stream = Notebook()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    with FoldProgress(stream=stream) as progress:
        for done in range(1, 1001):
            clock.seconds += 2**-10
            progress(done, 1000)
            if done == 150:  # the second update comes 103 / 1,024 seconds after the first
                assert stream.shown() == ["[##......................] 104 of 1,000 fits"]
    assert stream.shown() == ["[########################] 1,000 of 1,000 fits", ""]
    assert "\x1b" not in stream.getvalue()


def test_a_shorter_state_covers_a_longer_one_in_a_notebook(clock):
    stream = Notebook()
    with Progress(stream=stream) as progress:
        for text in ("a long text", "short", "of this length"):
            progress.show(None, text)
            assert stream.shown() == [text]
            clock.seconds += 1.0


def test_a_notebook_is_not_flooded(clock):
    stream = Notebook()
    with Progress(stream=stream) as progress:
        for number in range(10_000):  # ten seconds
            progress.show(0.5, f"{number}")
            clock.seconds += 0.001
        assert 50 <= stream.n_flushes <= 100
        for number in range(3600):
            progress.show(0.5, f"{number}")
            clock.seconds += 1.0
    assert stream.n_flushes <= 4000


def test_a_notebook_shows_the_last_state_before_an_error(clock):
    stream = Notebook()

    def work():
        with FoldProgress(stream=stream) as progress:
            progress(1, 10)
            progress(2, 10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert stream.shown() == ["[#####...................] 2 of 10 fits", ""]


@pytest.mark.parametrize("estimator", [RankSVM(verbose=1), OrdinalSVM(verbose=1)])
def test_fits_overwrite_a_line_in_a_notebook_and_print_lines_elsewhere(monkeypatch, capsys, estimator):
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3
    n_iter = estimator.fit(X, y).n_iter_
    assert n_iter > 2
    assert len(capsys.readouterr().out.splitlines()) == n_iter
    stream = Notebook()
    monkeypatch.setattr("sys.stdout", stream)
    estimator.fit(X, y)
    final, end = stream.shown()
    assert final.startswith(
        f"[########################] objective {estimator.objective_:.6f}  gap {estimator.gap_:.1e} "
    )
    assert end == ""


@pytest.mark.parametrize(
    ("done", "total", "seconds", "expected"),
    [
        (0, 5625, 3.0, "0 of 5,625 fits"),  # no estimate yet
        (120, 5625, 4.0, "120 of 5,625 fits, about 3 min left"),
        (1200, 5625, 10.0, "1,200 of 5,625 fits, about 37 s left"),
        (1, 90, 1.0, "1 of 90 fits, about 89 s left"),
        (1, 91, 1.0, "1 of 91 fits, about 2 min left"),
        (1, 61, 60.0, "1 of 61 fits, about 60 min left"),
        (1, 101, 60.0, "1 of 101 fits, about 2 h left"),
        (1, 1_000_001, 36.0, "1 of 1,000,001 fits, about 10,000 h left"),
        (99, 100, 60.0, "99 of 100 fits"),  # less than a second left
        (100, 100, 60.0, "100 of 100 fits"),
    ],
)
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_the_remaining_time_is_that_of_the_fits_so_far(clock, stream, done, total, seconds, expected):
    shown = stream()
    with FoldProgress(stream=shown) as progress:
        clock.seconds += seconds
        progress(done, total)
        assert expected == shown.getvalue().split("] ")[-1].removesuffix("\x1b[K").rstrip("\n")


def test_other_work_is_timed_anew(clock):
    stream = Terminal()
    with FoldProgress(stream=stream) as progress:
        for total, seconds in ((10, 1.0), (10, 60.0), (20, 1.0)):
            for done in range(1, 11):
                clock.seconds += seconds
                progress(done, total)
    shown = [line.removesuffix("\x1b[K").split("] ")[-1] for line in stream.getvalue().split("\r")]
    assert shown[5] == "5 of 10 fits, about 5 s left"
    assert shown[15] == "5 of 10 fits, about 5 min left"
    assert shown[25] == "5 of 20 fits, about 15 s left"


def test_nothing_is_shown_if_nothing_shall_be():
    stream = Terminal()
    with Progress(shown=False, stream=stream) as progress:
        progress.show(0.5, "half")
    assert stream.getvalue() == ""
