"""Tables as sources of rows for a row store, read in batches by polars."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from kernelrank._validation import check_matrix
from kernelrank.io._files import name_of
from kernelrank.io._row_chunks import Part
from kernelrank.io._row_sources import Queries, Source, check_finite, name_runs, origin_of
from kernelrank.io._tables import QID, file_kind, ids_column, split_table

_BATCH_ELEMENTS = 1 << 20
_NOT_BY_POLARS = (".xz", ".bz2")  # forms of compression
_NO_NUMBER = re.compile(r"could not parse `(.*?)` as dtype `f64` at column '(.*?)'")  # polars says no more


class TableRows(Source):
    """Rows of a CSV or Parquet file with named columns.

    Parameters
    ----------
    path : path
    format : {"auto", "csv", "parquet"}
    dtype : dtype
    target : str
    qid : str or None
    drop : list of str
    features : list of str or None
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str,
        dtype: np.dtype[Any],
        target: str,
        qid: str | None,
        drop: list[str],
        features: list[str] | None,
    ) -> None:
        self._path, self._format, self._dtype, self._given = (
            os.fspath(path),
            format,
            dtype,
            (target, qid, None, drop, features),
        )
        self._name = name_of(path)
        self._queries = Queries(self._name)
        options = {"target": target, "qid": qid, "drop": drop, "features": features, "dtype": dtype.name}
        self.origin = {**origin_of(path), **options}

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        n_rows = 0
        for frame, is_text in self._batches():
            where = f"{self._name}, after row {n_rows:,}" if n_rows else self._name
            if n_rows and not len(frame):
                continue
            table = split_table(frame, is_text, where, *self._given)
            X = nw.from_native(table.X, eager_only=True)
            self.features = list(X.columns)
            matrix = check_matrix(X.to_numpy(), "A row store", dtype=np.float64, ensure_all_finite=False)
            with np.errstate(over="ignore"):
                matrix = np.ascontiguousarray(matrix, self._dtype)
            check_finite(matrix, where, self.features)
            n_rows += len(matrix)
            assert table.y is not None
            yield self._part(matrix, table.y, table.qid, is_text)

    def _part(self, X: Any, y: Any, qid: Any, is_text: bool) -> Part:
        if qid is None:
            return Part(X, y, None, None)
        kind, texts, starts = name_runs(qid, f"{self._name}: the column of query ids")
        self.ids = "as written" if is_text else kind
        return Part(X, y, self._queries.runs(texts, starts, len(y)), texts)

    def _batches(self) -> Iterator[tuple[nw.DataFrame[Any], bool]]:
        if find_spec("polars") is None:
            raise ModuleNotFoundError(
                f'Reading {self._name} in batches requires polars; install it with pip install "kernelrank[tables]".'
            )
        import polars as pl

        is_parquet, separator = file_kind(self._name, self._format)
        suffix = os.path.splitext(self._path)[1].lower()
        if suffix in _NOT_BY_POLARS or (is_parquet and suffix == ".gz"):
            raise ValueError(f"{self._name}: a {suffix} file cannot be read in batches; decompress it first.")
        try:
            if is_parquet:
                table = pl.scan_parquet(self._path, glob=False)
                n_columns = len(table.collect_schema())
            else:
                names = pl.read_csv(self._path, separator=separator, n_rows=0, infer_schema=False).columns
                n_columns, types = len(names), self._types(names, pl)
                table = pl.scan_csv(self._path, separator=separator, schema_overrides=types, glob=False)
            size = max(1, _BATCH_ELEMENTS // max(1, n_columns))
            batches = table.collect_batches(chunk_size=size, maintain_order=True)
            for batch in batches:
                yield nw.from_native(batch, eager_only=True), not is_parquet
        except pl.exceptions.PolarsError as error:
            reason = str(error).strip().partition("\n")[0]
            if found := _NO_NUMBER.match(reason):
                value, column = found.groups()
                raise ValueError(
                    f'{self._name}: column "{column}" does not hold numbers, but {value!r}; encode or drop it. Tables'
                    " that are read in batches are used as they are."
                ) from error
            raise ValueError(f"{self._name}: cannot be read as a table: {reason}") from error

    def _types(self, names: list[str], pl: Any) -> dict[str, Any]:
        """Return numbers as the type of all columns of a text file that are not query ids or left out.

        The type of a column is not inferred, as any row may determine it.
        """
        target, qid, weight, drop, features = self._given
        ids = ids_column(target, qid, weight, drop)
        used = {target, *(names if features is None else features)} - {*drop, ids or QID}
        return {name: pl.Float64 if name in used else pl.String for name in names}
