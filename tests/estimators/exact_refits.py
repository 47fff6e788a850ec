"""Linear least-squares rankers in rational arithmetic: refits whose ties are decided exactly."""

from fractions import Fraction

import numpy as np


def solve(matrix, right):
    """Solve by elimination, in fractions."""
    lines = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    n = len(lines)
    for k in range(n):
        pivot = next(i for i in range(k, n) if lines[i][k])
        lines[k], lines[pivot] = lines[pivot], lines[k]
        for i in range(n):
            factor = lines[i][k] / lines[k][k] if i != k else 0
            if factor:
                lines[i] = [a - factor * b for a, b in zip(lines[i], lines[k], strict=True)]
    return [lines[k][n] / lines[k][k] for k in range(n)]


def weights(X, y, alpha, queries=None):
    """Weights of a RankRLS of given rows, the average being over queries of two rows at least."""
    n = X.shape[1]
    matrix = [[Fraction(alpha) if i == j else Fraction(0) for j in range(n)] for i in range(n)]
    right = [Fraction(0)] * n
    groups = [np.arange(len(y))] if queries is None else [np.flatnonzero(queries == q) for q in np.unique(queries)]
    groups = [rows for rows in groups if len(rows) > 1]
    for rows in groups:
        x = [[Fraction(float(v)) for v in X[i]] for i in rows]
        t = [Fraction(float(y[i])) for i in rows]
        means = [sum(column) / len(rows) for column in zip(*x, strict=True)]
        x = [[a - b for a, b in zip(row, means, strict=True)] for row in x]
        mean, weight = sum(t) / len(rows), Fraction(2, len(rows) * len(groups))
        for row, value in zip(x, t, strict=True):
            for i in range(n):
                right[i] += weight * row[i] * (value - mean)
                for j in range(n):
                    matrix[i][j] += weight * row[i] * row[j]
    return solve(matrix, right)


def exact_scores(X, y, alpha, fold, queries=None):
    """Scores of the rows of a fold by a model of the others, without its level; and the weights."""
    rest = np.setdiff1d(np.arange(len(y)), fold)
    w = weights(X[rest], y[rest], alpha, None if queries is None else queries[rest])
    return [sum(a * Fraction(float(v)) for a, v in zip(w, X[i], strict=True)) for i in fold], w


def exact_predictions(X, y, alpha, fold):
    """Predictions of one ranking, on the level of the other rows."""
    rest = np.setdiff1d(np.arange(len(y)), fold)
    scores, w = exact_scores(X, y, alpha, fold)
    level = sum(Fraction(float(y[i])) - sum(a * Fraction(float(v)) for a, v in zip(w, X[i], strict=True)) for i in rest)
    return [score + level / len(rest) for score in scores]


def exact_signs(X, y, alpha, fold, queries=None):
    """Signs of the differences between the rows of a fold that models of the other rows predict."""
    scores, _ = exact_scores(X, y, alpha, fold, queries)
    return np.array([[(a > b) - (a < b) for b in scores] for a in scores])


def signs(scores):
    """Signs of the differences of scores."""
    return np.sign(np.subtract.outer(scores, scores)).astype(int)
