"""The linearithmic claim: the figures of Airola et al. (2011, "A11"; report of 2010, "A10") again, and further.

    [KERNELRANK_DATA=...] python -m experiments.linearithmic_ranksvm.run [part ...] [--quick] [--report]

Parts: evaluation (figure 1), training (figures 2 to 4), copies (is a second copy of X worth it?), iterations (theorem
3), costs (where an iteration's time goes, float32, covtype), large (ten million rows), documents (real text). Each
writes ``results/<part>.md`` and its figures. What was measured is kept in ``build/linearithmic``; ``--report`` writes
the text again without measuring. ``--quick`` runs every line at sizes that say nothing, in less than a minute, and
prints.
"""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from threadpoolctl import threadpool_limits

from benchmarks._timing import machine, show_progress
from experiments.linearithmic_ranksvm import copies, costs, documents, evaluation, iterations, large, training
from experiments.linearithmic_ranksvm._shared import Study, as_list

PARTS = {
    "evaluation": evaluation,
    "training": training,
    "copies": copies,
    "iterations": iterations,
    "costs": costs,
    "large": large,
    "documents": documents,
}
BUILD = Path(__file__).parents[2] / "build" / "linearithmic"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one of {', '.join(PARTS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs; writes nothing")
    parser.add_argument("--report", action="store_true", help="write the text again, of what was measured last")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(limits=1))
        build, results = BUILD, Path(__file__).with_name("results")
        if options.quick:
            build = results = Path(stack.enter_context(TemporaryDirectory()))
        build.mkdir(parents=True, exist_ok=True)
        results.mkdir(exist_ok=True)
        for name in options.parts or PARTS:
            if not options.report:
                measure(name, Study(options.quick, build / "data"), build)
            print(write(name, build, results))


def measure(name: str, study: Study, build: Path) -> None:
    """Measure one part, and keep what was found."""
    before, start = machine(), perf_counter()
    found = PARTS[name].measure(study)
    show_progress("")
    found |= {"machine": before, "seconds": perf_counter() - start}
    (build / f"{name}.json").write_text(json.dumps(found, indent=1))


def write(name: str, build: Path, results: Path) -> str:
    """Write one part's text and figures; return the text."""
    found = json.loads((build / f"{name}.json").read_text())
    title, *parts = PARTS[name].report(found, results)
    about = [
        f"Written by `python -m experiments.linearithmic_ranksvm.run {name}`, {found['seconds'] / 60:.1f} minutes.",
        *found["machine"].splitlines(),
    ]
    how = (PARTS[name].__doc__ or "").split("\n\n", 1)[1].strip()
    text = "\n\n".join([title, as_list(about), how, *filter(None, parts)]) + "\n"
    (results / f"{name}.md").write_text(text)
    return text


if __name__ == "__main__":
    main()
