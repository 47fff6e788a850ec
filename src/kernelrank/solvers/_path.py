"""The largest alpha of a regularisation path."""

from __future__ import annotations

from kernelrank.solvers._oracle import Oracle, finite, quiet

_MOST_DOUBLINGS = 60


def largest_alpha(oracle: Oracle) -> float:
    """Return an alpha from which on, upwards, the direction of the solution of a hinge loss stays the same.

    While every pair is violated the risk is linear, with slope a at zero, and the solution is
    ``w = -a / (2 alpha)``. It stops being so where the first pair is 1 apart: half the
    greatest ``(x_hi - x_lo) . (-a)``. Returned is that, or up to twice as much. Costs two products with X.

    Parameters
    ----------
    oracle : Oracle
        A hinge loss of linear scores.

    Returns
    -------
    float
        The alpha.
    """
    with quiet():
        flat = oracle.risk(oracle.zeros())
        scores = oracle.scores(-oracle.subgradient(flat.g))
        spread = finite(oracle.spread(scores))
        if spread == 0:  # nothing to learn: any alpha will do
            return 1.0
        step = 1.0 / spread
        for _ in range(_MOST_DOUBLINGS):
            # The offset of the plane is the share of pairs violated; with weights it is rounded.
            if oracle.risk(2 * step * scores).offset < (1 - 1e-12) * flat.offset:
                break
            step *= 2
    return 0.5 / step
