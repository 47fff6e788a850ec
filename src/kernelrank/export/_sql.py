"""Linear models as SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import isinf, isnan
from typing import Any

import numpy as np

from kernelrank._rules import NONE, TEXT, show
from kernelrank.export._model import describe
from kernelrank.export._terms import Levels, Slope, fold

_SUMMED_AT_ONCE = 50  # databases limit the depth of an expression, as SQLite does to 1000


def to_sql(model: Any, feature_names: Any = None, *, table: str | None = None) -> str:
    r"""Write a linear model as an SQL expression, with the preprocessing of its pipeline.

    The expression is a sum of one term per column: ``weight * (column - centre)`` for a number, and a ``CASE`` for a
    category or a column with missing values, with scalers, imputers and encoders folded into the weights. It has
    comparisons, sums and products only, of standard SQL: identifiers are in double quotes, text is in single quotes,
    and numbers are approximate ones (``2.5E0``) with all digits of a float64.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted :class:`~kernelrank.RankSVM`, :class:`~kernelrank.RankRLS`, :class:`~kernelrank.RLS`, one of their
        ``...CV``, :class:`~kernelrank.GreedyRLS` or :class:`~kernelrank.GreedyRankRLS` with the linear kernel and one
        output, or a Pipeline that ends in one. Its steps may be scikit-learn's StandardScaler, MinMaxScaler,
        MaxAbsScaler, RobustScaler, SimpleImputer, OneHotEncoder, OrdinalEncoder, ColumnTransformer, Pipeline, and
        selectors of features.
    feature_names : list of str, optional
        Column names, one for each column that the model was fitted to. By default those of the data frame, or ``x0``,
        ``x1``, ... as in scikit-learn.
    table : str, optional
        Name of a table. The result is then a query of all its columns and the score, instead of an expression.

    Returns
    -------
    str
        The expression, or the query if `table` is given.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model, its kernel or a step of the pipeline has no such expression; the error names it.
    ValueError
        If the model has several outputs, or if `feature_names` are too few, too many or repeated.

    See Also
    --------
    kernelrank.export.to_onnx : Export kernels as well.

    Notes
    -----
    Columns whose weight is 0 are left out. The score is NULL where ``predict`` raises an error because of another one:
    where a number is missing and there is no imputer, and for a category that the encoder refuses. Databases that
    compute in float64 give the scores of ``predict`` up to the order of summation. MySQL reads identifiers and text in
    this way with ``SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'``.

    Examples
    --------
    >>> import sqlite3
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.export import to_sql
    >>> X = [[1.0, 30.0], [2.0, 10.0], [3.0, 20.0]]
    >>> model = make_pipeline(StandardScaler(), RankSVM()).fit(X, [0, 1, 2])
    >>> query = to_sql(model, ["stars", "price"], table="hotels")
    >>> with sqlite3.connect(":memory:") as database:
    ...     _ = database.execute("CREATE TABLE hotels (stars REAL, price REAL)")
    ...     _ = database.executemany("INSERT INTO hotels VALUES (?, ?)", X)
    ...     scores = [row[-1] for row in database.execute(query)]
    >>> bool(abs(scores - model.predict(X)).max() < 1e-15)
    True
    """
    (TEXT | NONE)("table", table)
    form = describe(model, "SQL", feature_names)
    folded = fold(form, "SQL")
    names = form.column_names
    terms = [_term(_identifier(names[term.column], "a column name"), term) for term in folded.terms]
    expression = _sum([_number(folded.offset), *terms] if folded.offset or not terms else terms)
    if table is None:
        return expression
    return f'SELECT *,\n{expression}\nAS "score" FROM {_identifier(table, "table")}'


def _term(name: str, term: Slope | Levels) -> str:
    if isinstance(term, Levels):
        return _case(name, term)
    shifted = f"({name} - {_number(term.centre)})" if term.centre else name
    text = f"{_number(term.weight / term.scale)} * {shifted}"
    if term.present:
        text = f"{_number(term.present)} + {text}"
    if isnan(term.missing):
        return f"({text})" if term.present else text
    return f"CASE WHEN {name} IS NULL THEN {_number(term.missing)} ELSE {text} END"


def _case(name: str, term: Levels) -> str:
    """Return a CASE with one branch per value, so that infrequent categories share one."""
    cases: dict[str, list[str]] = defaultdict(list)
    for category, value in zip(term.known, term.values.tolist(), strict=True):
        if value != term.unknown:
            cases[_number(value)].append(_literal(category))
    parts = [f"WHEN {name} IS NULL THEN {_number(term.missing)}"]
    parts += [f"WHEN {name} IN ({', '.join(categories)}) THEN {value}" for value, categories in cases.items()]
    return f"CASE {' '.join(parts)} ELSE {_number(term.unknown)} END"


def _sum(terms: Sequence[str]) -> str:
    """Add terms in groups, so that the expression of many is not deep."""
    while len(terms) > _SUMMED_AT_ONCE:
        starts = range(0, len(terms), _SUMMED_AT_ONCE)
        terms = [f"({_joined(terms[start : start + _SUMMED_AT_ONCE])})" for start in starts]
    return f"({_joined(terms)})"


def _joined(terms: Sequence[str]) -> str:
    return "\n+ ".join(terms)


def _number(value: float) -> str:
    """Return a literal with all digits; with an exponent, it is a floating-point number in standard SQL."""
    if isnan(value):
        return "NULL"
    if isinf(value):
        raise ValueError("model cannot be exported to SQL: its numbers exceed float64. Scale the features.")
    text = repr(float(value)).upper()
    text = text if "E" in text else f"{text}E0"
    return f"({text})" if value < 0 else text


def _literal(category: Any) -> str:
    if isinstance(category, str):
        _require_text(category, "a category", may_be_empty=True)
        return "'" + category.replace("'", "''") + "'"
    if isinstance(category, bool | np.bool_):
        return "TRUE" if category else "FALSE"
    return _number(float(category))


def _identifier(name: str, what: str) -> str:
    _require_text(name, what)
    return '"' + name.replace('"', '""') + '"'


def _require_text(text: str, what: str, *, may_be_empty: bool = False) -> None:
    if "\0" in text or not (text or may_be_empty):
        raise ValueError(f"{what} cannot be written in SQL: it is empty or has a NUL character, got {show(text)}.")
