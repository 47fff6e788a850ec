"""Solvers: each sees an oracle of the risk, never y, and returns a Result with its certificate."""

from kernelrank.solvers._bundle import Bundle
from kernelrank.solvers._newton import Newton
from kernelrank.solvers._oracle import LinearOracle, Oracle, SmoothLinearOracle, SmoothOracle
from kernelrank.solvers._path import largest_alpha
from kernelrank.solvers._products import Products, make_products, multiply
from kernelrank.solvers._result import Result

__all__ = [
    "Bundle",
    "LinearOracle",
    "Newton",
    "Oracle",
    "Products",
    "Result",
    "SmoothLinearOracle",
    "SmoothOracle",
    "largest_alpha",
    "make_products",
    "multiply",
]
