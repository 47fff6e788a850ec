"""Cross-validation with a Nystrom map: the effect of held-out basis rows, and the cost of removing them.

    python -m experiments.nystrom.run [--quick]

Figure 1 and tables 1 and 2 of Airola, Pahikkala and Salakoski (2011). Their data, candidate parses of 600 sentences and
a graph kernel on them, are not available. Generated data take their place: rows of the same group are more alike than
others, and are predicted from other groups. One BLAS thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks._timing import best_times
from benchmarks.harness import show_progress, table
from experiments.study import READING, Run, Tables, main, span
from kernelrank import RLS, NystromMap
from kernelrank.kernels import Gaussian

N_GROUPS, N_ROWS = 600, 9856
QUICK_GROUPS, QUICK_ROWS = 20, 200
N_FEATURES = 10
GAMMA = 0.3  # the kernel is about 0.6 inside a group, and 0.001 between groups
LAMBDAS = 10.0 ** np.arange(-9, 10)
ALPHA = 1e-4
PER_GROUP = (1, 2, 3, 4)  # basis rows
MEASURED_FOLDS = 5  # of the slow methods; the time of all folds is extrapolated from them
PUBLISHED = {  # processor seconds, by number of basis rows: once, efficient, baseline
    "leave-group-out": {
        598: (6, 532, 3639),
        1181: (28, 1193, 16648),
        1742: (63, 1864, 38373),
        2297: (123, 2679, 73375),
    },
    "10 folds": {598: (6, 33, 49), 1181: (28, 112, 226), 1742: (63, 234, 512), 2297: (123, 408, 937)},
}
METHODS = """
*projection* maps the existing features to those without the held-out basis rows (`without`, `restrict`). *implicit*
only finds the directions that are lost, which is enough for a method that works on weights, as the closed forms of the
last table do. Theorem 1 of the paper says the same in other formulas. *again* computes the map of the remaining basis
rows from the kernel matrix, which is given. The times of *again*, *projection* and *refits* are extrapolated from
{measured} folds. Processor seconds, one thread; the paper's are of another machine, so only the ratios can be compared.
"""
FIGURE = "Figure 1: kept and removed basis rows"
TABLES = {"leave-group-out": "Table 1: leave-group-out", "10 folds": "Table 2: ten folds"}
WHOLE = "All of leave-group-out"


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray

    @property
    def n_groups(self) -> int:
        """Return the number of groups."""
        return int(self.groups[-1]) + 1


def make_data(n_groups: int, n_rows: int, seed: int = 0) -> Data:
    """Return rows around the centre of their group, and scores that depend on both."""
    rng = np.random.default_rng(seed)
    sizes = np.full(n_groups, n_rows // n_groups)
    sizes[: n_rows % n_groups] += 1
    for _ in range(5 * n_groups):  # of different sizes, up to twenty
        a, b = rng.choice(n_groups, 2, replace=False)
        if sizes[a] < 20 and sizes[b] > 4:
            sizes[a], sizes[b] = sizes[a] + 1, sizes[b] - 1
    groups = np.repeat(np.arange(n_groups), sizes)
    centres = rng.normal(size=(n_groups, N_FEATURES))
    X = centres[groups] + 0.3 * rng.normal(size=(n_rows, N_FEATURES))
    y = (
        np.sin(X[:, 0])
        + X[:, 1] * X[:, 2] / 2
        + 0.5 * rng.normal(size=n_groups)[groups]
        + 0.3 * rng.normal(size=n_rows)
    )
    return Data(X, y, groups)


def make_map(data: Data, per_group: int) -> NystromMap:
    n_basis = sum(min(per_group, size) for size in np.bincount(data.groups))
    return NystromMap(Gaussian(GAMMA), n_basis, selection="per-query").fit(data.X, qid=data.groups)


def folds_of_groups(groups: np.ndarray, n_folds: int, seed: int = 0) -> list[np.ndarray]:
    """Return the rows of each fold; groups stay together."""
    order = np.random.default_rng(seed).permutation(groups[-1] + 1)
    return [np.flatnonzero(np.isin(groups, part)) for part in np.array_split(order, n_folds)]


def errors(features: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the sum of squared errors on a test part, for each lambda."""
    train = np.setdiff1d(np.arange(len(y)), test)
    model = RLS().fit(features[train], y[train])
    weights = model.path(LAMBDAS / len(train))
    levels = y[train].mean() - features[train].mean(axis=0) @ weights.T
    return ((y[test, None] - features[test] @ weights.T - levels) ** 2).sum(axis=0)


def figure(data: Data) -> list[list[str]]:
    """Return rows of the table of mean squared errors of ten folds, with the basis rows of a fold and without them."""
    nystrom = make_map(data, 2)
    features = nystrom.transform(data.X)
    kept, removed = np.zeros(len(LAMBDAS)), np.zeros(len(LAMBDAS))
    for number, test in enumerate(folds_of_groups(data.groups, 10)):
        show_progress(f"figure 1: fold {number + 1} of 10")
        kept += errors(features, data.y, test) / len(data.y)
        removed += errors(nystrom.without(test).restrict(features), data.y, test) / len(data.y)
    return [
        [f"1e{int(np.log10(each)):+d}", f"{a:.4f}", f"{b:.4f}", f"{a / b:.2f}"]
        for each, a, b in zip(LAMBDAS, kept, removed, strict=True)
    ]


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    return best_times({"": work}, repeats, repeats, process_time)[""]


def times(data: Data, per_group: int, folds: list[np.ndarray]) -> dict[str, float]:
    """Return the seconds of all folds, by method."""
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
        show_progress(f"{title}: {per_group} basis rows per group")
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
    """Return rows of the table of leave-group-out of RLS: in closed form, and by refits of map and model."""
    rows = []
    for per_group in PER_GROUP:
        n_basis = per_group * data.n_groups
        show_progress(f"whole cross-validation: {n_basis} basis rows")
        model = RLS(ALPHA, kernel=Gaussian(GAMMA), n_basis=n_basis)
        start = process_time()
        found = model.fit(data.X, data.y).hold_out(folds)
        closed = process_time() - start
        refits, difference = 0.0, 0.0
        measured = range(0, len(folds), len(folds) // MEASURED_FOLDS)[:MEASURED_FOLDS]
        for number in measured:
            test, start = folds[number], process_time()
            train, basis = np.setdiff1d(np.arange(len(data.y)), test), np.setdiff1d(model.basis_indices_, test)
            nystrom = NystromMap(Gaussian(GAMMA), selection=basis).fit(data.X)
            other = RLS(ALPHA).fit(nystrom.transform(data.X[train]), data.y[train])
            expected = other.predict(nystrom.transform(data.X[test]))
            refits += (process_time() - start) * len(folds) / len(measured)
            difference = max(difference, float(np.abs(found[number] - expected).max()))
        rows.append([f"{n_basis:,}", f"{closed:.3g}", f"{refits:.3g}", f"{refits / closed:.0f}", f"{difference:.1e}"])
    return rows


def measure(run: Run) -> dict[str, Any]:
    data = make_data(QUICK_GROUPS, QUICK_ROWS) if run.quick else make_data(N_GROUPS, N_ROWS)
    by_group = [np.flatnonzero(data.groups == group) for group in range(data.n_groups)]
    return {
        "groups": data.n_groups,
        "rows": len(data.y),
        "figure": figure(data),
        "leave-group-out": time_table(data, "leave-group-out", by_group),
        "10 folds": time_table(data, "10 folds", folds_of_groups(data.groups, 10)),
        "whole": whole(data, by_group),
    }


def report(found: dict[str, Any], run: Run) -> list[str]:
    heading = [
        *("basis rows, paper", "efficient s", "baseline s", "ratio", "basis rows, ours", "map once s", "again s"),
        *("projection s", "implicit s", "again / projection", "again / implicit"),
    ]
    whole_heading = ["basis rows", "closed form s", "refits s", "refits / closed form", "largest difference"]
    return [
        "# Cross-validation with a Nystrom map",
        f"## {FIGURE}",
        f"{found['groups']} groups, {found['rows']:,} rows, two basis rows per group, ten folds of groups. Mean squared"
        " error of RLS. *kept*: the map has the basis rows of the test part; *removed*: it does not.",
        table(["lambda", "kept", "removed", "kept / removed"], found["figure"], n_texts=0),
        *(part for name, title in TABLES.items() for part in (f"## {title}", table(heading, found[name], n_texts=0))),
        f"## {WHOLE}",
        f"Held-out predictions of RLS at alpha {ALPHA:g}, for all {found['groups']} groups: `RLS(n_basis)` and its"
        " `hold_out`, against a refit of map and model per group.",
        table(whole_heading, found["whole"], n_texts=0),
        METHODS.format(measured=MEASURED_FOLDS),
        READING,
    ]


def readings(tables: Tables) -> Iterator[str]:
    [errors], [closed] = tables[FIGURE], tables[WHOLE]
    ratio = errors.column("kept / removed")
    (kept, lam), (removed, lam_removed) = (
        min(zip(errors.column(name), (row["lambda"] for row in errors), strict=True)) for name in ("kept", "removed")
    )
    truth = float(errors.row(lam)["removed"])
    speed = {name: [float(row["again / projection"]) for row in tables[title][0]] for name, title in TABLES.items()}
    yield f"""
        Basis rows of the test part make features that are large for test rows only, and close to zero for the training
        rows. With little regularisation their weights are noise, and the error is {ratio.max():.1f} times too large
        (in the paper almost four times). With some regularisation they act as a prior that new rows do not have, and
        the error is too small: {ratio.min():.2f} times the true one at worst. With much regularisation both are the
        same. Keeping them also misleads the choice of lambda: it suggests lambda {lam} with an error of {kept:.3f},
        where the error is {truth:.3f}; the best is {removed:.3f}, at lambda {lam_removed}.

        Removing basis rows by a projection is {span(speed["leave-group-out"], ".1f")} times as fast as computing the
        map again when each group is held out, and {span(speed["10 folds"], ".1f")} times with ten folds. All of
        leave-group-out takes {span(closed.column("refits / closed form"), ".0f")} times as long by refits as in closed
        form, and the predictions differ by {closed.column("largest difference").max():.0e} at most."""


PARTS = {"results": sys.modules[__name__]}

if __name__ == "__main__":
    main("nystrom", __doc__, PARTS)
