"""Numbers are rounded to the nearest float, bit by bit as Python's float() does."""

from decimal import Decimal, getcontext
from fractions import Fraction
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelrank.exceptions import DataFormatError
from kernelrank.io import load_svmlight

getcontext().prec = 1200  # midpoints of subnormals have 770 digits


def read(texts, dtype=np.float64):
    """Read each text as a target and as a value."""
    lines = "".join(f"{text} 1:{text}\n" for text in texts)
    X, y, _, _ = load_svmlight(BytesIO(lines.encode()), dtype=dtype)
    return X.data, y


def bits(numbers):
    numbers = np.asarray(numbers)
    return numbers.view(np.int32 if numbers.dtype == np.float32 else np.int64)


def assert_exact(texts):
    expected = np.array([float(text) for text in texts])
    for found in read(texts):
        wrong = np.flatnonzero(bits(found) != bits(expected))
        assert len(wrong) == 0, [texts[k] for k in wrong[:5]]


def nearest_float32(text):
    """Round the exact decimal once, ties to even."""
    exact = Fraction(text)
    near = np.float32(float(text))
    with np.errstate(over="ignore"):
        around = np.array([np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))])
    candidates = finite(around)
    return min(candidates, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.int32)) & 1))


def assert_exact_float32(texts):
    expected = np.array([nearest_float32(text) for text in texts])
    found, _ = read(texts, np.float32)
    assert found.dtype == np.float32
    wrong = np.flatnonzero(found != expected)
    assert len(wrong) == 0, [texts[k] for k in wrong[:5]]


def finite(numbers):
    return numbers[np.isfinite(numbers)]


def short_decimals(rng, n):
    """Return decimals near the limits of exact conversion in one operation: 15 to 19 digits, powers up to 22."""
    texts = []
    for _ in range(n):
        digits = "".join(map(str, rng.integers(10, size=rng.integers(1, 21))))
        point = rng.integers(len(digits) + 1)
        exponent = rng.choice(["", f"e{rng.integers(-30, 31)}", f"E+{rng.integers(30)}", "e-007"])
        texts.append(rng.choice(["", "-", "+"]) + digits[:point] + rng.choice(["", "."]) + digits[point:] + exponent)
    return texts


def long_decimals(rng, n):
    texts = []
    for _ in range(n):
        digits = "".join(map(str, rng.integers(10, size=rng.integers(20, 900))))
        texts.append(f"{digits[0]}.{digits[1:]}e{rng.integers(-330, 300)}")
    return texts


def midpoints(numbers):
    """Return exact midpoints of adjacent floats, and decimals slightly to either side."""
    texts = []
    for number in numbers:
        above = np.nextafter(number, number.dtype.type(np.inf))
        middle = (Decimal(float(number)) + Decimal(float(above))) / 2
        least = middle.copy_abs() * Decimal("1e-1000")
        texts += [f"{each:e}" for each in (middle, middle - least, middle + least)]
    return texts


def test_any_float64(rng):
    numbers = finite(rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64))
    assert_exact([repr(float(number)) for number in numbers])
    assert_exact([f"{number:.16e}" for number in numbers])
    assert_exact([f"{number:.25e}" for number in numbers])


def test_usual_numbers(rng):
    numbers = rng.normal(size=20_000) * 10.0 ** rng.integers(-3, 6, 20_000)
    assert_exact([f"{number:.6f}" for number in numbers])
    assert_exact([repr(float(number)) for number in numbers])
    assert_exact_float32([f"{number:.6f}" for number in numbers[:5_000]])


def test_short_decimals(rng):
    assert_exact(short_decimals(rng, 5_000))


def test_long_decimals(rng):
    assert_exact(long_decimals(rng, 1_000))


def test_halfway_between_float64(rng):
    some = finite(rng.integers(0, 0x7FE0_0000_0000_0000, 300, dtype=np.uint64).view(np.float64))
    subnormal = rng.integers(0, 1 << 52, 50, dtype=np.uint64).view(np.float64)
    integers = rng.integers(2**53, 2**60, 100).astype(np.float64)
    assert_exact(midpoints(np.concatenate([some, subnormal, integers, [0.0, 5e-324, 2.0**53]])))


def test_halfway_between_float32(rng):
    some = finite(rng.integers(0, 0x7F00_0000, 300, dtype=np.uint32).view(np.float32))
    small_integers = rng.integers(2**24, 2**30, 100).astype(np.float32)
    short = [f"{2**24 + 1 + 2 * k}" for k in range(20)] + ["0.5000000298023223876953125", "16777217.0000001"]
    assert_exact_float32(midpoints(np.concatenate([some, small_integers])) + short)


def test_float32_is_rounded_once(rng):
    numbers = finite(rng.integers(0, 2**32, 5_000, dtype=np.uint32).view(np.float32))
    assert_exact_float32([str(number) for number in numbers])
    # A float64 that lies between two float32, and decimals that round to it from either side.
    middle = 1 + 2.0**-24
    assert_exact_float32([f"{Decimal(middle) + Decimal(step)}" for step in ("0", "1e-25", "-1e-25")])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_representations(numbers):
    assert_exact([repr(number) for number in numbers])


def test_limits():
    smallest, largest = "4.9406564584124654e-324", "1.7976931348623157e308"
    assert_exact([smallest, "2.4703282292062328e-324", "2.4703282292062327e-324", "1e-400", "-1e-99999999999", "0e999"])
    assert_exact([largest, "-" + largest, "1.797693134862315807e308", "0." + "0" * 400 + "1e401", "1" + "0" * 308])
    assert_exact(["2.2250738585072011e-308", "2.2250738585072014e-308", "0", "-0", "+0.0", ".0e-5", "1.", ".5"])
    assert_exact_float32(["1e-50", "1e-45", "7e-46", "1.1754943e-38", "3.4028235e38", "3.40282356e38"])


def test_nan_and_infinity():
    values, targets = read(["nan", "NaN", "-nan", "inf", "-Inf", "+infinity"])
    expected = [np.nan, np.nan, np.nan, np.inf, -np.inf, np.inf]
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(targets, expected)


@pytest.mark.parametrize(
    "text", ["1e999", "-1e309", "1.797693134862315808e308", "1" + "0" * 400, "1e99999999999999999"]
)
def test_too_large(text):
    with pytest.raises(DataFormatError, match=r"^<stream>:1: target too large for float64, got"):
        load_svmlight(BytesIO(text.encode()))
    with pytest.raises(DataFormatError, match=r"^<stream>:2: value too large for float64, got"):
        load_svmlight(BytesIO(f"1\n1 3:{text}".encode()))


@pytest.mark.parametrize("text", ["1e39", "3.4028236e38", "-1e300"])
def test_too_large_for_float32(text):
    with pytest.raises(DataFormatError, match=r"^<stream>:1: value too large for float32, got"):
        load_svmlight(BytesIO(f"1 3:{text}".encode()), dtype=np.float32)


@pytest.mark.parametrize(
    "text", ["0x1p3", "0x10", "1e", "1e+", "1.2.3", "--1", "+-1", ".", "e5", "1_0", "nan(1)", "infin", "1d5", "١"]
)
def test_no_numbers(text):
    with pytest.raises(DataFormatError, match=r"^<stream>:1: expected a number as target, got"):
        load_svmlight(BytesIO(text.encode()))
    with pytest.raises(DataFormatError, match=r"^<stream>:1: expected index:value, got"):
        load_svmlight(BytesIO(f"1 3:{text}".encode()))
