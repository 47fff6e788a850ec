"""Pairs of rows to compare, and counts of the pairs that a score vector orders incorrectly."""

from kernelrank.pairs._clicks import WeighedClicks, weigh_clicks
from kernelrank.pairs._graph import DenseLaplacian, GraphLaplacian, members
from kernelrank.pairs._laplacian import (
    Laplacian,
    OrthonormalLaplacian,
    PairLaplacian,
    all_pairs,
    pairs_without_ties,
    scale_both,
)
from kernelrank.pairs._preferences import PreferencePairs
from kernelrank.pairs._sampling import sample_pairs
from kernelrank.pairs._utilities import UtilityPairs, Violations, count_violations
from kernelrank.pairs._violated import Pairs, ViolatedPairs

__all__ = [
    "DenseLaplacian",
    "GraphLaplacian",
    "Laplacian",
    "OrthonormalLaplacian",
    "PairLaplacian",
    "Pairs",
    "PreferencePairs",
    "UtilityPairs",
    "ViolatedPairs",
    "Violations",
    "WeighedClicks",
    "all_pairs",
    "count_violations",
    "members",
    "pairs_without_ties",
    "sample_pairs",
    "scale_both",
    "weigh_clicks",
]
