"""Oracles of the risk of rows in parts."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._validation import CheckedRows
from kernelrank.dask._data import Parts
from kernelrank.estimators._rank_svm import total_weight
from kernelrank.estimators._svm_solver import LossName, QueryWeighting
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge, no_pairs
from kernelrank.pairs import Pairs, UtilityPairs
from kernelrank.solvers import (
    BinnedOracle,
    LinearOracle,
    Oracle,
    PartedOracle,
    Products,
    SmoothLinearOracle,
    SmoothPartedOracle,
    make_gathered_products,
)

Counting = Literal["auto", "gather", "bins"]

# Rows of one ranking whose scores are gathered. By the measurements in benchmarks/results/scaling.md, gathering is
# faster with 100,000 rows; with a million, bins are, unless there are two workers only.
_GATHERED = 500_000


class Posed(NamedTuple):
    """A problem for a solver, and the number of its pairs."""

    oracle: Oracle
    n_pairs: int | float


def check_counting(counting: Counting, loss: LossName) -> None:
    """Raise an error if pairs cannot be counted like that."""
    if counting == "bins" and loss != "hinge":
        raise ValueError(f'counting="bins" is for loss="hinge", got {loss!r}: use counting="gather".')


def wants_bins(n_rows: int, counting: Counting, loss: LossName) -> bool:
    """Return whether pairs of one ranking are counted from histograms."""
    return counting == "bins" or (counting == "auto" and loss == "hinge" and n_rows > _GATHERED)


def pose(
    parts: Parts, loss: LossName, weighting: QueryWeighting, counting: Counting, tol: float, n_threads: int
) -> Posed:
    """Return the problem of all rows."""
    if parts.n_queries is not None or parts.engine.n_parts == 1:  # all pairs are within parts
        prepare_products(parts)
        return pose_queries(parts, loss, weighting)
    if wants_bins(parts.n_rows, counting, loss) and (parts.ranges or parts.levels is not None):
        return _pose_binned(parts, tol)
    y, weights = gather_utilities(parts)
    scaled = None if weights is None else weights / parts.unit
    pairs = UtilityPairs.of_checked(CheckedRows(y, None, 1, scaled), n_threads)
    n_pairs = pairs.n_pairs if weights is None else total_weight(pairs.pairs_per_query, parts.unit, power=2)
    return Posed(gathered_oracle(prepare_products(parts), pairs, loss, weighting), n_pairs)


def prepare_products(parts: Parts) -> Products:
    """Prepare products on the workers; return those with scores that are gathered."""
    engine = parts.engine
    if parts.n_queries is None:
        engine.prepare_common_products()
    else:  # no query is in two parts, so that each part shifts columns on its own
        engine.set_up([("prepare_products", None)] * engine.n_parts)
    return make_gathered_products(engine, engine.n_rows_of_parts)


def pose_queries(
    parts: Parts, loss: LossName, weighting: QueryWeighting, train: list[NDArray[np.bool_]] | None = None
) -> Posed:
    """Return the problem of the pairs within parts, of all rows or of those to train on."""
    engine = parts.engine
    masks = [None] * engine.n_parts if train is None else train
    counted = engine.set_up([("count_pairs", weighting, parts.unit, mask) for mask in masks])
    total = sum(each.normaliser for each in counted)
    if total == 0:
        raise NoComparablePairsError(no_pairs(parts.n_rows))
    engine.set_up([("prepare_loss", loss, weighting, total)] * engine.n_parts)
    oracle = PartedOracle(engine) if loss == "hinge" else SmoothPartedOracle(engine)
    return Posed(oracle, sum(each.n_pairs for each in counted))


def gathered_oracle(products: Products, pairs: Pairs, loss: LossName, weighting: QueryWeighting) -> Oracle:
    """Return the oracle of pairs that are counted in the client."""
    if loss == "hinge":
        return LinearOracle(products, PairwiseHinge(pairs, weighting))
    return SmoothLinearOracle(products, PairwiseSquaredHinge(pairs, weighting))


def gather_utilities(parts: Parts) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return utilities and weights of all rows, part after part."""
    y, weights, _ = zip(*parts.engine.ask_all("utilities"), strict=True)
    return np.concatenate(y), None if weights[0] is None else np.concatenate(weights)


def _pose_binned(parts: Parts, tol: float) -> Posed:
    """Return the problem of one ranking whose pairs are counted from histograms."""
    engine, levels = parts.engine, None if parts.ranges else parts.levels
    engine.prepare_common_products()
    # Counted in units of the weights that the loss has; numbers of pairs without weights are whole.
    if levels is None:
        groups: list[Any] = [np.array([k]) for k in range(engine.n_parts)]
        counted = engine.set_up([("count_pairs", "pair", parts.unit, None)] * engine.n_parts)
        inside = [each.n_pairs if isinstance(each.n_pairs, int) else each.normaliser for each in counted]
        pairs = sum(inside) + _pairs_across(engine.ask_all("weight", parts.unit))
    else:
        groups = [np.searchsorted(levels, own) for own in engine.ask_all("levels")]
        pairs = _pairs_across(parts.of_levels.tolist())
    if pairs == 0:
        raise NoComparablePairsError(no_pairs(parts.n_rows))
    engine.set_up([("prepare_binned_loss", levels is not None, parts.unit, float(pairs))] * engine.n_parts)
    n_pairs = pairs if parts.unit == 1 else total_weight(np.array([pairs]), parts.unit, power=2)
    return Posed(BinnedOracle(engine, groups, float(pairs), tol), n_pairs)


def _pairs_across(sizes: list[Any]) -> Any:
    """Return the pairs of elements of different groups, given the sizes of the groups; whole numbers stay exact."""
    whole = [int(size) if float(size).is_integer() else size for size in sizes]
    return sum(size * sum(whole[:k]) for k, size in enumerate(whole))
