"""Cycles of a graph that share no more of an arc than its weight."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kernelrank.inspection._arcs import Arcs, Codes, Mask

_VISITED = 300  # nodes of a search for a short cycle


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
