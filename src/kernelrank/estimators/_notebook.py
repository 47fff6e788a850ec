"""Fitted estimators in notebooks: a table of what the fit has found, and a small picture of how."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._charts import bounds, curve
from kernelrank._html import Markup, join, number, plural, shorten, tag
from kernelrank._notebook import facts
from kernelrank.estimators._parameters import name_scoring
from kernelrank.estimators._ranker import goal_of
from kernelrank.estimators._rls_cv import RLSCV
from kernelrank.kernels import Kernel
from kernelrank.solvers import ConjugateGradients
from kernelrank.solvers.least_squares import LeastSquares

Row = tuple[str, str]

_MOST_NAMES, _LONGEST = 8, 60
_DECADES = 4  # with a tick each; of more, some have one


def describe_fit(estimator: Any) -> list[Markup]:
    """Return a table of what a fit has found, and a picture if there is one; nothing before a fit."""
    rows = [*_choice(estimator), *_certificate(estimator), *_work(estimator), *_selection(estimator)]
    rows += _thresholds(estimator)
    if not rows:
        return []
    picture = _picture(estimator)
    return [facts(rows, f"Fit of {type(estimator).__name__}"), *([] if picture is None else [picture])]


def _certificate(estimator: Any) -> Iterator[Row]:
    """Yield the objective, and how far it is from the optimum."""
    objective, gap = getattr(estimator, "objective_", None), getattr(estimator, "gap_", None)
    if objective is None:
        return
    yield "objective", number(objective, 6)
    if gap is None:
        return
    yield "proven gap to the optimum", f"at most {number(gap, 3)}"
    goal, gaps = goal_of(estimator), getattr(estimator, "gaps_", None)
    if goal is not None:
        reached = "reached" if gap <= goal else tag("strong", "not reached")
        yield "gap that tol asks for", join([number(goal, 3), ", ", reached])
    if gaps is not None:
        yield "largest gap of all alphas", number(float(np.max(gaps)), 3)


def _choice(estimator: Any) -> Iterator[Row]:
    """Yield the alpha, and the kernel, that a search has chosen."""
    alphas, alpha = getattr(estimator, "alphas_", None), getattr(estimator, "alpha_", None)
    if alphas is None or alpha is None:
        return
    tried = f" of {len(alphas):,} from {number(float(np.min(alphas)), 3)} to {number(float(np.max(alphas)), 3)}"
    yield "chosen alpha", number(float(alpha)) + tried * (len(alphas) > 1)
    if getattr(estimator, "kernel_scores_", None) is not None:
        yield "chosen kernel", f"{_show(estimator.kernel_)}, of {len(estimator.kernel_scores_):,}"
    scores = _known_scores(estimator)
    best = scores[np.asarray(alphas) == alpha]
    if best.size:
        spread = f", standard deviation {number(float(best[0].std()), 2)} over {best.shape[1]:,} folds" * (
            best.shape[1] > 1
        )
        yield f"held-out {_metric(estimator)}", f"{number(float(best[0].mean()))}{spread}"


def _work(estimator: Any) -> Iterator[Row]:
    """Yield the number of iterations, and of pairs."""
    n_iter, n_pairs = getattr(estimator, "n_iter_", None), getattr(estimator, "n_pairs_", None)
    training = getattr(estimator, "_training", None)
    residual = getattr(estimator, "residual_", None)
    if isinstance(getattr(training, "solver", None), LeastSquares) or residual == 0:
        yield "solved", "in closed form"
    elif isinstance(getattr(training, "solver", None), ConjugateGradients):
        yield "solved", f"by conjugate gradients, in {plural(int(estimator.n_iter_), 'iteration')}"
    elif n_iter is not None and (n_iter > 1 or hasattr(estimator, "gap_")):
        yield "iterations", f"{n_iter:,}"
    if residual:
        yield "relative residual", number(residual, 3)
    if n_pairs is not None:
        yield "comparable pairs" if isinstance(n_pairs, Integral) else "weight of comparable pairs", number(n_pairs, 6)
    labels = getattr(estimator, "labels_", None)
    if labels is not None:
        yield "rows per cluster", ", ".join(f"{count:,}" for count in np.bincount(labels))


def _selection(estimator: Any) -> Iterator[Row]:
    """Yield the features that were selected, in their order."""
    selected, errors = getattr(estimator, "selected_", None), getattr(estimator, "errors_", None)
    if selected is None or errors is None:
        return
    names = getattr(estimator, "feature_names_in_", None)
    shown = [shorten(str(k if names is None else names[k]), _LONGEST) for k in selected[:_MOST_NAMES].tolist()]
    more = f" and {len(selected) - _MOST_NAMES:,} more" if len(selected) > _MOST_NAMES else ""
    yield "selected", plural(len(selected), "feature") + f" of {len(estimator.support_):,}"
    yield "in this order", ", ".join(shown) + more
    yield "held-out error", number(float(errors[-1]))


def _thresholds(estimator: Any) -> Iterator[Row]:
    """Yield the thresholds between the classes, and a score of them."""
    classes, thresholds = getattr(estimator, "classes_", None), getattr(estimator, "thresholds_", None)
    if thresholds is None and getattr(estimator, "threshold_", None) is not None:
        thresholds = [estimator.threshold_]
    if classes is not None and thresholds is not None:
        values = [number(float(each), 3) for each in thresholds]
        if len(values) < _MOST_NAMES:
            names = [shorten(str(each), _LONGEST) for each in classes]
            between = zip(values, names[1:], strict=False)
            yield "thresholds", " ".join([names[0], *(f"< {value} < {name}" for value, name in between)])
        else:
            yield "thresholds", f"{len(values):,} from {values[0]} to {values[-1]}"
    score = getattr(estimator, "f_score_", None)
    if score is not None:
        yield "F-score on held-out rows", number(float(score))


def _picture(estimator: Any) -> Markup | None:
    """Return the bounds by iteration, the score by alpha, or the error by the number of features."""
    name = type(estimator).__name__
    history = getattr(estimator, "history_", None)
    if history is not None and len(history) > 1:
        upper, lower = history["upper_bound"], history["lower_bound"]
        about = (
            f"{name}: objective and proven lower bound in {len(history):,} iterations, from"
            f" {number(float(upper[0]), 3)} and {number(float(lower[0]), 3)} to {number(float(upper[-1]), 4)} and"
            f" {number(float(lower[-1]), 4)}"
        )
        return bounds(upper, lower, ("objective", "lower bound"), "iteration", about)
    alphas = getattr(estimator, "alphas_", None)
    if alphas is not None and len(alphas) > 1:
        return _path(estimator)
    errors = getattr(estimator, "errors_", None)
    if errors is not None and len(errors) > 1:
        about = f"{name}: held-out error by the number of features"
        return curve(np.arange(1, len(errors) + 1), np.asarray(errors), None, "features", "held-out error", about)
    return None


def _path(estimator: Any) -> Markup | None:
    """Return the held-out scores by alpha, with the standard deviation over folds."""
    order = np.argsort(estimator.alphas_)
    alphas, scores = np.asarray(estimator.alphas_)[order], _known_scores(estimator)[order]
    if scores.shape[1] == 0 or alphas[0] <= 0:
        return None
    places, metric = np.log10(alphas), _metric(estimator)
    first, last = int(np.ceil(places[0] - 1e-9)), int(np.floor(places[-1] + 1e-9))
    step = max(1, -(-(last - first) // _DECADES))
    ticks = [(float(decade), f"{10.0**decade:g}") for decade in range(first, last + 1, step)]
    ticks = ticks if len(ticks) > 1 else [(float(each), number(float(10**each), 2)) for each in (places[0], places[-1])]
    spread = scores.std(axis=1) if scores.shape[1] > 1 else None
    about = (
        f"{type(estimator).__name__}: held-out {metric} by alpha, best at {number(float(estimator.alpha_))};"
        f" {plural(len(alphas), 'alpha')} from {number(float(alphas[0]), 3)} to {number(float(alphas[-1]), 3)}"
    )
    names = [number(float(alpha)) for alpha in alphas]
    mark = float(np.log10(estimator.alpha_))
    return curve(places, scores.mean(axis=1), spread, "alpha", metric, about, names=names, ticks=ticks, mark=mark)


def _known_scores(estimator: Any) -> NDArray[np.float64]:
    """Return the scores of the folds where they are defined; shape (n_alphas, n_folds)."""
    scores = np.asarray(estimator.scores_, dtype=np.float64)
    return scores[:, ~np.isnan(scores).any(axis=0)]


def _metric(estimator: Any) -> str:
    """Return the name of what a search has maximised."""
    scoring = getattr(estimator, "scoring", None)
    of_values = isinstance(estimator, RLSCV) or getattr(estimator, "ranking", True) is False
    return "minus squared error" if scoring is None and of_values else shorten(name_scoring(scoring), _LONGEST)


def _show(kernel: Kernel) -> str:
    return shorten(repr(kernel), _LONGEST)
