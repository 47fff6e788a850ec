"""Time of an iteration by its parts, its ratio to the least possible time, and the effect of float32.

- One thread, seconds of processor time, the best of several runs.
- *products*, *counting*, *QP* are timed inside the solver, *other* is the rest of it. *sort* is part of counting: the
  seconds of ``np.argsort`` of the scores times the passes.
- *u*: one ``X @ w``, one ``X.T @ g`` (BLAS or SciPy) and one ``np.argsort``, in the same process. *ratio* is that of an
  iteration to u.
- *from memory*: X read twice at the speed at which this process sums up an array that no cache holds, and one
  ``np.argsort``.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import data
from benchmarks._timing import best_times
from benchmarks.harness import MissingDataError, show_progress, table
from benchmarks.peers.measure import PeakMemory, unit_tasks
from benchmarks.peers.referee import Referee
from benchmarks.peers.workloads import Rows
from benchmarks.training import PARTS, train
from experiments.covtype.run import load as load_covtype
from experiments.linearithmic_ranksvm._shared import ALPHAS, TITLES, Found, Study, matrix_bytes, method
from experiments.study import READING, Run, Tables, alone, as_list, span
from kernelrank import RankSVM

RUNS = (3, 200)  # at least and at most
RUN_FOR, QUICK_RUN_FOR = 2.0, 0.01  # seconds
COVTYPE_ALPHA = 1e-4  # chosen by experiments/covtype
BANDWIDTH_BYTES = 1 << 28
PRECISIONS = ("float64", "float32")
TITLE, PRECISION_TITLE = "Where the time of an iteration goes", "float32 and float64"
COVTYPE = "covtype, 7 ordered classes"


def measure(run: Run) -> Found:
    study = Study(run)
    left_out: list[str] = []
    records: list[Found] = []
    run_for = QUICK_RUN_FOR if run.quick else RUN_FOR
    for name in study.workloads(left_out):
        rows, test = study.rows(name)
        problems = [(TITLES[name], rows, test, ALPHAS[name], line_search) for line_search in (True, False)]
        records += [split(*problem, run_for) for problem in problems]
    try:
        rows = Rows(*load_covtype(run.quick))
    except MissingDataError as reason:
        left_out.append(f"covtype is left out: it {reason}.")
    else:
        records.append(split(COVTYPE, rows, rows, COVTYPE_ALPHA, True, run_for))
    show_progress("costs: float32")
    return {"records": records, "left_out": left_out, "precision": compare_precisions(study)}


def split(title: str, rows: Rows, test: Rows, alpha: float, line_search: bool, run_for: float) -> Found:
    """Return the costs of an iteration, best of the runs that fit in `run_for` seconds."""
    title += "" if line_search else ", no line search"
    show_progress(f"costs: {title}")
    everything = data.Dataset(rows.X, rows.y, test.X, test.y)
    fastest = train(everything, alpha, line_search, process_time)
    result, units = fastest.result, unit_tasks(rows)
    tasks = {**units, "argsort": lambda: np.argsort(result.scores)}
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(int(np.clip(run_for / fastest.total, *RUNS))):
        again = train(everything, alpha, line_search, process_time)
        fastest = min(fastest, again, key=lambda run: run.total)
        now = best_times(tasks, 2, 4, process_time)
        best = {name: min(best[name], now[name]) for name in tasks}
    return {
        "what": title,
        "rows": len(rows.y),
        "iterations": result.n_iter,
        "passes": int(result.history[-1]["n_evaluations"]),
        "gap": result.gap,
        "prepare": fastest.prepare,
        "solve": fastest.solve,
        **{part: fastest.parts[part] for part in PARTS},
        "argsort": best["argsort"],
        "u": sum(best[name] for name in units),
        "read": 2 * matrix_bytes(rows.X) / bandwidth(),
    }


def bandwidth() -> float:
    """Return the bytes per second that one thread reads."""
    numbers = np.ones(BANDWIDTH_BYTES // 8)
    return numbers.nbytes / best_times({"": numbers.sum}, 3, 5, process_time)[""]


def compare_precisions(study: Study) -> list[Found]:
    """Fit the text in both precisions, each in a process of its own, and evaluate both solutions in float64."""
    train_rows, test = study.rows("text")
    referee = Referee(train_rows, test, ALPHAS["text"], "hinge")
    found = []
    for dtype in PRECISIONS:
        w, record = fit_precision(study, dtype) if study.quick else alone(fit_precision, study, dtype)
        found.append({**record, "objective in float64": referee.objective(w)})
    return found


def fit_precision(study: Study, dtype: str) -> tuple[np.ndarray, Found]:
    rows, _ = study.rows("text")
    X: Any = rows.X.astype(dtype)
    y = rows.y
    del rows
    with threadpool_limits(limits=1):
        RankSVM(ALPHAS["text"]).fit(X[:100], y[:100])  # loads what is loaded late
        memory = PeakMemory()
        start = process_time()
        model = RankSVM(ALPHAS["text"]).fit(X, y)
        seconds, growth = process_time() - start, memory.growth()
        best = best_times({"fit": lambda: RankSVM(ALPHAS["text"]).fit(X, y)}, 3, 5, process_time)
    return model.coef_, {
        "dtype": dtype,
        "rows": len(y),
        "X": matrix_bytes(X),
        "growth": growth,
        "seconds": min(seconds, best["fit"]),
        "iterations": model.n_iter_,
        "gap": model.gap_,
        "objective": model.objective_,
    }


def report(found: Found, run: Run) -> list[str]:
    heading = [
        *("rows", "iterations", "passes", "gap", "prepare s", "solve s", "ms / iteration"),
        *(
            "products %",
            "sort %",
            "other counting %",
            "QP %",
            "other %",
            "u ms",
            "ratio",
            "from memory ms",
            "ratio to it",
        ),
    ]
    parts = [f"# {TITLE}", method(__doc__), as_list(found["left_out"])]
    parts.append(table(["data", *heading], map(cost_cells, found["records"])))
    return [*filter(None, parts), f"## {PRECISION_TITLE}", precision_table(found["precision"]), READING]


def cost_cells(r: Found) -> list[str]:
    each, sort = r["solve"] / r["iterations"], min(r["argsort"] * r["passes"], r["counting"])
    other = r["solve"] - sum(r[part] for part in PARTS)
    from_memory = r["read"] + r["argsort"]
    shares = (r["products"], sort, r["counting"] - sort, r["QP"], other)
    return [
        *(r["what"], f"{r['rows']:,}", str(r["iterations"]), str(r["passes"]), f"{r['gap']:.1e}"),
        *(f"{r['prepare']:.3g}", f"{r['solve']:.3g}", f"{1e3 * each:.3g}"),
        *(f"{100 * share / r['solve']:.0f}" for share in shares),
        *(f"{1e3 * r['u']:.3g}", f"{each / r['u']:.2f}", f"{1e3 * from_memory:.3g}", f"{each / from_memory:.2f}"),
    ]


def precision_table(records: list[Found]) -> str:
    base = records[0]
    heading = [
        *("X", "rows", "X MB", "MB beyond it", "seconds", "of float64", "iterations", "gap"),
        *("objective, its own X", "objective, float64 X"),
    ]
    cells = [
        [
            *(
                r["dtype"],
                f"{r['rows']:,}",
                f"{r['X'] / 1e6:.1f}",
                "" if r["growth"] is None else f"{r['growth'] / 1e6:.1f}",
            ),
            *(f"{r['seconds']:.3g}", f"{r['seconds'] / base['seconds']:.2f}", str(r["iterations"]), f"{r['gap']:.1e}"),
            *(f"{r['objective']:.9f}", f"{r['objective in float64']:.9f}"),
        ]
        for r in records
    ]
    return table(heading, cells)


def readings(tables: Tables) -> Iterator[str]:
    [costs], [precision] = tables[TITLE], tables[PRECISION_TITLE]
    housing, plain, text, covtype = (
        costs.row(name) for name in (TITLES["housing"], f"{TITLES['housing']}, no line search", TITLES["text"], COVTYPE)
    )
    sort, tree = (float(housing[name]) for name in ("sort %", "other counting %"))
    overhead = float(housing["QP %"]) + float(housing["other %"])
    double, single = precision
    memory = float(single["X MB"]) / float(double["X MB"])
    yield f"""
        With many rows an iteration costs {text["ratio"]} (text) and {covtype["ratio"]} (covtype) times two products and
        a sort: it has two counting passes, because of the line search, and each of them sorts. The QP takes
        {text["QP %"]} % of the time on text and {covtype["QP %"]} % on covtype. On California housing the ratio is
        {housing["ratio"]}: with 8 features the products take {housing["products %"]} % of the time and u is nearly all
        sort, while a counting pass takes {(sort + tree) / sort:.1f} sorts (NumPy's sort is vectorised on some
        processors; a pass goes through a tree for each row once the scores are sorted). At
        {housing["ms / iteration"]} milliseconds per iteration, {overhead:.0f} % is Python and the QP. Without line
        search, with one pass per iteration, the ratio is {plain["ratio"]}; there are {plain["iterations"]} iterations
        instead of {housing["iterations"]}, for {plain["solve s"]} instead of {housing["solve s"]} seconds in all.

        *from memory* is the time of the products if X came from memory at full speed. An iteration takes
        {span(costs.column("ratio to it"), ".1f")} times that and a sort.

        A10 reports less than six seconds for an iteration with half a million rows of covtype; here it is
        {float(covtype["ms / iteration"]) / 1000:.2f} seconds, for {covtype["rows"]} rows. float32 needs {memory:.2f}
        times the memory and {single["of float64"]} times the time; the objectives are
        {single["objective, float64 X"]} and {double["objective, float64 X"]}, because sums are float64 sums in both
        cases."""
