"""Kernels: similarities of rows that are inner products in a feature space.

A kernel is called with rows and returns a matrix: ``kernel(X, Y)[i, j] = k(X[i], Y[j])``. Kernels can be added,
multiplied with each other and multiplied with positive numbers; the result is again a kernel:
``Gaussian(gamma=0.1) + 0.5 * Linear() * Linear()``. Their parameters can be searched as ``kernel__gamma``.
"""

from kernelrank.kernels._all_paths import AllPaths
from kernelrank.kernels._base import Kernel, Product, Scaled, Sum
from kernelrank.kernels._choice import FunctionKernel, NamedKernel, Precomputed, make_kernel
from kernelrank.kernels._graphs import Graph
from kernelrank.kernels._vectors import Gaussian, Linear, Polynomial

__all__ = [
    "AllPaths",
    "FunctionKernel",
    "Gaussian",
    "Graph",
    "Kernel",
    "Linear",
    "NamedKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "make_kernel",
]
