"""Kronecker least squares by definition: dense matrices of all pairs of entries, and refits of what remains."""

import numpy as np


def solve_entries(K, G, Y, known, alpha, ranking, intercept):
    """Return A with f(u, v) = k(u)' A g(v), and the constant, from the definition of the objective."""
    rows, columns = np.nonzero(known)
    y, n = Y[rows, columns], len(rows)
    M = K[np.ix_(rows, rows)] * G[np.ix_(columns, columns)]
    A, constant = np.zeros(Y.shape), 0.0
    if ranking:
        L, members = np.zeros((n, n)), [np.flatnonzero(rows == i) for i in np.unique(rows)]
        members = [each for each in members if len(each) > 1]
        for own in members:
            # the mean over all ordered pairs of a row, half of which is the loss of RankRLS
            L[np.ix_(own, own)] = 2 / len(own) * (np.eye(len(own)) - 1 / len(own)) / len(members)
        A[rows, columns] = np.linalg.solve(L @ M + alpha * np.eye(n), L @ y)
        return A, 0.0
    inverse = np.linalg.inv(M + alpha * n * np.eye(n))
    if intercept:
        constant = (inverse @ y).sum() / inverse.sum()
    A[rows, columns] = inverse @ (y - constant)
    return A, constant


def predict_entry(K, G, A, constant, i, j, ranking, training_columns):
    """Predict one entry; for a ranking relative to the mean of the training columns."""
    row = K[i] @ A @ G
    return row[j] - row[training_columns].mean() if ranking else row[j] + constant


def hold_out(K, G, Y, alpha, setting, ranking=False, intercept=True):
    """Refit for every entry without what the setting holds out."""
    (q, m), found = Y.shape, np.empty(Y.shape)
    for i in range(q):
        for j in range(m):
            known = np.ones((q, m), bool)
            if setting in ("row", "both"):
                known[i] = False
            if setting in ("column", "both"):
                known[:, j] = False
            if setting == "entry":
                known[i, j] = False
            left = np.delete(np.arange(m), j) if setting in ("column", "both") else np.arange(m)
            A, constant = solve_entries(K, G, Y, known, alpha, ranking, intercept)
            found[i, j] = predict_entry(K, G, A, constant, i, j, ranking, left)
    return found
