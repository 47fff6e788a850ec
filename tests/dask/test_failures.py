"""Workers, schedulers and users that interrupt a fit: the same result or one clear error in time; nothing is left."""

import asyncio
import functools
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed")

import cloudpickle
import dask
import dask.array as da
import numpy as np
from clusters import (
    Deaths,
    assert_nothing_is_left,
    kill,
    lasting_cluster,
    local_cluster,
    pids,
    say,
    wait_until,
    within,
    worker_without_nanny,
)

import kernelrank
from kernelrank.dask import RankRLS, RankSVM, _cluster, _engine, _workers
from kernelrank.dask._part import WorkerPart

cloudpickle.register_pickle_by_value(sys.modules[__name__])

LIMIT = 120  # seconds for a fit that must not hang
FORMS = {  # options, and whether there are queries
    "hinge": ({}, True),
    "squared": ({"loss": "squared_hinge"}, True),
    "gather": ({"counting": "gather"}, False),
    "gather squared": ({"loss": "squared_hinge"}, False),
    "bins": ({"counting": "bins"}, False),
}


@pytest.fixture(scope="module")
def nannies():
    with local_cluster() as client:
        yield client


@pytest.fixture
def nursed(nannies):
    """Return a client of three workers, all of which are there."""
    wait_until(lambda: len(nannies.scheduler_info(n_workers=-1)["workers"]) == 3)
    wait_until(lambda: len(pids(nannies)) == 3)
    yield nannies
    wait_until(lambda: len(nannies.scheduler_info(n_workers=-1)["workers"]) == 3)


def problem(form, m=600):
    options, queries = FORMS[form]
    rng = np.random.default_rng(5)
    X, qid = rng.normal(size=(m, 5)), np.sort(rng.integers(0, 60, m))
    y = np.round(X[:, 0] - X[:, 1] + rng.normal(size=m), 1)
    y = y if form != "bins" else np.clip(np.round(y), -2, 2)
    more = {"qid": qid} if queries else {}
    local = kernelrank.RankSVM(1e-3, loss=options.get("loss", "hinge")).fit(X, y, **more)
    return X, y, more, {"alpha": 1e-3, **options}, local


def assert_same(model, local):
    """Both objectives are within the certified gaps of the same optimum."""
    assert model.objective_ - model.gap_ <= local.objective_ + 1e-12
    assert local.objective_ - local.gap_ <= model.objective_ + 1e-12
    assert model.n_pairs_ == local.n_pairs_


def make_chunk(X, before):
    before()
    return X


def chunks_of(X, before, n_chunks=6):
    """Return a collection whose chunks call a function before they are there."""
    parts = [
        da.from_delayed(dask.delayed(make_chunk)(each, before), each.shape, each.dtype)
        for each in np.array_split(X, n_chunks)
    ]
    return da.concatenate(parts)


def fit(client, form, before=None, **more):
    X, y, options, parameters, local = problem(form)
    chunks = da.from_array(X, chunks=(100, -1)) if before is None else chunks_of(X, before)
    model = within(LIMIT, RankSVM(client=client, **parameters, **more).fit, chunks, y, **options)
    assert_same(model, local)
    assert_nothing_is_left(client)
    return model


class KilledRounds:
    """Rounds of requests, in some of which workers are killed."""

    def __init__(self, monkeypatch, client, choose, *, moment="during", everyone=False):
        self.client, self.choose, self.moment, self.everyone = client, choose, moment, everyone
        self.kinds, self.n_killed = [], 0
        original = _engine.ActorEngine._call_together

        async def call_together(engine, parts, requests):
            kinds = [request[0] for request in requests[0]]
            self.kinds.append(kinds[-1])
            if self.choose(self, kinds):
                while len(client.cluster.scheduler.workers) < 2:  # one after the other
                    await asyncio.sleep(0.05)
                for pid in self.victims(engine):
                    self.n_killed += 1
                    if self.moment == "during":  # the request is sent, and never answered
                        os.kill(pid, signal.SIGSTOP)
                        asyncio.get_running_loop().call_later(0.1, kill, pid)
                    else:
                        kill(pid)
            return await original(engine, parts, requests)

        monkeypatch.setattr(_engine.ActorEngine, "_call_together", call_together)

    def victims(self, engine):
        found = pids(self.client)
        holders = [found[each] for each in dict.fromkeys(engine._where) if each in found]
        return list(found.values()) if self.everyone else holders[-1:]


def once_for_each_kind():
    seen = set()

    def choose(rounds, kinds):
        new = set(kinds) - seen
        seen.update(kinds)
        return bool(new)

    return choose


def in_round(number):
    return lambda rounds, kinds: len(rounds.kinds) == number


# Before the fit: chunks are loaded, checked, moved, and become actors.


@pytest.mark.slow
@pytest.mark.parametrize("form", ["hinge", "gather squared"])
@pytest.mark.parametrize("most", [1, 3])
def test_workers_killed_while_chunks_load(nursed, tmp_path, form, most):
    with Deaths(tmp_path, most) as deaths:
        fit(nursed, form, functools.partial(say, tmp_path))
    assert len(deaths.killed) == most


def say_and_call(folder, function, *arguments):
    say(folder)
    return function(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["check", "facts", "split", "pick", "part", "rows"])
@pytest.mark.parametrize("most", [1, 3])
def test_workers_killed_while_rows_are_checked_and_moved(nursed, tmp_path, monkeypatch, label, most):
    submit = _workers.ClusterWorkers.submit

    def slow(self, name, function, *arguments, **options):
        function = functools.partial(say_and_call, tmp_path, function) if name == label else function
        return submit(self, name, function, *arguments, **options)

    monkeypatch.setattr(_workers.ClusterWorkers, "submit", slow)
    with Deaths(tmp_path, most) as deaths:
        fit(nursed, "hinge")
    assert len(deaths.killed) >= min(most, 2)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3])
def test_workers_killed_while_parts_are_made(nursed, tmp_path, monkeypatch, most):
    class SlowPart(WorkerPart):
        def __init__(self, *arguments):
            say(tmp_path)
            super().__init__(*arguments)

    monkeypatch.setattr(_engine, "WorkerPart", SlowPart)
    with Deaths(tmp_path, most) as deaths:
        fit(nursed, "hinge")
    assert len(deaths.killed) == most


# In rounds of requests.


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("moment", ["before", "during"])
def test_a_worker_killed_in_each_kind_of_request(nursed, monkeypatch, form, moment):
    rounds = KilledRounds(monkeypatch, nursed, once_for_each_kind(), moment=moment)
    fit(nursed, form)
    assert rounds.n_killed >= 4
    kinds = {"hinge": "backward", "squared": "count", "gather": "multiply", "bins": "histogram"}
    assert kinds.get(form, "multiply_transposed") in rounds.kinds


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3, 6, 9, 14])
@pytest.mark.parametrize("form", ["hinge", "squared"])
def test_all_workers_killed_at_once(nursed, monkeypatch, number, form):
    rounds = KilledRounds(monkeypatch, nursed, in_round(number), everyone=True)
    fit(nursed, form)
    assert rounds.n_killed == 3


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_worker_killed_between_iterations(nursed, form):
    iterations = []

    def report(_):
        iterations.append(None)
        if len(iterations) in (1, 4):
            kill(next(iter(pids(nursed).values())))
            time.sleep(0.2)

    fit(nursed, form, verbose=report)
    assert len(iterations) >= 4


@pytest.mark.slow
def test_all_workers_killed_while_the_client_solves(nursed):
    iterations = []

    def report(_):
        iterations.append(None)
        if len(iterations) == 3:
            for pid in pids(nursed).values():
                kill(pid)

    fit(nursed, "hinge", verbose=report)


@pytest.mark.slow
def test_clients_that_cannot_reach_workers(nursed, monkeypatch):
    monkeypatch.setattr(nursed, "direct_to_workers", False)
    rounds = KilledRounds(monkeypatch, nursed, once_for_each_kind())
    fit(nursed, "hinge")
    assert rounds.n_killed >= 4


# Workers that do not come back, are frozen, or fail on their own.


@pytest.mark.slow
def test_a_worker_that_does_not_come_back(tmp_path, monkeypatch):
    with lasting_cluster(tmp_path, 3) as (client, _, workers):
        iterations = []

        def report(_):
            iterations.append(None)
            if len(iterations) in (2, 4):
                kill(workers.pop().pid)

        fit(client, "hinge", verbose=report)
        assert len(workers) == 1


@pytest.mark.slow
@pytest.mark.parametrize("queries", [False, True])
def test_workers_die_in_each_kind_of_round_of_least_squares(monkeypatch, nursed, queries):
    X, y, options, _, _ = problem("hinge" if queries else "gather")
    rounds = KilledRounds(monkeypatch, nursed, once_for_each_kind())
    model = RankRLS(0.1, solver="cg", tol=1e-10, client=nursed)
    within(LIMIT, model.fit, da.from_array(X, chunks=(100, -1)), y, **options)
    assert {"prepare_squares", "normalise_squares", "pull", "multiply_squares_of_differences"} <= {*rounds.kinds}
    assert rounds.n_killed >= 5
    local = kernelrank.RankRLS(0.1).fit(X, y, **options)
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-6, atol=1e-8)
    assert_nothing_is_left(nursed)


@pytest.mark.slow
def test_a_worker_dies_while_products_are_summed_up(tmp_path, nursed):
    X, y, options, _, _ = problem("hinge")
    with Deaths(tmp_path):
        model = RankRLS(0.1, client=nursed)
        within(LIMIT, model.fit, chunks_of(X, functools.partial(say, tmp_path)), y, **options)
    np.testing.assert_allclose(model.coef_, kernelrank.RankRLS(0.1).fit(X, y, **options).coef_, rtol=1e-6, atol=1e-8)
    assert_nothing_is_left(nursed)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["loading", "rounds"])
def test_the_last_worker_dies(tmp_path, monkeypatch, phase):
    X, y, options, parameters, _ = problem("hinge")
    with lasting_cluster(tmp_path, 2) as (client, _, workers), Deaths(tmp_path, 2):
        fit(client, "hinge")  # after which the scheduler has imported what it needs, and answers fast
        monkeypatch.setattr(_cluster, "_PATIENCE", 6)
        names = "|".join(client.scheduler_info(n_workers=-1)["workers"])

        def report(_):
            for each in workers:
                kill(each.pid)

        chunks = chunks_of(X, functools.partial(say, tmp_path)) if phase == "loading" else da.from_array(X, 100)
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=rf"no worker for 6 seconds.*({names})"):
            within(LIMIT, RankSVM(client=client, verbose=report, **parameters).fit, chunks, y, **options)
        assert time.monotonic() - start < 20
        with worker_without_nanny(client.scheduler.address):
            client.wait_for_workers(1, timeout=60)
            assert_nothing_is_left(client)
            monkeypatch.undo()
            fit(client, "hinge")


@pytest.mark.slow
def test_no_worker_at_the_start(monkeypatch):
    monkeypatch.setattr(_cluster, "_PATIENCE", 1)
    with local_cluster(0) as client, pytest.raises(RuntimeError, match="has had no worker for 1 seconds"):
        within(LIMIT, RankSVM(client=client).fit, da.ones((4, 2), chunks=2), np.arange(4))


@pytest.mark.slow
def test_no_worker_to_score(monkeypatch):
    monkeypatch.setattr(_cluster, "_PATIENCE", 1)
    X, y = da.random.random((4, 2), chunks=2), np.arange(4)
    model = RankSVM().fit(X, y)
    with local_cluster(0) as client:
        model.set_params(client=client)
        for method, given in ((model.score, (X, y)), (model.rank, (X,))):
            with pytest.raises(RuntimeError, match="has had no worker for 1 seconds"):
                within(LIMIT, method, *given)
        wait_until(lambda: not client.futures, 10)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["loading", "rounds"])
def test_a_frozen_worker(tmp_path, phase):
    with dask.config.set({"distributed.scheduler.worker-ttl": "5s"}), local_cluster(2) as client:
        iterations = []

        def freeze(_=None):
            iterations.append(None)
            if len(iterations) == 3:
                os.kill(next(iter(pids(client).values())), signal.SIGSTOP)

        if phase == "rounds":
            fit(client, "hinge", verbose=freeze)
        else:
            with Deaths(tmp_path, 1) as deaths:
                deaths.act = lambda pid: os.kill(pid, signal.SIGSTOP)
                fit(client, "hinge", functools.partial(say, tmp_path))


@pytest.mark.slow
def test_a_worker_that_is_frozen_at_the_start(monkeypatch):
    monkeypatch.setattr(_workers, "_ANSWER", 1)
    with local_cluster(2) as client:
        worker, pid = next(iter(pids(client).items()))
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(RuntimeError, match=f"The worker {worker} has not answered for 1 seconds"):
                within(LIMIT, RankSVM(client=client).fit, da.ones((4, 2), chunks=2), np.arange(4))
        finally:
            os.kill(pid, signal.SIGCONT)


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_chunks_that_kill_each_worker(nursed):
    X, y, options, parameters, _ = problem("hinge")
    with pytest.raises(RuntimeError, match=r"died again and again while they computed .*, last tcp://.* of 4"):
        within(LIMIT, RankSVM(client=nursed, **parameters).fit, chunks_of(X, die, 2), y, **options)
    assert_nothing_is_left(nursed)


class DeadlyPart(WorkerPart):
    def backward(self, *_):
        die()

    prepare_products = backward


class DeadlyProducts(WorkerPart):
    def backward(self, *_):
        die()


@pytest.mark.slow
@pytest.mark.parametrize("part", [DeadlyPart, DeadlyProducts])
def test_requests_that_kill_each_worker(nursed, monkeypatch, part):
    monkeypatch.setattr(_engine, "WorkerPart", part)
    X, y, options, parameters, _ = problem("hinge")
    with pytest.raises(RuntimeError, match=r"lost 5 times in a row, last on tcp://.*: workers keep dying"):
        within(LIMIT, RankSVM(client=nursed, **parameters).fit, da.from_array(X, chunks=(300, -1)), y, **options)
    assert_nothing_is_left(nursed)


@pytest.mark.slow
def test_rows_that_cannot_be_computed_again(nursed, monkeypatch):
    X, y, options, parameters, _ = problem("hinge")
    scattered = nursed.scatter([X[:300], X[300:]])
    chunks = da.concatenate([da.from_delayed(each, (300, 5), X.dtype) for each in map(dask.delayed, scattered)])
    KilledRounds(monkeypatch, nursed, in_round(5), everyone=True)
    with pytest.raises(RuntimeError, match="cannot be computed again"):
        within(LIMIT, RankSVM(client=nursed, **parameters).fit, chunks, y, **options)
    del scattered, chunks
    assert_nothing_is_left(nursed)


# Errors of workers and of the user's functions are no losses.


class PartWithoutMemory(WorkerPart):
    def backward(self, *_):
        raise MemoryError("Unable to allocate 1 TiB")


class PartThatIsNotReached(WorkerPart):
    def backward(self, *_):
        raise OSError("No space left")


def refuse_to_load():
    raise OSError("No such bucket")


@pytest.mark.parametrize("part", [PartWithoutMemory, PartThatIsNotReached])
def test_errors_of_parts_arrive(cluster, monkeypatch, part):
    monkeypatch.setattr(_engine, "WorkerPart", part)
    X, y, options, parameters, _ = problem("hinge")
    kind, text = (MemoryError, "1 TiB") if part is PartWithoutMemory else (OSError, "No space left")
    with pytest.raises(kind, match=text) as raised:
        within(LIMIT, RankSVM(client=cluster, **parameters).fit, da.from_array(X, chunks=(300, -1)), y, **options)
    assert "from the worker tcp://" in raised.value.__notes__[0]
    assert_nothing_is_left(cluster)


def test_errors_of_chunks_arrive(cluster):
    X, y, options, parameters, _ = problem("hinge")
    with pytest.raises(OSError, match="No such bucket"):
        within(LIMIT, RankSVM(client=cluster, **parameters).fit, chunks_of(X, refuse_to_load), y, **options)
    assert_nothing_is_left(cluster)


def load_once(file):
    if file.exists():
        raise OSError("No such bucket")


@pytest.mark.slow
def test_errors_of_chunks_that_are_computed_again_arrive(nursed, monkeypatch, tmp_path):
    X, y, options, parameters, _ = problem("hinge")
    KilledRounds(monkeypatch, nursed, in_round(8), everyone=True)
    chunks = chunks_of(X, functools.partial(load_once, tmp_path / "gone"), 3)

    def report(_):
        (tmp_path / "gone").touch()

    with pytest.raises(OSError, match="No such bucket"):
        within(LIMIT, RankSVM(client=nursed, verbose=report, **parameters).fit, chunks, y, **options)
    assert_nothing_is_left(nursed)


@pytest.mark.slow
@pytest.mark.parametrize("found", ["raise PackageNotFoundError(name)", "return '0.0.1'"])
def test_another_version_is_said_at_the_start(found):
    before = f"""
import importlib.metadata
from importlib.metadata import PackageNotFoundError
known = importlib.metadata.version
def version(name):
    if name == "kernelrank":
        {found}
    return known(name)
version.__module__ = "importlib.metadata"
importlib.metadata.version = version
"""
    X, y, options, parameters, _ = problem("hinge")
    match = "has no kernelrank, but" if "raise" in found else r"has kernelrank 0\.0\.1, but"
    with local_cluster(1) as client, worker_without_nanny(client.scheduler.address, before):
        client.wait_for_workers(2, timeout=60)
        with pytest.raises(RuntimeError, match=f"The worker tcp://.* {match}"):
            within(LIMIT, RankSVM(client=client, **parameters).fit, da.from_array(X, chunks=(300, -1)), y, **options)
        assert_nothing_is_left(client)


# The scheduler, and the user.


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["loading", "rounds"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_scheduler_is_lost(tmp_path, monkeypatch, phase, how):
    X, y, options, parameters, local = problem("hinge")
    with lasting_cluster(tmp_path, 2) as (client, scheduler, _):
        fit(client, "hinge")  # after which the scheduler has imported what it needs, and answers fast
        monkeypatch.setattr(_cluster, "_PATIENCE", 3)
        iterations = []

        def report(_):
            iterations.append(None)
            if len(iterations) == 3 and phase == "rounds":
                os.kill(scheduler.pid, how)
                time.sleep(0.5)

        chunks = chunks_of(X, functools.partial(say, tmp_path, 1)) if phase == "loading" else da.from_array(X, 100)
        model = RankSVM(client=client, verbose=report, **parameters)
        with Deaths(tmp_path, 1) as deaths:
            deaths.act = lambda _: os.kill(scheduler.pid, how)
            if phase == "rounds" and how == signal.SIGSTOP:  # rounds do without it
                assert_same(within(LIMIT, model.fit, chunks, y, **options), local)
                return
            with pytest.raises(
                RuntimeError, match=f"scheduler at {client.scheduler.address} (is lost|has not answered)"
            ):
                within(30, model.fit, chunks, y, **options)


def test_what_is_running_may_finish_while_the_scheduler_is_silent(cluster, monkeypatch):
    async def take(seconds):
        await asyncio.sleep(seconds)
        return seconds

    monkeypatch.setattr(_cluster, "_look_after", lambda client: take(LIMIT))
    assert within(LIMIT / 2, _cluster.Cluster(cluster).run, take(0.8)) == 0.8
    monkeypatch.setattr(_cluster, "_PATIENCE", 0.1)
    with pytest.raises(RuntimeError, match=r"has not answered for 0\.1 seconds"):
        within(LIMIT / 2, _cluster.Cluster(cluster).run, take(LIMIT))


INTERRUPTED = """
import signal, sys, time
from pathlib import Path
import dask.array as da
import numpy as np
from clusters import assert_nothing_is_left, local_cluster
from kernelrank.dask import RankSVM, _engine
from kernelrank.dask._part import WorkerPart

class SlowPart(WorkerPart):
    def backward(self, terms):
        time.sleep(SECONDS)
        return super().backward(terms)

def slow(X):
    time.sleep(SECONDS)
    return X

PHASE, SECONDS = sys.argv[1], 3

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background ignores
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    chunks, y = da.from_array(X, chunks=(100, -1)), X[:, 0] + rng.normal(size=300)
    with local_cluster(2) as client:
        RankSVM(client=client).fit(chunks, y, qid=np.arange(300) // 30)
        if PHASE == "product":
            _engine.WorkerPart = SlowPart
        if PHASE == "client":
            report = lambda _: (print("started", flush=True), time.sleep(SECONDS))
        else:
            report = 0
        print("started" if PHASE != "client" else "", flush=True)
        try:
            rows = chunks.map_blocks(slow, meta=X[:0]) if PHASE == "loading" else chunks
            RankSVM(client=client, verbose=report).fit(rows, y, qid=np.arange(300) // 30)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        _engine.WorkerPart = WorkerPart
        assert_nothing_is_left(client)
        RankSVM(client=client).fit(chunks, y, qid=np.arange(300) // 30)
        assert_nothing_is_left(client)
        print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["loading", "product", "client"])
def test_ctrl_c(tmp_path, pytestconfig, phase):
    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    command = [sys.executable, str(script), phase]
    root = str(pytestconfig.rootpath)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=root)
    try:
        line = within(60, lambda: next(each for each in running.stdout if each == "started\n"))
        assert line == "started\n"
        time.sleep(1.0)
        start = time.monotonic()
        running.send_signal(signal.SIGINT)
        assert within(30, lambda: next(each for each in running.stdout if each != "started\n")) == "interrupted\n"
        assert time.monotonic() - start < 2
        assert within(60, running.stdout.readline) == "done\n"
        assert running.wait(60) == 0
    finally:
        running.kill()
        running.stdout.close()
        running.wait()


# Other clusters.


@pytest.mark.parametrize("form", ["hinge", "gather squared", "bins"])
def test_workers_that_are_threads(form):
    with local_cluster(2, processes=False, threads_per_worker=3) as client:
        fit(client, form)


def test_an_asynchronous_client_is_an_error():
    from distributed import Client, LocalCluster

    async def attempt():
        async with (
            LocalCluster(n_workers=0, processes=False, dashboard_address=":0", asynchronous=True) as made,
            Client(made, asynchronous=True, set_as_default=False) as client,
        ):
            RankSVM(client=client).fit(da.ones((4, 2), chunks=2), np.arange(4))

    with pytest.raises(RuntimeError, match="client is asynchronous"):
        asyncio.run(attempt())
