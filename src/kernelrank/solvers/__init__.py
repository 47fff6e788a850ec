"""Solvers: of a risk, which they see through an oracle, with a certificate; and of least squares, in closed form."""

from kernelrank.solvers._bundle import Bundle
from kernelrank.solvers._conjugate_gradient import ConjugateGradients
from kernelrank.solvers._greedy import GreedySelection, panel_width
from kernelrank.solvers._held_out_basis import Basis
from kernelrank.solvers._hold_out_classes import WithoutTies
from kernelrank.solvers._kernel_products import make_kernel_products
from kernelrank.solvers._least_squares import LeastSquares
from kernelrank.solvers._moments import Moments, MomentsOfRows
from kernelrank.solvers._newton import Newton
from kernelrank.solvers._oracle import LinearOracle, Oracle, SmoothLinearOracle, SmoothOracle
from kernelrank.solvers._path import largest_alpha
from kernelrank.solvers._products import Products, make_products, restrict
from kernelrank.solvers._result import Result
from kernelrank.solvers._row_space import RowSpace
from kernelrank.solvers._ties import Predicted, merge_ties

__all__ = [
    "Basis",
    "Bundle",
    "ConjugateGradients",
    "GreedySelection",
    "LeastSquares",
    "LinearOracle",
    "Moments",
    "MomentsOfRows",
    "Newton",
    "Oracle",
    "Predicted",
    "Products",
    "Result",
    "RowSpace",
    "SmoothLinearOracle",
    "SmoothOracle",
    "WithoutTies",
    "largest_alpha",
    "make_kernel_products",
    "make_products",
    "merge_ties",
    "panel_width",
    "restrict",
]
