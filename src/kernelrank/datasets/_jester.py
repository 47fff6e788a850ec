"""Reader of Jester: ratings of jokes."""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse as sp

from kernelrank._rules import whole
from kernelrank.datasets._folders import find_file, missing, require_folder
from kernelrank.datasets._ratings import Ratings
from kernelrank.datasets._text import read_numbers
from kernelrank.exceptions import DataFormatError

_N_JOKES = 100
_NOT_RATED, _LARGEST = 99, 10
_N_FILES = 3


def load_jester(folder: str | os.PathLike[str], number: int = 1) -> Ratings:
    r"""Load one file of Jester's first data set: ratings of 100 jokes, from -10 to 10.

    The set is published as ``jester-data-1.xls``, ``jester-data-2.xls`` and ``jester-data-3.xls`` [1]_: one row per
    user, whose first column is the number of jokes that the user has rated, and 100 columns of ratings, 99 where there
    is none. Convert a file to CSV first; the folder then holds ``jester-data-1.csv``, which may be compressed::

        libreoffice --headless --convert-to csv jester-data-1.xls

    Parameters
    ----------
    folder : path
        Folder of the converted files.
    number : {1, 2, 3}, default=1
        Number of the file. Users of the first two have rated 36 jokes or more, those of the third 15 to 35.

    Returns
    -------
    Ratings
        Named tuple with ``X``, ``y``, ``qid`` and more. A user is numbered by the line in the file, from 1. Nothing is
        known of a joke but which one it is: ``item_features`` has one column for each.
        :meth:`~kernelrank.datasets.Ratings.to_matrix` returns the matrix of users and jokes.

    Raises
    ------
    FileNotFoundError
        If the folder or the file does not exist. The message names what was expected and what is there.
    DataFormatError
        If a line does not have 101 numbers, or a rating is not from -10 to 10; the message starts with ``file:line:``.

    References
    ----------
    .. [1] Goldberg, Roeder, Gupta, Perkins: Eigentaste: a constant time collaborative filtering algorithm. Information
       Retrieval 4(2), 133-151 (2001). https://eigentaste.berkeley.edu/dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = [[2, -7.82, 8.79] + [99] * 98, [3, 4.08, -0.29, 6.36] + [99] * 97]
    >>> _ = (folder / "jester-data-1.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    >>> from kernelrank.datasets import load_jester
    >>> ratings = load_jester(folder)
    >>> ratings.to_matrix()[:, :4]
    array([[-7.82,  8.79,   nan,   nan],
           [ 4.08, -0.29,  6.36,   nan]])
    >>> ratings.y, ratings.qid
    (array([-7.82,  8.79,  4.08, -0.29,  6.36]), array([1, 1, 2, 2, 2]))
    """
    whole(1, _N_FILES)("number", number)
    root = require_folder(folder, f"jester-data-{number}.csv")
    name = f"jester-data-{number}"
    path = find_file(root, f"{name}.csv")
    if path is None:
        has_excel = find_file(root, f"{name}.xls") is not None
        how = f" Convert the Excel file: libreoffice --headless --convert-to csv {name}.xls" if has_excel else ""
        raise missing(root, f"{name}.csv", how)
    names = [f"joke {k + 1}" for k in range(_N_JOKES)]
    numbers, where = read_numbers(path, ",", dict.fromkeys(["number of ratings", *names], float))
    table = np.stack([numbers[name] for name in names], axis=1)
    is_rated = table != _NOT_RATED
    wrong = is_rated & (np.abs(table) > _LARGEST)
    if wrong.any():
        row, joke = np.argwhere(wrong)[0].tolist()
        raise DataFormatError(
            f"{where(row)}: a rating must be from -{_LARGEST} to {_LARGEST}, or {_NOT_RATED}, but joke {joke + 1} has"
            f" {table[row, joke]:g}."
        )
    entries = np.argwhere(is_rated)
    jokes = sp.eye(_N_JOKES, format="csr")
    users = np.arange(1, len(table) + 1)
    return Ratings(
        X=jokes[entries[:, 1]],
        y=table[is_rated],
        qid=users[entries[:, 0]],
        entries=entries,
        user_ids=users,
        item_ids=np.arange(1, _N_JOKES + 1),
        item_features=jokes,
        item_feature_names=names,
    )
