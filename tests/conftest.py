import importlib
import os
import re
import subprocess
import sys
from functools import partial
from importlib.util import find_spec

import pytest

# BLAS threads wait by spinning. On a busy machine, small decompositions then take ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# `make sanitize` tests another build of the compiled module.
if "KERNELRANK_CORE" in os.environ:
    sys.path.insert(0, os.environ["KERNELRANK_CORE"])
    import _core

    sys.modules["kernelrank._core"] = _core

import array_api_strict
import numpy as np
from array_checks import libraries
from covering import PROFILE, Covering
from hypothesis import HealthCheck, settings

# The same cases in every run, so that the result is reproducible. The thorough profile generates new ones.
# Deadlines are disabled, because a shared machine may be slow.
patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=100, derandomize=True, **patient)
settings.register_profile("thorough", max_examples=20_000, **patient)
settings.load_profile(PROFILE)


def pytest_configure(config):
    if PROFILE == "fast":  # the thorough profile runs all combinations
        config.pluginmanager.register(Covering())


def pytest_collection_modifyitems(config, items):
    """Leave out scikit-learn's checks of array libraries that are not installed: no machine has all of them."""
    kept, left_out = [], []
    for item in items:
        check = item.callspec.params.get("check") if hasattr(item, "callspec") else None
        (kept if all(map(find_spec, libraries(check))) else left_out).append(item)
    # Files that run benchmarks and experiments take the longest: started first, they do not keep the others waiting.
    programs = {item.path for item in kept if "run" in getattr(item, "fixturenames", ())}
    items[:] = sorted(kept, key=lambda item: item.path not in programs)
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def array_api(monkeypatch):
    """Let scikit-learn dispatch to other array libraries, which it refuses otherwise."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="session", params=["strict", "torch"])
def put(request):
    """Return a function that moves an array to another library; array-api-strict's is on a device of its own.

    PyTorch's device is that of the environment variable KERNELRANK_DEVICE, for which it must be installed.
    """
    name = os.environ.get("KERNELRANK_DEVICE")
    if request.param == "torch":
        torch = pytest.importorskip("torch") if name is None else importlib.import_module("torch")
        return partial(torch.asarray, device=name)
    return partial(array_api_strict.asarray, device=array_api_strict.Device("device1"))


@pytest.fixture(params=range(2 if PROFILE == "fast" else 3))
def rng(request):
    """Return a generator for each of several seeds."""
    return np.random.default_rng(request.param)


@pytest.fixture(scope="session")
def root(pytestconfig):
    """Return the folder of benchmarks and experiments, which are not part of the package."""
    if not (pytestconfig.rootpath / "benchmarks").exists():
        pytest.skip("a source distribution comes without benchmarks and experiments")
    return pytestconfig.rootpath


@pytest.fixture
def load(root, monkeypatch):
    """Import a module of benchmarks or experiments."""
    monkeypatch.syspath_prepend(root)
    return importlib.import_module


@pytest.fixture(scope="session")
def run(root):
    """Run a module of benchmarks or experiments without data, and return its output."""

    def run(module, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "KERNELRANK_DATA"} | variables
        command = [sys.executable, "-W", "error", "-m", module, *arguments]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run


@pytest.fixture
def check_provenance():
    """Check that the header of a report names versions, machine, commit and date."""

    def check(about):
        header = " ".join(about.split())
        assert re.search(r"- Python .*NumPy .*SciPy .*kernelrank ", header)
        assert re.search(r"- \S.* \d+ hardware threads", header)
        assert re.search(r"- Commit [0-9a-f]{10}, \d{4}-\d\d-\d\d", header)

    return check


@pytest.fixture
def tables(load):
    """Read the Markdown tables of a text by the heading above them, one under each."""

    def tables(text):
        return {title: table for title, [table] in load("benchmarks.harness").read_tables(text).items()}

    return tables
