"""Cross-validation with a Nystrom map: what held-out basis rows do to it, and what taking them out costs.

    python -m experiments.nystrom.run

Figure 1 and tables 1 and 2 of Airola, Pahikkala and Salakoski (2011). Their data, candidate parses of 600 sentences and
a graph kernel on them, cannot be had; here they are made: rows of the same group are more alike than others, and are
predicted from other groups. One BLAS thread. Some minutes; writes ``results.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._timing import table
from kernelrank import RLS, NystromMap
from kernelrank.kernels import Gaussian

N_GROUPS = 600
N_ROWS = 9856
N_FEATURES = 10
GAMMA = 0.3  # the kernel is about 0.6 inside a group, and 0.001 between groups
LAMBDAS = 10.0 ** np.arange(-9, 10)
ALPHA = 1e-4
PER_GROUP = (1, 2, 3, 4)  # basis rows
MEASURED_FOLDS = 5  # of the slow way, from which the time of all is told
PUBLISHED = {  # processor seconds, by number of basis rows: once, efficient, baseline
    "leave-group-out": {
        598: (6, 532, 3639),
        1181: (28, 1193, 16648),
        1742: (63, 1864, 38373),
        2297: (123, 2679, 73375),
    },
    "10 folds": {598: (6, 33, 49), 1181: (28, 112, 226), 1742: (63, 234, 512), 2297: (123, 408, 937)},
}
READING = """
**Reading.** Basis rows that belong to the test part make features that are large for test rows only, and next to zero
for the rows that are trained on. With little regularisation their weights are noise, and the estimate is more than
twice too large (in the paper almost four times). With some, they are a prior that new rows will not have, and the
estimate is too good. With much, both are the same. So keeping them also misleads the choice of lambda.

In the tables, *projection* takes the features that are there to those without the held-out basis rows (`without`,
`restrict`). *implicit* only finds the directions that are lost: all that a method needs that works on weights, as
the closed forms of the last table do. Theorem 1 of the paper is the same in other formulas. *Again* is the map of the
remaining basis rows, from the kernel matrix, which is there; its time, and that of *projection* and *refits*, is that
of {measured} folds, times their number. Processor seconds, one thread; the paper's are of another machine, and it is
the ratios that compare.
"""


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray


def make_data(seed: int = 0) -> Data:
    """Rows around the centre of their group; scores that depend on both."""
    rng = np.random.default_rng(seed)
    sizes = np.full(N_GROUPS, N_ROWS // N_GROUPS)
    sizes[: N_ROWS % N_GROUPS] += 1
    for _ in range(5 * N_GROUPS):  # of different sizes, up to twenty
        a, b = rng.choice(N_GROUPS, 2, replace=False)
        if sizes[a] < 20 and sizes[b] > 4:
            sizes[a], sizes[b] = sizes[a] + 1, sizes[b] - 1
    groups = np.repeat(np.arange(N_GROUPS), sizes)
    centres = rng.normal(size=(N_GROUPS, N_FEATURES))
    X = centres[groups] + 0.3 * rng.normal(size=(N_ROWS, N_FEATURES))
    y = (
        np.sin(X[:, 0])
        + X[:, 1] * X[:, 2] / 2
        + 0.5 * rng.normal(size=N_GROUPS)[groups]
        + 0.3 * rng.normal(size=N_ROWS)
    )
    return Data(X, y, groups)


def make_map(data: Data, per_group: int) -> NystromMap:
    n_basis = sum(min(per_group, size) for size in np.bincount(data.groups))
    return NystromMap(Gaussian(GAMMA), n_basis, selection="per-query").fit(data.X, qid=data.groups)


def folds_of_groups(groups: np.ndarray, n_folds: int, seed: int = 0) -> list[np.ndarray]:
    """Rows of each fold; groups stay together."""
    order = np.random.default_rng(seed).permutation(N_GROUPS)
    return [np.flatnonzero(np.isin(groups, part)) for part in np.array_split(order, n_folds)]


def errors(features: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Sum of squared errors on a test part, for each lambda."""
    train = np.setdiff1d(np.arange(len(y)), test)
    model = RLS().fit(features[train], y[train])
    weights = model.path(LAMBDAS / len(train))
    levels = y[train].mean() - features[train].mean(axis=0) @ weights.T
    return ((y[test, None] - features[test] @ weights.T - levels) ** 2).sum(axis=0)


def figure(data: Data) -> list[list[str]]:
    """Mean squared error of ten folds, with the basis rows of a fold and without them."""
    nystrom = make_map(data, 2)
    features = nystrom.transform(data.X)
    kept, removed = np.zeros(len(LAMBDAS)), np.zeros(len(LAMBDAS))
    for number, test in enumerate(folds_of_groups(data.groups, 10)):
        print(f"figure 1: fold {number + 1} of 10", flush=True)
        kept += errors(features, data.y, test) / N_ROWS
        removed += errors(nystrom.without(test).restrict(features), data.y, test) / N_ROWS
    return [
        [f"1e{int(np.log10(each)):+d}", f"{a:.4f}", f"{b:.4f}", f"{a / b:.2f}"]
        for each, a, b in zip(LAMBDAS, kept, removed, strict=True)
    ]


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    found = []
    for _ in range(repeats):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def times(data: Data, per_group: int, folds: list[np.ndarray]) -> dict[str, float]:
    """Seconds of all folds, by method."""
    nystrom = make_map(data, per_group)
    once = seconds(lambda: nystrom.transform(data.X), 2)
    features, kernel = nystrom.transform(data.X), nystrom.kernel_(data.X, nystrom.basis_)

    def again(test: np.ndarray) -> np.ndarray:
        left = ~np.isin(nystrom.basis_indices_, test)
        values, vectors = np.linalg.eigh(kernel[nystrom.basis_indices_[left]][:, left])
        return kernel[:, left] @ (vectors / np.sqrt(np.maximum(values, values[-1] * 1e-13)))

    measured = folds[:: max(1, len(folds) // MEASURED_FOLDS)][:MEASURED_FOLDS]
    return {
        "n_basis": len(nystrom.basis_indices_),
        "once": once,
        "implicit": sum(seconds(lambda fold=fold: nystrom.without(fold)) for fold in folds),
        "projection": sum(seconds(lambda fold=fold: nystrom.without(fold).restrict(features)) for fold in measured)
        * (len(folds) / len(measured)),
        "again": sum(seconds(lambda fold=fold: again(fold)) for fold in measured) * (len(folds) / len(measured)),
    }


def time_table(data: Data, title: str, folds: list[np.ndarray]) -> list[list[str]]:
    rows = []
    for per_group, (size, published) in zip(PER_GROUP, PUBLISHED[title].items(), strict=True):
        print(f"{title}: {per_group} basis rows a group", flush=True)
        found = times(data, per_group, folds)
        _, efficient, baseline = published
        rows.append(
            [
                *(f"{size:,}", f"{efficient:,}", f"{baseline:,}", f"{baseline / efficient:.1f}"),
                *(
                    f"{found['n_basis']:,.0f}",
                    *(f"{found[name]:.3g}" for name in ("once", "again", "projection", "implicit")),
                ),
                *(f"{found['again'] / found[name]:.1f}" for name in ("projection", "implicit")),
            ]
        )
    return rows


def whole(data: Data, folds: list[np.ndarray]) -> list[list[str]]:
    """Seconds of leave-group-out predictions of RLS: held out in closed form, and by a refit of map and model."""
    rows = []
    for per_group in PER_GROUP:
        n_basis = per_group * N_GROUPS
        print(f"whole cross-validation: {n_basis} basis rows", flush=True)
        model = RLS(ALPHA, kernel=Gaussian(GAMMA), n_basis=n_basis)
        start = process_time()
        found = model.fit(data.X, data.y).hold_out(folds)
        closed = process_time() - start
        refits, difference = 0.0, 0.0
        measured = range(0, len(folds), len(folds) // MEASURED_FOLDS)[:MEASURED_FOLDS]
        for number in measured:
            test, start = folds[number], process_time()
            train, basis = np.setdiff1d(np.arange(N_ROWS), test), np.setdiff1d(model.basis_indices_, test)
            nystrom = NystromMap(Gaussian(GAMMA), selection=basis).fit(data.X)
            other = RLS(ALPHA).fit(nystrom.transform(data.X[train]), data.y[train])
            expected = other.predict(nystrom.transform(data.X[test]))
            refits += (process_time() - start) * len(folds) / len(measured)
            difference = max(difference, float(np.abs(found[number] - expected).max()))
        rows.append([f"{n_basis:,}", f"{closed:.3g}", f"{refits:.3g}", f"{refits / closed:.0f}", f"{difference:.1e}"])
    return rows


def main() -> None:
    data = make_data()
    heading = [
        *("basis rows, paper", "efficient s", "baseline s", "ratio"),
        *(
            "basis rows, ours",
            "map once s",
            "again s",
            "projection s",
            "implicit s",
            "again / projection",
            "again / implicit",
        ),
    ]
    by_group = [np.flatnonzero(data.groups == group) for group in range(N_GROUPS)]
    parts = [
        "# Cross-validation with a Nystrom map",
        "Written by `python -m experiments.nystrom.run`.",
        f"## Figure 1: {N_GROUPS} groups, {N_ROWS:,} rows, two basis rows a group, ten folds of groups",
        "Mean squared error of RLS. *kept*: the map has the basis rows of the test part; *removed*: it has not.",
        table(["lambda", "kept", "removed", "kept / removed"], figure(data), n_texts=0),
        "## Table 1: leave-group-out",
        table(heading, time_table(data, "leave-group-out", by_group), n_texts=0),
        "## Table 2: ten folds",
        table(heading, time_table(data, "10 folds", folds_of_groups(data.groups, 10)), n_texts=0),
        "## All of leave-group-out",
        f"Held-out predictions of RLS at alpha {ALPHA:g}, for all {N_GROUPS} groups, from the rows on: `RLS(n_basis)`"
        " and its `hold_out`, against a refit of map and model a group.",
        table(
            ["basis rows", "closed form s", "refits s", "refits / closed form", "largest difference"],
            whole(data, by_group),
            n_texts=0,
        ),
        READING.strip().format(measured=MEASURED_FOLDS),
    ]
    text = "\n\n".join(parts) + "\n"
    Path(__file__).with_name("results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
