from dataclasses import replace

import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.model_selection import PermutationTest, permutation_test
from kernelrank.plots import PermutationDisplay

Figure = pytest.importorskip("matplotlib.figure").Figure
RESULT = PermutationTest(0.7, 0.04, 0.01, np.array([0.3, 0.5, 0.55, 0.7, 0.8]), False, "rows", "leave-pair-out", 1)


def heights(ax):
    """Return the counts of the bars of both kinds, and the edges of the hatched ones."""
    plain, hatched = ax.containers
    places = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in hatched if bar.get_height() > 0]
    return sum(bar.get_height() for bar in plain), sum(bar.get_height() for bar in hatched), places


def test_the_display_draws_the_test(rng):
    X = rng.normal(size=(20, 2))
    y = X[:, 0] + 2 * rng.normal(size=20)
    ax = Figure().subplots()
    display = PermutationDisplay.from_estimator(RankRLS(), X, y, ax=ax, n_permutations=99)
    found = permutation_test(RankRLS(), X, y, n_permutations=99)
    assert display.ax_ is ax
    reached = np.sum(found.permuted >= found.statistic)
    below, above, places = heights(ax)
    assert (below, above) == (99 - reached, reached)
    assert all(left >= found.statistic - 1e-9 for left, _ in places)
    assert ax.get_lines()[0].get_xdata()[0] == found.statistic
    assert ax.get_title() == f"p = {found.pvalue:.3g}\n(standard error {found.std_error:.2g}, 99 permutations)"
    assert ax.get_legend().get_frame().get_alpha() == 1  # no line crosses the texts
    texts = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {f"observed {found.statistic:.3f}", f"{reached} of 99 at least as large"} <= texts


@pytest.mark.parametrize("statistic", [0.2, 0.5, 0.5 + 1e-14, 0.55, 0.9])
@pytest.mark.parametrize("permuted", [[0.5], [0.5] * 7, [0.5, 0.50001], [0.1, 0.5, 0.5, 0.9], np.linspace(0, 1, 5000)])
def test_every_permutation_is_counted_once(statistic, permuted):
    permuted = np.array(permuted)
    result = replace(RESULT, statistic=statistic, permuted=permuted, exact=True)
    ax = PermutationDisplay.from_result(result, ax=Figure().subplots()).ax_
    below, above, _ = heights(ax)
    assert above == np.sum(permuted >= statistic - 1e-12)
    assert below + above == len(permuted)
    assert len(ax.containers[0]) <= 42
    assert ax.get_title() == f"p = 0.04\n(exact, {len(permuted):,} permutations)"


@pytest.mark.parametrize(
    "wrong", [{"permuted": np.array([])}, {"permuted": np.array([0.5, np.nan])}, {"statistic": np.nan}]
)
def test_nothing_to_draw(wrong):
    with pytest.raises(ValueError, match="result must have at least one permutation, and finite estimates"):
        PermutationDisplay.from_result(replace(RESULT, **wrong))


def test_other_results():
    with pytest.raises(TypeError, match=r"result must be what .*permutation_test returns, got float"):
        PermutationDisplay.from_result(0.04)
