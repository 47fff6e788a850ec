"""Model and data of a report, checked, with what all parts of the report need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._html import shorten
from kernelrank._query_ids import as_id_array
from kernelrank._row_scores import check_scores, score_method, score_rows
from kernelrank._validation import CheckedRows, check_rows, separate_qid
from kernelrank.estimators._ranker import rank_in_queries
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.features import KroneckerRows
from kernelrank.inspection._explain import unwrap
from kernelrank.inspection._rows import column_names
from kernelrank.io import RowStore
from kernelrank.pairs import UtilityPairs
from kernelrank.pipelines import QueryPipeline

Floats = NDArray[np.float64]

LONGEST_NAME = 100


@dataclass(frozen=True)
class Subject:
    """Fitted model, rows, their utilities, queries and scores."""

    model: Any
    X: Any
    y: Floats
    codes: NDArray[np.int32]
    ids: NDArray[Any] | None  # of the queries, in the order of their first rows
    weight: Floats | None
    scores: Floats
    names: list[str]
    pairs: UtilityPairs  # without weights

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def queries(self) -> NDArray[np.int32] | None:
        """Query of each row, None if all rows are one list."""
        return None if self.ids is None else self.codes

    @property
    def n_queries(self) -> int:
        """Number of queries, 1 without queries."""
        return 1 if self.ids is None else len(self.ids)

    @cached_property
    def last(self) -> Any:
        """Estimator at the end of pipelines and searches."""
        return unwrap(self.model)[1]

    @cached_property
    def steps(self) -> list[tuple[str, Any]]:
        """Transformers before that estimator."""
        return unwrap(self.model)[0]

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Rank of each row in its query."""
        return rank_in_queries(self.scores, self.codes)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Number of rows of each query."""
        return np.bincount(self.codes, minlength=self.n_queries)

    @cached_property
    def levels(self) -> Floats:
        """Distinct utilities."""
        return np.unique(self.y)

    @cached_property
    def wrong(self) -> NDArray[np.int64]:
        """Number of comparable pairs of each row whose scores have the opposite order."""
        found = self.pairs.count(self.scores, margin=0.0)
        return np.asarray(found.c + found.d)

    @cached_property
    def n_wrong(self) -> int:
        """Number of comparable pairs whose scores have the opposite order."""
        return int(self.wrong.sum()) // 2

    @cached_property
    def n_undecided(self) -> int:
        """Number of comparable pairs with equal scores."""
        n_right = int(self.pairs.count_totals(-self.scores, margin=0.0).sum())
        return int(self.pairs.n_pairs) - self.n_wrong - n_right

    def name_query(self, code: int) -> str:
        """Return the id of a query as text."""
        return "all rows" if self.ids is None else shorten(str(self.ids[code]), LONGEST_NAME)


def make_subject(model: Any, X: Any, y: Any, qid: Any, sample_weight: Any, feature_names: Any) -> Subject:
    """Check model and data, and score the rows."""
    if isinstance(X, RowStore | KroneckerRows):
        raise TypeError(f"X must be a matrix or data frame, got {type(X).__name__}: a report shows single rows.")
    X, qid = separate_qid(X, qid)
    scores = _score(model, X, qid)
    rows = check_rows(y, qid, sample_weight, len(scores))
    if rows.observed is not None:
        raise ValueError("y must be observed for all rows: a report has no part for censored utilities yet.")
    pairs = UtilityPairs.of_checked(CheckedRows(rows.y, rows.queries, rows.n_queries, None, None))
    if pairs.n_pairs == 0:
        where = "all y are equal" if qid is None else "y is the same for all rows of each query"
        raise NoComparablePairsError(f"There is no pair of rows to compare: {where}.")
    codes = np.zeros(len(scores), dtype=np.int32) if rows.queries is None else rows.queries
    ids = None if qid is None else as_id_array(qid).reshape(-1)[np.unique(codes, return_index=True)[1]]
    names = [] if isinstance(X, list) else column_names(X, model, feature_names)
    return Subject(model, X, rows.y, codes, ids, rows.weights, scores, names, pairs)


def _score(model: Any, X: Any, qid: Any) -> Floats:
    if isinstance(model, QueryPipeline):
        score: Any = score_method(model)
        return check_scores(np.asarray(score(X, qid=qid), dtype=np.float64), "model")
    return score_rows(model, X, "model")
