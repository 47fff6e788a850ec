"""Products at the entries of a matrix that is not formed: any storage, any order, any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernelrank._core import sample_product, spread_product
from kernelrank._entries import EntryProducts

FORMS = {"dense": np.asarray, "Fortran": np.asfortranarray, "csr": sp.csr_array}


def case(rng, q, m, d1, d2, n, dtype=np.float64):
    U, V = (rng.normal(size=shape) * (rng.random(shape) < 0.6) for shape in ((q, d1), (m, d2)))
    return U.astype(dtype), V.astype(dtype), *(rng.integers(size, size=n).astype(np.int32) for size in (q, m))


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("d1", "d2"), [(5, 3), (3, 5), (1, 40), (40, 23), (8, 8)])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_products_are_those_of_the_formed_matrix(rng, form, dtype, d1, d2, n_threads):
    U, V, rows, columns = case(rng, 12, 9, d1, d2, 100, dtype)
    products = EntryProducts(FORMS[form](U), FORMS[form](V), rows, columns, n_threads)
    X = np.stack([np.kron(u, v) for u, v in zip(U[rows].astype(float), V[columns].astype(float), strict=True)])
    W, g = rng.normal(size=(d1, d2)), rng.normal(size=100)
    np.testing.assert_allclose(products.forward(W), X @ W.ravel(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.backward(g).ravel(), X.T @ g, rtol=1e-12, atol=1e-12)


small = st.integers(-3, 3).map(float)


@given(data=st.data(), sizes=st.tuples(*[st.integers(1, 5)] * 4), n=st.integers(0, 12))
def test_integers_are_multiplied_exactly(data, sizes, n):
    q, m, d1, d2 = sizes
    U, V, W, g = (data.draw(arrays(float, shape, elements=small)) for shape in ((q, d1), (m, d2), (d1, d2), n))
    rows, columns = (data.draw(arrays(np.int32, n, elements=st.integers(0, size - 1))) for size in (q, m))
    G = np.zeros((q, m))
    np.add.at(G, (rows, columns), g)
    for form in FORMS.values():
        products = EntryProducts(form(U), form(V), rows, columns)
        np.testing.assert_array_equal(products.forward(W), (U @ W @ V.T)[rows, columns])
        np.testing.assert_array_equal(products.backward(g), U.T @ G @ V)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize(("d1", "d2"), [(20, 13), (13, 20)])
def test_threads_do_not_show_in_the_last_bit(rng, form, d1, d2):
    U, V, rows, columns = case(rng, 60, 50, d1, d2, 30_000)
    rows[:20_000] = 7  # a line that has most of the entries
    W, g = rng.normal(size=(d1, d2)), rng.normal(size=len(rows))
    found = [EntryProducts(FORMS[form](U), FORMS[form](V), rows, columns, n) for n in (1, 2, 5)]
    for other in found[1:]:
        np.testing.assert_array_equal(other.forward(W), found[0].forward(W))
        np.testing.assert_array_equal(other.backward(g), found[0].backward(g))


@pytest.mark.parametrize("form", list(FORMS))
def test_equal_rows_have_equal_scores_among_any_entries(rng, form):
    U, V, rows, columns = case(rng, 30, 40, 19, 21, 500)
    U[3], V[8] = U[17], V[2]
    W = rng.normal(size=(19, 21))
    U, V = FORMS[form](U), FORMS[form](V)
    scores = {}
    for some in (slice(None), slice(3, 4), rng.permutation(500)[:60]):
        r, c = rows[some].copy(), columns[some].copy()
        found = EntryProducts(U, V, r, c, 2).forward(W)
        for row, column, score in zip(np.where(r == 3, 17, r), np.where(c == 8, 2, c), found, strict=True):
            assert scores.setdefault((row, column), score) == score


def test_other_factors_keep_the_entries(rng):
    U, V, rows, columns = case(rng, 6, 7, 4, 3, 50)
    products, g = EntryProducts(U, V, rows, columns), rng.normal(size=50)
    squares = products.with_factors(U * U, V * V).backward(g)
    np.testing.assert_array_equal(squares, EntryProducts(U * U, V * V, rows, columns).backward(g))
    assert products.with_factors(U, V)._entries is products._entries


def test_more_lines_than_short_numbers(rng):
    U, V, rows, columns = case(rng, 70_000, 5, 2, 2, 300)
    W, g = rng.normal(size=(2, 2)), rng.normal(size=300)
    products = EntryProducts(U, V, rows, columns)
    np.testing.assert_allclose(products.forward(W), ((U[rows] @ W) * V[columns]).sum(axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.backward(g), (U[rows] * g[:, None]).T @ V[columns], rtol=1e-12, atol=1e-12)


def test_no_entries():
    products = EntryProducts(np.ones((3, 2)), np.ones((4, 5)), *[np.zeros(0, np.int32)] * 2)
    assert products.forward(np.ones((2, 5))).shape == (0,)
    np.testing.assert_array_equal(products.backward(np.zeros(0)), np.zeros((2, 5)))


def test_shapes_are_checked_before_memory_is_read():
    starts, numbers, partners = np.array([0, 2]), np.array([0, 1]), np.zeros(2, np.int32)
    lines, V, out = np.ones((1, 3)), np.ones((4, 3)), np.empty(2)
    sample_product(starts, numbers, partners, lines, V, out, 1)
    np.testing.assert_array_equal(out, 3.0)
    for wrong in (
        (starts[:0], numbers, partners, lines, V, out),
        (starts - 1, numbers, partners, lines, V, out),
        (starts, numbers[:1], partners, lines, V, out),
        (starts, numbers, partners, np.ones((2, 3)), V, out),
        (starts, numbers, partners, lines, np.ones((4, 2)), out),
        (starts, numbers, partners, lines, V, np.empty(3)),
        (starts, numbers, partners, lines, np.array([0, 1]), np.zeros(1, np.int32), np.ones(2), out),
    ):
        with pytest.raises(ValueError, match="must"):
            sample_product(*wrong, 1)
    for g, out in ((np.ones(3), np.empty((1, 3))), (np.ones(2), np.empty((2, 3))), (np.ones(2), np.empty((1, 2)))):
        with pytest.raises(ValueError, match="must"):
            spread_product(starts, numbers, partners, g, V, out, 1)
