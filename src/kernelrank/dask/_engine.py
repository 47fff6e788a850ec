"""Access to the parts of the data: actors on the workers of a Dask cluster, or objects in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank.dask._cluster import Cluster, answers_within, settle
from kernelrank.dask._part import WorkerPart
from kernelrank.dask._rows import PartRows
from kernelrank.solvers import PartsLost, Request, ask_again, find_common_columns

_CHECK = 0.5  # seconds between looks at whether an actor is there that has not answered
_REACH = 2.0  # seconds in which a worker must answer to be asked directly
_MOST_ATTEMPTS = 5  # to make a lost part again
_LOST = "Worker holding Actor was lost"  # Dask's error of an actor whose worker is gone


class _Lost(Exception):
    """A part is lost."""


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
        self.set_up([("prepare_products", find_common_columns(self))] * self.n_parts)

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
        return list(ask_again(lambda: self.ask(requests)))

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
    cluster : Cluster
    rows : sequence of Future
        The rows of each part.
    n_rows_of_parts : sequence of int
    n_columns : int
    token : str
        Part of the names of the actors.
    """

    def __init__(
        self, cluster: Cluster, rows: Sequence[Any], n_rows_of_parts: Sequence[int], n_columns: int, token: str
    ) -> None:
        super().__init__(n_rows_of_parts, n_columns)
        self._cluster, self._client, self._rows, self._token = cluster, cluster.client, list(rows), token
        self._made = 0
        self._actors: list[Any] = [None] * len(rows)  # futures
        self._where = [""] * len(rows)
        self._direct: dict[str, bool] = {}  # whether the client can reach a worker itself

    def start(self) -> None:
        """Make the parts."""
        self._make(range(self.n_parts))

    def close(self) -> list[Any]:
        """Return the actors, which are to be cancelled."""
        actors = [each for each in self._actors if each is not None]
        self._actors, self._rows = [], []
        return actors

    def _ask(self, requests: Sequence[Sequence[Request]]) -> list[Any]:
        answers, lost = self._call(range(self.n_parts), requests)
        if lost:
            workers = self._names(lost)
            self._make(lost)
            raise PartsLost(workers)
        return answers

    def _names(self, parts: Sequence[int]) -> str:
        return ", ".join(sorted({self._where[k] for k in parts} - {""}))

    def _make(self, parts: Sequence[int]) -> None:
        """Make parts, with all that was set up, until they are there."""
        missing = list(parts)
        for _ in range(_MOST_ATTEMPTS):
            made = self._make_actors(missing)
            with_setup = [k for k in made if self._setup[k]]
            _, lost = self._call(with_setup, [list(self._setup[k].values()) for k in with_setup])
            missing = sorted({*missing} - {*made} | {*lost})
            if not missing:
                return
        raise RuntimeError(
            f"Parts of the data were lost {_MOST_ATTEMPTS} times in a row, last on {self._names(missing)}: workers keep"
            " dying."
        )

    def _make_actors(self, parts: Sequence[int]) -> list[int]:
        """Make actors where their rows are; return those that are there."""
        rows = [self._rows[k] for k in parts]
        self._cluster.run(settle(rows))
        for k, each in zip(parts, rows, strict=True):
            if each.status == "cancelled":
                error = self._cluster.run(_exception(each))
                raise RuntimeError(f"The rows of part {k} are lost and cannot be computed again: {error}")
        places = self._cluster.run(self._find(rows))
        for k, each, workers in zip(parts, rows, places, strict=True):
            where = {"workers": workers, "allow_other_workers": True} if workers else {}
            self._made += 1
            key = f"kernelrank-part-{self._token}-{k}-{self._made}"
            self._actors[k] = self._client.submit(WorkerPart, each, actor=True, key=key, pure=False, **where)
        actors = [self._actors[k] for k in parts]
        self._cluster.run(settle(actors))
        found = self._cluster.run(self._locate(actors))
        for k, workers in zip(parts, found, strict=True):
            self._where[k] = workers[0] if workers else self._where[k]
        return [k for k, workers in zip(parts, found, strict=True) if not self._is_lost(k) and workers]

    def _is_lost(self, k: int) -> bool:
        """Return whether an actor is gone; raise its error if it could not be made."""
        actor = self._actors[k]
        if actor.status == "error":
            error = self._cluster.run(_exception(actor))
            if str(error) != _LOST:
                raise error
        return bool(actor.status != "finished")

    async def _find(self, futures: Sequence[Any]) -> list[list[str]]:
        """Return the workers of each value."""
        found = await self._client.scheduler.who_has(keys=[each.key for each in futures])
        return [list(found.get(each.key, ())) for each in futures]

    async def _locate(self, actors: Sequence[Any]) -> list[list[str]]:
        """Return the worker of each actor, and find out whether this process can reach it without the scheduler."""
        places = await self._find(actors)
        new = sorted({each for workers in places for each in workers} - {*self._direct})
        if self._client.direct_to_workers is None:
            answers = await answers_within([self._client.rpc(each).identity() for each in new], _REACH)
            self._direct.update({each: isinstance(answer, dict) for each, answer in zip(new, answers, strict=True)})
        else:
            self._direct.update(dict.fromkeys(new, bool(self._client.direct_to_workers)))
        return places

    def _call(self, parts: Sequence[int], requests: Sequence[Sequence[Request]]) -> tuple[list[Any], list[int]]:
        """Return the last answer of each part, and the parts that were lost."""
        if not parts:
            return [], []
        answers = self._cluster.run(self._call_together(parts, requests))
        for answer in answers:
            if isinstance(answer, Exception) and not isinstance(answer, _Lost):
                raise answer
        return answers, [k for k, answer in zip(parts, answers, strict=True) if isinstance(answer, _Lost)]

    async def _call_together(self, parts: Sequence[int], requests: Sequence[Sequence[Request]]) -> list[Any]:
        tasks = [asyncio.ensure_future(self._call_one(k, each)) for k, each in zip(parts, requests, strict=True)]
        try:
            return await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for task in tasks:
                task.cancel()

    async def _call_one(self, k: int, requests: Sequence[Request]) -> Any:
        """Return the answer of a part; raise an error if its worker is lost meanwhile."""
        call = asyncio.ensure_future(self._send(k, requests))
        try:
            while not (await asyncio.wait([call], timeout=_CHECK))[0]:
                # The scheduler notices a worker that does not answer, after some time.
                if self._actors[k].status != "finished":
                    raise _Lost
            return call.result()
        finally:
            call.cancel()

    async def _send(self, k: int, requests: Sequence[Request]) -> Any:
        # As Dask's `Actor` does, whose calls never return if the worker has lost the actor.
        from distributed.protocol.serialize import to_serialize

        worker, actor = self._where[k], self._actors[k].key
        message = {"actor": actor, "function": "answer_last", "args": [to_serialize(requests)], "kwargs": {}}
        try:
            if self._direct[worker]:
                found = await self._client.rpc(worker).actor_execute(**message)
            else:
                found = await self._client.scheduler.proxy(worker=worker, msg={"op": "actor_execute", **message})
        except (OSError, KeyError) as error:  # of the transport, or because the actor is not there
            raise _Lost from error
        if found["status"] != "OK":
            found["exception"].add_note(f"This error is from the worker {worker}.")
            raise found["exception"]
        return found["result"]


async def _exception(future: Any) -> Any:
    return await future.exception()


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
