"""Kernels: similarities of rows that are inner products in some space of features.

A kernel is called with rows and gives a matrix: ``kernel(X, Y)[i, j] = k(X[i], Y[j])``. Kernels can be
added, multiplied with each other and with positive numbers, and the result is a kernel:
``Gaussian(gamma=0.1) + 0.5 * Linear() * Linear()``. Their parameters can be searched: ``kernel__gamma``.
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
