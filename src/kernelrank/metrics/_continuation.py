"""Probability that a reader continues past the first rows of a block of ties, whose order is random.

A reader of the cascade model stops at a row with probability R, and continues with probability a = 1 - R. Let E_j be
the mean of the product of a over all choices of j of the t rows of a block: the reader continues past the first j of
them with probability E_j. All sums here are means of positive numbers, so that no digits cancel.
"""

from __future__ import annotations

import numpy as np

from kernelrank.metrics._blocks import Floats, Ints

_MANY = 1000  # rows that are worth sorting by their values


def continuation_probabilities(continues: Floats, firsts: Ints, counts: Ints, sizes: Ints, depths: Ints) -> Floats:
    """Return E_1, E_2, ... of each block down to its depth, one block after the other.

    Parameters
    ----------
    continues : ndarray
        Probability a of every row that a reader may stop at; those of a block begin at its element of `firsts`.
    firsts, counts, sizes, depths : ndarray of shape (n_blocks,)
        For each block: its first element of `continues`, how many it has, its number of rows, and how many E_j to
        compute. Rows without an element have a = 1.
    """
    passed = np.empty(depths.sum())
    starts = np.cumsum(depths) - depths
    by_row = np.ones(len(counts), dtype=bool)
    for block in np.flatnonzero(counts > _MANY):
        start, depth, first, count = (int(values[block]) for values in (starts, depths, firsts, counts))
        levels, repeats = np.unique(continues[first : first + count], return_counts=True)
        if len(levels) * depth < count:  # fewer steps
            passed[start : start + depth] = _join_levels(levels, repeats, int(sizes[block]) - count, depth)
            by_row[block] = False
    chosen = np.flatnonzero(by_row)
    chosen = chosen[np.argsort(-counts[chosen], kind="stable")]
    lengths = depths[chosen]
    goals = np.repeat(starts[chosen] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    passed[goals] = _join_rows(continues, firsts[chosen], counts[chosen], sizes[chosen], lengths)
    return passed


def _join_rows(continues: Floats, firsts: Ints, counts: Ints, sizes: Ints, depths: Ints) -> Floats:
    """Compute E_j of all blocks by adding their rows one at a time.

    The t-th row is among the first j with probability j / t, so

        E_j(t) = ((t - j) E_j(t - 1) + j a_t E_{j-1}(t - 1)) / t.

    Rows with a = 1 come first and take no step: E_j = 1. `counts` must not increase, so that the blocks that still
    grow come first.
    """
    ends = np.cumsum(depths)
    starts = ends - depths
    j = np.arange(1.0, depths.sum() + 1) - np.repeat(starts, depths)
    t = np.repeat((sizes - counts).astype(np.float64), depths)
    rest = t - j  # where it is negative, there are no j rows yet, and E_j = 0
    passed: Floats = (rest >= 0).astype(np.float64)
    for step in range(counts.max(initial=0)):
        growing = np.searchsorted(-counts, -step)
        here = slice(ends[growing - 1])
        inside = after_one(passed[here], starts[:growing])
        inside *= np.repeat(continues[firsts[:growing] + step], depths[:growing])
        inside *= j[here]
        t[here] += 1.0
        rest[here] += 1.0
        passed[here] *= rest[here]
        passed[here] += inside
        passed[here] /= t[here]
    return passed


def _join_levels(levels: Floats, repeats: Ints, n_ones: int, depth: int) -> Floats:
    """Compute E_j of one block by adding all rows with the same a at once, after those with a = 1.

    When n of t rows are added, i of the first j are new with the hypergeometric probability h_j(i), so

        E_j(t) = sum_i h_j(i) a^i E_{j-i}(t - n),  h_{j+1}(i) (t - j) = h_j(i) (t - n - j + i) + h_j(i-1) (n - i + 1).
    """
    i = np.arange(depth + 1.0)
    passed = (i <= n_ones).astype(np.float64)
    t = n_ones
    for level, n in zip(levels, repeats, strict=True):
        t += int(n)
        powers, before = level**i, passed[::-1].copy()
        new = np.zeros(depth + 1)
        new[0] = 1.0
        for j in range(min(depth, t) + 1):
            passed[j] = (new[: j + 1] * powers[: j + 1]) @ before[depth - j :]
            if j < t:
                joins = new * np.maximum(n - i, 0.0) / (t - j)
                new *= np.maximum(t - n - j + i, 0.0) / (t - j)
                new[1:] += joins[:-1]
    return passed[1:]


def after_one(values: Floats, starts: Ints) -> Floats:
    """Shift every segment by one element, and set its first element to 1."""
    shifted = np.empty_like(values)
    shifted[1:] = values[:-1]
    shifted[starts] = 1.0
    return shifted
