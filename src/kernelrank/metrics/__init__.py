"""How well a ranking agrees with the truth; true values first, no models."""

from kernelrank.metrics._concordance import concordance_index, pairwise_error

__all__ = ["concordance_index", "pairwise_error"]
