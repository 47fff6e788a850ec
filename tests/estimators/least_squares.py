"""Data and references that the tests of least squares share."""

import numpy as np
import pytest
from sklearn.base import clone

from kernelrank.kernels import Gaussian, Linear, Polynomial

EPS = np.finfo(float).eps


def data(rng, m=50, n=4, outputs=None, offset=0.0):
    X = rng.normal(size=(m, n))
    Y = X[:, :2].sum(axis=1)[:, None] + rng.normal(size=(m, outputs or 1))
    return X + offset, Y if outputs else Y[:, 0]


def query_ids(rng, m=50, n_queries=7):
    """Of very different sizes; one has a single row."""
    return np.concatenate([[99], rng.permutation(np.sort(rng.integers(n_queries, size=m - 1) ** 2 % n_queries))])


KERNELS = {
    "few features": ("linear", 5),
    "many features": ("linear", 100),
    "gaussian": (Gaussian(0.05), 5),
    "deficient": (Polynomial(2, gamma=1e-4), 3),
    "sum": (Linear() + 0.1 * Gaussian(0.1), 5),
}
kernels = pytest.mark.parametrize(("kernel", "n"), KERNELS.values(), ids=KERNELS)
ALPHAS = [1e-12, 1e-6, 1e-2, 1.0, 1e4, 1e12]


def assert_like_refit(found, expected, model, alpha):
    """Equal to 1e-9, or to 100 times what rounding does to a system of that condition."""
    solver = model._training.solver
    values = solver.spectrum.values
    smallest, largest = values.min(), values.max()
    if solver._matrix is not None:  # a constant in the kernel costs digits, too
        largest = max(largest, solver.loss.root.max() ** 2 * np.linalg.norm(solver._matrix, 2))
    condition = (largest + alpha) / (smallest + alpha)
    tolerance = max(1e-9, 100 * EPS * condition)
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def refit(model, X, y, rows, alpha, **metadata):
    """Predictions for some rows by a model of the others, the kernel's parameters being those of all."""
    other = clone(model).set_params(alpha=alpha, kernel=model.kernel_)
    rest = np.setdiff1d(np.arange(len(y)), rows)
    given = {name: values[rest] for name, values in metadata.items() if values is not None}
    return other.fit(X[rest], y[rest], **given).predict(X[rows])
