"""What every program does around its work: clear errors, no tracebacks, exit codes."""

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


def guarded(program: str, work: Callable[[], int]) -> int:
    """Run a program's work and return its exit code; say what a user did wrong in one line."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        print(f"{program}: warning: {message}", file=sys.stderr)

    _open_closed_streams()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # Of the libraries below us; nothing a user of the command line can change.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            warnings.showwarning = show
            code = work()
            sys.stdout.flush()  # or a closed pipe would be noticed only after the end
            return code
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError, ModuleNotFoundError, MemoryError) as error:
        print(f"{program}: error: {_explain(error)}", file=sys.stderr)
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
    """Give a program that was started without standard streams some to write to."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it stays open until the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.errno in _NO_ROOM:  # errors about other files name them
        return f"<stdout>: {error.strerror}"
    return str(error) or type(error).__name__


def positive_number(text: str) -> int:
    """Read a whole number that is 1 at least, as a type of an argument."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 at least, got {text}")
    return number


def numbers(read: Callable[[str], Number]) -> Callable[[str], list[Number]]:
    """Return a type of an argument: one number or several, with commas between."""

    def read_all(text: str) -> list[Number]:
        try:
            return [read(each) for each in text.split(",")]
        except ValueError:
            what = "whole numbers" if read is int else "numbers"
            raise argparse.ArgumentTypeError(f"must be one or several {what}, as in 1,10,100, got {text!r}") from None

    return read_all
