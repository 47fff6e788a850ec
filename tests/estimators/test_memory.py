"""What a fit takes beyond X: bytes a row, whatever the number of pairs."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import ctypes
from pathlib import Path
import numpy as np
from kernelrank import RankSVM, RankSVMCV

def status(field):
    return 1024 * int(Path("/proc/self/status").read_text().split(field + ":")[1].split()[0])

def make(m):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 4))
    return X, X.sum(axis=1) + rng.normal(size=m)

m = 400_000
model = {model}
model.fit(*make(2_000))
X, y = make(m)
ctypes.CDLL(None).malloc_trim(0)
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
model.fit(X, y)
print((status("VmHWM") - before) / m)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("model", "stated"),
    [
        ("RankSVM(alpha=1e-3)", 100),
        ("RankSVM(alpha=1e-3, loss='squared_hinge')", 100),
        ("RankSVMCV([1e-2, 1e-3], cv=3)", 170),
    ],
)
def test_memory_is_as_documented(model, stated):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(model=model)], capture_output=True, text=True, timeout=120, check=True
    )
    assert float(done.stdout) < 1.1 * stated  # "about"
