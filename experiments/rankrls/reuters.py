"""RankRLS, RLS and RankSVM on the 25 largest topics of Reuters-21578 (P09, tables 4 and 5).

Draws 500 of the 12,902 documents of ModApte in ``text/reuters21578_counts.npz``, chooses lambda by the AUC of pooled
ten-fold predictions, and measures the AUC on the other 12,402; ten draws. Ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import binomtest, spearmanr, wilcoxon
from sklearn.model_selection import KFold

from benchmarks.harness import number, show_progress, table
from experiments.rankrls._reuters import LAMBDAS, Documents, load_documents, split, weigh_words
from experiments.study import READING, Run, Tables
from kernelrank import RLS, RankRLS, RankSVM
from kernelrank.metrics import auc

Array = NDArray[np.float64]

N_DRAWS, QUICK_DRAWS = 10, 2
N_FOLDS = 10
SIZES = ((70, 150), (150, 400), (400, 4000))  # classes of topics, by their positives among all documents
# Topic: AUC of RankRLS, RLS and RankSVM; positives to train on and in the rest (P09, tables 4 and 5).
PUBLISHED = {
    "acq": (0.980, 0.979, 0.979, 94, 2275),
    "bop": (0.966, 0.880, 0.966, 4, 101),
    "cocoa": (0.931, 0.837, 0.923, 2, 71),
    "coffee": (0.969, 0.962, 0.962, 5, 134),
    "corn": (0.970, 0.950, 0.966, 11, 226),
    "cpi": (0.947, 0.601, 0.947, 3, 94),
    "crude": (0.976, 0.975, 0.976, 23, 555),
    "dlr": (0.971, 0.946, 0.972, 10, 165),
    "earn": (0.994, 0.993, 0.994, 158, 3806),
    "gnp": (0.987, 0.923, 0.987, 5, 131),
    "gold": (0.970, 0.922, 0.960, 4, 120),
    "grain": (0.979, 0.974, 0.979, 23, 559),
    "interest": (0.965, 0.952, 0.968, 19, 459),
    "livestock": (0.701, 0.637, 0.741, 3, 96),
    "money-fx": (0.954, 0.947, 0.959, 28, 689),
    "money-supply": (0.949, 0.907, 0.963, 7, 165),
    "nat-gas": (0.957, 0.941, 0.957, 5, 100),
    "oilseed": (0.898, 0.816, 0.895, 6, 165),
    "reserves": (0.943, 0.511, 0.920, 2, 71),
    "ship": (0.949, 0.925, 0.951, 13, 273),
    "soybean": (0.876, 0.805, 0.882, 4, 107),
    "sugar": (0.985, 0.964, 0.977, 6, 156),
    "trade": (0.978, 0.969, 0.982, 20, 466),
    "veg-oil": (0.890, 0.697, 0.853, 4, 120),
    "wheat": (0.984, 0.976, 0.983, 12, 271),
}


class Draw(NamedTuple):
    X: sp.csr_matrix
    y: Array  # one column per topic
    X_rest: sp.csr_matrix
    y_rest: Array
    K: Array  # inner products of the documents to train on
    K_rest: Array  # of the rest with them
    folds: list[NDArray[np.intp]]
    lambdas: Array

    def others(self, fold: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the documents that are not in a fold."""
        return np.setdiff1d(np.arange(len(self.y)), fold)

    def learnable(self) -> NDArray[np.intp]:
        """Return the topics with a positive document outside every fold."""
        left = np.array([self.y[self.others(fold)].sum(axis=0) for fold in self.folds])
        return np.flatnonzero(left.min(axis=0) > 0)


class Path(NamedTuple):
    """Solutions for all lambdas: scores of held-out documents, and weights of documents or of words."""

    held_out: Array  # (n_lambdas, n_training, n_topics)
    weights: Array  # (n_lambdas, n_training or n_words, n_topics)
    rest: Array | sp.csr_matrix  # times the weights, it gives the scores of the other documents


def make_draw(documents: Documents, seed: int, lambdas: Array = LAMBDAS) -> Draw:
    train, rest = split(documents, seed)
    X, X_rest = weigh_words(documents.counts[train], documents.counts[rest])
    folds = [fold for _, fold in KFold(N_FOLDS, shuffle=True, random_state=seed).split(train)]
    products = [(rows @ X.T).toarray() for rows in (X, X_rest)]
    return Draw(X, documents.labels[train], X_rest, documents.labels[rest], *products, folds, lambdas)


def rank_rls(draw: Draw) -> Path:
    """Fit all topics at once; every pair counts, also those with equal labels."""
    m = len(draw.y)
    alphas = draw.lambdas / (m**2 / 2)
    model = RankRLS(kernel="precomputed").fit(draw.K, draw.y)
    levels = [draw.y[draw.others(fold)].mean(axis=0) for fold in draw.folds]
    # A ranking has no level. That of the model is the share of positives in the other folds, which is the smaller
    # the more there are in this one: pooled, it would tell the answer, the wrong way round.
    held_out = [
        [found - level for found, level in zip(model.hold_out(draw.folds, alpha=alpha), levels, strict=True)]
        for alpha in alphas
    ]
    return Path(pool(draw, held_out), model.path(alphas), draw.K_rest)


def rank_rls_without_ties(draw: Draw) -> Path:
    """Fit each topic and fold: the tied pairs are not the same, and held-out rows change their number."""
    held_out, weights = np.zeros((len(draw.lambdas), *draw.y.shape)), np.zeros((len(draw.lambdas), *draw.y.shape))
    for topic in draw.learnable():
        y = draw.y[:, topic]
        alphas = draw.lambdas / (y.sum() * (1 - y).sum())
        model = RankRLS(kernel="precomputed", ties="drop")
        for fold in draw.folds:
            rows = draw.others(fold)
            K = draw.K[np.ix_(rows, rows)]
            found = model.fit(K, y[rows]).path(alphas)
            held_out[:, fold, topic] = found @ (draw.K[np.ix_(rows, fold)] - K.mean(axis=1)[:, None])
        weights[:, :, topic] = model.fit(draw.K, y).path(alphas)
    return Path(held_out, weights, draw.K_rest)


def rls(draw: Draw) -> Path:
    """Fit ridge regression of 0 and 1 with a mean."""
    alphas = draw.lambdas / len(draw.y)
    model = RLS(kernel="precomputed").fit(draw.K, draw.y)
    held_out = [model.hold_out(draw.folds, alpha=alpha) for alpha in alphas]
    return Path(pool(draw, held_out), model.path(alphas), draw.K_rest)


def rls_without_mean(draw: Draw, negative: float) -> Path:
    """Fit ridge regression of `negative` and 1 without a mean: rows and their mirror images have mean zero."""
    m = len(draw.y)
    alphas = draw.lambdas / m
    y = np.where(draw.y == 1, 1.0, negative)
    model = RLS(kernel="precomputed").fit(np.kron([[1, -1], [-1, 1]], draw.K), np.concatenate([y, -y]))
    folds = [np.concatenate([fold, fold + m]) for fold in draw.folds]
    held_out = [[both[: len(both) // 2] for both in model.hold_out(folds, alpha=alpha)] for alpha in alphas]
    weights = model.path(alphas)
    return Path(pool(draw, held_out), weights[:, :m] - weights[:, m:], draw.K_rest)


def rank_svm(draw: Draw) -> Path:
    """Fit each topic and fold, from the largest lambda to the smallest."""
    held_out = np.zeros((len(draw.lambdas), *draw.y.shape))
    weights = np.zeros((len(draw.lambdas), draw.X.shape[1], draw.y.shape[1]))
    for topic in draw.learnable():
        y = draw.y[:, topic]
        alphas = draw.lambdas / (y.sum() * (1 - y).sum())
        for fold in draw.folds:
            rows = draw.others(fold)
            found = svm_path(draw.X[rows], y[rows], alphas)
            centre = np.asarray(draw.X[rows].mean(axis=0)).ravel()
            held_out[:, fold, topic] = (draw.X[fold] @ found.T).T - (found @ centre)[:, None]
        weights[:, :, topic] = svm_path(draw.X, y, alphas)
    return Path(held_out, weights, draw.X_rest)


def svm_path(X: sp.csr_matrix, y: Array, alphas: Array) -> Array:
    model = RankSVM(warm_start=True)
    return np.array([model.set_params(alpha=alpha).fit(X, y).coef_ for alpha in alphas])


def pool(draw: Draw, held_out: list[list[Array]]) -> Array:
    """Return the predictions in the order of the documents, from those of the folds."""
    order = np.argsort(np.concatenate(draw.folds))
    return np.array([np.concatenate(of_folds)[order] for of_folds in held_out])


METHODS: dict[str, Callable[[Draw], Path]] = {
    "RankRLS": rank_rls,
    "RankRLS, ties dropped": rank_rls_without_ties,
    "RLS": rls,
    "RLS of 0/1, no mean": partial(rls_without_mean, negative=0.0),
    "RLS of ±1, no mean": partial(rls_without_mean, negative=-1.0),
    "RankSVM": rank_svm,
}


def judge(draw: Draw, path: Path) -> Array:
    """Return the AUC on the rest, one column per topic, NaN if it is not learnable.

    The first row is for the lambda that is best on the pooled folds, the larger of equals; the second for the one that
    is best on the rest itself, which is not known in practice.
    """
    found = np.full((2, draw.y.shape[1]), np.nan)
    for topic in draw.learnable():
        pooled = [auc(draw.y[:, topic], scores) for scores in path.held_out[:, :, topic]]
        on_rest = [auc(draw.y_rest[:, topic], scores) for scores in (path.rest @ path.weights[:, :, topic].T).T]
        found[:, topic] = on_rest[np.argmax(pooled)], max(on_rest)
    return found


def run_draws(documents: Documents, n_draws: int, lambdas: Array) -> tuple[dict[str, Array], Array]:
    """Return the AUC of each method, (n_draws, 2, n_topics), and the number of positive training documents."""
    found: dict[str, list[Array]] = {name: [] for name in METHODS}
    positives = []
    for seed in range(n_draws):
        draw = make_draw(documents, seed, lambdas)
        positives.append(draw.y.sum(axis=0))
        for name, method in METHODS.items():
            show_progress(f"draw {seed + 1} of {n_draws}: {name}")
            found[name].append(judge(draw, method(draw)))
    return {name: np.array(each) for name, each in found.items()}, np.array(positives)


def largest_difference(documents: Documents) -> float:
    """Return the largest difference of held-out predictions of RankRLS and of RLS with half its alpha, first draw."""
    draw = make_draw(documents, 0)
    ranking = RankRLS(kernel="precomputed").fit(draw.K, draw.y)
    regression = RLS(kernel="precomputed").fit(draw.K, draw.y)
    differences = [
        np.concatenate(ranking.hold_out(draw.folds, alpha=2 * alpha))
        - np.concatenate(regression.hold_out(draw.folds, alpha=alpha))
        for alpha in LAMBDAS / len(draw.y)
    ]
    return float(np.abs(differences).max())


def topics_table(topics: list[str], found: dict[str, Array], positives: Array, published: dict[str, int]) -> str:
    """Return a table of the AUC on the rest, mean and standard deviation over the draws, after the published one."""
    heading = ["topic", "positives", "draws"]
    lines = [
        [topic, f"{n:.1f}", f"{draws}"]
        for topic, n, draws in zip(
            topics, positives.mean(axis=0), np.isfinite(found["RankRLS"][:, 0]).sum(axis=0), strict=True
        )
    ]
    lines.append(["**mean**", f"{positives.mean():.1f}", ""])
    for name, column in published.items():
        if column >= 0:
            heading.append(f"{name}, P09")
            values = [PUBLISHED[topic][column] for topic in topics]
            append_column(lines, [f"{value:.3f}" for value in [*values, np.mean(values)]])
        heading.append(name)
        means, spreads = np.nanmean(found[name][:, 0], axis=0), np.nanstd(found[name][:, 0], axis=0, ddof=1)
        cells = [f"{mean:.3f} ± {spread:.3f}" for mean, spread in zip(means, spreads, strict=True)]
        append_column(lines, [*cells, f"{means.mean():.3f}"])
    return table(heading, lines)


def append_column(lines: list[list[str]], cells: list[str]) -> None:
    for line, cell in zip(lines, cells, strict=True):
        line.append(cell)


def gains_table(topics: list[str], found: dict[str, Array], totals: Array) -> str:
    """Return a table of the gains of RankRLS: a mean over draws for each topic, then over topics."""
    lines = []
    for name, column in (("RLS", 1), ("RankSVM", 2)):
        gains = np.array([PUBLISHED[topic][0] - PUBLISHED[topic][column] for topic in topics])
        lines.append([f"{name}, P09", *describe(gains, totals), ""])
    for name in list(METHODS)[1:]:
        gains, in_hindsight = np.nanmean(found["RankRLS"] - found[name], axis=0)
        lines.append([name, *describe(gains, totals), f"{in_hindsight.mean():+.4f}"])
    sizes = [f"{low}-{high - 1}" for low, high in SIZES]
    heading = ["over", "mean gain", *sizes, "won : lost", "sign test", "Wilcoxon", "rank correlation", "best lambda"]
    return table(heading, lines)


def describe(gains: Array, totals: Array) -> list[str]:
    won, lost = int((gains > 0).sum()), int((gains < 0).sum())
    correlation = spearmanr(gains, totals)
    by_size = [gains[(totals >= low) & (totals < high)] for low, high in SIZES]
    return [
        f"{gains.mean():+.4f}",
        *(f"{inside.mean():+.4f}" if len(inside) else "" for inside in by_size),
        f"{won} : {lost}",
        f"{binomtest(won, won + lost).pvalue:.2g}",
        f"{wilcoxon(gains).pvalue:.2g}",
        f"{correlation.statistic:+.2f} (p = {correlation.pvalue:.1g})",
    ]


def measure(run: Run) -> dict[str, Any]:
    documents = load_documents(run.quick)
    n_draws, lambdas = (QUICK_DRAWS, LAMBDAS[::15]) if run.quick else (N_DRAWS, LAMBDAS)
    found, positives = run_draws(documents, n_draws, lambdas)
    return {"documents": documents, "found": found, "positives": positives, "same": largest_difference(documents)}


def report(results: dict[str, Any], run: Run) -> list[str]:
    documents, found, positives = results["documents"], results["found"], results["positives"]
    published = {"RankRLS": 0, "RLS of ±1, no mean": 1, "RLS of 0/1, no mean": -1, "RLS": -1}
    rankings = {"RankRLS": 0, "RankRLS, ties dropped": -1, "RankSVM": 2}
    return [
        "# Reuters-21578: AUC of 25 topics (P09, tables 4 and 5)",
        SETTING.format(same=results["same"]),
        f"## {TABLE_4}",
        topics_table(documents.topics, found, positives, published),
        f"## {TABLE_5}",
        topics_table(documents.topics, found, positives, rankings),
        f"## {GAINED}",
        GAINS,
        gains_table(documents.topics, found, documents.labels.sum(axis=0)),
        READING,
    ]


TABLE_4, TABLE_5, GAINED = "Table 4: RankRLS and RLS", "Table 5: RankRLS and RankSVM", "Gains of RankRLS"
SETTING = """
P09 has one draw of 500 documents to train on; here are ten, out of the 12,902 of the ModApte split (P09: 12,897),
training and test part together. AUC on the other 12,402, mean ± standard deviation over the draws; `positives` is
their mean number among the 500. A topic takes part in a draw if every fold leaves a positive document to learn from:
`draws` says in how many.

- **Features.** P09 names none but the linear kernel. Here tf-idf, rows of length one; words and idf are those of the
  500 documents.
- **Lambda** is one of 2^-15, 2^-14, ..., 2^15 (P09's grid), chosen by the AUC of pooled ten-fold predictions, the
  larger of equals. It is against the sum of losses, as in P09: alpha is lambda / (500² / 2) for RankRLS, lambda /
  (positives x negatives) for pairs without ties and RankSVM, lambda / 500 for RLS. A fold keeps alpha: in its fits
  lambda falls by a tenth for RLS and a fifth for RankRLS, and without ties by up to about a step of the grid, where
  one of few positives is held out.
- **Folds** are random, not stratified, the same for all topics and methods; P09 does not say.
- **Pooling.** Scores of a ranking are taken relative to their mean over the documents of the other folds.
- RankRLS and RLS hold out folds in closed form, all topics from one decomposition, without a refit. RankRLS without
  ties, and RankSVM, are fitted for every fold, topic and lambda. Nothing was left out of the grid.
- **One model.** Held-out predictions of RankRLS and of RLS with half its alpha differ by {same:.0e} at most.
"""
GAINS = """
AUC of RankRLS less that of the other method, mean over draws for each topic, then over topics: over all of them, and
over those with so many positives among all documents. Topics won and lost, with p of the sign test and of the
signed-rank test, both two-sided, over topics. Spearman's correlation of the gain with the number of positives: negative
if RankRLS gains most where positives are fewest. Last, the mean gain if both had the lambda that is best on the rest,
without the effect of choosing lambda.
"""


def readings(tables: Tables) -> Iterator[str]:
    [four], [gains] = tables[TABLE_4], tables[GAINED]
    few = next(name for name in gains[0] if name.startswith("70-"))
    rls, zero_one, plus_minus, svm, ties = (
        gains.row(name)
        for name in ("RLS", "RLS of 0/1, no mean", "RLS of ±1, no mean", "RankSVM", "RankRLS, ties dropped")
    )
    higher = four.value("**mean**", "RankRLS") - four.value("**mean**", "RankRLS, P09")
    spreads = [number(row["RankRLS"].partition("±")[2]) for row in four[:-1]]
    livestock = four.row("livestock")
    yield f"""
        **RankRLS against RLS: the paper's gap is that of a missing mean.** With ties kept, RankRLS is ridge regression
        with a mean and another scale of alpha. So RLS with a mean has nothing to lose: the mean gain over it is
        {rls["mean gain"]}, and {rls["best lambda"]} with the best lambda for both. The rest comes from the grid, which
        their scales of lambda shift, and from pooling, where the level of a regression is higher if its fold has fewer
        positives. P09 does not say which targets its RLS has, but all its functions are sums of kernels without a mean
        (eq. 6). With targets -1 and 1 and no mean, RLS behaves as in the paper's table: the gain over it is
        {plus_minus["mean gain"]} (P09: {gains.row("RLS, P09")["mean gain"]}), topics won and lost are
        {plus_minus["won : lost"]}, and the gain is {plus_minus[few]} where positives are fewest. A function without a
        mean must spend its weights on predicting -1 for nearly all documents. With targets 0 and 1 it need not, and the
        gain is {zero_one["mean gain"]}. The claim is reproduced, but it is one about the mean, not about pairs.

        **RankRLS against RankSVM.** The mean gain over RankSVM is {svm["mean gain"]}, topics won and lost are
        {svm["won : lost"]}, and the tests have p = {svm["sign test"]} and {svm["Wilcoxon"]} (P09:
        {gains.row("RankSVM, P09")["sign test"]} and {gains.row("RankSVM, P09")["Wilcoxon"]}). Both tests take topics as
        independent, but they share their draws. With the best lambda for both the gain is {svm["best lambda"]}: two or
        three positives say little about lambda.

        **Ties.** The mean gain of keeping ties over dropping them is {ties["mean gain"]}.

        **Levels.** The mean AUC of RankRLS is {higher:.3f} above the paper's: the features are not the same (P09 does
        not describe its own), and its single draw is one of many, with a standard deviation over draws of up to
        {max(spreads):.2f}. Livestock, {livestock["RankRLS, P09"]} in P09 with three positives to train on, is far
        outside that: {livestock["RankRLS"]} here. Topics that a draw does not let one learn are left out of it, which
        favours the draws with more positives; all methods have the same draws."""
