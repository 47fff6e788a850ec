"""Numbers in README and documentation are those of the committed reports that they cite."""

import re

import pytest

FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)[^`]+?\1")
# A number with the unit of a measurement.
MEASURED = re.compile(
    r"\d(?:[\d.,]*\d)?(?:\s+(?:to|and)\s+\d(?:[\d.,]*\d)?)?\s+"
    r"(?:%|s|ms|u|seconds?|milliseconds?|minutes?|hours?|times|steps|points|[kMG]i?B|bytes)(?![\w/])"
)
RESULT = re.compile(r"\]\([^)]*(?:experiments/\w+/results|benchmarks/results|benchmarks\.md#)[^)]*\)")
# Pages that are computed as a whole, by benchmarks.page or by a study.
COMPUTED = ("benchmarks.md", "reproduction.md")
# Numbers with units that are not measured: what the library does, and what tests check.
DEFINED = {
    "docs/auc.md": ("trained 384 times", "A pipeline is trained 384 times", "95 % intervals", "where 5 % are"),
    "docs/guarantees.md": (
        "to 100 eps times the condition",
        "about 100 bytes per row",
        "at most 200 MB and 64 bytes per row",
    ),  # tests/estimators
    "docs/kernels.md": ("which take 16 MiB", "128 MiB"),
    "docs/model-format.md": ("2 GiB", "8 bytes", "64 times", "16 times"),
    "docs/objective.md": ("within 1 % of the optimum",),
    "docs/scaling.md": (
        *("8 bytes per row", "16 bytes per query and chunk"),
        *("about 32 MB", "at most 200 MB and 64 bytes per row", "may take 8 GB"),
    ),
    "docs/tuning.md": ("more than 0.1 %",),
}


@pytest.fixture
def claims(load):
    return load("benchmarks.claims")


def hand_written(root):
    return [root / "README.md", *(path for path in sorted(root.glob("docs/*.md")) if path.name not in COMPUTED)]


def without_code(text):
    """Replace code by blanks, so that positions stay the same."""
    for pattern in (FENCE, CODE):
        text = pattern.sub(lambda found: re.sub(r"\S", " ", found[0]), text)
    return text


def uncovered(page, text, claims):
    """Return measured numbers that no claim covers, and paragraphs that cite a report without a claim."""
    spans = [claim.find(text).span() for claim in claims.CLAIMS if claim.page == page]
    spans += [found.span() for piece in DEFINED.get(page, ()) for found in flexible(piece).finditer(text)]
    prose = without_code(text)
    numbers = [
        found[0]
        for found in MEASURED.finditer(prose)
        if not any(start <= found.start() and found.end() <= end for start, end in spans)
    ]
    citations = []
    for found in RESULT.finditer(prose):
        start, end = paragraph_around(prose, found)
        has_number = re.search(r"\d", re.sub(r"\([^)]*\)", "", prose[start:end]))  # not only in the address of a link
        if has_number and not any(first < end and last > start for first, last in spans):
            citations.append(found[0])
    return numbers, citations


def paragraph_around(text, found):
    start, end = text.rfind("\n\n", 0, found.start()), text.find("\n\n", found.end())
    return max(start, 0), len(text) if end < 0 else end


def flexible(piece):
    return re.compile(r"\s+".join(map(re.escape, piece.split())))


def test_the_page_of_benchmarks_is_computed(load):
    page = load("benchmarks.page")
    assert page.PAGE.read_text() == page.compute(), "run python -m benchmarks.page"


def test_numbers_are_those_of_the_reports(root, claims):
    for claim in claims.CLAIMS:
        found = claim.find((root / claim.page).read_text())
        assert list(found.groups()) == claim.numbers(), f"{claim.page}: {found[0]!r}; run python -m benchmarks.page"


def test_every_measured_number_is_a_claim(root, claims):
    for path in hand_written(root):
        page = str(path.relative_to(root))
        assert uncovered(page, path.read_text(), claims) == ([], []), page


def test_what_is_defined_is_still_there(root):
    for page, pieces in DEFINED.items():
        text = (root / page).read_text()
        assert [piece for piece in pieces if not flexible(piece).search(text)] == [], page


def test_a_changed_number_is_noticed_and_replaced(claims):
    claim = claims.Claim("README.md", "rows train in {:.1f} seconds ({:,.0f} pairs)", lambda: [1.25, 12_345])
    page = "512 rows train\nin 9.9 seconds (1 pairs), not 9.9."
    assert claims.with_numbers(claim, page) == "512 rows train\nin 1.2 seconds (12,345 pairs), not 9.9."
    assert list(claim.find(page).groups()) != claim.numbers()
    with pytest.raises(LookupError, match=r"README\.md has no text like 'rows train in"):
        claim.find("rows are trained")


def test_a_new_number_is_noticed(root, claims):
    text = (root / "README.md").read_text()
    numbers, citations = uncovered("README.md", text + "\nIt takes 3 to 4 seconds, or 12 %; `7 ms` is code.\n", claims)
    assert numbers == ["3 to 4 seconds", "12 %"]
    assert citations == []
    _, citations = uncovered("README.md", text + "\n\nIt is 0.7 ([x](benchmarks/results/path.md)).\n", claims)
    assert citations == ["](benchmarks/results/path.md)"]


def test_a_missing_cell_is_named(load):
    peers = load("benchmarks.citations").report("peers")
    with pytest.raises(LookupError, match=r"benchmarks/results/peers\.md has no table 'Nothing'"):
        peers.cell("Nothing", "a", "b")
    with pytest.raises(LookupError, match="no table 'Workloads' with a column 'b'"):
        peers.cell("Workloads", "a", "b")
    with pytest.raises(LookupError, match="no row 'a' in the table 'Workloads'"):
        peers.cell("Workloads", "a", "alpha")
    with pytest.raises(LookupError, match="no number in the row 'Bipartite', column 'queries'"):
        peers.value("Workloads", "Bipartite", "queries")
