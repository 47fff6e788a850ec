"""Bias and spread of estimates, by strategy, rows, share of positives and signal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

from benchmarks.harness import table
from experiments.auc_estimation._shared import (
    ALPHA,
    Setting,
    draw,
    expecting_bias,
    repeat,
    scaled,
    standard_error,
    true_auc,
)
from kernelrank import RLS, RankRLS
from kernelrank.model_selection import estimate_auc

LEAVE_PAIR_OUT, TOURNAMENT = "leave-pair-out", "tournament"
POOLED_ROWS, LEVELLED, POOLED_FOLDS = "pooled, each row", "… without levels", "pooled 10-fold"
AVERAGED_5, AVERAGED_10 = "averaged 5-fold", "averaged 10-fold"
STRATEGIES = (POOLED_ROWS, LEVELLED, POOLED_FOLDS, AVERAGED_5, AVERAGED_10, LEAVE_PAIR_OUT, TOURNAMENT)

SHARES = {0: (0.1, 0.2, 0.3, 0.4, 0.5), 1: (0.1, 0.5), 4: (0.1, 0.3, 0.5)}  # of positive rows, by features with signal
BY_SHARE = {Setting(30, share, n): 10_000 for n, shares in SHARES.items() for share in shares}
REPETITIONS = {20: 10_000, 30: 10_000, 50: 10_000, 100: 10_000, 200: 1_000, 300: 600, 500: 400, 1000: 200}
BY_ROWS = {Setting(m, 0.5, n): count for n in (0, 4) for m, count in REPETITIONS.items()}
FEW_POSITIVES = {Setting(m, 0.1, 0): min(count, 2_000) for m, count in REPETITIONS.items() if m > 30}
ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0)
BY_ALPHA = {Setting(20, 0.5, n): 2_000 for n in (0, 4)}
BY_MODEL = {Setting(30, 0.5, n): 100 for n in (0, 4)}
MODELS: dict[str, Any] = {
    'RankRLS, `ties="drop"`': RankRLS(ALPHA, ties="drop"),
    "SVC, linear kernel": SVC(kernel="linear"),
}
MODEL_STRATEGIES = (POOLED_ROWS, POOLED_FOLDS, AVERAGED_5, AVERAGED_10, LEAVE_PAIR_OUT)


class Deviations(NamedTuple):
    """Bias and standard deviations of the estimates of one strategy."""

    bias: float
    error: float  # of the bias
    conditional: float  # standard deviation from the AUC of the very model
    unconditional: float  # from the mean AUC of such models


Summary = dict[str, Deviations]


def folds_of(m: int, n_folds: int) -> list[np.ndarray]:
    """Return folds that take rows in turn; rows of a class are next to each other, so folds keep the shares."""
    return [np.arange(k, m, n_folds) for k in range(n_folds)]


def right_pairs(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return 1 for each positive and negative row in the right order, 1/2 for ties; the mean is the AUC."""
    return (np.sign(np.subtract.outer(scores[y == 1], scores[y == 0])) + 1) / 2


def levels(y: np.ndarray) -> np.ndarray:
    """Return the mean of y without each row, which is part of its prediction and depends on its class."""
    return (y.sum() - y) / (len(y) - 1)


def estimate_all(y: np.ndarray, model: RankRLS) -> list[float]:
    """Estimate by each of STRATEGIES, from one fit; `check` compares with estimate_auc."""
    m, positive = len(y), y == 1
    found = model.hold_out([*folds_of(m, m), *folds_of(m, 5), *folds_of(m, 10)])
    by_row, rest = np.concatenate(found[:m]), found[m:]
    pooled, averaged = {}, {}
    for n_folds in (5, 10):
        fold, scores = np.arange(m) % n_folds, np.empty(m)
        for rows, each in zip(folds_of(m, n_folds), rest, strict=False):
            scores[rows] = each
        rest, right = rest[n_folds:], right_pairs(y, scores)
        pooled[n_folds] = right.mean()
        averaged[n_folds] = right[np.equal.outer(fold[positive], fold[~positive])].mean()
    order = model.leave_pair_out_order()
    return [
        right_pairs(y, by_row).mean(),
        right_pairs(y, by_row - levels(y)).mean(),
        pooled[10],
        averaged[5],
        averaged[10],
        (order[np.ix_(positive, ~positive)] + 1.0).mean() / 2,
        right_pairs(y, order.sum(axis=1, dtype=float)).mean(),
    ]


def least_squares(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the true AUC of models, and the estimates."""
    lines = []
    for _ in range(n):
        X, y = draw(setting, rng)
        model = RankRLS(ALPHA).fit(X, y)
        lines.append([true_auc(model.coef_, setting), *estimate_all(y, model)])
    return np.array(lines)


def by_alpha(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the true AUC and three estimates at each of ALPHAS."""
    lines = []
    for _ in range(n):
        X, y = draw(setting, rng)
        model, rows, line = RankRLS().fit(X, y), folds_of(setting.m, setting.m), []
        for alpha, weights in zip(ALPHAS, model.path(ALPHAS), strict=True):
            scores = np.concatenate(model.hold_out(rows, alpha=alpha))
            line += [
                true_auc(weights, setting),
                right_pairs(y, scores).mean(),
                right_pairs(y, scores - levels(y)).mean(),
            ]
            line.append(model.leave_pair_out_concordance(alpha=alpha))
        lines.append(line)
    return np.array(lines)


def ask(model: Any, X: np.ndarray, y: np.ndarray, strategy: str, interval: Any = "rows") -> Any:
    """Estimate as a user does, with the folds of this study."""
    name, *size = strategy.replace("pooled, each row", "pooled").split()
    n_folds = int(size[0].removesuffix("-fold")) if size else None
    folds = (
        None if n_folds is None else [(np.delete(np.arange(len(y)), rows), rows) for rows in folds_of(len(y), n_folds)]
    )
    return estimate_auc(model, X, y, strategy=name, cv=folds, interval=interval, verbose=0)


def other_models(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the true AUC and the estimates of each of MODELS, which are refitted."""
    lines = []
    for _ in range(n):
        X, y = draw(setting, rng)
        line = []
        for model in MODELS.values():
            line.append(true_auc(np.ravel(model.fit(X, y).coef_), setting))
            line += [ask(model, X, y, strategy).estimate for strategy in MODEL_STRATEGIES]
        lines.append(line)
    return np.array(lines)


def check() -> str:
    """Check that estimates from one fit are those of estimate_auc, and that RLS is RankRLS with ties."""
    largest, n_checked = 0.0, 0
    for number, setting in enumerate([*BY_SHARE, Setting(100, 0.5, 4)]):
        X, y = draw(setting, np.random.default_rng(number))
        model = RankRLS(ALPHA).fit(X, y)
        ours = dict(zip(STRATEGIES, estimate_all(y, model), strict=True))
        twin = RLS(ALPHA / 2).fit(X, y)
        np.testing.assert_allclose(twin.coef_, model.coef_, rtol=1e-9)
        np.testing.assert_array_equal(twin.leave_pair_out_order(), model.leave_pair_out_order())
        for strategy in set(STRATEGIES) - {LEVELLED}:
            with expecting_bias():
                asked = [ask(estimator, X, y, strategy).estimate for estimator in (model, twin)]
            largest, n_checked = max(largest, *np.abs(np.subtract(asked, ours[strategy]))), n_checked + len(asked)
    assert largest < 1e-12, largest
    return (
        f"**Checked** on {n_checked} estimates: those from one fit are what `estimate_auc` returns (the largest"
        f" difference is {largest:.0e}), both for `RankRLS({ALPHA:g})` and for `RLS({ALPHA / 2:g})`. With ties the two"
        " are one model: pairs of all rows see the variance that rows see, twice. What is said about one is said about"
        " both."
    )


def summarise(lines: np.ndarray, strategies: tuple[str, ...] = STRATEGIES) -> Summary:
    truth = lines[:, 0]
    found = {}
    for name, estimates in zip(strategies, lines[:, 1:].T, strict=True):
        away = estimates - truth
        found[name] = Deviations(float(away.mean()), standard_error(away), away.std(ddof=1), estimates.std(ddof=1))
    return found


def bias_table(lines: dict[Setting, np.ndarray], settings: list[Setting]) -> str:
    rows = []
    for setting in settings:
        found = summarise(lines[setting])
        cells = [f"{each.bias:+.4f} ± {each.error:.4f}" for each in found.values()]
        rows.append([name_of(setting), f"{len(lines[setting]):,}", f"{lines[setting][:, 0].mean():.3f}", *cells])
    return table(["rows, positive, signal", "data sets", "AUC", *STRATEGIES], rows)


def spread_table(lines: dict[Setting, np.ndarray], settings: list[Setting]) -> str:
    rows = []
    for setting in settings:
        found = summarise(lines[setting]).values()
        cells = [f"{each.conditional:.3f} / {each.unconditional:.3f}" for each in found]
        rows.append([name_of(setting), *cells])
    return table(["rows, positive, signal", *STRATEGIES], rows)


def alpha_table(lines: dict[Setting, np.ndarray]) -> str:
    rows = []
    for setting, found in lines.items():
        for k, alpha in enumerate(ALPHAS):
            cells = [f"{each.mean():.3f} ± {standard_error(each):.3f}" for each in found[:, 4 * k + 1 : 4 * k + 4].T]
            rows.append([str(setting.n_signal), f"{alpha:g}", f"{found[:, 4 * k].mean():.3f}", *cells])
    return table(["signal", "alpha", "AUC", POOLED_ROWS, LEVELLED, LEAVE_PAIR_OUT], rows)


def model_table(lines: dict[Setting, np.ndarray]) -> str:
    rows, width = [], 1 + len(MODEL_STRATEGIES)
    for setting, found in lines.items():
        for k, name in enumerate(MODELS):
            mine = found[:, k * width : (k + 1) * width]
            cells = [
                f"{each.bias:+.3f} ± {each.error:.3f} ({each.conditional:.3f})"
                for each in summarise(mine, MODEL_STRATEGIES).values()
            ]
            rows.append([name, str(setting.n_signal), f"{len(mine):,}", f"{mine[:, 0].mean():.3f}", *cells])
    return table(["model", "signal", "data sets", "AUC", *MODEL_STRATEGIES], rows)


def name_of(setting: Setting) -> str:
    """Return the number of rows, share of positive ones, and number of features that carry signal."""
    return f"{setting.m}, {setting.share:.0%}, {setting.n_signal}"


def run(scale: float, jobs: int) -> dict[str, Any]:
    """Return all lines, by what they are."""

    def lines_of(work: Any, settings: dict[Setting, int]) -> dict[Setting, np.ndarray]:
        return repeat(work, {setting: scaled(n, scale) for setting, n in settings.items()}, jobs=jobs)

    return {
        "checked": check(),
        "lines": lines_of(least_squares, BY_SHARE | BY_ROWS | FEW_POSITIVES),
        "alphas": lines_of(by_alpha, BY_ALPHA),
        "models": lines_of(other_models, BY_MODEL),
    }
