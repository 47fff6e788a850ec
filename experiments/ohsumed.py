"""OHSUMED of LETOR 3.0: five parts of queries, their documents and grades; three studies take it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import data_file
from kernelrank.io import load_svmlight

N_PARTS = 5
N_FEATURES = 45
FILES = "letor/OHSUMED_{kind}_S{number}.txt.xz"
_QUERIES, _DOCUMENTS = 6, 15  # of a part that is generated


class Rows(NamedTuple):
    """Features, grades 0 to 2, and queries."""

    X: sp.csr_matrix
    y: np.ndarray
    qid: np.ndarray


def load_parts(quick: bool, kind: str = "QueryLevelNorm") -> list[Rows]:
    """Read the five parts; in a quick run, generate small ones.

    Parameters
    ----------
    quick : bool
    kind : {"QueryLevelNorm", "min"}
        Features normalised inside each query, or raw ones.
    """
    if quick:
        return [_generate(number) for number in range(N_PARTS)]
    paths = [data_file(FILES.format(kind=kind, number=number + 1)) for number in range(N_PARTS)]
    loaded = [load_svmlight(path, n_features=N_FEATURES, zero_based=False) for path in paths]
    return [Rows(part.X, part.y, part.qid) for part in loaded]


def _generate(number: int) -> Rows:
    rng = np.random.default_rng(number)
    m = _QUERIES * _DOCUMENTS
    X = np.where(rng.random((m, N_FEATURES)) < 0.5, rng.random((m, N_FEATURES)), 0.0)
    y = np.digitize(X[:, :5].sum(axis=1) + rng.normal(scale=0.5, size=m), [1.5, 2.0]).astype(float)
    y[:_DOCUMENTS] *= number != 1  # as in the real data, one query has no relevant document
    return Rows(sp.csr_matrix(X), y, np.repeat(np.arange(_QUERIES) + number * _QUERIES, _DOCUMENTS))


def join(parts: list[Rows]) -> Rows:
    """Return the rows of several parts."""
    X, y, qid = zip(*parts, strict=True)
    return Rows(sp.vstack(X, format="csr"), np.concatenate(y), np.concatenate(qid))


def split(parts: list[Rows], fold: int) -> tuple[Rows, Rows, Rows]:
    """Return the rows to train on, to validate on and to test on; `fold` counts from 0."""
    turned = [parts[(fold + k) % N_PARTS] for k in range(N_PARTS)]
    return join(turned[:3]), turned[3], turned[4]
