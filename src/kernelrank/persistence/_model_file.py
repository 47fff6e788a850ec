"""kernelrank's own model files; docs/model-format.md specifies the format for readers in other languages."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import IO, Any

import sklearn
from sklearn.utils.validation import check_is_fitted

from kernelrank._rules import PATH
from kernelrank.exceptions import ModelFormatError
from kernelrank.io._files import replace_file
from kernelrank.persistence._archive import Archive, write_archive
from kernelrank.persistence._objects import Reader, Writer, entry, list_classes
from kernelrank.persistence._registry import KINDS

_FORMAT = "kernelrank model"
_VERSION = 1  # version of the format


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model to a file.

    The file holds the model's class, its parameters and its fitted attributes as data: a ZIP archive of a JSON document
    and NumPy arrays, described in ``docs/model-format.md``. Equal models give equal bytes. An existing file is replaced
    only once the new one is complete.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of kernelrank, a transformer such as :class:`~kernelrank.NystromMap`, or a ``Pipeline``, of
        scikit-learn or :mod:`kernelrank.pipelines`, whose steps are of kernelrank or these of scikit-learn:
        StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PolynomialFeatures, TruncatedSVD, OneHotEncoder,
        OrdinalEncoder, SimpleImputer, MissingIndicator, CountVectorizer, TfidfVectorizer, TfidfTransformer,
        SelectKBest, SelectPercentile, VarianceThreshold, SelectFromModel, ColumnTransformer, and pipelines of these.
        Of an estimator on Dask collections, save ``model.to_local()``. Arrays of other libraries are converted to
        NumPy. Only attributes whose names end in an underscore, and those that a prediction needs, are saved. Metadata
        requests (``set_fit_request``) are not saved.
    path : str or path-like
        Path of the file. No suffix is added; ``.kernelrank`` is recommended.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model or one of its steps is of another class, or if a parameter is not data: a splitter as `cv`, a
        RandomState as `random_state`, a function as `kernel`, `tokenizer` or columns. The error names the step or the
        parameter. Such a parameter is not replaced silently, because a refit would then differ; set it to None or a
        number before saving.
    ValueError
        If a fitted object was changed so that it cannot predict, or if the parameter `memory` of a pipeline is not
        None.

    Warnings
    --------
    A model with a nonlinear kernel predicts by comparing rows with training rows, which are its ``basis_`` (of
    relational data, ``row_basis_`` and ``column_basis_``): these rows are stored in the file and can be read by anyone
    who gets it. The same holds for the categories of encoders and the words of vectorizers. Targets and queries are
    never stored, nor are training rows of models with ``coef_``.

    See Also
    --------
    kernelrank.persistence.load_model : Load a model.
    kernelrank.persistence.save_svmlight_model : Save a model in the format of SVM^rank.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernelrank import RankSVM
    >>> from kernelrank.persistence import load_model, save_model
    >>> X = [[1, 0], [2, 1], [3, 1], [4, 0]]
    >>> model = RankSVM().fit(X, y=[0, 1, 2, 3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.kernelrank")
    ...     loaded = load_model(Path(folder) / "model.kernelrank")
    >>> loaded.rank(X)
    array([4, 3, 2, 1])

    A pipeline is one file, and finds its columns by name:

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> rows = pd.DataFrame({"price": [3.0, 1.0, 2.0, 4.0], "shop": ["a", "b", "b", "a"]})
    >>> columns = make_column_transformer((StandardScaler(), ["price"]), (OneHotEncoder(), ["shop"]))
    >>> pipeline = make_pipeline(columns, RankSVM()).fit(rows, y=[1, 3, 2, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(pipeline, Path(folder) / "pipeline.kernelrank")
    ...     loaded = load_model(Path(folder) / "pipeline.kernelrank")
    >>> bool((loaded.predict(rows[["shop", "price"]]) == pipeline.predict(rows)).all())
    True
    """
    kind = type(model)
    if kind not in KINDS:
        remedy = ""
        if isinstance(model, str | os.PathLike):
            remedy = " The arguments are save_model(model, path)."
        elif hasattr(model, "to_local"):
            remedy = " It is for Dask: save model.to_local()."
        raise TypeError(f"model must be one of {list_classes()}, got a {kind.__name__}.{remedy}")
    PATH("path", path)
    check_is_fitted(model)
    writer = Writer()
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "kernelrank": version("kernelrank"),
        "scikit-learn": sklearn.__version__,
        **writer.encode(model),
    }
    with replace_file(path, compress=False) as handle:
        write_archive(handle, document, writer.arrays)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model that was saved with `save_model`.

    Nothing in the file is executed: it holds data, and names classes of a fixed set. Untrusted files are safe to
    load. Files of older versions can be loaded, and transformers of scikit-learn that an older version of it, or the
    same, has written. The memory required is a small multiple of the size of the file: sizes
    that the file states are checked before anything is allocated.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    estimator
        Of the class that was saved, fitted, with its parameters and attributes: its predictions are equal to the last
        bit, and it can be cloned, refitted or, with ``warm_start``, trained further. Methods that need the training
        data, such as paths and held-out predictions of least squares, require another fit.

    Raises
    ------
    ModelFormatError
        If the file is not a model file, is damaged, was written in a newer format than this version of kernelrank
        supports, or has transformers of a newer scikit-learn; the message states which.
    OSError
        If the file cannot be opened.

    See Also
    --------
    kernelrank.persistence.save_model : Save a model.
    kernelrank.persistence.load_svmlight_model : Load a model of SVM^light or SVM^rank.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernelrank import RankSVM
    >>> from kernelrank.persistence import load_model, save_model
    >>> model = RankSVM(alpha=0.1).fit([[1.0], [2.0], [3.0]], y=[3, 2, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.kernelrank")
    ...     loaded = load_model(Path(folder) / "model.kernelrank")
    >>> loaded
    RankSVM(alpha=0.1)
    >>> bool(loaded.coef_ == model.coef_)
    True
    """
    PATH("path", path)
    with open(path, "rb") as handle:
        try:
            return _read(handle)
        except ModelFormatError as reason:
            raise ModelFormatError(f"{os.fspath(path)}: {reason}") from reason


def _read(handle: IO[bytes]) -> Any:
    archive = Archive(handle)
    document = archive.read_document()
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFormatError("not a model of kernelrank")
    writer = entry(document, "kernelrank", str)
    found = entry(document, "version", int)
    if found != _VERSION:
        raise ModelFormatError(
            f"written by kernelrank {writer!r} in format {found}; this is kernelrank {version('kernelrank')},"
            f" which reads format {_VERSION}" + (": upgrade kernelrank" if found > _VERSION else "")
        )
    try:
        entry(document, "attributes", dict)
        return Reader(archive, document.get("scikit-learn")).decode(document)
    except ModelFormatError as reason:
        raise ModelFormatError(
            f"{reason}; the file was written by kernelrank {writer!r}{_library(document)}"
        ) from reason


def _library(document: dict[str, Any]) -> str:
    """Return the version of scikit-learn that wrote a file, if this is another one."""
    theirs, ours = document.get("scikit-learn"), sklearn.__version__
    return "" if theirs in (None, ours) else f" with scikit-learn {theirs!r}, and this is scikit-learn {ours}"
