"""Model files, read and written with the standard library alone."""

import io
import json
import zipfile

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from kernelrank import RLS, MaxMarginClustering, OrdinalSVM, RankingClassifier, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.kernels import Gaussian, Kernel, Polynomial


def data(rng, m=60, n=3):
    X = rng.normal(size=(m, n))
    return X, np.round(X @ np.arange(1.0, n + 1) + rng.normal(size=m))


def small_model(cls=RankSVM, **parameters):
    X, y = data(np.random.default_rng(0), 20, 2)
    return cls(**parameters).fit(X, y)


def small_models():
    """Return small models that cover all features of the format; their files are damaged byte by byte."""
    X, y = data(np.random.default_rng(0), 6, 2)
    outputs = np.stack([y, -y], axis=1)
    return [
        small_model(),
        small_model(loss="squared_hinge"),
        small_model(RankSVMCV, alphas=3, cv=2),
        RLS(kernel=Gaussian(0.5) + 2 * Polynomial()).fit(sp.csr_matrix(X * (X > 0)), outputs),
        RankRLSCV(alphas=2, kernel="gaussian").fit(X, y),
        MaxMarginClustering(kernel=Gaussian(0.5)).fit(X),
        OrdinalSVM(kernel=Gaussian(0.5), n_basis=3).fit(X, y > 0),
        RankingClassifier(RankSVM(0.1), classes=["1", "20"]).fit(X, np.where(y > 0, "20", "1")),
    ]


# Attributes that require another fit, or that have a meaning in one process only.
_SHORTCUTS = ("_training", "_whitening", "_learnt_with", "_stop_words_id")


def fitted(model):
    """Return the fitted attributes without the training data."""
    return {k: value for k, value in vars(model).items() if k not in model.get_params() and k not in _SHORTCUTS}


def same(a, b):
    """Return whether values are equal to the last bit and of the same type; NaN equals itself, and 1 is not True."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        exact = a.tobytes() == b.tobytes() if a.dtype.kind != "O" else all(map(same, a, b))
        return a.dtype == b.dtype and a.shape == b.shape and exact
    if sp.issparse(a):
        return a.shape == b.shape and all(same(getattr(a, k), getattr(b, k)) for k in ("data", "indices", "indptr"))
    if isinstance(a, Kernel):
        ours, theirs = a.get_params(deep=False), b.get_params(deep=False)
        return ours.keys() == theirs.keys() and all(same(ours[name], theirs[name]) for name in ours)
    if isinstance(a, BaseEstimator):
        return all(
            ours.keys() == theirs.keys() and all(same(ours[name], theirs[name]) for name in ours)
            for ours, theirs in ((a.get_params(deep=False), b.get_params(deep=False)), (fitted(a), fitted(b)))
        )
    return repr(a) == repr(b)


def rounding(attributes):
    """Return the relative tolerance of sums: those of kernels are long, and libraries add in different orders."""
    return 1e-12 if "coef_" in attributes else 1e-10


def assert_same_model(a, b):
    assert type(a) is type(b)
    for ours, theirs in ((a.get_params(), b.get_params()), (fitted(a), fitted(b))):
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert same(ours[name], theirs[name]), name


def unpack(path):
    """Return the document and the bytes of the other members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("model.json")), members


def pack(path, document, members, compression=zipfile.ZIP_STORED, force_zip64=False):
    """Write a model file with correct sizes and checksums for any content; the document may be text."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in {"model.json": text, **members}.items():
            with archive.open(name, "w", force_zip64=force_zip64) as member:
                member.write(content)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()
