"""Reader of tables with named columns: CSV and Parquet files."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import FLAG, NAMES, NONE, TEXT, choice
from kernelrank._validation import check_vector
from kernelrank.io._files import COMPRESSED, name_of, open_for_reading

_BACKENDS = ("polars", "pandas", "pyarrow")
QID = "qid"
_PLAIN_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")
_NAMELESS = re.compile(r"\s*|Unnamed: \d+")
_WIDE = (nw.Int128, nw.UInt128)
_FIRST_ROWS = 10_000  # from which polars infers types, if the other rows agree


class Table(NamedTuple):
    """Contents of a table.

    Attributes
    ----------
    X : data frame
        Features.
    y : ndarray of shape (n_samples,) or None
        Utilities.
    qid : ndarray of shape (n_samples,) or None
        Query ids.
    weight : ndarray of shape (n_samples,) or None
        Weights.
    observed : ndarray of bool of shape (n_samples,) or None
        Whether the utility of each row is observed, and not censored.
    """

    X: Any
    y: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    observed: NDArray[np.bool_] | None = None


def load_table(
    source: str | os.PathLike[str],
    *,
    target: str | None = None,
    qid: str | None = None,
    weight: str | None = None,
    observed: str | None = None,
    drop: Iterable[str] = (),
    features: Iterable[str] | None = None,
    numeric: bool = True,
    text: Iterable[str] = (),
    format: Literal["auto", "csv", "parquet"] = "auto",
) -> Table:
    r"""Read a CSV or Parquet file with named columns.

    Parameters
    ----------
    source : path
        Path of a ``.parquet`` file, or of a text file with a header line: ``.tsv`` is separated by tabs, anything else
        by commas; only an empty field is a missing value. A file whose name ends with ``.gz``, ``.xz`` or ``.bz2`` is
        decompressed; ``"-"`` is standard input.
    target, qid, weight : str, optional
        Names of the columns of utilities, queries and weights. By default, a column named "qid" holds the queries.
        Query ids of text files are compared as text: ``1``, ``01`` and ``1.0`` are three queries.
    observed : str, optional
        Name of the column that says whether a utility is observed, and not censored: 1 or 0, true or false.
    drop : iterable of str, optional
        Columns to ignore.
    features : iterable of str, optional
        Columns to use as features, in this order, such as those of a model. By default all remaining columns.
    numeric : bool, default=True
        Raise an error for features that are not finite numbers. False returns all features as they are, for
        :func:`kernelrank.pipelines.make_table_ranker`.
    text : iterable of str, optional
        Columns of text files to read as text, even if they look like numbers: ``1``, ``01`` and ``1.0`` are three
        categories. Columns that are not there are ignored.
    format : {"auto", "csv", "parquet"}, default="auto"
        Format of the file; "auto" infers it from the name.

    Returns
    -------
    Table
        Named tuple ``(X, y, qid, weight, observed)``. X is a data frame of the first of polars, pandas and pyarrow that
        is installed. As with :func:`~kernelrank.io.load_svmlight`, ``qid`` of a text file is an int64 array if all ids
        are integers without leading zeros or a plus sign, and otherwise an object array of strings. Ids of a Parquet
        file keep their type.

    Raises
    ------
    ValueError
        If a column is missing, a feature has no name, there are no rows, or a value is missing or not a number: of a
        feature, only if `numeric`.

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
    for argument, column in (("target", target), ("qid", qid), ("weight", weight), ("observed", observed)):
        (TEXT | NONE)(argument, column)
    NAMES("drop", drop)
    (NAMES | NONE)("features", features)
    FLAG("numeric", numeric)
    NAMES("text", text)
    choice("auto", "csv", "parquet")("format", format)
    drop = list(drop)
    name = name_of(source)
    ids_in = ids_column(target, qid, weight, [*drop, observed])
    frame, is_text = _read(source, format, {*text, *([] if ids_in is None else [ids_in])})
    return split_table(frame, is_text, name, target, qid, weight, drop, features, observed, numeric=bool(numeric))


def ids_column(target: str | None, qid: str | None, weight: str | None, drop: Iterable[str | None]) -> str | None:
    """Return the column that may hold the query ids: the one that is named, or else "qid" if it is not used."""
    return qid if qid is not None else None if QID in (target, weight, *drop) else QID


def split_table(
    frame: nw.DataFrame[Any],
    is_text: bool,
    name: str,
    target: str | None,
    qid: str | None,
    weight: str | None,
    drop: list[str],
    features: Iterable[str] | None,
    observed: str | None = None,
    *,
    numeric: bool = True,
) -> Table:
    """Split a data frame as :func:`~kernelrank.io.load_table` does; `name` is that of the file, for errors."""
    ids_in = ids_column(target, qid, weight, [*drop, observed])
    qid = ids_in if qid is not None or ids_in in frame.columns else None
    special = [column for column in (target, qid, weight, observed) if column is not None]
    wanted = None if features is None else list(features)
    for column in (*special, *drop, *(wanted or ())):
        if column not in frame.columns:
            hint = "; commas separate columns, or tabs in .tsv" if len(frame.columns) == 1 else ""
            raise ValueError(
                f'{name}: there is no column "{column}"; the columns are {", ".join(frame.columns)}{hint}.'
            )
    if len(frame) == 0:
        raise ValueError(f"{name}: there are no rows.")
    ids = None if qid is None else _ids(frame[qid], name, is_text)
    if is_text and qid is not None and qid in (target, weight, *(wanted or ())):
        frame = frame.with_columns(_as_numbers(frame[qid]))
    left_out = {*special, *drop}
    if wanted is None:
        _check_names(frame.columns, left_out, name)
    X = frame.select(wanted if wanted is not None else [c for c in frame.columns if c not in left_out])
    for column in X.columns if numeric else ():
        check_numbers(X[column], name, "encode or drop it")
    wide = [column for column in X.columns if X[column].dtype in _WIDE]
    X = X.with_columns(nw.col(*wide).cast(nw.Float64)) if wide else X

    def numbers(column: str | None) -> NDArray[np.float64] | None:
        if column is None:
            return None
        check_numbers(frame[column], name, "encode it")
        values = _to_numpy(frame[column])
        if frame[column].dtype in _WIDE:  # check_vector rejects integers beyond 2**53 anyway
            values = np.clip(values, -(2**63), 2**63 - 1).astype(np.int64)
        return check_vector(values, f'{name}: column "{column}"')

    seen = None if observed is None else _booleans(frame[observed], name)
    return Table(X.to_native(), numbers(target), ids, numbers(weight), seen)


def column_names(source: str | os.PathLike[str], format: str) -> list[str]:
    """Return the names of the columns of a table."""
    return list(_read(source, format, set())[0].columns)


def _read(source: str | os.PathLike[str], format: str, texts: AbstractSet[str]) -> tuple[nw.DataFrame[Any], bool]:
    """Return a table and whether it is a text file; the columns `texts` of a text file are kept as text."""
    name = name_of(source)
    with open_for_reading(source) as file:
        content = io.BytesIO(file.read())
    is_parquet, separator = file_kind(name, format)
    backend = next((each for each in _BACKENDS if find_spec(each)), None)
    if backend is None:
        raise ModuleNotFoundError(
            f"Reading {name} requires one of {', '.join(_BACKENDS)}; install the first with"
            ' pip install "kernelrank[tables]".'
        )
    try:
        frame = _READERS[backend](content, is_parquet, separator, texts)
        return nw.from_native(frame, eager_only=True), not is_parquet
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # each library has its own exceptions, some with long messages
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{name}: cannot be read as a table: {reason}") from error


def file_kind(name: str, format: str) -> tuple[bool, str]:
    """Return whether a file is Parquet, and otherwise what separates its columns."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    is_parquet = format == "parquet" or (format == "auto" and suffixes[-1:] == [".parquet"])
    return is_parquet, "\t" if suffixes[-1:] == [".tsv"] else ","


def _read_with_polars(content: Any, is_parquet: bool, separator: str, texts: AbstractSet[str]) -> Any:
    import polars as pl

    if is_parquet:
        return pl.read_parquet(content)

    # polars leaves quotation marks in names doubled, as they are in the file.
    types = dict.fromkeys((name.replace('"', '""') for name in texts), pl.String)

    def read(n_rows: int | None) -> pl.DataFrame:
        content.seek(0)
        frame = pl.read_csv(content, separator=separator, infer_schema_length=n_rows, schema_overrides=types)
        return frame.rename(lambda name: name.replace('""', '"'))

    # Any row may determine the type of a column, but to look at all of them takes longer than to read them. Where later
    # rows are of another type than the first, reading fails; only columns that are empty so far can be misread.
    try:
        frame = read(_FIRST_ROWS)
        if len(frame) <= _FIRST_ROWS or not any(
            column.null_count() == _FIRST_ROWS for column in frame.head(_FIRST_ROWS)
        ):
            return frame
    except pl.exceptions.ComputeError:
        pass
    return read(None)


def _read_with_pandas(content: Any, is_parquet: bool, separator: str, texts: AbstractSet[str]) -> Any:
    import pandas as pd

    if is_parquet:
        return pd.read_parquet(content)
    # Only an empty field is missing, as for polars: by default, so are NA, null, None and other words.
    types = dict.fromkeys(texts, str)
    return pd.read_csv(content, sep=separator, dtype=types, keep_default_na=False, na_values=[""])


def _read_with_pyarrow(content: Any, is_parquet: bool, separator: str, texts: AbstractSet[str]) -> Any:
    from pyarrow import csv, parquet, string

    if is_parquet:
        return parquet.read_table(content)
    types = dict.fromkeys(texts, string())
    options = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
    return csv.read_csv(content, parse_options=csv.ParseOptions(delimiter=separator), convert_options=options)


_READERS: dict[str, Callable[[Any, bool, str, AbstractSet[str]], Any]] = {
    "polars": _read_with_polars,
    "pandas": _read_with_pandas,
    "pyarrow": _read_with_pyarrow,
}


def _check_names(columns: list[str], left_out: set[str], name: str) -> None:
    """Raise an error for a feature whose header is empty, which pandas writes for an index and reads as "Unnamed"."""
    for number, column in enumerate(columns, 1):
        if column not in left_out and _NAMELESS.fullmatch(column):
            raise ValueError(
                f"{name}: column {number} has no name (an index written by pandas?); name it, or leave it out with"
                f" drop=[{column!r}]."
            )


def _ids(series: nw.Series[Any], name: str, is_text: bool) -> NDArray[Any]:
    """Return query ids, none of which may be missing; those of text files as in `load_svmlight`."""
    _check_present(series, name)
    if not is_text:
        return _to_numpy(series)
    texts = series.to_list()
    if "" in texts:
        raise ValueError(_missing(series, texts.index(""), name))
    return as_ids(texts, "as written")


def as_ids(texts: list[str], kind: str | None) -> NDArray[Any]:
    """Return ids as an int64 array if all are plain integers and `kind` is not "text"; otherwise as text."""
    if kind != "text":
        numbers = {text: int(text) for text in set(texts) if _PLAIN_INTEGER.fullmatch(text)}
        if all(text in numbers and -(2**63) <= numbers[text] < 2**63 for text in texts):
            return np.array([numbers[text] for text in texts], dtype=np.int64)
    ids = np.empty(len(texts), dtype=object)
    ids[:] = texts
    return ids


def _as_numbers(series: nw.Series[Any]) -> nw.Series[Any]:
    """Parse a column that was read as text; return it unchanged if that fails."""
    try:
        return series.cast(nw.Float64)
    except Exception:  # each library has its own exceptions
        return series


def _booleans(series: nw.Series[Any], name: str) -> NDArray[np.bool_]:
    """Return a column of 0 and 1, or of true and false, which programs write in several ways."""
    _check_present(series, name)
    values = [str(value).lower() for value in series.to_list()]
    meaning = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
    for row, value in enumerate(values):
        if value not in meaning:
            raise ValueError(
                f'{name}: column "{series.name}" must hold 1 or 0, true or false, but holds {series[row]!r} in row'
                f" {row + 1} of the data."
            )
    return np.array([meaning[value] for value in values], dtype=np.bool_)


def _to_numpy(series: nw.Series[Any]) -> NDArray[Any]:
    """Return a column as an array; 128-bit integers become Python objects, as NumPy has no such type."""
    if series.dtype not in _WIDE:
        return series.to_numpy()
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def check_numbers(series: nw.Series[Any], name: str, remedy: str, *, missing: bool = False) -> None:
    """Raise an error for values that are not finite numbers; they may be missing if `missing` says so."""
    if not missing:
        _check_present(series, name)
    if series.dtype.is_float():
        values = series.to_numpy()
        finite = ~np.isinf(values) if missing else np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            raise ValueError(f'{name}: column "{series.name}" holds {series[row]} in row {row + 1} of the data.')
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return
    held = series.to_list()
    if missing and all(value is None for value in held):
        return  # a column of no type
    row = next((row for row, value in enumerate(held) if value is not None and not _is_number(value)), 0)
    raise ValueError(
        f'{name}: column "{series.name}" does not hold numbers, but {held[row]!r} in row {row + 1} of the data;'
        f" {remedy}."
    )


def _check_present(series: nw.Series[Any], name: str) -> None:
    missing = series.is_null().to_numpy()
    if missing.any():
        raise ValueError(_missing(series, int(np.argmax(missing)), name))


def _missing(series: nw.Series[Any], row: int, name: str) -> str:
    return f'{name}: column "{series.name}" has missing values, the first in row {row + 1} of the data.'


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
