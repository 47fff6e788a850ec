"""All tables of Pahikkala et al. (2009) that can be had, one after the other.

    KERNELRANK_DATA=... python -m experiments.rankrls.run

About half an hour; each script also runs alone. They write to ``results``.
"""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from experiments.rankrls import conjugate_gradients, jester, ohsumed, reuters, timing

if __name__ == "__main__":
    with threadpool_limits(limits=1):
        for study in (timing, conjugate_gradients, ohsumed, jester, reuters):
            study.main()
