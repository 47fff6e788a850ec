"""The manifest of a row store: a JSON file with the sizes and checksums of the files of rows that are complete."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelrank.io._files import replace_file
from kernelrank.io._row_chunks import Chunk, ends, label_arrays, row_arrays

NAME = "manifest.json"
_KIND, _VERSION = "kernelrank row store", 1
_LARGEST = 2**62
_MOST_FEATURES = 1 << 24  # of sparse rows; more only if the files have as many bytes
_IDS = (None, "integers", "text", "as written")
REPAIR = "Remove the file, and write the rows again with the same source: the other files stay."


@dataclass(frozen=True)
class Manifest:
    """Description of the files of a row store.

    Attributes
    ----------
    format : {"dense", "csr"}
    dtype : {"float32", "float64"}
    n_features : int
    ids : {"integers", "text", "as written"} or None
        Type of query ids; those of text files are integers if all look like integers. None without queries.
    block_bytes : int
        Size of the rows of a file that the writer aimed at.
    features : list of str or None
        Names of the features.
    zero_based : bool or None
        Whether the features of svmlight text counted from 0.
    source : dict or None
        Name, size and time of the file that the rows come from.
    complete : bool
        Whether all rows of the source are there.
    chunks : list of Chunk
    """

    format: str
    dtype: str
    n_features: int
    ids: str | None
    block_bytes: int
    features: list[str] | None = None
    zero_based: bool | None = None
    source: dict[str, Any] | None = None
    complete: bool = False
    chunks: list[Chunk] = field(default_factory=list)

    def options(self) -> dict[str, Any]:
        """Return what a writer that continues must agree on."""
        sparse = self.format == "csr"  # whose number of features may grow
        same = replace(self, complete=False, chunks=[], source=None, n_features=0 if sparse else self.n_features)
        return asdict(same)


def file_of(folder: Path, number: int) -> Path:
    """Return the path of a file of rows."""
    return folder / f"rows-{number:08d}.bin"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest aside and rename it."""
    content = {"kind": _KIND, "version": _VERSION, **asdict(manifest)}
    with replace_file(folder / NAME) as file:
        file.write(json.dumps(content).encode())


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is damaged, or of another version; the message names the file.
    """
    path = folder / NAME
    with open(path, "rb") as file:
        text = file.read()
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.pop("kind", None) != _KIND:
            raise ValueError("it does not describe a row store")
        version = content.pop("version", None)
        if version != _VERSION:
            raise ValueError(f"it has version {version!r}, but this version of kernelrank reads version {_VERSION}")
        return _parse(content)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(
            f"{path}: damaged or not the manifest of a row store: {error}. Remove the folder, and write the rows again."
        ) from None


def _parse(content: dict[str, Any]) -> Manifest:
    chunks = [_chunk(*each) for each in content.pop("chunks")]
    manifest = Manifest(**content, chunks=chunks)
    sparse = manifest.format == "csr"
    known = manifest.format in ("dense", "csr") and manifest.dtype in ("float32", "float64") and manifest.ids in _IDS
    flags = isinstance(manifest.complete, bool) and (manifest.zero_based in (None, True, False))
    if not known or not flags or _whole(manifest.n_features) < 1 or _whole(manifest.block_bytes) < 1:
        raise ValueError("a field has a value that is not possible")
    if manifest.complete and not chunks:
        raise ValueError("it has no rows")
    if not isinstance(manifest.source, dict | None):
        raise ValueError("the source is not described as it should be")
    names = manifest.features
    if names is not None and not (
        isinstance(names, list) and len(names) == manifest.n_features and all(isinstance(each, str) for each in names)
    ):
        raise ValueError("the names of the features do not fit their number")
    for each in chunks:
        if (
            each.n_rows < 1
            or each.index_bytes not in ((4, 8) if sparse else (0,))
            or (not sparse and each.n_stored != each.n_rows * manifest.n_features)
            or (each.n_queries > 0) != (manifest.ids is not None)
            or each.n_queries > each.n_rows
            or (each.id_bytes > 0 and not each.n_queries)
        ):
            raise ValueError("the sizes of a file of rows contradict each other")
    return manifest


def _chunk(n_rows: Any, n_stored: Any, n_queries: Any, index_bytes: Any, id_bytes: Any, checksums: Any) -> Chunk:
    first, second = map(_whole, checksums)
    return Chunk(
        _whole(n_rows), _whole(n_stored), _whole(n_queries), _whole(index_bytes), _whole(id_bytes), (first, second)
    )


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        raise ValueError(f"{str(value)[:40]!r} is not a size")
    return value


def sizes_of(manifest: Manifest, chunk: Chunk) -> tuple[int, int]:
    """Return the bytes of the rows and of the labels of a file."""
    return ends(row_arrays(chunk, np.dtype(manifest.dtype)))[-1], ends(label_arrays(chunk))[-1]


def check_files(folder: Path, manifest: Manifest) -> None:
    """Check that all files are there, with the sizes that the manifest states.

    Nothing is allocated by sizes that are not those of files.
    """
    total = 0
    for number, chunk in enumerate(manifest.chunks):
        path, expected = file_of(folder, number), sum(sizes_of(manifest, chunk))
        try:
            found = os.stat(path).st_size
        except FileNotFoundError:
            raise ValueError(
                f"{path}: the file is missing. Write the rows again with the same source: the other files stay."
            ) from None
        if found != expected:
            raise ValueError(f"{path}: damaged: it has {found} bytes instead of {expected}. {REPAIR}")
        total += found
    check_width(folder, manifest, total)


def check_width(folder: Path, manifest: Manifest, n_bytes: int) -> None:
    """Check that a model, with one number per feature, is not much larger than the rows it comes from."""
    if manifest.format == "csr" and manifest.n_features > max(_MOST_FEATURES, n_bytes):
        raise ValueError(
            f"{folder / NAME}: {manifest.n_features} features are too many for {n_bytes} bytes of rows; hash them to"
            f" {_MOST_FEATURES} or fewer."
        )
