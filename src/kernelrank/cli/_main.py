"""The program ``kernelrank``: its parser, and the call of a command."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from kernelrank.cli._guard import MISTAKE, guarded
from kernelrank.cli._parsers import COMMANDS
from kernelrank.cli._terms import in_terms_of_options

_ELSEWHERE = {"--select": "kernelrank cv --select METRIC chooses alpha by a metric"}  # options of other commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program ``kernelrank``.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 for success, 2 for a mistake in the arguments or the data, 3 for a bug.
    """
    args = _parser().parse_args(argv)

    def work() -> int:
        return int(_import_command(args.command)(args))

    return guarded(f"kernelrank {args.command}", work, in_terms_of_options)


def _import_command(name: str) -> Callable[[argparse.Namespace], int]:
    """Import the module of a command and what it needs, and return its function."""
    was_enabled = gc.isenabled()
    gc.disable()  # a seventh of the start-up is a search for garbage among objects that stay
    try:
        command: Callable[[argparse.Namespace], int] = getattr(import_module(f"kernelrank.cli._{name}"), name)
    finally:
        if was_enabled:
            gc.enable()
    return command


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="kernelrank",
        description="Learn to rank from the command line: RankSVM with a certificate, RankRLS in closed form.",
        epilog="exit codes: 0 success, 1 not converged (with --strict), 2 invalid arguments or data, 3 internal error",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name: str, text: str, example: str, *notes: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=text,
            description="\n\n".join([f"{text[0].upper()}{text[1:]}.", *notes]),
            epilog=example,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    for command in COMMANDS:
        command(add)
    return parser


class _Parser(argparse.ArgumentParser):
    """Parser that reports a mistake in one line, instead of the usage of all options."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments; unknown ones of a command are a mistake here, where its name and options are known."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            names = [each.partition("=")[0] for each in unknown]
            hints = [f"; {hint}" for option, hint in _ELSEWHERE.items() if option in names]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{''.join(hints)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(MISTAKE, f"{self.prog}: error: {message} ({self.prog} --help shows the options)\n")


class _Version(argparse.Action):
    """Option that shows the version; imports the package only when used."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import kernelrank

        print(f"kernelrank {kernelrank.__version__}")
        parser.exit()
