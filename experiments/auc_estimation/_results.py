"""The text of results.md: hypotheses and results, the tables, and how to read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import number, table
from experiments.auc_estimation import chance, dependent_rows, deviations, intervals
from experiments.auc_estimation._shared import ALPHA, SHIFT, Setting, processor_seconds, true_auc
from experiments.auc_estimation.deviations import (
    AVERAGED_5,
    AVERAGED_10,
    LEAVE_PAIR_OUT,
    LEVELLED,
    POOLED_FOLDS,
    POOLED_ROWS,
    Summary,
    summarise,
)
from experiments.study import READING, Tables, span, verdict

NEARLY_UNBIASED = 0.01
SEVERAL_HUNDRED = 300  # rows
SIMULATIONS = ("deviations", "intervals", "tests and choices")
Lines = dict[Setting, np.ndarray]


# The words of T11, section 5.4.
POOLING = '"the pooling approach indeed can lead to clear negative bias"'
AVERAGING = '"averaged 10-fold cross-validation can have unacceptably high variance on small data sets"'
UNBIASED = 'leave-pair-out is "close to unbiased"'
LOW_VARIANCE = 'it has "as low variance as that of the most competitive compared approaches"'
LARGE = '"(several hundreds of examples or more), standard averaging approaches prove also to be as reliable as LPOCV"'


def pooling_is_pessimistic(found: dict[Setting, Summary], name: str) -> list[str]:
    blind = {setting: each[name] for setting, each in found.items() if setting.n_signal == 0 and setting.m <= 100}
    settings = [Setting(m, 0.5, 0) for m in (20, 30, 100, 1000)] + [Setting(30, 0.1, 0)]
    means = ", ".join(f"{0.5 + found[setting][name].bias:.3f} ({deviations.name_of(setting)})" for setting in settings)
    return [
        POOLING,
        f"below 0.5 by three standard errors without signal, up to 100 rows: {name}",
        f"mean estimates where 0.5 is true: {means}; how far off depends on alpha, see below",
        verdict(*(each.bias + 3 * each.error < 0 for each in blind.values())),
    ]


def averaging_varies(found: dict[Setting, Summary], name: str) -> list[str]:
    ratios = {
        setting: found[setting][name].conditional / found[setting][LEAVE_PAIR_OUT].conditional
        for setting in (Setting(20, 0.5, 0), Setting(30, 0.1, 0), Setting(30, 0.5, 0), Setting(30, 0.5, 4))
    }
    each = ", ".join(f"{ratio:.2f} ({deviations.name_of(setting)})" for setting, ratio in ratios.items())
    return [
        AVERAGING,
        f"standard deviation beside that of leave-pair-out; what is unacceptable is a judgement: {name}",
        f"{each} times that of leave-pair-out",
        f"larger in {sum(ratio > 1 for ratio in ratios.values())} of {len(ratios)} settings",
    ]


def pairs_are_nearly_unbiased(found: dict[Setting, Summary]) -> list[str]:
    biases = {setting: each[LEAVE_PAIR_OUT] for setting, each in found.items()}
    worst = max(biases, key=lambda setting: abs(biases[setting].bias))
    mine = biases[worst]
    return [
        UNBIASED,
        f"bias of leave-pair-out below {NEARLY_UNBIASED}",
        f"its largest bias is {mine.bias:+.4f} ± {mine.error:.4f} ({deviations.name_of(worst)})",
        verdict(*(abs(each.bias) < NEARLY_UNBIASED for each in biases.values())),
    ]


def pairs_vary_little(found: dict[Setting, Summary]) -> list[str]:
    def ratios(others: tuple[str, ...]) -> list[float]:
        return [
            each[LEAVE_PAIR_OUT].conditional / min(each[name].conditional for name in others) for each in found.values()
        ]

    averaged, pooled = ratios((AVERAGED_5, AVERAGED_10)), ratios((POOLED_ROWS, POOLED_FOLDS))
    return [
        LOW_VARIANCE,
        "standard deviation at most 10 % above the least of all strategies",
        f"{min(averaged):.2f} to {max(averaged):.2f} times the least of the averaged, {min(pooled):.2f} to"
        f" {max(pooled):.2f} times the least of the pooled, which are biased",
        verdict(max(averaged + pooled) <= 1.1),
    ]


def averaging_catches_up(found: dict[Setting, Summary], name: str) -> list[str]:
    large = [(each[name], each[LEAVE_PAIR_OUT]) for setting, each in found.items() if setting.m >= SEVERAL_HUNDRED]
    apart = max(abs(averaged.bias - pairs.bias) for averaged, pairs in large)
    ratios = [averaged.conditional / pairs.conditional for averaged, pairs in large]
    return [
        LARGE,
        f"mean within {NEARLY_UNBIASED} of leave-pair-out, standard deviation at most 10 % above its, from"
        f" {SEVERAL_HUNDRED} rows on: {name}",
        f"means differ by {apart:.3f} at most; {span(ratios)} times the standard deviation",
        verdict(apart < NEARLY_UNBIASED and max(ratios) <= 1.1),
    ]


def pooling_catches_up(found: dict[Setting, Summary], name: str) -> list[str]:
    largest: dict[int, float] = {}
    for setting, each in found.items():
        if setting.m >= SEVERAL_HUNDRED:
            apart = abs(each[name].bias - each[LEAVE_PAIR_OUT].bias)
            largest[setting.m] = max(largest.get(setting.m, 0.0), apart)
    each = ", ".join(f"{apart:.3f} at {m:,} rows" for m, apart in sorted(largest.items()))
    return [
        "(pooling with many rows is not mentioned)",
        f"mean within {NEARLY_UNBIASED} of leave-pair-out, from {SEVERAL_HUNDRED} rows on: {name}",
        f"means differ by {each} at most",
        verdict(max(largest.values()) < NEARLY_UNBIASED),
    ]


def summary_table(found: dict[Setting, Summary]) -> str:
    rows = [
        pooling_is_pessimistic(found, POOLED_ROWS),
        pooling_is_pessimistic(found, POOLED_FOLDS),
        averaging_varies(found, AVERAGED_10),
        averaging_varies(found, AVERAGED_5),
        pairs_are_nearly_unbiased(found),
        pairs_vary_little(found),
        averaging_catches_up(found, AVERAGED_10),
        averaging_catches_up(found, AVERAGED_5),
        pooling_catches_up(found, POOLED_FOLDS),
        pooling_catches_up(found, POOLED_ROWS),
    ]
    return table(["T11, section 5.4", "tested here", "found (rows, positive, signal)", ""], rows, n_texts=4)


def time_text(seconds: dict[str, float], jobs: int) -> str:
    parts = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
    simulated = sum(seconds[name] for name in SIMULATIONS)
    busy = sum(processor_seconds.values())
    return (
        f"With {jobs} processes: {parts}. The simulations took {busy / 60:.1f} minutes of processor time,"
        f" {busy / (jobs * simulated):.0%} of what {jobs} cores have in that time; other programs used the rest."
    )


def best_aucs() -> str:
    """Return the AUC of the best weights by number of features with signal."""
    zero, one, four = (true_auc(setting.delta + 1e-9, setting) for setting in (Setting(2, 0.5, n) for n in (0, 1, 4)))
    return f"{zero:.1f}, {one:.3f} or {four:.3f}"


def write(found: dict[str, Any], jobs: int) -> list[str]:
    """Return all paragraphs."""
    lines: Lines = found["lines"]
    by_share, by_rows = list(deviations.BY_SHARE), [*deviations.BY_ROWS, *deviations.FEW_POSITIVES]
    [(_, chosen)] = found["tests"]["choices"].items()
    return [
        "# Estimating AUC from few rows",
        time_text(found["seconds"], jobs),
        CLAIMS,
        summary_table({setting: summarise(each) for setting, each in lines.items()}),
        SET_UP.format(shift=SHIFT, alpha=ALPHA, best=best_aucs()),
        found["checked"],
        f"## {BIAS_TITLE}",
        BIAS,
        deviations.bias_table(lines, by_share),
        "![Mean estimates without signal, by the share of positive rows](bias-by-share.svg)",
        deviations.bias_table(lines, by_rows),
        "![Mean deviation by number of rows](bias-by-rows.svg)",
        LEVELS,
        deviations.alpha_table(found["alphas"]),
        READING,
        "## Spread: standard deviation of the deviation",
        SPREAD,
        deviations.spread_table(lines, by_share),
        deviations.spread_table(lines, by_rows),
        "![Standard deviation by number of rows](spread-by-rows.svg)",
        "## Other models",
        OTHERS,
        deviations.model_table(found["models"]),
        f"## {COVERAGE_TITLE}",
        INTERVALS.format(**intervals.errors()),
        intervals.coverage_table(found["coverage"]),
        READING,
        "![Coverage](coverage.svg)",
        f"## {TESTS_TITLE}",
        TESTS,
        chance.error_table(found["tests"]),
        READING,
        f"## {CHOICES_TITLE}",
        CHOICES.format(n=len(chosen), kernels=" and ".join(chance.KERNELS), alphas=chance.N_ALPHAS),
        chance.choice_table(chosen),
        READING,
        f"## {dependent_rows.TITLE}",
        DEPENDENT,
        *found["dependent"],
        READING,
        "## Speed",
        FAST,
        found["speed"],
    ]


BIAS_TITLE = "Bias: mean deviation from the true AUC"
COVERAGE_TITLE = "Intervals: how often they contain the true AUC"
TESTS_TITLE = "Tests: how often they reject a true hypothesis"
CHOICES_TITLE = "Choosing by the same pairs"


def readings(tables: Tables) -> Iterator[str]:
    yield read_alphas(tables)
    yield read_coverage(tables)
    yield read_tests(tables)
    yield read_choices(tables)
    yield from dependent_rows.readings(tables)


def read_alphas(tables: Tables) -> str:
    *_, found = tables[BIAS_TITLE]
    without, signal = (found.select(signal=n) for n in ("0", "4"))
    lowest = min(without, key=lambda row: number(row[POOLED_ROWS]))
    best = max(signal, key=lambda row: number(row["AUC"]))
    first = signal[0]
    return f"""
        The bias of pooling row by row grows with alpha. Without signal, its mean estimate falls from
        {number(without[0][POOLED_ROWS]):.2f} at alpha {without[0]["alpha"]} to {number(lowest[POOLED_ROWS]):.2f} at
        alpha {lowest["alpha"]}; with signal, from {number(first[POOLED_ROWS]):.2f} to
        {number(best[POOLED_ROWS]):.2f} at alpha {best["alpha"]}, where the models are best: their AUC is
        {number(best["AUC"]):.2f}. Without levels, pooling is at most
        {max(number(row["AUC"]) - number(row[LEVELLED]) for row in found):.2f} below the AUC, and leave-pair-out at most
        {max(number(row["AUC"]) - number(row[LEAVE_PAIR_OUT]) for row in found):.2f}."""


def read_coverage(tables: Tables) -> str:
    [found], [_, spread] = tables[COVERAGE_TITLE], tables["Spread: standard deviation of the deviation"]
    without, signal = ([row for row in found if row["rows, signal"].endswith(f", {n}")] for n in (0, 4))

    def coverage(rows: list[dict[str, str]], name: str) -> list[float]:
        return [number(row[name]) for row in rows if row[name]]

    def rows_of(row: dict[str, str]) -> int:
        return int(number(row["rows, signal"].partition(",")[0]))

    by_rows = ", ".join(f"{number(row[LEAVE_PAIR_OUT]):.1f} % with {rows_of(row):,} rows" for row in signal)
    # The width of a 95 % interval is twice 1.96 standard deviations.
    ratios = [
        spread.value(f"{rows_of(row)}, 50%, 0", LEAVE_PAIR_OUT) / (number(row[LEAVE_PAIR_OUT].partition("(")[2]) / 3.92)
        for row in without
    ]
    return f"""
        With signal, 95 % intervals from rows contain the AUC of the model in {by_rows} (leave-pair-out). Without signal
        they are too narrow at any number of rows: {span(coverage(without, LEAVE_PAIR_OUT), ".0f")} %. There, estimates
        by leave-pair-out have {span(ratios, ".1f")} times the standard deviation that corresponds to the widths. A row
        changes an estimate where it is compared and where models are trained on it; intervals from rows take only the
        first into account. Intervals of averaged folds are wider, as they have fewer pairs, and contain the AUC more
        often at 30 rows ({number(without[0][AVERAGED_5]):.0f} % and {number(without[0][AVERAGED_10]):.0f} % without
        signal), but not at 300 ({number(without[2][AVERAGED_5]):.0f} % and {number(without[2][AVERAGED_10]):.0f} %).
        Intervals with the jackknife take both effects into account:
        {span(coverage(found, intervals.JACKKNIFE), ".0f")} %."""


def read_tests(tables: Tables) -> str:
    [found] = tables[TESTS_TITLE]
    share = f"p ≤ {chance.LEVEL}"
    permutations, pooled, delong, jackknife = (
        {(row["signal"], row["rows"], row["positive"]): number(row[share]) for row in found.select(test=name)}
        for name in chance.TESTS.values()
    )
    with_signal, without = ([value for key, value in delong.items() if key[0] == n] for n in ("4", "0"))
    return f"""
        Permutation tests keep their level: they reject in {span(permutations.values(), ".1f")} % of the data sets, and
        in {span(pooled.values(), ".1f")} % by pooling, whose bias the permutations share. DeLong's test of held-out
        pairs does not keep it: it takes models as given, and rejects in {span(delong.values(), ".0f")} %. With signal
        it improves with the number of rows ({", ".join(f"{value:.0f} %" for value in with_signal)}), without signal it
        does not ({", ".join(f"{value:.0f} %" for value in without)}). The jackknife includes the variation of models,
        and rejects in {span(jackknife.values(), ".0f")} %."""


def read_choices(tables: Tables) -> str:
    [found] = tables[CHOICES_TITLE]
    nested, same, nothing = (row["mean estimate"] for row in found)
    return f"""
        The true AUC is 0.5. Chosen by the same pairs, the best model has an estimate of {same}; chosen anew without
        each pair, {nested}; without a choice, {nothing}."""


CLAIMS = """
The conclusions of the simulation study (Paper IV of the thesis), in the words in which T11 summarises them, and how
they are tested here. T11 has no figures of that study. On pooling, it cites Parker et al. (2007): "In their experiments
with no-signal data sets, AUC values of less than 0.3 were observed instead of the expected 0.5."
"""

SET_UP = """
Rows are normal with unit covariance and ten features; 0, 1 or 4 of them carry signal: their class means are {shift}
apart. The best possible AUC is {best}. The AUC of a linear model is known: Phi(w'd / sqrt(2 w'w)), where
d is the difference of the class means. *Conditional* is the AUC of the model that was trained, *unconditional* the mean
of those of all data sets (T11, section 5.2). Models are `RankRLS({alpha:g})` if nothing else is said. That alpha was
taken after short runs with 0.1, where models are worse and pooling is less pessimistic: a table below has both.

Folds keep the shares of the classes as nearly as can be, and are always five or ten: of 30 rows with three positive
ones, seven of ten folds have none. (`cv=10` of `estimate_auc` would make three folds of them.)
"""

BIAS = """
*AUC*: the unconditional one. Mean deviation ± its standard error. By algebra it is the same for both kinds of AUC.
Strategies see the same data sets: their differences are surer than the errors say.
"""

LEVELS = """
**Why pooling row by row is pessimistic.** A prediction has the level of the rows that it was learnt from: the mean of
their y. Without a positive row that is lower, by 1 / (m - 1), than without a negative one. So the level alone ranks
every held-out pair wrongly, and it counts the more, the less is learnt from X, by weak signal or a large alpha.
*Without levels*, it is subtracted, and most of the bias is gone; the rest comes from weights, which also know what they
were not shown. Ten folds have the same trouble as far as they cannot keep the shares of the classes: little with 20
rows, of which each fold has one of each class, more with 30, and most if folds have no positive row at all.

**Leave-pair-out** has a bias of its own where positive rows are fewest: of three it learns from two, and with signal
that makes worse models than those of three. It is the bias of all that hold out rows.

20 rows, half of them positive, by alpha: mean ± standard error.
"""

SPREAD = """
Around the conditional / the unconditional AUC. Standard errors are the value times 1 / sqrt(2 n): 0.7 % of it for
10,000 data sets, 5 % for 200.
"""

OTHERS = """
30 rows, half of them positive: mean deviation ± its standard error (standard deviation from the conditional AUC).
Models are refitted for whatever is held out, hence the few data sets; leave-pair-out of `RankRLS` has a closed form
without ties as well. The tournament of an SVM, 435 fits per data set, was left out.
"""

INTERVALS = """
95 % intervals from `interval="rows"`, and with the jackknife: how often they contain the conditional / the
unconditional AUC (mean width). Half of the rows are positive. The standard error of a coverage of 90 % is
{of_rows}; of one of 96 % with the jackknife, {of_jackknife}.
"""

TESTS = """
`permutation_test` on data without signal, 199 permutations each. `compare` of two equally good models, which learn from
disjoint features, of which the same number carry signal.
"""

CHOICES = """
30 rows without signal, {n} data sets. `RankRLSCV` chooses among {alphas} alphas for each of two kernels, {kernels}, or
a few more where the score still improves at the end of the grid.
"""

DEPENDENT = """
T11, section 5.5: on the task of parse ranking, "splitting related parses between training and test folds could lead to
observed 0.7 Kendalls τ_b correlation instead of the 0.3 τ_b obtained using an estimation strategy, where the fold
splits were defined on the level of queries" (from Pahikkala et al. 2006). Those parses are not available, so OHSUMED
takes their place.

`RankRLS` on 106 queries, grades 0 to 2, five folds, standardised inside them: concordance inside queries, and its 95 %
interval. *optimism* is the mean difference over queries ± its standard error.
"""

FAST = """
Leave-pair-out of 1,000 rows, 500 of them positive: all pairs in closed form by `estimate_auc`, with an interval from
rows and with the jackknife, and the same pairs by refits, from a sample of 50 that is timed; its predictions are
checked to be the same. The *factor* is that of refits to the closed form with an interval from rows. *Permutations*:
`permutation_test` by leave-pair-out with 1,000 permutations of 300 rows. One thread; best of three, permutations of
two.
"""
