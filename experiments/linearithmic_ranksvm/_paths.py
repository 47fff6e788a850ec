"""Make the benchmarks importable: what they measure with is used here as well."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The second for scripts that import each other by their bare names.
sys.path[1:1] = [str(ROOT), str(ROOT / "benchmarks")]
