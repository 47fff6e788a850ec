"""Places where functions run: the workers of a Dask cluster, or this process with Dask's local scheduler."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol
from uuid import uuid4

import dask.base

from kernelrank.dask._cluster import Cluster, answers_within, settle
from kernelrank.dask._engine import ActorEngine, LocalEngine, PartedRows
from kernelrank.dask._rows import PartRows

_ANSWER = 60.0  # seconds in which a worker must say which version it has


class Workers(Protocol):
    """Places where functions run. A handle stands for a value that is there."""

    def names(self) -> list[str]:
        """Return the workers, in a fixed order."""

    def memory(self) -> int | None:
        """Return the memory of the smallest worker in bytes, if it is limited."""

    def load(self, parts: Sequence[Any], places: Sequence[int]) -> list[Any]:
        """Compute chunks of a collection, on workers given by number, and return handles of them."""

    def submit(self, label: str, function: Callable[..., Any], *arguments: Any, place: int | None = None) -> Any:
        """Call a function with values and handles, and return a handle of the result."""

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the values of handles."""

    def keep(self, handles: Sequence[Any]) -> None:
        """Release all other handles. Dask knows how to compute their values again."""

    def engine(self, parts: Sequence[Any], n_rows: Sequence[int], n_columns: int) -> PartedRows:
        """Return access to parts, given by handles of their rows."""

    def close(self) -> None:
        """Release all handles."""


class LocalWorkers:
    """The process of the caller; chunks are computed by Dask's local scheduler."""

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads

    def names(self) -> list[str]:
        """Return the one worker that there is."""
        return ["local"]

    def memory(self) -> int | None:
        """Return None."""
        return None

    def load(self, parts: Sequence[Any], places: Sequence[int]) -> list[Any]:
        """Compute chunks of a collection."""
        return list(dask.base.compute(*parts))

    def submit(self, label: str, function: Callable[..., Any], *arguments: Any, place: int | None = None) -> Any:
        """Call a function."""
        return function(*arguments)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the values, which are their handles."""
        return list(handles)

    def keep(self, handles: Sequence[Any]) -> None:
        """Do nothing."""

    def engine(self, parts: Sequence[PartRows], n_rows: Sequence[int], n_columns: int) -> PartedRows:
        """Return access to parts."""
        return LocalEngine(parts, n_rows, n_columns, self._n_threads)

    def close(self) -> None:
        """Do nothing."""


class ClusterWorkers:
    """Workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client, self._cluster, self._token = client, Cluster(client), uuid4().hex[:8]
        self._loaded, self._kept = list[Any](), list[Any]()
        self._submitted = 0
        self._engine: ActorEngine | None = None
        self._names = sorted(self._cluster.workers())
        check_versions(self._cluster, self._names)

    def names(self) -> list[str]:
        """Return the addresses of the workers that were there at the start, sorted."""
        return self._names

    def memory(self) -> int | None:
        """Return the memory of the smallest worker in bytes, if it is limited."""
        limits = [each["memory_limit"] for each in self._cluster.workers().values()]
        return min((int(limit) for limit in limits if limit), default=None)

    def load(self, parts: Sequence[Any], places: Sequence[int]) -> list[Any]:
        """Compute chunks of a collection, each on the worker with this number if it can."""
        queues = {}
        for number in sorted(set(places)):
            of_worker = [part for part, place in zip(parts, places, strict=True) if place == number]
            futures = self._client.compute(of_worker, workers=[self._names[number]], allow_other_workers=True)
            self._loaded.extend(futures)
            queues[number] = iter(futures)
        return [next(queues[place]) for place in places]

    def submit(self, label: str, function: Callable[..., Any], *arguments: Any, place: int | None = None) -> Any:
        """Call a function on a worker; the label is what the dashboard shows."""
        where = {} if place is None else {"workers": [self._names[place]], "allow_other_workers": True}
        self._submitted += 1
        key = f"kernelrank-{label}-{self._token}-{self._submitted}"
        future = self._client.submit(function, *arguments, key=key, pure=False, **where)
        self._kept.append(future)
        return future

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the values of handles."""

        async def find() -> Any:
            await settle(handles)  # an error arrives before all others are finished
            for each in self._loaded:  # what depends on a failed chunk may only be cancelled
                if each.status == "error":
                    raise await each.exception()
            return await self._client.gather(list(handles))

        return list(self._cluster.run(find()))

    def engine(self, parts: Sequence[Any], n_rows: Sequence[int], n_columns: int) -> PartedRows:
        """Return access to parts, each of which becomes an actor where its rows are."""
        self._engine = ActorEngine(self._cluster, parts, n_rows, n_columns, self._token)
        self._engine.start()
        return self._engine

    def keep(self, handles: Sequence[Any]) -> None:
        """Release all other handles. Dask knows how to compute their values again."""
        self._loaded, self._kept = [], list(handles)

    def close(self) -> None:
        """Release all handles; nothing is left on the workers."""
        handles = [*self._kept, *([] if self._engine is None else self._engine.close())]
        for future in self._loaded:  # keys of the user's collection, which may be in use elsewhere
            future.release()
        with suppress(Exception):  # such as a connection that is lost
            self._cluster.run(self._cancel(handles))
        self._loaded, self._kept = [], []

    async def _cancel(self, handles: Sequence[Any]) -> None:
        await self._client.cancel(list(handles), force=True)


def choose_workers(client: Any, n_threads: int) -> Workers:
    """Return the workers of a client: the one given, the default one, or this process."""
    chosen = choose_client(client)
    return LocalWorkers(n_threads) if chosen is None else ClusterWorkers(chosen)


def choose_client(client: Any) -> Any:
    """Return the client given, or the default one; None if there is none."""
    if client is None:
        try:
            from distributed import default_client

            client = default_client()
        except (ImportError, ValueError):
            return None
    if client.status != "running":
        raise RuntimeError(f"The Dask client is {client.status}: it has no connection to a scheduler.")
    if client.asynchronous:
        raise RuntimeError("The Dask client is asynchronous: use a thread, or a client that is not.")
    return client


def compute_chunks(client: Any, chunks: Sequence[Any]) -> list[Any]:
    """Return the values of chunks, computed wherever Dask does; an error keeps nothing of them on a cluster."""
    if not chunks:
        return []
    chosen = choose_client(client)
    if chosen is None:
        return list(dask.base.compute(*chunks))
    futures = chosen.compute(list(chunks))

    async def gather() -> Any:
        await settle(futures)
        return await chosen.gather(futures)

    try:
        return list(Cluster(chosen).run(gather()))
    finally:
        for each in futures:
            each.release()


def installed() -> str:
    """Return the version of kernelrank in this process."""
    return importlib.metadata.version("kernelrank")


def check_versions(cluster: Cluster, workers: Sequence[str]) -> None:
    """Raise an error if a worker has no kernelrank, or another version, or does not answer."""
    # A function of the standard library: a worker without kernelrank can run it.
    here, function = installed(), importlib.metadata.version

    async def find() -> Any:
        asked = [cluster.client.run(function, "kernelrank", workers=[each], on_error="return") for each in workers]
        return await answers_within(asked, _ANSWER)

    for worker, answer in zip(workers, cluster.run(find()), strict=True):
        if answer is None and worker in cluster.workers():
            raise RuntimeError(f"The worker {worker} has not answered for {_ANSWER:g} seconds.")
        version = answer.get(worker) if isinstance(answer, dict) else None  # None: it has gone meanwhile
        if isinstance(version, importlib.metadata.PackageNotFoundError):
            raise RuntimeError(f"The worker {worker} has no kernelrank, but the client has {here}. Install it there.")
        if isinstance(version, str) and version != here:
            raise RuntimeError(
                f"The worker {worker} has kernelrank {version}, but the client has {here}. Install the same on both."
            )
