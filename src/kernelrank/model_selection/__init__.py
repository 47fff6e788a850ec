"""How well a model will do on new rows, and whether that can be chance."""

from kernelrank.model_selection._permutations import permuted_outputs
from kernelrank.model_selection._splitters import LeavePairOut, LeaveQueryOut

__all__ = ["LeavePairOut", "LeaveQueryOut", "permuted_outputs"]
