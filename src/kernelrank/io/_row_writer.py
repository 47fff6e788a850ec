"""Writing of row stores, block by block, so that an interrupted write can continue."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from kernelrank.io._files import replace_file
from kernelrank.io._row_chunks import Chunk, Part, encode
from kernelrank.io._row_cutting import cut
from kernelrank.io._row_manifest import (
    Manifest,
    check_width,
    file_of,
    read_manifest,
    sizes_of,
    write_manifest,
)
from kernelrank.io._row_sources import Source
from kernelrank.io._temporary import HAS_LOCKS, lock

Report = Callable[[int, float | None], None]

_LISTED_AGAIN = 16  # the manifest is written after each sixteenth of the blocks, as writing it takes longer with each
_OURS = re.compile(r"rows-\d{8,}\.bin|manifest\.json|\.kernelrank-[0-9a-f]{16}\.tmp")


def write_rows(folder: Path, source: Source, block_bytes: int, report: Report | None) -> None:
    """Write all rows of a source to a folder, or those that an interrupted call has not written.

    Raises
    ------
    ValueError
        If the folder has other files or the rows of another source, or there are no rows. A store that is complete
        stays as it is then.
    """
    folder.mkdir(exist_ok=True)
    with _locked(folder):
        before = _found(folder)
        known = before is not None and before.complete and source.origin is not None and before.source == source.origin
        if before is not None and known and _is_there(folder, before):
            return
        parts = source.parts()
        first = next(parts, None)
        if first is None:
            raise ValueError(f"{folder}: there are no rows to write.")
        manifest = Manifest(
            format="csr" if sp.issparse(first.X) else "dense",
            dtype=first.X.dtype.name,
            n_features=first.X.shape[1],
            ids=source.ids,
            block_bytes=block_bytes,
            features=source.features,
            zero_based=source.zero_based,
            source=source.origin,
        )
        if before is not None:
            _require_same_options(folder, before, manifest)
        _write_blocks(folder, manifest, cut(chain([first], parts), block_bytes), before, source, report)


def _write_blocks(
    folder: Path, manifest: Manifest, blocks: Iterator[Part], before: Manifest | None, source: Source, report: Any
) -> None:
    there, chunks, n_rows, width = before.chunks if before else [], [], 0, manifest.n_features
    n_listed = len(there)
    try:
        for number, block in enumerate(blocks):
            chunk, content = encode(block)
            path, known = file_of(folder, number), number < len(there)
            if there[number] != chunk if known else before is not None and before.complete:
                raise ValueError(_differs(folder, n_rows, chunk))
            if not known or _size(path) != sum(sizes_of(manifest, chunk)):
                with replace_file(path, compress=False) as file:
                    for piece in content:
                        file.write(piece)
            chunks.append(chunk)
            n_rows, width = n_rows + chunk.n_rows, max(width, block.X.shape[1])
            if (len(chunks) - n_listed) * _LISTED_AGAIN >= len(chunks):
                write_manifest(folder, replace(manifest, chunks=chunks, n_features=width))
                n_listed = len(chunks)
            if report is not None:
                report(n_rows, source.share)
    except BaseException:
        if len(chunks) > n_listed:
            with suppress(OSError):  # such as that of a full disk
                write_manifest(folder, replace(manifest, chunks=chunks, n_features=width))
        raise
    if len(there) > len(chunks):
        raise ValueError(_differs(folder, n_rows, there[len(chunks)]))
    finished = replace(manifest, chunks=chunks, n_features=width, complete=True)
    check_width(folder, finished, sum(_size(file_of(folder, number)) for number in range(len(chunks))))
    if finished != before:
        write_manifest(folder, finished)


def _is_there(folder: Path, manifest: Manifest) -> bool:
    """Return whether all files are there, with their sizes."""
    expected = (sum(sizes_of(manifest, chunk)) for chunk in manifest.chunks)
    return all(_size(file_of(folder, number)) == size for number, size in enumerate(expected))


def _differs(folder: Path, n_rows: int, chunk: Chunk) -> str:
    return (
        f"{folder}: rows {n_rows + 1:,} to {n_rows + chunk.n_rows:,} of the source are not those that were written"
        " before. Remove the folder to write the rows of this source."
    )


def _require_same_options(folder: Path, before: Manifest, now: Manifest) -> None:
    old, new = before.options(), now.options()
    different = [name for name in old if old[name] != new[name]]
    if different:
        name = different[0]
        raise ValueError(
            f"{folder}: the rows were written with {name}={old[name]!r}, and now it is {new[name]!r}. Remove the folder"
            " to write them anew, or use the same source and options."
        )


def _found(folder: Path) -> Manifest | None:
    """Return the manifest of an earlier write, None if there is none."""
    others = [each.name for each in os.scandir(folder) if not _OURS.fullmatch(each.name)]
    if others:
        raise ValueError(f"{folder}: the folder has other files, such as {min(others)!r}; use a new or empty folder.")
    with suppress(FileNotFoundError):
        return read_manifest(folder)
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return -1


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder, which the operating system releases when the process ends."""
    if not HAS_LOCKS:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if not lock(descriptor):
            raise ValueError(f"{folder}: another process is writing to the folder; wait until it has ended.")
        yield
    finally:
        os.close(descriptor)
