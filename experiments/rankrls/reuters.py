"""RankRLS, RLS and RankSVM on the 25 largest topics of Reuters-21578 (P09, tables 4 and 5).

Draws 500 of the 12,902 documents of ModApte in ``text/reuters21578_counts.npz``, chooses lambda by the AUC of pooled
ten-fold predictions, and measures the AUC on the other 12,402; ten draws. Ten minutes of processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from benchmarks.harness import Table, number
from experiments.rankrls._reuters import LAMBDAS, Documents, load_documents, split, weigh_words
from experiments.rankrls._reuters_published import PUBLISHED
from experiments.rankrls._reuters_tables import (
    COMPARED,
    DEVIATIONS,
    agreement_table,
    gains_table,
    intervals_table,
    topics_table,
)
from experiments.study import READING, Run, Tables, in_processes
from kernelrank import RLS, RankRLS, RankSVM
from kernelrank.metrics import auc, auc_interval

Array = NDArray[np.float64]

N_DRAWS, QUICK_DRAWS = 10, 2
N_FOLDS = 10


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
    """Return four rows with one column per topic, NaN if it is not learnable.

    The AUC on the rest for the lambda that is best on the pooled folds, the larger of equals; for the one that is best
    on the rest itself, which is not known in practice; and the ends of the 0.95 interval of the first.
    """
    found = np.full((4, draw.y.shape[1]), np.nan)
    for topic in draw.learnable():
        pooled = [auc(draw.y[:, topic], scores) for scores in path.held_out[:, :, topic]]
        of_rest = (path.rest @ path.weights[:, :, topic].T).T
        on_rest = [auc(draw.y_rest[:, topic], scores) for scores in of_rest]
        chosen = auc_interval(draw.y_rest[:, topic], of_rest[np.argmax(pooled)])
        found[:, topic] = chosen.auc, max(on_rest), chosen.low, chosen.high
    return found


read_documents = cache(load_documents)


def run_draw(seed: int, name: str, quick: bool) -> tuple[Array, Array]:
    """Return what `judge` finds for one method on one draw, and the number of positive training documents."""
    draw = make_draw(read_documents(quick), seed, LAMBDAS[::15] if quick else LAMBDAS)
    return judge(draw, METHODS[name](draw)), draw.y.sum(axis=0)


def run_draws(run: Run) -> tuple[dict[str, Array], Array]:
    """Return what `judge` finds, (n_draws, 4, n_topics) for each method, and the positive training documents."""
    seeds = range(QUICK_DRAWS if run.quick else N_DRAWS)
    slowest = sorted(METHODS, key=lambda name: name not in ("RankSVM", "RankRLS, ties dropped"))
    tasks = [(seed, name, run.quick) for name in slowest for seed in seeds]
    results = dict(zip(tasks, in_processes(run_draw, tasks, run.jobs), strict=True))
    found = {name: np.array([results[seed, name, run.quick][0] for seed in seeds]) for name in METHODS}
    return found, np.array([results[seed, "RankRLS", run.quick][1] for seed in seeds])


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


def measure(run: Run) -> dict[str, Any]:
    documents = read_documents(run.quick)  # before there are processes
    found, positives = run_draws(run)
    return {"documents": documents, "found": found, "positives": positives, "same": largest_difference(documents)}


def report(results: dict[str, Any], run: Run) -> list[str]:
    documents, found, positives = results["documents"], results["found"], results["positives"]
    topics, m, n = documents.topics, len(documents.labels), documents.n_training
    sizes = {"m": m, "n": n, "rest": m - n}
    regressions = ["RankRLS", "RLS of ±1, no mean", "RLS of 0/1, no mean", "RLS"]
    rankings = ["RankRLS", "RankRLS, ties dropped", "RankSVM"]
    intervals = [(f"### {INTERVALS.format(name)}", intervals_table(topics, found, name)) for name in COMPARED]
    return [
        "# Reuters-21578: AUC of 25 topics (P09, tables 4 and 5)",
        SETTING.format(same=results["same"], draws=len(positives), **sizes),
        f"## {TABLE_4}",
        topics_table(topics, found, positives, regressions),
        f"## {TABLE_5}",
        topics_table(topics, found, positives, rankings),
        f"## {AGREEMENT}",
        AGREES,
        agreement_table(topics, found),
        *(paragraph for each in intervals for paragraph in each),
        f"## {GAINED}",
        GAINS,
        gains_table(topics, found, documents.labels.sum(axis=0)),
        READING,
    ]


TABLE_4, TABLE_5, GAINED = "Table 4: RankRLS and RLS", "Table 5: RankRLS and RankSVM", "Gains of RankRLS"
AGREEMENT, INTERVALS = "Agreement with P09", "Intervals: {}"
SETTING = """
P09 has one draw of 500 documents to train on, of 12,897; here are {draws} draws of {n}, out of the {m:,} of the ModApte
split, training and test part together. AUC on the other {rest:,}, mean ± standard deviation over the draws. The last
row has the mean over topics; its deviation is that of the mean over the topics of a draw, each relative to its mean
over draws. `positives` is the mean number of positive documents to train on. A topic takes part in a draw if every fold
leaves a positive document to learn from: `draws` says in how many.

- **Features.** P09 names none but the linear kernel. Here tf-idf, rows of length one; words and idf are those of the
  documents to train on.
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
AGREES = """
P09 gives a 0.95 interval for each AUC, computed by SPSS 11.0. Ours are `auc_interval` (DeLong's variance); the tables
below have the means of their ends over the draws. Both are intervals for one fitted model, and say how exactly its AUC
is known from the documents that it is tested on. That another draw of documents to train on gives another model is not
in them. So the paper's figure, which is for one draw, is compared with the draws here: topics where it is within their
range, and within two standard deviations of the difference of one draw and the mean of n, sqrt(1 + 1/n) times that over
the draws (`deviations`). Last, the mean standard error that the length of an interval implies, the mean standard
deviation over the draws, and the number of topics in which the latter is larger.
"""
GAINS = """
AUC of RankRLS less that of the other method, mean over draws for each topic, then over topics: over all of them, and
over those with so many positives among all documents. Topics won and lost, with p of the sign test and of the
signed-rank test, both two-sided, over topics. Spearman's correlation of the gain with the number of positives: negative
if RankRLS gains most where positives are fewest. Last, the mean gain if both had the lambda that is best on the rest,
without the effect of choosing lambda.
"""


def readings(tables: Tables) -> Iterator[str]:
    [four], [gains], [agrees] = tables[TABLE_4], tables[GAINED], tables[AGREEMENT]
    few = next(name for name in gains[0] if name.startswith("70-"))
    rls, zero_one, plus_minus, svm, ties = (
        gains.row(name)
        for name in ("RLS", "RLS of 0/1, no mean", "RLS of ±1, no mean", "RankSVM", "RankRLS, ties dropped")
    )
    higher = four.value("**mean**", "RankRLS") - four.value("**mean**", "RankRLS, P09")
    spreads = [number(row["RankRLS"].partition("±")[2]) for row in four[:-1]]
    livestock = four.row("livestock")
    ours, plus_minus_agrees, svm_agrees = (agrees.row(name) for name in COMPARED)
    theirs = Table(row for name in COMPARED for row in tables[INTERVALS.format(name)][0])
    outside = [float(row["deviations"]) for row in theirs if abs(float(row["deviations"])) > DEVIATIONS]
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

        **Agreement.** For RankRLS, the mean length of our intervals is {ours["length, ours"]}, that of the paper's
        {ours["length, P09"]}. The standard deviation over draws is larger than the standard error of an interval in
        {ours["which is larger in"]} of {ours["topics"]} topics, so which documents are drawn matters there more than
        which are tested. The published AUC is within the range of our draws in {ours["in the range"]} topics for
        RankRLS, {plus_minus_agrees["in the range"]} for RLS of ±1 without a mean and {svm_agrees["in the range"]} for
        RankSVM, and within two standard deviations in {ours["within two"]}, {plus_minus_agrees["within two"]} and
        {svm_agrees["within two"]}. Of the {len(outside)} that are not, {sum(each < 0 for each in outside)} are lower
        than ours.

        **Levels.** The mean AUC of RankRLS is {higher:.3f} above the paper's. The features are not the same: P09 does
        not describe its own. Its single draw is one of many, with a standard deviation over draws of up to
        {max(spreads):.2f} for a topic. Livestock, {livestock["RankRLS, P09"]} in P09 with
        {PUBLISHED["livestock"].n_train} positives to train on, is far outside that: {livestock["RankRLS"]} here. Topics
        that a draw does not let one learn are left out of it, which favours the draws with more positives; all methods
        have the same draws."""
