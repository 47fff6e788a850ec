"""The function that writes a report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from kernelrank._rules import ESTIMATOR, FLAG, NAMES, NONE, PATH, RANDOM_STATE, TEXT
from kernelrank.exceptions import UndefinedQueryWarning
from kernelrank.inspection import LearningCurve
from kernelrank.inspection import learning_curve as compute_learning_curve
from kernelrank.io._files import replace_file
from kernelrank.metrics._influence import check_confidence
from kernelrank.pipelines import QueryPipeline
from kernelrank.report._advice import advise
from kernelrank.report._data import Facts
from kernelrank.report._metrics import measure, order_of_queries
from kernelrank.report._page import Report, make_page
from kernelrank.report._refits import without_search
from kernelrank.report._rows import choose_and_show
from kernelrank.report._subject import Subject, make_subject
from kernelrank.report._trust import estimate_trust


def write(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    path: str | os.PathLike[str],
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    learning_curve: bool = False,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = 0,
) -> None:
    """Write a report on a fitted model and data: one HTML file, which needs no network.

    The page has the data, the model with its certificate, metrics with intervals, the queries with the worst first,
    whether an area under the ROC curve can be trusted, contributions to the difference of two rows that the reader
    picks, and warnings with what to do.

    Parameters
    ----------
    model : fitted estimator or pipeline
        It must give one score per row.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows to judge the model by, preferably not those it was trained on. A data-frame column named "qid" is the query
        of each row.
    y : array-like of shape (n_samples,)
        Utilities: numbers, higher is better.
    path : str or path-like
        File to write. An existing file is replaced when the new one is complete.
    qid : array-like of shape (n_samples,), optional
        Query of each row.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in metrics of pairs.
    feature_names : sequence of str, optional
        Names of the columns. By default those of the data frame or of the fit.
    title : str, optional
        Title of the page.
    learning_curve : bool, default=False
        Whether to include a learning curve, which fits the model anew to parts of the rows, 25 times.
    confidence : float, default=0.95
        Confidence level of the intervals.
    random_state : int, RandomState instance or None, default=0
        For the bootstrap of queries, folds and permutations.

    Raises
    ------
    NoComparablePairsError
        If no two rows of the same query have different utilities.
    TypeError, ValueError
        If an argument is not as described; nothing is written.

    See Also
    --------
    kernelrank.inspection.explain : Explain one difference of scores, also of kernel models.
    kernelrank.model_selection.estimate_auc : Estimate the area for any size of data.

    Notes
    -----
    Takes O(m log m) time beyond that of the scores and one pass over X. The page shows at most 500 queries, 1000 rows
    and 30 features, says what it leaves out, and has less than 2 MB. With two distinct utilities, without queries and
    with up to 500 rows, clones of the model are fitted to the rows, to estimate the area under the ROC curve on new
    ones.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankSVM, report
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RankSVM(alpha=1e-4).fit(X[:300], y[:300])
    >>> path = Path(tempfile.mkdtemp(), "report.html")
    >>> report.write(model, X[300:], y[300:], path=path)
    >>> path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    ESTIMATOR("model", model)
    PATH("path", path)
    (NONE | NAMES)("feature_names", feature_names)
    (NONE | TEXT)("title", title)
    FLAG("learning_curve", learning_curve)
    check_confidence(confidence)
    RANDOM_STATE("random_state", random_state)
    is_seed = isinstance(random_state, int | np.integer)
    seed = int(random_state) if is_seed else int(check_random_state(random_state).randint(2**31))  # type: ignore[arg-type]
    subject = make_subject(model, X, y, qid, sample_weight, feature_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedQueryWarning)  # the page says it
        report = _compose(subject, title, learning_curve, confidence, seed)
    page = make_page(report).encode()
    with replace_file(path, compress=False) as file:
        file.write(page)


def _compose(subject: Subject, title: str | None, with_curve: bool, confidence: float, seed: int) -> Report:
    """Return the contents of a report."""
    measured = measure(subject, confidence, seed)
    facts = Facts(subject)
    order = order_of_queries(subject, measured)
    return Report(
        subject=subject,
        title=title or f"Report on {type(subject.last).__name__}",
        confidence=confidence,
        facts=facts,
        measured=measured,
        advice=advise(subject, facts, measured),
        order=order,
        shown=choose_and_show(subject, order),
        trust=estimate_trust(subject, confidence, seed),
        curve=_learning_curve(subject, seed) if with_curve else None,
    )


def _learning_curve(subject: Subject, seed: int) -> LearningCurve | str:
    """Return the learning curve, or why there is none."""
    if isinstance(subject.model, QueryPipeline) and subject.model.transforms_by_queries:
        return "the model scales features inside each query; call inspection.learning_curve with a column of queries."
    params = None if subject.weight is None else {"sample_weight": subject.weight}
    given: dict[str, Any] = {"qid": subject.queries, "params": params, "random_state": seed, "verbose": 0}
    return compute_learning_curve(without_search(subject.model), subject.X, subject.y, **given)
