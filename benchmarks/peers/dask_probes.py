"""One probe of one ranker on a Dask cluster: ``python -m benchmarks.peers.dask_probes PROBE RANKER``.

The cluster has two workers, processes of one thread. The last line printed is the finding, as JSON.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FEATURES, NAMES = 5, list("abcde")
TOLERANCE = 0.05  # of the test error, beside that of the same ranker in memory
KILL_AFTER, SETTLED = 5.0, 10.0  # seconds
RIGHT, WRONG, CLEAR, OBSCURE, HANG = "right model", "wrong model", "clear error", "obscure error", "hang"


class Rows(NamedTuple):
    """Rows in memory."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


class Ranker(NamedTuple):
    """A distributed ranker, and the same in memory; both return a function that scores rows in memory."""

    fit: Callable[..., Callable[[Any], np.ndarray]]
    fit_local: Callable[[Rows], Callable[[Any], np.ndarray]]
    takes_frames: bool = False  # rather than arrays
    queries_of_long_fit: int = 80_000


class Finding(NamedTuple):
    """The outcome of a probe."""

    outcome: str
    detail: str


class MistakeError(Exception):
    """A probe could not be set up."""


def make_rows(seed: int, n_queries: int = 400, size: int = 4) -> Rows:
    """Return queries with effects of their own, which mislead if rows of different queries are compared."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), size)
    X = rng.normal(size=(len(qid), FEATURES))
    X[:, 4] += 3 * rng.normal(size=n_queries)[qid]
    y = np.clip(np.round(2 + X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=len(qid))), 0, 4)
    return Rows(X, y, qid)


def test_error(score: Callable[[Any], np.ndarray]) -> float:
    from kernelrank.metrics import concordance_index

    test = make_rows(99)
    return 1 - float(concordance_index(test.y, np.asarray(score(test.X)).ravel(), qid=test.qid))


# Rankers


def fit_kernelrank(
    client: Any, X: Any, y: Any, qid: Any, *, sizes: Any = None, long: bool = False, sparse: bool = False
) -> Any:
    from kernelrank.dask import RankSVM

    options = {"alpha": 1e-9, "tol": 1e-12, "max_iter": 100_000} if long else {"alpha": 1e-3}
    return RankSVM(**options, client=client).fit(X, y, qid=qid).predict


def local_kernelrank(rows: Rows) -> Any:
    from kernelrank import RankSVM

    return RankSVM(1e-3).fit(rows.X, rows.y, qid=rows.qid).predict


def fit_xgboost(
    client: Any, X: Any, y: Any, qid: Any, *, sizes: Any = None, long: bool = False, sparse: bool = False
) -> Any:
    import dask.dataframe as dd
    from xgboost.dask import DaskXGBRanker

    options: dict[str, Any] = {"objective": "rank:pairwise", "tree_method": "hist"}
    if sparse:  # data frames have no sparse partitions
        options["allow_group_split"] = True
    elif not hasattr(X, "columns"):  # whole queries need data frames
        X = dd.from_dask_array(X, columns=NAMES)
        y, qid = (dd.from_dask_array(each, index=X.index) for each in (y, qid))
    model = DaskXGBRanker(n_estimators=1_000 if long else 50, **options)
    model.client = client
    booster = model.fit(X, y, qid=qid).get_booster()
    return lambda X: booster.inplace_predict(X, validate_features=False)


def local_xgboost(rows: Rows) -> Any:
    from xgboost import XGBRanker

    model = XGBRanker(n_estimators=50, objective="rank:pairwise", tree_method="hist", n_jobs=1)
    return model.fit(rows.X, rows.y, qid=rows.qid).predict


def fit_lightgbm(
    client: Any, X: Any, y: Any, qid: Any, *, sizes: Any = None, long: bool = False, sparse: bool = False
) -> Any:
    import dask.array as da
    from lightgbm import DaskLGBMRanker

    # Queries are given by their sizes, for each partition.
    group = da.concatenate([da.from_array(each, chunks=-1) for each in sizes])
    model = DaskLGBMRanker(n_estimators=1_000 if long else 50, verbose=-1, client=client)
    return model.fit(X, y, group=group).to_local().predict


def local_lightgbm(rows: Rows) -> Any:
    from lightgbm import LGBMRanker

    model = LGBMRanker(n_estimators=50, verbose=-1, n_jobs=1)
    return model.fit(rows.X, rows.y, group=np.bincount(rows.qid)).predict


RANKERS = {
    "kernelrank": Ranker(fit_kernelrank, local_kernelrank, queries_of_long_fit=600_000),
    "XGBoost": Ranker(fit_xgboost, local_xgboost, takes_frames=True),
    "LightGBM": Ranker(fit_lightgbm, local_lightgbm),
}


# Collections


def sizes_of(qid: np.ndarray, chunks: Sequence[int]) -> list[np.ndarray]:
    """Return the numbers of consecutive rows of each query, for each chunk."""
    found = []
    for part in np.split(qid, np.cumsum(chunks)[:-1]):
        starts = np.flatnonzero(np.diff(part, prepend=-1)) if len(part) else np.empty(0, int)
        found.append(np.diff(np.append(starts, len(part))) if len(part) else np.empty(0, int))
    return found


def arrays(rows: Rows, chunks: Sequence[int]) -> dict[str, Any]:
    """Return arguments of `fit`, with chunks of these sizes."""
    import dask.array as da

    X = da.from_array(rows.X, chunks=(tuple(chunks), -1))
    y, qid = (da.from_array(each, chunks=(tuple(chunks),)) for each in (rows.y, rows.qid))
    return {"X": X, "y": y, "qid": qid, "sizes": sizes_of(rows.qid, chunks)}


def halves(rows: Rows) -> list[int]:
    return [len(rows.y) // 2] * 2


# Probes


def judge(ranker: Ranker, rows: Rows, score: Any) -> Finding:
    """Compare the test error with that of the same ranker in memory."""
    found, expected = test_error(score), test_error(ranker.fit_local(rows))
    detail = f"test error {found:.3f}, in memory {expected:.3f}"
    return Finding(RIGHT if found <= expected + TOLERANCE else WRONG, detail)


def split_queries(ranker: Ranker, client: Any) -> Finding:
    rows = make_rows(0, 800, 2)
    order = np.concatenate([np.arange(0, 1600, 2), np.arange(1, 1600, 2)])  # one row of each query per partition
    apart = Rows(*(each[order] for each in rows))
    return judge(ranker, rows, ranker.fit(client, **arrays(apart, halves(apart))))


def empty_partition(ranker: Ranker, client: Any) -> Finding:
    rows = make_rows(0)
    return judge(ranker, rows, ranker.fit(client, **arrays(rows, [800, 0, 800])))


def unknown_sizes(ranker: Ranker, client: Any) -> Finding:
    import dask.dataframe as dd
    import pandas as pd

    rows = make_rows(0)
    frame = pd.DataFrame(rows.X, columns=NAMES).assign(y=rows.y, qid=rows.qid)
    table = dd.from_pandas(frame, npartitions=2, sort=False)
    sizes = sizes_of(rows.qid, [len(part) for part in table.partitions])
    given = [table[NAMES], table["y"], table["qid"]]
    if not ranker.takes_frames:
        given = [each.values for each in given]
    return judge(ranker, rows, ranker.fit(client, *given, sizes=sizes))


def differing_columns(ranker: Ranker, client: Any) -> Finding:
    import dask.dataframe as dd
    import pandas as pd
    from dask.delayed import delayed

    rows, given = make_rows(0), arrays(make_rows(0), [800, 800])
    frames = [pd.DataFrame(rows.X[:800], columns=NAMES), pd.DataFrame(rows.X[800:], columns=NAMES)[NAMES[::-1]]]
    X = dd.from_delayed([delayed(each) for each in frames], meta=frames[0].iloc[:0], verify_meta=False)
    y, qid = given["y"], given["qid"]
    if ranker.takes_frames:
        frame = pd.DataFrame({"y": rows.y, "qid": rows.qid})
        parts = dd.from_delayed([delayed(frame[:800]), delayed(frame[800:])], meta=frame.iloc[:0])
        y, qid = parts["y"], parts["qid"]
    return judge(ranker, rows, ranker.fit(client, X, y, qid, sizes=given["sizes"]))


def missing_values(ranker: Ranker, client: Any) -> Finding:
    rows = make_rows(0)
    rows.X[np.random.default_rng(1).random(rows.X.shape) < 0.02] = np.nan
    given = arrays(rows, halves(rows))
    score = ranker.fit(client, **given)
    return judge(ranker, rows, score)


def mixed_storage(ranker: Ranker, client: Any) -> Finding:
    import dask.array as da

    rows = make_rows(0)
    given = arrays(rows, halves(rows))
    sparse = given["X"][800:].map_blocks(sp.csr_matrix, meta=sp.csr_matrix((0, 0)))
    given["X"] = da.concatenate([given["X"][:800], sparse], allow_unknown_chunksizes=True)
    return judge(ranker, rows, ranker.fit(client, **given, sparse=True))


def no_pair(ranker: Ranker, client: Any) -> Finding:
    rows = make_rows(0)
    rows.y[:] = 1
    score = ranker.fit(client, **arrays(rows, halves(rows)))
    spread = float(np.ptp(np.asarray(score(make_rows(99).X))))
    return Finding(WRONG, f"a model without an error; its scores are {spread:.1g} apart")


def same_model(ranker: Ranker, client: Any) -> Finding:
    rows, test = make_rows(0, 4_000), make_rows(99).X
    given = arrays(rows, [4_000] * 4)
    given |= {name: given[name].persist() for name in ("X", "y", "qid")}
    scores = [np.asarray(ranker.fit(client, **given)(test)) for _ in range(3)]
    most = max(float(np.max(np.abs(each - scores[0]))) for each in scores[1:])
    return Finding(RIGHT if most == 0 else WRONG, f"scores of three fits differ by at most {most:.1g}")


def killed_worker(ranker: Ranker, client: Any) -> Finding:
    rows = make_rows(0, ranker.queries_of_long_fit)
    given = arrays(rows, [ranker.queries_of_long_fit] * 4)
    victim = sorted(client.run(os.getpid).values())[0]
    done, begun, during = threading.Event(), time.monotonic(), []

    def kill() -> None:
        if not done.wait(KILL_AFTER):
            os.kill(victim, signal.SIGKILL)
            during.append(time.monotonic())

    threading.Thread(target=kill, daemon=True).start()
    try:
        score = ranker.fit(client, **given, long=True)
    except Exception as error:
        if not during:
            raise MistakeError(f"the fit failed before the worker was killed: {error}") from error
        raise
    finally:
        done.set()
    if not during:
        raise MistakeError(f"the fit took only {time.monotonic() - begun:.1f} s")
    found = judge(ranker, rows, score)
    return found._replace(detail=f"{found.detail}; ready {time.monotonic() - during[0]:.0f} s after the kill")


def interrupted(ranker: Ranker, client: Any) -> Finding:
    rows = make_rows(0, ranker.queries_of_long_fit)
    given = arrays(rows, [ranker.queries_of_long_fit] * 4)
    pressed: list[float] = []
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs do not have

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(KILL_AFTER, press)
    timer.start()
    try:
        ranker.fit(client, **given, long=True)
    except KeyboardInterrupt:
        waited = time.monotonic() - pressed[0]
        busy = seconds_until_free(client)
        detail = f"KeyboardInterrupt after {waited:.1f} s, workers "
        return (
            Finding(CLEAR, f"{detail}free {busy:.1f} s later")
            if busy is not None
            else Finding(OBSCURE, f"{detail}not free {SETTLED:.0f} s later")
        )
    finally:
        timer.cancel()
    if not pressed:
        raise MistakeError("the fit was over before")
    return Finding(OBSCURE, "a model, as if nothing had happened")


def seconds_until_free(client: Any) -> float | None:
    """Return when all workers answer a new task, and use no processor; None if they do not."""
    start = time.monotonic()
    while time.monotonic() - start < SETTLED:
        used = [sum(client.run(processor_seconds).values()) for _ in range(2) if not time.sleep(0.5)]
        if used[1] - used[0] < 0.25:
            futures = client.map(abs, [1, 2], workers=list(client.scheduler_info(n_workers=-1)["workers"]), pure=False)
            client.gather(futures)
            waited = time.monotonic() - start
            return waited if waited < SETTLED else None
    return None


def processor_seconds() -> float:
    return time.process_time()


class Probe(NamedTuple):
    """A probe, and what an error has to name to be clear."""

    run: Callable[[Ranker, Any], Finding]
    cause: str


PROBES = {
    "queries split between partitions": Probe(split_queries, r"quer|group|qid"),
    "empty partition": Probe(empty_partition, r"empty|no rows|0 rows"),
    "unknown chunk sizes": Probe(unknown_sizes, r"chunk|size"),
    "columns in another order in one partition": Probe(differing_columns, r"column|feature_names|feature names"),
    "NaN in X": Probe(missing_values, r"NaN|missing"),
    "dense and sparse chunks": Probe(mixed_storage, r"sparse"),
    "no comparable pair": Probe(no_pair, r"pair"),
    "worker killed (SIGKILL)": Probe(killed_worker, r"worker.*(lost|died|killed|restart|dead|left)"),
    "Ctrl-C": Probe(interrupted, r"(?!)"),
    "three fits of the same chunks": Probe(same_model, r"(?!)"),
}


def find(probe: Probe, ranker: Ranker, client: Any) -> Finding:
    """Run a probe; an error is clear if its message names the cause."""
    try:
        return probe.run(ranker, client)
    except (MistakeError, ImportError):
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        is_clear = re.search(probe.cause, text, re.IGNORECASE) is not None
        return Finding(CLEAR if is_clear else OBSCURE, f"{type(error).__name__}: {text}")


def main() -> None:
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    probe, ranker = PROBES[sys.argv[1]], RANKERS[sys.argv[2]]
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        found = find(probe, ranker, client)
        print("\n" + json.dumps(found._asdict()), flush=True)


if __name__ == "__main__":
    main()
