"""Model files of SVM^light and SVM^rank, as their C programs write and read them."""

import ctypes
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_files import assert_same_model, data, same, small_model, small_models
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVR, LinearSVC

from kernelrank import RLS, RankRLS, RankRLSCV, RankSVM
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Gaussian, Polynomial
from kernelrank.persistence import load_model, load_svmlight_model, save_model, save_svmlight_model

# Written by SVM^rank: one support vector, which is the weight vector.
RANK = """\
SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
6 # highest feature index 
12 # number of training documents 
2 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:1.75 3:-0.25 4:1.5e-3 5:8 #
"""  # noqa: W291 - trailing blanks are part of the format

# Written by SVM^light: several support vectors, coefficients with 32 digits, and a threshold.
LIGHT = """\
SVM-light Version V6.02
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
4 # highest feature index 
8 # number of training documents 
4 # number of support vectors plus 1 
-0.75 # threshold b, each following line is a SV (starting with alpha*y)
0.50000000000000000000000000000000 1:1 2:2 #
-2 qid:3 2:0.5 4:+1. # a comment: 5:7
2.5e-1 qid:12 sid:4 cost:0.5 3:.5 #
"""  # noqa: W291

# Written by SVM^light with -t 2 -g 0.25, and with -t 1 -d 2 -s 0.5 -r 3.
RADIAL = LIGHT.replace("0 # kernel type", "2 # kernel type").replace(
    "1 # kernel parameter -g", "0.25 # kernel parameter -g"
)
POLYNOMIAL = (
    LIGHT.replace("0 # kernel type", "1 # kernel type")
    .replace("3 # kernel parameter -d", "2 # kernel parameter -d")
    .replace("1 # kernel parameter -s", "0.5 # kernel parameter -s")
    .replace("1 # kernel parameter -r", "3 # kernel parameter -r")
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def read(path, text, **parameters):
    path.write_bytes(text.encode("latin-1"))
    return load_svmlight_model(path, **parameters)


def refused(path, text, line, message):
    with pytest.raises(ModelFormatError, match=message) as caught:
        read(path, text)
    assert str(caught.value).startswith(f"{path}:{line}: ")


# Reading


def test_a_model_of_svm_rank(path):
    model = read(path, RANK)
    assert type(model) is RankSVM
    assert model.get_params() == RankSVM().get_params()
    np.testing.assert_array_equal(model.coef_, [1.75, 0, -0.25, 0.0015, 8, 0])
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.predict([[1, 1, 1, 0, 0, 5], [0, 0, 0, 0, 2, 0]]), [1.5, 16])


def test_a_model_of_svm_light_is_the_sum_of_its_support_vectors(path):
    model = read(path, LIGHT)
    np.testing.assert_array_equal(model.coef_, [0.5, 1.0 - 1.0, 0.125, -2.0])


VECTORS = np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 0.5, 0.0, 1.0], [0.0, 0.0, 0.5, 0.0]])  # of LIGHT
COEFFICIENTS = np.array([0.5, -2.0, 0.25])


@pytest.mark.parametrize(
    ("text", "kernel", "formula"),
    [
        (RADIAL, {"gamma": 0.25}, lambda a, b: np.exp(-0.25 * ((a - b) ** 2).sum())),
        (POLYNOMIAL, {"degree": 2, "gamma": 0.5, "coef0": 3.0}, lambda a, b: (0.5 * (a * b).sum() + 3) ** 2),
    ],
    ids=["radial", "polynomial"],
)
def test_models_with_kernels(path, rng, text, kernel, formula):
    model = read(path, text)
    assert model.kernel_.get_params() == kernel
    assert model.get_params() == {**RankSVM().get_params(), "kernel": model.kernel_, **prefixed(kernel)}
    X = rng.normal(size=(5, 4))
    expected = [sum(c * formula(x, v) for c, v in zip(COEFFICIENTS, VECTORS, strict=True)) for x in X]
    for rows in (X, sp.csr_matrix(X)):
        np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-13)
    assert not hasattr(model, "coef_")
    save_model(model, path)
    assert_same_model(load_model(path), model)


def prefixed(parameters):
    return {f"kernel__{name}": value for name, value in parameters.items()}


def test_support_vectors_that_are_repeated_are_one(path, rng):
    """SVM^rank writes support vectors once per cutting plane."""
    *_, first, second, _ = RADIAL.splitlines(keepends=True)
    text = RADIAL.replace("4 # number of s", "7 # number of s") + "1.5" + first[first.index(" ") :] + second + second
    model = read(path, text)
    assert model.basis_.shape == (3, 4)
    np.testing.assert_array_equal(model.dual_coef_, [2.0, -6.0, 0.25])
    np.testing.assert_array_equal(model.basis_.toarray(), VECTORS)


def test_no_support_vector_of_a_kernel(path):
    text = RADIAL.replace("4 # number of s", "1 # number of s").partition("0.5000")[0]
    np.testing.assert_array_equal(read(path, text).predict(np.ones((2, 4))), np.zeros(2))


@pytest.mark.parametrize(
    "text",
    [
        RANK.replace("\n", "\r\n"),
        RANK + "\n \n",
        RANK.removesuffix("\n"),
        RANK.replace(" # ", " #").replace("-d ", "-d"),
        RANK.replace("empty", ""),
        RANK.replace("V6.20", "V5.00"),
        "\n".join(line.partition("#")[0] for line in RANK.split("\n")),
        RANK.replace("1 1:", "\t1.0e0   qid:0\t1:"),
    ],
)
def test_variants(path, text):
    np.testing.assert_array_equal(read(path, text).coef_, read(path, RANK).coef_)


def test_no_support_vector_at_all(path):
    text = RANK.replace("2 # number of s", "1 # number of s").partition("1 1:")[0]
    np.testing.assert_array_equal(read(path, text).coef_, np.zeros(6))


def test_number_of_features(path):
    for n_features in (5, 6, 7):
        model = read(path, RANK, n_features=n_features)
        assert model.n_features_in_ == n_features
        np.testing.assert_array_equal(model.coef_, np.append([1.75, 0, -0.25, 0.0015, 8], np.zeros(n_features - 5)))
    for n_features in (-1, 0, 4):
        with pytest.raises(ValueError, match=f"n_features must be .*got {n_features}"):
            read(path, RANK, n_features=n_features)
    for n_features in (4, 9):
        model = read(path, RADIAL, n_features=n_features)
        assert (model.n_features_in_, model.basis_.shape) == (n_features, (3, n_features))
        np.testing.assert_array_equal(model.basis_.toarray()[:, :4], VECTORS)
    with pytest.raises(ValueError, match="n_features must be at least 4"):
        read(path, RADIAL, n_features=3)


def test_what_was_read_is_a_model_like_others(path, rng):
    X, y = data(rng, n=6)
    model = read(path, RANK)
    assert 0 <= model.score(X, y) <= 1
    save_model(model, path)
    assert_same_model(load_model(path), model)
    for absent in ("objective_", "gap_", "history_", "n_pairs_", "n_iter_"):
        assert not hasattr(model, absent)
    started = model.set_params(warm_start=True, max_iter=500).fit(X, y)
    assert started.gap_ <= started.tol


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("SVM-light Version V6.20", "PK", 1, "not a model of SVM"),
        ("SVM-light", "SVM-multiclass", 1, "not a model of SVM"),
        ("0 # kernel type", "3 # kernel type", 2, r"kernel type 3 \(sigmoid\): only models of linear, polynomial and"),
        ("0 # kernel type", "4 # kernel type", 2, r"user-defined\): only models of linear"),
        ("0 # kernel type", "5 # kernel type", 2, r"unknown\): only models of linear"),
        ("0 # kernel type", "x # kernel type", 2, "'x' is not a valid kernel type"),
        ("6 # highest", "0.4 # kernel parameter -L\n6 # highest", 8, "expected the highest feature index, found"),
        ("6 # highest", "0 # highest", 8, "'0' is not a valid highest feature index"),
        ("6 # highest", "1000000000000 # highest", 8, "is not a valid"),
        ("2 # number of s", "0 # number of s", 10, "is not a valid number of support vectors"),
        ("2 # number of s", "1 # number of s", 12, "more than the 0 support vectors"),
        ("2 # number of s", "4 # number of s", 13, "ends where support vector 2 of 3 should follow"),
        ("0 # threshold", "nan # threshold", 11, "'nan' is not a valid threshold b"),
        ("1 1:", "1:", 12, "expected the coefficient"),
        ("1 1:", "# 1:", 12, "expected the coefficient"),
        ("1 1:", "1_0 1:", 12, "expected the coefficient"),
        ("1 1:", "1 0:1 1:", 12, "'0:1': features must increase"),
        ("1 1:", "1 7:", 12, "up to the highest, 6"),
        ("1 1:", "1 3:1 1:", 12, "features must increase"),
        ("1 1:", "1 1:1 1:", 12, "features must increase"),
        ("1 1:", "1 1:1:", 12, "expected 'feature:value', found"),
        ("1 1:", "1 qid:x 1:", 12, "expected 'feature:value', found 'qid:x'"),
        ("1 1:1.75", "1 1:inf", 12, "expected 'feature:value', found"),
        ("1 1:1.75", "1 1:1e999", 12, "overflow"),
        ("1 1:1.75", "1e200 1:1e200", 12, "overflow"),
        ("1 1:1.75", "1 999999999999999999:1", 12, "expected 'feature:value', found"),
    ],
)
def test_errors_name_the_line(path, old, new, line, message):
    assert old in RANK
    refused(path, RANK.replace(old, new, 1), line, message)


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "message"),
    [
        (RADIAL, "0.25 # kernel parameter -g", "0 # kernel parameter -g", 4, "parameter -g: gamma must be a positive"),
        (RADIAL, "0.25 # kernel parameter -g", "1e999 # kernel parameter -g", 4, "parameter -g: gamma must be"),
        (
            RADIAL,
            "0.25 # kernel parameter -g",
            "x # kernel parameter -g",
            4,
            "'x' is not a valid kernel parameter",
        ),
        (
            POLYNOMIAL,
            "2 # kernel parameter -d",
            "0 # kernel parameter -d",
            3,
            "parameter -d: degree must be a positive",
        ),
        (POLYNOMIAL, "2 # kernel parameter -d", "2.5 # kernel parameter -d", 3, "'2.5' is not a valid kernel"),
        (POLYNOMIAL, "0.5 # kernel parameter -s", "-1 # kernel parameter -s", 5, "parameter -s: gamma must be"),
        (
            POLYNOMIAL,
            "3 # kernel parameter -r",
            "-3 # kernel parameter -r",
            6,
            "parameter -r: coef0 must be",
        ),
        (RADIAL, "1:1 2:2", "1:1 2:1e999", 12, "overflow"),
        (RADIAL, "-2 qid:3", "-2e999 qid:3", 13, "overflow"),
        (RADIAL, "3:.5", "5:.5", 14, "up to the highest, 4"),
    ],
)
def test_errors_of_kernels_name_the_line(path, text, old, new, line, message):
    assert old in text
    refused(path, text.replace(old, new, 1), line, message)


def test_coefficients_that_add_up_to_too_much(path):
    text = RADIAL.replace("0.50000000000000000000000000000000 1:1 2:2", "1e308 1:1").replace(
        "-2 qid:3 2:0.5 4:+1.", "1e308 1:1"
    )
    refused(path, text, 14, "the coefficients overflow")


@pytest.mark.parametrize("text", [RANK, LIGHT, RADIAL, POLYNOMIAL])
def test_truncated_files(path, text):
    """A truncated number is another number, so the end of a line is required."""
    for length in range(len(text.removesuffix("#\n")) + 1):
        with pytest.raises(ModelFormatError):
            read(path, text[:length])


CHARACTERS = b"0123456789 \n:#.e+-\x00\xffq\r"


def check_mutations(path, rng, n_cases):
    path.touch()
    for text in (RANK, LIGHT, RADIAL, POLYNOMIAL):
        for _ in range(n_cases):
            changed = bytearray(text.encode())
            for place in rng.integers(len(changed), size=rng.integers(1, 6)):
                changed[place : place + rng.integers(3)] = CHARACTERS[rng.integers(len(CHARACTERS)) :][:1]
            with path.open("r+b") as file:  # creating many files is slow on some file systems
                file.write(changed)
                file.truncate()
            try:
                model = load_svmlight_model(path)
            except ModelFormatError:
                continue
            assert np.isfinite(model.coef_ if hasattr(model, "coef_") else model.dual_coef_).all()
            if model.n_features_in_ < 1000:
                assert model.predict(np.zeros((2, model.n_features_in_))).shape == (2,)


def test_random_mutations(path, rng):
    check_mutations(path, rng, 200)


@pytest.mark.slow
def test_many_random_mutations(path, rng):
    check_mutations(path, rng, 20_000)


def test_long_digits_take_no_time(path):
    """Patterns must not backtrack, so each line can be matched in one way only."""
    refused(path, RANK.replace("1:1.75", "1:" + "9" * 1_000_000 + "x"), 12, "expected 'feature:value'")


# Writing

weights = st.lists(st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=9)


@given(weights)
def test_round_trip(tmp_path_factory, coef):
    path = tmp_path_factory.getbasetemp() / "svmlight"
    model = small_model()
    model.coef_, model.n_features_in_ = np.array(coef), len(coef)
    save_svmlight_model(model, path)
    assert load_svmlight_model(path).coef_.tobytes() == (model.coef_ + 0.0).tobytes()  # except for the sign of zero


def test_fitted_models_rank_the_same(path, rng):
    for model in small_models():
        if hasattr(model, "coef_"):
            save_svmlight_model(model, path)
            X = rng.normal(size=(20, 2))
            np.testing.assert_array_equal(load_svmlight_model(path).predict(X), model.predict(X))


@pytest.mark.parametrize("cls", [RLS, RankRLS, RankRLSCV])
def test_least_squares_are_written_with_their_intercept(path, rng, cls):
    X, y = data(rng)
    model = cls().fit(X, y + 100)
    save_svmlight_model(model, path)
    [threshold] = [line for line in path.read_text().splitlines() if "threshold b" in line]
    loaded = load_svmlight_model(path)
    scores = loaded.predict(X) - float(threshold.partition(" ")[0])  # the convention of the C programs
    np.testing.assert_allclose(scores, model.predict(X), rtol=1e-14)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


@given(
    hnp.arrays(np.float64, (4, 3), elements=st.sampled_from([0.0, 1.0, -0.1, 1e300, 5e-324, 1 / 3])),
    st.lists(st.sampled_from([0.0, 2.0, -1e-9, 1 / 3]), min_size=4, max_size=4),
    st.sampled_from(
        [Gaussian(1 / 3), Polynomial(2, coef0=0.1, gamma=np.float64(0.7)), Polynomial(5, gamma=np.float32(2))]
    ),
)
def test_round_trip_of_kernels(tmp_path_factory, basis, weights, kernel):
    """Rows without a weight are left out, and duplicate rows are merged."""
    path = tmp_path_factory.getbasetemp() / "svmlight-kernel"
    model = RankSVM(kernel=kernel)
    model.kernel_, model.basis_, model.dual_coef_, model.n_features_in_ = kernel, basis, np.array(weights), 3
    save_svmlight_model(model, path)
    loaded = load_svmlight_model(path)
    assert {name: float(value) for name, value in loaded.kernel_.get_params().items()} == kernel.get_params()
    expected = {}
    for row, weight in zip((basis + 0.0).tolist(), weights, strict=True):
        if weight:
            expected[tuple(row)] = expected.get(tuple(row), 0.0) + weight
    found = dict(zip(map(tuple, loaded.basis_.toarray().tolist()), loaded.dual_coef_.tolist(), strict=True))
    assert found == (expected or {(0.0, 0.0, 0.0): 0.0})


@pytest.mark.parametrize("kernel", ["gaussian", Polynomial(3, gamma=0.2), Gaussian(0.7)], ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, np.float32, sp.csr_matrix, sp.csc_array])
def test_fitted_kernel_models_score_the_same(path, rng, kernel, layout):
    X, y = data(rng)
    X[np.abs(X) < 0.3] = 0.0
    X = layout(X)
    for model in (RankSVM(kernel=kernel).fit(X, y), RankSVM(kernel=kernel, n_basis=9).fit(X, y)):
        before = model.basis_.copy()
        save_svmlight_model(model, path)
        assert same(model.basis_, before)
        np.testing.assert_allclose(load_svmlight_model(path).predict(X), model.predict(X), rtol=1e-9, atol=1e-9)
    model = RankRLS(kernel=kernel).fit(X, y + 100)
    save_svmlight_model(model, path)
    threshold = float(path.read_text().splitlines()[10].partition(" ")[0])
    np.testing.assert_allclose(load_svmlight_model(path).predict(X) - threshold, model.predict(X), rtol=1e-9)


def test_sparse_rows_in_any_order_are_written_in_order(path):
    """Duplicate indices are summed; the model itself is not changed."""
    model = RankSVM(kernel=Gaussian(1.0))
    model.kernel_, model.dual_coef_, model.n_features_in_ = model.kernel, np.array([0.5, 2.0]), 3
    model.basis_ = sp.csr_matrix((np.arange(1.0, 6.0), [2, 0, 1, 1, 0], [0, 2, 5]), shape=(2, 3))
    before = model.basis_.copy()
    save_svmlight_model(model, path)
    assert path.read_text().splitlines()[11:] == ["0.5 1:2.0 3:1.0 #", "2.0 1:5.0 2:7.0 #"]
    assert same(model.basis_, before)


def test_the_text_of_a_kernel_model_is_that_of_svm_light(path):
    for text in (RADIAL, POLYNOMIAL):
        save_svmlight_model(read(path, text), path, version="V6.02")
        header, vectors = path.read_text().splitlines()[:11], path.read_text().splitlines()[11:]
        expected = text.replace("8 # number of training", "0 # number of training").replace("-0.75 # thr", "0 # thr")
        assert [line.replace(".0 #", " #") for line in header] == expected.splitlines()[:11]
        assert vectors == ["0.5 1:1.0 2:2.0 #", "-2.0 2:0.5 4:1.0 #", "0.25 3:0.5 #"]


def test_the_text_is_that_of_svm_rank(path):
    save_svmlight_model(read(path, RANK), path)
    expected = RANK.replace("12 # number of training", "0 # number of training")
    assert path.read_text() == expected.replace("1.5e-3", "0.0015").replace("5:8 ", "5:8.0 ")
    save_svmlight_model(load_svmlight_model(path), path, version="V6.02")
    assert path.read_text().startswith("SVM-light Version V6.02\n0 # kernel type\n")


def scan(line, pattern, *kinds):
    """Call C's sscanf; return the number of items that were read, and the items."""
    items = [kind() if isinstance(kind, type) else kind for kind in kinds]
    count = ctypes.CDLL(None).sscanf(line, pattern, *map(ctypes.byref, items))
    return count, [item.value for item in items]


@pytest.mark.skipif(sys.platform == "win32", reason="the C library has another name")
def test_the_c_programs_can_read_it(path):
    """Read as the C programs do, with their formats for lines of the header and for features."""
    model = small_model()
    model.coef_ = np.array([1 / 3, 0.0, -1e-300, 1.7976931348623157e308, 5e-324, 123456789.12345679])
    model.n_features_in_ = 6
    save_svmlight_model(model, path)
    first, *header, vector, end = path.read_bytes().split(b"\n")
    assert end == b""
    assert scan(first, b"SVM-light Version %s\n", ctypes.create_string_buffer(100)) == (1, [b"V6.20"])
    integers = {0: 0, 1: 3, 6: 6, 7: 0, 8: 2}
    for number, line in enumerate(header):
        if number == 5:
            assert scan(line, b"%[^#]%*[^\n]\n", ctypes.create_string_buffer(50)) == (1, [b"empty"])
        elif number in integers:
            assert scan(line, b"%ld%*[^\n]\n", ctypes.c_long) == (1, [integers[number]])
        else:
            assert scan(line, b"%lf%*[^\n]\n", ctypes.c_double) == (1, [float(number < 9)])
    assert len(header) == 10
    coefficient, *features, hash_sign = vector.split(b" ")
    assert hash_sign == b"#"
    assert scan(coefficient, b"%lf", ctypes.c_double) == (1, [1.0])
    pattern = b"%ld:%lf%s"
    found = [scan(each, pattern, ctypes.c_long, ctypes.c_double, ctypes.create_string_buffer(9)) for each in features]
    assert [count for count, _ in found] == [2] * 5
    assert {index - 1: value for _, (index, value, _) in found} == {k: w for k, w in enumerate(model.coef_) if w}


def test_what_cannot_be_written(path, rng):
    X, y = data(rng)
    path.write_text("old")
    with pytest.raises(NotFittedError):
        save_svmlight_model(RankSVM(), path)
    broken = small_model()
    broken.coef_ = np.array([1.0, np.nan])
    others = LinearSVC().fit(X, y > 0), SVR(kernel="rbf").fit(X, y)
    twice = np.stack([y, y], axis=1)
    several = RankRLS().fit(X, twice), RankRLS(kernel="gaussian").fit(X, twice)
    curved = RankRLS(kernel="cosine").fit(X, y), RankSVM(kernel="precomputed").fit(X @ X.T, y)
    summed = RankSVM(kernel=Gaussian(1.0) + Gaussian(2.0)).fit(X, y)
    for model in (*others, *several, *curved, summed, broken):
        with pytest.raises(
            ValueError, match="Only models of one output, linear or with a Gaussian or polynomial kernel"
        ):
            save_svmlight_model(model, path)
    for version in ("", "6.20", "V6 20", "V6.20\n", "Vé"):
        with pytest.raises(ValueError, match="version must look like"):
            save_svmlight_model(small_model(), path, version=version)
    assert path.read_text() == "old"
