"""Training in linearithmic time: the figures of Airola et al. (2011, "A11"; report of 2010, "A10"), and more.

    [KERNELRANK_DATA=...] python -m experiments.linearithmic_ranksvm.run [part ...] [--quick]

Parts: evaluation (figure 1), training (figures 2 to 4), copies (is a second copy of X worth it?), iterations (theorem
3), costs (the time of an iteration, float32, covtype), large (ten million rows), documents (real text). Each writes
``results/<part>.md`` and its figures.
"""

from __future__ import annotations

from experiments.linearithmic_ranksvm import copies, costs, documents, evaluation, iterations, large, training
from experiments.study import main

PARTS = {
    "evaluation": evaluation,
    "training": training,
    "copies": copies,
    "iterations": iterations,
    "costs": costs,
    "large": large,
    "documents": documents,
}

if __name__ == "__main__":
    main("linearithmic_ranksvm", __doc__, PARTS)
