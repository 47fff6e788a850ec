"""The examples of the gallery: each runs without a warning, and ends in a picture."""

import importlib
import runpy
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/plot_*.py"))


def test_the_gallery_has_all_and_each_fits_one_screen(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES.parent / "docs")
    ordered = importlib.import_module("_contents").EXAMPLES
    assert sorted(f"{section}/plot_{name}.py" for section, names in ordered.items() for name in names) == NAMES
    for name in NAMES:
        lines = (EXAMPLES / name).read_text().splitlines()
        assert len(lines) <= 65, name
        assert lines[-1] == "plt.show()", name


@pytest.mark.parametrize("name", NAMES)
def test_an_example_ends_in_a_picture(name, monkeypatch, capsys):
    if name == "using/plot_exports.py":
        pytest.importorskip("onnxruntime")
    import matplotlib.pyplot as plt

    shown = []

    def show():
        [number] = plt.get_fignums()
        figure = plt.figure(number)
        figure.canvas.draw()
        kinds = ("lines", "collections", "patches", "images", "texts")
        shown.append([sum(len(getattr(axes, kind)) for kind in kinds) for axes in figure.axes])

    plt.close("all")  # figures of other tests
    plt.switch_backend("Agg")
    monkeypatch.setattr(plt, "show", show)
    try:
        runpy.run_path(str(EXAMPLES / name))
    finally:
        plt.close("all")
    [panels] = shown
    assert min(panels) > 0
    assert capsys.readouterr().err == ""
