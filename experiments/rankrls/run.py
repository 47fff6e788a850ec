"""All tables of Pahikkala et al. (2009) whose data are available.

    KERNELRANK_DATA=... python -m experiments.rankrls.run [part ...]
    python -m experiments.rankrls.run --quick

The parts are timing (table 1), leave_pair_out (section 3.4), conjugate_gradients (section 4.3), ohsumed (the OHSUMED
column of table 3), jester (table 6) and reuters (tables 4 and 5). Each writes ``results/<part>.md``; all of them take
about an hour of processor time.
"""

from __future__ import annotations

from experiments.rankrls import conjugate_gradients, jester, leave_pair_out, ohsumed, reuters, timing
from experiments.study import main

PARTS = {
    "timing": timing,
    "leave_pair_out": leave_pair_out,
    "conjugate_gradients": conjugate_gradients,
    "ohsumed": ohsumed,
    "jester": jester,
    "reuters": reuters,
}

if __name__ == "__main__":
    main("rankrls", __doc__, PARTS)
