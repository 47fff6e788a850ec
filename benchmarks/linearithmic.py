"""The section on the linearithmic claim: a summary of the study, with numbers from its reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.citations import Report, report
from benchmarks.harness import table
from experiments.study import span

PARTS = ("evaluation", "training", "iterations", "costs", "copies", "documents", "large")
BESIDE = "Text: the paper's two methods"  # title of a table


def of(part: str) -> Report:
    return report(f"linearithmic_ranksvm/{part}")


def selection(
    found: Report, title: str, rows: Sequence[str], columns: Mapping[str, str], last: Mapping[str, str]
) -> str:
    """Return some rows and columns of a table under new names; a row that is not there is left out."""
    lines = {line["rows"]: line for line in found.table(title, next(iter(columns.values())))}
    kept = [row for row in rows if row in lines]
    cells = [[row, *(found.cell(title, row, column) for column in columns.values())] for row in kept]
    paper = ["the paper, RCV1, 512,000", *(last.get(name, "") for name in columns)]
    return table(["rows", *columns], [*cells, paper])


def evaluation() -> str:
    columns = {
        "pair by pair": "pairs s",
        "red-black tree": "rbtree s",
        "in training": "training s",
        "of it the two products": "products s",
    }
    rows = ("8,000", "64,000", "512,000", "exponent")
    methods = {"pair by pair": "pairs", "red-black tree": "rbtree"}
    paper = {name: of("evaluation").cell("Text-like", row, "paper s") for name, row in methods.items()}
    return selection(of("evaluation"), "Text-like", rows, columns, paper)


def training() -> str:
    names = ("RankSVM", "no line search", "squared hinge", "TreeRSVM", "PairRSVM")
    columns = {name: name for name in names} | {"scikit-survival": "scikit-survival (sq.)"}
    rows = ("1,000", "8,000", "64,000", "128,000", "512,000", "exponent")
    methods = ("TreeRSVM", "PairRSVM")
    paper = {name: of("training").cell(BESIDE, f"RCV1, paper: {name}", "seconds of a fit") for name in methods}
    return selection(of("training"), "Text-like, alpha 1e-05: seconds", rows, columns, paper)


def beside_the_paper() -> str:
    def ratio(where: str, column: str) -> float:
        tree, pairs = (of("training").value(BESIDE, f"{where}: {who}RSVM", column) for who in ("Tree", "Pair"))
        return pairs / tree

    def iterations(where: str) -> str:
        return of("training").cell(BESIDE, f"{where}: TreeRSVM", "iterations")

    fit, each = "seconds of a fit", "seconds of an iteration"
    return f"""
TreeRSVM and PairRSVM, the paper's two methods, have no line search and differ only in counting. PairRSVM takes
{ratio("text-like", each):.0f} times as long per iteration and {ratio("text-like", fit):.0f} times per fit; in the
paper, {ratio("RCV1, paper", each):.0f} and {ratio("RCV1, paper", fit):.0f} times. Seconds of fits cannot be compared
with the paper's: the machines differ, and the text-like rows need {iterations("text-like")} iterations, Reuters-21578
{iterations("Reuters-21578")}, and RCV1 about {iterations("RCV1, paper")}, by the paper's figures.
"""


def iterations() -> str:
    found = of("iterations")

    def count(varied: str, value: str, column: str = "iterations") -> str:
        return found.cell(f"Text-like: {varied}", value, column)

    plain, bound = "iterations, no line search", found.value("Text-like: rows", "512,000", "bound 4 R² / (alpha eps)")
    return f"""
**Iterations and rows** ([all](../experiments/linearithmic_ranksvm/results/iterations.md)): there are
{count("rows", "1,000")} iterations at 1,000 and {count("rows", "512,000")} at 512,000 text-like rows,
{count("rows", "1,000", plain)} and {count("rows", "512,000", plain)} without line search. The bound behind the paper's
theorem 3, 4 R² / (alpha eps) for rows at most R apart, is {bound:.0e} there. With 16,000 rows, there are
{count("alpha", "1e-05")} iterations; with a hundredth of alpha (1e-7) {count("alpha", "1e-07")}, and with a hundredth
of the tolerance {count("tol", "1e-05")}.
"""


def costs() -> str:
    found, title = of("costs"), "Where the time"

    def ratio(data: str) -> str:
        return found.cell(title, data, "ratio")

    covtype, houses, real = "covtype, 7 ordered classes", "California housing", "float32 and float64"
    sorts = (found.value(title, houses, "sort %") + found.value(title, houses, "other counting %")) / found.value(
        title, houses, "sort %"
    )
    memory = found.value(real, "float32", "X MB") / found.value(real, "float64", "X MB")
    objectives = " and ".join(found.cell(real, kind, "objective, float64 X") for kind in ("float32", "float64"))
    return f"""
**Time of an iteration, relative to two products and a sort**
([all](../experiments/linearithmic_ranksvm/results/costs.md)). An iteration takes {ratio("Text-like")} times as long as
two products by SciPy or BLAS and one `np.argsort` on {found.cell(title, "Text-like", "rows")} text-like rows, and
{ratio(covtype)} times as long on {found.cell(title, covtype, "rows")} rows of covtype with its seven classes in order,
where it takes {found.value(title, covtype, "ms / iteration") / 1000:.2f} seconds (in the paper's report: less than six,
for half a million). On California housing the ratio is {ratio(houses)}: with 8 features the unit is nearly all sort,
and each of its counting passes takes {sorts:.1f} sorts. float32 takes {found.cell(real, "float32", "of float64")} of
the time and {memory:.2f} of the memory of X; the objectives are {objectives}.
"""


def copies() -> str:
    found, title = of("copies").table("A whole fit"), "rows / both"
    one, two = (span(found.select(threads=threads).column(title)) for threads in ("1", "2"))
    return f"""
**One copy of X** ([all](../experiments/linearithmic_ranksvm/results/copies.md)). The paper kept two, by rows and by
columns, and reports seven times the time with one. Here a fit with rows only takes {one} times as long as one with
both, {two} times with two threads, and a fit with columns only {span(found.column("columns / both"))} times as long.
"""


def large() -> str:
    found, row = of("large"), "10,000,000, hinge"

    def cell(column: str) -> str:
        return found.cell("Ten million rows", row, column)

    return f"""
**Ten million rows** ([all](../experiments/linearithmic_ranksvm/results/large.md)), 50 non-zeros each among 100,000
features, float32, two threads: {float(cell("fit s")):.0f} seconds of wall-clock time, {float(cell("processor s")):.0f}
of processor time, to a certified gap of {cell("certified gap")} in {cell("iterations")} iterations and {cell("passes")}
passes. X takes {cell("X GB")} GB, everything beyond it {cell("GB beyond it")} GB.
"""


def linearithmic() -> str:
    """Return the section."""
    minutes = sum(of(part).minutes() for part in PARTS)
    work, memory = "Text-like, alpha 1e-05: certificates", "Text-like, alpha 1e-05: megabytes"
    found = of("training")
    text = {
        name: of("documents").value(name, ("RankSVM", "16,000"), "seconds")
        for name in ("20 newsgroups", "Reuters-21578")
    }
    paragraphs = [
        f"""
## The linearithmic claim

Airola, Pahikkala and Salakoski (2011) train a linear RankSVM in O(m s + m log m) time, with a red-black tree that
counts pairs. `experiments/linearithmic_ranksvm` repeats their experiments and adds others:
`make experiment-linearithmic_ranksvm`, {minutes:.0f} minutes. Times are seconds of processor time with one thread,
unless two threads are mentioned. The paper's times are of its own machine, a Core 2 Duo. The exponent is the slope of
log seconds over log rows at the largest sizes.

**One evaluation of loss and subgradient** on text-like rows, alpha 1e-5, in seconds ([all sizes, California housing and
what follows](../experiments/linearithmic_ranksvm/results/evaluation.md)):
""",
        evaluation(),
        "![Seconds of one evaluation over rows](../experiments/linearithmic_ranksvm/results/evaluation.svg)",
        """
**Training to a certified gap of 1e-3** on text-like rows, in seconds ([with California housing, memory, test errors and
what the columns are](../experiments/linearithmic_ranksvm/results/training.md)):
""",
        training(),
        beside_the_paper(),
        "![Seconds over rows](../experiments/linearithmic_ranksvm/results/seconds.svg)",
        f"""
`python -m benchmarks.picture` draws the picture of the README from this study's table. At 512,000 rows X takes
{found.value(memory, "512,000", "X"):.0f} MB, and `RankSVM` {found.value(memory, "512,000", "RankSVM"):.0f} MB beyond
it, {found.cell(work, "RankSVM", "bytes per row")} bytes per row.
""",
        "![Megabytes beyond the data, over rows](../experiments/linearithmic_ranksvm/results/memory.svg)",
        "![Test error over rows](../experiments/linearithmic_ranksvm/results/error.svg)",
        iterations(),
        "![Iterations over rows, alpha and tol](../experiments/linearithmic_ranksvm/results/iterations.svg)",
        costs(),
        copies(),
        f"""
**Real text** ([all](../experiments/linearithmic_ranksvm/results/documents.md)), similarity to one document as in the
paper, 16,000 documents: {text["20 newsgroups"]:.3f} seconds on 20 newsgroups and {text["Reuters-21578"]:.3f} on
Reuters-21578, to a certified gap of 1e-3. RCV1 is included if scikit-learn's `fetch_rcv1` has downloaded it.
""",
        large(),
    ]
    return "\n\n".join(each.strip() for each in paragraphs)
