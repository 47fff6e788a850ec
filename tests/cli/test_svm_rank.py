"""SVM^rank's arguments, files and meanings."""

import re

import numpy as np
import pytest

from kernelrank import cli
from kernelrank.cli._svm_rank import _FIXED, _REFUSED, _WITHOUT_EFFECT
from kernelrank.persistence import load_svmlight_model


@pytest.fixture
def learn(shell):
    return lambda *arguments: shell(*arguments, program=cli.learn)


@pytest.fixture
def classify(shell):
    return lambda *arguments: shell(*arguments, program=cli.classify)


def pairs_of(rows):
    """All pairs (query, lower row, higher row)."""
    for query in dict.fromkeys(rows.qid.tolist()):
        inside = np.flatnonzero(rows.qid == query)
        for i in inside:
            for j in inside:
                if rows.y[i] < rows.y[j]:
                    yield query, i, j


def objective(rows, w, C, loss):
    """1/2 ||w||^2 + C/n * (sum over the queries of their slacks), as SVM^rank states it."""
    scores = rows.X @ w
    slacks, totals = {}, {}
    for query, i, j in pairs_of(rows):
        slacks[query] = slacks.get(query, 0.0) + max(0.0, 1.0 - (scores[j] - scores[i]))
        totals[query] = totals.get(query, 0) + 1
    summed = sum(slacks.values()) if loss == 1 else sum(slacks[q] / totals[q] for q in slacks)
    return 0.5 * w @ w + C / len(set(rows.qid.tolist())) * summed


def number(text, name):
    return float(re.search(re.escape(name) + r"\s*([-+.\de]+)", text).group(1))


@pytest.mark.parametrize("loss", [1, 2])
@pytest.mark.parametrize("C", [0.01, 1.0, 20.0])
def test_c_and_l_mean_what_they_mean_there(learn, train, tmp_path, C, loss):
    train.y[train.qid == "q3"] = 1  # a query without a pair counts among the n
    train.save()
    text = learn("-c", C, "-l", loss, "-e", 1e-5, train.path, tmp_path / "m").out
    w = load_svmlight_model(tmp_path / "m").coef_
    value = objective(train, w, C, loss)
    assert number(text, "pval=") == pytest.approx(value, rel=1e-4, abs=1e-5)
    gap = number(text, "Upper bound on duality gap:")
    assert number(text, "dval=") == pytest.approx(value - gap, rel=1e-4, abs=2e-5)
    # No other w is better by more than the gap.
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(5):
            assert objective(train, w + size * rng.normal(size=4), C, loss) >= value - gap - 1e-5
    assert number(text, "|w|=") == pytest.approx(np.linalg.norm(w), abs=1e-5)
    assert number(text, "xi=") == pytest.approx((value - 0.5 * w @ w) / C, rel=1e-3, abs=1e-4)


def test_swapped_pairs_are_counted_as_there(learn, classify, train, held_out, tmp_path):
    held_out.X[::2] = 0.0  # ties, which are swapped
    held_out.save()
    learn("-c", 1, train.path, tmp_path / "m")
    text = classify(held_out.path, tmp_path / "m", tmp_path / "p").out
    scores = np.loadtxt(tmp_path / "p")
    np.testing.assert_allclose(scores, held_out.X @ load_svmlight_model(tmp_path / "m").coef_, rtol=1e-12, atol=1e-15)
    swapped = [(query, scores[j] <= scores[i]) for query, i, j in pairs_of(held_out)]
    assert number(text, "Total Num Swappedpairs  :") == sum(bad for _, bad in swapped)
    shares = [
        np.mean([bad for query, bad in swapped if query == each]) if any(query == each for query, _ in swapped) else 0.0
        for each in set(held_out.qid.tolist())
    ]
    assert number(text, "Avg Swappedpairs Percent:") == pytest.approx(100 * np.mean(shares), abs=0.005)
    assert number(text, "Average loss on test set:") == pytest.approx(np.mean(shares), abs=5e-5)
    perfect = sum(share == 0 for share in shares)
    assert f"({perfect} correct, {len(shares) - perfect} incorrect, {len(shares)} total)" in text


def test_training_says_how_many_pairs_are_swapped(learn, train, tmp_path):
    text = learn("-c", 1, train.path, tmp_path / "m").out
    scores = train.X @ load_svmlight_model(tmp_path / "m").coef_
    assert number(text, "Total Num Swappedpairs  :") == sum(scores[j] <= scores[i] for _, i, j in pairs_of(train))
    assert "Training set properties: 4 features, 30 rankings" in text
    assert number(text, "Number of iterations:") >= 1


def test_features_the_model_does_not_know_have_no_weight(learn, classify, train, tmp_path):
    learn("-c", 1, train.path, tmp_path / "m")
    (tmp_path / "wide").write_text("1 qid:1 1:1 9:5\n0 qid:1 1:1\n")
    classify(tmp_path / "wide", tmp_path / "m", tmp_path / "p")
    first, second = np.loadtxt(tmp_path / "p")
    assert first == second


def test_defaults_are_theirs(learn, classify, train, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert learn(train.path).code == 0
    explicit = learn("-c", 0.01, "-l", 1, "-e", 0.001, "-t", 0, train.path, "other")
    assert explicit.code == 0
    assert (tmp_path / "svm_struct_model").read_bytes() == (tmp_path / "other").read_bytes()
    assert classify(train.path, "other").code == 0
    assert (tmp_path / "svm_predictions").exists()


def test_verbosity_zero_says_nothing(learn, classify, train, tmp_path):
    done = learn("-v", 0, train.path, tmp_path / "m")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = classify("-v", 0, train.path, tmp_path / "m", tmp_path / "p")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("flag", _REFUSED)
def test_other_flags_are_refused_by_name(learn, train, tmp_path, flag):
    learn(flag, 1, train.path, tmp_path / "m").assert_refused(f"{flag} of SVM^rank is not supported")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("flag", _FIXED)
def test_flags_that_can_have_one_value(learn, train, tmp_path, flag):
    value, _ = _FIXED[flag]
    assert learn(flag, value, train.path, tmp_path / "m").code == 0
    learn(flag, value + 1, train.path, tmp_path / "m").assert_refused(
        f"{flag} {value + 1} of SVM^rank is not supported"
    )


def test_flags_without_effect(learn, train, tmp_path):
    learn(train.path, tmp_path / "plain")
    assert learn(*(part for flag in _WITHOUT_EFFECT for part in (flag, 3)), train.path, tmp_path / "m").code == 0
    assert (tmp_path / "m").read_bytes() == (tmp_path / "plain").read_bytes()


def test_mistakes(learn, classify, train, tmp_path):
    learn("-z", 2, train.path, tmp_path / "m").assert_refused("-z")
    learn("-c", 0, train.path, tmp_path / "m").assert_refused("-c")
    learn("-c", "inf", train.path, tmp_path / "m").assert_refused("-c")
    learn("-e", 0, train.path, tmp_path / "m").assert_refused("-e")
    learn("-#", 0, train.path, tmp_path / "m").assert_refused("-#")
    learn(train.path, tmp_path / "no" / "m").assert_refused("No such file")
    learn("-l", 3, train.path, tmp_path / "m").assert_refused("-l")
    learn(tmp_path / "nowhere", tmp_path / "m").assert_refused("nowhere")
    classify(train.path, tmp_path / "m", tmp_path / "p").assert_refused("No such file")
    (tmp_path / "flat").write_text("1 1:1\n1 1:2\n")
    learn(tmp_path / "flat", tmp_path / "m").assert_refused("no pair")


def test_help(learn, classify):
    assert "example:\n  kr_rank_learn" in learn("-?").out
    assert "example:\n  kr_rank_classify" in classify("--help").out == classify("-h").out
