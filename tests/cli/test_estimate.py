"""Estimates of the performance on new rows: those of the functions in Python, told in a table and as JSON."""

import numpy as np
import pytest

from kernelrank import RankRLS, RankRLSCV, RankSVM
from kernelrank.io import load_svmlight
from kernelrank.model_selection import estimate_auc, estimate_concordance, permutation_test


@pytest.fixture
def patients(tmp_path, rng):
    """Return a table of 30 visits of 15 patients, its features, two levels of illness, and the patients."""
    X = rng.normal(size=(30, 3)).round(3)
    ill = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    patient = np.arange(30) // 2
    path = tmp_path / "visits.csv"
    lines = [f"{a},{b},{c},{y},p{p}" for (a, b, c), y, p in zip(X.tolist(), ill, patient, strict=True)]
    path.write_text("\n".join(["a,b,c,ill,patient", *lines]) + "\n")
    return path, X, ill, patient


def fields_of(found):
    return (found["estimate"], tuple(found["interval"]), found["n_pairs"], found["n_fits"], found["interval_from"])


def test_two_levels_have_an_auc(shell, patients):
    path, X, ill, patient = patients
    call = ("estimate", path, "--target", "ill", "--scale", "none", "--alpha", 0.1)
    found = shell(*call, "--drop", "patient", "--permutations", 30, "--json").json
    expected = estimate_auc(RankRLS(0.1), X, ill)
    assert found["measure"] == "auc"
    assert found["estimate"] == pytest.approx(expected.estimate, rel=1e-12)
    assert found["interval"] == pytest.approx(expected.interval, rel=1e-9)
    assert (found["n_pairs"], found["strategy"]) == (expected.n_pairs, "leave-pair-out")
    tested = permutation_test(RankRLS(0.1), X, ill, n_permutations=30)
    assert found["permutation_test"]["pvalue"] == tested.pvalue
    assert found["permutation_test"]["n_permutations"] == 30
    grouped = shell(*call, "--groups", "patient", "--json").json
    assert grouped["n_groups"] == 15
    assert grouped["n_features"] == 3
    assert grouped["interval_from"] == "groups"
    assert grouped["permutation_test"] is None
    held_out = estimate_auc(RankRLS(0.1), X, ill, groups=patient)
    assert grouped["estimate"] == pytest.approx(held_out.estimate, rel=1e-12)
    out = shell(*call, "--drop", "patient", "--permutations", 30).out
    assert f"{expected.estimate:.6g}" in out
    assert "p value" in out
    assert "30 of rows" in out


def test_queries_have_a_mean_concordance(shell, train):
    rows = load_svmlight(train.path)
    options = ("--method", "ranksvm", "--loss", "squared_hinge", "--folds", 3, "--alpha", 0.1, "--confidence", 0.8)
    found = shell("estimate", train.path, *options, "--json").json
    model = RankSVM(0.1, loss="squared_hinge")
    expected = estimate_concordance(model, rows.X, rows.y, qid=rows.qid, cv=3, confidence=0.8)
    assert found["measure"] == "concordance"
    assert fields_of(found) == fields_of(vars(expected))
    assert found["skipped"] == list(expected.skipped)
    assert found["confidence"] == 0.8
    assert "(80 %, from queries)" in shell("estimate", train.path, *options).out


def test_alpha_is_chosen_inside(shell, train):
    rows = load_svmlight(train.path)
    found = shell("estimate", train.path, "--alpha", "auto", "--folds", 3, "--json").json
    expected = estimate_concordance(RankRLSCV(), rows.X, rows.y, qid=rows.qid, cv=3, verbose=0)
    assert fields_of(found) == fields_of(vars(expected))


def test_folds_are_averaged(shell, patients):
    path, X, ill, _ = patients
    options = ("--target", "ill", "--scale", "none", "--drop", "patient", "--method", "ranksvm", "--folds", 4)
    found = shell("estimate", path, *options, "--json").json
    assert fields_of(found) == fields_of(vars(estimate_auc(RankSVM(), X, ill, strategy="averaged", cv=4)))
    shell("estimate", path, *options, "--strategy", "tournament").assert_refused(
        "--folds cannot be used with --strategy tournament, which holds out pairs"
    )


def test_mistakes(shell, patients, train):
    path = patients[0]
    shell("estimate", path).assert_refused("--target")
    shell("estimate", train.path, "--groups", "patient").assert_refused("--groups applies to tables")
    shell("estimate", path, "--target", "ill", "--groups", "doctor").assert_refused('no column "doctor"')
    call = ("estimate", path, "--target", "a", "--observed", "ill", "--drop", "patient")
    shell(*call, "--permutations", 9).assert_refused("leave out --observed")
    shell("estimate", train.path, "--cost", "unit", "--method", "rls").assert_refused("--cost is for --method rankrls")
    shell("estimate", train.path, "--confidence", 2).assert_refused("confidence")
    shell("estimate", train.path, "--permutations", 0).assert_refused("must be at least 1")
