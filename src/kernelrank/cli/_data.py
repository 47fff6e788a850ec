"""Reading and checking of data files and model files for the commands."""

from __future__ import annotations

import argparse
import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from kernelrank._row_scores import score_method
from kernelrank.cli._preprocessing import Preparation, check_inputs, prepare_rows, prepare_table
from kernelrank.cli._targets import separate_targets
from kernelrank.exceptions import DataFormatError, ModelFormatError
from kernelrank.io import load_svmlight, load_table
from kernelrank.io._files import COMPRESSED
from kernelrank.io._tables import QID, column_names
from kernelrank.kernels import AllPaths
from kernelrank.persistence import load_model
from kernelrank.persistence._svmlight_model import read_svmlight_model
from kernelrank.pipelines import QueryPipeline
from kernelrank.pipelines._inputs import inputs_of, last_step

Kind: TypeAlias = Literal["svmlight", "csv", "parquet"]

_OF_ZIP, _OF_SVMLIGHT = b"PK", b"SVM-light"
_MOST_NAMES = 12
_DENSE_AT_ONCE = 1 << 24  # elements per block of dense rows
_TABLES: dict[str, Kind] = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


class Data(NamedTuple):
    """Contents of a data file."""

    X: Any
    y: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    observed: NDArray[np.bool_] | None = None
    preparation: Preparation | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0]) if self.y is None else len(self.y)  # an empty frame has no number of rows

    def utilities(self) -> NDArray[np.float64]:
        """Return y, or raise an error if there is none."""
        if self.y is None:
            raise ValueError("Utilities are required; set their column with --target.")
        return self.y


def read_data(args: argparse.Namespace, model: Any = None, *, features: bool = True, target: bool = True) -> Data:
    """Read the data file of a command, in the form that the model to apply requires.

    `features` and `target` state whether the command needs them. Commands with the option --scale get features that are
    prepared for a ranker.
    """
    if os.path.isdir(args.data):
        raise ValueError(f"{args.data} is a folder; of rows in a folder, only train, predict and evaluate can be used.")
    kind = kind_of(args)
    data = _read_svmlight(args, model) if kind == "svmlight" else _read_table(args, kind, model, features, target)
    if data.n_rows == 0:
        raise ValueError(f"{args.data}: there are no rows.")
    if data.qid is None and isinstance(model, QueryPipeline) and model.transforms_by_queries:
        raise ValueError(
            f"{args.data} has no queries, but the model scales features inside each query; set their column with --qid."
        )
    if model is not None and data.qid is None and getattr(last_step(model), "_fitted_with_queries", False):
        remedy = "" if kind == "svmlight" else "; set their column with --qid"
        warnings.warn(
            f"the model was trained with queries, but {args.data} has none: all rows are treated as one query{remedy}",
            stacklevel=1,
        )
    return data


def _read_svmlight(args: argparse.Namespace, model: Any) -> Data:
    for option in ("target", "qid", "weight", "observed", "drop", "keep", "categorical"):
        if getattr(args, option, None):
            raise ValueError(f"--{option} applies to tables, but {args.data} is read as svmlight text.")
    if hasattr(model, "feature_names_in_"):
        raise ValueError(
            f"The model was trained with named features ({shown_names(model.feature_names_in_)}), but {args.data} is"
            " read as svmlight text, which has no feature names."
        )
    trained = getattr(last_step(model), "zero_based_", None)
    if trained is not None and args.zero_based and not trained:
        raise ValueError("--zero-based: the model was trained with features that count from 1.")
    with explain_index():
        rows = load_svmlight(args.data, zero_based=bool(trained or args.zero_based), n_jobs=getattr(args, "jobs", None))
    X = rows.X
    if not np.isfinite(X.data).all():
        place = int(np.argmin(np.isfinite(X.data)))
        row = int(np.searchsorted(X.indptr, place, side="right"))
        raise ValueError(f"{args.data}: row {row} has a value of {X.data[place]}; all values must be finite.")
    if not np.isfinite(rows.y).all():
        row = int(np.argmin(np.isfinite(rows.y)))
        raise ValueError(f"{args.data}: row {row + 1} has a target of {rows.y[row]}; all targets must be finite.")
    if model is not None:
        beyond = X.shape[1] - model.n_features_in_
        if beyond > 0:
            warnings.warn(f"{args.data} has {beyond} more features than the model; they are ignored", stacklevel=1)
        X = fit_columns(X, model.n_features_in_)
    elif X.shape[0] and hasattr(args, "scale"):
        X, preparation = prepare_rows(X, rows.qid, args)
        return Data(X, rows.y, rows.qid, None, preparation=preparation)
    return Data(X, rows.y, rows.qid, None)


@contextmanager
def explain_index() -> Iterator[None]:
    """Add the option to an error about a feature 0."""
    try:
        yield
    except DataFormatError as error:
        hint = str(error).replace(
            "index 0 although zero_based=False", "index 0 (use --zero-based if features count from 0)"
        )
        raise DataFormatError(hint) from None


def _read_table(args: argparse.Namespace, kind: Kind, model: Any, features: bool, target: bool) -> Data:
    if args.zero_based:
        raise ValueError(f"--zero-based applies to svmlight text, but {args.data} is a table.")
    if target and args.target is None:
        columns = shown_names(column_names(args.data, kind))
        raise ValueError(
            f"{args.data}: utilities are required; set their column with --target. The columns are {columns}."
        )
    prepared = model is None and features and hasattr(args, "scale")
    inputs = inputs_of(model)
    others = getattr(args, "other_targets", [])
    wanted = _features_to_train(args) if prepared else None if inputs is None else inputs.names
    texts = args.categorical if prepared else () if inputs is None else inputs.texts
    is_pipeline = isinstance(model, Pipeline)
    data = Data(
        *load_table(
            args.data,
            format=cast(Literal["csv", "parquet"], kind),
            target=args.target,
            qid=args.qid,
            weight=args.weight,
            observed=args.observed,
            drop=args.drop,
            features=others if not features else None if wanted is None else [*wanted, *others],
            numeric=not (prepared or is_pipeline),
            text=texts,
        )
    )
    X, y = separate_targets(data.X, data.y, [args.target, *others], args.data)
    if prepared and QID in nw.from_native(X, eager_only=True).columns:
        raise ValueError(
            f'{args.data}: column "{QID}" holds queries wherever there is no --qid, so it cannot be a feature;'
            f" leave it out with --drop {QID}, or rename it."
        )
    if prepared and data.n_rows:
        X, preparation = prepare_table(X, data.qid, args)
        return data._replace(X=X, y=y, preparation=preparation)
    if is_pipeline and inputs is not None:
        X = check_inputs(X, inputs, args.data)
    return data._replace(X=X, y=y)


def _features_to_train(args: argparse.Namespace) -> list[str] | None:
    """Return the columns that --keep chooses; None for all that are left."""
    used = {args.target, args.qid, args.weight, args.observed, *args.other_targets, *getattr(args, "other_columns", ())}
    if both := [name for name in args.keep if name in args.drop and name not in used]:
        raise ValueError(f'The column "{both[0]}" is named by --keep and by --drop.')
    for option in ("keep", "categorical"):
        for name in getattr(args, option):
            if name in used or name in args.drop:
                raise ValueError(f'--{option}: the column "{name}" is used as something else.')
    return list(dict.fromkeys(args.keep)) or None


def kind_of(args: argparse.Namespace) -> Kind:
    """Return the format of the data file."""
    if args.format != "auto":
        return cast(Kind, args.format)
    suffixes = [suffix.lower() for suffix in PurePath(args.data).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return _TABLES.get(suffixes[-1] if suffixes else "", "svmlight")


def shown_names(names: Any) -> str:
    """Format the first names of many."""
    few = [str(name) for name in names[:_MOST_NAMES]]
    return ", ".join(few) + (", ..." if len(names) > _MOST_NAMES else "")


def names_of(X: Any) -> str | None:
    """Format the names of features; None if they have no names."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return shown_names(frame.columns) if isinstance(frame, nw.DataFrame) else None


def fit_columns(X: Any, n_features: int) -> Any:
    """Cut or pad sparse rows to the features of a model; features unknown to the model are dropped."""
    X.resize((X.shape[0], n_features))
    return X


def read_model(path: str, widest: int = 0) -> Any:
    """Read a model of kernelrank, SVM^light or SVM^rank; `widest` is the known number of features of the data."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path}: a model must be a regular file.")
    with open(path, "rb") as file:
        beginning = file.read(len(_OF_SVMLIGHT))
    if beginning.startswith(_OF_ZIP):
        return load_model(path)
    if beginning == _OF_SVMLIGHT:
        return read_svmlight_model(path, widest=widest)
    raise ModelFormatError(f"{path}: neither a model of kernelrank nor one of SVM^light or SVM^rank.")


def read_model_of_rows(path: str) -> Any:
    """Read a model that scores rows of numbers, or of a table."""
    model = read_model(path)
    if isinstance(model, Pipeline) and isinstance(model[0], AllPaths):
        raise ValueError(f"{path}: the model is one of sentences; apply it with kernelrank relations --model.")
    return model


def score_rows(model: Any, X: Any, qid: Any = None) -> NDArray[np.float64]:
    """Compute scores of rows; a kernel model with dense rows gets dense rows, one block at a time."""
    score: Any = score_method(model)
    if isinstance(model, QueryPipeline):
        return np.asarray(score(X, qid=qid))
    ranker = getattr(model, "ranker_", model)
    compares_dense = hasattr(ranker, "dual_coef_") and not sp.issparse(getattr(ranker, "basis_", None))
    if not (compares_dense and sp.issparse(X)):
        scores: NDArray[np.float64] = score(X)
        return scores
    size = max(1, _DENSE_AT_ONCE // max(1, X.shape[1]))
    blocks = (X[start : start + size].toarray() for start in range(0, X.shape[0], size))
    return np.concatenate([score(block) for block in blocks])


def check_target(path: str | None) -> None:
    """Fail early if an output file cannot be written."""
    if path is None:
        return
    if path in ("", "-"):
        raise ValueError(f"-o {path!r}: must be the name of a file.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
