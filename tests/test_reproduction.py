"""The page on the papers' tables and figures is computed from the committed reports."""

import re

import pytest


@pytest.fixture
def reproduction(load):
    return load("experiments.reproduction")


def test_the_page_is_computed(reproduction):
    assert reproduction.PAGE.read_text() == reproduction.compute(), "run python -m experiments.reproduction"


def test_every_table_and_figure_of_the_papers_has_a_row(load):
    items = load("experiments.reproduced").ITEMS
    names = [(re.match(r"A10|A11|D06|P09|T11, Paper \w+", item.paper)[0], item.name) for item in items]
    assert sorted(names) == sorted(
        [("A10", "figure 1"), *(("A11", f"figure {k}") for k in range(1, 5)), ("D06", "table 1")]
        + [("P09", f"table {k}") for k in range(1, 7)]
        + [("T11, Paper III", name) for name in ("figure 1", "table 1", "table 2")]
        + [("T11, Paper V", name) for name in ("figure 3", *(f"table {k}" for k in range(1, 7)))]
    )


def test_rows_say_what_was_compared(load):
    reproduced = load("experiments.reproduced")
    for item in reproduced.ITEMS:
        found = item.find()
        assert found.status in (reproduced.REPRODUCED, reproduced.IN_PART, reproduced.MISSING)
        assert found.theirs
        assert found.differs
        assert "nan" not in " ".join(found).split()
        if found.status != reproduced.MISSING:
            assert found.ours
            assert found.agreement
            assert found.source


def test_a_row_follows_its_report(load, monkeypatch, tmp_path):
    reproduced, citations = load("experiments.reproduced"), load("benchmarks.citations")
    before = reproduced.d06_table_1()
    changed = tmp_path / "results.md"
    text = citations.report("swapped_pairs").path.read_text()
    worse = re.sub(r"\((-16\.3|-9\.4)\)", "(+9.9)", text)
    assert worse != text
    changed.write_text(worse)
    monkeypatch.setattr(reproduced, "report", lambda name: citations.Report(changed))
    after = reproduced.d06_table_1()
    higher = [int(re.search(r"(\d+) higher", each.agreement)[1]) for each in (before, after)]
    assert higher[1] > higher[0]
    assert after.ours == before.ours
