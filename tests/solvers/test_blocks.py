"""Products with blocks of a matrix are those with the matrix."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank.solvers import make_products
from kernelrank.solvers._blocks import Block, make_block_products


class Cut:
    """Blocks of a matrix in memory; counts its passes."""

    def __init__(self, X, stops, queries=None, stay=False):
        self.stay = stay
        self.n_rows, self.n_columns = X.shape
        self._X, self._bounds, self._queries = X, [0, *stops, self.n_rows], queries
        self.n_passes = 0

    def __iter__(self):
        self.n_passes += 1
        for start, stop in pairwise(self._bounds):
            queries = None
            if self._queries is not None:
                queries = np.unique(self._queries[start:stop], return_inverse=True)[1].astype(np.int32)
            yield Block(start, self._X[start:stop], queries)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_column_that_varies_in_other_blocks_only(rng, form):
    """What it adds to all scores of a query is left out, and not rounded."""
    queries = np.repeat(np.arange(4, dtype=np.int32), 5)
    X = rng.normal(size=(20, 2))
    X[:10, 1] = 1e16 * (queries[:10] + 1)
    products = make_block_products(Cut(form(X), [10], queries))
    w, g = np.array([1.0, 0.5]), rng.normal(size=20)
    np.testing.assert_array_equal(products.forward(w)[:10], X[:10, 0])
    np.testing.assert_allclose(products.forward(w)[10:], X[10:] @ w, rtol=1e-14)
    g -= (np.bincount(queries, g) / 5)[queries]
    np.testing.assert_allclose(products.backward(g), [X[:, 0] @ g, X[10:, 1] @ g[10:]], rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_block_may_have_some_rows_of_its_matrix(rng, form):
    queries = np.repeat(np.arange(6, dtype=np.int32), 5)
    X, kept = rng.normal(size=(30, 4)), np.flatnonzero(rng.random(30) < 0.8)
    X[:, 1] += 1e9 * (queries + 1)
    X[:, 2] = np.where(np.isin(np.arange(30), kept), queries, rng.random(30))  # constant in the queries of the block
    left = np.unique(queries[kept], return_inverse=True)[1].astype(np.int32)

    class Some:
        stay, n_rows, n_columns = True, len(kept), 4

        def __iter__(self):
            yield Block(0, form(X), left, kept)

    products, alone = make_block_products(Some()), make_products(form(X[kept]), queries=left)
    w, g = rng.normal(size=4), rng.normal(size=len(kept))
    g -= (np.bincount(left, g) / np.bincount(left))[left]
    for _ in range(2):
        scores, expected = products.forward(w), alone.forward(w)
        inside = np.diff(left) == 0
        np.testing.assert_allclose(np.diff(scores)[inside], np.diff(expected)[inside], atol=1e-9)
        np.testing.assert_allclose(products.backward(g), alone.backward(g), atol=1e-9)
        np.testing.assert_allclose(products.squares(g * g)[[0, 3]], alone.squares(g * g)[[0, 3]], rtol=1e-12)
    assert products.backward(g)[2] == 0.0
    out = np.empty(len(kept))
    assert products.forward(w, out) is out
    np.testing.assert_array_equal(out, scores)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("of_queries", [False, True])
@pytest.mark.parametrize("stay", [False, True])
def test_blocks_multiply_as_the_whole_matrix(rng, form, of_queries, stay):
    queries = np.repeat(np.arange(30, dtype=np.int32), 20)
    X = rng.normal(size=(600, 6)) * (rng.random((600, 6)) < 0.6)
    X[:, 1] = 3e8 + rng.normal(size=600)
    X[:, 2] = 1.0
    X[:, 3] = 1e7 * (queries + 1) + rng.normal(size=600)  # drifts from query to query
    X[:, 4] = queries
    w, g = rng.normal(size=6), rng.normal(size=600)
    g -= (np.bincount(queries, g) / 20)[queries]
    given = queries if of_queries else None
    whole, blocks = make_products(form(X), queries=given), Cut(form(X), [200, 260], given, stay)
    products = make_block_products(blocks)
    differences = np.diff((products.forward(w) - whole.forward(w)).reshape(30, 20), axis=1)
    np.testing.assert_allclose(differences, 0.0, atol=1e-6 if not of_queries else 1e-9)
    scale = np.abs(X - X.mean(axis=0)).T @ np.abs(g)
    np.testing.assert_allclose(products.backward(g), whole.backward(g), atol=1e-12 * scale.max())
    assert products.backward(g)[2] == 0.0
    if of_queries:
        assert products.backward(g)[4] == 0.0


def test_a_product_is_one_pass(rng):
    X = rng.normal(size=(50, 3))
    blocks = Cut(X, [20])
    products = make_block_products(blocks)
    before = blocks.n_passes
    products.forward(np.ones(3))
    products.backward(np.ones(50))
    assert blocks.n_passes == before + 2
