"""Losses: value and derivatives with respect to the scores; losses are independent of X."""

from kernelrank.losses._binned import BinnedHinge, Histogram, Outside, Pooled
from kernelrank.losses._censored import CensoredSquares
from kernelrank.losses._ordinal import OrdinalHinge
from kernelrank.losses._pairwise import (
    Loss,
    PairwiseHinge,
    PairwiseSquaredHinge,
    Risk,
    SmoothLoss,
    no_pairs,
    normaliser,
)
from kernelrank.losses._squares import PairwiseSquares, mean_squares, squares_of_edges, squares_of_utilities

__all__ = [
    "BinnedHinge",
    "CensoredSquares",
    "Histogram",
    "Loss",
    "OrdinalHinge",
    "Outside",
    "PairwiseHinge",
    "PairwiseSquaredHinge",
    "PairwiseSquares",
    "Pooled",
    "Risk",
    "SmoothLoss",
    "mean_squares",
    "no_pairs",
    "normaliser",
    "squares_of_edges",
    "squares_of_utilities",
]
