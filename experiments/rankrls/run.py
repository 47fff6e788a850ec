"""All tables of Pahikkala et al. (2009) that can be had, one after the other.

    KERNELRANK_DATA=... python experiments/rankrls/run.py

About half an hour; each script also runs alone. They write to ``results``.
"""

from __future__ import annotations

import conjugate_gradients
import jester
import ohsumed
import reuters
import timing
from threadpoolctl import threadpool_limits

if __name__ == "__main__":
    with threadpool_limits(limits=1):
        for study in (timing, conjugate_gradients, ohsumed, jester, reuters):
            study.main()
