import numpy as np
import pytest

from kernelrank.solvers.kronecker._separation import separate


@pytest.mark.parametrize("ratio", [1e-20, 1e-15, 1e-12, 1e-4, 1.0, 1e4, 1e8, 1e15, 1e30])
@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_inverses_of_sums_are_sums_of_products(ratio, unit):
    """To 14 digits, on a grid of all scales with both ends, and without a factor above 1."""
    largest, smallest = unit, unit / ratio
    nodes = separate(largest, smallest)
    x = np.append(0.0, np.geomspace(1e-30, 1.0, 200)) * largest
    n = np.geomspace(1.0, 1e40, 200) * smallest
    found, of_x, of_n = np.zeros((len(x), len(n))), np.ones(len(x)), np.ones(len(n))
    for x_j, n_j in zip(*nodes, strict=True):
        # (x + n) / (x_j + n_j) times the term, so that 1 is expected
        found += np.outer(of_x / (x + n_j), of_n * ((x_j + n_j) / (n + x_j))) * np.add.outer(x, n)
        of_x *= (x - x_j) / (x + n_j)
        of_n *= (n - n_j) / (n + x_j)
        assert max(np.abs(of_x).max(), np.abs(of_n).max()) <= 1.0 + 1e-7
    np.testing.assert_allclose(found, 1.0, rtol=0, atol=1e-14)
    assert (np.array(nodes) >= 0).all()
    assert len(nodes[0]) <= 11 + 8.5 * np.log10(1.0 + ratio)
