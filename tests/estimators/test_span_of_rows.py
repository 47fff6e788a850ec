"""Wide dense rows: the problem in the span of the rows is the problem itself."""

import numpy as np
import pytest

from kernelrank import OrdinalSVM, RankSVM, RankSVMCV
from kernelrank.estimators import _representation
from kernelrank.estimators._span_of_rows import SpanOfRows, is_wide


def data(rng, m=20, n=400):
    X = rng.normal(size=(m, n))
    return X, X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=m), np.arange(m) % 3


@pytest.fixture
def plain(monkeypatch):
    """Fit a model without the shortcut."""

    def fit(model, *arguments, **keywords):
        with monkeypatch.context() as patch:
            patch.setattr(_representation, "is_wide", lambda X: False)
            return model.fit(*arguments, **keywords)

    return fit


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("queries", [False, True])
def test_it_is_the_same_model(rng, plain, loss, queries):
    X, y, qid = data(rng)
    qid = qid if queries else None
    model = RankSVM(0.1, loss=loss, tol=1e-8).fit(X, y, qid=qid)
    assert model.gap_ <= 1e-8
    other = plain(RankSVM(0.1, loss=loss, tol=1e-8), X, y, qid=qid)
    assert model.objective_ == pytest.approx(other.objective_, abs=2e-8)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4 * np.abs(other.coef_).max())


def test_paths_and_ordered_classes(rng, plain):
    X, y, qid = data(rng)
    one, other = RankSVMCV([1.0, 0.01], cv=3).fit(X, y, qid=qid), plain(RankSVMCV([1.0, 0.01], cv=3), X, y, qid=qid)
    np.testing.assert_allclose(one.scores_, other.scores_, atol=0.05)
    np.testing.assert_allclose(one.coef_path_, other.coef_path_, atol=0.1 * np.abs(other.coef_path_).max())
    classes = np.digitize(y, [-1, 1])
    ordinal, reference = OrdinalSVM(0.1).fit(X, classes), plain(OrdinalSVM(0.1), X, classes)
    assert ordinal.objective_ == pytest.approx(reference.objective_, abs=2e-3)
    np.testing.assert_array_equal(ordinal.predict(X), reference.predict(X))


def test_offsets_and_constant_columns(rng):
    X, y, qid = data(rng)
    moved = X + 1e8 * rng.normal(size=(3, 400))[qid]
    moved[:, 7] = 1e8 * (1 + qid)
    X[:, 7] = 0.0
    reference = RankSVM(0.1, tol=1e-8).fit(X, y, qid=qid).coef_
    found = RankSVM(0.1, tol=1e-8).fit(moved, y, qid=qid).coef_
    assert found[7] == 0.0
    np.testing.assert_allclose(found, reference, atol=1e-5 * np.abs(reference).max())


def test_sums_are_those_of_centred_rows(rng):
    X, _, qid = data(rng)
    centred = X - np.stack([X[qid == q].mean(axis=0) for q in range(3)])[qid]
    for dtype, order, accuracy in ((np.float64, "C", 1e-12), (np.float64, "F", 1e-12), (np.float32, "C", 1e-6)):
        span = SpanOfRows(np.asarray(X, dtype=dtype, order=order), qid.astype(np.int32))
        K = span.inner_products()
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(K, centred @ centred.T, atol=accuracy * 400)
        c = rng.normal(size=20)
        np.testing.assert_allclose(span.combine(c), centred.T @ c, atol=accuracy * 20)


def test_only_wide_rows_are_treated_so(rng):
    assert is_wide(np.zeros((20, 200)))
    assert not is_wide(np.zeros((20, 199)))
    assert not is_wide(np.zeros((501, 10_000)))
    X, y, _ = data(rng)
    model = RankSVM(0.1, loss="squared_hinge", warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 2  # it starts from its own solution
    assert (RankSVM(0.1, positive=True).fit(X, y).coef_ >= 0).all()


def test_equal_rows_order_nothing():
    model = RankSVM().fit(np.ones((4, 100)), [1, 2, 3, 4])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.objective_ == 1.0
