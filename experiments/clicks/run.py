"""Learning from clicks instead of judgements: simulated clicks on OHSUMED.

    KERNELRANK_DATA=... python -m experiments.clicks.run
    python -m experiments.clicks.run --quick

Reads ``letor/OHSUMED_QueryLevelNorm_S1.txt.xz`` to ``S5`` from the folder that the environment variable names. Fold k
shows the queries of three parts to simulated users, chooses alpha on the fourth part, and is measured on the fifth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import number, table
from experiments.ohsumed import N_PARTS, Rows, load_parts, split
from experiments.study import READING, Run, Tables, in_processes, main
from kernelrank import RankSVM
from kernelrank.datasets import simulate_clicks
from kernelrank.metrics import concordance_index, ndcg
from kernelrank.model_selection import estimate_propensities
from kernelrank.pairs import weigh_clicks

ALPHAS = np.geomspace(1e-1, 1e-5, 7)
SHOWN_ALPHA = 1e-2
N_RANKERS = 2  # each trained on one judged query; both are shown equally often
NOISE = 0.1
CLICKS = (1_000, 10_000, 100_000, 1_000_000)
SEEDS = 6
IMPRESSIONS = 50  # per query and ranker, simulated at once

# First positions of bins that share a propensity, about 1.25 times as wide from bin to bin.
BINS = np.array([1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256])

NAIVE, WEIGHTED, ESTIMATED = "naive", "weighted", "estimated propensities"
SKIPPED = "weighted, against skipped"
METHODS = (NAIVE, WEIGHTED, ESTIMATED, SKIPPED)
SHOWN, JUDGED = "rankers shown", "judgements"
LIMIT = np.inf
MEASURES = ("NDCG@10", "concordance")

Measured = tuple[float, float]


class Log(NamedTuple):
    """Counts of clicks and impressions of the training rows, one row of each array per ranker.

    Attributes
    ----------
    position, propensity : ndarray of shape (n_rankers, n_rows)
    clicks : ndarray of shape (n_rankers, n_rows)
    n_shown : float
        Impressions of each query by each ranker.
    together : list of sparse array of shape (n_rows, n_rows)
        For each ranker, the impressions in which both of two rows were clicked.
    """

    position: np.ndarray
    propensity: np.ndarray
    clicks: np.ndarray
    n_shown: float
    together: list[sp.csr_array]


class Found(NamedTuple):
    """Measures on the test part of a fold, for one seed."""

    shown: list[Measured]
    judged: Measured
    by_clicks: dict[tuple[float, str], Measured]
    estimates: dict[float, tuple[int, float]]  # number of bins, and mean absolute logarithm of the ratio to the truth
    n_shown: dict[float, float]


def evaluate(model: RankSVM, rows: Rows) -> Measured:
    scores = model.predict(rows.X)
    return (
        float(ndcg(rows.y, scores, qid=rows.qid, k=10, undefined=0)),
        float(np.nanmean(concordance_index(rows.y, scores, qid=rows.qid, per_query=True))),
    )


def choose(fit: Callable[[float], RankSVM], valid: Rows, test: Rows, alphas: np.ndarray) -> Measured:
    """Return the measures on the test part of the alpha with the greatest NDCG@10 on the validation part."""
    models = [fit(alpha) for alpha in alphas]
    return evaluate(max(models, key=lambda model: evaluate(model, valid)[0]), test)


def weak_rankers(train: Rows, rng: np.random.RandomState) -> list[RankSVM]:
    """Train each ranker on the judgements of one query."""
    with_pairs = [query for query in np.unique(train.qid) if np.ptp(train.y[train.qid == query]) > 0]
    chosen = [train.qid == query for query in rng.choice(with_pairs, N_RANKERS, replace=False)]
    return [RankSVM(SHOWN_ALPHA).fit(train.X[rows], train.y[rows]) for rows in chosen]


def logs(train: Rows, rankers: list[RankSVM], sizes: tuple[int, ...], rng: np.random.RandomState) -> Iterator[Log]:
    """Yield counts of growing numbers of clicks, and of infinitely many."""
    scores, n = [ranker.predict(train.X) for ranker in rankers], len(train.y)
    first = [simulate_clicks(train.y, train.qid, each, noise=NOISE, random_state=rng) for each in scores]
    position, propensity = (np.array([getattr(each, name) for each in first]) for name in ("position", "propensity"))
    clicks, together, n_shown = np.zeros((len(scores), n)), [sp.csr_array((n, n)) for _ in scores], 0
    attraction = NOISE + (1 - NOISE) * (2**train.y - 1) / (2 ** train.y.max() - 1)
    each_time = float((propensity * attraction).sum())  # clicks, if both rankers show every query once
    for size in sizes:
        while clicks.sum() < size:
            times = int(np.clip((size - clicks.sum()) / each_time, 1, IMPRESSIONS))
            n_shown += times
            for k, of_ranker in enumerate(scores):
                drawn = simulate_clicks(
                    train.y, train.qid, of_ranker, noise=NOISE, random_state=rng, n_impressions=times
                )
                row, impression = drawn.row[drawn.clicked], drawn.impression[drawn.clicked]
                clicks[k] += np.bincount(row, minlength=n)
                C = sp.csr_array((np.ones(len(row)), (impression, row)), (impression.max(initial=0) + 1, n))
                together[k] = together[k] + C.T @ C
        yield Log(position, propensity, clicks.copy(), n_shown, list(together))
    yield Log(position, propensity, propensity * attraction, LIMIT, [])


def counted(log: Log) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the row, the click and the weight of each element of a log: first all clicks, then all that are not."""
    shown = 1.0 if log.n_shown == LIMIT else log.n_shown
    row = np.tile(np.arange(log.clicks.shape[1]), 2 * N_RANKERS)
    weight = np.concatenate((log.clicks.ravel(), shown - log.clicks.ravel()))
    return row, np.repeat([True, False], log.clicks.size), weight


def against_all(train: Rows, log: Log, propensity: np.ndarray) -> Callable[[float], RankSVM]:
    """Return the fit that compares clicked rows with all rows."""
    row, clicked, weight = counted(log)
    chances = np.tile(propensity.ravel(), 2)
    found = weigh_clicks(clicked, chances, qid=train.qid[row], row=row, sample_weight=weight)
    X = train.X[found.row]

    def fit(alpha: float) -> RankSVM:
        model = RankSVM(alpha, query_weighting="pair")
        return model.fit(X, found.y, qid=found.qid, sample_weight=found.sample_weight)

    return fit


def estimate(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Return propensities of all rows, and the bins: the finest whose propensities the clicks determine."""
    row, clicked, weight = counted(log)
    position = np.tile(log.position.ravel(), 2)
    for width in range(1, len(BINS)):
        bins = BINS[::width]
        first = bins[np.searchsorted(bins, position, side="right") - 1]
        try:
            found = estimate_propensities(clicked, first, row, sample_weight=weight)
        except ValueError:  # too few clicks at some position
            continue
        return found.at(first[: log.position.size]).reshape(log.position.shape), bins
    return np.ones(log.position.shape), BINS[:1]


def against_skipped(train: Rows, log: Log) -> Callable[[float], RankSVM]:
    """Return the fit that compares clicked rows with those that were not clicked in the same impression."""
    pairs, weight = [], []
    if log.n_shown < LIMIT:
        both = sum(each.multiply(1 / p[:, None]) for each, p in zip(log.together, log.propensity, strict=True)).tocsr()
    total = (log.clicks / log.propensity).sum(axis=0)
    for query in np.unique(train.qid):
        rows = np.flatnonzero(train.qid == query)
        if log.n_shown < LIMIT:
            of_query = total[rows][:, None] - both[rows][:, rows].toarray()
        else:  # the expected weights: both clicks of a pair are independent
            of_query = total[rows][:, None] * (1 - log.clicks[:, rows].mean(axis=0))
        of_query[np.arange(len(rows)), np.arange(len(rows))] = 0.0
        winner, loser = np.nonzero(of_query > 1e-9)
        pairs.append(np.stack((rows[winner], rows[loser]), axis=1))
        weight.append(of_query[winner, loser])
    pairs, weight = np.concatenate(pairs), np.concatenate(weight)

    def fit(alpha: float) -> RankSVM:
        return RankSVM(alpha, query_weighting="pair").fit_pairs(train.X, pairs, weight=weight)

    return fit


def run_fold(fold: int, seed: int, sizes: tuple[int, ...], alphas: np.ndarray, quick: bool) -> Found:
    train, valid, test = split(load_parts(quick), fold)
    rng = np.random.RandomState(N_PARTS * seed + fold)
    rankers = weak_rankers(train, rng)
    by_clicks, estimates, n_shown = {}, {}, {}
    for size, log in zip((*sizes, LIMIT), logs(train, rankers, sizes, rng), strict=True):
        estimated, bins = estimate(log)
        fits = {
            NAIVE: against_all(train, log, np.ones(log.position.shape)),
            WEIGHTED: against_all(train, log, log.propensity),
            ESTIMATED: against_all(train, log, estimated),
            SKIPPED: against_skipped(train, log),
        }
        for method, fit in fits.items():
            by_clicks[size, method] = choose(fit, valid, test, alphas)
        estimates[size] = len(bins), float(np.abs(np.log(estimated / log.propensity)).mean())
        n_shown[size] = log.n_shown * N_RANKERS
    judged = choose(
        lambda alpha: RankSVM(alpha, query_weighting="pair").fit(train.X, train.y, qid=train.qid), valid, test, alphas
    )
    return Found([evaluate(each, test) for each in rankers], judged, by_clicks, estimates, n_shown)


def measure(run: Run) -> list[list[Found]]:
    """Return what was found for each seed, of all folds."""
    seeds, folds, sizes, alphas = (SEEDS, N_PARTS, CLICKS, ALPHAS) if not run.quick else (2, 2, (100, 300), ALPHAS[::4])
    tasks = [(fold, seed, sizes, alphas, run.quick) for seed in range(seeds) for fold in range(folds)]
    found = in_processes(run_fold, tasks, run.jobs)
    return [found[k : k + folds] for k in range(0, len(found), folds)]


def over_seeds(found: list[list[Found]], of: Callable[[Found], float], form: str = ".4f") -> str:
    """Return the mean over the folds and seeds, and the standard error of the means of the seeds."""
    means = [np.mean([of(each) for each in folds]) for folds in found]
    error = np.std(means, ddof=1) / len(means) ** 0.5
    return f"{np.mean(means):{form}} ± {error:{form}}"


def report(found: list[list[Found]], _: Run) -> list[str]:
    paragraphs = ["# Clicks instead of judgements", ABOUT.format(seeds=len(found))]
    sizes = list(found[0][0].estimates)
    for k, measure_name in enumerate(MEASURES):
        rows = [
            [show(size), *(over_seeds(found, lambda each, of=(size, m), k=k: each.by_clicks[of][k]) for m in METHODS)]
            for size in sizes
        ]
        references = [
            [SHOWN, over_seeds(found, lambda each, k=k: float(np.mean([of[k] for of in each.shown])))],
            [JUDGED, over_seeds(found, lambda each, k=k: each.judged[k])],
        ]
        paragraphs += [
            f"## {measure_name}",
            table(["clicks", *METHODS], rows),
            table(["without clicks", measure_name], references),
            READING,
        ]
    rows = [
        [
            show(size),
            "" if size == LIMIT else f"{np.mean([each.n_shown[size] for each in folds_of(found)]):,.0f}",
            f"{np.mean([each.estimates[size][0] for each in folds_of(found)]):.1f}",
            over_seeds(found, lambda each, size=size: float(np.exp(each.estimates[size][1])), ".2f"),
        ]
        for size in sizes
    ]
    columns = ["clicks", "impressions per query", "bins", "factor"]
    return [*paragraphs, f"## {ESTIMATES}", ABOUT_ESTIMATES, table(columns, rows), READING]


def folds_of(found: list[list[Found]]) -> list[Found]:
    return [each for folds in found for each in folds]


def show(size: float) -> str:
    return "infinitely many" if size == LIMIT else f"{size:,.0f}"


ESTIMATES = "Estimated propensities"
ABOUT = """
Clicks are simulated on the training queries of five folds. Two weak rankers, each trained on the judgements of one
query, are shown equally often. A document at rank k is examined with probability 1/k, and then clicked with probability
0.1 for grade 0, 0.4 for grade 1 and 1 for grade 2. Models are trained on the clicks alone, with the alpha of the
greatest NDCG@10 on the judged validation queries, and measured on the judged test queries. Means over {seeds} seeds,
which draw the rankers and the clicks; the standard errors are those of the means of the seeds. They say nothing of
other queries.

*naive*: clicked documents are compared with all documents of the query, and every click weighs the same. *weighted*: a
click weighs 1 / propensity. *estimated propensities*: these are estimated from the same clicks. *weighted, against
skipped*: a clicked document is compared with those that were not clicked in the same impression. *infinitely many*:
expected weights instead of clicks. *judgements*: RankSVM on the grades of the training queries, every pair weighs the
same.
"""
ABOUT_ESTIMATES = """
*factor*: geometric mean, over the documents shown, of the ratio of estimated to true propensity, or of its inverse
where that is greater. *bins*: number of bins of positions that share a propensity, the finest of several for which the
clicks suffice. Inside each of the 22 finest, the true propensity varies by at most about a quarter.
"""


def readings(tables: Tables) -> Iterator[str]:
    for name in MEASURES:
        clicks, references = tables[name]
        judged, shown = (number(references.row(of)[name]) for of in (JUDGED, SHOWN))
        *some, last, limit = clicks

        def value(row: dict[str, str], method: str) -> float:
            return number(row[method])

        def error(row: dict[str, str], method: str) -> float:
            return float(row[method].split(" ± ")[1])

        far = (value(last, WEIGHTED) - value(last, NAIVE)) / np.hypot(error(last, WEIGHTED), error(last, NAIVE))
        yield f"""
            Differences to the ranker trained on judgements, with {last["clicks"]} clicks: weighted
            {value(last, WEIGHTED) - judged:+.4f}, with estimated propensities {value(last, ESTIMATED) - judged:+.4f},
            against skipped documents {value(last, SKIPPED) - judged:+.4f}, naive {value(last, NAIVE) - judged:+.4f}.
            The weighted ranker is better than the naive one by {far:.1f} standard errors. From {some[0]["clicks"]} to
            {last["clicks"]} clicks, the naive ranker changes by {value(last, NAIVE) - value(some[0], NAIVE):+.4f}, and
            the weighted one by {value(last, WEIGHTED) - value(some[0], WEIGHTED):+.4f}. With infinitely many clicks,
            the differences to judgements are {value(limit, NAIVE) - judged:+.4f} for the naive ranker and
            {value(limit, WEIGHTED) - judged:+.4f} for the weighted one. The rankers that were shown are at
            {shown - judged:+.4f}."""
    [estimates] = tables[ESTIMATES]
    *_, last, limit = estimates
    yield f"""
        With {estimates[0]["clicks"]} clicks the estimates are off by a factor of {number(estimates[0]["factor"]):.2f},
        with {last["clicks"]} by {number(last["factor"]):.2f}, and with infinitely many by
        {number(limit["factor"]):.2f}: what remains is due to the bins, inside which the true propensity varies."""


PARTS = {"results": sys.modules[__name__]}

if __name__ == "__main__":
    main("clicks", __doc__, PARTS)
