"""Relations in text: corpora are read, cross-validated by document, and predicted."""

import csv

import numpy as np
import pytest
from corpora import write_corpus
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

from kernelrank import RLSCV, metrics
from kernelrank.kernels import AllPaths, Polynomial
from kernelrank.model_selection import FScoreClassifier
from kernelrank.relations import load_ppi


@pytest.fixture
def corpora(tmp_path, rng):
    return write_corpus(tmp_path / "one.xml", 12, rng), write_corpus(tmp_path / "two.xml", 5, rng)


def fit(corpus, rows=slice(None)):
    graphs = np.array(corpus.graphs(), dtype=object)[rows]
    least_squares = RLSCV([0.1, 0.01], kernel=Polynomial(degree=1, coef0=0.0))
    model = make_pipeline(AllPaths("max"), FScoreClassifier(least_squares, cv="own"))
    return model.fit(graphs, corpus.y[rows], fscoreclassifier__groups=corpus.document[rows])


def test_documents_are_held_out_and_another_corpus_is_predicted(shell, corpora, tmp_path):
    call = ("relations", corpora[0], "--alphas", "0.1,0.01", "--folds", 3, "--test", corpora[1])
    found = shell(*call, "--predictions", tmp_path / "p.csv", "--json").json
    one, two = map(load_ppi, corpora)
    graphs = np.array(one.graphs(), dtype=object)
    aucs, fs = [], []
    for train, test in GroupKFold(3).split(graphs, groups=one.document):
        model = fit(one, train)
        scores = model.score_samples(graphs[test])
        aucs.append(metrics.auc(one.y[test], scores))
        fs.append(metrics.f_score(one.y[test], scores, model[-1].threshold_))
    assert len(set(one.document)) == found["n_documents"] == 12
    assert found["metrics"]["auc"]["folds"] == pytest.approx(aucs)
    assert found["metrics"]["f-score"]["folds"] == pytest.approx(fs)
    model = fit(one)
    scores = model.score_samples(two.graphs())
    assert found["alpha"] == model[-1].estimator_.alpha_
    assert found["test"]["auc"] == pytest.approx(metrics.auc(two.y, scores))
    with open(tmp_path / "p.csv") as file:
        written = list(csv.DictReader(file))
    assert [row["sentence"] for row in written] == two.sentence.tolist()
    np.testing.assert_allclose([float(row["score"]) for row in written], scores)
    assert [int(row["related"]) for row in written] == model.predict(two.graphs()).tolist()
    out = shell(*call).out
    assert "held-out documents" in out
    assert "another corpus" in out


def test_folds_with_one_class_are_left_out(shell, tmp_path, rng):
    corpus = write_corpus(tmp_path / "small.xml", 8, rng)
    found = shell("relations", corpus, "--alphas", 0.1, "--folds", 8, "--json").json["metrics"]["f-score"]
    known = [each for each in found["folds"] if each is not None]
    assert 0 < len(known) < 8
    assert found["mean"] == pytest.approx(np.mean(known))


def test_a_saved_model_predicts_as_the_trained_one(shell, corpora, tmp_path):
    trained = shell(
        *("relations", corpora[0], "--folds", 0, "--alphas", 0.1, "-o", tmp_path / "m"),
        *("--test", corpora[1], "--predictions", tmp_path / "p.csv", "--json"),
    ).json
    applied = shell("relations", corpora[1], "-m", tmp_path / "m", "--predictions", tmp_path / "q.csv", "--json").json
    assert applied["test"] == trained["test"]
    assert (tmp_path / "q.csv").read_text() == (tmp_path / "p.csv").read_text()
    assert "metrics" not in trained
    (tmp_path / "rows.txt").write_text("1 1:1\n")
    for command in ("predict", "evaluate"):
        shell(command, tmp_path / "rows.txt", "-m", tmp_path / "m").assert_refused("relations --model")


def test_mistakes(shell, corpora, train, tmp_path):
    one, two = corpora
    shell("relations", train.path).assert_refused(f"{train.path}:1: ")
    shell("relations", one, "--parse", "none").assert_refused("one.xml:", "none")
    shell("relations", one, "--folds", 1).assert_refused("--folds must be at least 2")
    shell("relations", one, "--folds", 13).assert_refused("--folds asks for 13 folds of 12")
    shell("relations", one, "--predictions", tmp_path / "p.csv").assert_refused("set --test, or --model")
    shell("train", train.path, "-o", tmp_path / "m")
    shell("relations", one, "-m", tmp_path / "m").assert_refused("expected a model written by relations, got a RankSVM")
    shell("relations", one, "-m", tmp_path / "m", "--test", two).assert_refused("--test is for training")
