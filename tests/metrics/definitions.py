"""Metrics of positions, straight from their definitions, by enumeration of all orders of tied rows."""

from itertools import permutations, product
from math import log2

import numpy as np
import oracles


def orders(scores):
    """Return all orders of the rows by descending score; rows with equal scores come in any order."""
    groups = [np.flatnonzero(np.asarray(scores) == value) for value in sorted(set(scores), reverse=True)]
    for choice in product(*(permutations(group) for group in groups)):
        yield [row for group in choice for row in group]


def over_orders(metric, y, scores, qid=None, ties=0.5, **kwargs):
    """Return the mean, worst or best value over all orders per query; `metric` takes true values in ranked order."""
    y, scores, query = np.asarray(y, float), np.asarray(scores, float), oracles.query_numbers(qid, len(y))
    summarise = {0.5: np.mean, 0: np.min, 1: np.max}[ties]
    found = []
    for q in range(query.max() + 1):
        rows = query == q
        values = [metric([float(each) for each in y[rows][order]], **kwargs) for order in orders(scores[rows])]
        found.append(summarise(values))
    return np.array(found)


def average_precision(y, threshold=0.0):
    relevant = [each > threshold for each in y]
    precisions = [sum(relevant[: i + 1]) / (i + 1) for i in range(len(y)) if relevant[i]]
    return sum(precisions) / len(precisions) if precisions else np.nan


def precision_at(y, k, threshold=0.0):
    return sum(each > threshold for each in y[:k]) / k


def reciprocal_rank(y, k=None, threshold=0.0):
    return next((1 / (i + 1) for i, each in enumerate(y[:k]) if each > threshold), 0.0)


def ndcg(y, k=None, gain="exp2", convention="standard"):
    if k == "mean":
        return sum(ndcg(y, depth, gain, convention) for depth in range(1, len(y) + 1)) / len(y)
    letor = convention == "letor"
    if letor and k is not None and len(y) < k:
        return 0.0

    def weight(rank):
        return (1 if rank < 3 else 1 / log2(rank)) if letor else 1 / log2(rank + 1)

    def dcg(grades):
        return sum((2**g - 1 if gain == "exp2" else g) * weight(i + 1) for i, g in enumerate(grades[:k]))

    ideal = dcg(sorted(y, reverse=True))
    return dcg(y) / ideal if ideal > 0 else 0.0 if letor else np.nan


def err(y, max_grade, k=None):
    total, reading = 0.0, 1.0
    for i, grade in enumerate(y[:k]):
        stops = (2**grade - 1) / 2**max_grade
        total += reading * stops / (i + 1)
        reading *= 1 - stops
    return total


def delong(y, scores):
    """Return the area under the ROC curve and its variance from a matrix of all pairs."""
    y, p = np.asarray(y), np.asarray(scores, float)
    positive, negative = p[y == max(y)], p[y == min(y)]
    kernel = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    variance = kernel.mean(axis=1).var(ddof=1) / len(positive) + kernel.mean(axis=0).var(ddof=1) / len(negative)
    return kernel.mean(), variance
