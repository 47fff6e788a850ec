"""The house is in order: layers, public names, versions."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import kernelrank


def test_imports_go_downwards(monkeypatch, pytestconfig, capsys):
    monkeypatch.chdir(pytestconfig.rootpath)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


def modules():
    return [info.name for info in pkgutil.walk_packages(kernelrank.__path__, "kernelrank.")]


@pytest.mark.parametrize("name", [name for name in modules() if not name.rsplit(".", 1)[-1].startswith("_")])
def test_exported_names_exist_and_are_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for exported in module.__all__:
        assert getattr(module, exported).__doc__, f"{name}.{exported} has no docstring"


def test_every_room_can_be_entered_from_the_door():
    rooms = [info.name for info in pkgutil.iter_modules(kernelrank.__path__) if not info.name.startswith("_")]
    script = "import kernelrank\n" + "\n".join(f"kernelrank.{name}" for name in rooms)
    subprocess.run([sys.executable, "-c", script], check=True)
    assert set(rooms) <= set(dir(kernelrank))


def test_version_is_the_packages():
    assert kernelrank.__version__.count(".") == 2


def test_estimators_do_not_reach_into_the_core():
    # import-linter cannot see a compiled module.
    package = Path(kernelrank.__file__).parent
    callers = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if re.search(r"import _core|from kernelrank\._core", path.read_text())
    }
    assert callers == {"io", "kernels", "pairs", "solvers", "_dense.py"}


def test_nothing_private_of_scikit_learn_is_imported():
    root, found = Path(__file__).parents[1], []
    for folder in ("src", "tests", "benchmarks", "experiments", "examples"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                    parts = [f"{module}.{each.name}".strip(".").split(".") for each in node.names]
                    if any(names[0] == "sklearn" and any(n.startswith("_") for n in names) for names in parts):
                        found.append(f"{path.relative_to(root)}:{node.lineno}")
    assert not found
