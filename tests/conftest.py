import os
import sys

import pytest

# `make sanitize` tests another build of the compiled module.
if "KERNELRANK_CORE" in os.environ:
    sys.path.insert(0, os.environ["KERNELRANK_CORE"])
    import _core

    sys.modules["kernelrank._core"] = _core

import numpy as np
from hypothesis import settings

# The same cases every time: what lands must not depend on luck. The thorough profile looks for new ones.
settings.register_profile("fast", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(params=range(3))
def rng(request):
    """Every seed passes, not one."""
    return np.random.default_rng(request.param)
