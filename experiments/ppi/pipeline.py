"""The estimator pipeline, fold by fold: the same figures as those from one decomposition, and what a basis costs."""

from __future__ import annotations

import time

import numpy as np

from benchmarks._timing import show_progress, table
from experiments.ppi._corpora import MAX
from experiments.ppi._measure import LAMBDAS, N_FOLDS, draw_folds, judge_fold
from experiments.ppi._pipeline import N_BASIS, make_classifier
from experiments.ppi._shared import Run, percent

FOLDS_OF_LARGE = 1  # that are fitted, of corpora with more pairs than basis rows


def run(task: Run) -> None:
    """Fit the pipeline, and write the table."""
    rows = []
    for name, corpus in task.corpora.items():
        graphs, folds = np.array(corpus.graphs(), dtype=object), draw_folds(corpus.document, 0)
        exact, _ = task.measures(name, MAX)
        for number in range(FOLDS_OF_LARGE if len(corpus) > N_BASIS else N_FOLDS):
            show_progress(f"pipeline: {name}, fold {number + 1}")
            train, test = np.flatnonzero(folds != number), np.flatnonzero(folds == number)
            began = time.process_time()
            model = make_classifier(len(train))
            model.fit(graphs[train], corpus.y[train], fscoreclassifier__groups=corpus.document[train])
            seconds = time.process_time() - began
            scores = model.score_samples(graphs[test])
            _, _, f, area = judge_fold(scores, corpus.y[test], model[-1].threshold_)
            chosen = exact.at(exact.inner_f.argmax(axis=0))
            ours = [area, f, model[-1].f_score_]
            theirs = [chosen.auc[0, number], chosen.f[0, number], chosen.inner_f[0, number]]
            cells = [f"{percent(a)} ({percent(b)})" for a, b in zip(ours, theirs, strict=True)]
            lam = model[-1].estimator_.alpha_ * len(train)
            both = f"{np.log2(lam):.0f} ({np.log2(LAMBDAS[exact.inner_f[:, 0, number].argmax()]):.0f})"
            rows.append([f"{name} {number + 1}", f"{len(train):,}", *cells, both, f"{seconds:.1f}"])
    heading = ["corpus, fold", "pairs", "AUC", "F", "F inside", "log2 lambda", "processor seconds"]
    task.report("pipeline", ["# The pipeline", SETTING.format(n_basis=N_BASIS), table(heading, rows)])


SETTING = """
Folds of the first split, by the estimators of `_pipeline.py` (and by `_nested.py`, with all pairs as a basis), in
percent. With more than {n_basis:,} pairs, {n_basis:,} basis rows. *F inside*: of held-out documents of the other folds.
While documents are held out inside, the pipeline keeps alpha where `_nested.py` keeps lambda, so that *F inside*, the
threshold and now and then lambda differ a little. Where lambda is the same and all pairs are the basis, it is the same
model, and AUC is the same.
"""
