"""The command ``predict``, and files of scores."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelrank.cli._data import check_target, read_data, read_model_of_rows, score_rows
from kernelrank.cli._out_of_core import applied_data, is_stored
from kernelrank.cli._targets import names_of_outputs
from kernelrank.cli._working import Working, on_terminal
from kernelrank.io._files import replace_file

Vector = NDArray[np.float64]


def predict(args: argparse.Namespace) -> int:
    """Write the score of each row."""
    if args.output != "-":
        check_target(args.output)
    model = read_model_of_rows(args.model)
    with warnings.catch_warnings(), Working(on_terminal(args), f"reading {args.data}"):
        warnings.filterwarnings("ignore", "the model was trained with queries")  # scores do not need queries
        data = applied_data(args, model, labels=False) if is_stored(args) else read_data(args, model, target=False)
    scores = score_rows(model, data.X, data.qid)
    write_scores(args.output, scores, names_of_outputs(model, scores), as_json=args.json)
    return 0


def write_scores(target: str, scores: Vector, names: Sequence[str] = (), as_json: bool = False) -> None:
    """Write one score per line with full precision; of several outputs, CSV with the names of their columns."""
    if as_json:
        text = json.dumps({"scores": scores.tolist()} | ({"targets": list(names)} if names else {})) + "\n"
    elif names:
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(map(repr, row) for row in scores.tolist())
        text = lines.getvalue()
    else:
        text = "".join(f"{score!r}\n" for score in scores.tolist())
    if target == "-":
        sys.stdout.write(text)
        return
    with replace_file(target) as file:
        file.write(text.encode())
