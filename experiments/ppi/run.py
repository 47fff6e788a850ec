"""Extraction of protein-protein interactions with the all-paths graph kernel: the tables of Airola et al. (2008).

    KERNELRANK_DATA=... python -m experiments.ppi.run [part ...]
    python -m experiments.ppi.run --quick

Parts: single_corpus (tables 1 and 6), pitfall, pipeline (table 1 with a basis), cross_corpus (tables 2 to 5),
learning_curves (figure 3), held_out_basis and variants. Each writes ``results/<part>.md``; what was measured is kept in
``build/ppi``. ``--jobs`` is the number of processes.
"""

from __future__ import annotations

from experiments.ppi import cross_corpus, held_out_basis, learning_curves, pipeline, pitfall, single_corpus, variants
from experiments.study import main

PARTS = {
    "single_corpus": single_corpus,
    "pitfall": pitfall,
    "pipeline": pipeline,
    "cross_corpus": cross_corpus,
    "learning_curves": learning_curves,
    "held_out_basis": held_out_basis,
    "variants": variants,
}

if __name__ == "__main__":
    main("ppi", __doc__, PARTS)
