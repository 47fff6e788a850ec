"""The page for users of other software: names in its tables exist, and its commands and those of other pages run."""

import ast
import inspect
import re
import shlex
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from kernelrank import cli, datasets
from kernelrank.io import dump_svmlight

PAGE = "docs/coming-from.md"
# Names of the page's formulas and data, which are not those of the package.
SYMBOLS = {
    *("C", "U", "V", "X", "Y", "a", "g", "m", "n_known", "n_pairs", "n_q", "n_queries", "q", "tau", "y"),
    *("alphas", "event", "fold", "folds", "frame", "len", "model", "n_features", "np", "pairs", "qid", "query"),
    *("regparam", "regparam1", "regparam2", "risk", "scores", "sizes", "time", "times"),
}
OTHERS = {"StandardScaler", "PredefinedSplit", "sklearn"}
ROOMS = (
    *("datasets", "inspection", "io", "kernels", "metrics", "model_selection", "pairs", "persistence", "pipelines"),
    "relational",
)
PROGRAMS = {"kernelrank": cli.main, "kr_rank_learn": cli.learn, "kr_rank_classify": cli.classify}


@pytest.fixture(scope="module")
def public():
    """Return what the package and its modules export, by name."""
    rooms = [import_module("kernelrank"), *(import_module(f"kernelrank.{name}") for name in ROOMS)]
    return {name: getattr(room, name) for room in rooms for name in room.__all__}


@pytest.fixture(scope="module")
def parameters(public):
    """Return the names of parameters, of functions and of methods, and of attributes of fitted models."""
    found = set()
    for each in public.values():
        methods = [method for name, method in inspect.getmembers(each, inspect.isfunction) if not name.startswith("_")]
        for function in [each, *methods]:
            found |= set(inspect.signature(function).parameters)
        found |= set(re.findall(r"^(\w+_)(?=[ ,])", inspect.getdoc(each), re.MULTILINE))
    return found


def pieces(text):
    """Return code in the last column of all tables whose columns are "there" and "here"."""
    for table in re.findall(r"^\| there \| here \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        for line in table.splitlines():
            yield from re.findall(r"`([^`]+)`", line.removesuffix("|").rpartition("|")[2])


def read(piece):
    """Parse an expression, or arguments such as ``alpha=0.1, tol=1e-3``."""
    try:
        return ast.parse(piece, mode="eval")
    except SyntaxError:
        return ast.parse(f"f({piece})", mode="eval")


def unknown(piece, public, parameters):
    """Return the names in a piece of code that neither the package nor its parameters have."""
    if piece.split()[0] in PROGRAMS:
        return []
    if piece.startswith("kernelrank."):
        return [] if import_module(piece) else [piece]
    if piece.startswith("-"):  # options of the command line, or the negative of an expression
        piece = piece.lstrip("-")
    tree, found = read(piece), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = public.get(node.value.id) if isinstance(node.value, ast.Name) else None
            classes = [owner] if owner else [each for each in public.values() if inspect.isclass(each)]
            of_others = isinstance(node.value, ast.Name) and node.value.id in {*OTHERS, "np"}
            if not of_others and not any(hasattr(each, node.attr) for each in classes) and node.attr not in parameters:
                found.append(node.attr)
        elif isinstance(node, ast.Name) and node.id != "f":
            if node.id not in public and node.id not in SYMBOLS | OTHERS | parameters:
                found.append(node.id)
        elif isinstance(node, ast.Call):
            found += wrong_arguments(node, public, parameters)
    return found


def wrong_arguments(call, public, parameters):
    """Return the keywords of a call that its function does not have."""
    function = public.get(call.func.id) if isinstance(call.func, ast.Name) else None
    known = set(inspect.signature(function).parameters) if function else parameters
    return [keyword.arg for keyword in call.keywords if keyword.arg not in known]


def test_every_name_exists(root, public, parameters):
    found = list(pieces((root / PAGE).read_text()))
    assert len(found) > 100
    assert {piece: names for piece in found if (names := unknown(piece, public, parameters))} == {}


@pytest.mark.parametrize(
    ("piece", "names"),
    [
        ("RankSVMM(alpha=1)", ["RankSVMM"]),
        ("RankSVM(lam=1)", ["lam"]),
        ("lam=1, tol=1e-3", ["lam"]),
        ("RankRLS.leave_one_pair_out(pairs)", ["leave_one_pair_out"]),
        ("gap", ["gap"]),
        ("RankSVM(alpha=1 / (2 * C * n_pairs), kernel=Gaussian(g)).fit(X, y, qid=qid)", []),
        ("gap_", []),
    ],
)
def test_a_name_that_does_not_exist_is_found(piece, names, public, parameters):
    assert unknown(piece, public, parameters) == names


def test_each_section_has_an_example(root):
    sections = (root / PAGE).read_text().split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == [
        *("SVM^rank", "RLScore", "scikit-survival", "XGBoost and LightGBM", "scikit-learn")
    ]
    for section in sections:
        assert re.search(r"^>>> bool\(.*allclose", section, re.MULTILINE), section[:20]


def write_files(folder, rng):
    """Write the files that commands of the pages read."""
    table = pd.read_csv(datasets.apartments_path()).rename(columns={"search": "qid"})
    table[table["qid"] <= "s020"].to_csv(folder / "train.csv", index=False)
    table[table["qid"] > "s095"].to_csv(folder / "test.csv", index=False)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(10), 6)
    y = np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5])
    for name in ("train.dat", "test.dat"):
        dump_svmlight(X, y, folder / name, qid=qid)
    for name, target, values in (
        ("molecules", "strength", X[:, 0].round(1)),
        ("tumours", "malignant", (y > 0).astype(int)),
        ("photos", "name", [f"photo {k}" for k in range(60)]),
    ):
        pd.DataFrame(X[:, 1:].round(3), columns=["a", "b"]).assign(**{target: values}).to_csv(
            folder / f"{name}.csv", index=False
        )
    votes = rng.permuted(np.tile(np.arange(60), (40, 1)), axis=1)[:, :2]
    pd.DataFrame(votes, columns=["winner", "loser"]).map("photo {}".format).to_csv(folder / "votes.csv", index=False)


@pytest.mark.parametrize("name", ["coming-from", "comparisons", "getting-started", "maximise-auc", "measured-values"])
def test_commands_of_the_page_run(root, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, np.random.default_rng(0))
    blocks = re.findall(r"^```sh\n(.*?)^```", (root / "docs" / f"{name}.md").read_text(), re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    ours = [command for command in commands if command[0] in PROGRAMS]
    assert len(ours) >= 2
    for program, *arguments in ours:
        assert PROGRAMS[program](arguments) == 0, arguments
    assert capsys.readouterr().out
