"""RankSVM on rows that stay in files: the solution of the fit in memory, in little memory."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from ctrl_c import interrupt

import kernelrank as kr
from kernelrank import RankSVM, metrics, model_selection, pairs
from kernelrank.exceptions import MissingQueryWarning
from kernelrank.io import RowStore

M, N = 600, 5


@pytest.fixture(params=[np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def form(request):
    return request.param


@pytest.fixture
def make(rng, tmp_path, form):
    """Return a store, and its rows as arguments of a fit."""

    def make(of_queries, dtype=np.float64):
        X = (rng.normal(size=(M, N)) * (rng.random((M, N)) < 0.7)).astype(dtype)
        y = np.rint(X @ np.arange(N) + rng.normal(size=M))
        qid = np.repeat(rng.permutation(60), 10) if of_queries else None
        chunks = [(form(X), y)] if qid is None else [(form(X), y, qid)]
        store = RowStore.write(tmp_path / f"{len(list(tmp_path.iterdir()))}", chunks, block_bytes=8_000)
        return store, form(X), y, qid

    return make


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("of_queries", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_solution_is_that_in_memory(make, loss, of_queries, dtype):
    store, X, y, qid = make(of_queries, dtype)
    stored = RankSVM(loss=loss).fit(store)
    model = RankSVM(loss=loss).fit(X, y, qid=qid)
    assert stored.gap_ <= 1e-3
    lower = max(each.objective_ - each.gap_ for each in (stored, model))
    assert lower <= stored.objective_ <= lower + stored.gap_ + model.gap_
    assert stored.n_pairs_ == model.n_pairs_
    assert stored.n_features_in_ == N
    judge = RankSVM(loss=loss, warm_start=True, max_iter=1, tol=10.0)
    judge.coef_ = stored.coef_
    assert judge.fit(X, y, qid=qid).objective_ == pytest.approx(stored.objective_, rel=1e-9)  # J at the same weights


@pytest.mark.parametrize("of_queries", [False, True])
def test_scores_ranks_and_concordance(make, of_queries):
    store, X, y, qid = make(of_queries)
    model = RankSVM().fit(store)
    np.testing.assert_array_equal(model.predict(store), model.predict(X))
    np.testing.assert_array_equal(model.decision_function(store), model.predict(X))
    np.testing.assert_array_equal(model.rank(store), model.rank(X, qid=qid))
    assert model.score(store) == model.score(X, y, qid=qid)


def test_weights_threads_constraints_and_warm_starts(make, rng):
    store, X, y, qid = make(True)
    weight = rng.integers(1, 4, M).astype(float)
    for options, arguments in (
        ({}, {"sample_weight": weight}),
        ({"query_weighting": "pair"}, {}),
        ({"positive": True}, {}),
        ({"n_jobs": 2}, {}),
    ):
        stored = RankSVM(**options).fit(store, **arguments)
        model = RankSVM(**options).fit(X, y, qid=qid, **arguments)
        assert stored.objective_ - stored.gap_ <= model.objective_
        assert model.objective_ - model.gap_ <= stored.objective_
        assert stored.n_pairs_ == pytest.approx(model.n_pairs_)
        if "positive" in options:
            assert (stored.coef_ >= 0).all()
    one, two = (RankSVM(n_jobs=n).fit(store).coef_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    warm = RankSVM(warm_start=True).fit(store)
    assert warm.n_iter_ > warm.fit(store).n_iter_


def test_a_fit_with_queries_warns_without(make):
    store, X, *_ = make(True)
    with pytest.warns(MissingQueryWarning):
        RankSVM().fit(store).rank(X)


def test_what_a_store_brings_must_not_be_passed(make):
    store, X, y, qid = make(True)
    model = RankSVM().fit(store)
    for call in (model.fit, model.score):
        with pytest.raises(ValueError, match="y must not be passed with a RowStore"):
            call(store, y)
        with pytest.raises(ValueError, match="qid must not be passed with a RowStore"):
            call(store, qid=qid)
    with pytest.raises(ValueError, match="qid must not be passed"):
        model.rank(store, qid)
    with pytest.raises(ValueError, match="sample_weight has 2 elements, but there are 600 rows"):
        model.fit(store, sample_weight=[1, 2])
    for call in (model.fit, model.score):
        with pytest.raises(ValueError, match="requires y to be passed"):
            call(X)


def test_other_features_and_kernels(make, tmp_path):
    store, *_ = make(False)
    with pytest.raises(ValueError, match=r"A RowStore requires kernel='linear'.*NystromMap"):
        RankSVM(kernel="gaussian").fit(store)
    with pytest.raises(ValueError, match="n_basis is for non-linear kernels"):
        RankSVM(n_basis=5).fit(store)
    model = RankSVM().fit(np.eye(3), [1, 2, 3])
    with pytest.raises(ValueError, match="The RowStore has 5 features, but RankSVM was fitted with 3"):
        model.predict(store)
    for name, columns in (("a", "u,v"), ("b", "v,u")):
        (tmp_path / f"{name}.csv").write_text(f"{columns},y\n1,2,3\n4,5,6\n7,7,7\n")
    one, other = (RowStore.write_table(tmp_path / f"{n}.store", tmp_path / f"{n}.csv", target="y") for n in "ab")
    model.fit(one)
    assert model.feature_names_in_.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"features of the RowStore are \['v', 'u'\]"):
        model.predict(other)


def test_only_rank_svm_takes_a_store(make):
    store, X, y, qid = make(True)
    fitted = kr.RankSVMCV([1e-3], cv=2).fit(X, y, qid=qid)
    for call in (
        lambda: RankSVM().fit_pairs(store, [[0, 1]]),
        lambda: kr.RankSVMCV().fit(store, y),
        lambda: kr.RankRLS().fit(store, y),
        lambda: kr.RankRLSCV().fit(store, y),
        lambda: kr.RLS().fit(store, y),
        lambda: kr.GreedyRankRLS().fit(store, y),
        lambda: kr.OrdinalSVM().fit(store, y),
        lambda: kr.NystromMap(n_basis=2).fit(store),
        lambda: fitted.predict(store),
        lambda: metrics.concordance_index(store, y),
        lambda: pairs.UtilityPairs(store),
        lambda: model_selection.estimate_concordance(RankSVM(), store, y),
    ):
        with pytest.raises(TypeError, match=r"A RowStore is not an array.*kernelrank\.RankSVM"):
            call()


def test_no_comparable_pair(tmp_path):
    store = RowStore.write(tmp_path / "store", [(np.eye(3), [1, 1, 1])])
    with pytest.raises(kr.exceptions.NoComparablePairsError):
        RankSVM().fit(store)


def test_a_damaged_file_leaves_the_fit_before(make):
    store, *_ = make(False)
    model = RankSVM().fit(store)
    coef, before = model.coef_, threading.active_count()
    path = store.path / "rows-00000002.bin"
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows-00000002\.bin: damaged: the checksum"):
        model.fit(RowStore(store.path))
    assert model.coef_ is coef
    assert threading.active_count() == before


WRITE = """
import numpy as np
from kernelrank.io import RowStore

def chunks():
    rng = np.random.default_rng(0)
    for _ in range({m} // {k}):
        X = rng.standard_normal(({k}, {n}), dtype=np.float32)
        yield X, X[:, 0] + rng.standard_normal({k})

RowStore.write({path!r}, chunks())
"""
MEMORY = """
import sys
from pathlib import Path
import numpy as np
from kernelrank import RankSVM
from kernelrank.io import RowStore

def status(field):
    return 1024 * int(Path("/proc/self/status").read_text().split(field + ":")[1].split()[0])

model = RankSVM().fit(np.arange(4.0)[:, None], np.arange(4.0))
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
model.fit(RowStore(sys.argv[1]))
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(("m", "n"), [(2_000_000, 20), (5_000, 4_000)])
def test_memory_is_as_documented(tmp_path, m, n):
    subprocess.run([sys.executable, "-c", WRITE.format(m=m, n=n, k=m // 20, path=str(tmp_path))], check=True)
    command = [sys.executable, "-c", MEMORY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) < 200e6 + 64 * m


FIT = """
import sys, threading, time
from kernelrank import RankSVM
from kernelrank.io import RowStore

told = []

def tell(record):
    if not told:
        print("started", flush=True)
    told.append(record)

store, model = RowStore(sys.argv[1]), RankSVM(alpha=1e-9, tol=1e-12, verbose=tell)
try:
    model.fit(store)
except KeyboardInterrupt:
    print(time.time(), time.process_time())
print(hasattr(model, "coef_"), threading.active_count(), flush=True)
"""


def test_ctrl_c(tmp_path):
    subprocess.run([sys.executable, "-c", WRITE.format(m=800_000, n=20, k=100_000, path=str(tmp_path))], check=True)
    process = subprocess.Popen([sys.executable, "-c", FIT, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("started")
    seconds, rest = interrupt(process)
    assert seconds < 1
    assert rest == ["False 1"]
