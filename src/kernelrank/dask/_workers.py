"""Places where functions run: the workers of a Dask cluster, or this process with Dask's local scheduler."""

from __future__ import annotations

import importlib.metadata
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol
from uuid import uuid4

import dask.base

from kernelrank.dask._engine import ActorEngine, LocalEngine, PartedRows
from kernelrank.dask._rows import PartRows

_CHECK = 0.5  # seconds between looks at whether workers are there
_PATIENCE = 60.0  # seconds without a worker


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
        self._client, self._token = client, uuid4().hex[:8]
        self._loaded, self._kept = list[Any](), list[Any]()
        self._submitted = 0
        self._engine: ActorEngine | None = None
        self._names = sorted(workers_of(client))
        if not self._names:
            client.wait_for_workers(1, timeout=_PATIENCE)
            self._names = sorted(workers_of(client))
        check_versions(client)

    def names(self) -> list[str]:
        """Return the addresses of the workers, sorted."""
        return self._names

    def memory(self) -> int | None:
        """Return the memory of the smallest worker in bytes, if it is limited."""
        limits = [each["memory_limit"] for each in workers_of(self._client).values()]
        return min((int(limit) for limit in limits if limit), default=None)

    def load(self, parts: Sequence[Any], places: Sequence[int]) -> list[Any]:
        """Compute chunks of a collection, each on the worker with this number if it can."""
        found = []
        for number in sorted(set(places)):
            of_worker = [part for part, place in zip(parts, places, strict=True) if place == number]
            found.append(self._client.compute(of_worker, workers=[self._names[number]], allow_other_workers=True))
        queues = {number: iter(futures) for number, futures in zip(sorted(set(places)), found, strict=True)}
        self._loaded.extend(future for futures in found for future in futures)
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
        """Return the values of handles; wait as long as there are workers."""
        wait(self._client, handles)
        return list(self._client.gather(list(handles)))

    def engine(self, parts: Sequence[Any], n_rows: Sequence[int], n_columns: int) -> PartedRows:
        """Return access to parts, each of which becomes an actor where its rows are."""
        wait(self._client, parts)
        self._engine = ActorEngine(self._client, parts, n_rows, n_columns, self._token)
        return self._engine

    def keep(self, handles: Sequence[Any]) -> None:
        """Release all other handles. Dask knows how to compute their values again."""
        self._loaded, self._kept = [], list(handles)

    def close(self) -> None:
        """Release all handles; nothing is left on the workers."""
        if self._engine is not None:
            self._engine.close()
        for future in self._loaded:  # keys of the user's collection, which may be in use elsewhere
            future.release()
        with suppress(Exception):  # such as a connection that is lost
            self._client.cancel(self._kept, force=True)
        self._loaded, self._kept = [], []


def choose_workers(client: Any, n_threads: int) -> Workers:
    """Return the workers of a client: the one given, the default one, or this process."""
    if client is None:
        try:
            from distributed import default_client

            client = default_client()
        except (ImportError, ValueError):  # there is none
            return LocalWorkers(n_threads)
    if client.status != "running":
        raise RuntimeError(f"The Dask client is {client.status}: it has no connection to a scheduler.")
    return ClusterWorkers(client)


def workers_of(client: Any) -> dict[str, Any]:
    """Return what the scheduler knows of each worker, by address."""
    found: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return found


def wait(client: Any, futures: Sequence[Any]) -> None:
    """Wait for futures; raise an error if no worker is left that could compute them."""
    from distributed import wait as wait_for

    done, alone = threading.Event(), 0.0
    while not done.is_set():
        try:
            wait_for(list(futures), timeout=_CHECK)
            done.set()
        except TimeoutError:
            alone = 0.0 if workers_of(client) else alone + _CHECK
            if alone >= _PATIENCE:
                raise RuntimeError(
                    f"The scheduler at {client.scheduler.address} has had no worker for {_PATIENCE:.0f} seconds."
                ) from None


def installed() -> str:
    """Return the version of kernelrank in this process."""
    return importlib.metadata.version("kernelrank")


def check_versions(client: Any) -> None:
    """Raise an error if a worker has no kernelrank, or another version."""
    here = installed()
    # A function of the standard library: a worker without kernelrank can run it.
    found = client.run(importlib.metadata.version, "kernelrank", on_error="return")
    for worker, version in sorted(found.items()):
        if version != here:
            has = "no kernelrank" if isinstance(version, Exception) else f"kernelrank {version}"
            raise RuntimeError(f"The worker {worker} has {has}, but the client has {here}. Install the same on both.")
