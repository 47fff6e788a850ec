"""Model files of SVM^light and SVM^rank: what their C programs write and read."""

import ctypes
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import assert_same_model, data, small_model, small_models
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVR, LinearSVC

from kernelrank import RLS, RankRLS, RankRLSCV, RankSVM
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence import load_model, load_svmlight_model, save_model, save_svmlight_model

# As SVM^rank writes it: one support vector, the weights themselves.
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
"""  # noqa: W291 - blanks at the ends of lines are its own

# As SVM^light does: many, their coefficients with 32 digits, and a threshold.
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
        with pytest.raises(ValueError, match=f"n_features must be at least 5.*got {n_features}"):
            read(path, RANK, n_features=n_features)


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
        ("SVM-light Version V6.20", "PK", 1, "no model of SVM"),
        ("SVM-light", "SVM-multiclass", 1, "no model of SVM"),
        ("0 # kernel type", "2 # kernel type", 2, r"kernel type 2 \(radial basis function\): only linear"),
        ("0 # kernel type", "1 # kernel type", 2, r"polynomial\): only linear"),
        ("0 # kernel type", "5 # kernel type", 2, r"unknown\): only linear"),
        ("0 # kernel type", "x # kernel type", 2, "'x' is no value for the kernel type"),
        ("6 # highest", "0.4 # kernel parameter -L\n6 # highest", 8, "expected the highest feature index, found"),
        ("6 # highest", "0 # highest", 8, "'0' is no value for the highest feature index"),
        ("6 # highest", "1000000000000 # highest", 8, "is no value for"),
        ("2 # number of s", "0 # number of s", 10, "is no value for the number of support vectors"),
        ("2 # number of s", "1 # number of s", 12, "more than the 0 support vectors"),
        ("2 # number of s", "4 # number of s", 13, "ends where support vector 2 of 3 should follow"),
        ("0 # threshold", "nan # threshold", 11, "'nan' is no value for the threshold b"),
        ("1 1:", "1:", 12, "begins with its coefficient"),
        ("1 1:", "# 1:", 12, "begins with its coefficient"),
        ("1 1:", "1_0 1:", 12, "begins with its coefficient"),
        ("1 1:", "1 0:1 1:", 12, "'0:1': features must increase"),
        ("1 1:", "1 7:", 12, "up to the highest, 6"),
        ("1 1:", "1 3:1 1:", 12, "features must increase"),
        ("1 1:", "1 1:1 1:", 12, "features must increase"),
        ("1 1:", "1 1:1:", 12, "expected 'feature:value', found"),
        ("1 1:", "1 qid:x 1:", 12, "expected 'feature:value', found 'qid:x'"),
        ("1 1:1.75", "1 1:inf", 12, "expected 'feature:value', found"),
        ("1 1:1.75", "1 1:1e999", 12, "leave the range"),
        ("1 1:1.75", "1e200 1:1e200", 12, "leave the range"),
        ("1 1:1.75", "1 999999999999999999:1", 12, "expected 'feature:value', found"),
    ],
)
def test_errors_name_the_line(path, old, new, line, message):
    assert old in RANK
    refused(path, RANK.replace(old, new, 1), line, message)


@pytest.mark.parametrize("text", [RANK, LIGHT])
def test_truncated_files(path, text):
    """A number that is cut off is another number, so the end of a line counts."""
    for length in range(len(text.removesuffix("#\n")) + 1):
        with pytest.raises(ModelFormatError):
            read(path, text[:length])


CHARACTERS = b"0123456789 \n:#.e+-\x00\xffq\r"


def check_mutations(path, rng, n_cases):
    for text in (RANK, LIGHT):
        for _ in range(n_cases):
            changed = bytearray(text.encode())
            for place in rng.integers(len(changed), size=rng.integers(1, 6)):
                changed[place : place + rng.integers(3)] = CHARACTERS[rng.integers(len(CHARACTERS)) :][:1]
            path.write_bytes(changed)
            try:
                model = load_svmlight_model(path)
            except ModelFormatError:
                continue
            assert np.isfinite(model.coef_).all()


def test_random_mutations(path, rng):
    check_mutations(path, rng, 500)


@pytest.mark.slow
def test_many_random_mutations(path, rng):
    check_mutations(path, rng, 20_000)


def test_long_digits_take_no_time(path):
    """They would, were there two ways to match them."""
    refused(path, RANK.replace("1:1.75", "1:" + "9" * 1_000_000 + "x"), 12, "expected 'feature:value'")


# Writing

weights = st.lists(st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=9)


@given(weights)
def test_round_trip(tmp_path_factory, coef):
    path = tmp_path_factory.getbasetemp() / "svmlight"
    model = small_model()
    model.coef_, model.n_features_in_ = np.array(coef), len(coef)
    save_svmlight_model(model, path)
    assert load_svmlight_model(path).coef_.tobytes() == (model.coef_ + 0.0).tobytes()  # but for the sign of zero


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
    scores = loaded.predict(X) - float(threshold.partition(" ")[0])  # as the C programs have it
    np.testing.assert_allclose(scores, model.predict(X), rtol=1e-14)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


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
    """By their formats for lines of the header and for features."""
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
    several, curved = RankRLS().fit(X, np.stack([y, y], axis=1)), RankRLS(kernel="gaussian").fit(X, y)
    for model in (*others, several, curved, broken):
        with pytest.raises(ValueError, match="Only linear models of one output, with finite weights"):
            save_svmlight_model(model, path)
    for version in ("", "6.20", "V6 20", "V6.20\n", "Vé"):
        with pytest.raises(ValueError, match="version must look like"):
            save_svmlight_model(small_model(), path, version=version)
    assert path.read_text() == "old"
