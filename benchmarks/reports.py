"""Reports of the benchmarks: each benchmark is a part in the sense of ``experiments/study.py``.

A full run writes ``benchmarks/results/<name>.md``; a quick run prints the report and writes nothing. ``--readings``
computes the readings of the committed report again. ``python -m benchmarks.page`` makes the page of the documentation
from the reports.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.harness import make_parser
from experiments.study import BUILD, perform

RESULTS = Path(__file__).with_name("results")


def parser_of(part: Any) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark."""
    parser = make_parser(part.__doc__)
    parser.add_argument("--readings", action="store_true", help="compute the reading of the report again, no more")
    parser.set_defaults(jobs=1)
    return parser


def main(part: Any, name: str = "", options: argparse.Namespace | None = None) -> None:
    """Run the benchmark of a module; its report has the name of the module, unless it is given.

    `options` are those of the command line, if the module has read them.
    """
    module = part.__spec__.name  # also where the module is run as a program
    path = RESULTS / f"{name or module.rpartition('.')[2]}.md"
    perform(part, path, BUILD / "benchmarks", f"python -m {module}", options or parser_of(part).parse_args())
