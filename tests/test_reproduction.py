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


@pytest.fixture
def changed(load, monkeypatch, tmp_path):
    """Replace a number in the rows of a report that begin so, and have the rows of the page read that report."""
    reproduced, citations = load("experiments.reproduced"), load("benchmarks.citations")

    def change(name, begin, old, new):
        lines = citations.report(name).path.read_text().splitlines()
        found = [k for k, line in enumerate(lines) if line.startswith(begin)]
        other = [re.sub(old, new, line) if k in found else line for k, line in enumerate(lines)]
        assert other != lines
        (tmp_path / "report.md").write_text("\n".join(other))
        monkeypatch.setattr(reproduced, "report", lambda _: citations.Report(tmp_path / "report.md"))
        return reproduced

    return change


def test_agreement_follows_the_report(changed, load):
    before = load("experiments.reproduced").d06_table_1()
    after = changed("swapped_pairs", "| Diabetes ", r"\([-+][\d.]+\)", "(+9.9)").d06_table_1()
    higher = [int(re.search(r"(\d+) higher", each.agreement)[1]) for each in (before, after)]
    assert higher[1] == higher[0] + 3
    assert "Diabetes" in after.differs
    assert after.ours == before.ours


def test_ranks_follow_the_report(changed, load):
    before = load("experiments.reproduced").v_table_2()
    after = changed("ppi/cross_corpus", "| LLL ", r"\b4 \(4\)", "1 (4)").v_table_2()
    same = [int(re.search(r"(\d+) of 20 ranks", each.agreement)[1]) for each in (before, after)]
    assert same[1] < same[0]


def test_a_status_follows_the_report(changed, load):
    reproduced = load("experiments.reproduced")
    assert reproduced.v_figure_3().status == reproduced.IN_PART
    after = changed("ppi/learning_curves", "| BioInfer ", r"\b[5-9]\d\.\d", "50.0").v_figure_3()
    assert "HPRD50 and IEPA and LLL" in after.agreement
    assert after.status == reproduced.REPRODUCED


def test_a_statement_that_does_not_hold_is_an_error(changed):
    reproduced = changed("rankrls/jester", "| RankRLS, relative (22)", r"0\.\d{4} ±", "0.1000 ±")
    with pytest.raises(ValueError, match=r"do not support this: .*the relative cost is worst in both"):
        reproduced.p09_table_6()
