"""Pairwise losses: value and subgradient with respect to the SCORES; no loss ever sees X."""

from kernelrank.losses._hinge import PairwiseHinge, Risk

__all__ = ["PairwiseHinge", "Risk"]
