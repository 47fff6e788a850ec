"""The command ``export``."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from kernelrank.cli._data import check_target, read_data, read_model
from kernelrank.cli._output import print_json, print_record
from kernelrank.export import to_elasticsearch, to_onnx, to_opensearch, to_solr, to_sql
from kernelrank.io._files import open_for_reading, replace_file

_ENGINES = {"elasticsearch": to_elasticsearch, "opensearch": to_opensearch, "solr": to_solr}
# Formats that have an option.
_OPTIONS = {"dtype": ("onnx",), "name": tuple(_ENGINES), "bounds": tuple(_ENGINES), "table": ("sql",)}


def export(args: argparse.Namespace) -> int:
    """Write a model for another system."""
    for option, formats in _OPTIONS.items():
        if getattr(args, option) is not None and args.to not in formats:
            raise ValueError(f"--{option} is for --to {' or '.join(formats)}.")
    check_target(args.output)
    model = read_model(args.model)
    content = _content(model, args)
    with replace_file(args.output) as file:
        file.write(content)
    result = {"model": args.model, "format": args.to, "size": len(content), "file": args.output}
    print_json(result) if args.json else print_record({**result, "size": f"{len(content):,} bytes"})
    return 0


def _content(model: Any, args: argparse.Namespace) -> bytes:
    names = None if args.feature_names is None else _read_names(args.feature_names)
    if args.to == "onnx":
        found = to_onnx(model, names, dtype=args.dtype or "float64")
        return bytes(found.SerializeToString())
    if args.to == "sql":
        return (to_sql(model, names, table=args.table) + "\n").encode()
    name = Path(args.model).stem if args.name is None else args.name
    bounds = None if args.bounds is None else _read_bounds(model, args.bounds)
    body = _ENGINES[args.to](model, name, names, bounds=bounds)
    return (json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _read_names(path: str) -> list[str]:
    with open_for_reading(path) as file:
        try:
            return file.read().decode().splitlines()
        except UnicodeDecodeError:
            raise ValueError(f"{path}: the names must be UTF-8 text.") from None


def _read_bounds(model: Any, path: str) -> Any:
    """Return the features of a data file, whose format is chosen by its name."""
    options = dict.fromkeys(("target", "qid", "weight", "observed"))
    given = argparse.Namespace(data=path, format="auto", zero_based=False, drop=[], **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the model was trained with queries")  # bounds are those of all rows
        return read_data(given, model, target=False).X
