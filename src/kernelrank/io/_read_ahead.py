"""Reading of files ahead of their use, by a thread that ends with the file."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernelrank.io._row_manifest import REPAIR

_SLICE = 1 << 22  # bytes read at once, after which a reader can stop
_LONGEST = 0.5  # seconds to wait for that


def read_section(
    path: Path, start: int, memory: NDArray[np.uint8], checksum: int | None, stopped: threading.Event | None = None
) -> None:
    """Read a section of a file into memory; compare its checksum, unless that is None.

    Raises
    ------
    ValueError
        If the file is shorter, or has another checksum; the message names it.
    """
    view, found = memory.data, 0
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        while view and not (stopped and stopped.is_set()):
            n = file.readinto(view[:_SLICE])
            if not n:
                raise ValueError(f"{path}: damaged: it is shorter than it was. {REPAIR}")
            if checksum is not None:
                found = zlib.crc32(view[:n], found)
            view = view[n:]
    if checksum is not None and not view and found != checksum:
        raise ValueError(f"{path}: damaged: the checksum is not that of the manifest. {REPAIR}")


class ReadAhead:
    """Section of a file that is being read by a thread.

    A thread per file costs nothing beside reading it, and nothing has to be ended when a loop over files is left.

    Parameters
    ----------
    path : Path
    memory : ndarray
        Memory to read into.
    checksum : int or None
        Compared if given.
    """

    def __init__(self, path: Path, memory: NDArray[np.uint8], checksum: int | None) -> None:
        self._stopped, self._done = threading.Event(), threading.Event()
        self._error: BaseException | None = None
        self._given = path, 0, memory, checksum, self._stopped
        self._thread = threading.Thread(target=self._read)

    def start(self) -> None:
        """Start to read."""
        self._thread.start()

    def _read(self) -> None:
        try:
            read_section(*self._given)
        except BaseException as error:
            self._error = error
        self._done.set()

    # An event, because a thread whose join was interrupted by Ctrl-C counts as ended in Python 3.11.
    def wait(self) -> None:
        """Wait for the end of the section; raise the error of the thread, if there was one."""
        self._done.wait()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Stop reading; the content of the memory is then not defined."""
        self._stopped.set()
        if self._done.wait(_LONGEST):  # or the start of the thread was interrupted
            self._thread.join()
