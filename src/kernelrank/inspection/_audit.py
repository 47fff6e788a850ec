"""Audits of preferences: contradictions, cycles, and the loss that no scorer can avoid."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import refuse_mask, to_host
from kernelrank._columns import as_frame
from kernelrank._notebook import ShowsResult
from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._validation import check_weights
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.inspection._arcs import Arcs, Array, Codes, topological_positions
from kernelrank.inspection._cycles import feedback_arcs, largest_circulation

_ROUNDING = 1e-9  # relative difference of weights that are taken for equal


@dataclass(frozen=True)
class PairAudit(ShowsResult):
    """Contradictions and cycles among preferences, and the loss that they cost.

    It is returned by :func:`~kernelrank.inspection.audit_pairs`.

    Attributes
    ----------
    total_weight : float
        Of all pairs.
    contradictions : list of (item, item)
        Two items of which each is preferred to the other by some pair.
    components : list of list
        Items that are better than each other along chains of preferences, largest component first: the strongly
        connected components with at least two items. Pairs between different components contradict nothing.
    responsible : ndarray of int
        Numbers of pairs without which there is neither a contradiction nor a cycle.
    responsible_weight : float
        Their weight.
    proven : bool
        Whether no lighter set than `responsible` exists.
    lower_bound : float
        Weight of the pairs that any scorer of the items puts in the wrong order, at least; equal to
        `responsible_weight` if that is `proven`.
    hinge_bound : float
        Sum of the hinge losses of any scorer, at least.
    n_pairs, n_items : int
        Numbers of pairs and of items.
    """

    n_pairs: int
    n_items: int
    total_weight: float
    contradictions: list[tuple[Any, Any]] = field(repr=False)
    components: list[list[Any]] = field(repr=False)
    responsible: NDArray[np.intp] = field(repr=False)
    responsible_weight: float
    proven: bool
    lower_bound: float
    hinge_bound: float

    @property
    def least_error(self) -> float:
        """Lower bound of the weighted share of pairs in the wrong order, for any scorer; ties count half."""
        return self.lower_bound / self.total_weight

    @property
    def least_hinge(self) -> float:
        """Lower bound of the weighted mean hinge loss of any scorer."""
        return self.hinge_bound / self.total_weight

    def _html(self) -> list[Any]:
        from kernelrank.inspection._notebook import show_audit

        return show_audit(self)

    def __str__(self) -> str:
        start = f"{_count(self.n_pairs, 'pair')} of {_count(self.n_items, 'item')}."
        if not self.components:
            return f"{start} There is neither a contradiction nor a cycle: scores exist that put every pair in order."
        both, cyclic = len(self.contradictions), sum(map(len, self.components))
        found = [f"{_count(both, 'pair')} of items {'is' if both == 1 else 'are'} given in both directions."]
        found.append(
            f"{_count(cyclic, 'item')} form {_count(len(self.components), 'component')} of cyclic preferences, the"
            f" largest of {len(self.components[0]):,}."
        )
        share = f"{100 * self.responsible_weight / self.total_weight:.3g} % of the weight"
        least = "no lighter set suffices" if self.proven else "a lighter set may exist"
        removed = len(self.responsible)
        found.append(f"Without {_count(removed, 'pair')} ({share}) no contradiction and no cycle is left; {least}.")
        found.append(
            f"Any scorer puts at least {100 * self.least_error:.3g} % of the weight in the wrong order, and has a mean"
            f" hinge loss of at least {self.least_hinge:.3g}."
        )
        return " ".join([start, *found])


def audit_pairs(pairs: Any, *, weight: ArrayLike | None = None) -> PairAudit:
    r"""Find contradictions and cycles among preferences, and how much loss they make unavoidable.

    Preferences of which some contradict each other, directly or along a cycle, cannot all be satisfied. The pairs in
    the wrong order of any scores include a set of pairs whose removal leaves no cycle. The lightest such set, a minimum
    feedback arc set, is therefore the least error.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Items ``[winner, loser]``: row numbers as for ``fit_pairs``, or any hashable ids. A data frame of two columns is
        accepted.
    weight : array-like of shape (n_pairs,), optional
        Non-negative weights of the pairs. Pairs of weight zero are ignored, but keep their numbers.

    Returns
    -------
    PairAudit
        ``print(audit)`` shows a paragraph.

    Raises
    ------
    ValueError
        If pairs are not two ids each, or if an item is compared with itself.

    Notes
    -----
    Contradictions and components take O(k log k) for k pairs. Of two opposite preferences the lighter is lost. What
    remains of the heavier ones is divided into strongly connected components. For each with up to 3,000 arcs, a linear
    programme covers the cycles; cycles that its solution misses are added until there are none. If the solution is not
    integral, an order is made of it, and, for small components, an integer programme is solved. A set is proven up to
    the tolerance of the solver, 1e-6 of the heaviest arc. Larger components have bounds: the pairs against an order of
    the items that local moves improve, and a packing of cycles, of each of which any scorer loses a pair. A million
    pairs of 100,000 items with 10 % errors take about half a minute.

    Along a cycle of k preferences of weight w, differences of scores sum to zero, so that the hinge losses sum to at
    least ``k w``. The largest sum of this kind is a linear programme, whose dual is the smallest sum of hinge losses:
    `hinge_bound` is the optimum for up to 30,000 arcs, up to the tolerance of 1e-7 of the solver, and otherwise that of
    a packing of cycles.

    All bounds are for scores that may be chosen freely per item. A model of features may have a larger loss.

    Examples
    --------
    >>> from kernelrank.inspection import audit_pairs
    >>> pairs = [["tea", "milk"], ["milk", "water"], ["water", "tea"], ["tea", "juice"], ["juice", "tea"]]
    >>> audit = audit_pairs(pairs, weight=[3, 3, 1, 2, 1])
    >>> audit.contradictions
    [('tea', 'juice')]
    >>> audit.responsible  # the lightest pair of the cycle, and the lighter of the two directions
    array([2, 4])
    >>> print(audit)
    5 pairs of 4 items. 1 pair of items is given in both directions. 4 items form 1 component of cyclic preferences, the
    largest of 4. Without 2 pairs (20 % of the weight) no contradiction and no cycle is left; no lighter set suffices.
    Any scorer puts at least 20 % of the weight in the wrong order, and has a mean hinge loss of at least 0.5.
    """
    codes, ids = _encode(pairs)
    k, n = len(codes), len(ids)
    checked = check_weights(weight, k, "weight", of="pairs")
    weights = np.ones(k) if checked is None else checked
    arcs, number = _merge(codes, weights, n)
    opposite = _opposite(arcs)
    both = (opposite > 0) & (arcs.tails < arcs.heads)
    labels, sizes = arcs.components()
    net = _net(arcs, opposite)
    found = feedback_arcs(net)
    cyclic = labels[arcs.tails] == labels[arcs.heads]
    position = topological_positions(net.take(~found.removed & (labels[net.tails] == labels[net.heads])))
    lost = cyclic & (position[arcs.tails] > position[arcs.heads])
    in_both = float(np.minimum(arcs.weights, opposite)[both].sum())
    hinge = largest_circulation(arcs.take(cyclic).renumbered())
    responsible_weight = float(arcs.weights[lost].sum())
    lower_bound = min(in_both + found.lower_bound, responsible_weight)
    return PairAudit(
        n_pairs=k,
        n_items=n,
        total_weight=float(weights.sum()),
        contradictions=[(ids[i], ids[j]) for i, j in zip(arcs.tails[both], arcs.heads[both], strict=True)],
        components=_components(labels, sizes, ids),
        responsible=np.flatnonzero(lost[number] & (weights > 0)),
        responsible_weight=responsible_weight,
        proven=responsible_weight - lower_bound <= _ROUNDING * responsible_weight,
        lower_bound=lower_bound,
        hinge_bound=2 * in_both + found.flow if hinge is None else hinge,
    )


class _Merged(NamedTuple):
    """Distinct arcs, and the number of the arc of each pair."""

    arcs: Arcs
    number: Codes


def _merge(codes: Codes, weights: Array, n_items: int) -> _Merged:
    """Sum the weights of equal pairs; pairs of weight zero get the number of any arc."""
    keys, number = np.unique(codes[:, 0] * n_items + codes[:, 1], return_inverse=True)
    totals = np.asarray(np.bincount(number, weights), dtype=np.float64)
    kept = totals > 0
    arcs = Arcs(keys[kept] // n_items, keys[kept] % n_items, totals[kept], n_items)
    return _Merged(arcs, np.maximum(np.cumsum(kept) - 1, 0)[number])


def _opposite(arcs: Arcs) -> Array:
    """Return the weight of the opposite of each arc; 0 if there is none. Arcs are in the order of their nodes."""
    keys = arcs.tails * arcs.n_nodes + arcs.heads
    wanted = arcs.heads * arcs.n_nodes + arcs.tails
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, arcs.weights[places], 0.0)


def _net(arcs: Arcs, opposite: Array) -> Arcs:
    """Return what remains of the heavier of opposite arcs."""
    left = arcs.weights - opposite
    heavier = left > 0
    return Arcs(arcs.tails[heavier], arcs.heads[heavier], left[heavier], arcs.n_nodes)


def _components(labels: Codes, sizes: Codes, ids: list[Any]) -> list[list[Any]]:
    """Return the items of each component with at least two, the largest first."""
    items = np.flatnonzero(sizes[labels] > 1)
    order = items[np.lexsort((items, labels[items], -sizes[labels[items]]))]
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1)).tolist()
    return [[ids[item] for item in order[i:j].tolist()] for i, j in pairwise([*starts, len(order)])]


def _encode(pairs: Any) -> tuple[Codes, list[Any]]:
    """Return the pairs of items as numbers, and the id of each number."""
    refuse_mask(pairs, "pairs")
    pairs = to_host(pairs)
    if as_frame(pairs) is not None:
        pairs = as_frame(pairs).rows()  # type: ignore[union-attr]
    if isinstance(pairs, np.ndarray):
        if pairs.size == 0:
            raise NoComparablePairsError("pairs is empty; at least one pair is required.")
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"pairs must have shape (n_pairs, 2), with rows [winner, loser], got {pairs.shape}.")
        flat: Any = pairs.reshape(-1)
    else:
        flat = _flatten(pairs)
    items, _ = encode_queries(flat, len(flat), "pairs")
    assert items is not None
    codes = items.reshape(-1, 2).astype(np.intp)
    same = codes[:, 0] == codes[:, 1]
    if same.any():
        k = int(same.argmax())
        raise ValueError(f"pairs[{k}] compares {flat[2 * k]!r} with itself.")
    first = np.unique(items, return_index=True)[1]
    ids = [flat[row] for row in first.tolist()]
    return codes, np.asarray(ids).tolist() if isinstance(flat, np.ndarray) and flat.dtype.kind != "O" else ids


def _flatten(pairs: Any) -> Any:
    """Return the ids of a sequence of pairs, one after the other."""
    found: list[Any] = []
    try:
        for k, pair in enumerate(pairs):
            if isinstance(pair, str | bytes) or len(pair) != 2:
                raise ValueError(f"pairs must hold [winner, loser], but pairs[{k}] is {pair!r:.60}.")
            found += pair
    except TypeError:
        raise ValueError(f"pairs must be a list of [winner, loser], got {pairs!r:.60}.") from None
    if not found:
        raise NoComparablePairsError("pairs is empty; at least one pair is required.")
    return as_id_array(found)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
