"""The description and the reader in docs/model-format.md are correct."""

import re
import zipfile

import numpy as np
import pytest
from keep_files import DATA, read_scores
from model_files import data, rounding, small_model, small_models, unpack

from kernelrank import RankSVMCV
from kernelrank.persistence import save_model


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
