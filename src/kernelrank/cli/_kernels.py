"""Kernels from the options of the command line."""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelrank.kernels import Kernel, Linear, make_kernel

_NOT_LINEAR = ("gaussian", "polynomial")
_PARAMETERS = ("gamma", "degree", "coef0")


def chosen_kernel(args: argparse.Namespace) -> str | Kernel | list[Kernel] | None:
    """Return the kernel given by the options, or the kernels to choose from; None for the estimator's default.

    Raises
    ------
    ValueError
        If the kernel does not have a given parameter, or a value is invalid.
    """
    name: str | None = args.kernel
    kernel = make_kernel(name or "linear")
    given = {each: getattr(args, each) for each in _PARAMETERS if getattr(args, each) is not None}
    for other in sorted(given.keys() - kernel.get_params().keys()):
        having = (each for each in _NOT_LINEAR if other in make_kernel(each).get_params())
        raise ValueError(f"--{other} is for --kernel {' or '.join(having)}.")
    if not given:
        return name
    values = (value if isinstance(value, list) else [value] for value in given.values())
    kernels = [clone(kernel).set_params(**dict(zip(given, each, strict=True))) for each in product(*values)]
    for each in kernels:
        each(np.zeros((1, 1)))  # checks the parameters, before any work is done
    return kernels if len(kernels) > 1 else kernels[0]


def describe_kernel(model: Any) -> dict[str, Any]:
    """Describe the kernel of a fitted model: its name, its fitted parameters and the number of basis rows."""
    kernel: Any = getattr(model, "kernel_", Linear())
    n_basis = len(model.dual_coef_) if hasattr(model, "dual_coef_") else getattr(model, "n_basis", None)
    return {"kernel": type(kernel).__name__.lower(), **kernel.get_params(), "n_basis": n_basis}


def compare_kernels(model: Any) -> list[dict[str, Any]] | None:
    """Return the parameters and the best mean score of each kernel that a fitted model chose from."""
    if not hasattr(model, "kernel_scores_"):
        return None
    scores = model.kernel_scores_.tolist()
    return [{**kernel.get_params(), "mean": score} for kernel, score in zip(model.kernel, scores, strict=True)]
