"""Rules of the code base: layers, public names, versions, language."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import kernelrank

PACKAGE = Path(kernelrank.__file__).parent


def test_imports_go_downwards(monkeypatch, pytestconfig, capsys):
    monkeypatch.chdir(pytestconfig.rootpath)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


def test_every_module_has_a_layer(root):
    [contract] = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {name for layer in contract["layers"] for name in layer.split(" | ")}
    assert layers == {f"kernelrank.{info.name}" for info in pkgutil.iter_modules(kernelrank.__path__)} - {
        "kernelrank.__main__",
        "kernelrank._core",
    }


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
    callers = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if re.search(r"import _core|from kernelrank\._core", path.read_text())
    }
    assert callers == {"io", "kernels", "pairs", "solvers", "_dense.py", "_entries.py"}


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


# Language: the plain technical English of NumPy's and scikit-learn's documentation.

# First words of the summaries of functions. Add a verb if it is missing.
VERB = re.compile(
    r"(Add|Append|Apply|Approximate|Ask|Assign|Bound|Bring|Build|Call|Check|Choose|Combine|Compare|Compute|Continue|Convert|Copy|Correct|"
    r"Count|Create|Cut|Decode|Decompose|Describe|Divide|Do|Draw|Encode|Estimate|Evaluate|Expand|Explain|Extend|"
    r"Extract|Fail|Find|Fit|Forget|Format|Gather|Hold|Import|Invert|Keep|Learn|Load|Lock|Lower|Make|Map|Maximise|Minimise|Move|Multiply|Open|Pad|Parse|Plot|Predict|"
    r"Prepare|Print|Project|Put|Raise|Rank|Read|Record|Reflect|Renumber|Release|Remove|Replace|Represent|Reset|Resolve|Return|Run|Sample|"
    r"Save|Scale|Score|Select|Send|Set|Shift|Show|Simulate|Solve|Sort|Split|Stack|Start|Stop|Subtract|Sum|Suppress|Test|Train|Transform|Try|Update|"
    r"Validate|Wait|Warn|Weigh|Write|Yield)\b"
)
RIDDLE = re.compile(r"(What|How|Where|Who)\b")
# Each with the words to use instead.
IDIOMS = {
    r"\b(one|an?) \w+ an? (row|query|pair|fold|group|line|thread|level|class|feature|alpha|output|column)\b": "per row",
    r"\b(seconds|bytes|times|bits|passes|products) an? (row|query|pass|fit|pair|fold|line|second|thread)\b": "per",
    r"\bO\([^)\n]*\) an? \w+": "per",
    r"\b(one|two|three|[1-9]) at least\b": "at least one",
    r"(?<![tT]here )\bis no (?!longer\b)": "is not a",
    r"\b([Ww]hoever|[Nn]obody|[Ss]omebody)\b": "the caller, the user, no row",
    r"\brefused by name\b": "raises an error that names it",
}


def modules(package):
    return sorted(package.rglob("*.py"))


def summaries(path):
    """Yield the kind, the name and the first line of each docstring of a module."""
    module = ast.parse(path.read_text())
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            decorators = {
                getattr(each, "id", getattr(each, "attr", "")) for each in getattr(node, "decorator_list", ())
            }
            is_function = isinstance(node, ast.FunctionDef) and not decorators & {"property", "cached_property"}
            yield is_function, getattr(node, "name", path.name), text.partition("\n")[0]


@pytest.mark.parametrize("path", modules(PACKAGE), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_summaries_of_functions_start_with_a_verb(path):
    for is_function, name, summary in summaries(path):
        if is_function:
            assert VERB.match(summary), f"{name}: {summary!r} should start with a verb, such as Return"
        else:
            assert not RIDDLE.match(summary), f"{name}: {summary!r} should be a noun phrase"


def test_prose_is_plain(pytestconfig):
    core = [path for path in pytestconfig.rootpath.glob("cpp/**/*") if path.suffix in (".hpp", ".cpp")]
    found = [
        f"{path.name}:{number}: {line.strip()!r}: write {remedy!r}"
        for path in [*modules(PACKAGE), *core]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for idiom, remedy in IDIOMS.items()
        if re.search(idiom, line)
    ]
    assert not found, "\n".join(found)


def test_the_language_rules_can_fail(tmp_path):
    (tmp_path / "module.py").write_text('''"""What is lost."""\n\n\ndef size():\n    """Bytes a row."""\n''')
    (module, riddle), (function, noun) = ((kind, summary) for kind, _, summary in summaries(tmp_path / "module.py"))
    assert not module
    assert RIDDLE.match(riddle)
    assert function
    assert not VERB.match(noun)
    assert any(re.search(idiom, "it keeps 12 bytes a row") for idiom in IDIOMS)
    assert any(re.search(idiom, "there are two at least") for idiom in IDIOMS)
    assert not any(
        re.search(idiom, "there is no pair of a row and a query; it keeps 12 bytes per row") for idiom in IDIOMS
    )
