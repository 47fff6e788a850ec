"""Simulated listings of apartments, a table that the package ships."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.io import load_table


class Apartments(NamedTuple):
    """Listings of apartments, with the searches they were shown for.

    Attributes
    ----------
    X : data frame of shape (972, 8)
        Columns of the listings.
    y : ndarray of shape (972,)
        Grades, from 0 to 3.
    qid : ndarray of shape (972,)
        Search of each listing.
    """

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.object_]


def apartments_path() -> Path:
    """Return the path of the file that :func:`~kernelrank.datasets.load_apartments` reads.

    Returns
    -------
    Path
        A CSV file with a header line.

    Examples
    --------
    >>> from kernelrank.datasets import apartments_path
    >>> with open(apartments_path()) as file:
    ...     print(file.readline(), end="")
    search,district,area,rooms,floor,built,furnished,rent,description,grade
    """
    return Path(str(files("kernelrank.datasets").joinpath("data", "apartments.csv")))


def load_apartments() -> Apartments:
    """Load simulated results of searches for apartments: a table with text, categories and missing values.

    Each row is a listing that was shown for a search, with the grade that the searcher gave it: 0, ignored; 1, opened;
    2, saved; 3, contacted. Grades are comparable within a search only, as each search is for another size. The data are
    simulated; city and prices are fictional, and the data are free of any rights. There are 972 rows in 100 searches.

    ============ ======= ===============================================================
    column       type
    ============ ======= ===============================================================
    search       text    the search in which the listing was shown; returned as ``qid``
    district     text    a category of twelve values, three of them in a few rows only
    area         number  square metres; sometimes missing
    rooms        number
    floor        number  0 is the ground floor; sometimes missing
    built        number  year; sometimes missing
    furnished    boolean
    rent         number  per month
    description  text    one to three phrases
    grade        number  0 to 3; returned as ``y``
    ============ ======= ===============================================================

    Returns
    -------
    Apartments
        Named tuple with

        - ``X``, a data frame of all columns but search and grade, of the first of polars, pandas and pyarrow that is
          installed, as from :func:`kernelrank.io.load_table`.
        - ``y``, the grades, a float64 array.
        - ``qid``, the searches, an object array of strings.

    See Also
    --------
    kernelrank.datasets.apartments_path : The file, for other readers and for the command line.
    kernelrank.pipelines.make_table_ranker : Pipelines that prepare the columns of such a table.

    Examples
    --------
    >>> from kernelrank.datasets import load_apartments
    >>> X, y, qid = load_apartments()
    >>> X.shape, y[:4], qid[:2].tolist()
    ((972, 8), array([1., 0., 0., 1.]), ['s001', 's001'])

    A pipeline that encodes the columns, fitted to the first searches:

    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.pipelines import make_query_pipeline
    >>> columns = make_column_transformer(
    ...     (make_pipeline(SimpleImputer(), StandardScaler()), ["area", "rooms", "floor", "built", "rent"]),
    ...     (OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist"), ["district"]),
    ...     (CountVectorizer(), "description"),
    ...     ("passthrough", ["furnished"]),
    ... )
    >>> train, test = qid < "s080", qid >= "s080"
    >>> model = make_query_pipeline(columns, RankSVM()).fit(X.filter(train), y[train], qid=qid[train])
    >>> model.score(X.filter(test), y[test], qid=qid[test]) > 0.85
    True
    """
    table = load_table(apartments_path(), target="grade", qid="search", numeric=False)
    assert table.y is not None
    assert table.qid is not None
    return Apartments(table.X, table.y, table.qid)
