"""NDCG of other programs, and the options of ours that give the same number.

Run ``python -m benchmarks.peers.ndcg`` in the folder of the repository.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import table, versions
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank.metrics import ndcg

ABOUT = """
Each program evaluates the same scores: the three queries of `docs/ndcg.md`, and 200 random queries of 1 to 30 rows with
grades from 0 to 4, many of them without a relevant row. The script fails if a value differs from ours by 1e-6 (XGBoost
keeps scores as float32). Programs that are not installed are left out.
"""
PACKAGES = ("scikit-learn", "ir-measures", "xgboost", "lightgbm")
DEPTH = 3


class Judged(NamedTuple):
    """Rows with a grade, a score and a query each."""

    grades: NDArray[np.int64]
    scores: NDArray[np.float64]
    qid: NDArray[np.int64]


class Peer(NamedTuple):
    """Another program, and the options of ours that give its number."""

    module: str
    name: str
    evaluate: Callable[[Judged], float]
    options: dict[str, Any]


def datasets() -> dict[str, Judged]:
    """Return the queries of the page, and random ones."""
    scores = np.array([0.4, 0.9, 0.7, 0.1, 0.3, 0.2, 0.8, 0.6, 0.5])
    page = Judged(np.array([2, 0, 1, 0, 0, 0, 0, 0, 1]), scores, np.array([1, 1, 1, 1, 2, 2, 2, 3, 3]))
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(200), rng.integers(1, 31, size=200))
    grades = rng.choice(5, size=len(qid), p=[0.9, 0.04, 0.03, 0.02, 0.01])
    return {"page": page, "random": Judged(grades, rng.permutation(len(qid)) / len(qid), qid)}


def of_scikit_learn(judged: Judged) -> float:
    from sklearn.metrics import ndcg_score

    def of_query(q: int) -> float:
        grades, scores = judged.grades[judged.qid == q], judged.scores[judged.qid == q]
        if len(grades) == 1:  # scikit-learn refuses a query of one row
            return float(grades[0] > 0)
        return float(ndcg_score([grades], [scores], k=DEPTH))

    return float(np.mean([of_query(q) for q in np.unique(judged.qid)]))


def of_trec_eval(judged: Judged) -> float:
    import ir_measures
    import pandas as pd

    columns = {"query_id": judged.qid, "doc_id": np.arange(len(judged.qid))}
    rows = pd.DataFrame(columns).astype(str).assign(relevance=judged.grades, score=judged.scores)
    measure = ir_measures.nDCG @ DEPTH
    return float(ir_measures.calc_aggregate([measure], rows, rows)[measure])


def of_xgboost(judged: Judged, metric: str = f"ndcg@{DEPTH}", exponential: bool = True) -> float:
    import xgboost

    rows = xgboost.DMatrix(
        np.zeros((len(judged.qid), 1)), label=judged.grades, qid=judged.qid, base_margin=judged.scores
    )
    options = {"objective": "rank:ndcg", "eval_metric": metric, "ndcg_exp_gain": exponential}
    return float(xgboost.train(options, rows, num_boost_round=0).eval(rows).rpartition(":")[2])


def of_lightgbm(judged: Judged, **options: Any) -> float:
    import lightgbm

    sizes = np.bincount(np.unique(judged.qid, return_inverse=True)[1])
    # Rows that are all alike teach nothing: what is evaluated are the scores to start from.
    rows = lightgbm.Dataset(
        np.zeros((len(judged.qid), 1)),
        label=judged.grades,
        group=sizes,
        init_score=judged.scores,
        params={"verbose": -1},
    )
    found: dict[str, Any] = {}
    lightgbm.train(
        {"objective": "lambdarank", "metric": "ndcg", "eval_at": [DEPTH], "verbose": -1, **options},
        rows,
        num_boost_round=1,
        valid_sets=[rows],
        callbacks=[lightgbm.record_evaluation(found)],
    )
    return float(found["training"][f"ndcg@{DEPTH}"][0])


PEERS = (
    Peer("sklearn", "scikit-learn ndcg_score", of_scikit_learn, {"gain": "linear", "undefined": 0}),
    Peer("ir_measures", "trec_eval, by ir-measures", of_trec_eval, {"gain": "linear", "undefined": 0}),
    Peer("xgboost", "XGBoost ndcg", of_xgboost, {"undefined": 1}),
    Peer("xgboost", "XGBoost ndcg-", partial(of_xgboost, metric=f"ndcg@{DEPTH}-"), {"undefined": 0}),
    Peer(
        "xgboost",
        "XGBoost ndcg, ndcg_exp_gain=False",
        partial(of_xgboost, exponential=False),
        {"gain": "linear", "undefined": 1},
    ),
    Peer("lightgbm", "LightGBM ndcg", of_lightgbm, {"undefined": 1}),
    Peer(
        "lightgbm",
        "LightGBM ndcg, label_gain=0,1,2,3,4",
        partial(of_lightgbm, label_gain=[0, 1, 2, 3, 4]),
        {"gain": "linear", "undefined": 1},
    ),
)


def measure(_: Run) -> list[tuple[str, ...]]:
    """Return the lines of the table; there is nothing to make smaller in a quick run."""
    rows: list[tuple[str, ...]] = []
    for peer in PEERS:
        if importlib.util.find_spec(peer.module) is None:
            continue
        for name, judged in datasets().items():
            theirs = peer.evaluate(judged)
            ours = ndcg(judged.grades, judged.scores, qid=judged.qid, k=DEPTH, **peer.options)
            assert abs(theirs - ours) < 1e-6, f"{peer.name}, {name}: {theirs} is not ours, {ours}"
            options = ", ".join(f"{key}={value!r}" for key, value in peer.options.items())
            rows.append((peer.name, name, f"{theirs:.6f}", f"{ours:.6f}", options))
    return rows


def report(rows: list[tuple[str, ...]], _: Run) -> list[str]:
    lines = table(("who", "queries", f"NDCG@{DEPTH}", "ours", "options of ours"), rows)
    return ["# NDCG of other programs", versions(PACKAGES), ABOUT, lines]


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
