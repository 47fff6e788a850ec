"""Blocks of rows, such that intermediate arrays stay small."""

from __future__ import annotations

from collections.abc import Iterator

from kernelrank._arrays import slices

ELEMENTS = 1 << 22  # of an intermediate array: 32 MiB


def blocks(n: int, width: int) -> Iterator[slice]:
    """Split n rows of some width into blocks."""
    return slices(n, ELEMENTS // max(1, width))
