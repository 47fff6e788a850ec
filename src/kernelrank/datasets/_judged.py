"""Readers of public sets of judged documents, in svmlight format, in the folders that are published."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelrank._rules import FLAG, choice, whole
from kernelrank.datasets._folders import find_file, missing, require_folder
from kernelrank.exceptions import DataFormatError
from kernelrank.io import load_svmlight
from kernelrank.io._load import as_dense

Folder = str | os.PathLike[str]
Part = Literal["train", "vali", "test"]

_PART = choice("train", "vali", "test")
_N_FOLDS, _N_SETS = 5, 2
_FOLD, _NUMBER = whole(1, _N_FOLDS), whole(1, _N_SETS)
# The names of LETOR 4.0 and MSLR, and those of some sets of LETOR 3.0.
_NAMES = {"train": "trainingset", "vali": "validationset", "test": "testset"}
_MSLR, _ISTELLA, _YAHOO = 136, 220, 700  # features


class JudgedDocuments(NamedTuple):
    """Documents with grades of their relevance for queries.

    Attributes
    ----------
    X : CSR matrix or ndarray of shape (n_documents, n_features)
        Features.
    y : ndarray of shape (n_documents,)
        Grades; higher is better.
    qid : ndarray of shape (n_documents,)
        Query of each document.
    """

    X: Any  # a CSR matrix or a dense array
    y: NDArray[np.float64]
    qid: NDArray[Any]


def load_letor(
    folder: Folder,
    fold: int = 1,
    part: Part = "train",
    *,
    n_features: int | None = None,
    dense: bool = False,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> JudgedDocuments:
    r"""Load one part of one fold of a set of LETOR 3.0 or 4.0, such as OHSUMED, 2003_hp or MQ2008.

    The folder holds ``Fold1`` to ``Fold5``, each with ``train.txt``, ``vali.txt`` and ``test.txt``, or, as in the
    versions Feature_min and Feature_null of LETOR 3.0, ``trainingset.txt``, ``validationset.txt`` and ``testset.txt``.
    Each file may be compressed: ``train.txt.gz``, ``.xz`` or ``.bz2``.

    Parameters
    ----------
    folder : path
        Folder of one version of one set, such as ``OHSUMED/QueryLevelNorm`` or ``MQ2008``.
    fold : int, default=1
        Number of the fold, 1 to 5.
    part : {"train", "vali", "test"}, default="train"
        Part of the fold.
    n_features : int, optional
        Number of columns of ``X``. By default the largest index in the file: published files have all features in each
        row, even zeros. Files that were written again without zeros need it, so that all parts have the same columns.
    dense : bool, default=False
        Whether to return ``X`` as a dense array instead of a sparse matrix.
    dtype : {float64, float32}, default=float64
        Data type of ``X``.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    JudgedDocuments
        Named tuple ``(X, y, qid)``, as from :func:`kernelrank.io.load_svmlight`. Grades of -1, in the semi-supervised
        sets, mean "not judged"; remove these rows.

    Raises
    ------
    FileNotFoundError
        If the folder or the file does not exist. The message names what was expected and what is there.
    DataFormatError
        If a line does not follow the format; the message starts with ``file:line:``. Values NULL are such an error:
        they mean minus infinity, and the versions Feature_min, MIN and QueryLevelNorm have numbers instead.

    See Also
    --------
    kernelrank.io.load_svmlight : Reader of one file, with the comments, which are ids of documents here.

    Notes
    -----
    The layouts are those of Microsoft's pages on LETOR [1]_ and of [2]_. Folds share their rows: test rows of one fold
    are training rows of others.

    References
    ----------
    .. [1] https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval
    .. [2] Qin, Liu: Introducing LETOR 4.0 datasets. arXiv:1306.2597 (2013).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp()) / "MQ2008"
    >>> (folder / "Fold1").mkdir(parents=True)
    >>> _ = (folder / "Fold1" / "vali.txt").write_text(
    ...     "0 qid:15928 1:0.5 2:0 3:1 #docid = GX029-35-5894638 inc = 0.0119881192468859 prob = 0.139842\n"
    ...     "2 qid:15928 1:1 2:0.25 3:0 #docid = GX030-77-6315042 inc = 1 prob = 0.341364\n"
    ... )
    >>> from kernelrank.datasets import load_letor
    >>> X, y, qid = load_letor(folder, fold=1, part="vali")
    >>> X.toarray(), y, qid
    (array([[0.5 , 0.  , 1.  ],
           [1.  , 0.25, 0.  ]]), array([0., 2.]), array([15928, 15928]))
    """
    path = _file_of_fold(folder, fold, part)
    return _read(path, n_features, dense, dtype, n_jobs)


def load_mslr(
    folder: Folder,
    fold: int = 1,
    part: Part = "train",
    *,
    dense: bool = False,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> JudgedDocuments:
    r"""Load one part of one fold of MSLR-WEB10K or MSLR-WEB30K: 136 features, grades 0 to 4.

    The folder holds ``Fold1`` to ``Fold5``, each with ``train.txt``, ``vali.txt`` and ``test.txt`` [1]_, which may be
    compressed. Features are raw and of very different scales: scale them before training.

    Parameters
    ----------
    folder : path
        Folder of the five folds.
    fold : int, default=1
        Number of the fold, 1 to 5.
    part : {"train", "vali", "test"}, default="train"
        Part of the fold.
    dense : bool, default=False
        Whether to return ``X`` as a dense array instead of a sparse matrix.
    dtype : {float64, float32}, default=float64
        Data type of ``X``.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    JudgedDocuments
        Named tuple ``(X, y, qid)``, as from :func:`kernelrank.io.load_svmlight`.

    Raises
    ------
    FileNotFoundError
        If the folder or the file does not exist. The message names what was expected and what is there.
    DataFormatError
        If a line does not follow the format, or there are not 136 features.

    References
    ----------
    .. [1] https://www.microsoft.com/en-us/research/project/mslr

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "Fold2").mkdir()
    >>> features = " ".join(f"{k}:{k % 3}" for k in range(1, 137))
    >>> _ = (folder / "Fold2" / "test.txt").write_text(f"2 qid:13 {features}\n0 qid:13 {features}\n")
    >>> from kernelrank.datasets import load_mslr
    >>> load_mslr(folder, fold=2, part="test").X.shape
    (2, 136)
    """
    path = _file_of_fold(folder, fold, part)
    FLAG("dense", dense)
    rows = _read(path, _MSLR, False, dtype, n_jobs)
    largest = int(rows.X.indices.max(initial=-1)) + 1
    if largest < _MSLR:  # zeros are written, so that a single row has all of them
        raise DataFormatError(
            f"{path}: the largest index of a feature is {largest}, but MSLR has {_MSLR} features in each row. Read sets"
            " of LETOR with load_letor."
        )
    return rows._replace(X=as_dense(rows.X, str(path))) if dense else rows


def load_istella(
    folder: Folder,
    part: Part = "train",
    *,
    dense: bool = False,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> JudgedDocuments:
    r"""Load one part of Istella, Istella-S or Istella-X: 220 features, grades 0 to 4.

    The folder holds ``train.txt``, ``test.txt`` and, except for the first release, ``vali.txt``; they may be compressed
    and in a folder ``full`` (Istella) or ``sample`` (Istella-S), as in the published archives [1]_.

    Parameters
    ----------
    folder : path
        Folder of the files, or the one above.
    part : {"train", "vali", "test"}, default="train"
        Part of the set.
    dense : bool, default=False
        Whether to return ``X`` as a dense array instead of a sparse matrix.
    dtype : {float64, float32}, default=float64
        Data type of ``X``. Some features do not fit into float32, which is an error that names the line.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    JudgedDocuments
        Named tuple ``(X, y, qid)``, as from :func:`kernelrank.io.load_svmlight`.

    Raises
    ------
    FileNotFoundError
        If the folder or the file does not exist. The message names what was expected and what is there.
    DataFormatError
        If a line does not follow the format; the message starts with ``file:line:``.

    Notes
    -----
    Values are returned as they are in the file. Some are close to the largest float64, 1.797e308, in the place of an
    undefined value; differences of such numbers overflow. Replace them before training, as below.

    References
    ----------
    .. [1] http://quickrank.isti.cnr.it/istella-dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "sample").mkdir()
    >>> _ = (folder / "sample" / "vali.txt").write_text("4 qid:1 1:3 220:1.79769313486e+308\n0 qid:1 1:2 220:0.5\n")
    >>> from kernelrank.datasets import load_istella
    >>> X, y, qid = load_istella(folder, "vali")
    >>> X.data[X.data > 1e300] = 0
    >>> X.shape, float(X.max())
    ((2, 220), 3.0)
    """
    _PART("part", part)
    expected = "train.txt, vali.txt and test.txt of Istella, or folders full or sample"
    root = require_folder(folder, expected)
    places = [place for place in (root, root / "full", root / "sample") if find_file(place, f"{part}.txt")]
    if len(places) > 1:
        raise ValueError(f"folder must hold one set, but {part}.txt is in each of {', '.join(map(str, places))}.")
    path = find_file(places[0], f"{part}.txt") if places else None
    if path is None:
        remedy = " The first release of Istella has no part for validation." if part == "vali" else ""
        raise missing(root, f"{part}.txt, or full/{part}.txt or sample/{part}.txt", remedy)
    return _read(path, _ISTELLA, dense, dtype, n_jobs)


def load_yahoo(
    folder: Folder,
    number: int = 1,
    part: Part = "train",
    *,
    dense: bool = False,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> JudgedDocuments:
    r"""Load one part of a set of the Yahoo! Learning to Rank Challenge (C14): 700 features, grades 0 to 4.

    The folder holds ``set1.train.txt``, ``set1.valid.txt`` and ``set1.test.txt``, and the same of ``set2``; they may be
    compressed. Features are from 0 to 1, and zeros are not written [1]_. The sets have different features, of which
    some are in both: ``X`` has 700 columns for each.

    Parameters
    ----------
    folder : path
        Folder of the files.
    number : {1, 2}, default=1
        Number of the set.
    part : {"train", "vali", "test"}, default="train"
        Part of the set; "vali" is the file ``set1.valid.txt``.
    dense : bool, default=False
        Whether to return ``X`` as a dense array instead of a sparse matrix.
    dtype : {float64, float32}, default=float64
        Data type of ``X``.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    JudgedDocuments
        Named tuple ``(X, y, qid)``, as from :func:`kernelrank.io.load_svmlight`.

    Raises
    ------
    FileNotFoundError
        If the folder or the file does not exist. The message names what was expected and what is there.
    DataFormatError
        If a line does not follow the format; the message starts with ``file:line:``.

    References
    ----------
    .. [1] Chapelle, Chang: Yahoo! learning to rank challenge overview. JMLR W&CP 14, 1-24 (2011).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "set2.valid.txt").write_text("1 qid:3 10:0.88 700:0.5\n0 qid:3 11:0.12\n")
    >>> from kernelrank.datasets import load_yahoo
    >>> load_yahoo(folder, number=2, part="vali").X.shape
    (2, 700)
    """
    _PART("part", part)
    _NUMBER("number", number)
    root = require_folder(folder, "set1.train.txt and the other files of the challenge")
    name = f"set{number}.{'valid' if part == 'vali' else part}.txt"
    path = find_file(root, name)
    if path is None:
        raise missing(root, name)
    return _read(path, _YAHOO, dense, dtype, n_jobs)


def _file_of_fold(folder: Folder, fold: int, part: str) -> Path:
    """Return the path of a part of a fold."""
    _PART("part", part)
    _FOLD("fold", fold)
    root = require_folder(folder, f"Fold1 to Fold{_N_FOLDS}")
    place = root / f"Fold{fold}"
    if not place.is_dir():
        raise missing(root, place.name, _remedy(root))
    names = (f"{part}.txt", f"{_NAMES[part]}.txt")
    path = find_file(place, *names)
    if path is None:
        raise missing(place, " or ".join(names))
    return path


def _remedy(root: Path) -> str:
    """Describe where the folds may be."""
    if root.name.startswith("Fold"):
        return f" Pass the folder above it, {root.parent}, and the number of the fold as fold=..."
    below = sorted(str(path.parent) for pattern in ("*/Fold1", "*/*/Fold1") for path in root.glob(pattern))
    return f" Pass one of the folders below that have folds: {', '.join(below[:8])}." if below else ""


def _read(path: Path, n_features: int | None, dense: bool, dtype: DTypeLike, n_jobs: int | None) -> JudgedDocuments:
    """Read a file that has queries, with features from 1 on."""
    FLAG("dense", dense)
    try:
        rows = load_svmlight(path, n_features=n_features, zero_based=False, dtype=dtype, n_jobs=n_jobs)
    except DataFormatError as error:
        if "NULL" not in str(error):
            raise
        raise DataFormatError(
            f"{error}. NULL stands for minus infinity; read the version Feature_min, MIN or QueryLevelNorm of the set."
        ) from None
    if len(rows.y) == 0:
        raise DataFormatError(f"{path}: there are no rows.")
    if rows.qid is None:
        raise DataFormatError(f"{path}:1: the row has no query, such as qid:10; kernelrank.io.load_svmlight reads it.")
    return JudgedDocuments(as_dense(rows.X, str(path)) if dense else rows.X, rows.y, rows.qid)
