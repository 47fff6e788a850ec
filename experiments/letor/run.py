"""RankSVM on LETOR 3.0's OHSUMED: five folds, tuned on the validation part.

    KERNELRANK_DATA=... python -m experiments.letor.run

Reads ``letor/OHSUMED_QueryLevelNorm_S1.txt.xz`` to ``S5`` from the folder that the environment
variable names: the parts of LETOR 3.0, features normalised inside each query. Fold k trains on
three of the parts, chooses alpha on the fourth, and is measured on the fifth; nothing is ever
learnt from the fourth or the fifth. Writes ``results.md`` beside this file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression

from kernelrank import RankSVM, RankSVMCV
from kernelrank.exceptions import PathEndWarning, UndefinedQueryWarning
from kernelrank.io import load_svmlight
from kernelrank.metrics import average_precision, concordance_index, ndcg, pairwise_error

PARTS = 5
N_FEATURES = 45
ALPHAS = np.geomspace(1.0, 1e-5, 16)
PUBLISHED = 0.336  # disagreement error of RankSVM, Pahikkala et al. 2009, table 3
# LETOR 3.0's "Regression" baseline: least squares, which has nothing to choose.
BASELINE = {"NDCG@1": 0.4456, "NDCG@3": 0.4426, "NDCG@5": 0.4278, "NDCG@10": 0.4110, "MAP": 0.4220}


class Rows(NamedTuple):
    X: sp.csr_matrix
    y: np.ndarray
    qid: np.ndarray


class Task(NamedTuple):
    """What is relevant, how alpha is chosen, and what is measured."""

    title: str
    grades: Callable[[np.ndarray], np.ndarray]
    choose_by: Callable[..., float]
    measures: dict[str, Callable[..., np.ndarray]]


TASKS = (
    Task(
        "Three grades, alpha chosen by MAP, as LETOR's baselines do",
        lambda y: y,
        average_precision,
        {
            "NDCG@10": partial(ndcg, k=10, undefined=0),
            "NDCG@10 of LETOR": partial(ndcg, k=10, convention="letor"),
            "MAP": partial(average_precision, undefined=0),
            "pairwise error": pairwise_error,
        },
    ),
    Task(
        "Grade 2 against grades 0 and 1, alpha chosen by pairwise error, as in Pahikkala et al. 2009",
        lambda y: (y == 2).astype(float),
        partial(concordance_index, ties=0),
        {"pairwise error": partial(pairwise_error, ties=1)},  # there a tie is an error
    ),
)


def load_part(folder: Path, number: int) -> Rows:
    data = load_svmlight(folder / f"OHSUMED_QueryLevelNorm_S{number}.txt.xz", n_features=N_FEATURES, zero_based=False)
    return Rows(data.X, data.y, data.qid)


def join(parts: list[Rows]) -> Rows:
    return Rows(
        sp.vstack([p.X for p in parts], format="csr"), *(np.concatenate(c) for c in list(zip(*parts, strict=True))[1:])
    )


def run_fold(parts: list[Rows], fold: int, task: Task, loss: str) -> tuple[float, dict[str, np.ndarray]]:
    """Choose alpha, and measure; `fold` counts from 0."""
    turned = [parts[(fold + k) % PARTS] for k in range(PARTS)]
    train, valid, test = join(turned[:3]), turned[3], turned[4]
    both = join([train, valid])
    n = len(train.y)
    split = [(np.arange(n), np.arange(n, len(both.y)))]
    search = RankSVMCV(ALPHAS, cv=split, scoring=task.choose_by, loss=loss)
    alpha = search.fit(both.X, task.grades(both.y), qid=both.qid).alpha_
    model = RankSVM(alpha, loss=loss).fit(train.X, task.grades(train.y), qid=train.qid)
    grades, scores = task.grades(test.y), model.predict(test.X)
    return alpha, {name: of(grades, scores, qid=test.qid, per_query=True) for name, of in task.measures.items()}


def table(task: Task, folds: list[tuple[float, dict[str, np.ndarray]]]) -> list[str]:
    """Show the means of each fold over its queries, and the mean over the folds."""
    names = list(task.measures)
    rows = []
    for k, (alpha, found) in enumerate(folds):
        n_queries = len(found[names[0]])
        rows.append([f"{k + 1}", f"{alpha:.2g}", *(show_mean(found[n]) for n in names), f"{n_queries}"])
    means = [f"{np.mean([np.nanmean(found[n]) for _, found in folds]):.4f}" for n in names]
    lines = [["fold", "alpha", *names, "queries"], ["---"] * (len(names) + 3), *rows, ["**mean**", "", *means, ""]]
    return ["| " + " | ".join(line) + " |" for line in lines]


def show_mean(values: np.ndarray) -> str:
    """Return the mean over the queries with a value, and how many they are if not all."""
    known = values[~np.isnan(values)]
    return f"{known.mean():.4f}" if len(known) == len(values) else f"{known.mean():.4f} ({len(known)})"


def check_baseline(parts: list[Rows]) -> list[str]:
    """Measure least squares by LETOR's definitions, beside what LETOR has published for it."""
    measures: dict[str, Callable[..., float]] = {
        **{f"NDCG@{k}": partial(ndcg, k=k, convention="letor", ties="ordinal") for k in (1, 3, 5, 10)},
        "MAP": partial(average_precision, undefined=0, ties="ordinal"),
    }
    found: dict[str, list[float]] = {name: [] for name in measures}
    for fold in range(PARTS):
        turned = [parts[(fold + k) % PARTS] for k in range(PARTS)]
        train, test = join(turned[:3]), turned[4]
        model = LinearRegression().fit(train.X.toarray(), train.y)
        for name, of in measures.items():
            found[name].append(of(test.y, model.predict(test.X.toarray()), qid=test.qid))
    ours = {name: f"{np.mean(values):.4f}" for name, values in found.items()}
    lines = [["", *BASELINE], ["---"] * (len(BASELINE) + 1)]
    lines += [["here", *(ours[name] for name in BASELINE)], ["LETOR", *(f"{each:.4f}" for each in BASELINE.values())]]
    return ["| " + " | ".join(line) + " |" for line in lines]


def main() -> None:
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    # As in the paper, queries without a pair are not considered.
    warnings.simplefilter("ignore", UndefinedQueryWarning)
    if "KERNELRANK_DATA" not in os.environ:
        raise SystemExit("Set KERNELRANK_DATA to the folder that holds letor/OHSUMED_QueryLevelNorm_S1.txt.xz to S5.")
    folder = Path(os.environ["KERNELRANK_DATA"]) / "letor"
    parts = [load_part(folder, number + 1) for number in range(PARTS)]
    lines = ["# Results", "", "Written by `python -m experiments.letor.run`."]
    for task in TASKS:
        lines += ["", f"## {task.title}"]
        for loss in ("hinge", "squared_hinge"):
            folds = [run_fold(parts, fold, task, loss) for fold in range(PARTS)]
            lines += ["", f'`loss="{loss}"`', "", *table(task, folds)]
    lines += [
        "",
        f"Published for RankSVM, second task, LETOR 2.0 with 25 features: pairwise error **{PUBLISHED}**.",
        "",
    ]
    lines += [
        "## Least squares by LETOR's definitions, and LETOR's \"Regression\" baseline",
        "",
        *check_baseline(parts),
        "",
    ]
    text = "\n".join(lines)
    Path(__file__).with_name("results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
