"""Bars and lines."""

import io

from kernelrank.cli._progress import FitProgress, FoldProgress, Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(upper, lower):
    return {"upper_bound": upper, "lower_bound": lower, "n_products": 3, "seconds": 0.5}


def test_a_terminal_gets_a_bar_that_grows_and_goes_away():
    stream = Terminal()
    with FitProgress(1e-4, stream=stream) as progress:
        progress(record(1.0, 0.0))
        progress(record(0.5, 0.49))
        progress(record(0.6, 0.4))  # a gap may grow; a bar does not
        progress(record(0.5, 0.49999))
    bars = [line.count("#") for line in stream.getvalue().split("\r") if line.startswith("[")]
    assert bars == [0, 12, 12, 24]
    assert "objective 0.500000  gap 1.0e-02 of 1.0e-04  0.5 s" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()


def test_a_bar_does_not_wrap(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    with FitProgress(1e-4, stream=stream) as progress:
        progress(record(1.0, 0.0))
    assert max(len(line.removesuffix("\x1b[K")) for line in stream.getvalue().split("\r")) == 39


def test_a_pipe_gets_lines_but_not_too_many():
    stream = io.StringIO()
    with FoldProgress(stream=stream) as progress:
        for done in range(100):
            progress(done, 100)
            assert stream.getvalue() == "0 of 100 fits\n"
    assert stream.getvalue() == "0 of 100 fits\n99 of 100 fits\n"


def test_nothing_is_shown_if_nothing_shall_be():
    stream = Terminal()
    with Progress(shown=False, stream=stream) as progress:
        progress.show(0.5, "half")
    assert stream.getvalue() == ""
