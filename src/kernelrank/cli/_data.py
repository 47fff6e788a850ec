"""Data and model files, as the command line names them."""

from __future__ import annotations

import argparse
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from kernelrank.io import load_svmlight, load_table
from kernelrank.io._files import open_for_reading
from kernelrank.persistence import load_model, load_svmlight_model

Kind: TypeAlias = Literal["svmlight", "csv", "parquet"]

_COMPRESSED = (".gz", ".xz", ".bz2")
_TABLES: dict[str, Kind] = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


class Data(NamedTuple):
    """Rows of a file."""

    X: Any
    y: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    weight: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def take(self, rows: NDArray[np.intp]) -> Data:
        """Return some of the rows."""
        X = nw.from_native(self.X, pass_through=True, eager_only=True)
        X = X[rows].to_native() if isinstance(X, nw.DataFrame) else X[rows]
        return Data(X, *(None if each is None else each[rows] for each in self[1:]))

    def utilities(self) -> NDArray[np.float64]:
        """Return y, which must be there."""
        if self.y is None:
            raise ValueError("The utilities are needed: name their column with --target.")
        return self.y


def read_data(args: argparse.Namespace, model: Any = None) -> Data:
    """Read the data file of a command, as the model to apply wants it."""
    kind = _kind(args)
    if kind == "svmlight":
        for option in ("target", "qid", "weight", "drop"):
            if getattr(args, option):
                raise ValueError(f"--{option} names a column of a table; {args.data} is read as svmlight text.")
        data = load_svmlight(args.data, zero_based=args.zero_based, n_jobs=getattr(args, "jobs", None))
        return Data(data.X if model is None else fit_columns(data.X, model.n_features_in_), data.y, data.qid, None)
    if args.zero_based:
        raise ValueError(f"--zero-based is for svmlight text; {args.data} is a table.")
    names = getattr(model, "feature_names_in_", None)
    table = load_table(
        args.data,
        format=kind,
        target=args.target,
        qid=args.qid,
        weight=args.weight,
        drop=args.drop,
        features=None if names is None else list(names),
    )
    return Data(*table)


def _kind(args: argparse.Namespace) -> Kind:
    if args.format != "auto":
        return cast(Kind, args.format)
    suffixes = [suffix.lower() for suffix in PurePath(args.data).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _TABLES.get(suffixes[-1] if suffixes else "", "svmlight")


def fit_columns(X: Any, n_features: int) -> Any:
    """Give sparse rows the features of a model: those it does not know have no weight, those not there are zero."""
    X.resize((X.shape[0], n_features))
    return X


def read_model(path: str) -> Any:
    """Read a model of ours, or of SVM^light and its relatives."""
    with open(path, "rb") as file:
        ours = file.read(2) == b"PK"
    return load_model(path) if ours else load_svmlight_model(path)


def read_scores(path: str, n_rows: int) -> NDArray[np.float64]:
    """Read one score a line."""
    with open_for_reading(path) as file:
        lines = file.read().decode(errors="replace").splitlines()
    scores = np.empty(len(lines))
    for number, line in enumerate(lines):
        try:
            scores[number] = float(line)
        except ValueError:
            raise ValueError(f"{path}:{number + 1}: expected a score, got {line[:40]!r}") from None
    if len(scores) != n_rows:
        raise ValueError(f"{path} has {len(scores)} scores, but there are {n_rows} rows.")
    return scores
