"""Reading of the files of a row store, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._memory import require_memory
from kernelrank.io._read_ahead import ReadAhead, read_section
from kernelrank.io._row_chunks import check_labels_of, check_rows_of, decode_ids, decode_rows, label_arrays, split
from kernelrank.io._row_manifest import REPAIR, Manifest, file_of, sizes_of


class StoredRows(NamedTuple):
    """Consecutive rows of a store.

    Attributes
    ----------
    start : int
        The first row.
    X : {ndarray, sparse matrix} of shape (k, n_features)
        The rows. They share memory that is used again for the next block but one.
    queries : ndarray of shape (k,) or None
        Numbers 0, 1, ... of the queries of the block; None without queries.
    """

    start: int
    X: Any
    queries: NDArray[np.int32] | None


class Labels(NamedTuple):
    """Utilities of a file, and the sizes and ids of its queries."""

    y: NDArray[np.float64]
    sizes: NDArray[np.int32]
    text: NDArray[np.uint8]
    lengths: NDArray[np.int32]

    def ids(self) -> list[str]:
        """Return the ids of the queries."""
        return decode_ids(self.text, self.lengths)


def codes_of(sizes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the number 0, 1, ... of the query of each row."""
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


class RowFiles:
    """Files of a row store.

    Parameters
    ----------
    folder : Path
    manifest : Manifest
        Complete and checked.

    Attributes
    ----------
    starts : list of int
        The first row of each file, and the number of rows.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self._manifest, self._dtype = folder, manifest, np.dtype(manifest.dtype)
        self.starts = np.cumsum([0, *(each.n_rows for each in manifest.chunks)]).tolist()
        self._checked: set[int] = set()  # numbers of files whose rows have the right checksum
        self._sizes: list[NDArray[np.int32]] | None = None  # of the queries, by file

    def forget(self) -> None:
        """Reset which files have the right checksum."""
        self._checked.clear()

    def blocks(self) -> Iterator[StoredRows]:
        """Read all rows, one block after the other.

        Yields
        ------
        StoredRows
            The rows of a block, which are valid until the next block but one is taken.

        Raises
        ------
        ValueError
            If a file is damaged.
        """
        sizes = self.query_sizes() if self._manifest.ids is not None else None
        for number, X in enumerate(self.matrices()):
            yield StoredRows(self.starts[number], X, None if sizes is None else codes_of(sizes[number]))

    def matrices(self, first: int = 0, stop: int | None = None) -> Iterator[Any]:
        """Yield X of each file, or of some consecutive ones; see `blocks`."""
        n_bytes = [sizes_of(self._manifest, chunk)[0] for chunk in self._manifest.chunks]
        n_files = len(n_bytes) if stop is None else stop
        what = f"{self._folder}: reading blocks of {max(n_bytes)} bytes"
        require_memory(2.0 * max(n_bytes), what, "Write the rows with a smaller block_bytes, or smaller queries.")
        memory = [np.empty(max(n_bytes[first:n_files]), np.uint8) for _ in range(min(n_files - first, 2))]
        ahead = self._read_ahead(first, memory[first % len(memory)][: n_bytes[first]])
        try:
            ahead.start()
            for number in range(first, n_files):
                ahead.wait()
                if number + 1 < n_files:
                    ahead = self._read_ahead(number + 1, memory[(number + 1) % 2][: n_bytes[number + 1]])
                    ahead.start()
                yield self._matrix(number, memory[number % len(memory)][: n_bytes[number]])
        finally:
            ahead.stop()

    def _read_ahead(self, number: int, memory: NDArray[np.uint8]) -> ReadAhead:
        checksum = None if number in self._checked else self._manifest.chunks[number].checksums[0]
        return ReadAhead(file_of(self._folder, number), memory, checksum)

    def _matrix(self, number: int, memory: NDArray[np.uint8]) -> Any:
        try:
            X = decode_rows(memory, self._manifest.chunks[number], self._dtype, self._manifest.n_features)
            if number not in self._checked:
                check_rows_of(X, self._manifest.chunks[number].n_stored)
        except ValueError as error:
            raise ValueError(f"{file_of(self._folder, number)}: damaged: {error}. {REPAIR}") from None
        self._checked.add(number)
        if self._manifest.format == "csr":
            X.has_canonical_format = True
        return X

    def query_sizes(self) -> list[NDArray[np.int32]]:
        """Return the sizes of the queries of each file; they are kept: 4 bytes per query."""
        if self._sizes is None:
            self._sizes = [labels.sizes.copy() for _, labels in self.labels()]
        return self._sizes

    def labels(self, first: int = 0, stop: int | None = None) -> Iterator[tuple[int, Labels]]:
        """Yield the first row and the labels of each file, or of some consecutive ones."""
        for number, chunk in list(enumerate(self._manifest.chunks))[first:stop]:
            path, (start, size) = file_of(self._folder, number), sizes_of(self._manifest, chunk)
            memory = np.empty(size, np.uint8)
            read_section(path, start, memory, chunk.checksums[1])
            y, sizes, lengths, text = split(memory, label_arrays(chunk))
            try:
                check_labels_of(y, sizes, lengths, chunk.id_bytes)
            except ValueError as error:
                raise ValueError(f"{path}: damaged: {error}. {REPAIR}") from None
            yield self.starts[number], Labels(y, sizes, text, lengths)
