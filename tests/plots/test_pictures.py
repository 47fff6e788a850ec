"""Pictures of all displays, compared with the kept ones: see small_pictures.py."""

import importlib
import inspect
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from small_pictures import FOLDER, PICTURES, difference, kept, make, render

from kernelrank import plots

TOLERANCE = 0.03  # of a mean of 25 pixels; without the thinnest dotted line, it differs by 0.039


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_kept_one(name):
    assert difference(render(make(name)), kept(name)) < TOLERANCE


@pytest.mark.parametrize("name", PICTURES)
def test_the_comparison_notices_each_missing_line_band_and_bar(name):
    ax = make(name)
    artists = [*ax.lines, *ax.collections, *(each for each in ax.patches if each.get_visible())]
    seen = []
    for artist in artists:
        if hasattr(artist, "get_width") and abs(artist.get_width() * artist.get_height()) < 1e-9:
            continue  # a bar of length zero
        artist.set_visible(False)
        seen.append((difference(render(ax), kept(name)) > TOLERANCE, artist))
        artist.set_visible(True)
    assert len(seen) >= 2
    assert all(noticed for noticed, _ in seen), [artist for noticed, artist in seen if not noticed]


def test_the_comparison_ignores_a_shift_by_a_pixel():
    found = kept("convergence")
    moved = np.roll(found, 1, axis=1)
    moved[:, 0] = moved[:, 1]
    assert difference(moved, found) < TOLERANCE
    assert difference(np.roll(found, 4, axis=1), found) > TOLERANCE


def test_every_display_has_a_picture():
    drawn = inspect.getsource(sys.modules["small_pictures"])
    assert [name for name in plots.__all__ if f"{name}(" not in drawn and f"{name}.from" not in drawn] == []


def test_kept_pictures_are_small_and_drawn():
    assert {path.stem for path in FOLDER.glob("*.png")} == set(PICTURES)
    assert max(path.stat().st_size for path in FOLDER.glob("*.png")) < 15_000


def test_displays_on_given_axes_do_without_pyplot(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("matplotlib.pyplot")
    for name in PICTURES:
        make(name)
