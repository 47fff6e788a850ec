"""Solvers for risks, with a certificate; the package ``least_squares`` has closed forms."""

from kernelrank.solvers._binned_oracle import BinnedOracle, ScoresTooFarApartError
from kernelrank.solvers._blocks import Block, BlockRows, Blocks, make_block_products
from kernelrank.solvers._bundle import Bundle
from kernelrank.solvers._columns import Columns, RowSource, find_common_columns
from kernelrank.solvers._conjugate_gradient import Approximation, ConjugateGradients
from kernelrank.solvers._greedy import GreedySelection, panel_width
from kernelrank.solvers._kernel_products import make_kernel_products
from kernelrank.solvers._kronecker_products import make_kronecker_products
from kernelrank.solvers._max_margin import LabelSearch
from kernelrank.solvers._newton import Newton
from kernelrank.solvers._oracle import LinearOracle, Oracle, SmoothLinearOracle, SmoothOracle
from kernelrank.solvers._part import Part, Request
from kernelrank.solvers._parted import (
    Engine,
    PartedOracle,
    PartsLost,
    RowVector,
    SmoothPartedOracle,
    ask_again,
    make_gathered_products,
)
from kernelrank.solvers._path import largest_alpha
from kernelrank.solvers._positive_rows import PositiveRows, WideProducts
from kernelrank.solvers._products import Products, make_products, restrict
from kernelrank.solvers._result import Plane, Result

__all__ = [
    "Approximation",
    "BinnedOracle",
    "Block",
    "BlockRows",
    "Blocks",
    "Bundle",
    "Columns",
    "ConjugateGradients",
    "Engine",
    "GreedySelection",
    "LabelSearch",
    "LinearOracle",
    "Newton",
    "Oracle",
    "Part",
    "PartedOracle",
    "PartsLost",
    "Plane",
    "PositiveRows",
    "Products",
    "Request",
    "Result",
    "RowSource",
    "RowVector",
    "ScoresTooFarApartError",
    "SmoothLinearOracle",
    "SmoothOracle",
    "SmoothPartedOracle",
    "WideProducts",
    "ask_again",
    "find_common_columns",
    "largest_alpha",
    "make_block_products",
    "make_gathered_products",
    "make_kernel_products",
    "make_kronecker_products",
    "make_products",
    "panel_width",
    "restrict",
]
