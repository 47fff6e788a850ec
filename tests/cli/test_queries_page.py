"""The commands of docs/queries.md work with the files that the page makes."""

import doctest
import re
import shlex

import pytest


@pytest.fixture
def page(pytestconfig):
    return pytestconfig.rootpath / "docs" / "queries.md"


def test_the_commands_of_the_page(page, shell, monkeypatch):
    text = page.read_text()
    names = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(compile(example.source, page.name, "single"), names)
    shell._capsys.readouterr()
    monkeypatch.chdir(names["folder"])
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    for line in commands.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "kernelrank"
        assert shell(*arguments, "--quiet").code == 0, shell.err
