"""Models of pairs of a row and a column: saved, loaded, kept for ever, damaged, and read by the reader of the docs."""

import json
import re

import numpy as np
import pytest
from keep_files import DATA, relational_inputs, relational_models
from model_files import assert_same_model, npy, pack, unpack

import kernelrank
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence import load_model, save_model
from kernelrank.relational import KroneckerRLS

FILES = sorted(DATA.glob("*/relational/*.kernelrank"))


@pytest.mark.parametrize("name", relational_models())
def test_a_loaded_model_is_the_same(tmp_path, name):
    model = relational_models()[name]
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert_same_model(loaded, model)
    np.testing.assert_array_equal(loaded.predict(*relational_inputs(model)), model.predict(*relational_inputs(model)))
    with pytest.raises(ValueError, match="has no training data"):
        loaded.leave_row_out()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_predictions_are_what_they_were(path, pytestconfig):
    kept = {name: np.array(value) for name, value in json.loads(path.with_suffix(".json").read_text()).items()}
    found = load_model(path).predict(kept["U"], kept["V"])
    np.testing.assert_allclose(found, kept["predictions"], rtol=1e-10, atol=1e-12)
    page = (pytestconfig.rootpath / "docs" / "model-format.md").read_text()
    names = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    found = names["predict_pairs"](path, kept["U"], kept["V"])
    np.testing.assert_allclose(found, kept["predictions"], rtol=1e-10, atol=1e-12)


def test_this_version_is_among_them():
    """If this fails, run keep_files.py."""
    kept = {path.stem for path in FILES if path.parent.parent.name == kernelrank.__version__}
    assert kept == relational_models().keys()


def test_every_attribute_is_on_the_page(tmp_path, pytestconfig):
    page = (pytestconfig.rootpath / "docs" / "model-format.md").read_text()
    for model in relational_models().values():
        save_model(model, tmp_path / "model")
        document, _ = unpack(tmp_path / "model")
        for name in (*document["attributes"], document["class"]):
            assert f"`{name}`" in page


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("complete", {"attributes/coef_": np.ones((2, 2))}, r"coef_ has shape .*n_row_functions is 3|is 3"),
        ("complete", {"attributes/row_coef_": np.ones(4)}, "row_coef_ has shape"),
        ("complete", {"attributes/column_coef_": np.full(2, np.nan)}, "column_coef_ has elements that are not finite"),
        ("unknown_entries", {"attributes/row_basis_": np.ones((6, 4))}, "row_basis_ has shape"),
        ("unknown_entries", {"attributes/row_basis_": np.ones((5, 3))}, "row_basis_ has shape|has shape"),
    ],
    ids=str,
)
def test_damaged_models_are_refused(tmp_path, name, changes, message):
    path = tmp_path / "model"
    save_model(relational_models()[name], path)
    document, members = unpack(path)
    members |= {f"{member}.npy": npy(value) for member, value in changes.items()}
    pack(path, document, members)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


@pytest.mark.parametrize("missing", ["row_kernel_", "column_kernel_", "coef_", "intercept_", "column_basis_"])
def test_attributes_that_are_missing_are_named(tmp_path, missing):
    path = tmp_path / "model"
    save_model(relational_models()["cross_validated"], path)
    document, members = unpack(path)
    del document["attributes"][missing]
    members = {name: content for name, content in members.items() if name != f"attributes/{missing}.npy"}
    pack(path, document, members)
    with pytest.raises(ModelFormatError, match=f"the attribute {missing} is missing"):
        load_model(path)


def test_a_changed_model_is_not_saved(tmp_path, rng):
    model = KroneckerRLS(row_kernel="gaussian").fit(rng.normal(size=(4, 2)), np.eye(3), rng.normal(size=(4, 3)))
    model.row_basis_ = model.row_basis_[:2]
    with pytest.raises(ValueError, match="The KroneckerRLS was changed after it was fitted: row_"):
        save_model(model, tmp_path / "model")
