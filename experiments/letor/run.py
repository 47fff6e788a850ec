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

from kernelrank import RankSVM, RankSVMCV
from kernelrank.exceptions import PathEndWarning, UndefinedQueryWarning
from kernelrank.io import load_svmlight
from kernelrank.metrics import average_precision, concordance_index, ndcg, pairwise_error

PARTS = 5
N_FEATURES = 45
ALPHAS = np.geomspace(1.0, 1e-5, 16)
PUBLISHED = 0.336  # disagreement error of RankSVM, Pahikkala et al. 2009, table 3


class Rows(NamedTuple):
    X: sp.csr_matrix
    y: np.ndarray
    qid: np.ndarray


class Task(NamedTuple):
    """What is relevant, how alpha is chosen, and what is measured."""

    title: str
    grades: Callable[[np.ndarray], np.ndarray]
    choose_by: Callable[..., float]
    measures: dict[str, Callable[..., float]]


TASKS = (
    Task(
        "Three grades, alpha chosen by MAP, as LETOR's baselines do",
        lambda y: y,
        average_precision,
        {"NDCG@10": partial(ndcg, k=10), "MAP": average_precision, "pairwise error": pairwise_error},
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


def run_fold(parts: list[Rows], fold: int, task: Task, loss: str) -> tuple[float, dict[str, float]]:
    """Choose alpha, and measure; `fold` counts from 0."""
    turned = [parts[(fold + k) % PARTS] for k in range(PARTS)]
    train, valid, test = join(turned[:3]), turned[3], turned[4]
    both = join([train, valid])
    n = len(train.y)
    split = [(np.arange(n), np.arange(n, len(both.y)))]
    search = RankSVMCV(ALPHAS, cv=split, scoring=task.choose_by, loss=loss)
    alpha = search.fit(both.X, task.grades(both.y), qid=both.qid).alpha_
    model = RankSVM(alpha, loss=loss).fit(train.X, task.grades(train.y), qid=train.qid)
    scores = model.predict(test.X)
    return alpha, {name: of(task.grades(test.y), scores, qid=test.qid) for name, of in task.measures.items()}


def table(task: Task, folds: list[tuple[float, dict[str, float]]]) -> list[str]:
    names = list(task.measures)
    rows = [[f"{k + 1}", f"{alpha:.2g}", *(f"{found[n]:.4f}" for n in names)] for k, (alpha, found) in enumerate(folds)]
    means = [f"{np.mean([found[n] for _, found in folds]):.4f}" for n in names]
    lines = [["fold", "alpha", *names], ["---"] * (len(names) + 2), *rows, ["**mean**", "", *means]]
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
    text = "\n".join(lines)
    Path(__file__).with_name("results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
