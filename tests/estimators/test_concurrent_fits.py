"""The same bits in any thread, beside other fits, and in a forked child."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernelrank import OrdinalSVM, RankSVM

# Sums over so many rows are what BLAS splits among its threads.
N_ROWS = 30_000


@pytest.fixture(scope="module")
def data():
    """Return rows, while BLAS may use several threads: what they would change must not show."""
    with threadpool_limits(2, user_api="blas"):
        yield make_data()


def make_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 12))
    return X, np.round(X @ rng.normal(size=12) + rng.normal(size=N_ROWS), 1)


def weights(model, data):
    return model.fit(*data).coef_.copy()


MODELS = [
    RankSVM(1e-4),
    RankSVM(1e-4, loss="squared_hinge"),
    RankSVM(1e-4, positive=True),
    OrdinalSVM(1e-4, max_iter=10, tol=1.0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_another_thread(data, model):
    if isinstance(model, OrdinalSVM):
        data = data[0], np.digitize(data[1], [-2.0, 2.0])
    expected, found = weights(model, data), []
    thread = threading.Thread(target=lambda: found.append(weights(model, data)))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], expected)


def test_concurrent_fits(data):
    expected = weights(RankSVM(1e-4), data)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: weights(RankSVM(1e-4), data), range(4)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_child_that_is_forked_during_a_fit(data):
    expected = weights(RankSVM(1e-4), data)
    receiver, sender = multiprocessing.Pipe(duplex=False)
    children = []

    def fork(_):
        if not children:
            child = multiprocessing.get_context("fork").Process(
                target=lambda: sender.send(weights(RankSVM(1e-4, n_jobs=2), data))
            )
            child.start()
            children.append(child)

    np.testing.assert_array_equal(weights(RankSVM(1e-4, verbose=fork), data), expected)
    assert receiver.poll(60), "the child does not answer"
    np.testing.assert_array_equal(receiver.recv(), expected)
    children[0].join()
    assert children[0].exitcode == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_threads_that_cannot_start_are_done_without():
    """Stacks of a GiB do not fit into half a GiB: no thread can be started, and the work is done by one."""
    program = """
import resource
import numpy as np
from kernelrank import RankSVM
from kernelrank.io import dump_svmlight, load_svmlight
from kernelrank.metrics import concordance_index
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 5))
y = X[:, 0] + rng.normal(size=20_000)
expected = RankSVM(n_jobs=1).fit(X, y).coef_
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), used + (1 << 29)))
assert (RankSVM(n_jobs=4).fit(X, y).coef_ == expected).all()
assert concordance_index(y, X[:, 0], n_jobs=4) == concordance_index(y, X[:, 0])
print("done")
"""
    command = ["bash", "-c", f'ulimit -s 1048576 && exec "{sys.executable}" -c "$0"', program]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout == "done\n", done.stderr
