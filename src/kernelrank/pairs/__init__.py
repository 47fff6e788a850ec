"""Which pairs of rows count, and how many of them a score vector gets wrong."""

from kernelrank.pairs._utilities import UtilityPairs, Violations, count_violations

__all__ = ["UtilityPairs", "Violations", "count_violations"]
