"""Training on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernelrank._refit import adopt
from kernelrank.io import RowStore

_PATIENCE = 10  # seconds for the scheduler to answer


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Yield the client of a scheduler, or None without an address; errors of the cluster name the option."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise ValueError(f"--dask needs Dask ({error}): pip install 'kernelrank[dask]'.") from None
    try:
        get_address_host_port(address)
    except ValueError as error:  # a client fails, too, and then takes its time to close
        raise ValueError(f"--dask must be an address like tcp://scheduler:8786, got {address!r} ({error}).") from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"--dask: there is no Dask scheduler at {address} ({error}).") from None
    with client:
        try:
            yield client
        except RuntimeError as error:
            raise ValueError(f"--dask: {error}") from error


def fit_on_cluster(model: Any, store: RowStore, client: Any) -> None:
    """Fit a model where the workers of a cluster read the rows of a store."""
    from kernelrank import dask as on_dask

    X, y, qid = on_dask.read_store(store)
    fitted = getattr(on_dask, type(model).__name__)(**model.get_params(deep=False), client=client)
    found = fitted.fit(X, y, qid=qid).to_local()
    if store.feature_names is not None:
        found.feature_names_in_ = np.array(store.feature_names, dtype=object)
    adopt(model, found)
