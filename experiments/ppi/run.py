"""Extraction of protein-protein interactions with the all-paths graph kernel: the tables of Airola et al. (2008).

    KERNELRANK_DATA=... python -m experiments.ppi.run [parts] [--splits 10]
    python -m experiments.ppi.run --quick

Parts are single_corpus, cross_corpus, learning_curves, pitfall, held_out_basis and pipeline; all by default. They write
to ``results``, and keep what takes longest in ``build/ppi``. ``--quick`` takes small corpora that are made here, prints
the tables, and writes nothing.
"""

from __future__ import annotations

import argparse
import warnings

from experiments.ppi import cross_corpus, held_out_basis, learning_curves, pipeline, pitfall, single_corpus
from experiments.ppi._corpora import load_corpora
from experiments.ppi._shared import Run
from experiments.ppi._toy import make_corpora
from kernelrank.exceptions import PathEndWarning

PARTS = {
    "single_corpus": single_corpus,
    "pitfall": pitfall,
    "pipeline": pipeline,
    "cross_corpus": cross_corpus,
    "learning_curves": learning_curves,
    "held_out_basis": held_out_basis,
}


def main() -> None:
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--splits", type=int, default=10, help="of the documents into ten folds")
    parser.add_argument("--quick", action="store_true", help="a smoke run: prints, writes nothing")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {unknown[0]}; parts are {', '.join(PARTS)}")
    if arguments.quick:
        print("Small corpora that are made here: beside the paper's, their figures mean nothing.\n")
        task = Run(make_corpora(), n_splits=2, write=False)
    else:
        task = Run(load_corpora(), n_splits=arguments.splits, write=True)
    for name in arguments.parts or PARTS:
        PARTS[name].run(task)


if __name__ == "__main__":
    main()
