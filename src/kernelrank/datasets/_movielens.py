"""Reader of the sets of MovieLens: ratings of films."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._rules import show
from kernelrank.datasets._folders import find_file, missing, require_folder
from kernelrank.datasets._ratings import Ratings, find_ids, one_hot
from kernelrank.datasets._text import read_numbers, read_texts
from kernelrank.exceptions import DataFormatError

Texts = list[tuple[int, list[str]]]

_FIELDS = {"userId": int, "movieId": int, "rating": float, "timestamp": int}
# The columns of u.item, in the order of u.genre.
_GENRES = [
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
]
_N_TEXTS = 5  # columns of u.item before the genres
_YEAR = re.compile(r"\((\d{4})\b[^()]*\)\s*$")
_EPOCH = 2000
_DECADE = f"decades after {_EPOCH}"


class _Users(NamedTuple):
    ids: NDArray[np.int64]
    features: sp.csr_matrix
    names: list[str]


class _Films(NamedTuple):
    ids: NDArray[np.int64]
    titles: list[str]
    features: sp.csr_matrix
    names: list[str]


def load_movielens(folder: str | os.PathLike[str]) -> Ratings:
    r"""Load a set of MovieLens: 100K, 1M, 10M, or one of those in CSV files, such as 20M, 32M and latest-small.

    The set is told by its files [1]_, each of which may be compressed:

    ============ ===================================================================================
    set          files
    ============ ===================================================================================
    100K         ``u.data``, tabs; ``u.item`` and ``u.user``, separated by ``|``
    1M, 10M      ``ratings.dat``, ``movies.dat`` and, in 1M only, ``users.dat``, separated by ``::``
    20M and on   ``ratings.csv`` and ``movies.csv``, with headers
    ============ ===================================================================================

    Parameters
    ----------
    folder : path
        Folder of the files, such as ``ml-1m``.

    Returns
    -------
    Ratings
        Named tuple with ``X``, ``y``, ``qid`` and more: rows are ratings, in the order of the file, and the users are
        the queries. Features of a film are one column for each genre, and the year of the title in decades after 2000;
        the median of the other films stands for a year that is not known. Features of a user, in 100K and 1M, are the
        age in decades, in 1M the lower end of a range; the gender; and one column for each occupation.

    Raises
    ------
    FileNotFoundError
        If the folder or a file does not exist. The message names what was expected and what is there.
    DataFormatError
        If a line does not follow the format, or a rating is of an unknown film or user. The message starts with
        ``file:line:``.

    See Also
    --------
    kernelrank.relational.KroneckerRows : Rows of all products of features of users and films, never formed.

    Notes
    -----
    A model of X and qid has the same weights for all users: it learns which films are liked in general. With
    ``KroneckerRows(user_features, item_features, *entries.T)`` in the place of X the weights depend on the features of
    the user; where there are none, ``scipy.sparse.eye_array(len(user_ids))`` gives each user weights of their own.

    References
    ----------
    .. [1] Harper, Konstan: The MovieLens datasets: history and context. ACM Transactions on Interactive Intelligent
       Systems 5(4), 19:1-19:19 (2015). https://grouplens.org/datasets/movielens

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "movies.csv").write_text(
    ...     "movieId,title,genres\n1,Toy Story (1995),Animation|Comedy\n2,Heat (1995),Action\n"
    ... )
    >>> _ = (folder / "ratings.csv").write_text(
    ...     "userId,movieId,rating,timestamp\n1,2,4.5,964982703\n1,1,3.0,964981247\n7,1,5.0,964982224\n"
    ... )
    >>> from kernelrank.datasets import load_movielens
    >>> ratings = load_movielens(folder)
    >>> ratings.item_feature_names
    ['Action', 'Animation', 'Comedy', 'decades after 2000']
    >>> ratings.X.toarray()
    array([[ 1. ,  0. ,  0. , -0.5],
           [ 0. ,  1. ,  1. , -0.5],
           [ 0. ,  1. ,  1. , -0.5]])
    >>> ratings.y, ratings.qid, ratings.entries.tolist()
    (array([4.5, 3. , 5. ]), array([1, 1, 7]), [[0, 1], [0, 0], [1, 0]])
    """
    root = require_folder(folder, "u.data, ratings.dat or ratings.csv")
    found = [(layout, path) for layout in _LAYOUTS if (path := find_file(root, layout.ratings))]
    if len(found) != 1:
        raise _no_set(root, [path.name for _, path in found])
    layout, path = found[0]
    films = layout.read_films(_require(root, layout.films))
    users_path = find_file(root, layout.users) if layout.users else None
    users = None if users_path is None else _read_users(users_path, layout)
    rows, where = read_numbers(path, layout.separator, _FIELDS, has_header=layout.films_header is not None)

    def index(name: str, known: NDArray[np.int64], file: str) -> NDArray[np.intp]:
        places, is_known = find_ids(rows[name], known)
        if not is_known.all():
            row = int(np.argmin(is_known))
            raise DataFormatError(f"{where(row)}: {name} {rows[name][row]} is not in {file}.")
        return places

    user_ids = np.unique(rows["userId"]) if users is None else users.ids
    of_user = index("userId", user_ids, layout.users)
    of_film = index("movieId", films.ids, layout.films)
    return Ratings(
        X=films.features[of_film],
        y=np.ascontiguousarray(rows["rating"]),
        qid=np.ascontiguousarray(rows["userId"]),
        entries=np.column_stack([of_user, of_film]),
        user_ids=user_ids,
        item_ids=films.ids,
        item_features=films.features,
        item_feature_names=films.names,
        user_features=None if users is None else users.features,
        user_feature_names=None if users is None else users.names,
        titles=films.titles,
        timestamp=np.ascontiguousarray(rows["timestamp"]),
    )


def _require(root: Path, name: str) -> Path:
    path = find_file(root, name)
    if path is None:
        raise missing(root, name)
    return path


def _no_set(root: Path, found: list[str]) -> Exception:
    """Return an error for a folder of no set, or of several ones."""
    if found:
        return ValueError(f"folder must hold one set of MovieLens, but {root} has {' and '.join(found)}.")
    below = sorted(str(path.parent) for layout in _LAYOUTS for path in root.glob(f"*/{layout.ratings}*"))
    return missing(root, "u.data, ratings.dat or ratings.csv", f" Pass {' or '.join(below)}." if below else "")


def _read_100k_films(path: Path) -> _Films:
    """Read u.item: id, title, two dates, an address, and 0 or 1 for each genre."""
    texts = read_texts(path, "|", _N_TEXTS + len(_GENRES))
    for number, cells in texts:
        if not set(cells[_N_TEXTS:]) <= {"0", "1"}:
            raise DataFormatError(f"{path}:{number}: the last {len(_GENRES)} fields, of genres, must be 0 or 1.")
    genres = np.array([cells[_N_TEXTS:] for _, cells in texts]).astype(np.float64)
    return _make_films(path, texts, genres, _GENRES)


def _read_films(separator: str, header: str | None) -> Callable[[Path], _Films]:
    """Return a reader of id, title and genres, the latter separated by "|"."""

    def read(path: Path) -> _Films:
        texts = read_texts(path, separator, 3, header=header)
        genres = [[name for name in cells[2].split("|") if name and not name.startswith("(")] for _, cells in texts]
        names = sorted({name for each in genres for name in each})
        return _make_films(path, texts, one_hot(genres, names), names)

    return read


def _make_films(path: Path, texts: Texts, genres: NDArray[np.float64], names: list[str]) -> _Films:
    ids = _ids(path, texts)
    titles = [cells[1] for _, cells in texts]
    years = np.array([float(found[1]) if (found := _YEAR.search(title)) else np.nan for title in titles])
    unknown = np.isnan(years)
    years[unknown] = _EPOCH if unknown.all() else np.median(years[~unknown])
    return _Films(ids, titles, sp.csr_matrix(np.column_stack([genres, (years - _EPOCH) / 10])), [*names, _DECADE])


def _ids(path: Path, texts: Texts) -> NDArray[np.int64]:
    """Return the ids in the first fields, which must be distinct integers."""
    if not texts:
        raise DataFormatError(f"{path}: there are no rows.")
    first: dict[int, int] = {}
    for number, cells in texts:
        if not re.fullmatch(r"\d{1,18}", cells[0]):
            raise DataFormatError(f"{path}:{number}: the id must be an integer, got {show(cells[0])}.")
        line = first.setdefault(int(cells[0]), number)
        if line != number:
            raise DataFormatError(f"{path}:{number}: the id {cells[0]} is also in line {line}.")
    return np.array(list(first), dtype=np.int64)


def _read_users(path: Path, layout: _Layout) -> _Users:
    """Read id, age, gender, occupation and a code of the place, or gender before age."""
    texts = read_texts(path, "|" if layout.separator == "\t" else layout.separator, 5)
    ids = _ids(path, texts)
    age, gender = (1, 2) if layout.separator == "\t" else (2, 1)
    for number, cells in texts:
        if not cells[age].isdecimal():
            raise DataFormatError(f"{path}:{number}: the age must be an integer, got {show(cells[age])}.")
        if cells[gender] not in ("M", "F"):
            raise DataFormatError(f"{path}:{number}: the gender must be M or F, got {show(cells[gender])}.")
    jobs = [cells[3] for _, cells in texts]
    names = sorted(set(jobs), key=lambda job: (len(job), job) if job.isdecimal() else (0, job))
    features = np.column_stack(
        [
            [float(cells[age]) / 10 for _, cells in texts],
            [float(cells[gender] == "M") for _, cells in texts],
            one_hot([[job] for job in jobs], names),
        ]
    )
    return _Users(ids, sp.csr_matrix(features), ["age in decades", "gender M", *(f"occupation {job}" for job in names)])


class _Layout(NamedTuple):
    """Names of the files of a set, "" for none, and what separates the fields of its ratings."""

    ratings: str
    films: str
    users: str
    separator: str
    read_films: Callable[[Path], _Films]
    films_header: str | None = None


_HEADER = "movieId,title,genres"
_LAYOUTS = (
    _Layout("u.data", "u.item", "u.user", "\t", _read_100k_films),
    _Layout("ratings.dat", "movies.dat", "users.dat", "::", _read_films("::", None)),
    _Layout("ratings.csv", "movies.csv", "", ",", _read_films(",", _HEADER), _HEADER),
)
