"""Clusters whose processes tests may kill."""

import contextlib
import faulthandler
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cloudpickle
import dask
from distributed import Client, LocalCluster

# Workers may be unable to import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def within(seconds, function, *arguments, **options):
    """Return the result of a function, or fail if it takes too long."""
    found = []

    def run():
        try:
            found.append((function(*arguments, **options), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        faulthandler.dump_traceback(file=sys.__stderr__)
        raise AssertionError(f"It hangs: no result after {seconds} seconds.")
    result, error = found.pop()
    try:
        if error is not None:
            raise error
        return result
    finally:
        del error  # whose frames would keep futures until garbage is collected


@contextlib.contextmanager
def local_cluster(n_workers=3, **options):
    """Yield a client of workers that come back when they are killed."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "2GiB", **options}
    # After that time a cluster gives up a worker that it happens to find restarting, as others may do once more.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with (
        patient,
        LocalCluster(n_workers=n_workers, silence_logs=60, **options) as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


@contextlib.contextmanager
def process(*command):
    """Yield a process that can import what is here, and kill it in the end."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen([sys.executable, *command], env=environment, **quiet)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def worker_without_nanny(address, before=""):
    """Return the context of a worker that does not come back."""
    script = f"{before}\nfrom distributed.cli.dask_worker import main\nmain()"
    return process("-c", script, address, "--no-nanny", "--no-dashboard", "--nthreads", "1")


@contextlib.contextmanager
def lasting_cluster(folder, n_workers=2):
    """Yield a client, the process of its scheduler, and those of workers that do not come back."""
    file = folder / "scheduler.json"
    scheduler = process(
        "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
    )
    with scheduler as running, contextlib.ExitStack() as stack:
        wait_until(file.exists)
        client = Client(scheduler_file=str(file), set_as_default=False, timeout="3s")
        workers = [stack.enter_context(worker_without_nanny(client.scheduler.address)) for _ in range(n_workers)]
        try:
            client.wait_for_workers(n_workers, timeout=60)
            yield client, running, workers
        finally:
            os.kill(running.pid, signal.SIGCONT)
            with contextlib.suppress(Exception):
                client.close(timeout=3)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "It did not come true in time."
        time.sleep(0.02)


def pids(client):
    """Return the processes of the workers of a local cluster, by address, without asking them."""
    return {each.worker_address: each.pid for each in client.cluster.workers.values() if each.pid}


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def assert_nothing_is_left(client):
    """Neither values nor actors nor tasks are left, once workers have finished what was cancelled."""

    def left():
        found = client.run(lambda dask_worker: len(dask_worker.data) + len(dask_worker.state.actors))
        return any(found.values()) or client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))

    def is_clean():
        with contextlib.suppress(OSError):  # a worker that is just being killed
            return not left()
        return False

    wait_until(is_clean, 30)
    gc.collect()  # frames of errors, which have futures
    assert not client.futures, sorted(client.futures)


class Deaths:
    """Kills, or acts on, the first processes that say that they have started something."""

    def __init__(self, folder, most=1):
        self.folder, self.most, self.killed = folder, most, []
        self.act = kill
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(0.02) and len(self.killed) < self.most:
            for each in self.folder.glob("pid-*"):
                pid = int(each.name.split("-")[1])
                if pid not in self.killed and len(self.killed) < self.most:
                    self.killed.append(pid)
                    self.act(pid)


def say(folder, seconds=0.3):
    """Say that something has started in this process, and give time to kill it."""
    (folder / f"pid-{os.getpid()}").touch()
    time.sleep(seconds)
