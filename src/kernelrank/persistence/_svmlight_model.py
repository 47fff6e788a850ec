"""Linear models in the text format of SVM^light, which SVM^rank and SVM^struct share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank.estimators import RankSVM
from kernelrank.exceptions import ModelFormatError
from kernelrank.io._files import replace_file

# Lines after the first are read by position, "<value> # <meaning>". The blanks at their ends are SVM^light's.
_HEADER = (
    "0 # kernel type\n"
    "3 # kernel parameter -d \n"
    "1 # kernel parameter -g \n"
    "1 # kernel parameter -s \n"
    "1 # kernel parameter -r \n"
    "empty# kernel parameter -u \n"
    "{n_features} # highest feature index \n"
    "0 # number of training documents \n"
    "2 # number of support vectors plus 1 \n"
    "{threshold} # threshold b, each following line is a SV (starting with alpha*y)\n"
)
_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_MOST_DIGITS = 8  # of the number of a feature, SVM^light's own limit
_COUNT = rb"[1-9]\d{0,%d}" % (_MOST_DIGITS - 1)
_MEANINGS = {
    "kernel type": rb"\d",
    **{f"kernel parameter -{letter}": rb".*" for letter in "dgsru"},  # of no use to a linear kernel
    "highest feature index": _COUNT,
    "number of training documents": rb"\d+",
    "number of support vectors": _COUNT,
    "threshold b": _NUMBER,
}
_KERNELS = {1: "polynomial", 2: "radial basis function", 3: "sigmoid", 4: "user-defined"}
_FEATURE = re.compile(rb"(\d{1,8}):(%b)" % _NUMBER)
_NO_FEATURE = re.compile(rb"(?:qid|sid):[+-]?\d+|cost:%b" % _NUMBER)


def save_svmlight_model(model: Any, path: str | os.PathLike[str], *, version: str = "V6.20") -> None:
    """Write the weights of a linear model as SVM^rank does, for ``svm_rank_classify``.

    The file has a single support vector with coefficient 1, the weight vector; zero weights are left out.
    Numbers have all their digits (SVM^rank writes 8, and computes with weights in single precision).

    Parameters
    ----------
    model : RankSVM, RankRLS, RLS or their cross-validated forms
        It must be fitted, with a linear kernel and one output. Only its weights are written, and the intercept of least
        squares as the threshold: `save_model` keeps everything.
    path : str or path-like
        Where to write; an existing file is replaced once the new one is complete.
    version : str, default="V6.20"
        What the first line says. The C programs read only files of their own version: SVM^rank 1.00
        is "V6.20", SVM^light's ``svm_classify`` is mostly "V6.02".

    See Also
    --------
    load_svmlight_model : Reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernelrank import RankSVM
    >>> from kernelrank.persistence import save_svmlight_model
    >>> model = RankSVM(alpha=2.0).fit([[0, 0], [0, 1]], y=[0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_svmlight_model(model, Path(folder) / "model")
    ...     print((Path(folder) / "model").read_text().splitlines()[-1])
    1 2:0.25 #
    """
    check_is_fitted(model)
    coef = getattr(model, "coef_", None)
    if coef is None or np.ndim(coef) != 1 or not np.isfinite(coef).all():
        raise ValueError(
            f"Only linear models of one output, with finite weights, can be written for SVM^light, got {model!r}."
        )
    if len(coef) >= 10**_MOST_DIGITS:
        raise ValueError(f"SVM^light knows features up to number {10**_MOST_DIGITS - 1}, got {len(coef)}.")
    if not re.fullmatch(r"V[\w.]+", version, re.ASCII):
        raise ValueError(f"version must look like 'V6.20', got {version!r}.")
    weights = np.asarray(coef, dtype=np.float64).tolist()
    features = "".join(f"{index}:{weight!r} " for index, weight in enumerate(weights, start=1) if weight)
    threshold = 0.0 - float(getattr(model, "intercept_", 0.0))  # it is subtracted from scores
    header = _HEADER.format(n_features=len(coef), threshold=threshold or 0)
    text = f"SVM-light Version {version}\n{header}1 {features}#\n"
    with replace_file(path, compress=False) as handle:
        handle.write(text.encode("ascii"))


def load_svmlight_model(path: str | os.PathLike[str], *, n_features: int | None = None) -> RankSVM:
    """Read a linear model of SVM^light or SVM^rank.

    The weight vector is the sum of the support vectors times their coefficients; SVM^rank writes just one.
    The threshold is left out: it adds the same to every score and so changes no ranking.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_features : int, optional
        Features of the data to predict for. If it is not given, the highest feature index that the file
        states, which may be greater than that of any weight.

    Returns
    -------
    RankSVM
        With default parameters, and of the attributes of a fitted one only ``coef_`` and
        ``n_features_in_``: the file knows neither alpha nor the objective, gap, number of pairs, names
        of features or history. It predicts and scores; with ``warm_start`` a fit begins at these weights.

    Raises
    ------
    ModelFormatError
        As ``file:line: what is wrong``, also for kernels other than the linear one.

    See Also
    --------
    save_svmlight_model : Writes such a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernelrank import RankSVM
    >>> from kernelrank.persistence import load_svmlight_model, save_svmlight_model
    >>> model = RankSVM(alpha=2.0).fit([[0, 0], [0, 1]], y=[0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_svmlight_model(model, Path(folder) / "model")
    ...     load_svmlight_model(Path(folder) / "model").predict([[5, 4]])
    array([1.])
    """
    with open(path, "rb") as handle:
        lines = _Lines(handle)
        try:
            coef = _read_weights(lines)
        except ModelFormatError as reason:
            raise ModelFormatError(f"{os.fspath(path)}:{lines.number}: {reason}") from None
    if n_features is not None:
        least = int(np.max(np.flatnonzero(coef) + 1, initial=1))
        if n_features < least:
            raise ValueError(f"n_features must be at least {least}, as {os.fspath(path)} asks, got {n_features}.")
        coef = np.append(coef[:n_features], np.zeros(max(n_features - len(coef), 0)))
    model = RankSVM()
    model.coef_ = coef
    model.n_features_in_ = len(coef)
    model._fitted_with_queries = False
    return model


class _Lines:
    """Lines of a file, and the number of the last one read."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle
        self.number = 0

    def next(self, expected: str) -> bytes:
        """Read a line that must be there."""
        self.number += 1
        line = self._handle.readline()
        if not line:
            raise ModelFormatError(f"the file ends where {expected} should follow")
        return line

    def rest(self) -> Iterator[bytes]:
        """Read all lines that are left."""
        for line in self._handle:
            self.number += 1
            yield line


def _read_weights(lines: _Lines) -> NDArray[np.float64]:
    if not re.fullmatch(rb"SVM-light Version \S+\s*", lines.next("'SVM-light Version ...'")):
        raise ModelFormatError("this is no model of SVM^light or SVM^rank: expected 'SVM-light Version ...'")
    header = {meaning: _read_header_line(lines, meaning) for meaning in _MEANINGS}
    weights = np.zeros(int(header["highest feature index"]))
    n_vectors = int(header["number of support vectors"]) - 1
    for number in range(1, n_vectors + 1):
        _add_vector(lines.next(f"support vector {number} of {n_vectors}"), weights)
    if any(line.strip() for line in lines.rest()):
        raise ModelFormatError(f"there are more than the {n_vectors} support vectors that the header states")
    return weights


def _read_header_line(lines: _Lines, meaning: str) -> bytes:
    """Return the value of a line; the C programs skip what it means, but then misread files of other programs."""
    value, _, comment = lines.next(f"the {meaning}").partition(b"#")
    value = value.strip()
    if comment.strip() and not comment.strip().startswith(meaning.encode()):
        raise ModelFormatError(f"expected the {meaning}, found {_show(comment)}")
    if not re.fullmatch(_MEANINGS[meaning], value):
        raise ModelFormatError(f"{_show(value)} is no value for the {meaning}")
    if meaning == "kernel type" and int(value) != 0:
        kernel = _KERNELS.get(int(value), "unknown")
        raise ModelFormatError(f"kernel type {int(value)} ({kernel}): only linear models can be read")
    return value


def _add_vector(line: bytes, weights: NDArray[np.float64]) -> None:
    """Add a support vector times its coefficient."""
    text, end, _ = line.partition(b"#")
    if not end and not line.endswith(b"\n"):
        raise ModelFormatError("the file ends within a support vector")  # perhaps within a number
    coefficient, *tokens = text.split() or [b""]
    if not re.fullmatch(_NUMBER, coefficient):
        raise ModelFormatError(f"a support vector begins with its coefficient, not with {_show(coefficient)}")
    indices, values = [0], [0.0]
    for token in tokens:
        feature = _FEATURE.fullmatch(token)
        if feature:
            indices.append(int(feature[1]))
            values.append(float(feature[2]))
            if not indices[-2] < indices[-1] <= len(weights):
                raise ModelFormatError(f"{_show(token)}: features must increase, up to the highest, {len(weights)}")
        elif not _NO_FEATURE.fullmatch(token):
            raise ModelFormatError(f"expected 'feature:value', found {_show(token)}")
    where = np.array(indices[1:], dtype=np.intp) - 1
    with np.errstate(over="ignore", invalid="ignore"):
        weights[where] += float(coefficient) * np.array(values[1:])
    if not np.isfinite(weights[where]).all():
        raise ModelFormatError("the weights leave the range of float64")


def _show(text: bytes) -> str:
    return repr(text.decode("latin-1")[:40])
