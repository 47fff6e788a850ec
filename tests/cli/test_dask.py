"""Training on a cluster from the command line."""

import numpy as np
import pytest

pytest.importorskip("distributed")

from distributed import LocalCluster

from kernelrank import RankRLS, RankSVM
from kernelrank.io import RowStore
from kernelrank.persistence import load_model


@pytest.fixture(scope="module")
def address():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("method", ["ranksvm", "rankrls"])
def test_a_file_is_trained_on_where_workers_read_it(shell, train, address, tmp_path, method):
    model = tmp_path / "m.kr"
    options = ["--out-of-core", tmp_path / "rows", "--method", method, "--alpha", "0.01"]
    shell("train", train.path, *options, "--dask", address, "-o", model, "--json")
    assert shell.code == 0, shell.err
    assert shell.json["n_rows"] == len(train.y)
    found, store = load_model(model), RowStore(tmp_path / "rows")
    if method == "ranksvm":
        local = RankSVM(0.01).fit(store)
        assert abs(found.objective_ - local.objective_) <= max(found.gap_, local.gap_)
    else:
        X, y, queries = store.read_block(0)
        np.testing.assert_allclose(found.coef_, RankRLS(0.01).fit(X, y, qid=queries).coef_, rtol=1e-6, atol=1e-9)
    assert shell("evaluate", train.path, "-m", model).code == 0
    # Again, from the rows that were written.
    assert shell("train", tmp_path / "rows", "--method", method, "--dask", address, "-o", model, "-q").code == 0


def test_a_scheduler_that_is_not_there_is_one_line(shell, train, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelrank.cli._cluster._PATIENCE", 0.5)
    to = ["--out-of-core", tmp_path / "rows", "--dask", "tcp://127.0.0.1:9"]
    shell("train", train.path, *to, "-o", tmp_path / "m.kr")
    assert shell.code == 2
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in shell.err
    assert not (tmp_path / "m.kr").exists()
    assert not (tmp_path / "rows").exists()  # nothing is written before


@pytest.mark.parametrize("wrong", ["scheduler", "tcp://host:x", "http://host:8786", ""])
def test_an_address_that_is_none_is_one_line(shell, train, tmp_path, monkeypatch, wrong):
    monkeypatch.setattr("distributed.Client", None)  # which would print more when it is gone
    shell("train", train.path, "--dask", wrong, "-o", tmp_path / "m.kr")
    assert shell.code == 2
    assert f"--dask must be an address like tcp://scheduler:8786, got {wrong!r}" in shell.err


def test_errors_of_the_cluster_are_one_line(shell, train, address, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelrank.dask._workers.installed", lambda: "another")
    shell("train", train.path, "--out-of-core", tmp_path / "r", "--dask", address, "-o", tmp_path / "m.kr")
    assert shell.code == 2
    assert "--dask: The worker tcp://" in shell.err


def test_kernels_are_not_for_clusters(shell, train, tmp_path):
    shell("train", train.path, "--kernel", "gaussian", "--dask", "tcp://127.0.0.1:9", "-o", tmp_path / "m.kr")
    assert shell.code == 2
    assert "--kernel linear" in shell.err
