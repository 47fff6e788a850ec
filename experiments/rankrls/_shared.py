"""What the scripts share: where data are, and where results are written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

# What the paper chooses lambda from, section 5. It sums over pairs, and alpha is against the average:
# alpha = lambda / n_pairs, or lambda / n_rows for a regressor.
LAMBDAS = 2.0 ** np.arange(15, -16, -1)


def data_file(name: str) -> Path:
    """Find a file of public data."""
    if "KERNELRANK_DATA" not in os.environ:
        raise SystemExit(f"Set KERNELRANK_DATA to the folder that holds {name}.")
    return Path(os.environ["KERNELRANK_DATA"]) / name


def write_results(name: str, parts: Iterable[str]) -> None:
    """Print paragraphs, and write them to ``results/<name>.md``."""
    text = "\n\n".join(parts) + "\n"
    folder = Path(__file__).with_name("results")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    print(text)
