"""Access to the parts of the data: actors on the workers of a Dask cluster, or objects in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank.dask._part import WorkerPart
from kernelrank.dask._rows import PartRows
from kernelrank.solvers import Columns, PartsLost, Request, find_common_columns

_CHECK = 0.5  # seconds between looks at whether the workers are there
_PATIENCE = 60.0  # seconds in which a lost part must be there again
_MOST_ATTEMPTS = 5  # to make a lost part again


class Communication(NamedTuple):
    """Messages between the client and the parts.

    Attributes
    ----------
    rounds : int
        Requests to all parts at once.
    messages : int
        Requests and answers.
    bytes_sent, bytes_received : int
        By the client: arrays and numbers, without the envelopes of messages.
    """

    rounds: int = 0
    messages: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


class PartedRows:
    """Rows in parts: an engine for oracles, and a source of rows for `find_common_columns`.

    Parameters
    ----------
    n_rows_of_parts : sequence of int
    n_columns : int
    """

    def __init__(self, n_rows_of_parts: Sequence[int], n_columns: int) -> None:
        self.n_rows_of_parts, self.n_rows, self.n_columns = list(n_rows_of_parts), sum(n_rows_of_parts), n_columns
        self.communication = Communication()
        self._setup: list[dict[str, Request]] = [{} for _ in self.n_rows_of_parts]

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.n_rows_of_parts)

    def ask(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        """Send each part its requests, and return its answer to the last one."""
        answers = self._ask(requests)
        before, n = self.communication, self.n_parts
        self.communication = Communication(
            before.rounds + 1,
            before.messages + 2 * n,
            before.bytes_sent + sum(map(count_bytes, requests)),
            before.bytes_received + sum(map(count_bytes, answers)),
        )
        return answers

    def ask_all(self, name: str, *arguments: Any) -> list[Any]:
        """Ask all parts the same; ask again if parts are lost."""
        return self.ask_each([(name, *arguments)] * self.n_parts)

    def ask_each(self, requests: Sequence[Request]) -> list[Any]:
        """Ask each part one thing; ask again if parts are lost."""
        return self._repeat([[request] for request in requests])

    def set_up(self, requests: Sequence[Request]) -> list[Any]:
        """Ask each part something that must be asked again of a part that was lost; of its kind, the last request."""
        answers = self._repeat([[request] for request in requests])
        for setup, (name, *arguments) in zip(self._setup, requests, strict=True):
            setup.pop(name, None)
            setup[name] = (name, *arguments)
        return answers

    def prepare_common_products(self) -> None:
        """Prepare products for rows that are all compared with each other."""
        columns: Columns = find_common_columns([self])
        self.set_up([("prepare_products", columns)] * self.n_parts)

    def full_columns(self) -> NDArray[np.intp]:
        """Return the columns with a stored element in every row."""
        full, *others = self.ask_all("full_columns")
        for other in others:
            full = np.intersect1d(full, other, assume_unique=True)
        return np.asarray(full)

    def sample(self, columns: NDArray[np.intp], n_rows: int) -> NDArray[np.float64]:
        """Return about so many rows, or all there are, of some columns; the first row of all is the first of them."""
        return np.concatenate(self.ask_all("sample", columns, n_rows / self.n_rows))

    def are_constant(self, columns: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return in which of the columns all rows have the value given for the column."""
        return np.asarray(np.logical_and.reduce(self.ask_all("are_constant", columns, values)))

    def _repeat(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        while True:
            try:
                return self.ask(requests)
            except PartsLost:  # `_ask` gives up when it cannot make them again
                continue

    def _ask(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        raise NotImplementedError


class LocalEngine(PartedRows):
    """Parts in this process.

    Parameters
    ----------
    rows : sequence of PartRows
    n_rows_of_parts : sequence of int
    n_columns : int
    n_threads : int
    """

    def __init__(
        self, rows: Sequence[PartRows], n_rows_of_parts: Sequence[int], n_columns: int, n_threads: int
    ) -> None:
        super().__init__(n_rows_of_parts, n_columns)
        self._parts = [WorkerPart(each, n_threads) for each in rows]

    def _ask(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        return [part.answer(some)[-1] for part, some in zip(self._parts, requests, strict=True)]


class ActorEngine(PartedRows):
    """Parts that are actors on the workers of a cluster.

    If a worker is lost, its parts are made again elsewhere, from rows that Dask computes again.

    Parameters
    ----------
    client : distributed.Client
    rows : sequence of Future
        The rows of each part.
    n_rows_of_parts : sequence of int
    n_columns : int
    token : str
        Part of the names of the actors.
    """

    def __init__(
        self, client: Any, rows: Sequence[Any], n_rows_of_parts: Sequence[int], n_columns: int, token: str
    ) -> None:
        super().__init__(n_rows_of_parts, n_columns)
        self._client, self._rows, self._token, self._made = client, list(rows), token, 0
        self._futures: list[Any] = [None] * len(rows)
        self._actors: list[Any] = [None] * len(rows)
        self._where: list[str] = [""] * len(rows)
        self._running: Any = None  # the task of the event loop that waits for answers
        places = client.who_has(list(rows))
        for k, each in enumerate(rows):
            self._submit(k, next(iter(places.get(each.key, ())), None))
        self._replace_all(range(len(rows)), submitted=True)

    def close(self) -> None:
        """Release the parts; nothing is left on the workers."""
        if self._running is not None:  # interrupted
            self._client.loop.add_callback(self._running.cancel)
        # Dask's actors are in reference cycles: their futures would be released when these are collected.
        with suppress(Exception):
            self._client.cancel([each for each in self._futures if each is not None], force=True)
        self._actors, self._futures, self._rows = [], [], []

    def _submit(self, k: int, address: str | None = None) -> None:
        """Ask for an actor where its rows are."""
        self._made += 1
        where = {} if address is None else {"workers": [address], "allow_other_workers": True}
        key = f"kernelrank-part-{self._token}-{k}-{self._made}"
        self._actors[k] = None
        self._futures[k] = self._client.submit(WorkerPart, self._rows[k], actor=True, key=key, pure=False, **where)

    def _ask(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        answers, lost = self._call(range(self.n_parts), requests)
        if lost:
            self._replace_all(lost)
            raise PartsLost
        return answers

    def _replace_all(self, parts: Sequence[int], *, submitted: bool = False) -> None:
        """Make parts again, with all that was set up, until they are there."""
        missing = list(parts)
        for _ in range(_MOST_ATTEMPTS):
            if not submitted:
                for k in missing:
                    self._submit(k)
            submitted, made = False, [k for k in missing if self._wait_for(k)]
            setups = [self._setup[k] for k in made]
            with_setup = [k for k, setup in zip(made, setups, strict=True) if setup]
            _, lost = self._call(with_setup, [list(self._setup[k].values()) for k in with_setup])
            missing = sorted({*missing} - {*made} | {*lost})
            if not missing:
                return
        names = ", ".join(sorted({self._where[k] for k in missing}))
        raise RuntimeError(f"Parts of the data were lost again and again, last on {names}: workers keep dying.")

    def _wait_for(self, k: int) -> bool:
        """Wait for an actor; return whether it is there."""
        future, deadline = self._futures[k], None
        while future.status == "pending":
            try:
                future.result(timeout=_CHECK)
            except TimeoutError:
                self._require_connection()
                if self._client.scheduler_info(n_workers=-1)["workers"]:
                    deadline = None  # it is being computed
                else:
                    deadline = deadline or time.monotonic() + _PATIENCE
                    if time.monotonic() > deadline:
                        raise RuntimeError(
                            f"No worker is left, and none came within {_PATIENCE:.0f} seconds; the last one was"
                            f" {self._where[k] or 'never there'}."
                        ) from None
            except Exception:
                break
        if future.status == "finished":
            self._actors[k] = future.result()
            self._where[k] = self._actors[k]._address
            return True
        error = future.exception(timeout=_PATIENCE) if future.status == "error" else None
        if error is None or _is_loss(error):
            return False
        raise error

    def _call(self, parts: Sequence[int], requests: Sequence[Sequence[Request]]) -> tuple[list[Any], list[int]]:
        """Return the last answer of each part, and the parts that were lost."""
        if not parts:
            return [], []
        self._require_connection()
        answers, lost = self._client.sync(self._call_together, parts, requests)
        self._running = None
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers, lost

    async def _call_together(
        self, parts: Sequence[int], requests: Sequence[Sequence[Request]]
    ) -> tuple[list[Any], list[int]]:
        self._running = asyncio.current_task()
        tasks = [asyncio.ensure_future(self._call_one(k, each)) for k, each in zip(parts, requests, strict=True)]
        try:
            pending: set[Any] = set(tasks)
            while pending:
                _, pending = await asyncio.wait(pending, timeout=_CHECK)
                for k, task in zip(parts, tasks, strict=True):
                    # A call of a worker that is gone may wait for ever.
                    if task in pending and self._futures[k].status != "finished":
                        task.cancel()
        finally:
            for task in tasks:
                task.cancel()
        answers, lost = [], []
        for k, task in zip(parts, tasks, strict=True):
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is not None and (_is_loss(error) or self._futures[k].status != "finished"):
                lost.append(k)
            answers.append(
                error if isinstance(error, Exception) and k not in lost else None if error else task.result()
            )
        return answers, lost

    async def _call_one(self, k: int, requests: Sequence[Request]) -> Any:
        return await self._actors[k].answer_last(requests)

    def _require_connection(self) -> None:
        if self._client.status != "running":
            raise RuntimeError(
                f"The connection to the scheduler at {self._client.scheduler.address} is lost: the client is"
                f" {self._client.status}."
            )


def _is_loss(error: BaseException) -> bool:
    """Return whether an error means that a worker is gone."""
    if isinstance(error, asyncio.CancelledError | OSError | TimeoutError):
        return True
    name = type(error).__name__
    return name in ("KilledWorker", "CommClosedError", "FutureCancelledError") or "holding Actor was lost" in str(error)


def count_bytes(value: Any) -> int:
    """Return the size of the arrays, numbers and texts in a message."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if sp.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, dict):
        return count_bytes(list(value.items()))
    if isinstance(value, list | tuple):
        return sum(map(count_bytes, value))
    return len(value) if isinstance(value, str | bytes) else 8
