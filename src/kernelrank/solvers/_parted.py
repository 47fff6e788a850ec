r"""Risks of rows that are in several parts, each of which has an oracle of its own: ``R(w) = sum_p R_p(w)``.

Scores are linear in w, so a solver needs sums of score vectors, inner products with them, and the loss at them. Each
part computes its own share; vectors with one element per row stay there, under keys. `RowVector` is a sum of such
vectors: adding and scaling cost nothing, because the sum is written down and computed by the parts when they evaluate
it. What travels per iteration are weights of features and a few numbers, whatever the number of rows.

A part may be lost, with the worker that had it. `Engine` then makes it again, and raises `PartsLost`. All vectors that
are in use are made again, from the weights whose scores they are, and the request is repeated.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import inner
from kernelrank.losses import Risk
from kernelrank.solvers._oracle import finite, rounding_of_rows
from kernelrank.solvers._part import Request, Share
from kernelrank.solvers._products import Products

Vector = NDArray[np.float64]

_MOST_LOSSES = 5  # of parts in a row, without a request that succeeds


class PartsLost(Exception):
    """Parts were lost and have been made again, without their vectors; the argument names the workers."""


class Engine(Protocol):
    """Access to the parts.

    Attributes
    ----------
    n_rows : int
        Number of rows of all parts.
    n_columns : int
        Number of columns.
    """

    n_rows: int
    n_columns: int

    def ask(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        """Send each part its requests, and return its answer to the last one.

        Parameters
        ----------
        requests : sequence of sequence of Request
            Requests of each part.

        Returns
        -------
        list
            Answers of the parts.

        Raises
        ------
        PartsLost
            If a part was lost; it has been made again.
        """

    @property
    def n_parts(self) -> int:
        """Number of parts."""


class Stored:
    """A vector that the parts keep under a key until this object is gone.

    Attributes
    ----------
    key : int
    remake : callable
        Computes it again.
    stage : int
        0 for scores, 1 for vectors of a plane at scores, 2 for products with second derivatives. Each needs those
        before to be made again.
    w : ndarray or None
        Weights, if the vector holds their scores.
    products : dict
        Known inner products with other vectors, by their keys.
    """

    __slots__ = ("__weakref__", "key", "products", "remake", "stage", "w")

    def __init__(self, key: int, remake: Callable[[], Any], stage: int, w: Vector | None) -> None:
        self.key, self.remake, self.stage, self.w = key, remake, stage, w
        self.products: dict[int, float] = {}


class RowVector:
    """A sum of vectors with one element per row, which are kept by the parts.

    Parameters
    ----------
    oracle : PartedOracle
        Oracle of the parts.
    terms : dict
        Factors of the vectors.
    """

    __slots__ = ("oracle", "terms")
    __array_ufunc__ = None  # numbers of NumPy leave products to `__rmul__`

    def __init__(self, oracle: PartedOracle, terms: dict[Stored, float]) -> None:
        self.oracle, self.terms = oracle, terms

    def __mul__(self, factor: float) -> RowVector:
        return RowVector(self.oracle, {each: float(factor) * of for each, of in self.terms.items()})

    __rmul__ = __mul__

    def __add__(self, other: RowVector) -> RowVector:
        terms = dict(self.terms)
        for each, factor in other.terms.items():
            terms[each] = terms.get(each, 0.0) + factor
        return RowVector(self.oracle, terms)

    def __sub__(self, other: RowVector) -> RowVector:
        return self + other * -1.0

    def collect(self) -> Vector:
        """Return the elements, part after part.

        Returns
        -------
        ndarray of shape (n_rows,)
            The elements.
        """
        return self.oracle.collect(self)

    @property
    def keys(self) -> list[tuple[int, float]]:
        """Keys and factors, as the parts take them."""
        return [(each.key, factor) for each, factor in self.terms.items()]


class PartedOracle:
    """A loss of scores, times a matrix whose rows are in parts that no query crosses.

    Parameters
    ----------
    engine : Engine
        Access to the parts.
    """

    euclidean = True  # inner products of weights are sums over features

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.n_rows, self.n_features = engine.n_rows, engine.n_columns
        self.n_products = self.n_evaluations = 0
        self._numbers = itertools.count()
        self._kept: weakref.WeakValueDictionary[int, Stored] = weakref.WeakValueDictionary()
        self._dead: list[int] = []  # keys that no vector has any more
        self._waiting: list[Request] = [("forget",)]  # to be sent with the next request
        self._stale = self._restoring = False  # whether a part has lost its vectors, or they are being made again
        self._row_norm: float | None = None

    def zeros(self) -> RowVector:
        """Return the scores of w = 0.

        Returns
        -------
        RowVector
            Scores of the rows, all zero.
        """
        return RowVector(self, {})

    def scores(self, w: Vector) -> RowVector:
        """Compute X w: one product with X.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights of the features.

        Returns
        -------
        RowVector
            Scores of the rows.
        """
        self.n_products += 1
        found, planes = self._store_scores(w.copy()), [each for each in self._kept.values() if each.stage == 1]
        products = self._forward(found.key, w, [each.key for each in planes])
        for each, product in zip(planes, products, strict=True):
            each.products[found.key] = product
        return RowVector(self, {found: 1.0})

    def settle(self, scores: RowVector) -> RowVector:
        """Return a sum of scores as one vector, which the parts make before they do anything else.

        Parameters
        ----------
        scores : RowVector
            Scores of the rows.

        Returns
        -------
        RowVector
            The same scores.
        """
        if len(scores.terms) < 2:
            return scores
        w = np.zeros(self.n_features)
        for each, factor in scores.terms.items():
            w += factor * np.asarray(each.w)
        found = self._store_scores(w)
        self._waiting.append(("combine", found.key, scores.keys))
        for plane in self._kept.values():
            known = _known(plane, scores)
            if plane.stage == 1 and known is not None:
                plane.products[found.key] = known
        return RowVector(self, {found: 1.0})

    def dot(self, u: RowVector, v: RowVector) -> float:
        """Return the inner product of two vectors of rows.

        Parameters
        ----------
        u, v : RowVector
            Vectors.

        Returns
        -------
        float
            Their inner product.
        """
        if len(u.terms) == 1:
            [(stored, factor)] = u.terms.items()
            known = _known(stored, v)
            if known is not None:
                return factor * known
        return float(sum(self._ask("inner", lambda: (u.keys, v.keys))))

    def spread(self, scores: RowVector) -> float:
        """Return the difference of the largest and the smallest score.

        Parameters
        ----------
        scores : RowVector
            Scores of the rows.

        Returns
        -------
        float
            The difference.
        """
        least, greatest = zip(*self._ask("extremes", lambda: (scores.keys,)), strict=True)
        return float(max(greatest) - min(least))

    def risk(self, scores: RowVector) -> Risk:
        """Compute value and plane of the loss at `scores`: one counting pass, no product.

        Parameters
        ----------
        scores : RowVector
            Scores of the rows.

        Returns
        -------
        Risk
            Value and tangent plane.
        """
        self.n_evaluations += 1
        g = self._store(lambda key: lambda: self._evaluate(key, scores, []), stage=1)
        against = [each.key for each in scores.terms]
        shares = self._evaluate(g.key, scores, against)
        g.products = dict(zip(against, map(sum, zip(*(each.products for each in shares), strict=True)), strict=True))
        value = finite(sum(each.value for each in shares) + self._error_of_value())
        return Risk(value, sum(each.offset for each in shares), RowVector(self, {g: 1.0}))

    def subgradient(self, g: RowVector) -> Vector:
        """Compute X' g: one product with X.

        Parameters
        ----------
        g : RowVector
            Slope of a plane below the loss.

        Returns
        -------
        ndarray of shape (n_features,)
            Slope of the plane below the risk.
        """
        self.n_products += 1
        return finite(_sum(self._ask("backward", lambda: (g.keys,))))

    def collect(self, scores: RowVector) -> Vector:
        """Return a vector of rows, part after part.

        Parameters
        ----------
        scores : RowVector
            Vector kept by the parts.

        Returns
        -------
        ndarray of shape (n_rows,)
            Its elements.
        """
        return np.concatenate(self._ask("collect", lambda: (scores.keys,)))

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row.

        Parameters
        ----------
        u : ndarray of shape (n_features,) or (k, n_features)
            Weights.
        v : ndarray of shape (n_features,)
            Weights.

        Returns
        -------
        float or ndarray of shape (k,)
            Inner products.
        """
        return inner(u, v)

    def inner_rounding(self, w: Vector) -> float:
        """Return 0: weights are those of the features that were given.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights of the features.

        Returns
        -------
        float
            The bound.
        """
        return 0.0

    def rounding_of_bounds(self, alpha: float, norms: float, slope: float, negligible: float) -> float:
        """Bound by how much rounding of products may bring bounds together; see `LinearOracle`.

        Parameters
        ----------
        alpha : float
            Weight of the squared norm.
        norms : float
            Sum of the norms of the solutions.
        slope : float
            Norm of a subgradient.
        negligible : float
            Bound that need not be computed more exactly.

        Returns
        -------
        float
            The bound; 0 if it is negligible.
        """
        if rounding_of_rows(self.n_rows**0.5 * slope, alpha, norms) <= negligible:
            return 0.0
        if self._row_norm is None:
            self.n_products += 1
            self._row_norm = float(np.sqrt(sum(self._ask("square", tuple)) / self.n_rows))
        return rounding_of_rows(self._row_norm, alpha, norms)

    def _error_of_value(self) -> float:
        """Return by how much the value evaluated last may be too small."""
        return 0.0

    def _forward(self, key: int, w: Vector, against: Sequence[int] = ()) -> list[float]:
        found = self._ask("forward", lambda: (key, w, against))
        finite(sum(each[0] for each in found))
        return [sum(each) for each in zip(*(products for _, products in found), strict=True)]

    def _evaluate(self, key: int, scores: RowVector, against: Sequence[int]) -> list[Share]:
        return self._ask("count", lambda: (key, scores.keys, against))

    def _store_scores(self, w: Vector) -> Stored:
        return self._store(lambda key: lambda: self._forward(key, w), 0, w)

    def _store(self, make: Callable[[int], Callable[[], Any]], stage: int, w: Vector | None = None) -> Stored:
        """Return a key for a vector; `make` returns the function that computes it again."""
        key = next(self._numbers)
        stored = Stored(key, make(key), stage, w)
        self._kept[key] = stored
        weakref.finalize(stored, self._dead.append, key).atexit = False
        return stored

    def _ask(self, name: str, arguments: Callable[[], tuple[Any, ...]]) -> list[Any]:
        """Ask all parts the same."""
        return self._ask_each(lambda: [(name, *arguments())] * self._engine.n_parts)

    def _ask_each(self, requests: Callable[[], list[Request]]) -> list[Any]:
        """Ask each part, after what is waiting; if parts are lost, make what they had again, and ask again."""

        def ask() -> list[Any]:
            try:
                if self._stale:
                    self._restore()
                return self._send(requests)
            except PartsLost:
                self._stale = True
                raise

        return ask() if self._restoring else ask_again(ask)  # restoring starts again as a whole

    def _send(self, requests: Callable[[], list[Request]]) -> list[Any]:
        asked = requests()  # which may ask for something itself
        # Sums are made before the vectors that they are made of are forgotten.
        dead, before = list(self._dead), list(self._waiting)
        if dead:
            before.append(("release", dead))
        answers = self._engine.ask([[*before, request] for request in asked])
        del self._dead[: len(dead)]
        self._waiting = []
        return answers

    def _restore(self) -> None:
        """Make all vectors again that are in use."""
        self._waiting, self._stale, self._restoring = [("forget",)], False, True
        try:
            self._remake()
        finally:
            self._restoring = False

    def _remake(self) -> None:
        for stored in sorted(self._kept.values(), key=lambda stored: (stored.stage, stored.key)):
            if stored.stage == 2:
                self._return_to_last()
            stored.remake()
        self._return_to_last()

    def _return_to_last(self) -> None:
        """Evaluate the scores again that were evaluated last, where the loss keeps something of them."""


class SmoothPartedOracle(PartedOracle):
    """A smooth loss of scores, times a matrix whose rows are in parts that no query crosses.

    Parameters
    ----------
    engine : Engine
        Access to the parts.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.rounding = 0.0
        self._last: RowVector | None = None  # where second derivatives are known

    def risk(self, scores: RowVector) -> Risk:
        """Compute value and plane of the loss at `scores`: one counting pass, no product.

        Parameters
        ----------
        scores : RowVector
            Scores of the rows.

        Returns
        -------
        Risk
            Value and tangent plane.
        """
        self._last = None
        found = super().risk(scores)
        self._last = scores
        return found

    def curvature(self, q: RowVector) -> RowVector:
        """Multiply q by the second derivative of the loss at the scores evaluated last: no product.

        Parameters
        ----------
        q : RowVector
            Vector to multiply.

        Returns
        -------
        RowVector
            The product.
        """
        self.n_evaluations += 1
        found = self._store(lambda key: lambda: self._curve(key, q), stage=2)
        self._curve(found.key, q)
        return RowVector(self, {found: 1.0})

    def diagonal(self) -> Vector:
        """Approximate the diagonal of the second derivative of R, as if rows were compared with the mean of a part.

        Returns
        -------
        ndarray of shape (n_features,)
            The diagonal, approximately.
        """
        self.n_products += 2
        return finite(_sum(self._ask("diagonal", tuple)))

    def _curve(self, key: int, q: RowVector) -> None:
        # Computed together with the request that uses it.
        self._waiting.append(("curve", key, q.keys))

    def _evaluate(self, key: int, scores: RowVector, against: Sequence[int]) -> list[Share]:
        shares = super()._evaluate(key, scores, against)
        self.rounding = sum(each.rounding for each in shares)
        return shares

    def _return_to_last(self) -> None:
        if self._last is not None:
            key = next(self._numbers)
            self._evaluate(key, self._last, [])
            self._dead.append(key)


def make_gathered_products(engine: Engine, n_rows_of_parts: Sequence[int]) -> Products:
    """Prepare products with rows in parts, whose scores are gathered in one vector: part after part.

    Parameters
    ----------
    engine : Engine
        Access to the parts.
    n_rows_of_parts : sequence of int
        Number of rows of each part.

    Returns
    -------
    Products
        The products.
    """
    cuts = np.cumsum(n_rows_of_parts)[:-1]

    def ask(requests: list[Request]) -> list[Any]:
        return list(ask_again(lambda: engine.ask([[request] for request in requests])))

    def forward(w: Vector) -> Vector:
        return np.concatenate(ask([("multiply", w)] * engine.n_parts))

    def backward(g: Vector) -> Vector:
        return _sum(ask([("multiply_transposed", part) for part in np.split(g, cuts)]))

    def squares(d: Vector) -> Vector:
        return _sum(ask([("multiply_squares", part) for part in np.split(d, cuts)]))

    return Products(engine.n_rows, engine.n_columns, forward, backward, squares)


def ask_again(ask: Callable[[], Any]) -> Any:
    """Ask parts, and ask again if some are lost.

    Parameters
    ----------
    ask : callable
        Function without arguments, which may raise `PartsLost`.

    Returns
    -------
    object
        Its result.
    """
    for _ in range(_MOST_LOSSES):
        try:
            return ask()
        except PartsLost as lost:
            workers = str(lost)
    last = f", last on {workers}" if workers else ""
    raise RuntimeError(f"Parts of the data were lost {_MOST_LOSSES} times in a row{last}: workers keep dying.")


def _known(plane: Stored, scores: RowVector) -> float | None:
    """Return the inner product of a vector with a sum of scores, if it follows from known ones."""
    if any(each.key not in plane.products for each in scores.terms):
        return None
    return sum(factor * plane.products[each.key] for each, factor in scores.terms.items())


def _sum(vectors: Sequence[Vector]) -> Vector:
    total = vectors[0].copy()
    for each in vectors[1:]:
        total += each
    return total
