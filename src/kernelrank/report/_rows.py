"""Rows that a report shows and compares: those of the worst queries, or the most misplaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import to_host
from kernelrank._columns import as_frame
from kernelrank._html import as_json, shorten
from kernelrank.inspection._parts import parts_of_rows
from kernelrank.pipelines import QueryPipeline
from kernelrank.report._subject import LONGEST_NAME, Subject

MOST_ROWS, MOST_OF_A_QUERY, MOST_OF_A_LIST = 1000, 60, 300
MOST_FEATURES, MOST_QUERIES = 30, 500
_LONGEST_TEXT = 60
_LINEAR = 0.999  # correlation
_ROOM = 1_000_000  # characters of values
_REST = "other features, together"


@dataclass(frozen=True)
class Shown:
    """Rows of a report with what they contribute to their scores.

    Attributes
    ----------
    rows : ndarray
        Their numbers.
    features : list of str
        Names of the columns, the largest spread of contributions first.
    parts : ndarray of shape (n_rows, n_features) or None
        Contribution of each column to the score; None if the model has no such sum.
    values : list of list
    spread : ndarray
        Standard deviation of the contributions of each column.
    reason : str or None
        Why there are no contributions.
    """

    rows: NDArray[np.intp]
    features: list[str]
    parts: NDArray[np.float64] | None
    values: list[list[Any]]
    spread: NDArray[np.float64]
    reason: str | None


def choose_and_show(subject: Subject, order: NDArray[np.intp]) -> Shown:
    """Return the rows of a report: fewer of them, if their values take much room."""
    most = MOST_ROWS
    while True:
        shown = show_rows(subject, choose_rows(subject, order, most))
        if len(as_json(shown.values)) <= _ROOM or most <= MOST_OF_A_QUERY:
            return shown
        most //= 2


def choose_rows(subject: Subject, order: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return rows of the first queries of an order, by their ranks; without queries, the most misplaced rows."""
    if subject.ids is None:
        worst = np.lexsort((subject.ranks, -subject.wrong))[: min(most, MOST_OF_A_LIST)]
        return worst[np.argsort(subject.ranks[worst], kind="stable")]
    by_query = np.lexsort((subject.ranks, subject.codes))
    ends = np.cumsum(subject.sizes)
    chosen: list[NDArray[np.intp]] = []
    left = most
    for code in order[:MOST_QUERIES].tolist():
        rows = by_query[ends[code] - subject.sizes[code] : ends[code]]
        if len(rows) > MOST_OF_A_QUERY:
            worst = np.argsort(-subject.wrong[rows], kind="stable")[:MOST_OF_A_QUERY]
            rows = rows[np.sort(worst)]
        if len(rows) > left:
            break
        chosen.append(rows)
        left -= len(rows)
    return np.concatenate(chosen) if chosen else np.empty(0, np.intp)


def show_rows(subject: Subject, rows: NDArray[np.intp]) -> Shown:
    """Return the values and contributions of some rows."""
    sample = _take(subject.X, rows)
    try:
        if isinstance(subject.model, QueryPipeline) and subject.model.transforms_by_queries:
            raise TypeError("the model scales features inside each query, so that other rows matter as well")
        names, parts = parts_of_rows(subject.model, sample, subject.names or None)
    except (TypeError, ValueError) as error:
        return _without_parts(subject, sample, rows, str(error))
    differences = subject.scores[rows] - parts.sum(axis=1)
    size = np.abs(parts).sum(axis=1).max() + np.abs(subject.scores[rows]).max()
    if np.ptp(differences) > 1e-6 * size:  # an intercept is the same for all rows
        reason = f"the scores of {type(subject.last).__name__} are not sums over features"
        return _without_parts(subject, sample, rows, reason)
    spread = parts.std(axis=0)
    kept = np.argsort(-spread, kind="stable")[:MOST_FEATURES]
    labels = [names[k] for k in kept]
    values = _values(sample, subject.names, labels)
    shown, spread_shown = parts[:, kept], spread[kept]
    if len(kept) < len(names):
        rest = np.delete(parts, kept, axis=1).sum(axis=1)
        shown, spread_shown = np.column_stack([shown, rest]), np.append(spread_shown, rest.std())
        labels, values = [*labels, _REST], [[*row, None] for row in values]
    return Shown(rows, [shorten(name, LONGEST_NAME) for name in labels], shown, values, spread_shown, None)


def direction(shown: Shown, feature: int) -> float | None:
    """Return 1 if scores rise with the values of a feature, -1 if they fall; None if neither, as for a category."""
    assert shown.parts is not None
    values = [row[feature] for row in shown.values]
    if not all(isinstance(each, int | float) for each in values):
        return None
    x, parts = np.array(values, dtype=np.float64), shown.parts[:, feature]
    x, parts = x - x.mean(), parts - parts.mean()
    product, sizes = float(x @ parts), float(np.linalg.norm(x) * np.linalg.norm(parts))
    return float(np.sign(product)) if abs(product) > _LINEAR * sizes > 0 else None


def _without_parts(subject: Subject, sample: Any, rows: NDArray[np.intp], reason: str) -> Shown:
    """Return rows without contributions, and why there are none."""
    names = subject.names[:MOST_FEATURES]
    labels = [shorten(name, LONGEST_NAME) for name in names]
    return Shown(rows, labels, None, _values(sample, subject.names, names), np.zeros(len(names)), reason)


def _take(X: Any, rows: NDArray[np.intp]) -> Any:
    frame = as_frame(X)
    if frame is not None:
        return frame[rows.tolist(), :].to_native()
    if isinstance(X, list):
        return [X[k] for k in rows.tolist()]
    return X.tocsr()[rows] if sp.issparse(X) else np.asarray(to_host(X))[rows]


def _values(sample: Any, names: list[str], wanted: list[str]) -> list[list[Any]]:
    """Return the values of columns of rows; None for columns that are made of several."""
    n_rows = len(sample) if isinstance(sample, list) else sample.shape[0]
    places = {name: k for k, name in enumerate(names)}
    frame = as_frame(sample)
    columns: list[list[Any]] = []
    for name in wanted:
        if name not in places or isinstance(sample, list):
            columns.append([None] * n_rows)
        elif frame is not None:
            columns.append([_plain(each) for each in frame[frame.columns[places[name]]].to_list()])
        else:
            part = sample[:, [places[name]]]
            dense = part.toarray() if sp.issparse(part) else part
            columns.append([_plain(each) for each in np.asarray(dense).reshape(-1).tolist()])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(n_rows)]


def _plain(value: Any) -> Any:
    """Return a number with few digits, or a short text."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, bool | int | np.integer):
        number = int(value)
        return str(value) if isinstance(value, bool) or abs(number) > 2**53 else number
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    return shorten(str(value), _LONGEST_TEXT)
