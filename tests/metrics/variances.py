"""Variances and tests of shares of pairs, straight from their definitions, by a loop over all pairs."""

from itertools import product

import numpy as np
import oracles
from scipy.stats import rankdata


def right_order(y, scores):
    """Return symmetric matrices of the comparable pairs and of their values: 1 in the right order, 0.5 if tied."""
    y, p = np.asarray(y, float), np.asarray(scores, float)
    comparable = y[:, None] != y[None, :]
    right = (y[:, None] < y[None, :]) == (p[:, None] < p[None, :])
    values = np.where(p[:, None] == p[None, :], 0.5, right)
    return comparable.astype(float), np.where(comparable, values, 0.0)


def delong(y, scorers):
    """Return the areas under the ROC curves of several scorers and their covariance, by DeLong et al. (1988)."""
    y, scorers = np.asarray(y), np.asarray(scorers, float)
    positive, negative = scorers[:, y == max(y)], scorers[:, y == min(y)]
    m, n = positive.shape[1], negative.shape[1]
    kernel = (positive[:, :, None] > negative[:, None, :]) + 0.5 * (positive[:, :, None] == negative[:, None, :])
    return kernel.mean(axis=(1, 2)), np.cov(kernel.mean(axis=2)) / m + np.cov(kernel.mean(axis=1)) / n


def obuchowski(y, scores, units):
    """Return the variance of the area when units have several rows, by Obuchowski (1997)."""
    y, units = np.asarray(y), np.asarray(units)
    comparable, right = right_order(y, scores)
    positive = y == max(y)
    m, n = positive.sum(), (~positive).sum()
    area = right.sum() / comparable.sum()
    x = {k: (right[(units == k) & positive].sum(axis=1) / n - area).sum() for k in set(units)}
    z = {k: (right[(units == k) & ~positive].sum(axis=1) / m - area).sum() for k in set(units)}
    n_positive, n_negative, n_all = len(set(units[positive])), len(set(units[~positive])), len(set(units))
    s10 = n_positive / ((n_positive - 1) * m) * sum(each**2 for each in x.values())
    s01 = n_negative / ((n_negative - 1) * n) * sum(each**2 for each in z.values())
    s11 = n_all / (n_all - 1) * sum(x[k] * z[k] for k in x)
    return s10 / m + s01 / n + 2 * s11 / (m * n)


def jackknife(y, scores):
    """Return the jackknife variance of the concordance, leaving out each row in turn."""
    rows = np.arange(len(y))
    without = np.array([oracles.concordance(y[rows != i], scores[rows != i]) for i in rows])
    return (len(y) - 1) / len(y) * ((without - without.mean()) ** 2).sum()


def holm(pvalues):
    """Return the smallest level at which Holm's procedure rejects each hypothesis."""
    corrected = []
    for each in pvalues:
        smaller = sorted(p for p in pvalues if p <= each)
        corrected.append(min(1.0, max((len(pvalues) - k) * p for k, p in enumerate(smaller))))
    return corrected


def signed_ranks(differences):
    """Return the p-value of Wilcoxon's test over all choices of signs; zeros have a rank, but no sign."""
    differences = np.asarray(differences)
    ranks, signed = rankdata(np.abs(differences)), differences != 0
    found = ranks[differences > 0].sum()
    sums = np.array([np.dot(signs, ranks[signed]) for signs in product((0, 1), repeat=signed.sum())])
    return min(1.0, 2 * min((sums <= found).mean(), (sums >= found).mean()))
