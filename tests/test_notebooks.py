"""Notebooks that are executed by a real kernel, and drawn by a real browser."""

import re

import pytest
from report.browser import Page, find_browser

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.slow

CELLS = {
    "data": """
import time
import numpy as np
from kernelrank import OrdinalSVM, RankRLS, RankSVM, RankSVMCV
from kernelrank.model_selection import compare, estimate_auc, permutation_test
from kernelrank.pipelines import make_query_pipeline
from sklearn.preprocessing import StandardScaler
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X @ [2.0, -1.0, 0.0] + rng.normal(size=60)
rows, levels = X[:30], y[:30] > 0
""",
    "unfitted": "RankSVM(alpha=0.01)",
    "certificate": "model = RankSVM(alpha=0.01).fit(X, y); model",
    "numbers": "print(model.n_iter_, len(model.history_), int(model.gap_ <= 1e-3))",
    "path": "RankSVMCV(4, cv=3).fit(X, y)",
    "classes": "OrdinalSVM().fit(X, np.digitize(y, [-1, 1]))",
    "pipeline": "make_query_pipeline(StandardScaler(), RankSVM()).fit(X, y, qid=np.arange(60) // 6)",
    "estimate": "estimate_auc(RankRLS(), rows, levels)",
    "test": "permutation_test(RankRLS(), rows, levels, n_permutations=50)",
    "compare": "compare({'linear': RankRLS(), 'gaussian': RankRLS(kernel='gaussian')}, X, y)",
    "folds": """
class Slow(RankSVM):
    def fit(self, *args, **kwargs):
        time.sleep(0.012)
        return super().fit(*args, **kwargs)
_ = estimate_auc(Slow(), rows, levels)  # a fit per pair, which takes more than two seconds
""",
    "iterations": "_ = RankSVM(verbose=1, kernel='gaussian', alpha=1e-5).fit(X, y)",
    "text": "import sklearn; sklearn.set_config(display='text'); RankSVM().fit(X, y)",
    "text of a result": "estimate_auc(RankRLS(), rows, levels)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Execute a notebook, and return the outputs of its cells by their names."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text.strip()) for text in CELLS.values()])
    folder = tmp_path_factory.mktemp("notebook")
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    nbformat.validate(notebook)
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def html(outputs):
    """Return the HTML and the text of the only result of a cell."""
    [output] = outputs
    assert output.output_type == "execute_result"
    return output.data.get("text/html"), output.data["text/plain"]


def streamed(outputs, name):
    """Return what a cell has written to a stream, and nothing else."""
    assert {(each.output_type, each.name) for each in outputs} == {("stream", name)}
    return "".join(each.text for each in outputs)


def seen(text):
    """Return the lines that a browser shows: a carriage return overwrites, and erases nothing."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def test_fits_show_scikit_learns_diagram_and_the_certificate(outputs):
    unfitted, _ = html(outputs["unfitted"])
    assert "sk-container" in unfitted
    assert "kernelrank" not in unfitted.partition("</style>")[2]
    certificate, text = html(outputs["certificate"])
    assert text == "RankSVM(alpha=0.01)"
    diagram, _, part = certificate.partition('<div class="kernelrank">')
    assert "sk-container" in diagram
    n_iter, n_records, reached = streamed(outputs["numbers"], "stdout").split()
    assert n_iter == n_records
    assert reached == "1"
    assert f">iterations</th><td>{n_iter}</td>" in part
    assert "proven gap to the optimum" in part
    assert "<svg" in part


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("path", "chosen alpha"),
        ("classes", "thresholds"),
        ("pipeline", "Fit of RankSVM"),
        ("estimate", "interval by the jackknife"),
        ("test", "p-value"),
        ("compare", "linear − gaussian"),
    ],
)
def test_results_are_shown(outputs, cell, expected):
    shown, _ = html(outputs[cell])
    assert expected in shown
    assert 'role="img"' in shown or 'class="small"' in shown


def test_text_is_shown_if_scikit_learn_is_set_to(outputs):
    assert html(outputs["text"]) == (None, "RankSVM()")
    nothing, text = html(outputs["text of a result"])
    assert nothing is None
    assert text.startswith("Estimate(estimate=")


def test_progress_is_one_line_whose_final_state_stays(outputs):
    written = streamed(outputs["folds"], "stderr")
    states = re.findall(r"([\d,]+) of \d+ fits", written)
    assert len(states) > 5
    line, end = seen(written)
    assert re.fullmatch(r"\[#{24}\] (\d+) of \1 fits", line)
    assert end == ""
    messages = len(outputs["folds"])
    assert messages < 60  # of hundreds of fits within a few seconds


def test_iterations_are_one_line(outputs):
    *_, line, end = seen(streamed(outputs["iterations"], "stdout"))
    assert re.match(r"\[#{24}\] objective 0\.\d+  gap ", line)
    assert end == ""


# Styles of JupyterLab for what is shown in a notebook, in two schemes.
PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><style>
body {{ background: {back}; color: {ink}; font: 14px sans-serif; }}
.out table {{ table-layout: fixed; margin-left: auto; margin-right: auto; border-collapse: collapse; }}
.out:not(.md) td, .out:not(.md) th, .out:not(.md) tr {{ text-align: right; padding: 0.5em; white-space: normal; }}
.out:not(.md) tbody tr:nth-child(odd) {{ background: {stripe}; }}
</style><body>{parts}</body></html>"""


@pytest.mark.skipif(find_browser() is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [390, 1000])
@pytest.mark.parametrize(
    ("back", "ink", "stripe"), [("#ffffff", "rgb(0, 0, 0)", "#f5f5f5"), ("#111111", "rgb(255, 255, 255)", "#212121")]
)
def test_a_browser_draws_it_in_the_colours_of_the_notebook(outputs, tmp_path, width, back, ink, stripe):
    names = ("certificate", "path", "classes", "pipeline", "estimate", "test", "compare")
    parts = [html(outputs[name])[0] for name in names]
    path = tmp_path / "notebook.html"
    shown = "".join(
        f'<div class="out">{part[part.index("<div class=" + chr(34) + "kernelrank") :]}</div>' for part in parts
    )
    path.write_text(PAGE.format(back=back, ink=ink, stripe=stripe, parts=shown), encoding="utf-8")
    page = Page(find_browser())
    try:
        page.open(path, width)
        assert page.faults == []
        assert page.requests == [path.as_uri()]
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        colours = "(tag, property) => [...new Set([...document.querySelectorAll('.kernelrank ' + tag)].map("
        colours += "each => getComputedStyle(each)[property]))]"
        assert page.ask(f"({colours})('text', 'fill')") == [ink]
        assert page.ask(f"({colours})('th', 'color')") == [ink]
        assert page.ask(f"({colours})('th[scope=row]', 'textAlign')") == ["left"]
        # Every text of a picture is inside of it, or nearly: it is not cut, and lies on no other part.
        outside = "[...document.querySelectorAll('.kernelrank svg.chart')].flatMap(svg => { const box ="
        outside += " svg.getBoundingClientRect(); return [...svg.querySelectorAll('text')].filter(text => { const own ="
        outside += " text.getBoundingClientRect(); return own.left < box.left - 20 || own.right > box.right + 20 ||"
        outside += " own.top < box.top - 5 || own.bottom > box.bottom + 5; }).map(text => text.textContent); })"
        assert page.ask(outside) == []
    finally:
        page.close()
