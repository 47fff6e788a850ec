"""Light sets of arcs without which a directed graph has no cycle, and lower bounds of their weight.

The minimum feedback arc set is NP-hard to find. It is a cover of all cycles: with one variable x per arc,

    minimise w' x   subject to   sum over the arcs of C of x >= 1 for each cycle C,   x in {0, 1}.

Cycles that a solution does not cover are added until there are none left; the optimum with some of the cycles is a
lower bound of that with all, and so is that of the relaxation to ``0 <= x <= 1``. Large components have bounds only:
arcs against an order of the nodes, and a packing of cycles, each of which loses an arc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse.csgraph import connected_components, shortest_path

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]

_MOST_ARCS = 3000  # of a component that programmes are solved for
_MOST_ELEMENTS = 100_000  # of the matrix of an integer programme
_TOGETHER = 300  # arcs of small components that are solved together
_ROUNDS = 100  # of added cycles
_NODES = 500  # of branch and bound: a limit of time would not be reproducible
_PASSES, _MANY_PASSES = 3, 30  # over all nodes, to improve an order
_INTEGRAL = 1e-6  # distance from an integer that is taken for one
_LARGEST_INTEGER = 2.0**53
_VISITED = 300  # nodes of a search for a short cycle
_HOP, _COVERED = 1e-6, 0.99  # of sums over cycles: the length of an arc, and what counts as 1
_MOST_FLOW = 30_000  # arcs of a linear programme


@dataclass(frozen=True)
class Arcs:
    """Arcs of a directed graph, distinct and without loops.

    Attributes
    ----------
    tails, heads : ndarray of shape (k,)
    weights : ndarray of shape (k,)
        Positive.
    n_nodes : int
    """

    tails: Codes
    heads: Codes
    weights: Array
    n_nodes: int

    def __len__(self) -> int:
        return len(self.tails)

    def take(self, some: NDArray[np.intp] | Mask) -> Arcs:
        """Return some of the arcs, between the same nodes."""
        return Arcs(self.tails[some], self.heads[some], self.weights[some], self.n_nodes)

    def renumbered(self) -> Arcs:
        """Return the same arcs, with numbers 0, 1, ... for the nodes that they join."""
        nodes, numbers = np.unique(np.concatenate([self.tails, self.heads]), return_inverse=True)
        return Arcs(numbers[: len(self)], numbers[len(self) :], self.weights, len(nodes))

    def components(self) -> tuple[Codes, Codes]:
        """Return the strongly connected component of each node, and the sizes of the components: O(nodes + arcs)."""
        n, labels = connected_components(self._matrix, directed=True, connection="strong")
        return labels.astype(np.intp), np.bincount(labels, minlength=n)

    def inside(self) -> Mask:
        """Return which arcs lie on a cycle: those between nodes of the same strongly connected component."""
        labels, _ = self.components()
        return np.asarray(labels[self.tails] == labels[self.heads])

    @property
    def _matrix(self) -> sp.csr_array:
        return sp.csr_array((np.ones(len(self)), (self.tails, self.heads)), shape=(self.n_nodes, self.n_nodes))


class FeedbackArcs(NamedTuple):
    """Arcs without which there is no cycle.

    Attributes
    ----------
    removed : ndarray of bool, of shape (k,)
    lower_bound : float
        No set of less weight exists.
    flow : float
        Sum of the amounts of disjoint cycles times their lengths.
    """

    removed: Mask
    lower_bound: float
    flow: float

    def weight(self, arcs: Arcs) -> float:
        """Return the weight of the removed arcs."""
        return float(arcs.weights[self.removed].sum())


def feedback_arcs(arcs: Arcs) -> FeedbackArcs:
    """Return a light set of arcs without which there is no cycle: the lightest for small components.

    No two nodes may be joined in both directions.
    """
    removed = np.zeros(len(arcs), dtype=bool)
    labels, sizes = arcs.components()
    cyclic = np.flatnonzero(labels[arcs.tails] == labels[arcs.heads])
    cyclic = cyclic[np.argsort(labels[arcs.tails[cyclic]], kind="stable")]
    of_arc = labels[arcs.tails[cyclic]]
    three = sizes[of_arc] == 3  # a cycle of three arcs: one is lost
    triangles = cyclic[three].reshape(-1, 3)
    lightest = np.argmin(arcs.weights[triangles], axis=1)[:, None]
    removed[np.take_along_axis(triangles, lightest, axis=1)] = True
    bound = float(np.min(arcs.weights[triangles], axis=1).sum())
    flow = 3.0 * bound
    for some in _batches(cyclic[~three], of_arc[~three]):
        part = arcs.take(some).renumbered()
        found = _cover(part) if len(part) <= _MOST_ARCS else _bounds(part)
        removed[some] = found.removed
        bound += found.lower_bound
        flow += found.flow
    return FeedbackArcs(removed, bound, flow)


def _batches(arcs: Codes, labels: Codes) -> Iterator[Codes]:
    """Yield the arcs of each component, given in their order; small ones together."""
    if not len(arcs):
        return
    ends = np.append(np.flatnonzero(np.diff(labels)) + 1, len(arcs)).tolist()
    first = last = 0
    for end in ends:
        if end - first > _TOGETHER and last > first:
            yield arcs[first:last]
            first = last
        last = end
    yield arcs[first:]


def _cover(arcs: Arcs) -> FeedbackArcs:
    """Return the lightest cover of all cycles, by programmes with more and more cycles; bounds if that takes too long.

    A solution of the relaxation, with shares of arcs, is often integral; if not, it may lead to a cover whose weight is
    that of the bound. Only then are integers asked for.
    """
    best = _bounds(arcs)
    cycles, integral = _short_of(arcs, np.zeros(len(arcs))), False
    for _ in range(_ROUNDS):
        found = _solve(arcs, cycles, integral)
        if found.x is None:
            break
        value = found.mip_dual_bound if integral else found.fun
        bound = _round_up(arcs.weights, value * float(arcs.weights.max()))
        best = best._replace(lower_bound=max(best.lower_bound, min(bound, best.weight(arcs))))
        further = _short_of(arcs, found.x.round() if integral else found.x)
        cycles += further
        if further:
            continue
        removed = found.x > 0.5
        if found.status == 0 and (np.abs(found.x - removed) < _INTEGRAL).all():  # optimal, and it covers all cycles
            return best._replace(removed=removed, lower_bound=float(arcs.weights[removed].sum()))
        if not integral:
            position = _order(arcs, _round(arcs, found.x))
            other = best._replace(removed=position[arcs.tails] > position[arcs.heads])
            best = min(best, other, key=lambda each: each.weight(arcs))
        elif not _short_of(arcs, removed.astype(np.float64)):
            best = min(best, best._replace(removed=removed), key=lambda each: each.weight(arcs))
        solved = best.weight(arcs) - best.lower_bound <= _INTEGRAL * best.weight(arcs)
        if integral or solved or len(arcs) * len(cycles) > _MOST_ELEMENTS:
            break
        integral = True
    return best


def _round(arcs: Arcs, shares: Array) -> Codes:
    """Return an order of the nodes by a solution of the relaxation: arcs with the largest shares may go backwards."""
    removed = shares > 0.5
    while cycles := _short_of(arcs, removed.astype(np.float64)):
        # Of each cycle that is left the arc with the largest share per weight, while it is not yet covered.
        for cycle in cycles:
            if not removed[cycle].any():
                removed[cycle[np.argmax(shares[cycle] / arcs.weights[cycle])]] = True
    return topological_positions(arcs.take(~removed))


def _solve(arcs: Arcs, cycles: list[Codes], integral: bool) -> Any:
    """Return the lightest cover of some cycles, in units of the heaviest arc."""
    return milp(
        arcs.weights / arcs.weights.max(),
        integrality=np.full(len(arcs), int(integral)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(_rows(cycles, len(arcs)), lb=1.0),
        options={"node_limit": _NODES, "mip_rel_gap": 0.0},
    )


def _round_up(weights: Array, bound: float) -> float:
    """Return the least sum of weights that is not below a bound, if the weights are integers."""
    if (weights != weights.round()).any() or weights.sum() > _LARGEST_INTEGER:
        return bound
    unit = int(np.gcd.reduce(weights.astype(np.int64)))
    return float(np.ceil(bound / unit - _INTEGRAL) * unit)


def _rows(cycles: list[Codes], n_arcs: int) -> sp.csr_array:
    """Return the matrix that sums a value per arc over each cycle."""
    numbers = np.repeat(np.arange(len(cycles)), [len(cycle) for cycle in cycles])
    return sp.csr_array((np.ones(len(numbers)), (numbers, np.concatenate(cycles))), shape=(len(cycles), n_arcs))


def _short_of(arcs: Arcs, cover: Array) -> list[Codes]:
    """Return cycles with a sum of less than 1: for each arc the one with the least sum, as numbers of arcs."""
    lengths = np.maximum(cover, 0.0) + _HOP  # of equal sums the shorter cycle
    graph = sp.csr_array((lengths, (arcs.tails, arcs.heads)), shape=(arcs.n_nodes, arcs.n_nodes))
    distances, before = shortest_path(graph, method="D", return_predecessors=True)
    pairs = list(zip(arcs.tails.tolist(), arcs.heads.tolist(), strict=True))
    number_of = {pair: number for number, pair in enumerate(pairs)}
    found: dict[tuple[int, ...], Codes] = {}
    for number in np.flatnonzero(lengths + distances[arcs.heads, arcs.tails] < _COVERED).tolist():
        node, head = pairs[number]
        cycle = [number]
        while node != head:  # backwards along the shortest path from the head to the tail
            previous = int(before[head, node])
            cycle.append(number_of[previous, node])
            node = previous
        found.setdefault(tuple(sorted(cycle)), np.array(cycle))
    return list(found.values())


def _bounds(arcs: Arcs) -> FeedbackArcs:
    """Return the arcs against an order of the nodes, and a lower bound from disjoint cycles."""
    position = _order(arcs)
    removed = position[arcs.tails] > position[arcs.heads]
    cycles = np.array(list(pack_cycles(arcs, removed)))  # amounts and lengths
    packed, flow = float(cycles[:, 0].sum()), float(np.prod(cycles, axis=1).sum())
    return FeedbackArcs(removed, min(packed, float(arcs.weights[removed].sum())), flow)


def _order(arcs: Arcs, position: Codes | None = None) -> Codes:
    """Return positions of the nodes with few arcs that go backwards.

    By default the nodes are first put in the order of weighted wins. They are then moved one by one.
    """
    if position is None:
        won, lost = (np.bincount(side, arcs.weights, arcs.n_nodes) for side in (arcs.tails, arcs.heads))
        position = _ranks((lost - won) / (lost + won))
    ends = np.concatenate([arcs.tails, arcs.heads])
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(arcs.n_nodes + 1)).tolist()
    neighbours = np.concatenate([arcs.heads, arcs.tails])[order]
    # What it costs more to stand behind a neighbour than before it.
    costs = np.concatenate([arcs.weights, -arcs.weights])[order]
    best, least = position, _backwards(arcs, position)
    for _ in range(_PASSES if len(arcs) > _MOST_ARCS else _MANY_PASSES):
        places = position.astype(np.float64)
        for node in range(arcs.n_nodes):
            mine = slice(starts[node], starts[node + 1])
            around = places[neighbours[mine]]
            sorted_ = np.argsort(around)
            around = around[sorted_]
            totals = np.cumsum(costs[mine][sorted_])
            gap = int(totals.argmin())
            if totals[gap] >= 0.0:
                places[node] = around[0] - 0.5
            else:
                places[node] = (around[gap] + around[gap + 1]) / 2 if gap + 1 < len(around) else around[gap] + 0.5
        position = _ranks(places)
        weight = _backwards(arcs, position)
        if weight >= least:
            break
        best, least = position, weight
    return best


def _ranks(values: Array) -> Codes:
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def _backwards(arcs: Arcs, position: Codes) -> float:
    return float(arcs.weights[position[arcs.tails] > position[arcs.heads]].sum())


def pack_cycles(arcs: Arcs, backwards: Mask) -> Iterator[tuple[float, int]]:
    """Yield amounts and lengths of cycles; the amounts of all cycles through an arc sum to at most its weight.

    Parameters
    ----------
    arcs : Arcs
    backwards : ndarray of bool
        Arcs of which every cycle has one. Short cycles through them come first, each found by a search that visits a
        limited number of nodes; then a walk follows arcs with weight left until it meets itself.
    """
    left = arcs.weights.tolist()
    yield from _short_cycles(arcs, np.flatnonzero(backwards), left)
    yield from _any_cycles(arcs, left)


def _short_cycles(arcs: Arcs, through: Codes, left: list[float]) -> Iterator[tuple[float, int]]:
    """Yield short cycles through some arcs, and subtract them from the weights that are left."""
    out: list[dict[int, int]] = [{} for _ in range(arcs.n_nodes)]
    into: list[dict[int, int]] = [{} for _ in range(arcs.n_nodes)]
    tails, heads = arcs.tails.tolist(), arcs.heads.tolist()
    for arc, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        out[tail][head] = into[head][tail] = arc
    for arc in through.tolist():
        while left[arc] > 0.0:
            path = _path(heads[arc], tails[arc], out, into)
            if path is None:
                break
            cycle = [arc, *(out[tail][head] for tail, head in pairwise(path))]
            amount = min(left[each] for each in cycle)
            for each in cycle:
                left[each] -= amount
                if left[each] <= 0.0:
                    del out[tails[each]][heads[each]], into[heads[each]][tails[each]]
            yield amount, len(cycle)


def _path(start: int, end: int, out: list[dict[int, int]], into: list[dict[int, int]]) -> list[int] | None:
    """Return a short path by a search from both ends; None if there is none, or it would visit too many nodes."""
    known: tuple[dict[int, int], dict[int, int]] = {start: start}, {end: end}
    edges, fronts = (out, into), [[start], [end]]
    while fronts[0] and fronts[1] and len(known[0]) + len(known[1]) < _VISITED:
        side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
        mine, other, front = known[side], known[1 - side], []
        for node in fronts[side]:
            for following in edges[side][node]:
                if following in mine:
                    continue
                mine[following] = node
                if following in other:
                    return [*_chain(following, known[0])[::-1], *_chain(following, known[1])[1:]]
                front.append(following)
        fronts[side] = front
    return None


def _chain(node: int, known: dict[int, int]) -> list[int]:
    """Return the nodes from one that a search has found to where the search started."""
    found = [node]
    while known[node] != node:
        node = known[node]
        found.append(node)
    return found


def _any_cycles(arcs: Arcs, left: list[float]) -> Iterator[tuple[float, int]]:
    """Yield cycles that a walk along arcs with weight left meets, until there are none: O(k + sum of lengths)."""
    order = np.argsort(arcs.tails, kind="stable")
    out, heads = order.tolist(), arcs.heads.tolist()
    starts = np.searchsorted(arcs.tails[order], np.arange(arcs.n_nodes + 1)).tolist()
    ends, current = starts[1:], starts[:-1]
    place = [-1] * arcs.n_nodes  # of each node in the walk
    for first in range(arcs.n_nodes):
        walk, taken = [first], list[int]()
        place[first] = 0
        while walk:
            node = walk[-1]
            while current[node] < ends[node] and left[out[current[node]]] <= 0.0:
                current[node] += 1
            if current[node] == ends[node]:  # no cycle goes through this node
                place[walk.pop()] = -1
                if taken:
                    left[taken.pop()] = 0.0
                continue
            arc = out[current[node]]
            following = heads[arc]
            if place[following] < 0:
                place[following] = len(walk)
                walk.append(following)
                taken.append(arc)
                continue
            since = place[following]
            cycle = [*taken[since:], arc]
            amount = min(left[each] for each in cycle)
            for each in cycle:
                left[each] -= amount
            yield amount, len(cycle)
            for each in walk[since + 1 :]:
                place[each] = -1
            del taken[since:], walk[since + 1 :]


def largest_circulation(arcs: Arcs) -> float | None:
    """Return the largest sum of flows along cycles with at most the weight of each arc; None if there are many arcs.

    It is the smallest sum of hinge losses ``w * max(0, 1 - (f(tail) - f(head)))`` of any f, by linear programming
    duality.
    """
    if not len(arcs) or len(arcs) > _MOST_FLOW:
        return None if len(arcs) else 0.0
    k, unit = len(arcs), float(arcs.weights.max())
    nodes, columns = np.concatenate([arcs.tails, arcs.heads]), np.tile(np.arange(k), 2)
    conservation = sp.csr_array((np.repeat([1.0, -1.0], k), (nodes, columns)), shape=(arcs.n_nodes, k))
    bounds = np.column_stack([np.zeros(k), arcs.weights / unit])
    found = linprog(-np.ones(k), A_eq=conservation, b_eq=np.zeros(arcs.n_nodes), bounds=bounds, method="highs")
    return float(-found.fun * unit)


def topological_positions(arcs: Arcs) -> Codes:
    """Return positions of the nodes of an acyclic graph such that all arcs go forwards: O(nodes + arcs)."""
    order = np.argsort(arcs.tails, kind="stable")
    heads = arcs.heads[order].tolist()
    starts = np.searchsorted(arcs.tails[order], np.arange(arcs.n_nodes + 1)).tolist()
    waiting = np.bincount(arcs.heads, minlength=arcs.n_nodes).tolist()
    found = [node for node, count in enumerate(waiting) if count == 0]
    for node in found:  # which grows
        for head in heads[starts[node] : starts[node + 1]]:
            waiting[head] -= 1
            if waiting[head] == 0:
                found.append(head)
    positions = np.empty(arcs.n_nodes, dtype=np.intp)
    positions[found] = np.arange(arcs.n_nodes)
    return positions
