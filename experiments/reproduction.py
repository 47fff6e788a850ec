"""The page of the documentation on what the papers report and what was found here.

    python -m experiments.reproduction

Writes ``docs/reproduction.md`` from the committed reports of the studies; nothing is measured. A test fails if the page
differs from what this computes.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from benchmarks.citations import ROOT, report
from benchmarks.harness import table
from experiments.reproduced import IN_PART, ITEMS, MISSING, REPRODUCED, Found, Item
from experiments.study import filled, span

PAGE = ROOT / "docs" / "reproduction.md"
KERNELS = ("Gaussian", "Linear")
HEADING = ("what", "published", "here", "agreement", "how ours differs", "status")
START = """
# The papers' tables and figures, and ours

<!-- Written by `python -m experiments.reproduction`, from the reports of the studies. -->

The {total} tables and figures with results in the five papers behind this library: {reproduced} are {REPRODUCED},
{part} {IN_PART}, {missing} {MISSING}. *{REPRODUCED}*: the same task, on the same data or on the part of them that can
be had, and the paper's conclusion holds. *{IN_PART}*: some of the data or of the methods are replaced or missing, or a
conclusion does not hold, as the row says. The status is a judgement about what was compared.

Agreement is in standard errors where both experiments have repetitions, otherwise in the unit that the row names. Every
result is computed from the report that the row links to, which says how it was measured: data, splits, grids, commit,
versions, machine and date. `make experiments` runs all studies again; see [the studies](../experiments/README.md).

- **TreeRSVM** and **PairRSVM**: the cutting-plane method of A11, counting pairs by a red-black tree or one by one.
  **PRSVM**: a Newton method on all pairs. **SVM^rank**, **SVM-light**: programs of T. Joachims.
- **SVOR_5**, **Herbrich_5**: ordinal regression on five levels, and an SVM on five comparisons per row.
- **RLS**, **RankRLS**: regularised least squares of values, and of differences of values.
- **T11** is Airola's thesis *Kernel-based ranking* (2011), which contains P09 and A11 as well as Papers III and V.
"""
LEFT_OUT = """
Not counted, because they have no results: P09, figure 1 (the cost functions drawn) and figure 2 (four points; the
example of `kernelrank.RankRLS` computes it), and Paper V, figures 1 and 2 (a sentence and its graph; drawn by
`examples/structured/plot_sentence_graph.py`). The reports of 2010 and 2011 on RankSVM share the method and most of the
text.

## Not available

- **Candidate parses** of BioInfer's sentences with their scores: P09, table 2, and the data of Paper III. Paper III is
  repeated on generated data of the same size, and its figure 1 on BioInfer's pairs as well.
- **RCV1**: A11's large data. Text-like rows take its place; the study reads RCV1 if scikit-learn's `fetch_rcv1` has
  put it into its data folder.
- **TREC 2003 and TREC 2004** of LETOR 2.0: two of the three columns of P09, table 3.
- **RankBoost** (P09, table 3), **SVM^rank**, **SVM-light** (A11, P09; research use only) and **PRSVM** (A11, in MATLAB)
  were not run.
- **The folds of AIMed** (Paper V): random ones take their place.
"""


def compute() -> str:
    """Return the page."""
    rows = [(item, item.find()) for item in ITEMS]
    counts = Counter(found.status for _, found in rows)
    states = {"REPRODUCED": REPRODUCED, "IN_PART": IN_PART, "MISSING": MISSING}
    numbers = {"reproduced": counts[REPRODUCED], "part": counts[IN_PART], "missing": counts[MISSING]}
    parts = [filled(START.format(total=len(rows), **numbers, **states))]
    for paper, mine in groupby(rows, key=lambda row: row[0].paper):
        parts += [f"## {paper}", table(HEADING, [_cells(item, found) for item, found in mine], n_texts=len(HEADING))]
    parts += ["## Statements without a table", table(("statement", "here", "report"), _statements(), n_texts=3)]
    return "\n\n".join([*parts, filled(LEFT_OUT)]) + "\n"


def _cells(item: Item, found: Found) -> list[str]:
    name = f"[{item.name}]({_link(found.source)}): {item.subject}" if found.source else f"{item.name}: {item.subject}"
    return [name, *found[:4], f"**{found.status}**"]


def _link(source: str) -> str:
    return f"../{report(source).path.relative_to(ROOT)}"


def _statements() -> list[list[str]]:
    """Return claims of the papers' texts, with what was found and the report."""
    covtype, iterations, copies = (
        report(name) for name in ("covtype", "linearithmic_ranksvm/iterations", "linearithmic_ranksvm/copies")
    )
    rows = iterations.table("Text-like: rows")
    plain, searching = (span(rows.column(name), ".0f") for name in ("iterations, no line search", "iterations"))
    pairs, dependent = report("rankrls/leave_pair_out"), report("auc_estimation")
    slope, steps = "exponent, m ≥ 1,000", report("rankrls/conjugate_gradients")
    powers = [pairs.cell(kernel, slope, f"{name} s") for name in ("pairs", "predictions") for kernel in KERNELS]
    tested = [row for row in dependent.table("Estimating AUC") if not next(iter(row.values())).startswith("(")]
    judged = [row for row in tested if "**" in row[""]]
    confirmed = sum("confirmed" in row[""] for row in judged)
    optimism = dependent.column("Dependent rows", "optimism")
    found = [
        (
            "A10, section 5: covtype, half a million rows, less than six seconds per iteration",
            f"{covtype.cell('Kernel RankSVM', 'linear', 's / iteration')} seconds, "
            f"{covtype.cell('Kernel RankSVM', 'linear', 'rows')} rows",
            "covtype",
        ),
        (
            "A11, theorem 3: iterations do not depend on the number of rows",
            f"{plain} from {rows[0]['rows']} to {rows[-1]['rows']} rows, most with the fewest; {searching} with line "
            "search",
            "linearithmic_ranksvm/iterations",
        ),
        (
            "A11, section 5.2: one copy of X instead of two, about seven times the time",
            f"{span(copies.column('A whole fit', 'rows / both'))} times",
            "linearithmic_ranksvm/copies",
        ),
        (
            "P09, section 3.4: leave-pair-out of all pairs in O(m²), given the inverse of a matrix",
            f"exponents {powers[0]} and {powers[1]} for the concordance of all pairs, {powers[2]} and {powers[3]} for "
            "their predictions (Gaussian and linear kernel)",
            "rankrls/leave_pair_out",
        ),
        (
            "P09, section 4.3: conjugate gradients take a couple of hundred iterations and a few seconds",
            f"{span(steps.column('Conjugate', 'steps'), '.0f')} steps and "
            f"{span(steps.column('Conjugate', 'seconds'))} seconds, by alpha",
            "rankrls/conjugate_gradients",
        ),
        (
            "P09, section 5.5: all pairs instead of relevant ones make no difference on Jester",
            f"they change the error by {span(report('rankrls/jester').column('All pairs', 'difference'), '+.4f')}",
            "rankrls/jester",
        ),
        (
            "T11, section 5.4: pooling is pessimistic, averaged folds vary, leave-pair-out is nearly unbiased",
            f"{confirmed} of {len(judged)} tests confirm it in all settings",
            "auc_estimation",
        ),
        (
            "T11, section 5.5: folds that split sentences give a tau-b of 0.7 instead of 0.3 in parse ranking",
            f"folds of rows instead of queries raise the concordance on OHSUMED by {span(optimism, '+.3f')}: the "
            "stand-in does not show it",
            "auc_estimation",
        ),
    ]
    return [[claim, here, f"[{source}]({_link(source)})"] for claim, here, source in found]


if __name__ == "__main__":
    PAGE.write_text(compute())
