"""Wide dense matrices are learnt from in the span of their rows: the same problem, at a fraction of the cost."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import pairwise_hinge, pairwise_squared_hinge

from kernelrank import OrdinalSVM, RankSVM, RankSVMCV
from kernelrank.solvers import RowSpace

LOSSES = {"hinge": pairwise_hinge, "squared_hinge": pairwise_squared_hinge}


def centred(X, queries):
    Z = np.array(X, dtype=np.float64)
    for query in np.unique(queries):
        Z[queries == query] -= Z[queries == query].mean(axis=0)
    return Z


def wide(rng, m=30, n=400):
    X = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-2, 2, n)
    return X, X[:, :5].sum(axis=1) + rng.normal(size=m)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_coordinates_keep_all_inner_products(rng, dtype, order, monkeypatch):
    monkeypatch.setattr("kernelrank.solvers._row_space._BLOCK_ELEMENTS", 2000)  # several blocks, the last one short
    X, _ = wide(rng)
    X = np.asarray(X, dtype=dtype, order=order)
    queries = rng.permutation(np.arange(30, dtype=np.int32) % 4)
    space = RowSpace(X, queries)
    Z = centred(X, queries)
    norms = np.linalg.norm(Z, axis=1)
    np.testing.assert_allclose(space.features @ space.features.T, Z @ Z.T, atol=1e-13 * np.outer(norms, norms).max())
    v = space.features.T @ rng.normal(size=30)
    w = space.lift(v)
    assert np.linalg.norm(w) == pytest.approx(np.linalg.norm(v), rel=1e-12)
    np.testing.assert_allclose(Z @ w, space.features @ v, rtol=1e-11, atol=1e-12 * np.abs(Z @ w).max())
    np.testing.assert_allclose(space.project(w), v, rtol=1e-9, atol=1e-11 * np.abs(v).max())


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_rows_of_very_different_norm_keep_their_digits(rng, scale):
    """A decomposition of Z Z' would lose the second half of the columns."""
    X = np.hstack([rng.normal(size=(20, 300)), scale * rng.normal(size=(20, 300))])
    X[:10, :300] = 0.0
    space = RowSpace(X, np.repeat([0, 1], 10).astype(np.int32))
    Z = centred(X, np.repeat([0, 1], 10))
    np.testing.assert_allclose(np.linalg.norm(space.features, axis=1), np.linalg.norm(Z, axis=1), rtol=1e-12)


def test_only_wide_dense_matrices_of_few_rows_get_one():
    assert RowSpace.if_wide(np.ones((10, 100))) is not None
    assert RowSpace.if_wide(np.ones((10, 99))) is None
    assert RowSpace.if_wide(np.ones((151, 1510))) is None
    assert RowSpace.if_wide(sp.csr_array(np.ones((10, 100)))) is None


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("alpha", [1e-1, 1e-4, 1e-9])
@pytest.mark.parametrize("with_queries", [False, True])
def test_the_certificate_is_that_of_the_coefficients(rng, loss, alpha, with_queries):
    X, y = wide(rng)
    qid = rng.integers(0, 3, 30) if with_queries else None
    model = RankSVM(alpha, loss=loss).fit(X, y, qid=qid)
    objective = LOSSES[loss](y, X @ model.coef_, qid=qid) + alpha * model.coef_ @ model.coef_
    assert model.objective_ == pytest.approx(objective, rel=1e-9, abs=1e-10)
    direct = RankSVM(alpha, loss=loss).fit(sp.csr_array(X), y, qid=qid)  # sparse ones are taken as they are
    assert direct.objective_ - direct.gap_ <= model.objective_ + 1e-12
    assert model.objective_ - model.gap_ <= direct.objective_ + 1e-12


def test_constant_columns_get_no_weight_and_offsets_do_not_matter(rng):
    X, y = wide(rng)
    reference = RankSVM(1e-2, tol=1e-9).fit(X, y)
    X[:, 7] = 1e8 / 3
    assert RankSVM(1e-2).fit(X, y).coef_[7] == 0
    X, y = wide(rng)
    reference, moved = (RankSVM(1e-2, tol=1e-9).fit(each, y) for each in (X, X + 1e6))
    assert moved.objective_ == pytest.approx(reference.objective_, abs=1e-7)


def test_a_warm_start_continues(rng):
    X, y = wide(rng)
    model = RankSVM(1e-3, warm_start=True).fit(X, y)
    first = model.objective_
    model.fit(X, y)
    assert model.history_["upper_bound"][0] == pytest.approx(first, rel=1e-9)


def test_the_result_does_not_depend_on_the_number_of_threads(rng):
    X, y = wide(rng)
    one, two = (RankSVM(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_paths_and_ordinal_regression_use_it_too(rng):
    X, y = wide(rng)
    path = RankSVMCV(np.logspace(1, -3, 5), cv=3).fit(X, y)
    slow = RankSVMCV(np.logspace(1, -3, 5), cv=3).fit(sp.csr_array(X), y)
    assert path.coef_path_.shape == (5, 400)
    for alpha, w, other, gap in zip(path.alphas_, path.coef_path_, slow.coef_path_, path.gaps_, strict=True):
        objectives = [pairwise_hinge(y, X @ each) + alpha * each @ each for each in (w, other)]
        assert objectives[0] <= objectives[1] + gap + 1e-10
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    few, many = (OrdinalSVM(1e-2).fit(each, classes) for each in (X, sp.csr_array(X)))
    assert few.objective_ == pytest.approx(many.objective_, abs=few.gap_ + many.gap_)
    np.testing.assert_array_equal(few.predict(X), classes)
