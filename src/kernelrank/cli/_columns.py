"""Columns of tables that are ids or groups of rows."""

from __future__ import annotations

import argparse
from typing import Any, cast

from numpy.typing import NDArray

from kernelrank.cli._data import kind_of
from kernelrank.io import load_table


def read_column(args: argparse.Namespace, option: str) -> NDArray[Any]:
    """Return the column of ids that an option names."""
    kind, column = kind_of(args), getattr(args, option)
    if kind == "svmlight":
        raise ValueError(f"--{option} applies to tables, but {args.data} is read as svmlight text.")
    if args.data == "-":
        raise ValueError(f"--{option} needs a file: standard input cannot be read twice.")
    found = load_table(args.data, format=cast(Any, kind), qid=column, features=[]).qid
    assert found is not None
    return found


def without_columns(args: argparse.Namespace, *columns: str) -> argparse.Namespace:
    """Return the arguments of a command, with further columns that are not features."""
    return argparse.Namespace(**{**vars(args), "drop": [*args.drop, *columns], "other_columns": columns})
