"""KIBA: a hundred thousand known entries, by conjugate gradients and by RankSVM, with time and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.harness import number, table
from benchmarks.peers.measure import PeakMemory
from experiments.relational._choice import Chosen, Kernels, choose, least_squares, matrices, rate, split
from experiments.relational._data import TEST, Pairs, kiba
from experiments.relational._kernels import cosine, features, grams, levels, profiles
from experiments.study import READING, Run, Tables, alone
from kernelrank import RankSVM
from kernelrank.relational import KroneckerRLS, KroneckerRows

ALPHAS = (1e-5, 3e-6, 1e-6, 3e-7)
HINGE_ALPHAS = (3e-6, 1e-6, 3e-7, 1e-7)
QUICK_ALPHAS = (1e-2, 1e-4)
TOLERANCE = 0.01
PUBLISHED = {"KronRLS": 0.782, "DeepDTA": 0.863, "best of the published": 0.908}


def plain(power: int) -> Kernels:
    """Return a power of the kernel of n-grams, and the similarities of targets."""

    def kernels(pairs: Pairs, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return grams(pairs.smiles, 2, 6) ** power, cosine(pairs.targets)

    return kernels


def with_levels(power: int, own: float) -> Kernels:
    def kernels(pairs: Pairs, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        K, G = plain(power)(pairs, Y)
        return K + levels(len(K), own), G + levels(len(G), 0.1)

    return kernels


def with_profiles(pairs: Pairs, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    K, G = plain(4)(pairs, Y)
    drugs, _ = profiles(Y)
    return K * (1.0 + drugs) + 0.3 * drugs + levels(len(K), 0.3), G + levels(len(G), 0.1)


KERNELS: dict[str, Kernels] = {
    "n-grams": plain(1),
    "n-grams + levels": with_levels(1, 0.1),
    "n-grams⁴ + levels": with_levels(4, 0.3),
    "n-grams⁴ * (1 + profiles) + profiles + levels": with_profiles,
}


def by_least_squares(name: str, fold: int, alphas: tuple[float, ...], quick: bool) -> np.ndarray:
    return least_squares(kiba(quick), KERNELS[name], fold, alphas)


def by_hinge(name: str, fold: int, alphas: tuple[float, ...], quick: bool) -> np.ndarray:
    """Return the concordance of a fold for each alpha, of RankSVM on all entries as one ranking."""
    pairs = kiba(quick)
    train, test = split(pairs, fold)
    X = _rows(pairs, name, train)
    models = (RankSVM(alpha=alpha, tol=TOLERANCE).fit(X[train], pairs.y[train]) for alpha in alphas)
    return np.array([(rate(pairs.y[test], model.predict(X[test]))[0], np.nan) for model in models])


def _rows(pairs: Pairs, name: str, train: np.ndarray) -> KroneckerRows:
    K, G = matrices(KERNELS[name], pairs, train)
    return KroneckerRows(features(K), features(G), pairs.rows, pairs.columns)


METHODS = {"KroneckerRLS": by_least_squares, "RankSVM": by_hinge}


class Cost(NamedTuple):
    """What a fit to the training folds takes, its data prepared."""

    seconds: float
    steps: int
    accuracy: float  # relative residual, or certified gap
    memory: int | None  # bytes


def cost(method: str, name: str, alpha: float, quick: bool) -> Cost:
    """Fit in this process, and measure."""
    pairs = kiba(quick)
    train, _ = split(pairs, TEST)
    if method == "RankSVM":
        X = _rows(pairs, name, train)[train]
        memory, start = PeakMemory(), time.perf_counter()
        ranker = RankSVM(alpha=alpha, tol=TOLERANCE).fit(X, pairs.y[train])
        steps, accuracy = ranker.n_iter_, ranker.gap_
    else:
        K, G = matrices(KERNELS[name], pairs, train)
        Y = pairs.matrix(train)
        memory, start = PeakMemory(), time.perf_counter()
        model = KroneckerRLS(alpha, row_kernel="precomputed", column_kernel="precomputed").fit(K, G, Y)
        steps, accuracy = model.n_iter_, model.residual_
    return Cost(time.perf_counter() - start, steps, accuracy, memory.growth())


Key = tuple[str, str]
Found = tuple[Pairs, dict[Key, Chosen], dict[Key, Cost]]


def measure(run: Run) -> Found:
    chosen: dict[Key, Chosen] = {}
    for method, work in METHODS.items():
        alphas = QUICK_ALPHAS if run.quick else ALPHAS if method == "KroneckerRLS" else HINGE_ALPHAS
        names = list(KERNELS)[-1:] if run.quick else list(KERNELS)
        found = choose(work, names, alphas, run.quick, jobs=run.jobs)
        chosen |= {(method, name): each for name, each in found.items()}
    apart = cost if run.quick else partial(alone, cost)
    return kiba(run.quick), chosen, {key: apart(*key, each.alpha, run.quick) for key, each in chosen.items()}


def report(found: Found, _: Run) -> list[str]:
    pairs, chosen, costs = found
    q, m = pairs.shape
    train, test = split(pairs, TEST)
    rows = [["published", name, "", "", f"{value:.3f}", ""] for name, value in PUBLISHED.items()]
    for (method, name), each in chosen.items():
        scores = (each.concordance, each.test_concordance, each.test_error)
        cells = ["" if np.isnan(value) else f"{value:.3f}" for value in scores]
        rows.append([method, name, f"{each.alpha:.0e}", *cells])
    return [
        "# Drugs and targets: KIBA",
        ABOUT.format(q=q, m=m, known=len(pairs.y), n_test=int(test.sum()), share=len(pairs.y) / (q * m)),
        "## Scores",
        SCORES,
        table(["model", "kernel of the drugs", "alpha", "CV concordance", "concordance", "error"], rows, n_texts=2),
        READING,
        "## Time and memory",
        COSTS.format(n=int(train.sum()), dense=8e-9 * train.sum() * q * m, kernel=8e-9 * float(train.sum()) ** 2),
        table(
            ["model", "kernel of the drugs", "seconds", "steps", "residual or gap", "MB"],
            [
                [
                    *(*key, f"{each.seconds:.1f}", str(each.steps), f"{each.accuracy:.0e}"),
                    "" if each.memory is None else f"{each.memory / 1e6:,.0f}",
                ]
                for key, each in costs.items()
            ],
            n_texts=2,
        ),
        READING,
    ]


ABOUT = """
KIBA scores of {q:,} drugs and {m} kinases; {known:,} entries are known, {share:.0%}. The folds are those of the
published results: {n_test:,} entries are the test fold. The similarities of drugs that others use are not in the
data; SMILES are. *n-grams*: cosine of the counts of their substrings of 2 to 6 letters. *levels*: a constant that all
share, and one that each drug and each target has of its own. *profiles*: a Gaussian kernel of the drugs' known entries
in the training folds. Targets always have their similarities, and in all rows but the first of each model levels.
"""
SCORES = """
*KroneckerRLS* by conjugate gradients, *RankSVM* on `KroneckerRows`, all entries one ranking. alpha is the one with the
greatest mean concordance over the five training folds (*CV*), and all five then predict the test fold.
"""
COSTS = """
One fit to the {n:,} entries of the five training folds, with the chosen alpha, one thread, in a process of its own,
from kernel matrices (KroneckerRLS) or from features with the same inner products (RankSVM). *MB* is the growth of the
peak of memory. The features of all entries as a dense matrix would take {dense:,.0f} GB; their kernel matrix
{kernel:,.0f} GB.
"""


def readings(tables: Tables) -> Iterator[str]:
    [scores], [costs] = tables["Scores"], tables["Time and memory"]
    ours = [row for row in scores if row["model"] in METHODS]
    best = {method: _best([row for row in ours if row["model"] == method]) for method in METHODS}
    first, *_, last = (number(row["concordance"]) for row in ours if row["model"] == "KroneckerRLS")
    beaten = [name for name, value in PUBLISHED.items() if value < max(number(row["concordance"]) for row in ours)]
    shown = [f'{name} is best with "{row["kernel of the drugs"]}": {row["concordance"]}' for name, row in best.items()]
    behind = [name for name in PUBLISHED if name not in beaten]
    yield f"""
        {"; ".join(shown)}. The greater is above {" and ".join(beaten) or "none of the published results"}, and below
        {" and ".join(behind) or "none"}. n-grams alone give KroneckerRLS {first:.3f}; levels, powers and profiles add
        {last - first:.3f}. RankSVM minimises a bound of the pairs in the wrong order, KroneckerRLS predicts the values
        as well."""
    seconds = {method: [number(row["seconds"]) for row in costs if row["model"] == method] for method in METHODS}
    more = [number(row["MB"]) for row in costs]
    yield f"""
        A fit takes {min(seconds["KroneckerRLS"]):.1f} to {max(seconds["KroneckerRLS"]):.1f} seconds by conjugate
        gradients, which include the eigenvalue decompositions, and {min(seconds["RankSVM"]):.1f} to
        {max(seconds["RankSVM"]):.1f} by RankSVM. It adds {min(more):,.0f} to {max(more):,.0f} MB to the process."""


def _best(rows: list[dict[str, str]]) -> dict[str, str]:
    return max(rows, key=lambda row: number(row["CV concordance"]))
