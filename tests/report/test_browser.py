"""The report in a real browser: Debian's package `chromium`, or another Chrome."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelrank as kr
from kernelrank import report
from report.browser import Page, find_browser

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_browser() is None, reason="needs Chromium")]

HOSTILE = "<img src=http://127.0.0.1:9/x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def page():
    shown = Page(find_browser())
    yield shown
    shown.close()


@pytest.fixture(scope="module")
def of_queries(tmp_path_factory):
    """Write a report with queries, whose ids and names of features are hostile."""
    rng = np.random.default_rng(0)
    qid = np.repeat([f"q{k} {HOSTILE}" for k in range(40)], 12)
    X = pd.DataFrame(rng.normal(size=(480, 4)), columns=["match", "age", HOSTILE, "clicks"])
    y = np.clip(np.rint(X.to_numpy() @ [1, -0.5, 0.5, 0] + rng.normal(size=480)), 0, 3)
    model = make_pipeline(StandardScaler(), kr.RankSVM()).fit(X, y, ranksvm__qid=qid)
    path = tmp_path_factory.mktemp("report") / "queries.html"
    report.write(model, X, y, qid=qid, path=path, learning_curve=True)
    return path


@pytest.fixture(scope="module")
def of_levels(tmp_path_factory):
    """Write a report on two levels without queries."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(float)
    path = tmp_path_factory.mktemp("report") / "levels.html"
    report.write(kr.RankRLS().fit(X, y), X, y, path=path)
    return path


@pytest.fixture(params=["of_queries", "of_levels"])
def path(request):
    return request.getfixturevalue(request.param)


def column(page, number, table="#query-table"):
    return page.ask(
        f"Array.from(document.querySelectorAll('{table} > tbody > tr'), r => r.cells[{number}].textContent)"
    )


@pytest.mark.parametrize("width", [390, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_errors_and_asks_for_nothing(page, path, width, scheme):
    page.open(path, width, prefers_color_scheme=scheme)
    assert page.faults == []
    assert page.requests == [path.as_uri()]
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    back = page.ask("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.ask("document.querySelectorAll('img, iframe, object, embed').length") == 0


def test_queries_sort_by_click_and_by_keyboard(page, of_queries):
    page.open(of_queries)
    first = column(page, 3)
    values = [float(each.replace("–", "nan")) for each in first]
    assert values == sorted(values)
    sort = "document.querySelectorAll('#query-table > thead th')[3]"
    page.ask(f"{sort}.querySelector('button').click()")
    assert page.ask(f"{sort}.getAttribute('aria-sort')") == "ascending"
    page.ask(f"{sort}.querySelector('button').focus()")
    page.press("Enter", 13)
    assert page.ask(f"{sort}.getAttribute('aria-sort')") == "descending"
    assert [float(each) for each in column(page, 3)] == sorted(values, reverse=True)
    page.ask("document.querySelector('#query-table > thead button').click()")
    assert [each.split()[0] for each in column(page, 0)] == [f"q{k}" for k in range(40)]
    assert page.ask("document.querySelectorAll('#query-table > thead [aria-sort]').length") == 1


def test_queries_filter_and_open(page, of_queries):
    page.open(of_queries)
    page.ask("document.querySelector('input[type=search]').focus()")
    page.type("Q17 ")
    shown = "Array.from(document.querySelectorAll('#query-table > tbody > tr')).filter(r => !r.hidden)"
    assert page.ask(f"{shown}.length") == 1
    assert page.ask("document.querySelector('output').textContent") == "1 of 40 shown"
    page.ask(f"{shown}[0].querySelector('.opens').focus()")
    page.press("Enter", 13)
    assert page.ask("document.querySelectorAll('tr.detail tbody tr').length") == 12
    ranks = page.ask("Array.from(document.querySelectorAll('tr.detail tbody tr'), r => Number(r.cells[4].textContent))")
    assert ranks == list(range(1, 13))
    page.press("Enter", 13)
    assert page.ask("document.querySelectorAll('tr.detail').length") == 0
    assert page.faults == []


def test_two_rows_are_compared(page, of_queries):
    page.open(of_queries)
    assert "wrong order" in page.ask("document.querySelector('.picked').textContent")
    page.ask("document.querySelectorAll('.opens')[1].click()")
    for side, line in (("a", 2), ("b", 7)):
        page.ask(f"document.querySelectorAll('tr.detail tbody tr')[{line}].querySelector('[data-side={side}]').click()")
    # The sum of what is shown is the difference of the scores.
    shown = page.ask("Array.from(document.querySelectorAll('#compare tbody tr'), r => r.cells[1].textContent)")
    scores = [
        page.ask(f"Number(document.querySelectorAll('tr.detail tbody tr')[{k}].cells[3].dataset.value)") for k in (2, 7)
    ]
    total = sum(float(each.replace("−", "-")) for each in shown)
    assert total == pytest.approx(scores[0] - scores[1], abs=0.02)
    said = page.ask("document.querySelector('.picked').textContent")
    assert "above" in said
    page.ask("document.querySelector('#compare .controls button').click()")
    assert "below" in page.ask("document.querySelector('.picked').textContent")
    assert page.ask("document.querySelectorAll('button[aria-pressed=true]').length") == 2
    page.ask(
        "const s = document.querySelector('#compare select'); s.selectedIndex = 5; s.dispatchEvent(new Event('change'))"
    )
    assert page.ask("document.querySelectorAll('#compare select')[1].options.length") == 12
    assert page.faults == []
    assert page.requests == [of_queries.as_uri()]


def test_without_queries_rows_are_listed_and_compared(page, of_levels):
    page.open(of_levels)
    assert page.ask("document.querySelectorAll('#rows tbody tr').length") == 80
    page.ask("document.querySelectorAll('#rows [data-side=a]')[0].click()")
    page.ask("document.querySelectorAll('#rows [data-side=b]')[79].click()")
    assert "above" in page.ask("document.querySelector('.picked').textContent")


def test_everything_is_reached_by_keyboard(page, path):
    page.open(path)
    page.press("Tab", 9)
    assert page.ask("document.activeElement.className") == "skip"
    unnamed = (
        "Array.from(document.querySelectorAll('button, select, input, [tabindex=\"0\"]')).filter(e =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length"
    )
    assert page.ask(unnamed) == 0
    page.ask("document.querySelector('thead button').focus()")
    page.press("Tab", 9)
    assert page.ask("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_in_print_there_are_no_controls(page, path):
    page.open(path)
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    visible = "Array.from(document.querySelectorAll('.controls, input, select')).filter(e => e.offsetParent).length"
    assert page.ask(visible) == 0
    assert page.ask("getComputedStyle(document.querySelector('.tall')).maxHeight") == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(page, path, scheme):
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None:
        pytest.skip("needs axe-core: pip install --no-deps axe-playwright-python")
    page.open(path, prefers_color_scheme=scheme)
    page.ask("document.querySelector('.opens')?.click()")
    page.ask((Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8") + "; 0")
    named = "axe.run().then(r => r.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`))"
    assert page.ask(named) == []
