"""Light sets of arcs without which a directed graph has no cycle, and lower bounds of their weight.

The minimum feedback arc set is NP-hard to find. It is a cover of all cycles: with one variable x per arc,

    minimise w' x   subject to   sum over the arcs of C of x >= 1 for each cycle C,   x in {0, 1}.

Cycles that a solution does not cover are added until there are none left; the optimum with some of the cycles is a
lower bound of that with all, and so is that of the relaxation to ``0 <= x <= 1``. Large components have bounds only:
arcs against an order of the nodes, and a packing of cycles, each of which loses an arc.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse.csgraph import shortest_path

from kernelrank._interrupt import interruptible
from kernelrank.inspection._arcs import Arcs, Array, Codes, Mask, topological_positions
from kernelrank.inspection._packing import pack_cycles

_MOST_ARCS = 3000  # of a component that programmes are solved for
_MOST_ELEMENTS = 100_000  # of the matrix of an integer programme
_TOGETHER = 300  # arcs of small components that are solved together
_ROUNDS = 100  # of added cycles
_NODES = 500  # of branch and bound: a limit of time would not be reproducible
_PASSES, _MANY_PASSES = 3, 30  # over all nodes, to improve an order
_INTEGRAL = 1e-6  # distance from an integer that is taken for one
_LARGEST_INTEGER = 2.0**53
_HOP, _COVERED = 1e-6, 0.99  # of sums over cycles: the length of an arc, and what counts as 1
_MOST_FLOW = 30_000  # arcs of a linear programme
_UNKNOWN = np.inf  # operations of a programme, which may take seconds


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
    costs, rows = arcs.weights / arcs.weights.max(), _rows(cycles, len(arcs))

    def solve() -> Any:
        return milp(
            costs,
            integrality=np.full(len(arcs), int(integral)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(rows, lb=1.0),
            options={"node_limit": _NODES, "mip_rel_gap": 0.0},
        )

    return interruptible(solve, _UNKNOWN)


def _round_up(weights: Array, bound: float) -> float:
    """Return the least sum of weights that is not below a bound, if the weights are integers."""
    if (weights != weights.round()).any() or weights.sum() > _LARGEST_INTEGER:
        return bound
    unit = int(np.gcd.reduce(weights.astype(np.int64)))
    units = bound / unit
    return float(np.ceil(units - _INTEGRAL * max(1.0, units)) * unit)  # the bound has rounding errors


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


def largest_circulation(arcs: Arcs) -> float | None:
    """Return the largest sum of flows along cycles with at most the weight of each arc; None if it is not found.

    It is the smallest sum of hinge losses ``w * max(0, 1 - (f(tail) - f(head)))`` of any f, by linear programming
    duality. It is not looked for among many arcs.
    """
    if not len(arcs) or len(arcs) > _MOST_FLOW:
        return None if len(arcs) else 0.0
    k, unit = len(arcs), float(arcs.weights.max())
    nodes, columns = np.concatenate([arcs.tails, arcs.heads]), np.tile(np.arange(k), 2)
    conservation = sp.csr_array((np.repeat([1.0, -1.0], k), (nodes, columns)), shape=(arcs.n_nodes, k))
    bounds = np.column_stack([np.zeros(k), arcs.weights / unit])

    def solve() -> Any:
        return linprog(-np.ones(k), A_eq=conservation, b_eq=np.zeros(arcs.n_nodes), bounds=bounds, method="highs")

    found = interruptible(solve, _UNKNOWN)
    # The solver may take weights far below its tolerances for infeasible, although no flow at all is feasible.
    return None if found.fun is None else float(-found.fun * unit)
