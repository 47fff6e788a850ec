"""Parameters of the model and the certificate of its training."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelrank._arrays import to_host
from kernelrank._charts import curve
from kernelrank._html import Markup, number, shorten
from kernelrank.estimators._ranker import goal_of
from kernelrank.report._subject import Subject

_LONGEST = 80


def parameters(subject: Subject) -> list[tuple[str, str]]:
    """Return the steps of the model and the parameters of its last one."""
    steps = " → ".join([*(type(step).__name__ for _, step in subject.steps), type(subject.last).__name__])
    given = subject.last.get_params(deep=False) if hasattr(subject.last, "get_params") else {}
    found = {"model": steps, **{name: _show(value) for name, value in sorted(given.items())}}
    for name in ("alpha_", "n_pairs_", "n_iter_", "objective_", "gap_"):
        if isinstance(value := getattr(subject.last, name, None), int | float | np.number):
            found[name] = number(float(value), 6)
    return list(found.items())


def certificate(subject: Subject) -> list[str]:
    """Return sentences about how close training came to the optimum."""
    last, name = subject.last, type(subject.last).__name__
    alpha = getattr(last, "alpha_", getattr(last, "alpha", None))
    first = f"{name}" if alpha is None else f"{name} with alpha = {number(alpha)}"
    gap, objective = getattr(last, "gap_", None), getattr(last, "objective_", None)
    if gap is None or objective is None:
        reason = (
            "solved its equations in closed form, so that there is no gap to the optimum beyond rounding errors"
            if getattr(last, "solver", None) in ("auto", "direct")
            else "does not state a gap to the optimum"
        )
        return [f"{first} {reason}."]
    goal = goal_of(last)
    reached = "" if goal is None else f", {'within' if gap <= goal else 'above'} the goal of {number(goal)}"
    bound = f"{number(objective, 6)}, and at most {number(gap, 3)} above the smallest possible value{reached}"
    return [f"{first} has an objective of {bound}. This is proven by a lower bound, not guessed."]


def convergence(subject: Subject) -> Markup | None:
    """Return the gap by iteration, or the score by alpha of a search."""
    last = subject.last
    alphas, scores = getattr(last, "alphas_", None), getattr(last, "scores_", None)
    if alphas is not None and scores is not None and len(alphas) > 2 and np.ndim(scores) == 2:
        order = np.argsort(alphas)
        x = np.log10(np.asarray(alphas)[order])
        means = np.asarray(scores)[order].mean(axis=1)
        if not np.isnan(means).any():
            about = "Score on held-out rows by log10 of alpha"
            return curve(x, means, None, "log10 of alpha", "held-out score", about)
    history = getattr(last, "history_", None)
    if history is None or len(history) < 3:
        return None
    gaps = np.maximum(history["upper_bound"] - history["lower_bound"], 1e-16)
    about = "Gap to the optimum by iteration"
    return curve(np.arange(1, len(gaps) + 1), np.log10(gaps), None, "iteration", "log10 of the gap", about)


def coefficients(subject: Subject) -> dict[str, float]:
    """Return the coefficient of each column of a linear model without transformers."""
    if subject.steps or getattr(subject.last, "coef_", None) is None:
        return {}
    coef = np.asarray(to_host(subject.last.coef_), dtype=np.float64).reshape(-1)
    return dict(zip(subject.names, coef.tolist(), strict=False))


def _show(value: Any) -> str:
    return shorten(repr(value), _LONGEST)
