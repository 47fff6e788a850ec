"""Differences of exported models from ``predict``.

Run ``python -m benchmarks.exports`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from benchmarks import export_engines as engines
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank import NystromMap, RankRLS, RankSVM
from kernelrank.export import to_elasticsearch, to_onnx, to_opensearch, to_solr, to_sql
from kernelrank.kernels import Gaussian, Linear, Polynomial
from kernelrank.pipelines import make_query_pipeline

ABOUT = """
Models are fitted to {m:,} rows in queries of {query}, and exported. Evaluators then score {m:,} other rows, of which a
tenth are copies of other rows: onnxruntime, SQLite, and for the search engines programs that follow the documentation
of their plugins, in float32. A dash means that the format cannot express the model, which is an error of the export.

- *rows*: five columns of numbers, standardised. *offsets*: the same columns shifted by 10^4 of their deviations, as
  years or times are. *table*: numbers with missing values, and text, imputed, standardised and encoded; a fifth of the
  scored rows have a category that was never seen.
- Search engines have no intercept: their scores may differ from those of `predict` by one constant, which is
  subtracted. They and ONNX in float32 also round the values of the columns to float32, which costs the *offsets* four
  of their digits before anything is computed. The bars of search engines are for the other models.
"""
QUERY = 10
Vector = NDArray[np.float64]
FORMATS = ("ONNX", "ONNX, float32", "SQL", "Elasticsearch", "OpenSearch", "Solr")
# Largest difference, relative to the range of the scores.
BARS = {"ONNX": 1e-6, "SQL": 1e-9, "Elasticsearch": 1e-5, "OpenSearch": 1e-5, "Solr": 1e-5}


@dataclass
class Workload:
    """A fitted model, and rows to score, as `predict` and as the evaluators take them."""

    name: str
    model: Pipeline
    X: Any
    rows: Any
    columns: list[str]

    @property
    def dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts."""
        if isinstance(self.rows, list):
            return self.rows
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows.tolist()]


def workloads(m: int) -> Iterator[Workload]:
    rng, qid = np.random.default_rng(0), np.arange(m) // QUERY
    names = [f"x{k}" for k in range(5)]
    for where, offset in (("rows", 0.0), ("offsets", 1e4)):
        X, new = make_rows(rng, m, offset), make_rows(rng, m, offset)
        y = X[:, 0] - X[:, 1] + np.sin(X[:, 2]) + 0.5 * rng.normal(size=m)
        models = {
            "linear": (StandardScaler(), RankSVM()),
            "linear, to [0, 1]": (MinMaxScaler(), RankSVM()),
            "Gaussian": (StandardScaler(), RankRLS(kernel="gaussian", n_basis=300)),
            "cubic": (StandardScaler(), RankRLS(kernel=Polynomial(3), n_basis=300)),
            "linear + Gaussian": (StandardScaler(), RankRLS(kernel=Linear() + Gaussian(), n_basis=300)),
            "NystromMap": (StandardScaler(), NystromMap(n_basis=100), RankSVM()),
        }
        for name, steps in models.items():
            model = make_query_pipeline(*steps).fit(X, y, qid=qid)
            yield Workload(f"{where}, {name}", model, new, new, names)
    frame, new = make_table(rng, m), make_table(rng, m, unseen=0.2)
    y = -frame["price"].fill_null(100.0).to_numpy() / 30 + rng.normal(size=m)
    for name, ranker in (("linear", RankSVM()), ("Gaussian", RankRLS(kernel="gaussian", n_basis=300))):
        model = make_query_pipeline(preparation(), ranker).fit(frame, y, qid=qid)
        yield Workload(f"table, {name}", model, new, new.to_dicts(), frame.columns)


def make_rows(rng: np.random.Generator, m: int, offset: float) -> Vector:
    X = rng.normal(size=(m, 5)) + offset
    X[::10] = X[1::10]
    return X


def make_table(rng: np.random.Generator, m: int, unseen: float = 0.0) -> pl.DataFrame:
    prices, districts = rng.normal(100, 30, m), rng.choice([f"district {k}" for k in range(20)], m)
    stars, kinds = rng.integers(1, 6, m).astype(float), rng.choice(["flat", "house", "room"], m)
    found = pl.DataFrame({"price": prices, "stars": stars, "district": districts, "kind": kinds})
    found = found.with_columns(
        pl.when(pl.Series(rng.random(m) > 0.2)).then("price").alias("price"),
        pl.when(pl.Series(rng.random(m) < unseen)).then(pl.lit("elsewhere")).otherwise("district").alias("district"),
        pl.when(pl.Series(rng.random(m) > 0.1)).then("kind").alias("kind"),
    )
    places = np.arange(m)
    places[::10] = places[1::10]
    return found[places.tolist()]


def preparation() -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    encoder = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist")
    return ColumnTransformer([("numbers", numbers, ["price", "stars"]), ("categories", encoder, ["district", "kind"])])


def scorers(work: Workload) -> dict[str, Callable[[], Any]]:
    """Return the functions that export a model and score the rows."""
    model = work.model
    return {
        "ONNX": lambda: engines.onnx_scores(to_onnx(model), work.rows),
        "ONNX, float32": lambda: engines.onnx_scores(to_onnx(model, dtype="float32"), work.rows),
        "SQL": lambda: engines.sql_scores(to_sql(model), work.dicts),
        "Elasticsearch": lambda: engines.ltr_scores(to_elasticsearch(model, "m", work.columns), work.dicts),
        "OpenSearch": lambda: engines.ltr_scores(to_opensearch(model, "m", work.columns), work.dicts),
        "Solr": lambda: engines.solr_scores(to_solr(model, "m", work.columns), work.dicts),
    }


def compare(found: Vector, expected: Vector, *, shifted: bool) -> tuple[float, float]:
    """Return the largest difference in relation to the range, and the share of pairs of a query in another order."""
    found = np.asarray(found, np.float64)
    if shifted:
        found = found - np.mean(found - expected)
    difference = float(np.abs(found - expected).max() / np.ptp(expected))
    other = total = 0
    for start in range(0, len(expected), QUERY):
        some = slice(start, start + QUERY)
        signs = [np.sign(scores[some, None] - scores[None, some]) for scores in (found, expected)]
        other, total = other + int((signs[0] != signs[1]).sum()), total + signs[0].size - len(signs[0])
    return difference, other / total


def measure(run: Run) -> tuple[int, dict[str, dict[str, tuple[float, float] | None]]]:
    """Return the number of rows, and the two numbers of `compare` for each workload and format."""
    m = 300 if run.quick else 5_000
    found: dict[str, dict[str, tuple[float, float] | None]] = {}
    for work in workloads(m):
        show_progress(work.name)
        expected = work.model.predict(work.X)
        found[work.name] = {}
        for name, score in scorers(work).items():
            try:
                scores = score()
            except TypeError:  # a kernel in a linear format
                found[work.name][name] = None
            else:
                shifted = not name.startswith(("ONNX", "SQL"))
                found[work.name][name] = compare(scores, expected, shifted=shifted)
    return m, found


def report(measured: tuple[int, dict[str, dict[str, tuple[float, float] | None]]], _: Run) -> list[str]:
    m, found = measured

    def cells(which: int) -> str:
        lines = [
            [work, *("–" if cell is None else f"{cell[which]:.0e}" if cell[which] else "0" for cell in row.values())]
            for work, row in found.items()
        ]
        return table(("model", *FORMATS), lines)

    return [
        "# Exports",
        ABOUT.format(m=m, query=QUERY),
        *("## Largest difference", "In relation to the range of the scores.", cells(0)),
        *("## Pairs of a query in another order", "As a share; ties that are broken count as well.", cells(1)),
        *("## Bars", bar_table(judge(found))),
    ]


def judge(found: dict[str, dict[str, tuple[float, float] | None]]) -> Iterator[Bar]:
    for name, bar in BARS.items():
        judged = {work: row for work, row in found.items() if bar < 1e-5 or not work.startswith("offsets")}
        worst = max(cell[0] for row in judged.values() if (cell := row[name]) is not None)
        yield Bar(f"{name}: largest difference", worst, bar)


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
