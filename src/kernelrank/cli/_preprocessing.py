"""Preprocessing of the features of a data file, which becomes a part of the model."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from kernelrank._validation import warn_of_query_columns
from kernelrank.cli._methods import METHODS
from kernelrank.cli._output import print_table
from kernelrank.io._tables import check_numbers
from kernelrank.pipelines import QueryPipeline, QueryScaler, RankingPipeline
from kernelrank.pipelines._columns import TEXTS, count_missing, sort_columns, types_of_objects
from kernelrank.pipelines._fitting import describe_columns, fit_columns
from kernelrank.pipelines._inputs import Inputs
from kernelrank.pipelines._table_ranker import MIN_FREQUENCY, Scale, preparing_steps

_MOST_LINES = 40
_OF_TABLES = ("categorical", "keep")


class Preparation(NamedTuple):
    """Fitted steps before the ranker, and what they do to each column of a table."""

    steps: list[tuple[str, Any]]
    columns: list[dict[str, Any]] | None = None
    names: list[str] | None = None

    @property
    def features(self) -> NDArray[Any] | None:
        """Names of the features that the ranker gets; None if they have none."""
        if self.columns is None:
            return None
        names: NDArray[Any] = self.steps[0][1].get_feature_names_out()
        return names

    def pipeline(self, ranker: Any, *, queries: bool) -> Any:
        """Return the fitted pipeline of these steps and a fitted ranker; the ranker itself if there are no steps.

        `queries` states whether the ranker was fitted with queries.
        """
        if not self.steps:
            return ranker
        steps = [*self.steps, (type(ranker).__name__.lower(), ranker)]
        whole = QueryPipeline(steps)
        return whole if queries or whole.transforms_by_queries else RankingPipeline(steps)


def prepare_table(frame: Any, qid: Any, args: argparse.Namespace) -> tuple[Any, Preparation]:
    """Return the features of a table as a matrix, and how they were made."""
    scale: Scale = args.scale or "standard"
    _require_queries(scale, qid)
    frame = missing_text_as_none(frame)
    try:
        columns = sort_columns(frame, args.categorical, (), None, MIN_FREQUENCY)
    except ValueError as error:
        raise ValueError(f"{args.data}: {error}") from None
    ranker = METHODS[args.method].fit.estimator()
    if qid is None:
        warn_of_query_columns(ranker, frame)
    steps = preparing_steps(columns, ranker, scale)
    X = fit_columns(steps[0][1], frame)
    for _, step in steps[1:]:
        X = step.fit_transform(X, qid=qid)
    told = describe_columns(steps[0][1], frame, columns.left_out)
    if scale == "query":
        for each in told:
            if each["features"]:
                each["treatment"] = f"{each['treatment']}; [0, 1] in each query".removeprefix("as it is; ")
    return X, Preparation(steps, told, list(nw.from_native(frame, eager_only=True).columns))


def prepare_rows(X: Any, qid: Any, args: argparse.Namespace) -> tuple[Any, Preparation]:
    """Return the features of svmlight text as the ranker gets them, and how they were scaled."""
    for option in _OF_TABLES:
        if getattr(args, option):
            raise ValueError(f"--{option} applies to tables, but {args.data} is read as svmlight text.")
    scale = args.scale or "none"
    _require_queries(scale, qid)
    if scale == "none":
        return X, Preparation([])
    if scale == "query":
        queries = QueryScaler()
        return queries.fit_transform(X, qid=qid), Preparation([("queries", queries)])
    # Without means, which would make sparse rows dense, and have no effect on differences.
    scaler = StandardScaler(with_mean=False)
    return scaler.fit_transform(X), Preparation([("scale", scaler)])


def refuse_preparation(args: argparse.Namespace) -> None:
    """Raise an error if a command that does not load the rows is to prepare them."""
    if getattr(args, "scale", None) not in (None, "none"):
        raise ValueError(
            f"--scale {args.scale} cannot be used with rows that are not loaded, those of --out-of-core, of a"
            " folder, or of --dask: scale them before they are written."
        )
    for option in _OF_TABLES:
        if getattr(args, option, None):
            raise ValueError(f"--{option} cannot be used with --out-of-core, a folder, or --dask.")


def check_inputs(frame: Any, inputs: Inputs, name: str) -> Any:
    """Return the columns for a pipeline; raise an error for those of another type than in training."""
    table = nw.from_native(frame, eager_only=True)
    empty = dict[str, Any]()
    for column in inputs.names:
        series = table[column]
        kind = nw.String if column in inputs.texts else nw.Boolean if column in inputs.booleans else None
        if kind is None:
            check_numbers(series, name, "the model was trained with numbers there", missing=True)
        elif count_missing(series) == len(series):  # of any type, or of none
            empty[column] = kind
        elif not _has(kind, series):
            what = "text" if kind is nw.String else "booleans"
            raise ValueError(
                f'{name}: column "{column}" holds values of type {series.dtype}, but the model was trained with {what}'
                " there."
            )
    if table.implementation.is_pandas():  # whose type of booleans has no missing values
        frame = frame.assign(**{column: np.full(len(frame), None) for column in empty})
    else:
        nothing = (nw.lit(None, dtype=kind).alias(column) for column, kind in empty.items())
        frame = table.with_columns(*nothing).to_native()
    return missing_text_as_none(frame)


def _has(kind: Any, series: nw.Series[Any]) -> bool:
    """Return whether a column holds text, or booleans."""
    if series.dtype == nw.Object:
        return types_of_objects(series) == {str if kind is nw.String else bool}
    return series.dtype in TEXTS if kind is nw.String else series.dtype == nw.Boolean


def missing_text_as_none(frame: Any) -> Any:
    """Return a data frame where missing text is None, as in polars, so that model files fit any library."""
    table = nw.from_native(frame, eager_only=True)
    if not table.implementation.is_pandas():
        return frame
    texts = [name for name in table.columns if table[name].dtype in (*TEXTS, nw.Object)]
    found = {name: frame[name].astype(object) for name in texts}
    return frame.assign(**{name: column.where(column.notna(), None) for name, column in found.items()})


def print_columns(columns: list[dict[str, Any]]) -> None:
    """Print what was done to each column."""
    shown = columns if len(columns) <= _MOST_LINES else columns[: _MOST_LINES - 1]
    keys = ("column", "kind", "treatment", "features", "missing")
    print_table(keys, [tuple(each[key] for key in keys) for each in shown])
    if len(shown) < len(columns):
        print(f"... and {len(columns) - len(shown):,} more columns; --json shows all")


def _require_queries(scale: str, qid: Any) -> None:
    if scale == "query" and qid is None:
        raise ValueError(
            "--scale query requires queries: qid in svmlight text; in a table, set their column with --qid."
        )
