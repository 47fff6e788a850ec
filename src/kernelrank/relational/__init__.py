"""Relational data: rows that are pairs of things, such as a drug and a target."""

from kernelrank.features import KroneckerRows

__all__ = ["KroneckerRows"]
