"""The shape of a study: parts that measure and report, a quick run, and readings computed from the tables.

A part is a module with three functions:

``measure(run)``
    Computes the results. In a quick run (``run.quick``) it takes small data that need no file.
``report(found, run)``
    Returns the paragraphs of the report, the title first, and writes figures to ``run.results``.
``readings(tables)``
    Returns the paragraphs that interpret the tables, one for each paragraph ``READING`` of the report. Their numbers
    are computed from the tables of the report, so that they cannot differ from them.

A full run writes ``results/<part>.md``, or ``results.md`` if there is one part. A quick run prints and writes nothing.
``--readings`` computes the readings of the committed reports again, from their tables, without measuring.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from benchmarks.harness import MissingDataError, Table, machine, make_parser, read_tables, show_progress
from kernelrank.exceptions import PathEndWarning

READING = "**Reading.**"
QUICK = "**Quick run**: small data and few repetitions. The figures mean nothing, and there is no reading."
BUILD = Path(__file__).parents[1] / "build"
WIDTH = 120
_READING = re.compile(r"^\*\*Reading\.\*\*.*?(?=\n\n(?:#|\||!\[)|\Z)", re.MULTILINE | re.DOTALL)

Tables = Mapping[str, Sequence[Table]]
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """Options and folders of a run.

    Attributes
    ----------
    quick : bool
        Whether small data and few repetitions will do.
    jobs : int
        Number of processes or threads.
    build, results : Path
        Folders for what is kept from run to run, and for figures. In a quick run both are temporary.
    """

    quick: bool
    jobs: int
    build: Path
    results: Path


class Part(Protocol):
    """A module that measures, reports and interprets."""

    measure: Callable[[Run], Any]
    report: Callable[[Any, Run], list[str]]
    readings: Callable[[Tables], Iterable[str]]


def main(name: str, doc: str | None, parts: Mapping[str, Any]) -> None:
    """Run the parts of the study in the folder `name` that the command line asks for."""
    options = parse(doc, parts)
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    for part in options.parts or parts:
        command = f"python -m experiments.{name}.run{f' {part}' if len(parts) > 1 else ''}"
        perform(parts[part], results_file(name, parts, part), BUILD / name, command, options)


def perform(part: Part, path: Path, build: Path, command: str, options: argparse.Namespace) -> None:
    """Measure a part, print its report, and write it to `path` unless the run is quick."""
    if options.readings:
        path.write_text(with_readings(path.read_text(), part))
        return
    with folders(build, path, options) as run, threadpool_limits(limits=1):
        text = write(part, run, f"{command}{' --quick' * run.quick}")
        print(text, flush=True)
        if not run.quick:
            path.write_text(text)


def parse(doc: str | None, parts: Mapping[str, Any]) -> argparse.Namespace:
    parser = make_parser(doc)
    parser.add_argument("--readings", action="store_true", help="compute the readings of the reports again, no more")
    parser.add_argument("--jobs", type=int, default=2, help="processes or threads (default: %(default)s)")
    if len(parts) > 1:
        parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(parts)}; all by default")
    else:
        parser.set_defaults(parts=[])
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; the parts are {', '.join(parts)}")
    return options


def results_file(name: str, parts: Mapping[str, Any], part: str) -> Path:
    """Return where the report of a part is written."""
    folder = Path(__file__).with_name(name)
    return folder / "results.md" if len(parts) == 1 else folder / "results" / f"{part}.md"


@contextmanager
def folders(build: Path, path: Path, options: argparse.Namespace) -> Iterator[Run]:
    if options.quick:
        with TemporaryDirectory() as temporary:
            yield Run(True, options.jobs, Path(temporary), Path(temporary))
        return
    build.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    yield Run(False, options.jobs, build, path.parent)


def write(part: Part, run: Run, command: str) -> str:
    """Measure a part and return its report."""
    before, start = machine(), perf_counter()
    try:
        found = part.measure(run)
    except MissingDataError as reason:
        sys.exit(f"{command} {reason}. A run with --quick needs no data.")
    show_progress("")
    minutes = (perf_counter() - start) / 60
    title, *paragraphs = part.report(found, run)
    about = as_list([f"Written by `{command}`, {minutes:.1f} minutes.", *before.splitlines()])
    if run.quick:
        paragraphs = [QUICK, *(each for each in paragraphs if each != READING)]
    text = "\n\n".join(tidy(each) for each in [title, about, *paragraphs] if each) + "\n"
    return text if run.quick else with_readings(text, part)


def with_readings(text: str, part: Part) -> str:
    """Return a report with its readings computed from its tables."""
    try:
        readings = list(part.readings(read_tables(text)))
    except KeyError as missing:  # data that were left out
        readings = [f"Left out: it needs a table that is not here, {missing}."] * len(_READING.findall(text))
    if len(readings) != len(_READING.findall(text)):
        raise ValueError(f"There are {len(readings)} readings, but {len(_READING.findall(text))} places for them.")
    rest = iter(readings)
    return _READING.sub(lambda _: wrap(f"{READING} {next(rest).strip()}"), text.rstrip()) + "\n"


def tidy(paragraph: str) -> str:
    """Wrap a paragraph of prose; leave titles, tables, code, comments and figures as they are."""
    kept = ("#", "|", "![", "    ", "```", "<!--")
    return paragraph.rstrip() if paragraph.startswith(kept) else wrap(paragraph.strip())


def filled(text: str) -> str:
    """Wrap the paragraphs of a page."""
    return "\n\n".join(map(tidy, text.strip("\n").split("\n\n")))


def wrap(text: str) -> str:
    """Fill paragraphs, and the items of lists, to the width of a page."""
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n|\n(?=- )", text)]
    filled = [
        textwrap.fill(
            each, WIDTH, subsequent_indent="  " * each.startswith("- "), break_long_words=False, break_on_hyphens=False
        )
        for each in paragraphs
    ]
    joined = filled[0]
    for before, each in pairwise(filled):
        joined += ("\n" if before.startswith("- ") and each.startswith("- ") else "\n\n") + each
    return joined


def as_list(lines: Iterable[str]) -> str:
    """Return lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def verdict(*holds: bool) -> str:
    """Return whether all of the conditions hold; if not, how many do not."""
    if all(holds):
        return "**confirmed**"
    return f"**refuted** in {len(holds) - sum(holds)} of {len(holds)} settings" if len(holds) > 1 else "**refuted**"


def span(values: Iterable[float], form: str = ".2f") -> str:
    """Return the smallest and the largest value, such as ``0.76 to 0.99``; one of them if they look the same."""
    values = list(values)
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return low if low == high else f"{low} to {high}"


def in_processes(work: Callable[..., T], tasks: Sequence[Sequence[Any]], jobs: int) -> list[T]:
    """Call a function with the arguments of each task, in several processes with one BLAS thread each.

    Tasks begin in the order given, so the longest should come first. Results have the same order, and do not depend on
    the number of processes.
    """
    with ProcessPoolExecutor(jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        futures = [pool.submit(work, *task) for task in tasks]
        for done, _ in enumerate(as_completed(futures), 1):
            show_progress(f"{work.__name__}: {done} of {len(futures)}")
        return [future.result() for future in futures]


def alone(work: Callable[..., T], *arguments: object) -> T:
    """Call a function in a new process, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()
