"""Waiting for a cluster that may fail: each wait ends with a result, or with one error within a deadline."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

_CHECK = 0.5  # seconds between looks at whether the scheduler and workers are there
_PATIENCE = 60.0  # seconds without a worker, or without an answer of the scheduler
_POLL, _LONGEST_POLL = 0.002, 0.01  # seconds between looks at the states of futures
_MOST_SHOWN = 8  # workers in an error


class Cluster:
    """Scheduler and workers behind a client.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._seen: list[str] = []  # the workers that were there last
        self._alone_since: float | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the client's event loop; an error or Ctrl-C in this thread cancels it."""
        running = self._start(coroutine)
        self._alone_since = None
        try:
            while not concurrent.futures.wait([running], timeout=_CHECK).done:
                self.require_connection()
                self._require_workers(running)
            return running.result()
        except Exception as error:
            explained = _explain(error, self._address)
            if explained is not None:
                raise explained from error
            raise
        finally:
            running.cancel()

    def workers(self) -> dict[str, Any]:
        """Return what the scheduler knows of each worker, by address; wait for the first one."""

        async def find() -> Any:
            while not (found := await self.client.scheduler.identity(n_workers=-1))["workers"]:
                await asyncio.sleep(_POLL)
            return found["workers"]

        found: dict[str, Any] = self.run(find())
        self._seen = sorted(found)
        return found

    def require_connection(self) -> None:
        """Raise an error if the connection to the scheduler is lost."""
        if self.client.status != "running":
            raise RuntimeError(f"The connection to the scheduler at {self._address} is lost.")

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        try:
            self.require_connection()
            return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)
        except BaseException:
            coroutine.close()
            raise

    def _require_workers(self, running: concurrent.futures.Future[Any]) -> None:
        """Raise an error if there has been no worker for too long, or no answer of the scheduler."""
        found = self._ask_scheduler(running)
        if running.done():
            return
        if found is not None and found["n_workers"]:
            self._seen, self._alone_since = sorted(found["workers"]), None
            return
        self._alone_since = self._alone_since or time.monotonic()
        if time.monotonic() - self._alone_since >= _PATIENCE:
            last = f" The last were {', '.join(self._seen[:_MOST_SHOWN])}." if self._seen else ""
            raise RuntimeError(f"The scheduler at {self._address} has had no worker for {_PATIENCE:g} seconds.{last}")

    def _ask_scheduler(self, running: concurrent.futures.Future[Any]) -> Any:
        """Return what the scheduler knows of some workers; None if it cannot be reached, or need not be."""
        asked = self._start(_look_after(self.client))
        try:
            # Workers that are asked directly may answer although the scheduler does not.
            concurrent.futures.wait([asked, running], _PATIENCE, concurrent.futures.FIRST_COMPLETED)
            if not (asked.done() or running.done()):
                raise RuntimeError(f"The scheduler at {self._address} has not answered for {_PATIENCE:g} seconds.")
            return asked.result() if asked.done() else None
        except OSError:  # the client will notice that the connection is lost
            return None
        finally:
            asked.cancel()

    @property
    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "an unknown address"))


async def _look_after(client: Any) -> Any:
    """Return what the scheduler knows of some workers; let them have tasks that wait for a worker that is gone."""

    def free(dask_scheduler: Any) -> None:  # not at module level, so that a scheduler without kernelrank can run it
        # If there was no worker, Dask never gives new ones the tasks that were preferably for an old one.
        gone = [
            task
            for task in dask_scheduler.unrunnable
            if task.loose_restrictions and not {*dask_scheduler.workers} & {*(task.worker_restrictions or ())}
        ]
        for task in gone:
            task.worker_restrictions = None
        dask_scheduler.transitions({task.key: "processing" for task in gone}, stimulus_id="kernelrank-free-tasks")

    found = await client.scheduler.identity(n_workers=_MOST_SHOWN)
    if found["n_workers"]:
        with suppress(ValueError):  # a scheduler that runs no functions
            await client.run_on_scheduler(free)
    return found


async def settle(futures: Sequence[Any]) -> None:
    """Wait until all futures are finished, or one has failed."""
    pause = _POLL
    while True:
        states = {each.status for each in futures}
        if states & {"error", "cancelled"} or not states & {"pending", "lost"}:  # Dask computes lost ones again
            return
        await asyncio.sleep(pause)
        pause = min(1.2 * pause, _LONGEST_POLL)


async def answers_within(awaitables: Sequence[Any], seconds: float) -> list[Any]:
    """Return results or errors; None of those that take too long."""
    tasks = [asyncio.ensure_future(each) for each in awaitables]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        return [(task.exception() or task.result()) if task.done() else None for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


def _explain(error: Exception, scheduler: str) -> Exception | None:
    """Return the error to raise in place of one of Dask itself."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"Workers died again and again while they computed {error.task}, last {error.last_worker.address} of"
            f" {error.allowed_failures + 1}: see the logs of the workers."
        )
    if isinstance(error, FutureCancelledError):
        if error.reason == "scheduler-connection-lost":
            return RuntimeError(f"The connection to the scheduler at {scheduler} is lost.")
        return RuntimeError(f"What a fit needs was cancelled: {error}")
    return None
