"""Ordered classes, straight from the definitions, by enumeration of thresholds."""

from itertools import combinations_with_replacement

import numpy as np


def ordinal_hinge(classes, scores, thresholds, weights=None):
    """Return the mean over rows and thresholds of max(0, 1 + p - b) below, and max(0, 1 - p + b) above a threshold."""
    weights = np.ones(len(classes)) if weights is None else weights
    losses = [
        np.where(classes <= k, np.maximum(0, 1 + scores - b), np.maximum(0, 1 - scores + b))
        for k, b in enumerate(thresholds)
    ]
    return np.average(np.mean(losses, axis=0), weights=weights)


def best_ordinal_hinge(classes, scores, weights=None):
    """Return its minimum over thresholds; it is piecewise linear in each, with kinks at a score plus or minus 1."""
    candidates = np.unique(np.concatenate((scores - 1, scores + 1)))
    values = []
    for k in range(classes.max()):
        above = (classes > k).astype(int)
        values.append(min(ordinal_hinge(above, scores, [b], weights) for b in candidates))
    return np.mean(values)


def fewest_errors(classes, scores, weights=None):
    """Return the least weight of misclassified rows over all ordered thresholds."""
    weights = np.ones(len(classes)) if weights is None else weights
    distinct = np.unique(scores)
    candidates = np.concatenate(([-np.inf], distinct))  # a score equal to a threshold is below it
    return min(
        weights[np.searchsorted(thresholds, scores, side="left") != classes].sum()
        for thresholds in combinations_with_replacement(candidates, classes.max())
    )
