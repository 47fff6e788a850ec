"""Rows of X that are not a matrix in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray


class UnformedRows(ABC):
    """Base class for an X that is not a matrix in memory.

    It knows its shape and its product with weights. Estimators that can be fitted to it say so; to all others it gives
    an error, because it cannot be converted to an array.
    """

    takers: ClassVar[str]  # estimators that can be fitted to it, and what to do for others
    alternatives: ClassVar[str]  # for kernels other than the linear one, and closed forms
    feature_names: list[str] | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and features."""

    @abstractmethod
    def __matmul__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the products of the rows with a vector, or with each column of a matrix."""

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        refuse(self)


def refuse(X: UnformedRows) -> NoReturn:
    """Raise the error of what cannot be fitted to X."""
    raise TypeError(f"A {type(X).__name__} is not an array: {X.takers}")
