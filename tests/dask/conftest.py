"""Clusters of real processes, one per worker."""

import pytest

pytest.importorskip("distributed")

import numpy as np
from covering import PROFILE
from distributed import Client, LocalCluster


@pytest.fixture(params=range(1 if PROFILE == "fast" else 3))
def rng(request):
    """Return a generator; these tests take long, and few of them depend on the seed."""
    return np.random.default_rng(request.param)


@pytest.fixture(scope="session")
def cluster():
    """Return a client of two workers in processes of their own."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="2GiB") as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=["local", "cluster"])
def client(request):
    """Return no client, so that this process does the work, or that of a cluster."""
    return request.getfixturevalue("cluster") if request.param == "cluster" else None
