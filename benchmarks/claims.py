"""Measured numbers in the README and in hand-written pages of the documentation, each with the cells it cites.

A claim is a piece of a sentence, in which each ``{}`` is a number that is computed from a committed report; a claim in
words raises an error if the report does not support it. ``python -m benchmarks.page`` writes the numbers of today's
reports into the pages. Tests fail if a page has other ones, or a number with a unit that no claim covers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.citations import ROOT, report
from benchmarks.harness import number

_PLACE = re.compile(r"\{[^}]*\}")
_NUMBER = r"([-+]?\d(?:[\d.,]*\d)?)"


class Claim(NamedTuple):
    """A piece of a sentence, and a function that returns its numbers."""

    page: str
    text: str
    values: Callable[[], Sequence[float | str]]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that finds the claim with any numbers and line breaks."""
        return re.compile(_NUMBER.join(r"\s+".join(map(re.escape, p.split(" "))) for p in _PLACE.split(self.text)))

    def find(self, page: str) -> re.Match[str]:
        """Find the claim in the text of its page."""
        found = self.pattern.search(page)
        if found is None:
            raise LookupError(f"{self.page} has no text like {self.text!r}")
        return found

    def numbers(self) -> list[str]:
        """Return the numbers as the page should show them."""
        return [place.format(value) for place, value in zip(_PLACE.findall(self.text), self.values(), strict=True)]


def with_numbers(claim: Claim, page: str) -> str:
    """Return the text of a page with the numbers of a claim."""
    found = claim.find(page)
    for group, shown in reversed(list(enumerate(claim.numbers(), 1))):
        page = page[: found.start(group)] + shown + page[found.end(group) :]
    return page


def refresh() -> None:
    """Write the numbers of all claims into their pages."""
    for claim in CLAIMS:
        path = ROOT / claim.page
        path.write_text(with_numbers(claim, path.read_text()))


def ends(values: Iterable[float]) -> tuple[float, float]:
    """Return the smallest and the largest value."""
    found = list(values)
    return min(found), max(found)


def fit_of_text() -> list[float]:
    return [report("linearithmic_ranksvm/training").value("Text-like, alpha 1e-05: seconds", "512,000", "RankSVM")]


def fit_of_ten_million() -> list[float]:
    return [report("linearithmic_ranksvm/large").value("Ten million rows", "10,000,000, hinge", "fit s")]


def bias() -> list[float]:
    found, title = report("auc_estimation"), "Bias"

    def mean(row: str, strategy: str) -> float:
        return found.value(title, row, "AUC") + found.value(title, row, strategy)

    half, few = "30, 50%, 0", "30, 10%, 0"
    pooled = "pooled, each row"
    return [
        *(found.value(title, half, "data sets"), found.value(title, half, "AUC")),
        *(mean(half, pooled), mean(few, pooled), mean(half, "leave-pair-out")),
    ]


def strong_regularisation() -> list[float]:
    lines = report("auc_estimation").table("Bias", "alpha")
    worst = max(lines, key=lambda row: float(row["AUC"]) - float(row["pooled, each row"].split()[0]))
    return [float(worst["pooled, each row"].split()[0]), float(worst["AUC"])]


def simulations(title: str, n_rows: Callable[[float], bool]) -> list[dict[str, float]]:
    """Return the first numbers of the lines for some numbers of rows, from all tables below a title."""
    lines = [line for each in report("auc_estimation").tables(title, "tournament") for line in each]
    return [{name: number(cell) for name, cell in line.items()} for line in lines if n_rows(first_number(line))]


def first_number(line: dict[str, str]) -> float:
    return float(next(iter(line.values())).split(",")[0])


def spread_of_folds() -> tuple[float, float]:
    lines = simulations("Spread", lambda m: 20 <= m <= 30)
    return ends(100 * line["averaged 10-fold"] / line["leave-pair-out"] - 100 for line in lines)


def agreement() -> list[float]:
    names = ("pooled 10-fold", "averaged 5-fold", "averaged 10-fold", "leave-pair-out", "tournament")
    lines = simulations("Bias", lambda m: m >= 300)
    return [max(max(line[name] for name in names) - min(line[name] for name in names) for line in lines)]


def coverage(*rows: str, column: str = "leave-pair-out") -> list[float]:
    return [report("auc_estimation").value("Intervals", row, column) for row in rows]


def coverage_of_rows() -> list[float]:
    without = coverage("30, 0", "100, 0", "300, 0", "1000, 0")
    return [*ends(without), *coverage("30, 4", "300, 4")]


def coverage_of_jackknife() -> list[float]:
    column = "leave-pair-out, jackknife"
    small = {round(each) for each in coverage("30, 0", "30, 4", column=column)}
    if len(small) > 1:
        raise ValueError(f"docs/auc.md names one coverage at 30 rows, but there are {sorted(small)}")
    return [*ends(report("auc_estimation").column("Intervals", column)), *small]


def levels_of_comparison() -> list[float]:
    lines = report("auc_estimation").table("Tests", "test")
    return [
        end
        for test in ("`compare`, jackknife", "`compare`, DeLong")
        for end in ends(lines.select(test=test).column("p ≤ 0.05"))
    ]


def cost_of_leave_pair_out() -> list[float]:
    found, title = report("auc_estimation"), "Speed"
    closed, jackknife = (found.column(title, name) for name in ("closed form", "with the jackknife"))
    factors = [round(factor, -3) for factor in found.column(title, "factor")]
    permutations = ends(found.column(title, "permutations"))
    return [found.value(title, "linear", "pairs"), *closed, *ends(factors), *ends(jackknife / closed), *permutations]


def path_of_hinge() -> tuple[float, float]:
    return ends(report("path").table("A path").select(loss="hinge").column("x seconds"))


def steps_saved() -> tuple[float, float]:
    lines = report("rankrls/conjugate_gradients").table("Conjugate gradients", "steps, plain")
    with_it, plain = lines.column("steps"), lines.column("steps, plain")
    return ends(100 * (1 - with_it / plain)[plain > 500])


def steps_on_text() -> tuple[str, ...]:
    return report("least_squares").find(r"(\d+) steps, without the preconditioner (\d+)")


def reading() -> tuple[float, float]:
    return ends(report("reading").column("Reading files", "times as fast"))


def memory_of_stored_rows() -> list[float]:
    rows = report("out_of_core").table("Data larger than memory")
    return [number(next(row["bytes/row"] for row in rows if row["rows"] == "100,000,000"))]


def versions_of_ndcg() -> tuple[str, ...]:
    return report("ndcg").find(r"scikit-learn (\S+), ir-measures (\S+), xgboost (\S+), lightgbm (\S+) ")


def covtype() -> list[float]:
    largest = max(report("covtype").table("Kernel RankSVM"), key=lambda row: float(row["rows"].replace(",", "")))
    basis, rows = (float(largest[name].split()[0].replace(",", "")) for name in ("model", "rows"))
    return [rows, basis, (float(largest["mapping s"]) + float(largest["solving s"])) / 60]


def kept_basis_rows() -> tuple[float, float]:
    return ends(report("nystrom").column("Figure 1", "kept / removed"))


def auc_of_aimed() -> list[float]:
    corpora = report("ppi/single_corpus").table("`combine", "AUC")
    ours = next(row for row in corpora[corpora.index(corpora.row("AIMed")) :] if "ours" in row.values())
    return [float(ours["AUC"].split()[0])]


def errors_from_the_paper() -> list[float]:
    most = max(abs(report("ppi/single_corpus").column("Against the paper", "AUC in errors")))
    if most > 2:
        raise ValueError(f"docs/graphs.md says two standard errors, but there are {most}")
    return []


def gain_of_product() -> list[float]:
    row = report("ppi/single_corpus").table("Differences to max").row("product, AUC")
    gains = {name: number(cell) for name, cell in row.items() if "±" in cell}
    if min(gains.values()) <= 0:
        raise ValueError(f"docs/graphs.md says that the product gains on all corpora, but its gains are {gains}")
    return [gains["BioInfer"]]


def pitfall() -> list[float]:
    return [report("ppi/pitfall").value("The pitfall", "difference", "F")]


def bins_over_gathering() -> list[float]:
    """Return ratios of seconds: few rows, and the most rows with the fewest and the most workers."""
    few, many = (report("scaling").table(title) for title in ("Bytes per iteration", "Scaling"))
    lines = [few.select(data="one ranking", rows="100,000"), *(many.select(workers=workers) for workers in ("2", "16"))]
    ratios = [
        float(each.select(counting="bins").column("s/iteration")[0])
        / float(each.select(counting="gather").column("s/iteration")[0])
        for each in lines
    ]
    if not ratios[0] > 1 > ratios[2]:
        raise ValueError(f"docs/scaling.md says that bins are faster with many rows and workers, but ratios: {ratios}")
    return ratios


def switch_to_bins() -> list[float]:
    return [report("scaling").value("Gathering or bins", f"{workers}", "million rows") for workers in (4, 16, 100)]


def one_worker() -> list[float]:
    kinds, bar = ("one ranking", "queries"), ": one worker on Dask, times the local fit"
    return [report("scaling").value("Bars", f"{kind}{bar}", "measured") for kind in kinds]


def predicted_over_measured() -> tuple[float, float]:
    checks = report("scaling").table("Model: measured and predicted").select(fitted="no")
    return ends(checks.column("predicted / measured"))


def predicted(counting: str, rows: str) -> Callable[[], list[float]]:
    """Return a function that returns bytes, seconds and memory of a prediction."""

    def values() -> list[float]:
        [line] = report("scaling").table("Predictions").select(counting=counting, rows=rows)
        return [number(line[name]) for name in ("MB/iteration", "s/iteration", "worker GiB")]

    return values


def four_questions() -> list[float]:
    """Return the concordance of one model for known ones, new columns, new rows, and both."""
    found = report("relational/settings").table("Folds").select(model="KroneckerRLS")
    return [number(line["all entries"]) for line in found]


def million_clicks() -> list[float]:
    """Return NDCG@10 of rankers trained on a million clicks, and of one trained on judgements."""
    found = report("clicks")
    by = {
        clicks: [found.value("NDCG@10", clicks, name) for name in ("weighted", "estimated propensities", "naive")]
        for clicks in ("10,000", "1,000,000")
    }
    if by["1,000,000"][2] > by["10,000"][2] + 0.001:
        raise ValueError("the naive ranker gets better with more than ten thousand clicks")
    return [*by["1,000,000"], number(found.table("NDCG@10", "without clicks").row("judgements")["NDCG@10"])]


def kernels_of_drugs() -> list[float]:
    found = report("relational/davis").table("The test fold")
    ours = [number(line["concordance"]) for line in found if line["model"].startswith("KroneckerRLS")]
    return [*ours, max(number(line["concordance"]) for line in found[: -len(ours)])]


def units_of_kronecker() -> list[float]:
    found, model = report("relational"), "KroneckerRLS"
    fit, *hold_outs, both = (
        found.value("All entries known", (model, task), "units") for task in ("fit", "entry", "row", "column", "both")
    )
    [step] = found.column("Some entries known", "step / products")
    return [fit, max(hold_outs), both, step]


def times_of_survival() -> list[float]:
    found = report("survival").table("Beside FastSurvivalSVM")
    large = [line for line in found if line["data"] == "generated" and number(line["rows"]) >= 16_000]
    ratios = [[number(line[f"{name}: times faster"]) for line in large] for name in ("default", "tol 1e-06")]
    return [each for some in ratios for each in (min(some), max(some))]


def fit_of_stored_rows() -> list[float]:
    """Return the gigabytes of address space, and the seconds of the fit, of the largest store."""
    found = report("out_of_core")
    [line] = found.table("Data larger than memory").select(rows="100,000,000")
    return [number(found.find(r"limited to (\d+) GB")[0]), number(line["fit s"])]


def fit_of_queries(workers: str) -> Callable[[], list[float]]:
    """Return a function that returns the seconds of a fit of a million rows in queries."""

    def values() -> list[float]:
        [line] = report("scaling").table("Scaling").select(data="queries", workers=workers)
        return [number(line["fit s"])]

    return values


def fit_with_kernel() -> list[float]:
    rows, basis, minutes = covtype()
    return [basis, rows, 60 * minutes]


def least_squares(what: str, rows: str) -> Callable[[], list[float]]:
    """Return a function that returns the seconds of a task."""
    return lambda: [report("least_squares").value("Least squares", (what, rows), "ours s")]


def second_thread() -> list[float]:
    gains = [
        report("peers").value("Bars", f"{loss}, text, 512,000 rows: gain of a second thread", "measured")
        for loss in ("hinge", "squared hinge")
    ]
    one, two = (report("counting").value("One counting pass", row, "risk ms") for row in ("large", "large, 2 threads"))
    return [*gains, one / two]


def probes_of_dask() -> list[Claim]:
    """Return the lines of a table of outcomes, which have no numbers."""
    lines = report("dask_rankers").table("Rankers on Dask")
    return [Claim("docs/scaling.md", f"| {' | '.join(row.values())} |", list) for row in lines]


PREDICTED = (
    ("queries of 10, 46 dense features", "queries"),
    ("one ranking by bins, 28 of 10,000 features", "bins"),
    ("one ranking, gathered, 28 of 10,000 features", "gather"),
)
CLAIMS = (
    Claim("README.md", "512,000 sparse rows train in {:.1f} seconds", fit_of_text),
    Claim("README.md", "ten million in {:.0f} seconds on two threads", fit_of_ten_million),
    Claim(
        "docs/clicks.md",
        "NDCG@10 is {:.3f} with weights, {:.3f} with weights from estimated propensities and {:.3f} without weights; "
        "trained on the judgements it is {:.3f}. From ten thousand clicks on, the naive ranker gets no better",
        million_clicks,
    ),
    Claim(
        "docs/relational.md",
        "is {:.3f} for known drugs and targets, {:.3f} for new targets, {:.3f} for new drugs and {:.3f} if both are "
        "new",
        four_questions,
    ),
    Claim(
        "docs/relational.md",
        "similarities alone have a concordance of {:.3f}, with powers, text kernels of molecules and levels {:.3f}, "
        "and with kernels of known entries {:.3f}, where the best of four published results is {:.3f}",
        kernels_of_drugs,
    ),
    Claim(
        "docs/relational.md",
        "a fit of `KroneckerRLS` takes {:.1f}, each of `leave_entry_out`, `leave_row_out` and `leave_column_out` at "
        "most {:.1f}, and `leave_both_out` {:.0f} instead of four million fits. With a million known entries, a step "
        "of conjugate gradients takes {:.1f} as much time",
        units_of_kronecker,
    ),
    Claim(
        "docs/survival.md",
        "of 16,000 and of 100,000 rows, up to 90 % of them censored, `RankSVM` takes {:.0f} to {:.0f} times less time "
        "than the fastest optimizer of `FastSurvivalSVM`, and {:.0f} to {:.0f} times less with `tol=1e-6`, when both "
        "reach the same objective to eleven digits",
        times_of_survival,
    ),
    Claim(
        "docs/auc.md",
        "In {:,.0f} simulated data sets of 30 rows without signal, where the true AUC is {:.1f}, pooling leave-one-out "
        "predictions gives {:.2f} on average, and {:.2f} if only three rows are positive; leave-pair-out gives {:.2f}.",
        bias,
    ),
    Claim("docs/auc.md", "pooling can give {:.2f} where {:.2f} is true", strong_regularisation),
    Claim("docs/auc.md", "Averaging ten folds has {:.0f} to {:.0f} % more spread", spread_of_folds),
    Claim("docs/auc.md", "all strategies except pooled leave-one-out agree within {:.3f}.", agreement),
    Claim(
        "docs/auc.md",
        "95 % intervals from rows contained the true value in {:.0f} to {:.0f} % of the cases, whatever the number of "
        "rows; with signal, in {:.0f} % at 30 rows and in {:.0f} % at 300.",
        coverage_of_rows,
    ),
    Claim(
        "docs/auc.md",
        "Jackknife intervals contained it in {:.0f} to {:.0f} %. They are conservative for small samples: at 30 rows "
        "they contained the true value in {:.0f} % of the cases.",
        coverage_of_jackknife,
    ),
    Claim(
        "docs/auc.md",
        "it found a difference in {:.0f} to {:.0f} % of the cases, where 5 % are nominal, but without the jackknife in "
        "{:.0f} to {:.0f} %.",
        levels_of_comparison,
    ),
    Claim(
        "docs/auc.md",
        "leave-pair-out of all {:,.0f} pairs takes {:.2f} s in closed form with a linear kernel and {:.1f} s with a "
        "Gaussian one, {:,.0f} to {:,.0f} times less than refits; the jackknife takes {:.0f} to {:.0f} times as much "
        "([table](../experiments/auc_estimation/results.md), `make experiment-auc_estimation`). A thousand "
        "permutations of 300 samples take {:.2f} to {:.2f} s.",
        cost_of_leave_pair_out,
    ),
    Claim("docs/guide.md", "20 alphas took {:.1f} to {:.1f} times as long as one fit", path_of_hinge),
    Claim(
        "docs/least-squares.md",
        "saves {:.0f} to {:.0f} % of the steps where there would be more than 500",
        steps_saved,
    ),
    Claim("docs/least-squares.md", "{} steps instead of {}", steps_on_text),
    Claim("docs/command-line.md", "It is {:.0f} to {:.0f} times as fast as scikit-learn's reader", reading),
    Claim("docs/scaling.md", "the peak was {:.0f} bytes per row", memory_of_stored_rows),
    Claim(
        "docs/ndcg.md",
        "Last run with scikit-learn {}, ir-measures {}, XGBoost {} and LightGBM {}.",
        versions_of_ndcg,
    ),
    Claim("docs/machines.md", "| 512,000 | `RankSVM()`, one thread | {:.1f} s |", fit_of_text),
    Claim("docs/machines.md", "| 10,000,000 | `RankSVM(n_jobs=2)` | {:.0f} s |", fit_of_ten_million),
    Claim("docs/machines.md", "in at most {:.0f} GB of memory | {:.0f} s |", fit_of_stored_rows),
    Claim("docs/machines.md", "| 1,000,000 | `RankSVM()`, one thread | {:.1f} s |", fit_of_queries("local")),
    Claim("docs/machines.md", "8 workers on the same machine | {:.1f} s |", fit_of_queries("8")),
    Claim(
        "docs/machines.md",
        '| Gaussian kernel, {:,.0f} basis rows | {:,.0f} | `RankSVM(kernel="gaussian", n_basis=1000, n_jobs=2)` | '
        "{:.0f} s |",
        fit_with_kernel,
    ),
    Claim(
        "docs/machines.md",
        "| 512,000 | `RankRLS()`, by conjugate gradients | {:.1f} s |",
        least_squares("conjugate gradients, linear, text-like", "512,000"),
    ),
    Claim("docs/machines.md", '`RankRLS(kernel="gaussian")` | {:.1f} s |', least_squares("one fit", "4,000")),
    Claim(
        "docs/machines.md",
        '`RankRLSCV(20, kernel="gaussian")` | {:.1f} s |',
        least_squares("leave-pair-out, 20 alphas", "1,000"),
    ),
    Claim(
        "docs/machines.md",
        "made a fit of 512,000 text-like rows {:.2f} times as fast with the hinge and {:.2f} times with the squared "
        "hinge ([bars](benchmarks.md#bars)), and one counting pass over ten million rows {:.1f} times as fast",
        second_thread,
    ),
    Claim("docs/kernels.md", "trains on {:,.0f} rows with {:,.0f} basis rows in {:.1f} minutes", covtype),
    Claim("docs/kernels.md", "the estimated error was {:.2f} to {:.1f} times the true one", kept_basis_rows),
    Claim("docs/graphs.md", "The mean AUC of ten splits is {:.1f} on AIMed", auc_of_aimed),
    Claim("docs/graphs.md", "within two standard errors of the paper's", errors_from_the_paper),
    Claim(
        "docs/graphs.md",
        "has a larger AUC than the kernel of the whole graph on all five corpora "
        "([table](../experiments/ppi/results/single_corpus.md)). The product was chosen by comparing variants on data "
        "that are tested here: 34 on HPRD50, IEPA and LLL, and seven of them on half of a fourth corpus, AIMed. So its "
        "gain on these four is somewhat too large. No variant was tried on BioInfer, where it gains {:.1f} points. The "
        "list of variants was not kept; the [report on variants](../experiments/ppi/results/variants.md) compares",
        gain_of_product,
    ),
    Claim("docs/graphs.md", "folds of pairs overestimate the F-score on AIMed by {:.0f} points", pitfall),
    Claim(
        "docs/scaling.md",
        "with bins took {:.1f} times as long as with gathering; with a million rows {:.2f} times with two workers, and "
        "{:.2f} times with 16",
        bins_over_gathering,
    ),
    Claim(
        "docs/scaling.md",
        "the two are equal at {:.1f} million rows with 4 workers that have a core each, at {:.1f} million with 16, and "
        "at {:.1f} million with 100.",
        switch_to_bins,
    ),
    Claim(
        "docs/scaling.md",
        "one worker took {:.1f} times as long as the local fit for one ranking, and {:.1f} times",
        one_worker,
    ),
    Claim(
        "docs/scaling.md", "predictions are between {:.2f} and {:.2f} of the measured seconds", predicted_over_measured
    ),
    *(
        Claim(
            "docs/scaling.md",
            f"| {text} | {shown} | {workers} | {{:,.1f}} | {{:,.1f}} | {{:,.1f}} |",
            predicted(counting, rows),
        )
        for text, counting in PREDICTED
        for shown, rows, workers in (("10^9", "1e09", "100"), ("10^10", "1e10", "1,000"))
    ),
    *probes_of_dask(),
)
