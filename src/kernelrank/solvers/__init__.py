"""Solvers: each sees an oracle of the risk, never y, and returns a Result with its certificate."""

from kernelrank.solvers._bundle import minimize_bundle
from kernelrank.solvers._oracle import LinearOracle, Oracle
from kernelrank.solvers._products import Products, make_products, multiply
from kernelrank.solvers._result import Result

__all__ = ["LinearOracle", "Oracle", "Products", "Result", "make_products", "minimize_bundle", "multiply"]
