"""The rows of one part of the data, wherever they are: their products, their loss, and their vectors of scores.

Vectors with one element per row stay with the rows. A solver knows them by keys, and sends weights of features and
numbers only; see ``_parted.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import slices
from kernelrank._dense import dot
from kernelrank.losses import BinnedHinge, Histogram, Outside
from kernelrank.solvers._products import Products

Vector = NDArray[np.float64]
Terms = Sequence[tuple[int, float]]  # keys of vectors, and their factors in a sum
Request = tuple[Any, ...]  # name of a method of `Part`, and its arguments

_MOST_SPARE = 4  # vectors whose memory is kept for others: what is taken from the system is cleared first, page by page
_ADDED_AT_ONCE = 1 << 13  # elements, so that intermediate results stay in the cache


class Share(NamedTuple):
    """The share of a part in a risk, and the inner products of its g with vectors that were asked for."""

    value: float
    offset: float
    rounding: float
    products: list[float]


class Part:
    """Rows of a part, which answer requests.

    Parameters
    ----------
    products : Products
        With the rows.
    loss : Loss, SmoothLoss or BinnedHinge
        Of the rows.
    """

    def __init__(self, products: Products, loss: Any) -> None:
        self._products, self._loss = products, loss
        self._vectors: dict[int, Vector] = {}
        self._spare: list[Vector] = []

    def answer(self, requests: Sequence[Request]) -> list[Any]:
        """Return the answers to requests, one after the other.

        Parameters
        ----------
        requests : sequence of Request
            Requests.

        Returns
        -------
        list
            Answers.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # the solver looks for numbers that are not finite
            return [getattr(self, name)(*arguments) for name, *arguments in requests]

    def answer_last(self, requests: Sequence[Request]) -> Any:
        """Return the answer to the last of several requests.

        Parameters
        ----------
        requests : sequence of Request
            Requests.

        Returns
        -------
        object
            The answer.
        """
        return self.answer(requests)[-1]

    def forward(self, key: int, w: Vector, against: Sequence[int]) -> tuple[float, list[float]]:
        """Compute and keep X w.

        Parameters
        ----------
        key : int
            Key of the result.
        w : ndarray of shape (n_columns,)
            Weights of the features.
        against : sequence of int
            Keys of other vectors.

        Returns
        -------
        state : float
            0, or NaN if the result is not finite.
        products : list of float
            Inner products of the result with the other vectors.
        """
        self._vectors[key] = scores = self._products.forward(w, self._memory())
        return float(0.0 if np.isfinite(scores).all() else np.nan), [dot(self._vectors[o], scores) for o in against]

    def combine(self, key: int, terms: Terms) -> None:
        """Keep a sum of vectors.

        Parameters
        ----------
        key : int
            Key of the sum.
        terms : sequence of (int, float)
            Keys and factors of the vectors.
        """
        self._vectors[key] = self._add(terms, self._memory())

    def release(self, keys: Sequence[int]) -> None:
        """Forget vectors.

        Parameters
        ----------
        keys : sequence of int
            Keys of the vectors.
        """
        for key in keys:
            if key in self._vectors:
                self._give_back(self._vectors.pop(key))

    def forget(self) -> None:
        """Forget all vectors."""
        self._vectors.clear()

    def count(self, key: int, terms: Terms, against: Sequence[int]) -> Share:
        """Evaluate the loss at a sum of vectors, and keep its g.

        Parameters
        ----------
        key : int
            Key of g.
        terms : sequence of (int, float)
            Keys and factors of the vectors.
        against : sequence of int
            Keys of vectors to multiply g with.

        Returns
        -------
        Share
            The share of these rows in the risk.
        """
        g = self._memory()
        with self._sum(terms) as scores:
            return self._share(key, self._loss(scores, g), against)

    def histogram(self, terms: Terms, resolution: int, most: int) -> Histogram:
        """Count the scores in bins.

        Parameters
        ----------
        terms : sequence of (int, float)
            Keys and factors of the vectors.
        resolution : int
            Bins per unit.
        most : int
            Largest number of bins.

        Returns
        -------
        Histogram
            Scores of each group.
        """
        with self._sum(terms) as scores:
            return self._binned.histogram(scores, resolution, most)

    def count_binned(self, key: int, terms: Terms, outside: Outside, against: Sequence[int]) -> Share:
        """Evaluate the loss at a sum of vectors from bins, and keep its g.

        Parameters
        ----------
        key : int
            Key of g.
        terms : sequence of (int, float)
            Keys and factors of the vectors.
        outside : Outside
            Rows of the other parts by bin.
        against : sequence of int
            Keys of vectors to multiply g with.

        Returns
        -------
        Share
            The share of these rows in the risk.
        """
        with self._sum(terms) as scores:
            return self._share(key, self._binned(scores, outside), against)

    def curve(self, key: int, terms: Terms) -> None:
        """Multiply a sum of vectors by the second derivative of the loss where it was evaluated last, and keep it.

        Parameters
        ----------
        key : int
            Key of the result.
        terms : sequence of (int, float)
            Keys and factors of the vectors.
        """
        with self._sum(terms) as direction:
            self._vectors[key] = self._loss.curvature(direction)

    def backward(self, terms: Terms) -> Vector:
        """Compute X' times a sum of vectors.

        Parameters
        ----------
        terms : sequence of (int, float)
            Keys and factors of the vectors.

        Returns
        -------
        ndarray of shape (n_columns,)
            The product.
        """
        with self._sum(terms) as g:
            return self._products.backward(g)

    def diagonal(self) -> Vector:
        """Approximate the diagonal of the second derivative.

        Returns
        -------
        ndarray of shape (n_columns,)
            The diagonal, approximately.
        """
        degrees = self._loss.diagonal()
        return self._products.diagonal(degrees) if degrees.any() else np.zeros(self._products.n_columns)

    def inner(self, left: Terms, right: Terms) -> float:
        """Return the inner product of two sums of vectors.

        Parameters
        ----------
        left, right : sequence of (int, float)
            Keys and factors of the vectors of both sums.

        Returns
        -------
        float
            Their inner product.
        """
        with self._sum(left) as u, self._sum(right) as v:
            return dot(u, v)

    def extremes(self, terms: Terms) -> tuple[float, float]:
        """Return the smallest and the largest element of a sum of vectors.

        Parameters
        ----------
        terms : sequence of (int, float)
            Keys and factors of the vectors.

        Returns
        -------
        least : float
            The smallest element.
        greatest : float
            The largest element.
        """
        with self._sum(terms) as total:
            return float(total.min()), float(total.max())

    def collect(self, terms: Terms) -> Vector:
        """Return a sum of vectors.

        Parameters
        ----------
        terms : sequence of (int, float)
            Keys and factors of the vectors.

        Returns
        -------
        ndarray of shape (n_rows,)
            The sum.
        """
        return self._add(terms, np.empty(self._products.n_rows))

    def multiply(self, w: Vector) -> Vector:
        """Compute X w, which is not kept.

        Parameters
        ----------
        w : ndarray of shape (n_columns,)
            Weights of the features.

        Returns
        -------
        ndarray of shape (n_rows,)
            The product.
        """
        return self._products.forward(w)

    def multiply_transposed(self, g: Vector) -> Vector:
        """Compute X' g.

        Parameters
        ----------
        g : ndarray of shape (n_rows,)
            Vector to multiply.

        Returns
        -------
        ndarray of shape (n_columns,)
            The product.
        """
        return self._products.backward(g)

    def multiply_squares(self, d: Vector) -> Vector:
        """Compute (X * X)' d, elementwise.

        Parameters
        ----------
        d : ndarray of shape (n_rows,)
            Vector to multiply.

        Returns
        -------
        ndarray of shape (n_columns,)
            The product.
        """
        return self._products.squares(d)

    def square(self) -> float:
        """Return the sum of the squared norms of the rows.

        Returns
        -------
        float
            The sum.
        """
        return float(self._products.squares(np.ones(self._products.n_rows)).sum())

    @property
    def _binned(self) -> BinnedHinge:
        assert isinstance(self._loss, BinnedHinge)
        return self._loss

    @contextmanager
    def _sum(self, terms: Terms) -> Iterator[Vector]:
        """Yield a sum of vectors; its memory is used again afterwards."""
        if len(terms) == 1 and terms[0][1] == 1:
            yield self._vectors[terms[0][0]]
            return
        total = self._add(terms, self._memory())
        yield total
        self._give_back(total)

    def _add(self, terms: Terms, out: Vector) -> Vector:
        vectors = [(self._vectors[key], factor) for key, factor in terms]
        if not vectors:
            out.fill(0.0)
            return out
        (first, by), *others = vectors
        for rows in slices(len(out), _ADDED_AT_ONCE):
            total = np.multiply(first[rows], by, out=out[rows])
            for vector, factor in others:
                total += factor * vector[rows]
        return out

    def _memory(self) -> Vector:
        """Return memory for a vector."""
        return self._spare.pop() if self._spare else np.empty(self._products.n_rows)

    def _give_back(self, memory: Vector) -> None:
        """Keep memory for other vectors; nothing may refer to it any more."""
        if len(self._spare) < _MOST_SPARE:
            self._spare.append(memory)

    def _share(self, key: int, risk: Any, against: Sequence[int]) -> Share:
        self._vectors[key] = risk.g
        products = [dot(risk.g, self._vectors[other]) for other in against]
        return Share(risk.value, risk.offset, getattr(self._loss, "rounding", 0.0), products)
