"""The pictures of docs/plots.md are what their program draws."""

import re
import sys

import pytest

pytest.importorskip("matplotlib")

NAMES = (
    *("convergence", "path", "learning-curve", "explanation", "coefficients", "queries", "many-queries"),
    *("tournament", "permutation", "threshold", "times"),
)


def words(path):
    """Return the texts of a picture, without numbers: their last digits may differ between machines."""
    return {re.sub(r"[-+−]?\d[\d.,e×−+-]*", "#", text) for text in re.findall(r">([^<>\n]+)</text>", path.read_text())}


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_drawn_again(load, tmp_path, name):
    pictures = load("benchmarks.plots")
    kept, drawn = pictures.FOLDER / f"{name}.svg", tmp_path / "drawn.svg"
    pictures.draw(name, drawn)
    assert len(words(kept)) > 3
    assert words(drawn) == words(kept)
    assert kept.stat().st_size < 30_000


def test_the_page_has_every_picture_and_display(root, load):
    page = (root / "docs" / "plots.md").read_text()
    pictures = load("benchmarks.plots")
    assert set(NAMES) == set(pictures.PICTURES) == {path.stem for path in pictures.FOLDER.glob("*.svg")}
    assert set(re.findall(r"\(plots/([\w-]+)\.svg\)", page)) == set(NAMES)
    assert [name for name in sys.modules["kernelrank.plots"].__all__ if f"[`{name}`]" not in page] == []
