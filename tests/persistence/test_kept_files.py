"""Files of all versions can be loaded and give the same predictions."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from keep_files import DATA, PIPELINES, models, read_scores, rows_from_json, stem
from model_files import rounding

import kernelrank
from kernelrank import (
    RLS,
    RLSCV,
    MaxMarginClustering,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence import load_model

FILES = sorted(DATA.glob("*/*.kernelrank"))
PIPELINE_FILES = sorted(DATA.glob("*/pipelines/*/*.kernelrank"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_predictions_are_what_they_were(path):
    model = load_model(path)
    X, scores = read_scores(path, model.n_features_in_)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        np.testing.assert_allclose(model.predict(X).astype(float), scores, rtol=rounding(vars(model)))


def test_this_version_is_among_them():
    """If this fails, run keep_files.py."""
    kept = {path.stem for path in FILES if path.parent.name == kernelrank.__version__}
    assert kept == models().keys()


def test_what_version_0_1_0_wrote():
    hinge, squared, validated = (
        load_model(DATA / "0.1.0" / f"{name}.kernelrank") for name in ("hinge", "squared_hinge", "cross_validated")
    )
    assert type(hinge) is type(squared) is RankSVM
    assert type(validated) is RankSVMCV
    assert (hinge.alpha, hinge.loss, hinge._fitted_with_queries) == (0.01, "hinge", True)
    assert list(hinge.feature_names_in_) == ["age", "größe", "price in €", "x 4"]
    assert (type(squared.alpha), squared.alpha, squared.loss) == (np.float64, 0.1, "squared_hinge")
    assert squared.warm_start is True
    assert squared._fitted_with_queries is False
    assert not hasattr(squared, "feature_names_in_")
    for model in (hinge, squared):
        assert len(model.history_) == model.n_iter_
        gap = model.history_["upper_bound"][-1] - model.history_["lower_bound"][-1]
        assert gap == pytest.approx(model.gap_)
    assert validated.alphas == [1.0, 0.1, 0.01]
    assert [tuple(map(len, fold)) for fold in validated.cv] == [(40, 40), (40, 40)]
    assert validated.scores_.shape == (3, 2)
    best = list(validated.alphas_).index(validated.alpha_)
    np.testing.assert_array_equal(validated.coef_path_[best], validated.coef_)


def test_what_version_0_1_0_wrote_of_least_squares():
    ranking, pairs, sparse, validated, precomputed = (
        load_model(DATA / "0.1.0" / f"{name}.kernelrank")
        for name in ("least_squares_ranking", "least_squares_of_pairs", "sparse_basis", "leave_pair_out", "precomputed")
    )
    assert (type(ranking), ranking.alpha, ranking.ties, ranking._fitted_with_queries) == (RankRLS, 0.01, "drop", True)
    assert list(ranking.feature_names_in_) == ["age", "größe", "price in €", "x 4"]
    assert not hasattr(ranking, "basis_")
    assert pairs.kernel_.get_params() == {"degree": 3, "coef0": 1.0, "gamma": 0.1}
    assert pairs.basis_.shape == (9, 4)
    assert type(sparse) is RLS
    assert sp.issparse(sparse.basis_)
    assert sparse.dual_coef_.shape == (80, 2)
    assert repr(sparse.kernel_.left) == "Product(left=Scaled(factor=0.5, kernel=Linear()), right=Linear())"
    assert (type(sparse.kernel_.right.gamma), sparse.kernel_.right.gamma) == (np.float64, 0.3)
    assert (type(validated), validated.kernel, validated.scores_.shape) == (RankRLSCV, "gaussian", (3, 1))
    assert validated.alpha_ in validated.alphas_
    assert (type(precomputed), precomputed.kernel, precomputed.cv) == (RLSCV, "precomputed", 4)
    assert precomputed.n_features_in_ == 10
    reduced, greedy = (load_model(DATA / "0.1.0" / f"{name}.kernelrank") for name in ("reduced_set", "greedy"))
    assert (reduced.n_basis, reduced.cost, reduced.basis_.shape, len(reduced.basis_indices_)) == (7, "unit", (7, 4), 7)
    assert list(greedy.get_feature_names_out()) == ["age", "größe"]
    assert list(greedy.selected_) == [1, 0]


def test_what_version_0_1_0_wrote_of_classifiers():
    ordinal, categories = (load_model(DATA / "0.1.0" / f"{name}.kernelrank") for name in ("ordinal", "categories"))
    assert (type(ordinal), ordinal.alpha, ordinal.kernel, ordinal.basis_.shape) == (
        OrdinalSVM,
        0.01,
        "gaussian",
        (9, 4),
    )
    assert ordinal.classes_.tolist() == [0, 1, 2]
    assert len(ordinal.thresholds_) == 2
    assert (type(categories), type(categories.ranker), type(categories.ranker_)) == (
        RankingClassifier,
        RankRLS,
        RankRLS,
    )
    assert list(categories.feature_names_in_) == ["age", "größe", "price in €", "x 4"]
    assert categories.classes_.dtype == "<U2"
    assert categories.classes_.tolist() == categories.classes.tolist() == ["2", "10", "0"]


def test_what_version_0_1_0_wrote_of_clusters():
    model = load_model(DATA / "0.1.0" / "clusters.kernelrank")
    assert (type(model), model.kernel, model.basis_.shape) == (MaxMarginClustering, "gaussian", (9, 4))
    assert (model.labels_.shape, model.labels_[0], set(model.labels_)) == ((80,), 0, {0, 1})
    assert 0 < model.objective_ < 1


@pytest.mark.parametrize("path", PIPELINE_FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_predictions_of_pipelines_are_what_they_were(path):
    kept = json.loads(path.with_suffix(".json").read_text())
    if tuple(map(int, path.parent.name.split("-")[-1].split("."))) > tuple(
        map(int, sklearn.__version__.split(".")[:2])
    ):
        with pytest.raises(ModelFormatError, match="upgrade scikit-learn"):
            load_model(path)
        return
    model, X = load_model(path), rows_from_json(kept["X"])
    np.testing.assert_allclose(model.predict(X), kept["predictions"], rtol=1e-10)


def test_pipelines_of_this_version_and_of_the_oldest_scikit_learn_are_among_them():
    """If this fails, run keep_files.py."""
    kept = {}
    for path in PIPELINE_FILES:
        if path.parts[-4] == kernelrank.__version__:
            kept.setdefault(path.parent.name, set()).add(path.stem)
    assert {"scikit-learn-1.6", "scikit-learn-1.9"} <= kept.keys()
    assert all(names == set(map(stem, PIPELINES)) for names in kept.values())
