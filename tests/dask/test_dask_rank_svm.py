"""RankSVM on collections: the same answers as on the same rows in memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse as sp
from clusters import assert_nothing_is_left
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, cross_val_score

import kernelrank
from kernelrank.dask import RankRLS, RankSVM, RankSVMCV
from kernelrank.dask._rows import _ranked
from kernelrank.exceptions import ConvergenceWarning, MissingQueryWarning, NoComparablePairsError, QueryColumnWarning


def data(rng, m=1200, n=5):
    X = rng.normal(size=(m, n))
    y = np.round(X[:, 0] - X[:, 1] + rng.normal(size=m), 1)
    return X, y, np.sort(rng.integers(0, 60, m))


def assert_same(model, local):
    """Both objectives are within the certified gaps of the same optimum."""
    assert model.gap_ <= model.tol
    assert model.objective_ - model.gap_ <= local.objective_ + 1e-12
    assert local.objective_ - local.gap_ <= model.objective_ + 1e-12
    assert model.n_pairs_ == pytest.approx(local.n_pairs_, rel=1e-12)
    assert model.n_features_in_ == local.n_features_in_
    assert model.gap_ >= 0


def assert_objective(model, X, y, qid=None, weights=None):
    """The objective that was reported is that of the solution, by the definition."""
    loss = oracles.pairwise_hinge if model.loss == "hinge" else oracles.pairwise_squared_hinge
    scores = (X.toarray() if sp.issparse(X) else X) @ model.coef_
    objective = loss(y, scores, qid, weights, model.query_weighting) + model.alpha * model.coef_ @ model.coef_
    assert model.objective_ - model.gap_ <= objective + 1e-12
    assert objective <= model.objective_ + 1e-12 * abs(objective)


@pytest.mark.pairwise
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("queries", [None, "sorted", "shuffled", "near", "text"])
@pytest.mark.parametrize("form", ["dense", "float32", "sparse", "columns"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("weighting", ["query", "pair"])
@pytest.mark.parametrize("collections", [True, False])
def test_models_are_those_of_the_rows_in_memory(rng, client, loss, queries, form, weighted, weighting, collections):
    X, y, qid = data(rng)
    X = X.astype(np.float32) if form == "float32" else X
    if queries in (None, "shuffled", "text"):
        qid = rng.permutation(qid)
    if queries == "near":  # most rows of a chunk are of queries that are nowhere else
        qid = qid[np.argsort(np.arange(len(y)) + rng.uniform(0, 5, len(y)))]
    qid = None if queries is None else np.array([f"q{k}" for k in qid], dtype=object) if queries == "text" else qid
    weights = rng.random(len(y)) * (rng.random(len(y)) < 0.8) if weighted else None
    chunks = da.from_array(X, chunks=(250, 2 if form == "columns" else -1))
    if form == "sparse":
        X = sp.csr_matrix(np.where(np.abs(X) > 1, X, 0))
        chunks = da.from_array(X.toarray(), chunks=(250, -1)).map_blocks(sp.csr_matrix)

    def as_given(v, size):
        return v if v is None or not collections or v.dtype == object else da.from_array(v, chunks=size)

    options = {"alpha": 1e-3, "loss": loss, "query_weighting": weighting}
    local = kernelrank.RankSVM(**options).fit(X, y, qid=qid, sample_weight=weights)
    model = RankSVM(**options, client=client).fit(
        chunks, as_given(y, 300), qid=as_given(qid, 500), sample_weight=as_given(weights, 250)
    )
    assert_same(model, local)
    assert_objective(model, X.astype(np.float64), y, qid, weights)


@pytest.mark.parametrize("levels", [5, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_give_the_model_of_the_rows_in_memory(rng, client, levels, weighted):
    X, y, _ = data(rng)
    y = np.digitize(y, np.linspace(-2, 2, levels - 1)) if levels else y + rng.normal(size=len(y))
    weights = rng.random(len(y)) if weighted else None
    local = kernelrank.RankSVM(1e-3).fit(X, y, sample_weight=weights)
    model = RankSVM(1e-3, counting="bins", client=client).fit(
        da.from_array(X, chunks=(250, -1)), y, sample_weight=weights
    )
    assert_same(model, local)
    gathered = RankSVM(1e-3, counting="gather", client=client).fit(
        da.from_array(X, chunks=(250, -1)), y, sample_weight=weights
    )
    assert_same(gathered, local)
    for each in (model, gathered):
        assert_objective(each, X, y, weights=weights)


def test_a_data_frame_with_a_column_of_queries(rng, client):
    X, y, qid = data(rng)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(qid=qid, target=y)
    chunks = dd.from_pandas(frame, npartitions=4)
    features = frame.drop(columns="target")
    local = kernelrank.RankSVM(1e-2).fit(features, y)
    model = RankSVM(1e-2, client=client).fit(chunks.drop(columns="target"), chunks["target"])
    assert_same(model, local)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcde"))
    lazy = model.predict(chunks.drop(columns="target"))
    np.testing.assert_allclose(lazy.compute(), model.to_local().predict(features), rtol=1e-12)
    assert model.score(chunks.drop(columns="target"), chunks["target"]) == pytest.approx(
        model.to_local().score(features, y)
    )
    np.testing.assert_array_equal(
        model.rank(chunks.drop(columns="target")), model.to_local().rank(features.drop(columns="qid"), qid)
    )


def test_prediction_is_lazy_and_by_chunks(rng, client):
    X, y, _ = data(rng)
    chunks = da.from_array(X, chunks=(500, -1))
    model = RankSVM(client=client).fit(chunks, y)
    scores = model.predict(chunks)
    assert scores.chunks == ((500, 500, 200),)
    np.testing.assert_array_equal(scores.compute(), model.to_local().predict(X))
    np.testing.assert_array_equal(model.predict(X), model.to_local().predict(X))
    np.testing.assert_array_equal(model.decision_function(chunks).compute(), scores.compute())
    assert model.score(chunks, da.from_array(y, chunks=100)) == model.to_local().score(X, y)


@pytest.mark.filterwarnings("ignore::kernelrank.exceptions.UndefinedQueryWarning")
def test_scores_that_are_computed_later(rng, client, tmp_path):
    X, y, qid = data(rng, 400)
    loaded = tmp_path / "loaded"

    def load(rows):
        loaded.touch()
        return rows

    chunks = da.from_array(X, chunks=(100, -1)).map_blocks(load, meta=X[:0])
    given = {"qid": da.from_array(qid, chunks=150), "sample_weight": rng.random(400), "observed": rng.random(400) < 0.9}
    model, local = RankSVM(client=client).fit(chunks, y, qid=qid), kernelrank.RankSVM().fit(X, y, qid=qid)
    for targets in (y, da.from_array(y, chunks=300)):
        loaded.unlink()
        score = model.score(chunks, targets, **given, compute=False)
        assert (score.shape, score.dtype, score.ndim) == ((), np.float64, 0)
        assert not loaded.exists()
        found = score.compute() if client is None else client.compute(score).result()
        assert loaded.exists()
        assert found == model.score(chunks, targets, **given) == model.to_local().score(X, y, **given | {"qid": qid})
    assert float(local.score(X, y, qid=qid)) == pytest.approx(
        float(model.score(X, y, qid=qid, compute=False)), abs=0.02
    )
    with pytest.warns(MissingQueryWarning) as warned:
        later = model.score(chunks, y, compute=False)
    assert len(warned) == 1
    assert 0.5 < float(later) < 1
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")).assign(qid=qid), npartitions=3)
    model.fit(frame, y)
    assert float(model.score(frame, y, compute=False)) == model.score(frame, y)
    outputs = RankRLS(client=client).fit(chunks, np.column_stack([y, -X[:, 2]]))
    targets = da.from_array(np.column_stack([y, -X[:, 2]]), chunks=(70, 1))
    assert float(outputs.score(chunks, targets, compute=False)) == outputs.score(chunks, targets)
    with pytest.raises(ValueError, match="y contains NaN"):
        model.score(frame, np.where(y > 1, np.nan, y), compute=False).compute()
    with pytest.raises(ValueError, match="compute must be True or False"):
        model.score(frame, y, compute="later")


def test_searches_of_scikit_learn(rng):
    X, y, _ = data(rng, 300)
    chunks, options = da.from_array(X, chunks=(100, -1)), {"scoring": None, "cv": KFold(3)}
    found = cross_val_score(RankSVM(0.1), chunks, da.from_array(y, chunks=100), **options)
    np.testing.assert_allclose(found, cross_val_score(kernelrank.RankSVM(0.1), X, y, **options), atol=5e-3)


def test_the_same_chunks_give_the_same_bits(rng, cluster):
    X, y, qid = data(rng)
    qid = rng.permutation(qid)
    for counting, options in (("auto", {"qid": qid}), ("gather", {}), ("bins", {})):
        first, second = (
            RankSVM(1e-3, counting=counting, client=cluster).fit(da.from_array(X, chunks=(150, -1)), y, **options)
            for _ in range(2)
        )
        np.testing.assert_array_equal(first.coef_, second.coef_)


def test_nothing_is_left_on_the_workers(rng, cluster):
    X, y, qid = data(rng)
    chunks = da.from_array(X, chunks=(300, -1))
    RankSVM(client=cluster).fit(chunks, y, qid=qid)
    with pytest.raises(ValueError, match="NaN"):
        RankSVM(client=cluster).fit(da.from_array(np.where(X > 2, np.nan, X), chunks=(300, -1)), y)
    model = RankSVM(client=cluster).fit(chunks, y, qid=qid)
    with pytest.raises(ValueError, match="NaN") as kept:
        model.score(da.from_array(np.where(X > 2, np.nan, X), chunks=(300, -1)), y, qid=qid)
    assert kept
    assert_nothing_is_left(cluster)


def test_what_travels_does_not_grow_with_the_rows(rng, client):
    """Weights of features and numbers with queries and bins; scores if they are gathered."""
    bytes_per_round = {}
    for m in (5000, 20_000):
        X, y, qid = data(rng, m)
        y = y + rng.normal(size=m)
        chunks = da.from_array(X, chunks=(m // 4, -1))
        for name, options, more in (
            ("queries", {}, {"qid": qid}),
            ("bins", {"counting": "bins"}, {}),
            ("gather", {"counting": "gather"}, {}),
        ):
            found = RankSVM(1e-2, client=client, **options).fit(chunks, y, **more).communication_
            assert found.messages >= 2 * found.rounds
            bytes_per_round[name, m] = (found.bytes_sent + found.bytes_received) / found.rounds
    assert bytes_per_round["queries", 20_000] < 1.2 * bytes_per_round["queries", 5000]
    assert bytes_per_round["bins", 20_000] < 2 * bytes_per_round["bins", 5000]
    if client is not None:  # without a cluster there is one part, which has all pairs
        assert bytes_per_round["gather", 20_000] > 3 * bytes_per_round["gather", 5000]


def test_columns_that_are_constant_or_far_from_zero(rng, client):
    X, y, qid = data(rng)
    X[:, 2] = 1.0
    X[:, 3] = qid  # constant in every query
    for offset in (0.0, 1e8):
        for options in ({}, {"qid": qid}):
            given = X.copy()
            if options:  # constant in one chunk, and in the query that goes on in the next one
                given[qid <= qid[250], 4] = 1e15
            local = kernelrank.RankSVM(1e-3).fit(given, y, **options)
            given += offset * np.array([0, 1, 0, 0, 0])
            model = RankSVM(1e-3, client=client).fit(da.from_array(given, chunks=(250, -1)), y, **options)
            assert_same(model, local)
            assert model.coef_[2] == 0.0
            if options:
                assert model.coef_[3] == 0.0
                assert model.coef_[4] != 0.0


def test_chunks_without_rows_are_left_out(rng, client):
    X, y, qid = data(rng)
    sizes = (0, 700, 0, 500, 0)
    local = kernelrank.RankSVM().fit(X, y, qid=qid)
    model = RankSVM(client=client).fit(da.from_array(X, chunks=(sizes, 5)), da.from_array(y, chunks=(sizes,)), qid=qid)
    assert_same(model, local)
    assert model.predict(da.from_array(X, chunks=(sizes, 5))).compute().shape == (1200,)


def test_preferences(rng, client):
    X, y, _ = data(rng, 300)
    pairs = rng.integers(0, 300, (400, 2))
    pairs = pairs[y[pairs[:, 0]] > y[pairs[:, 1]]]
    weight = rng.random(len(pairs))
    for loss in ("hinge", "squared_hinge"):
        local = kernelrank.RankSVM(loss=loss).fit_pairs(X, pairs, weight=weight)
        model = RankSVM(loss=loss, client=client).fit_pairs(da.from_array(X, chunks=(100, -1)), pairs, weight=weight)
        assert_same(model, local)


def test_preferences_within_queries(rng, client):
    """Rows stay in the order that the pairs refer to, whatever their queries."""
    X, y, qid = data(rng, 300)
    qid = rng.permutation(qid)
    pairs = np.array([(i, j) for i in range(300) for j in range(300) if qid[i] == qid[j] and y[i] > y[j]])
    weight = rng.random(len(pairs)) * 10.0 ** -rng.integers(0, 300, 60)[qid[pairs[:, 0]]]
    frame = pd.DataFrame(X, columns=list("abcde"))
    chunks = dd.from_pandas(frame.assign(qid=qid), npartitions=4, sort=False)
    for weighting in ("query", "pair"):
        local = kernelrank.RankSVM(query_weighting=weighting).fit_pairs(frame, pairs, weight=weight, qid=qid)
        model = RankSVM(query_weighting=weighting, client=client)
        assert_same(model.fit_pairs(chunks, pairs, weight=weight), local)
        assert_same(model.fit_pairs(chunks.drop(columns="qid"), pairs, weight=weight, qid=chunks["qid"]), local)
    other = np.flatnonzero(qid != qid[0])[0]
    with pytest.raises(ValueError, match="two rows of different queries"):
        model.fit_pairs(chunks, [[0, other]])


@pytest.mark.parametrize("counting", ["gather", "bins"])
@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("unit", [1e-170, 3e-100, 1e200, 1e307])
def test_weights_of_any_size(rng, cluster, counting, levels, unit):
    X, y, _ = data(rng, 400)
    y = np.round(y) if levels else y + rng.normal(size=400)
    weights = rng.random(400) * unit
    chunks = da.from_array(X, chunks=(100, -1))
    local = kernelrank.RankSVM().fit(X, y, sample_weight=weights)
    model = RankSVM(counting=counting, client=cluster).fit(chunks, y, sample_weight=weights)
    assert_same(model, local)
    assert_objective(model, X, y, weights=weights / unit)
    refuse("sample_weight is zero everywhere", chunks, y, NoComparablePairsError, cluster, sample_weight=np.zeros(400))
    local.fit(X, y, sample_weight=2.0)
    assert_same(RankSVM(client=cluster).fit(chunks, y, sample_weight=2.0), local)


def test_scores_too_far_apart_for_bins_are_gathered(rng, cluster, monkeypatch):
    monkeypatch.setattr("kernelrank.dask._oracles._GATHERED", 100)
    X = rng.normal(size=(3000, 3))
    X[:5] *= 1e4
    y = X @ [1.0, 2.0, 3.0]
    chunks = da.from_array(X, chunks=(300, -1))
    assert_same(RankSVM(1e-6, client=cluster).fit(chunks, y), kernelrank.RankSVM(1e-6).fit(X, y))
    refuse("too far for bins", chunks, y, client=cluster, options={"alpha": 1e-6, "counting": "bins"})


def test_query_ids_of_several_types_are_compared_as_written(rng, client):
    """As float64, all these ids of the second chunk would be one."""
    X, y = rng.normal(size=(12, 2)), np.tile([0.0, 1.0], 6)
    small, large = np.repeat([-1, -2, -3], 2), np.repeat(np.uint64(2**63) + np.arange(3, dtype=np.uint64), 2)
    from dask import delayed

    frames = [
        pd.DataFrame(X[:6], columns=list("ab")).assign(qid=small),
        pd.DataFrame(X[6:], columns=list("ab")).assign(qid=large),
    ]
    chunks = dd.from_delayed([delayed(each) for each in frames], meta=frames[0].iloc[:0], verify_meta=False)
    model = RankSVM(client=client).fit(chunks, y)
    assert model.n_pairs_ == 6
    scores = X @ model.coef_
    ids = [*small.tolist(), *large.tolist()]
    assert model.score(chunks, y) == kernelrank.metrics.concordance_index(y, scores, qid=ids)
    local = kernelrank.RankSVMCV(3, cv=3).fit(X, y, qid=ids)
    np.testing.assert_allclose(RankSVMCV(3, cv=3, client=client).fit(chunks, y).scores_, local.scores_)


def test_few_levels_in_some_chunks_only(rng, client):
    """Weights whose sum is no number must not decide where rows go."""
    X, y = rng.normal(size=(400, 4)), rng.normal(size=400)
    y[:100] = np.round(y[:100])
    weights = rng.random(400) * 1.5e308
    model = RankSVM(counting="bins", client=client).fit(da.from_array(X, chunks=(100, -1)), y, sample_weight=weights)
    assert_objective(model, X, y, weights=weights / 1e308)


def test_what_collections_are_made_of_is_computed_once(rng, tmp_path, client):
    X, y, qid = data(rng, 400)
    log = tmp_path / "log"

    def load(k):
        with open(log, "a") as file:
            file.write(f"{k}\n")
        rows = slice(100 * k, 100 * k + 100)
        return X[rows], y[rows], qid[rows]

    from dask import delayed

    parts = [delayed(load)(k) for k in range(4)]

    def column(i, shape):
        return da.concatenate([da.from_delayed(part[i], shape, y.dtype) for part in parts])

    given = column(0, (100, X.shape[1])), column(1, (100,))
    for model in (RankSVM(client=client), RankRLS(client=client), RankSVMCV(2, cv=2, client=client)):
        log.unlink(missing_ok=True)
        model.fit(*given, qid=column(2, (100,)))
        assert sorted(log.read_text().split()) == ["0", "1", "2", "3"]


def test_censored_utilities_are_scored_but_not_learnt(rng, client):
    X, y, _ = data(rng, m=200)
    observed, rows = rng.random(200) < 0.5, da.from_array(X, chunks=(100, 5))
    model = RankSVM(client=client).fit(rows, y)
    expected = model.to_local().score(X, y, observed=observed)
    assert model.score(rows, y, observed=da.from_array(observed, chunks=100)) == expected
    assert expected == oracles.concordance(y, X @ model.coef_, observed=observed)
    for estimator in (RankSVM(client=client), RankSVMCV(client=client)):
        with pytest.raises(ValueError, match="observed is not for Dask's collections"):
            estimator.fit(rows, y, observed=observed)
    structured = np.empty(200, dtype=[("event", "?"), ("time", "f8")])
    structured["event"], structured["time"] = observed, y
    frame = dd.from_pandas(pd.DataFrame({"event": observed, "time": y}), npartitions=2)
    for estimator in (RankSVM(client=client), RankRLS(client=client)):
        with pytest.raises(ValueError, match="Censored utilities are for RankSVM"):
            estimator.fit(rows, structured)
    with pytest.raises(ValueError, match="Censored utilities are for RankSVM"):
        RankRLS(client=client).fit(rows, frame)


def test_masked_values_are_refused(rng, client):
    X, y, qid = data(rng, 400)
    chunks = da.from_array(X, chunks=(100, -1))
    masked = np.ma.masked_array(qid, mask=np.arange(400) % 50 == 0)
    refuse("qid contains a missing value", chunks, y, client=client, qid=masked)
    refuse("Chunk . of the data: qid contains a missing", chunks, y, client=client, qid=da.from_array(masked, 100))
    model = RankSVM(client=client).fit(chunks, y, qid=qid)
    with pytest.raises(ValueError, match="qid contains a missing value"):
        model.score(X, y, qid=da.from_array(masked, chunks=100))
    with pytest.raises(ValueError, match="y contains a missing value"):
        model.score(X, da.from_array(np.ma.masked_array(y, mask=masked.mask), chunks=100), qid=qid)


def test_columns_that_are_named_like_queries(rng, client):
    X, y, _ = data(rng, 400)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c", "d", "query_id"]), npartitions=2)
    for model in (RankSVM(client=client), RankRLS(client=client), RankSVMCV(2, cv=2, client=client)):
        with pytest.warns(QueryColumnWarning, match="'query_id' is named like a column of query ids"):
            model.fit(frame, y)


def test_a_clone_has_the_same_client(rng, cluster):
    model = RankSVM(0.1, client=cluster)
    copy = clone(model)
    assert copy.client is cluster
    assert copy.get_params() == model.get_params()
    assert copy is not model


def test_a_model_that_is_not_fitted(rng):
    with pytest.raises(NotFittedError):
        RankSVM().predict(da.ones((4, 2), chunks=2))


def test_positive_and_warm_start(rng, client):
    X, y, qid = data(rng)
    chunks = da.from_array(X, chunks=(300, -1))
    for loss in ("hinge", "squared_hinge"):
        local = kernelrank.RankSVM(1e-3, positive=True, loss=loss).fit(X, y, qid=qid)
        model = RankSVM(1e-3, positive=True, loss=loss, warm_start=True, client=client).fit(chunks, y, qid=qid)
        assert_same(model, local)
        assert (model.coef_ >= 0).all()
        before = model.n_iter_
        assert model.fit(chunks, y, qid=qid).n_iter_ <= before


def test_local_models_can_be_saved(rng, tmp_path):
    X, y, _ = data(rng, 200)
    model = RankSVM().fit(da.from_array(X, chunks=(100, -1)), y)
    kernelrank.persistence.save_model(model.to_local(), tmp_path / "model.kr")
    loaded = kernelrank.persistence.load_model(tmp_path / "model.kr")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(model.to_local(), "communication_")
    with pytest.raises(TypeError, match=r"save model.to_local\(\)"):
        kernelrank.persistence.save_model(model, tmp_path / "other.kr")
    assert not (tmp_path / "other.kr").exists()


def test_a_fit_that_stops_early_says_so(rng, client):
    X, y, qid = data(rng)
    with pytest.warns(ConvergenceWarning, match="certified gap"):
        RankSVM(1e-6, max_iter=2, client=client).fit(da.from_array(X, chunks=(300, -1)), y, qid=qid)


# Bad input: one error, before anything is moved.


def refuse(match, X, y, kind=ValueError, client=None, options=None, **more):
    with pytest.raises(kind, match=match):
        RankSVM(**{"client": client, **(options or {})}).fit(X, y, **more)


def test_bad_collections(rng, client):
    X, y, qid = data(rng, 400)
    chunks = da.from_array(X, chunks=(100, -1))
    refuse("takes a Dask array or data frame, got ndarray", X, y, TypeError, client)
    refuse("y has 399 elements", chunks, y[:-1], client=client)
    refuse("y has 399 elements", chunks, da.from_array(y[:-1], chunks=100), client=client)
    refuse("qid has 399 elements", chunks, y, qid=qid[:-1], client=client)
    refuse(r"Chunk 2 of the data:.*y contains NaN", chunks, np.where(np.arange(400) == 250, np.nan, y), client=client)
    bad = X.copy()
    bad[333, 1] = np.inf
    refuse("Chunk 3 of the data:.*infinity", da.from_array(bad, chunks=(100, -1)), y, client=client)
    refuse("negative", chunks, y, sample_weight=-(y**2), client=client)
    refuse("no pair to learn from", chunks, np.ones(400), NoComparablePairsError, client)
    refuse("no pair to learn from", chunks, y, NoComparablePairsError, client, qid=np.arange(400))
    refuse("requires y", chunks, None, client=client)
    unknown = chunks[chunks[:, 0] > -100]
    refuse("sizes of some are not known", unknown, da.from_array(y, chunks=250), client=client)
    model = RankSVM(client=client).fit(unknown, da.from_array(y, chunks=100))  # as many chunks: sizes are found
    assert_same(model, kernelrank.RankSVM().fit(X, y))
    refuse("matrix, got a collection of 1 dimensions", chunks[:, 0], y, client=client)
    refuse("y must have one element per row, got 1", chunks, 1.0, client=client)
    refuse("collection without dimensions", chunks, y, client=client, sample_weight=da.from_array(np.array(1.0)))
    import dask.bag

    refuse("takes a Dask array or data frame, got Bag", dask.bag.from_sequence([1, 2]), y, TypeError, client)


def test_chunks_that_do_not_fit_together(rng, client):
    X, y, _ = data(rng, 400)
    frames = [pd.DataFrame(X[:200], columns=list("abcde")), pd.DataFrame(X[200:], columns=list("abcdf"))]
    from dask import delayed

    mixed = dd.from_delayed([delayed(each) for each in frames], meta=frames[0].iloc[:0], verify_meta=False)
    refuse("Chunk 1 of X has the columns a, b, c, d, f, but chunk 0 has a, b, c, d, e", mixed, y, client=client)
    chunks = da.from_array(X, chunks=(200, -1))
    half = da.concatenate([chunks[:200], chunks[200:].map_blocks(sp.csr_matrix)])
    refuse("Chunk 1 of X is sparse, but chunk 0 is dense", half, y, client=client)
    refuse("no rows", da.zeros((0, 5), chunks=(1, 5)), np.empty(0), client=client)


def test_parameters_that_need_data_in_one_place():
    X, y = da.ones((10, 2), chunks=5), np.arange(10)
    refuse("linear kernel only", X, y, options={"kernel": "gaussian"})
    refuse("linear kernel only", X, y, options={"n_basis": 3})
    refuse('counting="bins" is for', X, y, options={"counting": "bins", "loss": "squared_hinge"})
    refuse("counting must be", X, y, options={"counting": "x"})
    refuse("client must be", X, y, options={"client": "tcp://127.0.0.1:1"})


def test_a_query_that_no_worker_can_hold(rng, cluster, monkeypatch):
    monkeypatch.setattr("kernelrank.dask._workers.ClusterWorkers.memory", lambda self: 10_000)
    X, y, qid = data(rng, 400)
    qid = np.where(qid < 55, 7, qid)
    refuse("query 7 has .* rows", da.from_array(X, chunks=(100, -1)), y, MemoryError, cluster, qid=qid)


def test_another_version_on_a_worker_is_an_error(rng, cluster, monkeypatch):
    X, y, _ = data(rng, 100)
    monkeypatch.setattr("kernelrank.dask._workers.installed", lambda: "0.0.0")
    with pytest.raises(RuntimeError, match=r"has kernelrank .*, but the client has 0\.0\.0"):
        RankSVM(client=cluster).fit(da.from_array(X, chunks=(50, -1)), y)


def test_a_closed_client_is_an_error():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as made:
        client = Client(made, set_as_default=False)
        client.close()
    with pytest.raises(RuntimeError, match="no connection to a scheduler"):
        RankSVM(client=client).fit(da.ones((4, 2), chunks=2), np.arange(4))


def test_a_client_that_is_not_the_default(rng):
    from distributed import Client, LocalCluster

    X, y, qid = data(rng, 400)
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as made,
        Client(made, set_as_default=False) as client,
    ):
        for options in ({"qid": qid}, {}):
            model = RankSVM(client=client).fit(da.from_array(X, chunks=(100, -1)), y, **options)
            assert_same(model, kernelrank.RankSVM().fit(X, y, **options))
            scores = model.predict(da.from_array(X, chunks=(100, -1)))
            np.testing.assert_array_equal(client.gather(client.compute(scores)), model.to_local().predict(X))


def test_ranges_of_a_value_that_most_rows_have(rng, client):
    """A range of the utilities that would have no rows is no part."""
    X, y, _ = data(rng)
    y = np.where(rng.random(len(y)) < 0.7, -10.0, y + rng.normal(size=len(y)))
    model = RankSVM(1e-2, counting="bins", client=client).fit(da.from_array(X, chunks=(200, -1)), y)
    assert_same(model, kernelrank.RankSVM(1e-2).fit(X, y))


@pytest.mark.parametrize("counting", ["gather", "bins"])
def test_pairs_of_a_single_part_are_counted_where_it_is(rng, counting):
    X, y, _ = data(rng, m=4000)
    model = RankSVM(1e-3, counting=counting).fit(da.from_array(X, chunks=(4000, -1)), y)
    local = kernelrank.RankSVM(1e-3).fit(X, y)
    assert_same(model, local)
    assert model.communication_.bytes_sent + model.communication_.bytes_received < 8 * len(y)


@pytest.mark.parametrize("wide", [False, True])
def test_query_numbers_are_ranked(rng, wide):
    codes = rng.integers(10**12, 10**12 + (10**15 if wide else 300), 500)
    numbers, places = _ranked(codes)
    expected = np.unique(codes, return_inverse=True)
    np.testing.assert_array_equal(numbers, expected[0])
    np.testing.assert_array_equal(places, expected[1])
    assert places.dtype == np.int32
