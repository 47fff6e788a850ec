"""Common behaviour of the programs: one-line errors without tracebacks, exit codes, types of arguments."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Number = TypeVar("Number", int, float)

NOT_CONVERGED, MISTAKE, UNEXPECTED, INTERRUPTED = 1, 2, 3, 130

_NO_ROOM = (errno.ENOSPC, errno.EFBIG)


def guarded(program: str, work: Callable[[], int], rephrase: Callable[[str], str] = str) -> int:
    """Run a program and return its exit code; report a user's mistake in one line.

    Warnings and errors are shown as `rephrase` returns them, each warning once.
    """
    shown = set[str]()

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = rephrase(str(message))
        if text not in shown:  # as of an estimate, and of its test
            print(f"{program}: warning: {text}", file=sys.stderr)
        shown.add(text)

    _open_closed_streams()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # Warnings of dependencies, which a user of the command line cannot resolve.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            warnings.showwarning = show
            code = work()
            sys.stdout.flush()  # so that a closed pipe is noticed here
            return code
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe. Python would raise again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError, ModuleNotFoundError, MemoryError) as error:
        print(f"{program}: error: {rephrase(_explain(error))}", file=sys.stderr)
        return MISTAKE
    except Exception as error:
        if "KERNELRANK_TRACEBACK" in os.environ:
            raise
        print(
            f"{program}: unexpected {type(error).__name__}: {error} (KERNELRANK_TRACEBACK=1 shows where)",
            file=sys.stderr,
        )
        return UNEXPECTED


def _open_closed_streams() -> None:
    """Replace missing standard streams by the null device."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - stays open until exit
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.errno in _NO_ROOM:  # errors of other files have a file name
        return f"<stdout>: {error.strerror}"
    return str(error) or type(error).__name__


def positive_number(text: str) -> int:
    """Parse an integer of at least 1, as the type of an argument."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number


def one_number(read: Callable[[str], Number]) -> Callable[[str], Number]:
    """Return the type of an argument that takes one number where `cv` takes several."""

    def read_one(text: str) -> Number:
        try:
            return read(text)
        except ValueError:
            what = "an integer" if read is int else "a number"
            raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}; only cv takes several") from None

    return read_one


def numbers(read: Callable[[str], Number]) -> Callable[[str], list[Number]]:
    """Return the type of an argument that takes one or several comma-separated numbers."""

    def read_all(text: str) -> list[Number]:
        try:
            return [read(each) for each in text.split(",")]
        except ValueError:
            what = "integers" if read is int else "numbers"
            raise argparse.ArgumentTypeError(f"must be one or several {what}, as in 1,10,100, got {text!r}") from None

    return read_all
