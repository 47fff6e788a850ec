"""The examples, of which `make demo` runs the first."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("name", "said", "plot"),
    [
        ("first_ranking", ["certificate: objective", "ridge regression"], "demo-convergence.png"),
        ("random_features", ["300 random features"], "random-features.png"),
        ("clustering", ["maximum margin        1.00", "digits 3 and 8", "min_share 0.5"], "clustering.png"),
        ("clicks", ["from judgements: 0.8", "propensity of position 5: 0.2"], "clicks.png"),
        ("explanation", ["a is above b by 130", "sum by features 130.075469, by rows 130.075469"], "explanation.png"),
        ("sentence_graph", ["22 vertices, 19 edges", "PROT1_IP NN_IP"], "sentence-graph.png"),
    ],
)
def test_an_example(pytestconfig, tmp_path, name, said, plot):
    run = subprocess.run(
        [sys.executable, "-W", "error", pytestconfig.rootpath / "examples" / f"plot_{name}.py"],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=True,
    )
    for words in said:
        assert words in run.stdout
    assert (tmp_path / "build" / plot).stat().st_size > 10_000
