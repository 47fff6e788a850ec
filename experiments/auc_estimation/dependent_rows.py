"""OHSUMED: the effect of rows of the same query in training and test on an estimate (T11, section 5.5)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import MissingDataError, number, show_progress, table
from experiments.auc_estimation._shared import standard_error
from experiments.ohsumed import Rows, join, load_parts
from experiments.study import Tables, span
from kernelrank import RankRLS
from kernelrank.exceptions import IdenticalRowsWarning
from kernelrank.kernels import Gaussian
from kernelrank.model_selection import estimate_concordance

KINDS = {"QueryLevelNorm": "scaled inside queries", "min": "raw features"}
N_FOLDS = 5
N_BASIS = 300
PER_QUERY = 20  # rows, or a few more, whose nearest row is sought
PAPER_TAU = {"rows": 0.7, "queries": 0.3}  # of parse ranking, T11, section 5.5
MODELS: dict[str, RankRLS] = {
    "linear": RankRLS(1e-4),
    "gaussian, gamma 0.02": RankRLS(1e-3, kernel=Gaussian(0.02), n_basis=N_BASIS),
    "gaussian, gamma 0.5": RankRLS(1e-3, kernel=Gaussian(0.5), n_basis=N_BASIS),
}


def estimate(model: RankRLS, rows: Rows, split: bool) -> Any:
    """Estimate the concordance, with whole queries or rows of them held out."""
    pipeline = make_pipeline(StandardScaler(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdenticalRowsWarning)  # there are some, `describe` counts them
        return estimate_concordance(pipeline, rows.X, rows.y, qid=rows.qid, cv=N_FOLDS, split_groups=split, verbose=0)


def run(quick: bool) -> list[str]:
    """Return the table and a remark on the data; without the data, a line that says what is missing."""
    rows = []
    try:
        data = {kind: join(load_parts(quick, kind)) for kind in KINDS}
    except MissingDataError as reason:
        return [f"Left out: it {reason}."]
    for kind, features in KINDS.items():
        dense = data[kind]._replace(X=data[kind].X.toarray())
        for name, model in MODELS.items():
            show_progress(f"OHSUMED, {features}: {name}")
            whole, torn = (estimate(model, dense, split) for split in (False, True))
            more = torn.values - whole.values
            more = more[~np.isnan(more)]
            cells = [
                f"{each.estimate:.4f} ({each.interval[0]:.3f} to {each.interval[1]:.3f})" for each in (whole, torn)
            ]
            rows.append([f"{features}, {name}", *cells, f"{more.mean():+.4f} ± {standard_error(more):.4f}"])
    heading = ["model", "folds of queries", "folds of rows", "optimism"]
    nearest = [[features, *correlations(data[kind])] for kind, features in KINDS.items()]
    return [
        table(heading, rows),
        describe(data["QueryLevelNorm"]),
        NEAREST,
        table(["features", "nearest row of the query", "nearest row of other queries"], nearest),
    ]


def correlations(rows: Rows) -> list[str]:
    """Return the correlation of a grade with that of the nearest row of its query, and of all other queries."""
    X, grades, found = StandardScaler().fit_transform(rows.X.toarray()), rows.y.astype(float), []
    for query in np.unique(rows.qid):
        inside, outside = np.flatnonzero(rows.qid == query), np.flatnonzero(rows.qid != query)
        grades[inside] -= grades[inside].mean()
        some = inside[:: max(1, len(inside) // PER_QUERY)]
        distances = euclidean_distances(X[some], X[inside], squared=True)
        distances[some[:, None] == inside] = np.inf
        near, far = inside[distances.argmin(axis=1)], outside[pairwise_distances_argmin(X[some], X[outside])]
        found.append(np.stack([some, near, far]))
    own, near, far = grades[np.concatenate(found, axis=1)]
    return [f"{np.corrcoef(own, other)[0, 1]:.2f}" for other in (near, far)]


def describe(rows: Rows) -> str:
    """Return a remark on identical rows."""
    X = rows.X.toarray()
    filled = X.any(axis=1)
    twins = 0
    for query in np.unique(rows.qid):
        _, counts = np.unique(X[filled & (rows.qid == query)], axis=0, return_counts=True)
        twins += int(counts[counts > 1].sum())
    return (
        f"Of the {len(X):,} scaled rows, {np.count_nonzero(~filled):,} have no feature that is not zero, and {twins:,}"
        " others are identical to another row of their query. Folds of rows separate these."
    )


def readings(tables: Tables) -> Iterator[str]:
    if TITLE not in tables:
        yield "The data are not available."
        return
    found, nearest = tables[TITLE]
    linear = [row["optimism"] for row in found if row["model"].endswith("linear")]
    kernels = [row["optimism"] for row in found if "gaussian" in row["model"]]
    gains, errors = zip(*((number(cell), number(cell.partition("±")[2])) for cell in kernels), strict=True)
    in_errors = [gain / error for gain, error in zip(gains, errors, strict=True)]
    largest = max(found, key=lambda row: number(row["optimism"]))
    paper, tau = PAPER_TAU["rows"] - PAPER_TAU["queries"], 2 * number(largest["optimism"])
    inside, outside = (nearest.column(f"nearest row of {which}") for which in ("the query", "other queries"))
    yield f"""
        For linear models, folds of rows change the estimate by {" and ".join(linear)}: 45 weights cannot adapt to
        single queries. Gaussian kernels can, and their estimates are larger by {span(gains, ".3f")}
        ({span(in_errors, ".1f")} standard errors), most for {largest["model"]}. This is less than the width of an
        interval, and as much as the differences between models. If anything it is too little: the rows of a query are
        scored by five models, and so pooled.

        In the thesis, the difference is {paper:.1f} in Kendall's tau for parse ranking. Here it is {tau:.2f} at most,
        {paper / tau:.0f} times less (a concordance of c is a tau of 2 c - 1, but for ties). The
        data differ. Of parses, Paper III of the thesis says that two of the same sentence have "almost always larger
        mutual similarity than two parses originating from different sentences". Rows of a query of OHSUMED are
        different documents, and say little about each other's grades: the correlation of the grades of nearest rows is
        {span(inside)} inside queries, and {span(outside)} between queries."""


NEAREST = """
Correlation of the grade of a row, less the mean of its query, with that of the nearest other row (standardised
columns).
"""
TITLE = "Dependent rows: OHSUMED"
