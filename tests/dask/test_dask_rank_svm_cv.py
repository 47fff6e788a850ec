"""RankSVMCV on collections: the folds, alphas, scores and solutions of the rows in memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import kernelrank
from kernelrank.dask import RankSVMCV


@pytest.mark.pairwise
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("weighting", ["query", "pair"])
@pytest.mark.parametrize("scoring", [None, "ndcg@5"])
def test_choices_are_those_of_the_rows_in_memory(rng, client, loss, queries, weighted, weighting, scoring):
    m = 600
    X = rng.normal(size=(m, 4))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=m)), 0, 3)
    options = {"qid": rng.permutation(np.repeat(np.arange(60), 10))} if queries else {}
    weights = rng.random(m) if weighted else None
    parameters = {"alphas": 4, "loss": loss, "query_weighting": weighting, "scoring": scoring, "tol": 1e-5}
    local = kernelrank.RankSVMCV(**parameters).fit(X, y, sample_weight=weights, **options)
    model = RankSVMCV(**parameters, client=client).fit(
        da.from_array(X, chunks=(150, -1)), y, sample_weight=weights, **options
    )
    np.testing.assert_allclose(model.alphas_, local.alphas_, rtol=1e-9)
    np.testing.assert_allclose(model.scores_, local.scores_, atol=5e-3)
    assert model.n_pairs_ == pytest.approx(local.n_pairs_)
    best = int(np.argmin(np.abs(model.alphas_ - model.alpha_)))
    assert (model.gaps_ >= 0).all()
    np.testing.assert_array_equal(model.coef_path_[best], model.coef_)
    for k in range(len(model.alphas_)):  # both are certified
        assert model.coef_path_[k] == pytest.approx(local.coef_path_[k], abs=0.05)
    assert model.communication_.rounds > 0
    assert not hasattr(model.to_local(), "communication_")
    np.testing.assert_array_equal(model.to_local().predict(X), model.predict(X))


def test_a_data_frame_with_queries_and_groups(rng, client):
    X = rng.normal(size=(400, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=np.arange(400) // 10, y=X[:, 0] + rng.normal(size=400))
    groups = np.arange(400) // 40
    chunks = dd.from_pandas(frame, npartitions=3)
    parameters = {"alphas": [1.0, 0.1, 0.01], "tol": 1e-5}
    local = kernelrank.RankSVMCV(**parameters).fit(frame.drop(columns="y"), frame["y"], groups=groups)
    model = RankSVMCV(**parameters, client=client).fit(chunks.drop(columns="y"), chunks["y"], groups=groups)
    np.testing.assert_allclose(model.scores_, local.scores_, atol=1e-3)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])


def test_parameters_that_cannot_be():
    X, y = da.ones((10, 2), chunks=5), np.arange(10)
    with pytest.raises(ValueError, match="linear kernel only"):
        RankSVMCV(kernel="gaussian").fit(X, y)
    with pytest.raises(ValueError, match=r"kernelrank.dask.RankSVM.fit_pairs"):
        RankSVMCV().fit_pairs(X, [[0, 1]])
    with pytest.raises(ValueError, match="scoring"):
        RankSVMCV(scoring="x").fit(X, y)
