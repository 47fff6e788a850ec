"""How well a model will do on new rows, and whether that can be chance."""

from kernelrank.model_selection._permutations import permuted_outputs

__all__ = ["permuted_outputs"]
