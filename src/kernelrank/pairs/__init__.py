"""Which pairs of rows count, and how many of them a score vector gets wrong."""

from kernelrank.pairs._preferences import PreferencePairs
from kernelrank.pairs._utilities import UtilityPairs, Violations, count_violations
from kernelrank.pairs._violated import Pairs, ViolatedPairs

__all__ = ["Pairs", "PreferencePairs", "UtilityPairs", "ViolatedPairs", "Violations", "count_violations"]
