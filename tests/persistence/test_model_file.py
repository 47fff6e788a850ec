"""A loaded model equals the model that was saved."""

import os
import stat
import subprocess
import sys
import tempfile
import textwrap
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_files import assert_same_model, data, fitted, small_model, small_models
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold

from kernelrank import RankSVM, RankSVMCV
from kernelrank.persistence import _archive, load_model, save_model

both_losses = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def nested(depth):
    return [nested(depth - 1)] if depth else 1.0


def round_trip(model):
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model")
        return load_model(Path(folder) / "model")


def test_the_name_says_nothing_about_the_format(tmp_path):
    model = small_model()
    save_model(model, tmp_path / "model.gz")
    assert_same_model(load_model(tmp_path / "model.gz"), model)


@pytest.mark.pairwise
@both_losses
@pytest.mark.parametrize("cls", [RankSVM, RankSVMCV])
@pytest.mark.parametrize("with_queries", [False, True])
def test_everything_survives(rng, cls, loss, with_queries):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=["age", "größe", 'a "quoted" \\ name'])
    qid = rng.integers(6, size=len(y)) if with_queries else None
    model = cls(loss=loss, n_jobs=1).fit(frame, y, qid=qid)
    loaded = round_trip(model)
    assert_same_model(loaded, model)
    assert loaded._fitted_with_queries is with_queries
    assert loaded.predict(frame).tobytes() == model.predict(frame).tobytes()
    assert fitted(clone(loaded)) == {}
    assert clone(loaded).fit(frame, y, qid=qid).coef_.tobytes() == model.coef_.tobytes()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"age": "years"}))


def test_a_loaded_model_can_be_trained_on(rng):
    X, y = data(rng, 300, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begun = RankSVM(alpha=1e-5, tol=1e-6, max_iter=40, warm_start=True).fit(X, y)
    here, there = round_trip(begun).set_params(max_iter=1000).fit(X, y), begun.set_params(max_iter=1000).fit(X, y)
    assert here.coef_.tobytes() == there.coef_.tobytes()


def test_fits_of_many_kinds(rng):
    X, y = data(rng)
    for model in (
        RankSVM().fit_pairs(X, [[0, 1], [2, 3], [4, 5]]),
        RankSVM().fit(X, y, sample_weight=rng.uniform(size=len(y))),
        RankSVM(positive=True).fit(X.astype(np.float32), y),
        RankSVM(np.float64(0.1), tol=np.float32(1e-2)).fit(X, y),
        RankSVM(np.float32(0.1), loss="squared_hinge").fit(X, y),
    ):
        assert_same_model(round_trip(model), model)


# Values of parameters

finite_numbers = [0.1, 5e-324, -0.0, 1.7976931348623157e308, 7, True, None, "text", "\udcff\x00é", 10**40]
numpy_numbers = [
    *(np.float64(0.1), np.float32(0.1), np.float16(0.1), np.int64(-3), np.uint64(2**64 - 1), np.bool_(True)),
    *(np.str_("hinge"), np.float64("nan"), np.float32("-inf")),
]


@pytest.mark.parametrize(
    "value", [*finite_numbers, float("nan"), float("inf"), -float("inf"), *numpy_numbers], ids=repr
)
def test_parameters_keep_their_value_and_type(value):
    model = small_model().set_params(alpha=value)
    assert_same_model(round_trip(model), model)


numbers = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.none(), st.text(max_size=5), hnp.from_dtype(np.dtype("f4"))
)
plain_dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness="="),
    hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)),
)
arrays = hnp.arrays(plain_dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
anything = st.recursive(
    st.one_of(numbers, arrays, arrays.map(np.asfortranarray)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=6,
)


@given(anything, anything)
def test_any_data_survives(alphas, cv):
    model = MODEL_CV.set_params(alphas=alphas, cv=cv)
    assert_same_model(round_trip(model), model)


MODEL_CV = small_model(RankSVMCV, alphas=2, cv=2)


def test_folds_given_as_arrays(rng):
    X, y = data(rng)
    model = RankSVMCV(alphas=np.logspace(-3, 0, 3), cv=list(KFold(3).split(X))).fit(X, y)
    loaded = round_trip(model)
    assert_same_model(loaded, model)
    np.testing.assert_array_equal(loaded.fit(X, y).scores_, model.scores_)


def test_arrays_of_any_layout(tmp_path):
    values = np.arange(12.0).reshape(3, 4)
    mapped = np.memmap(tmp_path / "mapped", dtype=float, shape=(3, 4), mode="w+")
    mapped[:] = values
    for alphas in (values.astype(">f8"), values[:, ::2], values.T, values[::-1], mapped):
        loaded = round_trip(MODEL_CV.set_params(alphas=alphas)).alphas
        assert type(loaded) is np.ndarray
        assert loaded.dtype == np.float64  # native byte order
        assert loaded.dtype.isnative
        np.testing.assert_array_equal(loaded, alphas)


def test_arrays_of_many_chunks(monkeypatch):
    monkeypatch.setattr(_archive, "_CHUNK", 13)
    for model in small_models():
        assert_same_model(round_trip(model), model)


# Values that cannot be saved


@pytest.mark.parametrize(
    ("parameters", "what"),
    [
        ({"cv": GroupKFold(3)}, "GroupKFold"),
        ({"cv": iter([])}, "list_iterator"),
        ({"random_state": np.random.RandomState(0)}, "RandomState"),
        ({"verbose": print}, "builtin_function_or_method"),
        ({"alphas": np.array([1, "a", []], dtype=object)}, "array of type object"),
        ({"alphas": np.ma.array([1.0, 2.0], mask=[0, 1])}, "MaskedArray"),
        ({"alphas": np.array(["2020"], dtype="M8[D]")}, "array of type datetime64"),
        ({"alphas": np.zeros(2, np.longdouble)}, "array of type"),
        ({"alphas": np.zeros(2, [("a", "f8", 2)])}, "array of type"),
        ({"alphas": np.zeros(2, complex)}, "array of type complex128"),
        ({"alphas": nested(101)}, "nested"),
        ({"alphas": {1.5: 2}}, "a dictionary with keys"),
        ({"alphas": {1, 2}}, "set"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_parameters_that_are_not_data(tmp_path, parameters, what):
    (tmp_path / "model").write_text("old")
    model = small_model(RankSVMCV, alphas=2, cv=2).set_params(**parameters)
    name = next(iter(parameters))
    with pytest.raises(
        TypeError, match=rf"parameter {name} cannot be saved.* {what}.*model\.set_params\({name}=None\)"
    ):
        save_model(model, tmp_path / "model")
    assert (tmp_path / "model").read_text() == "old"
    save_model(model.set_params(**{name: None}), tmp_path / "model")


def test_a_list_that_holds_itself():
    alphas = []
    alphas.append(alphas)
    with pytest.raises(TypeError, match="nested"):
        round_trip(MODEL_CV.set_params(alphas=alphas))


def test_only_fitted_models_of_known_classes(tmp_path, rng):
    with pytest.raises(NotFittedError):
        save_model(RankSVM(), tmp_path / "model")

    class Mine(RankSVM):
        pass

    for model in (Ridge().fit(*data(rng)), Mine().fit(*data(rng)), 3):
        with pytest.raises(
            TypeError,
            match=f"of scikit-learn, .*StandardScaler.*, got a {type(model).__name__}",
        ):
            save_model(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_arguments_in_the_wrong_order(tmp_path):
    with pytest.raises(TypeError, match=r"got a str\. The arguments are save_model\(model, path\)\."):
        save_model(str(tmp_path / "model"), small_model())
    assert not list(tmp_path.iterdir())


def test_attributes_of_the_user():
    model = small_model()
    model.note = "mine"
    model._secret = 3
    model.more_ = [1.5, np.arange(3)]
    loaded = round_trip(model)
    assert not hasattr(loaded, "note")
    assert not hasattr(loaded, "_secret")
    del model.note, model._secret
    assert_same_model(loaded, model)
    model.more_ = print
    with pytest.raises(TypeError, match=r"attribute more_ cannot be saved.*del model\.more_"):
        round_trip(model)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef_", np.zeros(3), r"coef_ has shape \(3,\), but n_features_in_ is 2"),
        ("coef_", np.zeros(2, np.float32), "coef_ must be an array of float64"),
        ("coef_", [0.0, 0.0], "coef_ must be an array"),
        ("n_features_in_", 2.0, "n_features_in_ is of type float, expected Integral"),
        ("_fitted_with_queries", 1, "_fitted_with_queries is of type int, expected bool"),
        ("feature_names_in_", np.array(["a"], dtype=object), "feature_names_in_ has shape"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(name, value, message):
    model = small_model()
    setattr(model, name, value)
    with pytest.raises(ValueError, match=f"changed after it was fitted: {message}"):
        round_trip(model)


# The file


def test_equal_models_give_equal_bytes(tmp_path):
    for k, model in enumerate(small_models()):
        save_model(model, tmp_path / f"{k}")
        first = (tmp_path / f"{k}").read_bytes()
        for again in (model, load_model(tmp_path / f"{k}")):
            save_model(again, tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == first


def test_paths(tmp_path, monkeypatch):
    model = small_model()
    monkeypatch.chdir(tmp_path)
    for path in ("by name", Path("by path"), tmp_path / "ümlaut"):
        save_model(model, path)
        assert_same_model(load_model(str(path)), model)
    assert {path.name for path in tmp_path.iterdir()} == {"by name", "by path", "ümlaut"}
    with pytest.raises(FileNotFoundError):
        load_model("absent")
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        load_model(tmp_path)
    with pytest.raises(OSError):  # noqa: PT011
        save_model(model, tmp_path / "absent" / "model")


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError, OSError("No space left on device")], ids=str)
def test_interrupted_writing_keeps_the_old_file(tmp_path, monkeypatch, fault):
    path = tmp_path / "model"
    save_model(small_model(), path)
    before = path.read_bytes()
    calls = []

    def fail(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise fault
        return write(*args, **kwargs)

    write = np.lib.format.write_array
    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(type(fault) if isinstance(fault, Exception) else fault):
        save_model(small_model(alpha=1.0), path)
    assert len(calls) == 2
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_large_members(tmp_path, monkeypatch):
    """ZIP64 is used from 2 GiB on; here it is forced in a small file."""
    model = small_model()
    save_model(model, tmp_path / "small")
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)
    save_model(model, tmp_path / "large")
    assert (tmp_path / "large").stat().st_size > (tmp_path / "small").stat().st_size + 100
    assert_same_model(load_model(tmp_path / "large"), model)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipe")
def test_a_pipe_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(tmp_path / 'pipe')!r}, 'w').close()"])
    with pytest.raises(OSError, match="seek"):
        load_model(tmp_path / "pipe")
    assert writer.wait() == 0
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_loading_runs_and_imports_nothing(tmp_path):
    paths = []
    for k, model in enumerate(small_models()):
        paths.append(str(tmp_path / f"{k}"))
        save_model(model, paths[-1])
    script = f"""
        import pickle, sys
        from kernelrank.persistence import load_model

        for path in {paths!r}:
            load_model(path)  # triggers lazy imports

        def refuse(*args, **kwargs):
            raise AssertionError("pickle was asked")

        pickle.load = pickle.loads = pickle.Unpickler = refuse
        events = []
        sys.addaudithook(lambda event, args: events.append(event))
        for path in {paths!r}:
            load_model(path)
        assert "open" in events
        assert not {{"import", "exec", "pickle.find_class", "os.system", "subprocess.Popen"}} & set(events), events
        print("done")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr
