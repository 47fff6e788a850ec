"""Pairwise losses: value and derivatives with respect to the SCORES; no loss ever sees X."""

from kernelrank.losses._pairwise import Loss, PairwiseHinge, PairwiseSquaredHinge, Risk, SmoothLoss

__all__ = ["Loss", "PairwiseHinge", "PairwiseSquaredHinge", "Risk", "SmoothLoss"]
