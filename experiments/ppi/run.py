"""Extraction of protein-protein interactions with the all-paths graph kernel: the tables of Airola et al. (2008).

    KERNELRANK_DATA=... python -m experiments.ppi.run [part ...]
    python -m experiments.ppi.run --quick

Parts: single_corpus (table 1), pitfall, pipeline, cross_corpus (tables 2 to 5), learning_curves (figure 3) and
held_out_basis. Each writes ``results/<part>.md``; the measures that take longest are kept in ``build/ppi``.
"""

from __future__ import annotations

from experiments.ppi import cross_corpus, held_out_basis, learning_curves, pipeline, pitfall, single_corpus
from experiments.study import main

PARTS = {
    "single_corpus": single_corpus,
    "pitfall": pitfall,
    "pipeline": pipeline,
    "cross_corpus": cross_corpus,
    "learning_curves": learning_curves,
    "held_out_basis": held_out_basis,
}

if __name__ == "__main__":
    main("ppi", __doc__, PARTS)
