"""Models in the text format of SVM^light, which is also used by SVM^rank and SVM^struct."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import to_host
from kernelrank._rules import COUNT, ESTIMATOR, NONE, PATH, TEXT
from kernelrank.estimators import RankSVM
from kernelrank.exceptions import ModelFormatError
from kernelrank.io._files import replace_file
from kernelrank.kernels import Kernel, Linear
from kernelrank.persistence._svmlight_kernels import (
    DEFAULTS,
    NAMES,
    is_known,
    make_svmlight_kernel,
    parameter_letters,
    svmlight_parameters,
)

Vector = NDArray[np.float64]
SupportVector: TypeAlias = tuple[float, NDArray[np.intp], Vector]  # coefficient, features counted from 0, and values

# Lines after the first are identified by position, "<value> # <meaning>". The trailing blanks are SVM^light's.
_HEADER = (
    "{t} # kernel type\n"
    "{d} # kernel parameter -d \n"
    "{g} # kernel parameter -g \n"
    "{s} # kernel parameter -s \n"
    "{r} # kernel parameter -r \n"
    "empty# kernel parameter -u \n"
    "{n_features} # highest feature index \n"
    "0 # number of training documents \n"
    "{n_vectors} # number of support vectors plus 1 \n"
    "{threshold} # threshold b, each following line is a SV (starting with alpha*y)\n"
)
_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"

# Number of features that a header may state: a constant, plus a number per byte of the file. A linear model has a
# weight for each feature; columns of a sparse basis take no memory.
_FREE_WEIGHTS, _FREE_COLUMNS = 1 << 21, 1 << 24
_FEATURES_PER_BYTE = 4

_MOST_DIGITS = 8  # of a feature index, SVM^light's own limit
_COUNT = rb"[1-9]\d{0,%d}" % (_MOST_DIGITS - 1)
_PARAMETERS = {"d": rb"[+-]?\d{1,9}", "g": _NUMBER, "s": _NUMBER, "r": _NUMBER}
_FEATURE = re.compile(rb"(\d{1,8}):(%b)" % _NUMBER)
_NO_FEATURE = re.compile(rb"(?:qid|sid):[+-]?\d+|cost:%b" % _NUMBER)


def save_svmlight_model(model: Any, path: str | os.PathLike[str], *, version: str = "V6.20") -> None:
    """Save a model in the format of SVM^rank, for ``svm_rank_classify``.

    A linear model becomes a single support vector with coefficient 1, the weight vector; zero weights are omitted.
    With a Gaussian or polynomial kernel, the rows of ``basis_`` are the support vectors, so these training rows are
    stored in the file. Numbers are written with full precision (SVM^rank writes 8 digits, and computes with features
    and weights in single precision).

    Parameters
    ----------
    model : RankSVM, RankRLS, RLS or their cross-validated forms
        A fitted model with one output and a kernel that SVM^light supports. Only the prediction function is saved, with
        the intercept of least squares as the threshold; use `save_model` to keep everything.
    path : str or path-like
        Path of the file; an existing file is replaced once the new one is complete.
    version : str, default="V6.20"
        Version in the first line. The C programs read only files of their own version: SVM^rank 1.00 uses "V6.20",
        SVM^light's ``svm_classify`` mostly "V6.02".

    See Also
    --------
    kernelrank.persistence.load_svmlight_model : Load such a model.

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
    ESTIMATOR("model", model)
    PATH("path", path)
    TEXT("version", version)
    check_is_fitted(model)
    if hasattr(model, "thresholds_"):
        raise ValueError(
            f"{type(model).__name__} has thresholds between classes, which the format of SVM^light does not support."
        )
    kernel, coefficients, vectors = _expand(model)
    n_features = vectors.shape[1]
    if n_features >= 10**_MOST_DIGITS:
        raise ValueError(f"SVM^light supports features up to index {10**_MOST_DIGITS - 1}, got {n_features}.")
    if not re.fullmatch(r"V[\w.]+", version, re.ASCII):
        raise ValueError(f"version must look like 'V6.20', got {version!r}.")
    header = _HEADER.format(
        **kernel,
        n_features=n_features,
        n_vectors=1 + np.count_nonzero(coefficients),
        threshold=0.0 - float(getattr(model, "intercept_", 0.0)) or 0,  # it is subtracted from scores
    )
    with replace_file(path, compress=False) as handle:
        handle.write(f"SVM-light Version {version}\n{header}".encode("ascii"))
        for number, coefficient in enumerate(coefficients):
            if coefficient:
                handle.write(f"{coefficient!r} {_show_vector(vectors, number)}#\n".encode("ascii"))


def _expand(model: Any) -> tuple[dict[str, int | float], list[float], Any]:
    """Return the kernel in SVM^light's terms, the coefficients of the support vectors, and the support vectors."""
    is_linear = hasattr(model, "coef_")
    kernel = svmlight_parameters(Linear() if is_linear else getattr(model, "kernel_", None))
    weights: Any = to_host(getattr(model, "coef_" if is_linear else "dual_coef_", None))
    basis = [weights] if is_linear else to_host(getattr(model, "basis_", None))
    if kernel is None or basis is None or np.ndim(weights) != 1 or not np.isfinite(weights).all():
        raise ValueError(
            "Only models of one output, linear or with a Gaussian or polynomial kernel, with finite weights, can be"
            f" written for SVM^light, got {model!r}."
        )
    vectors = sp.csr_array(basis, dtype=np.float64, copy=True)
    vectors.sum_duplicates()  # also sorts the indices
    return kernel, [1] if is_linear else np.asarray(weights, dtype=np.float64).tolist(), vectors


def _show_vector(vectors: Any, number: int) -> str:
    """Format the features of a row as "1:0.5 3:2.0 "."""
    there = slice(vectors.indptr[number], vectors.indptr[number + 1])
    features = zip((vectors.indices[there] + 1).tolist(), vectors.data[there].tolist(), strict=True)
    return "".join(f"{index}:{value!r} " for index, value in features if value)


def load_svmlight_model(path: str | os.PathLike[str], *, n_features: int | None = None) -> RankSVM:
    """Load a model of SVM^light or SVM^rank with a linear, polynomial or radial basis function kernel.

    The weight vector of a linear model is the sum of the support vectors times their coefficients; SVM^rank writes only
    one support vector. With a kernel, the distinct support vectors become the ``basis_``. The threshold is ignored: it
    is added to every score and so does not change the ranking.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    n_features : int, optional
        Number of features of the data to predict. By default it is the highest feature index that the file states,
        which may be greater than that of any weight. A file that states more features than its size can explain (more
        than 4 per byte, and more than 2**21, or 2**24 with a kernel) is read only if that number is given here.

    Returns
    -------
    RankSVM
        Model with default parameters except the kernel. Its only fitted attributes are ``n_features_in_`` and
        ``coef_``, or ``dual_coef_``, ``basis_`` (sparse) and ``kernel_``: the file does not contain alpha, the
        objective, the gap, the number of pairs, feature names or the history. It can predict and score. A linear model
        with ``warm_start`` starts a fit from these weights.

    Raises
    ------
    ModelFormatError
        With a message ``file:line: problem``, also for other kernels such as the sigmoid.

    See Also
    --------
    kernelrank.persistence.save_svmlight_model : Save such a model.

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
    PATH("path", path)
    (COUNT | NONE)("n_features", n_features)
    model = read_svmlight_model(path, widest=n_features or 0)
    if n_features is None:
        return model
    is_linear = hasattr(model, "coef_")
    least = 1 + int(np.max(np.flatnonzero(model.coef_) if is_linear else model.basis_.indices, initial=0))
    if n_features < least:
        raise ValueError(f"n_features must be at least {least}, the number in {os.fspath(path)}, got {n_features}.")
    if is_linear:
        model.coef_ = np.append(model.coef_[:n_features], np.zeros(max(0, n_features - len(model.coef_))))
    else:
        model.basis_.resize((len(model.dual_coef_), n_features))
    model.n_features_in_ = n_features
    return model


def read_svmlight_model(path: str | os.PathLike[str], *, widest: int = 0) -> RankSVM:
    """Read a model with the number of features in its header: at most `widest`, or in proportion to the file."""
    with open(path, "rb") as handle:
        lines = _Lines(handle)
        try:
            kernel, coefficients, basis = _read(lines, widest)
        except ModelFormatError as reason:
            raise ModelFormatError(f"{os.fspath(path)}:{lines.number}: {reason}") from None
    model = RankSVM()
    if basis is None:
        model.coef_, model.n_features_in_ = coefficients, len(coefficients)
    else:
        model.kernel, model.kernel_, model.dual_coef_, model.basis_ = kernel, kernel, coefficients, basis
        model.n_features_in_ = basis.shape[1]
    model._fitted_with_queries = False
    return model


class _Lines:
    """Lines of a file, with the number of the last line read and the size of the file."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle
        self.number = 0
        self.n_bytes = os.fstat(handle.fileno()).st_size

    def next(self, expected: str) -> bytes:
        """Return the next line, or raise an error at the end of the file."""
        self.number += 1
        line = self._handle.readline()
        if not line:
            raise ModelFormatError(f"the file ends where {expected} should follow")
        return line

    def rest(self) -> Iterator[bytes]:
        """Yield the remaining lines."""
        for line in self._handle:
            self.number += 1
            yield line


def _read(lines: _Lines, widest: int) -> tuple[Kernel, Vector, Any]:
    """Return the kernel, the coefficients and the support vectors; for a linear model the weights and None."""
    if not re.fullmatch(rb"SVM-light Version \S+\s*", lines.next("'SVM-light Version ...'")):
        raise ModelFormatError("not a model of SVM^light or SVM^rank: expected 'SVM-light Version ...'")
    kernel = _read_kernel(lines)
    n_features = int(_read_header_line(lines, "highest feature index", _COUNT))
    free = _FREE_WEIGHTS if isinstance(kernel, Linear) else _FREE_COLUMNS
    if n_features > max(widest, free, _FEATURES_PER_BYTE * lines.n_bytes):
        raise ModelFormatError(
            f"{n_features} features are implausible for a file of {lines.n_bytes} bytes; if the number is correct, call"
            f" load_svmlight_model(..., n_features={n_features})"
        )
    _read_header_line(lines, "number of training documents", rb"\d+")
    n_vectors = int(_read_header_line(lines, "number of support vectors", _COUNT)) - 1
    _read_header_line(lines, "threshold b", _NUMBER)
    support = (
        _read_vector(lines.next(f"support vector {number} of {n_vectors}"), n_features)
        for number in range(1, n_vectors + 1)
    )
    read = _add_up(support, n_features) if isinstance(kernel, Linear) else _collect(support, n_features)
    if any(line.strip() for line in lines.rest()):
        raise ModelFormatError(f"there are more than the {n_vectors} support vectors that the header states")
    return kernel, *read


def _read_kernel(lines: _Lines) -> Kernel:
    number = int(_read_header_line(lines, "kernel type", rb"\d"))
    if not is_known(number):
        raise ModelFormatError(
            f"kernel type {number} ({NAMES.get(number, 'unknown')}): only models of linear, polynomial and radial basis"
            " kernels can be read"
        )
    parameters = dict(DEFAULTS)
    kernel = make_svmlight_kernel(number, parameters)
    for letter in "dgsru":
        needed = letter in parameter_letters(number)
        value = _read_header_line(lines, f"kernel parameter -{letter}", _PARAMETERS[letter] if needed else rb".*")
        if needed:
            parameters[letter] = int(value) if letter == "d" else float(value)
            try:
                kernel = make_svmlight_kernel(number, parameters)
            except ValueError as reason:
                raise ModelFormatError(f"kernel parameter {reason}") from None
    return kernel


def _read_header_line(lines: _Lines, meaning: str, pattern: bytes) -> bytes:
    """Return the value of a line and check its comment; the C programs ignore it and misread some files."""
    value, _, comment = lines.next(f"the {meaning}").partition(b"#")
    value = value.strip()
    if comment.strip() and not comment.strip().startswith(meaning.encode()):
        raise ModelFormatError(f"expected the {meaning}, found {_show(comment)}")
    if not re.fullmatch(pattern, value):
        raise ModelFormatError(f"{_show(value)} is not a valid {meaning}")
    return value


def _read_vector(line: bytes, n_features: int) -> SupportVector:
    text, end, _ = line.partition(b"#")
    if not end and not line.endswith(b"\n"):
        raise ModelFormatError("the file ends within a support vector")  # possibly within a number
    coefficient, *tokens = text.split() or [b""]
    if not re.fullmatch(_NUMBER, coefficient):
        raise ModelFormatError(f"expected the coefficient of a support vector, found {_show(coefficient)}")
    indices, values = [0], [float(coefficient)]
    for token in tokens:
        feature = _FEATURE.fullmatch(token)
        if feature:
            indices.append(int(feature[1]))
            values.append(float(feature[2]))
            if not indices[-2] < indices[-1] <= n_features:
                raise ModelFormatError(f"{_show(token)}: features must increase, up to the highest, {n_features}")
        elif not _NO_FEATURE.fullmatch(token):
            raise ModelFormatError(f"expected 'feature:value', found {_show(token)}")
    if not np.isfinite(values).all():
        raise ModelFormatError("a number of the support vector overflows float64")
    return values[0], np.array(indices[1:], dtype=np.intp) - 1, np.array(values[1:], dtype=np.float64)


def _add_up(support: Iterable[SupportVector], n_features: int) -> tuple[Vector, None]:
    """Return the weights of a linear model."""
    weights = np.zeros(n_features)
    for coefficient, features, values in support:
        with np.errstate(over="ignore", invalid="ignore"):
            weights[features] += coefficient * values
        if not np.isfinite(weights[features]).all():
            raise ModelFormatError("the weights overflow float64")
    return weights, None


def _collect(support: Iterable[SupportVector], n_features: int) -> tuple[Vector, Any]:
    """Return the distinct support vectors with their coefficients; SVM^rank repeats them for each cutting plane."""
    found: dict[tuple[bytes, bytes], float] = {}
    for coefficient, features, values in support:
        vector = features.tobytes(), values.tobytes()
        found[vector] = found.get(vector, 0.0) + coefficient
    if not found:
        found[b"", b""] = 0.0  # a kernel needs at least one row
    coefficients = np.array(list(found.values()))
    if not np.isfinite(coefficients).all():
        raise ModelFormatError("the coefficients overflow float64")
    features = np.frombuffer(b"".join(features for features, _ in found), dtype=np.intp).copy()
    values = np.frombuffer(b"".join(values for _, values in found)).copy()  # a copy is writable
    ends = np.cumsum([0, *(len(values) // 8 for _, values in found)])
    return coefficients, sp.csr_matrix((values, features, ends), shape=(len(found), n_features))


def _show(text: bytes) -> str:
    return repr(text.decode("latin-1")[:40])
