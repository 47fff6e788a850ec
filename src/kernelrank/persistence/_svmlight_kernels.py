"""Conversion between SVM^light's kernel types and parameter letters and kernels of this package."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kernelrank.kernels import Gaussian, Kernel, Linear, Polynomial

NAMES = {0: "linear", 1: "polynomial", 2: "radial basis function", 3: "sigmoid", 4: "user-defined"}
DEFAULTS: dict[str, int | float] = {"d": 3, "g": 1, "s": 1, "r": 1}

# Supported types, and their parameters by SVM^light's letters: (s a*b + r)^d and exp(-g ||a - b||^2). The sigmoid is
# not supported, because its matrices can have negative eigenvalues.
_KERNELS: dict[int, tuple[type[Kernel], dict[str, str]]] = {
    0: (Linear, {}),
    1: (Polynomial, {"d": "degree", "s": "gamma", "r": "coef0"}),
    2: (Gaussian, {"g": "gamma"}),
}


def parameter_letters(number: int) -> str:
    """Return the letters of the parameters of a kernel type."""
    return "".join(_KERNELS[number][1])


def is_known(number: int) -> bool:
    """Return whether a kernel type is supported."""
    return number in _KERNELS


def make_svmlight_kernel(number: int, parameters: Mapping[str, int | float]) -> Kernel:
    """Return the kernel of a type; parameters that it does not have are ignored, as in SVM^light.

    Raises
    ------
    ValueError
        If a value is invalid; the message begins with the letter.
    """
    kind, letters = _KERNELS[number]
    for letter, name in letters.items():
        try:
            kind(**{name: parameters[letter]})(np.zeros((1, 1)))  # a kernel checks its parameters when it is called
        except ValueError as reason:
            raise ValueError(f"-{letter}: {reason}") from None
    return kind(**{name: parameters[letter] for letter, name in letters.items()})


def svmlight_parameters(kernel: object) -> dict[str, int | float] | None:
    """Return the type of a kernel, as "t", and all parameters by letter; None if SVM^light does not have it."""
    for number, (kind, letters) in _KERNELS.items():
        if type(kernel) is kind:
            return {"t": number, **DEFAULTS, **{letter: getattr(kernel, name) for letter, name in letters.items()}}
    return None
