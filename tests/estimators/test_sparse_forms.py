"""Sparse matrices whose indices are unsorted or repeated, or that store zeros, are what they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank import GreedyRLS, NystromMap, RankRLS, RankSVM


def unsorted(X, kind):
    """Store every row from its last element to the first."""
    parts = [X.indices, X.data]
    for part in parts:
        for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            part[begin:end] = part[begin:end][::-1].copy()
    return kind((X.data, X.indices, X.indptr), shape=X.shape)


def with_duplicates(X, kind):
    """Store every element as two halves."""
    return kind((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def with_zeros(X, kind):
    """Store zeros, too."""
    m, n = X.shape if kind is sp.csr_matrix else X.shape[::-1]
    values = (X.toarray() if kind is sp.csr_matrix else X.toarray().T).ravel()
    return kind((values, np.tile(np.arange(n), m), n * np.arange(m + 1)), shape=X.shape)


FORMS = [unsorted, with_duplicates, with_zeros]


def sparse_data(rng, m=200, n=6):
    X = rng.normal(size=(m, n))
    X[rng.random((m, n)) < 0.4] = 0.0
    return X, X[:, 0] + 0.3 * rng.normal(size=m)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
def test_a_fit_is_that_of_the_canonical_form(rng, form, kind):
    X, y = sparse_data(rng)
    X = np.column_stack([X, np.full(len(X), 1e8), 1e10 + X[:, 1] + rng.normal(size=len(X))])
    given, canonical = form(kind(X), kind), kind(X)
    before = [part.copy() for part in (given.data, given.indices, given.indptr)]
    for model in (RankSVM(1e-3), RankSVM(1e-3, loss="squared_hinge"), RankRLS(1e-3), GreedyRLS(3, alpha=1e-3)):
        expected = model.fit(canonical, y).coef_
        np.testing.assert_array_equal(model.fit(given, y).coef_, expected)
        assert model.coef_[6] == 0.0 or not isinstance(model, RankSVM)  # the constant feature
        np.testing.assert_array_equal(model.predict(given), model.predict(canonical))
    for part, was in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(part, was)


@pytest.mark.parametrize("form", FORMS)
def test_kernels(rng, form):
    X, y = sparse_data(rng, m=50)
    given, canonical = form(sp.csr_matrix(X), sp.csr_matrix), sp.csr_matrix(X)
    for model in (RankSVM(kernel="gaussian", n_basis=20), RankRLS(kernel="polynomial"), NystromMap(n_basis=20)):
        results = [
            each.transform(given) if isinstance(each, NystromMap) else each.predict(given)
            for each in (model.fit(rows, y) for rows in (given, canonical))
        ]
        np.testing.assert_array_equal(*results)


def test_the_certificate_of_an_unsorted_matrix_with_an_offset(rng):
    """The lower bound once exceeded the optimum by 1.5e-6."""
    X = np.round(rng.normal(size=(300, 3)) * 2**10) / 2**10  # exact with the offset added
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=300)
    near = RankSVM(1e-3, tol=1e-9).fit(X, y)
    far = RankSVM(1e-3, tol=1e-9).fit(unsorted(sp.csr_matrix(X + 1e10), sp.csr_matrix), y)
    assert far.objective_ - far.gap_ <= near.objective_ + 1e-12
    assert near.objective_ - near.gap_ <= far.objective_ + 1e-12
