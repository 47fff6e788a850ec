import numpy as np
import pytest

from kernelrank.plots import _style

Figure = pytest.importorskip("matplotlib.figure").Figure
colours = pytest.importorskip("matplotlib.colors")

# Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB.
NORMAL = np.eye(3)
PROTAN = np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]])
DEUTAN = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]])
TRITAN = np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]])


def seen(colour, matrix):
    """Return the colour as it is seen, in CIELAB."""
    red_green_blue = np.array(colours.to_rgb(colour))
    linear = np.where(red_green_blue > 0.04045, ((red_green_blue + 0.055) / 1.055) ** 2.4, red_green_blue / 12.92)
    linear = np.clip(matrix @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ linear / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("matrix", [NORMAL, PROTAN, DEUTAN, TRITAN], ids=["normal", "protan", "deutan", "tritan"])
def test_the_colour_blind_tell_the_lines_apart(matrix):
    found = [seen(colour, matrix) for colour, _, _ in _style._SERIES[:3]]
    for k, first in enumerate(found):
        for second in found[:k]:
            assert np.linalg.norm(first - second) > 15  # seven times what eyes just notice
    red, green = seen("#e02020", DEUTAN), seen("#5c8a00", DEUTAN)
    assert np.linalg.norm(red - green) < 45  # the check can tell: for normal eyes they are more than 100 apart
    assert np.linalg.norm(seen("#e02020", NORMAL) - seen("#5c8a00", NORMAL)) > 90


def test_lines_differ_without_colour_too():
    _, styles, markers = zip(*_style._SERIES, strict=True)
    assert len(set(styles)) == len(set(markers)) == len(styles)


def test_lines_on_the_same_axes_differ():
    ax = Figure().subplots()
    ax.plot([1, 2])  # of the user
    drawn = [ax.plot([1, 2], **_style.next_line_with_markers(ax))[0] for _ in range(6)]
    first, *_, last = drawn
    assert len({line.get_color() for line in drawn}) == len({line.get_marker() for line in drawn}) == 5
    assert first.get_color() == last.get_color()  # after all others


def test_long_names_and_mathematics():
    assert _style.shorten("short") == "short"
    name = _style.shorten("the beginning of a long name, number 12")
    assert len(name) == 28
    assert name.startswith("the beginning")
    assert name.endswith("number 12")
    assert _style.shorten("price in $ or\n£") == r"price in \$ or £"
