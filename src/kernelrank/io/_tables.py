"""Tables with named columns: CSV and Parquet files."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import NAMES, NONE, TEXT, choice
from kernelrank._validation import check_vector
from kernelrank.io._files import COMPRESSED, name_of, open_for_reading

_BACKENDS = ("polars", "pandas", "pyarrow")
_QID = "qid"


class Table(NamedTuple):
    """Rows of a table, taken apart.

    ``X`` is a data frame of the features; ``y``, ``qid`` and ``weight`` are arrays, or None.
    """

    X: Any
    y: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    weight: NDArray[np.float64] | None


def load_table(
    source: str | os.PathLike[str],
    *,
    target: str | None = None,
    qid: str | None = None,
    weight: str | None = None,
    drop: Iterable[str] = (),
    features: Iterable[str] | None = None,
    format: Literal["auto", "csv", "parquet"] = "auto",
) -> Table:
    r"""Read a CSV or Parquet file with named columns.

    Parameters
    ----------
    source : path
        ``.parquet``, or text with a line of names: ``.tsv`` with tabs, anything else with commas. A name that
        ends with ``.gz``, ``.xz`` or ``.bz2`` is decompressed; ``"-"`` is standard input.
    target, qid, weight : str, optional
        Columns of the utilities, of the queries and of the weights. A column named "qid" is
        taken as the queries if nothing else is said.
    drop : iterable of str, optional
        Columns to leave out.
    features : iterable of str, optional
        Columns to use as features, in this order: those of a model. By default all others.
    format : {"auto", "csv", "parquet"}, default="auto"
        What the file is, if its name does not tell.

    Returns
    -------
    Table
        Named tuple ``(X, y, qid, weight)``. X is a data frame of polars, pandas or pyarrow, the
        first of them that is installed.

    Raises
    ------
    ValueError
        If a column is missing, a feature is not a number, or a value is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "houses.csv"
    >>> _ = path.write_text("rooms,age,district,price\n3,10,a,200\n5,2,a,450\n4,30,b,180\n")
    >>> from kernelrank.io import load_table
    >>> table = load_table(path, target="price", qid="district")
    >>> table.X.columns, table.y, table.qid.tolist()
    (['rooms', 'age'], array([200., 450., 180.]), ['a', 'a', 'b'])
    """
    for argument, column in (("target", target), ("qid", qid), ("weight", weight)):
        (TEXT | NONE)(argument, column)
    NAMES("drop", drop)
    (NAMES | NONE)("features", features)
    choice("auto", "csv", "parquet")("format", format)
    drop = list(drop)
    name = name_of(source)
    frame = _read(source, format)
    if qid is None and _QID in frame.columns and _QID not in (target, weight, *drop):
        qid = _QID
    special = [column for column in (target, qid, weight) if column is not None]
    wanted = None if features is None else list(features)
    for column in (*special, *drop, *(wanted or ())):
        if column not in frame.columns:
            hint = "; commas separate columns, or tabs in .tsv" if len(frame.columns) == 1 else ""
            raise ValueError(f'{name}: there is no column "{column}"; there are {", ".join(frame.columns)}{hint}.')
    left_out = {*special, *drop}
    X = frame.select(wanted if wanted is not None else [c for c in frame.columns if c not in left_out])
    for column in X.columns:
        _check_numbers(X[column], name, "encode or drop it")

    def numbers(column: str | None) -> NDArray[np.float64] | None:
        if column is None:
            return None
        _check_numbers(frame[column], name, "encode it")
        return check_vector(frame[column].to_numpy(), f'{name}: column "{column}"')

    if qid is not None:
        _check_present(frame[qid], name)
    return Table(X.to_native(), numbers(target), None if qid is None else frame[qid].to_numpy(), numbers(weight))


def _read(source: str | os.PathLike[str], format: str) -> nw.DataFrame[Any]:
    name = name_of(source)
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    with open_for_reading(source) as file:
        content = io.BytesIO(file.read())
    is_parquet = format == "parquet" or (format == "auto" and suffixes[-1:] == [".parquet"])
    separator = "\t" if suffixes[-1:] == [".tsv"] else ","
    backend = next((each for each in _BACKENDS if find_spec(each)), None)
    if backend is None:
        raise ModuleNotFoundError(
            f'Reading {name} takes one of {", ".join(_BACKENDS)}: pip install "kernelrank[tables]" brings the first.'
        )
    try:
        return nw.from_native(_READERS[backend](content, is_parquet, separator), eager_only=True)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # each library has its own, and some explain at length
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{name}: this cannot be read as a table: {reason}") from error


def _read_with_polars(content: Any, is_parquet: bool, separator: str) -> Any:
    import polars as pl

    if is_parquet:
        return pl.read_parquet(content)
    # Rows far down decide about the type of a column, too.
    return pl.read_csv(content, separator=separator, infer_schema_length=None)


def _read_with_pandas(content: Any, is_parquet: bool, separator: str) -> Any:
    import pandas as pd

    return pd.read_parquet(content) if is_parquet else pd.read_csv(content, sep=separator)


def _read_with_pyarrow(content: Any, is_parquet: bool, separator: str) -> Any:
    from pyarrow import csv, parquet

    if is_parquet:
        return parquet.read_table(content)
    return csv.read_csv(content, parse_options=csv.ParseOptions(delimiter=separator))


_READERS: dict[str, Callable[[Any, bool, str], Any]] = {
    "polars": _read_with_polars,
    "pandas": _read_with_pandas,
    "pyarrow": _read_with_pyarrow,
}


def _check_numbers(series: nw.Series[Any], name: str, remedy: str) -> None:
    """Refuse what is not a number, and missing values."""
    _check_present(series, name)
    if series.dtype.is_float():
        finite = np.isfinite(series.to_numpy())
        if not finite.all():
            row = int(np.argmin(finite))
            raise ValueError(f'{name}: column "{series.name}" holds {series[row]} in row {row + 1} of the data.')
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return
    values = series.to_list()
    row = next((row for row, value in enumerate(values) if not _is_number(value)), 0)
    raise ValueError(
        f'{name}: column "{series.name}" does not hold numbers, but {values[row]!r} in row {row + 1} of the data;'
        f" {remedy}."
    )


def _check_present(series: nw.Series[Any], name: str) -> None:
    missing = series.is_null().to_numpy()
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f'{name}: column "{series.name}" has missing values, the first in row {row + 1} of the data.')


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
