"""The description and the reader in docs/model-format.md are correct."""

import re
import zipfile

import numpy as np
import pytest
from keep_files import DATA, read_scores
from model_files import data, rounding, small_model, small_models, unpack
from pipelines_to_save import numbers, pipelines, small_pipelines, targets, targets_for
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankRLS, RankSVM, RankSVMCV
from kernelrank.model_selection import FScoreClassifier
from kernelrank.persistence import save_model
from kernelrank.persistence._registry import KINDS


@pytest.fixture
def page(pytestconfig):
    return (pytestconfig.rootpath / "docs" / "model-format.md").read_text()


@pytest.fixture
def reader(page):
    """Return the definitions of the page, which imports nothing of this package."""
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert "kernelrank." not in code
    names = {}
    exec(code, names)
    return names


def test_the_reader_predicts(tmp_path, rng, reader):
    X, _ = data(rng, n=2)
    for model in small_models():
        save_model(model, tmp_path / "model")
        np.testing.assert_allclose(
            reader["predict"](tmp_path / "model", X).astype(float),
            model.predict(X).astype(float),
            rtol=rounding(vars(model)),
        )


@pytest.mark.parametrize("path", sorted(DATA.glob("*/*.kernelrank")), ids=lambda path: path.stem)
def test_the_reader_reads_files_of_all_versions(path, reader):
    model = reader["read"](path)
    X, scores = read_scores(path, model.get("ranker_", model)["n_features_in_"])
    np.testing.assert_allclose(reader["predict"](path, X).astype(float), scores, rtol=rounding(model))


def test_every_entry_and_attribute_is_on_the_page(tmp_path, page):
    for model in small_models():
        save_model(model, tmp_path / "model")
        document, _ = unpack(tmp_path / "model")
        for name in (*document, *document["attributes"], document["class"]):
            assert f"`{name}`" in page or f'`"{name}"`' in page


def documents(value):
    """Yield the documents of all objects in a document."""
    if isinstance(value, dict) and "class" in value:
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from documents(inner)


def test_every_class_and_attribute_of_pipelines_is_on_the_page(tmp_path, page):
    found = set()
    for model, X in pipelines().values():
        save_model(model.fit(X, targets_for(model)), tmp_path / "model")
        for each in documents(unpack(tmp_path / "model")[0]):
            found |= {each["class"], *each.get("attributes", ()), *(each.keys() & {"output"})}
    assert len(found) > 90
    assert not [name for name in sorted(found) if f"`{name}`" not in page]


def test_every_class_is_on_the_page(page):
    assert not [cls.__name__ for cls in KINDS if f"`{cls.__name__}`" not in page]


def test_the_reader_reads_pipelines(tmp_path, reader):
    for model, _ in small_pipelines():
        save_model(model, tmp_path / "model")
        assert "class" in reader["read"](tmp_path / "model")
    model = make_pipeline(StandardScaler(), RankSVM()).fit(numbers(), targets())
    save_model(model, tmp_path / "model")
    (_, scaler), (_, ranker) = reader["read"](tmp_path / "model")["parameters"]["steps"]
    scores = reader["score"](ranker, (numbers() - scaler["mean_"]) / scaler["scale_"])
    np.testing.assert_allclose(scores, model.predict(numbers()), rtol=1e-12)


def test_the_reader_reads_thresholds(tmp_path, rng, reader):
    X, y = data(rng)
    model = FScoreClassifier(RankRLS(), classes=["bad", "good"], cv=3).fit(X, np.where(y > 0, "good", "bad"))
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(reader["predict"](tmp_path / "model", X), model.predict(X))


def test_the_container_is_as_described(tmp_path):
    save_model(small_model(RankSVMCV, alphas=np.logspace(-2, 0, 3), cv=2), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        first, *others = archive.infolist()
        assert first.filename == "model.json"
        assert [info.filename for info in others] == sorted(info.filename for info in others)
        assert "parameters/alphas.npy" in archive.namelist()
        for info in (first, *others):
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.flag_bits == 0
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
        for info in others:
            content = archive.read(info)
            assert content[:8] == bytes.fromhex("93 4E 55 4D 50 59 01 00")
            length = content[8] + 256 * content[9]
            assert re.fullmatch(rb"{'descr': '<f8', .*, } *\n", content[10 : 10 + length])
