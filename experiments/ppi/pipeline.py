"""The estimator pipeline, fold by fold: the same figures as those from one decomposition, and what a basis costs."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import number, show_progress, table
from experiments.ppi._corpora import MAX
from experiments.ppi._measure import N_FOLDS, draw_folds, judge_fold
from experiments.ppi._pipeline import N_BASIS, make_classifier
from experiments.ppi._shared import make_task, percent
from experiments.study import READING, Run, Tables

FOLDS_OF_LARGE = 1  # folds of corpora with more pairs than basis rows, and in a quick run


def measure(run: Run) -> list[list[str]]:
    """Fit the pipeline, and return the rows of the table."""
    task, rows = make_task(run), []
    for name, corpus in task.corpora.items():
        graphs, folds = np.array(corpus.graphs(), dtype=object), draw_folds(corpus.document, 0)
        exact, _ = task.measures(name, MAX)
        for fold in range(FOLDS_OF_LARGE if run.quick or len(corpus) > N_BASIS else N_FOLDS):
            show_progress(f"pipeline: {name}, fold {fold + 1}")
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            began = time.process_time()
            model = make_classifier(len(train))
            model.fit(graphs[train], corpus.y[train], fscoreclassifier__groups=corpus.document[train])
            seconds = time.process_time() - began
            scores = model.score_samples(graphs[test])
            _, _, f, area = judge_fold(scores, corpus.y[test], model[-1].threshold_)
            chosen = exact.at(exact.inner_f.argmax(axis=0))
            ours = [area, f, model[-1].f_score_]
            theirs = [chosen.auc[0, fold], chosen.f[0, fold], chosen.inner_f[0, fold]]
            cells = [f"{percent(a)} ({percent(b)})" for a, b in zip(ours, theirs, strict=True)]
            lam = model[-1].estimator_.alpha_ * len(train)
            both = f"{np.log2(lam):.0f} ({np.log2(task.lambdas[exact.inner_f[:, 0, fold].argmax()]):.0f})"
            rows.append([f"{name} {fold + 1}", f"{len(train):,}", *cells, both, f"{seconds:.1f}"])
    return rows


def report(rows: list[list[str]], run: Run) -> list[str]:
    heading = ["corpus, fold", "pairs", "AUC", "F", "F inside", "log2 lambda", "processor seconds"]
    return [f"# {TITLE}", SETTING.format(n_basis=N_BASIS), table(heading, rows), READING]


TITLE = "The pipeline"


SETTING = """
Folds of the first split, by the estimators of `_pipeline.py` (and by `_nested.py`, with all pairs as a basis), in
percent. With more than {n_basis:,} pairs, {n_basis:,} basis rows. *F inside*: of held-out documents of the other folds.
While documents are held out inside, the pipeline keeps alpha where `_nested.py` keeps lambda, so that *F inside*, the
threshold and now and then lambda differ a little. Where lambda is the same and all pairs are the basis, it is the same
model, and AUC is the same.
"""


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]

    def both(row: dict[str, str], column: str) -> tuple[float, float]:
        ours, _, theirs = row[column].partition("(")
        return number(ours), number(theirs)

    same = [row for row in found if number(row["pairs"]) <= N_BASIS and np.equal(*both(row, "log2 lambda"))]
    aucs = [abs(np.subtract(*both(row, "AUC"))) for row in same]
    exact = [row for row in found if number(row["pairs"]) <= N_BASIS]
    basis = [f"{np.subtract(*both(row, 'AUC')):+.1f} ({row['corpus, fold']})" for row in found if row not in exact]
    yield f"""
        The same lambda is chosen in {len(same)} of the {len(exact)} folds with all pairs as basis, and the AUC of these
        differs by {max(aucs):.1f} points at most. With {N_BASIS:,} basis rows the AUC changes by
        {" and ".join(basis)}."""
