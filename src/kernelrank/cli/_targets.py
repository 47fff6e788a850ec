"""Several targets: columns of utilities that one model predicts."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from kernelrank.io._files import open_for_reading
from kernelrank.io._tables import check_numbers
from kernelrank.pipelines._inputs import last_step


def separate_targets(
    X: Any, y: NDArray[np.float64] | None, names: list[str], path: str
) -> tuple[Any, NDArray[np.float64] | None]:
    """Move the columns of further targets from the features to the utilities, which become a matrix."""
    if len(names) < 2 or y is None:
        return X, y
    if len(set(names)) < len(names):
        raise ValueError(f"--target names a column twice: {', '.join(names)}.")
    frame: Any = nw.from_native(X, eager_only=True)
    columns = [y]
    for name in names[1:]:
        if name not in frame.columns:
            raise ValueError(f'{path}: there is no column "{name}" that could be a further target.')
        check_numbers(frame[name], path, "encode it")
        columns.append(np.asarray(frame[name].to_numpy(), dtype=np.float64))
    return frame.drop(*names[1:]).to_native(), np.column_stack(columns)


def names_of_targets(args: argparse.Namespace) -> list[str]:
    """Return the columns of the utilities, if there are several."""
    return [args.target, *args.other_targets] if getattr(args, "other_targets", None) else []


def names_of_outputs(model: Any, scores: NDArray[np.float64]) -> list[str]:
    """Return the names of the targets that a model predicts, if there are several."""
    if scores.ndim == 1:
        return []
    model = last_step(model)
    numbered = [f"target_{number}" for number in range(1, scores.shape[1] + 1)]
    return list(map(str, getattr(model, "target_names_", numbered)))


def take_targets(model: Any, args: argparse.Namespace, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of a model that belong to the targets of a command, by name if the model has names."""
    names, model = names_of_targets(args), last_step(model)
    if scores.ndim == 1:
        if names:
            raise ValueError(f"The model predicts one target, but --target names {', '.join(names)}.")
        return scores
    known, names = names_of_outputs(model, scores), names or [args.target]
    if hasattr(model, "target_names_") and not set(names) <= set(known):
        raise ValueError(
            f"The model predicts {', '.join(known)}: --target must name one or several of them, got"
            f" {', '.join(map(str, names))}."
        )
    if hasattr(model, "target_names_"):
        found = scores[:, [known.index(name) for name in names]]
        return found[:, 0] if len(names) == 1 else found
    if len(names) != len(known):
        raise ValueError(
            f"The model predicts {len(known)} targets: --target must name as many columns, in the order of training."
        )
    return scores


def read_scores(path: str, names: list[str], n_rows: int, data: str) -> NDArray[np.float64]:
    """Read scores of the rows of a data file, as ``predict`` writes them.

    They are one per line or, of several targets, CSV with the names in the first line. `names` are those of the targets
    of the command; CSV may hold others as well.
    """
    with open_for_reading(path) as file:
        text = file.read().decode(errors="replace")
    _, heading = next(read_lines_of_csv(path, text), (1, []))
    if len(names) > 1 or (len(heading) > 1 and set(names) & set(heading)):
        scores = _read_columns(path, text, names)
    else:
        scores = _read_lines(path, text)
    if len(scores) != n_rows:
        raise ValueError(f"{path} has {len(scores)} scores, but {data} has {n_rows} rows.")
    return scores


def _read_lines(path: str, text: str) -> NDArray[np.float64]:
    lines = text.splitlines()
    scores = np.empty(len(lines))
    for number, line in enumerate(lines):
        try:
            scores[number] = float(line)
        except ValueError:
            raise ValueError(f"{path}:{number + 1}: expected a score, got {line[:40]!r}") from None
    return scores


def _read_columns(path: str, text: str, names: list[str]) -> NDArray[np.float64]:
    lines = read_lines_of_csv(path, text)
    _, heading = next(lines, (1, []))
    if not set(names) <= set(heading):
        raise ValueError(f"{path}:1: expected the names of the columns, with {', '.join(names)}, got {heading}.")
    places, rows = [heading.index(name) for name in names], []
    for number, fields in lines:
        try:
            rows.append([float(fields[place]) for place in places])
        except (ValueError, IndexError):
            raise ValueError(f"{path}:{number}: expected {len(heading)} scores, got {fields}.") from None
    scores = np.array(rows).reshape(-1, len(names))
    return scores[:, 0] if len(names) == 1 else scores


def read_lines_of_csv(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line of CSV."""
    reader = csv.reader(io.StringIO(text))
    try:
        for fields in reader:
            yield reader.line_num, fields
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}.") from None
