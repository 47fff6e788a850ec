"""Kernels, as the command line names them."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from kernelrank.kernels import Kernel, Linear, make_kernel

_NOT_LINEAR = ("gaussian", "polynomial")
_PARAMETERS = ("gamma", "degree", "coef0")


def chosen_kernel(args: argparse.Namespace) -> str | Kernel | None:
    """Return the kernel that was asked for, None if that is up to the estimator.

    Raises
    ------
    ValueError
        If it has no such parameters, or none of these values.
    """
    name: str | None = args.kernel
    kernel = make_kernel(name or "linear")
    given = {each: getattr(args, each) for each in _PARAMETERS if getattr(args, each) is not None}
    for other in sorted(given.keys() - kernel.get_params().keys()):
        having = (each for each in _NOT_LINEAR if other in make_kernel(each).get_params())
        raise ValueError(f"--{other} is for --kernel {' or '.join(having)}.")
    if not given:
        return name
    kernel.set_params(**given)
    kernel(np.zeros((1, 1)))  # it looks at its parameters when it computes: now, before any work
    return kernel


def describe_kernel(model: Any) -> dict[str, Any]:
    """Name the kernel of a fitted model, with the parameters that it has come to, and the rows that it combines."""
    kernel: Any = getattr(model, "kernel_", Linear())
    n_basis = len(model.dual_coef_) if hasattr(model, "dual_coef_") else model.n_basis
    return {"kernel": type(kernel).__name__.lower(), **kernel.get_params(), "n_basis": n_basis}
