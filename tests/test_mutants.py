"""The table of mutants is about the sources as they are."""

from pathlib import Path

import pytest
from mutants import ImportHook, all_mutants, mutate


@pytest.mark.parametrize("mutant", all_mutants(), ids=str)
def test_a_mutant_has_its_place_and_its_tests(root, mutant):
    text = (root / mutant.file).read_text()
    assert mutate(text, mutant) != text
    for test in mutant.tests.split():
        assert (root / test).exists()


def test_the_import_hook_replaces_one_module(tmp_path):
    path = tmp_path / "src" / "package" / "_module.py"
    hook = ImportHook(Path(path), "value = 7")
    assert hook.find_spec("package._other") is None
    spec, space = hook.find_spec("package._module"), {}
    exec(spec.loader.get_code("package._module"), space)
    assert space["value"] == 7
