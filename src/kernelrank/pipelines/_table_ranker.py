"""Rankers for tables: preprocessing of columns by scikit-learn's transformers, chosen from a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from kernelrank._columns import as_frame
from kernelrank._rules import COUNT, ESTIMATOR, NAMES, NONE, choice
from kernelrank._validation import QID_COLUMN, warn_of_query_columns
from kernelrank.estimators import RankSVM
from kernelrank.pipelines._columns import Columns, sort_columns
from kernelrank.pipelines._query_pipeline import QueryPipeline, RankingPipeline
from kernelrank.pipelines._query_scaler import QueryScaler

Scale = Literal["standard", "none", "query"]

_LARGE = 10_000_000  # elements from which features may be a sparse matrix
SCALE = choice("standard", "none", "query")
MIN_FREQUENCY = 5


def make_table_ranker(
    frame: Any,
    ranker: Any = None,
    *,
    scale: Scale = "standard",
    categorical: Iterable[str] = (),
    drop: Iterable[str] = (),
    keep: Iterable[str] | None = None,
    min_frequency: int = MIN_FREQUENCY,
) -> RankingPipeline:
    """Make a pipeline that prepares the columns of a table for a ranker, by looking at the columns.

    It is an unfitted pipeline of scikit-learn's transformers with the ranker as the last step. Its first step, a
    ``ColumnTransformer``, lists the columns by name:

    - **numbers**: a missing value becomes the mean of the column, and 1 in a further feature that says where values
      are missing (``SimpleImputer``); then mean 0 and variance 1 (``StandardScaler``), if ``scale="standard"``;
    - **text, categories and booleans**: one feature per value (``OneHotEncoder``). Values of fewer than
      `min_frequency` rows share one feature. Missing is a value, too;
    - **left out**: columns where all values are equal, and text of which no value occurs in `min_frequency` rows, such
      as names.

    New rows are matched by column name; their order, and further columns, do not matter. A category that was not seen
    in ``fit`` is treated as a rare one; if the column had no rare ones, all of its features are 0. A number that is
    missing where none was in ``fit`` becomes the mean.

    Parameters
    ----------
    frame : data frame
        Table of features, of polars, pandas or pyarrow. Only the types of the columns, which values are missing or
        constant, and how often categories occur, are used. A column named "qid" is the query of each row, and no
        feature.
    ranker : estimator, default=RankSVM()
        Last step. It is not copied.
    scale : {"standard", "none", "query"}, default="standard"
        "query" scales all features to [0, 1] inside each query, by :class:`~kernelrank.pipelines.QueryScaler` as a
        second step; ``predict`` then needs the queries, too.
    categorical : iterable of str
        Columns of numbers to treat as categories, such as postal codes; not of decimals.
    drop : iterable of str
        Columns to leave out, such as the utilities, if `frame` has them.
    keep : iterable of str, optional
        The only columns to use. By default, all.
    min_frequency : int, default=5
        Number of rows from which a category has a feature of its own. All else can be set by ``set_params``, as in
        ``columns__categories__max_categories``.

    Returns
    -------
    RankingPipeline
        A ``sklearn.pipeline.Pipeline`` with a method ``rank``; a :class:`~kernelrank.pipelines.QueryPipeline` if
        `frame` has a column named "qid", or if ``scale="query"``.
        Features are a dense matrix, but a sparse one if the ranker takes one, there are more than 10 million values,
        and at least 70 % of them are 0.

    Raises
    ------
    ValueError
        If a column is named that is not there, or has a name that is not text; if one holds infinite values, dates,
        dates as text, such as "2024-05-01", or other things that are neither numbers nor categories, text most of which
        are numbers, or text and ``pandas.NA``, which ``OneHotEncoder`` does not take; or if there are no features.

    Warns
    -----
    QueryColumnWarning
        If there are no queries, but a feature is named like query ids.

    See Also
    --------
    kernelrank.pipelines.make_query_pipeline : Pipeline of given steps.

    Notes
    -----
    Looking at the table takes O(m) for each of the columns. Missing text is None in polars and pyarrow and NaN in
    pandas, which ``OneHotEncoder`` tells apart: predict with the library that the pipeline was fitted with.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelrank.pipelines import make_table_ranker
    >>> houses = pd.DataFrame({
    ...     "rooms": [3, 5, 4, 2, 6, 3],
    ...     "age": [10, None, 30, 50, 5, None],
    ...     "district": ["north", "south", "north", "east", "south", "north"],
    ...     "price": [200, 450, 310, 90, 500, 240],
    ... })
    >>> model = make_table_ranker(houses, drop=["price"], min_frequency=2)
    >>> model = model.fit(houses, houses["price"])
    >>> model[0].get_feature_names_out().tolist()
    ['numbers__rooms', 'numbers__age', 'numbers__missingindicator_age',
     'categories__district_north', 'categories__district_south', 'categories__district_infrequent_sklearn']
    >>> model.score(houses, houses["price"])
    1.0
    """
    (NONE | ESTIMATOR)("ranker", ranker)
    SCALE("scale", scale)
    for argument, names in (("categorical", categorical), ("drop", drop)):
        NAMES(argument, names)
    (NAMES | NONE)("keep", keep)
    COUNT("min_frequency", min_frequency)
    found = sort_columns(frame, list(categorical), list(drop), None if keep is None else list(keep), int(min_frequency))
    ranker = RankSVM() if ranker is None else ranker
    table = as_frame(frame)
    has_queries = scale == "query" or (table is not None and QID_COLUMN in table.columns)
    if not has_queries and table is not None:
        # The ranker, whose features have no names, cannot tell.
        warn_of_query_columns(ranker, table.select([*found.numbers, *found.categories]).to_native())
    steps = [*preparing_steps(found, ranker, scale, int(min_frequency)), (type(ranker).__name__.lower(), ranker)]
    return QueryPipeline(steps) if has_queries else RankingPipeline(steps)


def preparing_steps(
    columns: Columns, ranker: Any, scale: Scale, min_frequency: int = MIN_FREQUENCY
) -> list[tuple[str, Any]]:
    """Return the unfitted steps before a ranker."""
    # Columns without a value in a fold of a cross-validation are kept, as 0.
    imputer = SimpleImputer(add_indicator=True, keep_empty_features=True)
    numbers = Pipeline([("impute", imputer), ("scale", StandardScaler())]) if scale == "standard" else imputer
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=min_frequency)
    parts: Sequence[tuple[str, Any, list[str]]] = [
        ("numbers", numbers, columns.numbers),
        ("categories", encoder, columns.categories),
        ("left_out", "drop", list(columns.left_out)),
    ]
    # Sparse features take less memory and time, but closed forms and kernels need dense ones.
    sparse = columns.n_values > _LARGE and get_tags(ranker).input_tags.sparse
    transformer = ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.3 if sparse else 0.0)
    steps: list[tuple[str, Any]] = [("columns", transformer)]
    return [*steps, ("queries", QueryScaler())] if scale == "query" else steps
