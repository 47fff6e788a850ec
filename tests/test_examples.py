"""What `make demo` runs."""

import os
import subprocess
import sys


def test_the_first_ranking(pytestconfig, tmp_path):
    example = pytestconfig.rootpath / "examples" / "plot_first_ranking.py"
    run = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "certificate: objective" in run.stdout
    assert "ridge regression" in run.stdout
    assert (tmp_path / "build" / "demo-convergence.png").stat().st_size > 10_000
