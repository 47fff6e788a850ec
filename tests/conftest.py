import importlib
import os
import subprocess
import sys

import pytest

# Threads of BLAS wait for each other by spinning. Beside other work, small decompositions then take ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# `make sanitize` tests another build of the compiled module.
if "KERNELRANK_CORE" in os.environ:
    sys.path.insert(0, os.environ["KERNELRANK_CORE"])
    import _core

    sys.modules["kernelrank._core"] = _core

import numpy as np
from hypothesis import HealthCheck, settings

# The same cases every time: what lands must not depend on luck. The thorough profile looks for new ones.
# A machine that others use as well may be slow: that is no failure.
patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=100, derandomize=True, **patient)
settings.register_profile("thorough", max_examples=20_000, **patient)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fast")
settings.load_profile(PROFILE)


@pytest.fixture(params=range(2 if PROFILE == "fast" else 3))
def rng(request):
    """Every seed passes, not one."""
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
    """Run one of their modules, where no data are, and return what it prints."""

    def run(module, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "KERNELRANK_DATA"} | variables
        command = [sys.executable, "-W", "error", "-m", module, *arguments]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run


@pytest.fixture
def tables(load):
    """Read the Markdown tables of a text by the heading above them, one under each."""

    def tables(text):
        return {title: table for title, [table] in load("benchmarks.harness").read_tables(text).items()}

    return tables
