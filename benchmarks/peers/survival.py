"""Survival rankers on censored times: seconds, the objective that some of them share, and held-out concordance.

Models of packages that are not installed are left out, and so are the data sets of scikit-survival without it.

Run ``python -m benchmarks.peers.survival`` in the folder of the repository; ``--quick`` takes small sizes.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks._timing import best_times
from benchmarks.harness import Bar, Table, bar_table, number, show_progress, table, versions
from benchmarks.peers import survival_costs as costs
from benchmarks.peers.survival_costs import Cost
from benchmarks.peers.survival_data import (
    ALPHA,
    NAMES,
    SHARES,
    Floats,
    Patients,
    Split,
    generated,
    real,
)
from benchmarks.peers.survival_models import (
    MODELS,
    OURS,
    OURS_HINGE,
    OURS_TIGHT,
    SAME,
    SURVIVAL,
    TIGHT,
    TREES,
    Fitted,
    fast_svm,
    kernelrank,
)
from benchmarks.reports import main
from experiments.study import READING, Run, Tables, as_list, span
from kernelrank import RankSVM
from kernelrank.metrics import concordance_index

PACKAGES = (SURVIVAL, "xgboost")
LIMIT = 60.0  # seconds
_ONCE = 2.0  # seconds: slower fits are not repeated, except those of trees, which have a bar
_REFERENCE_TOL = 1e-8
_CHECKED_ROWS = 1_000
_AGREEMENT = 1e-10

TITLE = "# Survival rankers"
ABOUT = f"""
All rank times of which some are censored: the event had not happened yet when the row was last seen. The order of two
rows is known if the earlier time is that of an event. One thread; the models of a line are fitted in turns in one
process, and the best of several fits counts, or the only one if it takes more than {_ONCE:g} seconds, unless it is that
of a tree. A first fit that takes more than {LIMIT:g} seconds is stopped.

- *squared hinge* and *hinge* are kernelrank's `RankSVM` with that loss and its default tolerance of 1e-3; *tol
  {TIGHT:g}* is the same with that tolerance.
- *avltree*, *rbtree*, *direct-count*, *PRSVM* and *simple* are the optimizers of scikit-survival's `FastSurvivalSVM`,
  with its default tolerance. They minimise the objective of *squared hinge*, with the same `alpha = {ALPHA:g}`, fixed
  beforehand. But rows with equal times are put in a random order first, as if it had been observed. The last two take
  part with up to 1,000 rows, *direct-count* with up to 400.
- *Cox*, *Coxnet* and *forest* are scikit-survival's `CoxPHSurvivalAnalysis`, `CoxnetSurvivalAnalysis` (the last of its
  path of 100 penalties) and `RandomSurvivalForest` (up to 1,000 rows), *XGBoost* is `XGBRegressor` with
  `survival:cox`: what one may take instead, with their defaults.

The named data come with scikit-survival. Categories become indicators, missing numbers the median, and features are
standardised. The cause of death in flchain is left out, for it tells who died. The others are generated: 20 normal
features, a linear risk, and as much noise. A third of all rows is held out; the tables state the other two thirds.
"""
OF_GAPS = f"""
The objective of *squared hinge* is the mean squared hinge of the known pairs and `alpha ||w||^2`, computed from the
weights alone by the same function for all models; it is compared with the definition on {_CHECKED_ROWS:,} rows. The
other columns are gaps: the distance from a lower bound of the optimum, which a fit with the tolerance
{_REFERENCE_TOL:g} has proven. "0" is less than 1e-12.
"""
OF_RATIOS = """
The faster tree of `FastSurvivalSVM`, its seconds divided by those of *squared hinge* with the tolerance of the column,
and the objective of the latter less that of the former.
"""
DATA = ("data", "rows", "censored, %")


@dataclass(frozen=True)
class Sizes:
    """What is measured."""

    names: Sequence[str] = NAMES
    rows: Sequence[int] = (1_000, 4_000, 16_000, 100_000)
    costs: Sequence[int] = (100_000, 1_000_000)
    turns: int = 3


QUICK = Sizes(NAMES[3:4], (100,), (200,), 1)
_LARGE = 16_000  # from which on a ratio has a bar


@dataclass
class Problem:
    """Data, and what the models make of them."""

    name: str
    split: Split
    failures: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    concordance: dict[str, float] = field(default_factory=dict)
    objective: dict[str, float] = field(default_factory=dict)
    bound: float = 0.0
    unfinished: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[str]:
        """Return the first cells of its lines."""
        y = self.split.train.y
        return [self.name, f"{len(y):,}", f"{100 * (1 - self.split.train.observed.mean()):.0f}"]


class TooSlowError(Exception):
    """A fit took more seconds than it may."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, between two steps of the interpreter."""

    def stop(*_: Any) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def judge(rows: Patients, w: Floats) -> float:
    """Return the common objective, after comparing its loss with the definition on the first rows."""
    first = rows.first(_CHECKED_ROWS)
    fast, slow = first.risk(first.X @ w).value, average_loss(first, w)
    assert abs(fast - slow) <= _AGREEMENT * max(slow, 1.0), f"{fast!r} is not {slow!r}"
    return float(rows.risk(rows.X @ w).value + ALPHA * w @ w)


def average_loss(rows: Patients, w: Floats) -> float:
    """Evaluate the definition in O(m^2)."""
    scores, y, observed = rows.X @ w, rows.y, rows.observed
    later = (y[:, None] < y) | ((y[:, None] == y) & ~observed)
    low, high = np.nonzero(later & observed[:, None])
    return float(np.mean(np.maximum(0.0, 1.0 + scores[low] - scores[high]) ** 2))


def check_conversion(n_rows: int) -> str:
    """Assert that accurate solutions of the trees and of ours are the same: the objective is strongly convex."""
    distances = []
    for share in SHARES:
        train, _ = generated(n_rows, share)
        ours = kernelrank("squared_hinge", _REFERENCE_TOL)(train, ALPHA).w
        for tree in TREES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # it warns of lost precision at the optimum, too
                theirs = fast_svm(tree, tol=1e-12, max_iter=1_000)(train, ALPHA).w
            distances.append(float(np.linalg.norm(theirs - ours) / np.linalg.norm(ours)))
    assert max(distances) < 1e-6, distances
    return (
        f"Conversion of parameters: on {n_rows:,} rows without equal times, and with small tolerances, the weights of"
        f" `FastSurvivalSVM` differ from ours by {max(distances):.0e} of them at most."
    )


def solve(problem: Problem, models: Sequence[str], turns: int) -> None:
    """Fit all models, several times in turns if they are fast enough."""
    train = problem.split.train
    _ = train.ranks, train.pairs, train.risk  # part of nobody's time
    again: dict[str, Callable[[], Fitted]] = {}
    for name in models:
        if len(train.y) <= MODELS[name].most_rows:
            show_progress(f"{problem.name}, {len(train.y):,} rows: {name}")
            fit = partial(MODELS[name].fit, train, ALPHA)
            seconds = solve_once(problem, name, fit)
            if seconds < (LIMIT if name in TREES else _ONCE):
                again[name] = fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they have been noted
        for name, seconds in best_times(again, turns, 3 * turns).items():
            problem.seconds[name] = min(seconds, problem.seconds[name])
    reference = RankSVM(ALPHA, loss="squared_hinge", tol=_REFERENCE_TOL).fit(train.X, train.y, observed=train.observed)
    problem.bound = reference.objective_ - reference.gap_


def solve_once(problem: Problem, name: str, fit: Callable[[], Fitted]) -> float:
    """Fit a model and judge it; return the seconds, or infinity if it fails or is stopped."""
    train, test = problem.split
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        try:
            with limited(LIMIT):
                fitted = fit()
                problem.seconds[name] = perf_counter() - start
        except TooSlowError:
            problem.failures[name] = f"> {LIMIT:g}"
            return float("inf")
        except Exception as reason:  # whatever a peer raises
            problem.failures[name] = f"failed: {type(reason).__name__}: {' '.join(str(reason).split())[:100]}"
            return float("inf")
    if any(issubclass(each.category, ConvergenceWarning) for each in caught):
        problem.unfinished.append(name)
    scores = fitted.scores(test.X)
    if not np.isfinite(scores).all():
        problem.failures[name] = "failed: its scores are not finite"
        del problem.seconds[name]
        return float("inf")
    problem.concordance[name] = concordance_index(test.y, scores, observed=test.observed)
    if fitted.w is not None:
        problem.objective[name] = judge(train, fitted.w)
    return problem.seconds[name]


@dataclass
class Found:
    """Results of a run."""

    problems: list[Problem]
    costs: list[Cost]
    notes: list[str]


def measure(run: Run) -> Found:
    """Return the results of all models on all data."""
    sizes = QUICK if run.quick else Sizes()
    models = [name for name, model in MODELS.items() if model.is_installed()]
    missing = sorted({model.package for name, model in MODELS.items() if name not in models})
    makers: list[tuple[str, Callable[[], Split]]] = []
    if SURVIVAL not in missing:
        makers += [(name, partial(real, name)) for name in sizes.names]
    makers += [("generated", partial(generated, m, share)) for m in sizes.rows for share in SHARES]
    solve(Problem("", generated(100, 0.5)), models, 1)  # so that all modules are loaded
    problems = []
    for name, make in makers:
        problems.append(Problem(name, make()))
        solve(problems[-1], models, sizes.turns)
    found = []
    for m in sizes.costs:
        show_progress(f"cost of censoring, {m:,} rows")
        found += costs.measure(m, sizes.turns)
    notes = [f"{package} is not installed: it is left out." for package in missing]
    return Found(problems, found, notes if SURVIVAL in missing else [*notes, check_conversion(300)])


def report(found: Found, _: Run) -> list[str]:
    problems = found.problems
    ratios = [line for problem in problems if (line := ratio_cells(problem))]
    paragraphs = [TITLE, versions(PACKAGES), as_list(found.notes), ABOUT, READING]
    paragraphs += ["## Bars", bar_table(bars(found))]
    paragraphs += ["## Seconds", pivot(problems, tuple(MODELS), seconds_cell), as_list(remarks(problems))]
    paragraphs += ["## Held-out concordance", pivot(problems, tuple(MODELS), concordance_cell)]
    paragraphs += ["## Objective", OF_GAPS, pivot(problems, ("objective", *SAME), gap_cell)]
    if ratios:
        paragraphs += ["## Beside FastSurvivalSVM", OF_RATIOS, table(OF_RATIOS_HEADING, ratios)]
    return [
        *paragraphs,
        "## Cost of censoring",
        costs.ABOUT,
        table(costs.HEADING, (cost.cells for cost in found.costs)),
    ]


def pivot(problems: Sequence[Problem], columns: Sequence[str], cell: Callable[[Problem, str], str]) -> str:
    """Return a table with a line for each problem and a column for each model; models without results are left out."""
    lines = [[cell(problem, column) for column in columns] for problem in problems]
    used = [i for i in range(len(columns)) if any(line[i] for line in lines)]
    cells = [problem.cells + [line[i] for i in used] for problem, line in zip(problems, lines, strict=True)]
    return table((*DATA, *(columns[i] for i in used)), cells)


def seconds_cell(problem: Problem, name: str) -> str:
    if name in problem.failures:
        return problem.failures[name].split(":")[0]
    return f"{problem.seconds[name]:.3g}" if name in problem.seconds else ""


def concordance_cell(problem: Problem, name: str) -> str:
    return f"{problem.concordance[name]:.4f}" if name in problem.concordance else ""


def gap_cell(problem: Problem, name: str) -> str:
    if name == "objective":
        return f"{problem.objective[OURS]:.6f}"
    if name not in problem.objective:
        return ""
    gap = problem.objective[name] - problem.bound
    return f"{gap:.1e}" if gap >= 1e-12 else "0"


def remarks(problems: Sequence[Problem]) -> Iterator[str]:
    for problem in problems:
        where = f"{problem.name}, {problem.cells[1]} rows, {problem.cells[2]} % censored"
        for name, failure in problem.failures.items():
            if failure.startswith("failed"):
                yield f"{where}: {name} {failure}."
        if problem.unfinished:
            yield f"{where}: not converged, as they say: {', '.join(problem.unfinished)}."


OF_RATIOS_HEADING = (
    *(*DATA, "tree", "its s", "default: times faster", "objective, less its"),
    *(f"tol {TIGHT:g}: times faster", "objective, less its"),
)


def best_tree(problem: Problem) -> str | None:
    """Return the faster optimizer of those that can take many rows."""
    return min((name for name in TREES if name in problem.seconds), key=problem.seconds.__getitem__, default=None)


def times_faster(problem: Problem, ours: str) -> float | None:
    """Return the seconds of the faster tree, divided by ours."""
    tree = best_tree(problem)
    return problem.seconds[tree] / problem.seconds[ours] if tree else None


def less(problem: Problem, ours: str) -> float | None:
    """Return our objective, less that of the faster tree."""
    tree = best_tree(problem)
    return problem.objective[ours] - problem.objective[tree] if tree else None


def ratio_cells(problem: Problem) -> list[str]:
    tree = best_tree(problem)
    if tree is None:
        return []
    found = [*problem.cells, tree, f"{problem.seconds[tree]:.3g}"]
    for ours in (OURS, OURS_TIGHT):
        found += [f"{times_faster(problem, ours):.0f}", f"{less(problem, ours):.1e}"]
    return found


def bars(found: Found) -> Iterator[Bar]:
    made = [problem for problem in found.problems if problem.name == "generated"]
    for problem in made:
        _, rows, censored = problem.cells
        if len(problem.split.train.y) >= _LARGE:
            name = f"{rows} rows, {censored} % censored: times faster than FastSurvivalSVM, tol {TIGHT:g}"
            yield Bar(name, times_faster(problem, OURS_TIGHT), 100, at_least=True)
    above = [each for problem in made if (each := less(problem, OURS_TIGHT)) is not None]
    yield Bar(f"generated: objective above that of FastSurvivalSVM, tol {TIGHT:g}", max(above, default=None), 1e-10)
    for cost in found.costs:
        for name, relative in cost.relative.items():
            if cost.share:
                what = f"{cost.n_rows:,} rows, {100 * cost.share:.0f} % censored: {name.replace('_', ' ')}"
                yield Bar(f"{what}, relative to no censoring", relative, 1.3)


def readings(tables: Tables) -> list[str]:
    [ratios], [seconds], [concordance], [cost] = (
        tables[name] for name in ("Beside FastSurvivalSVM", "Seconds", "Held-out concordance", "Cost of censoring")
    )
    return ["\n\n".join([of_ratios(ratios), of_models(seconds, concordance), costs.reading(cost)])]


def of_ratios(ratios: Table) -> str:
    made = ratios.select(data="generated")
    large = Table(row for row in made if number(row["rows"]) >= _LARGE)
    named = Table(row for row in ratios if row["data"] != "generated")
    first, second = ([span(lines.column(name), ".0f") for lines in (large, named)] for name in OF_RATIOS_HEADING[5::2])
    above = max(large.column("objective, less its"))
    apart = max(abs(made.column("objective, less its (2)")))
    ties = max(-named.column("objective, less its (2)"))
    return (
        f"The trees of `FastSurvivalSVM` count in linearithmic time, too. At {_LARGE:,} generated rows and above,"
        f" `RankSVM` is {first[0]} times faster than the faster tree with its default tolerance, which leaves"
        f" objectives up to {above:.0e} higher; and {second[0]} times with tol {TIGHT:g}, when the objectives of all"
        f" generated data differ by at most {apart:.0e}. On the named data it is {first[1]} and {second[1]} times"
        f" faster. There the objective of a tree, which breaks ties of times at random, is up to {ties:.0e} higher than"
        f" that of tol {TIGHT:g}."
    )


def of_models(seconds: Table, concordance: Table) -> str:
    others = [name for name in concordance[0] if name in MODELS and name not in SAME and name != OURS_HINGE]
    behind = [
        (
            max(number(row[name]) for name in others if row[name]) - number(row[OURS]),
            f"{row['data']}, {row['rows']} rows, {row['censored, %']} % censored",
        )
        for row in concordance
    ]
    worst, where = max(behind)
    cox = seconds.column("Cox") / seconds.column(OURS)
    return (
        f"Cox regression takes {span(cox[np.isfinite(cox)], '.0f')} times as long as the squared hinge. Of"
        f" {len(behind)} data, the squared hinge orders more held-out pairs than all other kinds of models on"
        f" {sum(each < 0 for each, _ in behind)}, and is behind the best of them by {worst:.4f} at most ({where})."
    )


if __name__ == "__main__":
    main(sys.modules[__name__])
