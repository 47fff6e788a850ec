"""The pictures of docs/plots.md and docs/getting-started.md: each display on a small data set, in seconds.

    python -m benchmarks.plots

Writes ``docs/plots/*.svg``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.figures import new_figure
from kernelrank import RankRLS, RankSVM, RankSVMCV, plots
from kernelrank.datasets import apartments_path
from kernelrank.model_selection import FScoreClassifier, coef_intervals
from kernelrank.pipelines import make_table_ranker

FOLDER = Path(__file__).parents[1] / "docs" / "plots"


def make_documents(n_queries: int) -> tuple[Any, Any, Any]:
    """Return rows, grades and queries of which some are much noisier than others."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), 10)
    X = rng.normal(size=(len(qid), 5))
    noise = rng.exponential(1.0, n_queries)[qid] * rng.normal(size=len(qid))
    return X, np.digitize(X @ [1.0, 0.8, 0.5, 0.0, -0.5] + noise, [-0.5, 0.5, 1.5]), qid


def fit_to_apartments(ranker: Any) -> tuple[Any, Any, Any]:
    """Return a model as in docs/getting-started.md, and the rows and grades that it has not seen."""
    table = pd.read_csv(apartments_path()).rename(columns={"search": "qid"})
    train, test = (table[chosen] for chosen in (table["qid"] <= "s080", table["qid"] > "s080"))
    X = train.drop(columns="grade")
    return make_table_ranker(X, ranker).fit(X, train["grade"]), test.drop(columns="grade"), test["grade"]


def draw_convergence(ax: Any) -> None:
    """Draw the bounds of a fit."""
    model, _, _ = fit_to_apartments(RankSVM(alpha=0.01))
    plots.ConvergenceDisplay.from_estimator(model[-1], ax=ax)


def draw_path(ax: Any) -> None:
    """Draw the scores of a path of alphas."""
    model, _, _ = fit_to_apartments(RankSVMCV())
    plots.PathDisplay.from_estimator(model[-1], ax=ax)


def draw_learning_curve(ax: Any) -> None:
    """Draw the learning curves of two models."""
    X, y, qid = make_documents(60)
    for alpha in (0.001, 10.0):
        model, name = RankRLS(alpha=alpha), f"alpha {alpha:g}"
        plots.LearningCurveDisplay.from_estimator(model, X, y, qid=qid, name=name, ax=ax, verbose=0)


def draw_explanation(ax: Any) -> None:
    """Draw why one row is above another."""
    model, X, _ = fit_to_apartments(RankSVMCV())
    plots.ExplanationDisplay.from_estimator(model, X.iloc[1], X.iloc[0], ax=ax)


def draw_coefficients(ax: Any) -> None:
    """Draw coefficients with their intervals."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), RankSVM(alpha=0.01)).fit(X, y)
    intervals = coef_intervals(model, X, y)
    plots.CoefficientDisplay.from_estimator(model, intervals=intervals, ax=ax)


def draw_queries(ax: Any) -> None:
    """Draw NDCG of each of twenty queries."""
    model, X, y = fit_to_apartments(RankSVMCV())
    plots.QueryBreakdownDisplay.from_estimator(model, X, y, metric="ndcg@5", ax=ax)


def draw_many_queries(ax: Any) -> None:
    """Draw NDCG of each of a thousand queries."""
    X, y, qid = make_documents(1100)
    model, test = RankSVM(alpha=0.01).fit(X[:1000], y[:1000], qid=qid[:1000]), slice(1000, None)
    plots.QueryBreakdownDisplay.from_estimator(model, X[test], y[test], qid=qid[test], metric="ndcg@5", ax=ax)


def draw_tournament(ax: Any) -> None:
    """Draw the ROC curve of held-out pairs."""
    X, y = load_breast_cancer(return_X_y=True)
    plots.TournamentROCDisplay.from_estimator(RankRLS(alpha=1e-3), X[:60, [1, 4, 9]], y[:60], ax=ax, verbose=0)


def draw_permutation(ax: Any) -> None:
    """Draw a null distribution."""
    X, y = load_diabetes(return_X_y=True)
    plots.PermutationDisplay.from_estimator(RankRLS(alpha=0.1), X[100:125], y[100:125], ax=ax, verbose=0)


def draw_threshold(ax: Any) -> None:
    """Draw precision, recall and F-score of new rows."""
    X, y = load_breast_cancer(return_X_y=True)
    malignant = y == 0
    model = FScoreClassifier(make_pipeline(StandardScaler(), RankRLS())).fit(X[:300, :3], malignant[:300])
    plots.CalibrationOfThresholdDisplay.from_estimator(model, X[300:400, :3], malignant[300:400], ax=ax)


def draw_times(ax: Any) -> None:
    """Draw areas under the ROC curve over time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    time, until = np.exp(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=400)), np.exp(rng.normal(size=400) + 1)
    y, observed = np.minimum(time, until), time <= until
    for name, columns in (("all features", [0, 1, 2]), ("one feature", [1])):
        model = RankSVM(alpha=0.01).fit(X[:200, columns], y[:200], observed=observed[:200])
        plots.TimeDependentAUCDisplay.from_estimator(
            model, X[200:, columns], y[200:], observed=observed[200:], name=name, ax=ax
        )


PICTURES: dict[str, tuple[Callable[[Any], None], tuple[float, float]]] = {
    "convergence": (draw_convergence, (5.2, 3.4)),
    "path": (draw_path, (5.2, 3.4)),
    "learning-curve": (draw_learning_curve, (5.2, 3.4)),
    "explanation": (draw_explanation, (5.2, 3.4)),
    "coefficients": (draw_coefficients, (5.2, 3.4)),
    "queries": (draw_queries, (5.2, 3.8)),
    "many-queries": (draw_many_queries, (5.2, 3.4)),
    "tournament": (draw_tournament, (4.4, 4.2)),
    "permutation": (draw_permutation, (5.2, 3.4)),
    "threshold": (draw_threshold, (5.2, 3.6)),
    "times": (draw_times, (5.2, 3.4)),
}


def draw(name: str, path: Path) -> None:
    """Draw one picture."""
    function, size = PICTURES[name]
    with new_figure(path, size) as figure:
        function(figure.subplots())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in PICTURES:
        draw(each, FOLDER / f"{each}.svg")
