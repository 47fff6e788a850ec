"""Pages with examples in Python and commands: they are run from top to bottom, and print what the page says."""

import doctest
import re
import shlex
import sys

import pytest

BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_examples(text, names, page):
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    failures, _ = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=sys.stderr.write, clear_globs=False)
    names.update(test.globs)  # the parser copies them
    return failures


def run_commands(text, shell):
    """Run the commands of a block, and return what they print."""
    outputs = []
    for line in text.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "kernelrank"
        assert shell(*arguments).code == 0, shell.err
        outputs.append(shell.out)
    return "".join(outputs)


@pytest.mark.parametrize("name", ["deploy", "queries"])
def test_commands_and_examples_of_a_page(name, pytestconfig, shell, tmp_path, monkeypatch, capsys):
    page = pytestconfig.rootpath / "docs" / f"{name}.md"
    if name == "deploy":
        pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    names, printed = {}, ""
    for language, text in BLOCK.findall(page.read_text()):
        if language == "python":
            assert run_examples(text, names, page) == 0, capsys.readouterr().err
            if "folder" in names:  # of the files that the page makes
                monkeypatch.chdir(names["folder"])
        elif language == "sh":
            printed = run_commands(text, shell)
        else:
            assert doctest.OutputChecker().check_output(text, printed, FLAGS), printed
