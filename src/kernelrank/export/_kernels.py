"""Kernels of rows and basis rows as nodes of an ONNX graph."""

from __future__ import annotations

import numpy as np

from kernelrank.exceptions import InvalidParameterError
from kernelrank.export._form import Matrix
from kernelrank.export._graph import Graph
from kernelrank.kernels import Gaussian, Kernel, Linear, NamedKernel, Polynomial
from kernelrank.kernels._base import Product, Scaled, Sum


def add_kernel(kernel: Kernel, rows: str, basis: Matrix, graph: Graph) -> str:
    """Add the kernel matrix of rows and a basis; return the name of the matrix of shape (n_rows, n_basis)."""
    match kernel:
        case Linear():
            return graph.add("MatMul", rows, graph.constant(basis.T))
        case Polynomial():
            return _polynomial(kernel, rows, basis, graph)
        case Gaussian():
            return _gaussian(float(kernel.gamma), rows, basis, graph)
        case NamedKernel(name="rbf"):
            return _gaussian(1.0 / basis.shape[1], rows, basis, graph)
        case NamedKernel(name="poly"):
            return _polynomial(Polynomial(3, gamma=1.0 / basis.shape[1]), rows, basis, graph)
        case Scaled():
            return graph.add("Mul", add_kernel(kernel.kernel, rows, basis, graph), graph.constant(kernel.factor))
        case Sum() | Product():
            parts = [add_kernel(each, rows, basis, graph) for each in (kernel.left, kernel.right)]
            return graph.add("Add" if isinstance(kernel, Sum) else "Mul", *parts)
    raise InvalidParameterError(
        f"The kernel {kernel!r} cannot be exported to ONNX. Kernels that can are Linear, Polynomial, Gaussian, 'rbf',"
        " 'poly', and their sums, products and multiples."
    )


def _polynomial(kernel: Polynomial, rows: str, basis: Matrix, graph: Graph) -> str:
    products = graph.add("MatMul", rows, graph.constant(kernel.gamma * basis.T))
    shifted = graph.add("Add", products, graph.constant(kernel.coef0))
    return graph.add("Pow", shifted, graph.constant(int(kernel.degree)))


def _gaussian(gamma: float, rows: str, basis: Matrix, graph: Graph) -> str:
    """Add ``exp(-gamma ||x - b||^2)`` from inner products of centred rows, as `Gaussian` does."""
    centre = basis.mean(axis=0)
    others = basis - centre
    centred = graph.add("Sub", rows, graph.constant(centre))
    products = graph.add("MatMul", centred, graph.constant(2.0 * gamma * others.T))
    norms = graph.add("Mul", graph.add("ReduceSumSquare", centred, axes=[1], keepdims=1), graph.constant(gamma))
    both = graph.add("Add", norms, graph.constant(gamma * np.vecdot(others, others)))
    exponents = graph.add("Min", graph.add("Sub", products, both), graph.constant(0.0))
    return graph.add("Exp", exponents)
