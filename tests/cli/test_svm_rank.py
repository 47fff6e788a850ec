"""Replacements of SVM^rank's programs: arguments, files and meanings."""

import re

import numpy as np
import pytest

from kernelrank import cli
from kernelrank.cli._svm_rank import _LIMITED, _REFUSED, _WITHOUT_EFFECT
from kernelrank.persistence import load_svmlight_model


@pytest.fixture
def learn(shell):
    return lambda *arguments: shell(*arguments, program=cli.learn)


@pytest.fixture
def classify(shell):
    return lambda *arguments: shell(*arguments, program=cli.classify)


def pairs_of(rows):
    """Return all pairs (query, lower row, higher row)."""
    for query in dict.fromkeys(rows.qid.tolist()):
        inside = np.flatnonzero(rows.qid == query)
        for i in inside:
            for j in inside:
                if rows.y[i] < rows.y[j]:
                    yield query, i, j


def objective(pairs, n_queries, scores, squared_norm, C, loss):
    """Return 1/2 ||w||^2 + C/n * (sum over the queries of their slacks), the objective of SVM^rank."""
    query, low, high = pairs
    slacks = np.maximum(0.0, 1.0 - (scores[high] - scores[low]))
    shares = 1.0 if loss == 1 else 1.0 / np.bincount(query)[query]
    return 0.5 * squared_norm + C / n_queries * (slacks * shares).sum()


def number(text, name):
    return float(re.search(re.escape(name) + r"\s*([-+.\de]+)", text).group(1))


def matrix(X, kernel, d=3, g=1.0, s=1.0, r=1.0):
    """Return the kernel matrix of all rows, with SVM^light's formulas and defaults."""
    if kernel == 1:
        return (s * X @ X.T + r) ** d
    return X @ X.T if kernel == 0 else np.exp(-g * ((X[:, None] - X) ** 2).sum(axis=2))


KERNELS = [
    ("-t", 0, "-g", 5, "-d", 2),  # parameters of other kernels have no effect, as in SVM^rank
    ("-t", 2),
    ("-t", 2, "-g", 0.1),
    ("-t", 1, "-s", 0.1),
    ("-t", 1, "-d", 2, "-s", 0.25, "-r", 0.5),
]


@pytest.mark.parametrize(
    ("flags", "C", "loss"),
    [((), C, loss) for C in (0.01, 1.0, 20.0) for loss in (1, 2)]
    + [(flags, *others) for flags in KERNELS for others in ((0.1, 1), (20.0, 2))],
    ids=str,
)
def test_flags_mean_what_they_mean_there(learn, train, tmp_path, C, loss, flags):
    train.y[train.qid == "q3"] = 1  # a query without a pair counts in n
    train.save()
    text = learn("-c", C, "-l", loss, "-e", 1e-5, *flags, train.path, tmp_path / "m").out
    options = {flag[1:]: value for flag, value in zip(flags[::2], flags[1::2], strict=True)}
    K = matrix(train.X, options.pop("t", 0), **options)
    scores = load_svmlight_model(tmp_path / "m").predict(train.X)
    # The function is a linear combination of kernel functions of the rows, so its norm follows from its scores.
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-11 * values[-1]
    squared_norm = ((vectors[:, kept].T @ scores) ** 2 / values[kept]).sum()
    queries, *rows = np.array([(int(query[1:]), i, j) for query, i, j in pairs_of(train)]).T
    pairs = (np.unique(queries, return_inverse=True)[1], *rows)
    value = objective(pairs, 30, scores, squared_norm, C, loss)
    assert number(text, "pval=") == pytest.approx(value, rel=1e-4, abs=1e-5)
    gap = number(text, "Upper bound on duality gap:")
    assert gap <= 1e-5 * C * (len(queries) if loss == 1 else 29) / 30 + 1e-5
    assert number(text, "dval=") == pytest.approx(value - gap, rel=1e-4, abs=2e-5)
    # No other function is better by more than the gap.
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(5):
            step = size * (vectors[:, kept] * np.sqrt(values[kept])) @ (weights := rng.normal(size=kept.sum()))
            along = 2 * size * weights @ ((vectors[:, kept].T @ scores) / np.sqrt(values[kept]))
            other = squared_norm + along + size**2 * weights @ weights
            assert objective(pairs, 30, scores + step, other, C, loss) >= value - gap - 1e-4 * abs(value) - 1e-5
    assert number(text, "|w|=") == pytest.approx(squared_norm**0.5, rel=1e-4, abs=1e-5)
    assert number(text, "xi=") == pytest.approx((value - 0.5 * squared_norm) / C, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("flags", [("-t", 2, "-g", 0.3), ("-t", 1, "-d", 2)], ids=str)
def test_kernel_models_are_those_of_svm_light(learn, classify, train, held_out, tmp_path, flags):
    """Scores are sums over the support vectors in the file, for any reader of it."""
    assert learn("-c", 1, *flags, train.path, tmp_path / "m").code == 0
    header, vectors = np.split((tmp_path / "m").read_text().splitlines(), [11])
    kernel, d, g, s, r = (float(line.split(" ")[0]) for line in header[1:6])
    assert (kernel, d, g) == ((2, 3, 0.3) if flags[1] == 2 else (1, 2, 1))
    assert header[9].startswith(f"{len(vectors) + 1} #")
    weights = np.array([float(line.split(" ")[0]) for line in vectors])
    rows = np.array([[float(pair.partition(":")[2]) for pair in line.split(" ")[1:-1]] for line in vectors])
    both = matrix(np.vstack([held_out.X, rows]), kernel, int(d), g, s, r)[: len(held_out.X), len(held_out.X) :]
    assert classify(held_out.path, tmp_path / "m", tmp_path / "p").code == 0
    np.testing.assert_allclose(np.loadtxt(tmp_path / "p"), both @ weights, rtol=1e-8, atol=1e-8)


def test_a_reduced_set(learn, train, tmp_path):
    assert learn("-t", 2, "--n-basis", 7, train.path, tmp_path / "m").code == 0
    assert load_svmlight_model(tmp_path / "m").basis_.shape == (7, 4)
    learn("--n-basis", 7, train.path, tmp_path / "m").assert_refused("--n-basis is for -t 1 and -t 2")


def test_memory_that_is_not_there(learn, train, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 1000)
    learn("-t", 2, train.path, tmp_path / "m").assert_refused("n_basis")


def test_swapped_pairs_are_counted_as_there(learn, classify, train, held_out, tmp_path):
    held_out.X[::2] = 0.0  # ties count as swapped
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
    # They make rows less similar to those of the model.
    learn("-c", 1, "-t", 2, "-g", 0.1, train.path, tmp_path / "m")
    classify(tmp_path / "wide", tmp_path / "m", tmp_path / "p")
    first, second = np.loadtxt(tmp_path / "p")
    assert first == pytest.approx(second * np.exp(-0.1 * 25))


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


@pytest.mark.parametrize("flag", _LIMITED)
def test_flags_that_cannot_have_all_values(learn, train, tmp_path, flag):
    values, _ = _LIMITED[flag]
    for value in values:
        assert learn(flag, value, train.path, tmp_path / "m").code == 0
    for value in (values[-1] + 1, 9):
        learn(flag, value, train.path, tmp_path / "m").assert_refused(f"{flag} {value} of SVM^rank is not supported")


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
    learn("-t", 2, "-g", 0, train.path, tmp_path / "m").assert_refused("-g: gamma must be a positive number, got 0.0")
    learn("-t", 1, "-d", 0, train.path, tmp_path / "m").assert_refused("-d: degree must be")
    learn("-t", 1, "-s", -1, train.path, tmp_path / "m").assert_refused("-s: gamma must be")
    learn("-t", 1, "-r", -1, train.path, tmp_path / "m").assert_refused(
        "-r: coef0 must be a non-negative finite number"
    )
    learn("-t", 3, train.path, tmp_path / "m").assert_refused("the sigmoid is not positive semi-definite")
    learn(tmp_path / "nowhere", tmp_path / "m").assert_refused("nowhere")
    classify(train.path, tmp_path / "m", tmp_path / "p").assert_refused("No such file")
    (tmp_path / "flat").write_text("1 1:1\n1 1:2\n")
    learn(tmp_path / "flat", tmp_path / "m").assert_refused("no pair")


def test_help(learn, classify):
    assert "example:\n  kr_rank_learn" in learn("-?").out
    assert "example:\n  kr_rank_classify" in classify("--help").out == classify("-h").out
