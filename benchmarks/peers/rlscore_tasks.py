"""Times of RLScore, in the environment where it is installed: Python 3.6 or older, so nothing newer is used here.

``python -m benchmarks.peers.rlscore_tasks FOLDER`` reads ``FOLDER/tasks.json`` and the arrays that it names, and writes
``FOLDER/found.json``. ``rlscore.py`` starts it.
"""

import json
import sys
from os.path import join
from platform import python_version
from time import perf_counter

import numpy as np
import rlscore.learner as learner
import scipy
from pkg_resources import get_distribution
from rlscore.measure import cindex
from threadpoolctl import threadpool_limits


def run(task, X, y, qid):
    """Return the seconds of a task, and its predictions if there are any to compare."""
    kernel = {"kernel": "GaussianKernel", "gamma": task["gamma"]}
    regparams = task["regparams"]
    start = perf_counter()
    if task["what"] == "leave-pair-out, 20 alphas":
        learner.LeavePairOutRankRLS(X, y, regparams=regparams, **kernel)
    elif task["what"] == "leave-query-out, 20 alphas":
        learner.LeaveQueryOutRankRLS(X, y, qid, regparams=regparams, measure=cindex, **kernel)
    else:
        model = learner.GlobalRankRLS(X, y, regparams[0], **kernel)
        if task["what"] == "all pairs left out":
            first, second = np.triu_indices(len(y), 1)
            start = perf_counter()  # the fit does not count
            return model.leave_pair_out(first, second), perf_counter() - start
    return None, perf_counter() - start


def main(folder):
    """Run all tasks, each once."""
    with open(join(folder, "tasks.json")) as file:
        tasks = json.load(file)
    seconds = []
    for number, task in enumerate(tasks):
        rows = np.load(join(folder, task["rows"]))
        predictions, spent = run(task, rows["X"], rows["y"], rows["qid"])
        seconds.append(spent)
        if predictions is not None:
            np.save(join(folder, f"predictions-{number}.npy"), np.array(predictions))
    release = get_distribution("rlscore").version
    versions = f"RLScore {release} on Python {python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    with open(join(folder, "found.json"), "w") as file:
        json.dump({"versions": versions, "seconds": seconds}, file)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main(sys.argv[1])
