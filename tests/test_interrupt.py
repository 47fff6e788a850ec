"""Ctrl-C returns within a second, and the library remains usable."""

import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from ctrl_c import interrupt

LONG = pytest.mark.slow  # each case waits for seconds; the others cover every value of every parameter

COMMON = """
import signal, sys, time
import numpy as np
from kernelrank import RankSVM, RankSVMCV
from kernelrank.pairs import UtilityPairs
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)

def interrupted(work):
    print("ready", flush=True)
    try:
        while True:
            work()
    except KeyboardInterrupt:
        print(time.time(), time.process_time(), flush=True)
"""


def seconds_to_return(script, delay=1.0):
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", COMMON + textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    seconds, output = interrupt(process)
    assert process.returncode == 0, output
    assert output == ["works"]
    return seconds


@pytest.mark.parametrize(
    ("weighted", "n_jobs"),
    [(False, 1), (True, 2), *(pytest.param(*case, marks=LONG) for case in [(False, 2), (True, 1)])],
)
def test_a_quadratic_count_is_cut_short(n_jobs, weighted):
    """A single call takes minutes: only the flag in the core can end it."""
    script = f"""
    y = rng.normal(size=600_000)
    pairs = UtilityPairs(y, n_jobs={n_jobs}, sample_weight={"np.ones(600_000)" if weighted else None})
    interrupted(lambda: pairs.count(y, method="pairs"))
    print("works" if pairs.count(y, margin=0.0).total == 0 else "broken")
    """
    assert seconds_to_return(script) < 1


def test_a_million_levels_are_cut_short():
    """An insertion adds to all levels above, so that a few thousand rows take a second."""
    script = """
    y = rng.permutation(1_000_000)
    pairs = UtilityPairs(y)
    interrupted(lambda: pairs.count(y / 1e4, method="levels"))
    print("works" if pairs.count(y, margin=0.0).total == 0 else "broken")
    """
    assert seconds_to_return(script) < 1


@pytest.mark.parametrize("clusters", [1, 2])
def test_a_red_black_tree_is_cut_short(clusters):
    """A row takes microseconds. With two clusters, half of the rows enter the window in one step."""
    script = f"""
    y = rng.normal(size=2_000_000)
    scores = rng.random(2_000_000) + 10.0 * rng.integers({clusters}, size=2_000_000)
    pairs = UtilityPairs(y)
    interrupted(lambda: pairs.count(scores, method="rbtree"))
    print("works" if pairs.count_totals(y, margin=0.0).sum() == 0 else "broken")
    """
    assert seconds_to_return(script, delay=1.5) < 1


@pytest.mark.parametrize(
    ("sparse", "loss"),
    [
        (False, "hinge"),
        (True, "squared_hinge"),
        *(pytest.param(*case, marks=LONG) for case in [(False, "squared_hinge"), (True, "hinge")]),
    ],
)
def test_a_fit_is_cut_short_and_can_be_repeated(sparse, loss):
    script = f"""
    import scipy.sparse as sp
    X = rng.normal(size=(200_000, 20))
    y = X @ rng.normal(size=20) + rng.normal(size=200_000)
    X = sp.csr_array(X) if {sparse} else X
    model = RankSVM(alpha=1e-7, tol=1e-12, max_iter=10**6, loss="{loss}")
    interrupted(lambda: model.fit(X, y))
    print("works" if model.set_params(alpha=0.1, tol=1e-3).fit(X, y).gap_ <= 1e-3 else "broken")
    """
    assert seconds_to_return(script) < 1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_fit_to_preferences_is_cut_short(loss):
    script = f"""
    X = rng.normal(size=(100_000, 5))
    pairs = rng.permuted(np.tile(np.arange(100_000), (2, 40)), axis=1).T
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    model = RankSVM(loss="{loss}")
    interrupted(lambda: model.fit_pairs(X, pairs))
    print("works" if model.fit_pairs(X, pairs[:100]).n_pairs_ == 100 else "broken")
    """
    assert seconds_to_return(script) < 1


def test_the_decomposition_of_wide_data_is_cut_short():
    script = """
    X = rng.normal(size=(150, 60_000))
    y = X[:, 0] + rng.normal(size=150)
    interrupted(lambda: RankSVM(1.0).fit(X, y))
    print("works" if RankSVM(1.0).fit(X[:, :2000], y).gap_ <= 1e-3 else "broken")
    """
    assert seconds_to_return(script) < 1


def test_a_path_is_cut_short():
    script = """
    X = rng.normal(size=(50_000, 20))
    y = X @ rng.normal(size=20) + rng.normal(size=50_000)
    model = RankSVMCV()
    interrupted(lambda: model.fit(X, y))
    print("works" if RankSVMCV(2, cv=2).fit(X, y).gap_ <= 1e-3 else "broken")
    """
    assert seconds_to_return(script) < 1


DENSE = {
    "decompositions": "RankRLS(kernel='gaussian').fit(X, y).leave_pair_out_concordance()",
    "singular values": "RLS().fit(rng.normal(size=(2500, 2000)), y).hold_out([[0]])",
    "reduced sets": "NystromMap(n_basis=2500).fit(X)",
    "kernel machines": "RankSVM(1e-6, kernel='gaussian', tol=1e-9).fit(X, y)",
}


@pytest.mark.parametrize("work", DENSE.values(), ids=DENSE)
def test_dense_algebra_is_cut_short(work):
    """A single call of LAPACK takes seconds."""
    script = f"""
    from kernelrank import RLS, NystromMap, RankRLS
    X, y = rng.normal(size=(2500, 5)), rng.normal(size=2500)
    interrupted(lambda: {work})
    print("works" if RankRLS(kernel="gaussian").fit(X[:50], y[:50]).score(X[:50], y[:50]) > 0.5 else "broken")
    """
    assert seconds_to_return(script) < 1


def test_audits_of_preferences_are_cut_short():
    """A single programme takes seconds."""
    script = """
    from kernelrank.inspection import audit_pairs
    pairs = np.array([rng.permutation(300)[:2] for _ in range(2900)])
    interrupted(lambda: audit_pairs(pairs))
    print("works" if audit_pairs([[0, 1], [1, 2], [2, 0]]).proven else "broken")
    """
    assert seconds_to_return(script, delay=2.0) < 1


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ten_million_rows(n_jobs):
    script = f"""
    y, scores = rng.normal(size=10_000_000), rng.normal(size=10_000_000)
    pairs = UtilityPairs(y, n_jobs={n_jobs})
    interrupted(lambda: (pairs.count(scores), UtilityPairs(scores, n_jobs={n_jobs})))
    print("works" if pairs.count_totals(y, margin=0.0).sum() == 0 else "broken")
    """
    for delay in np.linspace(0.3, 4, 6):
        assert seconds_to_return(script, delay) < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "concordance_index(y, scores, qid=qid)",
        "concordance_index(scores, y, sample_weight=weights)",
        "kendall_tau(y, scores)",
        "auc_interval(y > 2, scores)",
        "ndcg(y, scores)",
        "ndcg(y, scores, qid=qid, k='mean', convention='letor')",
        "ndcg(y, y, qid=qid, ties=0)",
        "average_precision(y, scores, qid=qid)",
        "precision_at(y, scores, qid=qid, k=10)",
        "reciprocal_rank(y, scores)",
        "err(y, scores, qid=qid)",
        "best_f_score(y > 2, scores)",
        "threshold_at_rate(scores, 0.3)",
        "compare_scores(y, [scores, y])",
        "pair_accuracy(pairs, scores)",
    ],
)
def test_metrics_of_ten_million_rows(call):
    script = f"""
    from kernelrank import metrics
    y, scores = rng.integers(0, 5, 10_000_000).astype(float), rng.normal(size=10_000_000)
    qid, weights = rng.integers(0, 100_000, 10_000_000), rng.random(10_000_000)
    pairs = rng.permutation(10_000_000).reshape(-1, 2)
    interrupted(lambda: metrics.{call})
    print("works" if metrics.ndcg([1, 0], [2, 1]) == 1.0 else "broken")
    """
    for delay in (0.5, 1.1, 1.7):
        assert seconds_to_return(script, delay) < 1
