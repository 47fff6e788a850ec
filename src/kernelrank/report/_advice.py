"""Warnings about data and model, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from kernelrank._html import number, percent, plural
from kernelrank.estimators._alphas import find_end
from kernelrank.estimators._folds import mean_scores
from kernelrank.estimators._ranker import goal_of
from kernelrank.report._data import Facts
from kernelrank.report._metrics import Measured
from kernelrank.report._subject import Subject

_NAMED = 5
_FEW_QUERIES, _FEW_ROWS = 20, 30
_SCALES = 1e3
_MANY_UNDECIDED = 0.2


class Advice(NamedTuple):
    """Warning, and what to do about it."""

    title: str
    remedy: str


def advise(subject: Subject, facts: Facts, measured: list[Measured]) -> list[Advice]:
    """Return all warnings that apply."""
    return [*_of_model(subject), *_of_scores(subject, measured), *_of_data(subject, facts)]


def _of_model(subject: Subject) -> Iterator[Advice]:
    last = subject.last
    gap, goal = getattr(last, "gap_", None), goal_of(last)
    if gap is not None and goal is not None and gap > goal:
        yield Advice(
            f"Training stopped before it converged: the gap is {number(gap)}, and the goal was {number(goal)}.",
            "Increase max_iter, or alpha; scaled features help most.",
        )
    if (end := _end_of_path(last)) is not None:
        yield Advice(
            f"The chosen alpha, {number(last.alpha_)}, is the {end} of those that were tried.",
            f"Try {'smaller' if end == 'smallest' else 'larger'} values as well: the best may lie beyond.",
        )
    with_queries = getattr(last, "_fitted_with_queries", None)
    if with_queries and subject.ids is None:
        yield Advice(
            "The model was trained with queries, but these rows have none: all are compared with each other.",
            "Pass qid, or name its column.",
        )
    if with_queries is False and subject.ids is not None:
        yield Advice(
            "The model was trained without queries, but these rows have queries.",
            "Train with qid as well: pairs of different queries are then left out.",
        )


def _end_of_path(last: Any) -> str | None:
    """Return at which end of the alphas that were tried the chosen one lies, by the rule of the fit's warning."""
    alphas, scores = getattr(last, "alphas_", None), getattr(last, "scores_", None)
    if alphas is None or not isinstance(scores, np.ndarray):
        return None
    # The largest alpha of a grid that the fit has made is one above which little changes.
    limit = 0.0 if isinstance(getattr(last, "alphas", None), Integral) else np.inf
    means = mean_scores(scores) if scores.ndim == 2 else scores
    return find_end(np.asarray(alphas), means, lambda: limit)


def _of_scores(subject: Subject, measured: list[Measured]) -> Iterator[Advice]:
    concordance = measured[0]
    n_pairs = int(subject.pairs.n_pairs)
    if len(np.unique(subject.scores)) == 1:
        yield Advice(
            "All scores are equal: the model does not rank.",
            "Decrease alpha, and check that its features vary in these rows.",
        )
    elif subject.n_undecided > _MANY_UNDECIDED * n_pairs:
        yield Advice(
            f"{percent(subject.n_undecided / n_pairs)} of the pairs have equal scores, which count half.",
            "Add features that tell these rows apart.",
        )
    if concordance.value < 0.5:
        yield Advice(
            f"The order is worse than chance: the concordance is {concordance.value:.3f}.",
            "Check the sign of y: higher must be better. Check that these rows have the features that the model"
            " was trained with, in their order.",
        )
    elif concordance.low <= 0.5 <= concordance.high:
        yield Advice(
            "The interval of the concordance contains 0.5, which is chance.",
            "Evaluate on more rows or queries before you rely on the order.",
        )
    if n_pairs and subject.n_wrong == 0 and subject.n_undecided == 0:
        yield Advice(
            "All pairs are in the right order: the rows are separated.",
            "If these are the training rows, this says little about new ones: evaluate on others, and choose alpha by"
            " cross-validation. If they are not, look for a feature that contains the answer.",
        )
    n, few, what = (
        (subject.n_rows, _FEW_ROWS, "row") if subject.ids is None else (concordance.n_queries, _FEW_QUERIES, "query")
    )
    if n < few:
        counted = plural(n, what, "queries" if what == "query" else None)
        yield Advice(
            f"There {'is' if n == 1 else 'are'} only {counted} to judge by.",
            "Take the intervals as rough.",
        )


def _of_data(subject: Subject, facts: Facts) -> Iterator[Advice]:
    columns = facts.columns
    if facts.n_idle_queries and subject.ids is not None:
        yield Advice(
            f"{facts.n_idle_queries:,} of {plural(subject.n_queries, 'query', 'queries')} have no two rows with"
            " different utilities.",
            "They neither train nor test the model. Judge more of their rows, or leave them out.",
        )
    if constant := [name for name, each in zip(columns.names, columns.constant, strict=True) if each]:
        yield Advice(
            f"{plural(len(constant), 'feature has', 'features have')} the same value in all rows: {_list(constant)}.",
            "They cannot change the order here. Drop them, or check how they were made.",
        )
    if facts.n_duplicates:
        yield Advice(
            f"{plural(facts.n_duplicates, 'row repeats', 'rows repeat')} the features of an earlier row.",
            "If one copy trains a model and another tests it, estimates are too good: drop duplicates, or keep them"
            " together with groups.",
        )
    if facts.n_contradicting:
        yield Advice(
            f"{plural(facts.n_contradicting, 'row has', 'rows have')} the same features and query as a row with another"
            " utility.",
            "No model can order them. Check the judgements, or add a feature that tells them apart.",
        )
    if missing := [name for name, each in zip(columns.names, columns.missing.tolist(), strict=True) if each]:
        yield Advice(
            f"{plural(len(missing), 'feature has', 'features have')} missing values: {_list(missing)}.",
            "The model fills them in. Check that they are missing for the same reason as in training.",
        )
    scales = columns.deviation[columns.deviation > 0]
    if not subject.steps and hasattr(subject.last, "coef_") and len(scales) and scales.max() > _SCALES * scales.min():
        yield Advice(
            "Features have very different scales: the largest standard deviation is"
            f" {scales.max() / scales.min():,.0f} times the smallest.",
            "Standardise them: alpha penalises the coefficients of all features alike.",
        )


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
