"""Drugs and targets: published results beside ours, and the four questions about a new pair.

    KERNELRANK_DATA=... python -m experiments.relational.run [part ...]
    python -m experiments.relational.run --quick

The parts are davis (the published test fold, and kernels), settings (known and new drugs and targets, by four models)
and kiba (a hundred thousand known entries). Reads ``relational/*.npz`` from the folder that the environment variable
names. Each part writes ``results/<part>.md``.
"""

from __future__ import annotations

from experiments.relational import davis, kiba, settings
from experiments.study import main

PARTS = {"davis": davis, "settings": settings, "kiba": kiba}

if __name__ == "__main__":
    main("relational", __doc__, PARTS)
