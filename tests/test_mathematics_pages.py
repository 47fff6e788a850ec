"""The symbol tables of the pages on mathematics: every name of the code that they give exists."""

import ast
import re

import pytest

TABLE = re.compile(r"^\|(.*\| in the code \|.*)\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)


def defined_in(tree):
    """Return the names of functions, classes, parameters, variables and attributes that some code sets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg | ast.keyword):
            yield str(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


@pytest.fixture(scope="module")
def names(root):
    """Return all names of the package, those of a class also after the name of the class and a dot."""
    found = {name for path in root.glob("cpp/*/**/*.[ch]pp") for name in re.findall(r"\w+_\w+", path.read_text())}
    for path in root.glob("src/**/*.py"):
        tree = ast.parse(path.read_text())
        found.update(defined_in(tree))
        for each in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            found.update(f"{each.name}.{name}" for name in defined_in(each))
    return found


def codes(page):
    """Return the code in the column "in the code" of each table, without arguments."""
    for header, lines in TABLE.findall(page):
        column = header.split("|").index(" in the code ")
        for line in lines.splitlines():
            cells = line[1:-1].split("|")
            assert len(cells) == header.count("|"), line
            yield from (code.partition("(")[0].partition("=")[0] for code in re.findall(r"`([^`]+)`", cells[column]))


def test_names_exist(root, names):
    pages = {page.name: list(codes(page.read_text())) for page in root.glob("docs/mathematics/*.md")}
    assert len(pages) == 14
    assert min(map(len, pages.values())) >= 3
    missing = {name: [code for code in found if code not in names] for name, found in pages.items()}
    assert {name: found for name, found in missing.items() if found} == {}


def test_a_name_that_does_not_exist_is_found(names):
    table = (
        "| symbol | in the code | paper |\n|---|---|---|\n| $r$ | `Residual.applied`, `Residual.apply`, `sums` | |\n"
    )
    assert [code for code in codes(table) if code not in names] == ["Residual.applied"]
