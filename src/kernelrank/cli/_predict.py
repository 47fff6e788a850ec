"""The command ``predict``, and files of scores."""

from __future__ import annotations

import argparse
import json
import sys
import warnings

import numpy as np
from numpy.typing import NDArray

from kernelrank.cli._data import check_target, read_data, read_model, score_rows
from kernelrank.cli._out_of_core import applied_data, is_stored
from kernelrank.io._files import replace_file

Vector = NDArray[np.float64]


def predict(args: argparse.Namespace) -> int:
    """Write the score of each row."""
    if args.output != "-":
        check_target(args.output)
    model = read_model(args.model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the model was trained with queries")  # scores do not need queries
        data = applied_data(args, model, labels=False) if is_stored(args) else read_data(args, model, target=False)
    write_scores(args.output, score_rows(model, data.X), as_json=args.json)
    return 0


def write_scores(target: str, scores: Vector, as_json: bool = False) -> None:
    """Write one score per line with full precision."""
    text = json.dumps({"scores": scores.tolist()}) + "\n" if as_json else "".join(f"{s!r}\n" for s in scores.tolist())
    if target == "-":
        sys.stdout.write(text)
        return
    with replace_file(target) as file:
        file.write(text.encode())
