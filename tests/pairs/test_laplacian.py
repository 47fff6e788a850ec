"""The Laplacian of pairs and its spectrum, against the sum over pairs."""

import numpy as np
import pytest

from kernelrank.pairs import GraphLaplacian, all_pairs, pairs_without_ties


def laplacian(queries, y, weights):
    m = len(y)
    L = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            if i != j and queries[i] == queries[j] and y[i] != y[j]:
                L[i, i] += weights[i] * weights[j]
                L[i, j] -= weights[i] * weights[j]
    return L


def make(rng, m=40, n_queries=6):
    queries = np.concatenate([np.arange(n_queries), rng.integers(n_queries, size=m - n_queries)])
    return rng.permutation(queries).astype(np.int32), rng.integers(3, size=m).astype(float)


@pytest.mark.parametrize("weighting", ["ones", "weights", "some zero"])
@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("n_queries", [1, 6, 30])
def test_products_and_spectrum(rng, ties, weighting, n_queries):
    queries, y = make(rng, n_queries=n_queries)
    weights = {"ones": np.ones(40), "weights": rng.random(40) + 0.1, "some zero": rng.integers(0, 2, 40) * 1.0}[
        weighting
    ]
    weights[np.unique(queries, return_index=True)[1]] = 1.0  # every query has some weight
    L = laplacian(queries, np.arange(40.0) if ties == "keep" else y, weights)
    found = all_pairs(queries, weights) if ties == "keep" else pairs_without_ties(queries, y, weights)
    V = rng.normal(size=(40, 3))
    np.testing.assert_allclose(found.lift(found.strengths[:, None] * found.project(V)), L @ V, atol=1e-12)
    np.testing.assert_allclose(found.lift(found.strengths * found.project(V[:, 0])), L @ V[:, 0], atol=1e-12)
    if ties == "keep":
        product = found.product(found.strengths)
        np.testing.assert_allclose(product(V[:, 0].copy()), L @ V[:, 0], atol=1e-12)
        with_offsets = V[:, 0] + 1e6 * rng.normal(size=n_queries)[queries]
        np.testing.assert_allclose(product(with_offsets), L @ V[:, 0], atol=1e-6)
    else:
        assert found.product(found.strengths) is None
    P = found.project(np.eye(40))
    np.testing.assert_allclose(found.lift(np.eye(len(P))), P.T, atol=1e-14)
    np.testing.assert_allclose(found.diagonal(found.strengths), np.diagonal(L), atol=1e-12)
    K = V @ V.T
    np.testing.assert_allclose(found.project_both(K.copy()), P @ K @ P.T, atol=1e-12)
    assert np.linalg.matrix_rank(P) == np.linalg.matrix_rank(L)
    assert (found.strengths > 0).all()
    if weighting == "ones":
        np.testing.assert_allclose(P @ P.T, np.eye(len(P)), atol=1e-14)
        np.testing.assert_allclose(np.sort(found.strengths), np.linalg.eigvalsh(L)[40 - len(P) :], rtol=1e-10)


def test_each_coordinate_looks_at_one_query(rng):
    queries, y = make(rng)
    for found in (all_pairs(queries, np.ones(40)), pairs_without_ties(queries, y, np.ones(40))):
        P = found.project(np.eye(40))
        for row, query in zip(P, found.queries, strict=True):
            assert (np.abs(row[queries != query]) < 1e-15).all()


def test_constants_of_a_query_are_not_seen(rng):
    queries, y = make(rng)
    offset = 1e8 * rng.normal(size=6)[queries]
    for found in (all_pairs(queries, np.ones(40)), pairs_without_ties(queries, y, np.ones(40))):
        np.testing.assert_allclose(found.project(offset), 0.0, atol=1e-6)


def test_nothing_to_compare():
    one_class = pairs_without_ties(np.zeros(5, np.int32), np.ones(5), np.ones(5))
    assert len(one_class.strengths) == 0
    assert len(all_pairs(np.arange(5, dtype=np.int32), np.ones(5)).strengths) == 0


def test_a_graph_is_the_sum_over_its_edges(rng):
    """Also of edges that are there twice, once in each direction among them."""
    edges, strengths = np.array([[0, 1], [1, 0], [0, 1], [2, 4], [4, 5], [2, 5]]), rng.random(6) + 0.1
    L = np.zeros((7, 7))
    for (i, j), strength in zip(edges, strengths, strict=True):
        L[[i, j], [i, j]] += strength
        L[[i, j], [j, i]] -= strength
    graph = GraphLaplacian(*edges.T, 7)
    v = rng.normal(size=7)
    np.testing.assert_allclose(graph.lift(strengths * graph.project(v)), L @ v)
    np.testing.assert_allclose(graph.diagonal(strengths), np.diagonal(L))
    dense = graph.diagonalise(strengths, np.array([0, 0, 1, 2, 1, 1, 2]))
    assert len(dense.strengths) == 3  # a pair and a triangle; two rows have no edge
    np.testing.assert_allclose(dense.vectors.T @ np.diag(dense.strengths) @ dense.vectors, L, atol=1e-12)
