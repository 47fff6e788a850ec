"""README and documentation: one page, working links, commands that exist, examples that run."""

import importlib
import itertools
import re
import shlex

import numpy as np
import pytest
from corpora import write_corpus

from kernelrank import cli
from kernelrank.io import dump_svmlight

FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)[^`]+?\1")
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text()


def pages(root):
    """Return all Markdown files that readers are sent to."""
    return [
        *(root / name for name in ("README.md", "CHANGELOG.md")),
        *root.glob("docs/**/*.md"),
        *root.glob("experiments/*.md"),
        *root.glob("experiments/*/*.md"),
        *root.glob("experiments/*/results/*.md"),
        *root.glob("benchmarks/results/*.md"),
    ]


def prose(text):
    """Leave out blocks of code, and code within lines."""
    return CODE.sub("code", FENCE.sub("", text))


def anchors(text):
    """Return the anchors of headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def shell_lines(text):
    """Return the commands of all blocks of shell code."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


def test_the_readme_is_one_page(readme):
    lines = readme.splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 120
    assert [mark for mark, _ in LINK.findall(prose(readme))].count("!") == 1
    assert [line for line in shell_lines(readme) if line[0] == "make"] == [["make", "demo"], ["make", "test"]]


def test_links_work(root):
    broken = []
    for page in pages(root):
        for _, target in LINK.findall(prose(page.read_text())):
            if re.match(r"https?://", target):
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
                broken.append(f"{page.relative_to(root)}: {target}")
    assert not broken


def test_the_contents_of_the_site_have_every_page(root, monkeypatch):
    monkeypatch.syspath_prepend(root / "docs")
    contents = importlib.import_module("_contents").CONTENTS
    listed = {"docs/index"}
    for page, captions in contents.items():
        for entry in itertools.chain.from_iterable(captions.values()):
            name = re.sub(r".*<(.*)>", r"\1", entry)
            listed.add(name[1:] if name.startswith("/") else f"{page.rpartition('/')[0]}/{name}")
    written = {str(page.relative_to(root).with_suffix("")) for page in pages(root)} - {"README"}
    reports = {page for page in written if re.match("benchmarks/|experiments/.*/", page)}  # linked where they are cited
    assert listed == written - reports | {"docs/gallery/index"}  # sphinx-gallery writes the last


def test_commands_exist(root):
    text = "\n".join(page.read_text() for page in pages(root))
    targets = set(re.findall(r"^([\w-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    studies = {f"experiment-{path.parent.name}" for path in root.glob("experiments/*/run.py")}
    assert set(re.findall(r"`(?:[A-Z_]+=\w+ )*make ([\w-]+)", text)) <= targets | studies
    for module in re.findall(r"python -m ((?:benchmarks|experiments)[\w.]*\w)", text):
        assert (root / f"{module.replace('.', '/')}.py").exists(), module
    for path in re.findall(r"`((?:tests|benchmarks|experiments)/[\w./]+)`", text):
        assert (root / path).exists(), path


def write_files_of_further_commands(folder, rng):
    """Write rows with preferences, tables with groups and with two targets, and two corpora."""
    dump_svmlight(rng.normal(size=(20, 3)), np.zeros(20), "items.txt")
    (folder / "pairs.csv").write_text("winner,loser,weight\n3,1,1\n12,7,2.5\n4,5,1\n")
    X = rng.normal(size=(40, 3)).round(3)
    visits = [f"{a},{b},{int(a + c > 0)},p{k // 2}" for k, (a, b, c) in enumerate(X.tolist())]
    (folder / "visits.csv").write_text("\n".join(["dose,age,ill,patient", *visits]) + "\n")
    wines = [f"{a},{b},{a + c:.3f},{b - c:.3f}" for a, b, c in X.tolist()]
    (folder / "wines.csv").write_text("\n".join(["acid,sugar,taste,price", *wines]) + "\n")
    for name in ("corpus.xml", "other.xml"):
        write_corpus(folder / name, 10, rng)


TRAINED = {"model.kr": ["train.txt"], "houses.kr": ["houses.csv", "--target", "price", "--qid", "district"]}


@pytest.mark.parametrize(
    ("page", "trained"),
    [("README.md", {}), ("docs/command-line.md", {}), ("docs/ndcg.md", TRAINED), ("docs/report.md", TRAINED)],
)
def test_commands_of_the_page_run(root, page, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("train.txt", "test.txt", "train.dat", "test.dat"):
        X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(10), 6)
        dump_svmlight(X, rng.integers(0, 3, 60), name, qid=qid)
    houses = [f"{a:.3f},{a + b:.3f},{k % 4}" for k, (a, b) in enumerate(rng.normal(size=(40, 2)))]
    for name in ("houses.csv", "new.csv"):
        (tmp_path / name).write_text("\n".join(["rooms,price,district", *houses]) + "\n")
    write_files_of_further_commands(tmp_path, rng)
    programs = {"kernelrank": cli.main, "kr_rank_learn": cli.learn, "kr_rank_classify": cli.classify}
    for name, data in trained.items():
        assert cli.main(["train", *data, "-o", name]) == 0
    commands = [line for line in shell_lines((root / page).read_text()) if line[0] in programs]
    assert len(commands) >= 2
    for program, *arguments in commands:
        if arguments == ["demo"]:
            continue  # takes long; tests/cli/test_kernelrank.py runs it
        assert programs[program](arguments) == 0, arguments


def test_the_page_of_the_command_line_has_every_command_and_option(root, capsys):
    page = (root / "docs" / "command-line.md").read_text()
    told = set(re.findall(r"--[a-z][a-z-]+", page))

    def help_of(*arguments):
        with pytest.raises(SystemExit):
            cli.main([*arguments, "--help"])
        return capsys.readouterr().out

    options = set(re.findall(r"--[a-z][a-z-]+", help_of()))
    for command in re.search(r"^  command\n((?:    .*\n)+)", help_of(), re.MULTILINE)[1].splitlines():
        if not command.startswith("     "):
            name = command.split()[0]
            assert f"kernelrank {name} " in page, name
            options |= set(re.findall(r"--[a-z][a-z-]+", help_of(name)))
    assert len(options) > 50
    assert options - told == set()


def test_the_picture_is_drawn_from_the_table(root, load, tmp_path):
    picture = load("benchmarks.picture")
    picture.draw(tmp_path / "seconds.svg")
    # Paths may differ between versions of matplotlib; names and ticks do not.
    drawn, kept = (
        re.findall(r">([^<>\n]+)</text>", path.read_text()) for path in (tmp_path / "seconds.svg", picture.PICTURE)
    )
    assert drawn == kept
    assert picture.PICTURE.stat().st_size < 40_000
    columns = picture.read_columns(picture.MEASURED.read_text(), "Text-like, alpha 1e-05: seconds of a fit")
    assert columns["RankSVM"][-1][0] == 512_000
    assert [m for m, _ in columns["scikit-survival (sq.)"]] == [1_000, 2_000, 4_000, 8_000]


def test_the_citation_names_all_papers(root):
    text = (root / "CITATION.cff").read_text()
    _, _, references = text.partition("\nreferences:\n")
    years = re.findall(r"^    year: (\d+)$", references, re.MULTILINE)
    assert years == ["2011", "2010", "2009", "2011", "2006"]
    for field in ("title", "authors"):
        assert len(re.findall(rf"^    {field}:", references, re.MULTILINE)) == 5
    assert re.findall(r"doi: (10\.\S+)", references) == ["10.1016/j.patrec.2011.03.014", "10.1007/s10994-008-5097-z"]
