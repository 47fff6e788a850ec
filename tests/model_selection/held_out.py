"""Estimates as they are defined: every held-out model is trained."""

import itertools

import numpy as np
from sklearn.base import clone


def scores_without(estimator, X, y, rows, **params):
    """Scores of rows by a model of all others."""
    rest = np.setdiff1d(np.arange(len(y)), rows)
    model = clone(estimator).fit(X[rest], y[rest], **{name: values[rest] for name, values in params.items()})
    if hasattr(model, "decision_function"):
        return model.decision_function(X[rows])
    return model.predict(X[rows])


def win(better, worse):
    """What a pair counts."""
    return 0.5 if abs(better - worse) < 1e-9 else float(better > worse)


def leave_pair_out(estimator, X, y, groups=None, queries=None, **params):
    """Every pair of different utilities, held out with its groups; the wins of each row, and the pairs."""
    groups = np.arange(len(y)) if groups is None else groups
    queries = np.zeros(len(y)) if queries is None else queries
    wins, pairs = np.zeros((2, len(y)))
    for i, j in itertools.permutations(range(len(y)), 2):
        if y[i] > y[j] and queries[i] == queries[j]:
            rows = np.flatnonzero((groups == groups[i]) | (groups == groups[j]))
            scores = dict(zip(rows, scores_without(estimator, X, y, rows, **params), strict=True))
            for row in (i, j):
                wins[row] += win(scores[i], scores[j])
                pairs[row] += 1
    return wins, pairs


def tournament(estimator, X, y):
    """Wins of every row over all others."""
    wins = np.zeros(len(y))
    for i, j in itertools.combinations(range(len(y)), 2):
        scores = scores_without(estimator, X, y, np.array([i, j]))
        wins[i] += win(*scores)
        wins[j] += win(*scores[::-1])
    return wins / (len(y) - 1)


def concordance(y, scores):
    """Share of pairs in the right order."""
    found = [win(scores[i], scores[j]) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    return np.mean(found)
