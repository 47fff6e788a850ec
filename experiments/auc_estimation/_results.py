"""The text of results.md: what was expected and what was found, the tables, and how to read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._timing import table
from experiments.auc_estimation import chance, deviations, intervals, speed
from experiments.auc_estimation._shared import ALPHA, SHIFT, Setting, processor_seconds
from experiments.auc_estimation.deviations import (
    AVERAGED_5,
    AVERAGED_10,
    LEAVE_PAIR_OUT,
    LEVELLED,
    POOLED_FOLDS,
    POOLED_ROWS,
    STRATEGIES,
    Summary,
    summarise,
)

MINUTES = 20  # that the whole study may take
NEARLY_UNBIASED = 0.01
SEVERAL_HUNDRED = 300  # rows
SIMULATIONS = ("deviations", "intervals", "tests and choices")
Lines = dict[Setting, np.ndarray]


def verdict(*holds: bool) -> str:
    """Say whether all of it holds; if not, how much of it."""
    if all(holds):
        return "**confirmed**"
    return f"**refuted** in {len(holds) - sum(holds)} of {len(holds)} settings" if len(holds) > 1 else "**refuted**"


def pooling_is_pessimistic(found: dict[Setting, Summary], name: str) -> list[str]:
    blind = {setting: each[name] for setting, each in found.items() if setting.n_signal == 0 and setting.m <= 100}
    settings = [Setting(m, 0.5, 0) for m in (20, 30, 100, 1000)] + [Setting(30, 0.1, 0)]
    means = ", ".join(f"{0.5 + found[setting][name].bias:.3f} ({deviations.name_of(setting)})" for setting in settings)
    return [
        "pooling is pessimistic without signal (0.39 at 20 rows was seen), by three standard errors up to 100 rows:"
        f" {name}",
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
        f"averaging has high variance at small m (5 % above the standard deviation of leave-pair-out): {name}",
        f"{each} times that of leave-pair-out",
        verdict(*(ratio > 1.05 for ratio in ratios.values())),
    ]


def pairs_are_nearly_unbiased(found: dict[Setting, Summary]) -> list[str]:
    biases = {setting: each[LEAVE_PAIR_OUT] for setting, each in found.items()}
    worst = max(biases, key=lambda setting: abs(biases[setting].bias))
    mine = biases[worst]
    return [
        f"leave-pair-out is nearly unbiased (less than {NEARLY_UNBIASED})",
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
        "leave-pair-out has low variance (at most 10 % above the least of all standard deviations)",
        f"{min(averaged):.2f} to {max(averaged):.2f} times the least of the averaged, {min(pooled):.2f} to"
        f" {max(pooled):.2f} times the least of the pooled, which are biased",
        verdict(max(averaged + pooled) <= 1.1),
    ]


def differences_vanish(found: dict[Setting, Summary], without: set[str], which: str) -> list[str]:
    names = [name for name in STRATEGIES if name not in without]
    largest = {}
    for setting, each in found.items():
        if setting.m >= SEVERAL_HUNDRED:
            biases = [each[name].bias for name in names]
            largest[setting.m] = max(largest.get(setting.m, 0.0), max(biases) - min(biases))
    each = ", ".join(f"{apart:.3f} at {m:,} rows" for m, apart in sorted(largest.items()))
    return [
        f"differences vanish at several hundred rows (less than {NEARLY_UNBIASED} apart): {which}",
        f"mean estimates differ by {each} at most",
        verdict(max(largest.values()) < NEARLY_UNBIASED),
    ]


def summary_table(lines: Lines, seconds: dict[str, float]) -> str:
    found = {setting: summarise(each) for setting, each in lines.items()}
    minutes, busy = sum(seconds.values()) / 60, sum(processor_seconds.values()) / 60
    rows = [
        pooling_is_pessimistic(found, POOLED_ROWS),
        pooling_is_pessimistic(found, POOLED_FOLDS),
        averaging_varies(found, AVERAGED_10),
        averaging_varies(found, AVERAGED_5),
        pairs_are_nearly_unbiased(found),
        pairs_vary_little(found),
        differences_vanish(found, {POOLED_ROWS, LEVELLED}, "all but pooling row by row"),
        differences_vanish(found, set(), "all"),
        [
            f"the whole study takes less than {MINUTES} minutes on two cores",
            f"{minutes:.1f} minutes, for {busy:.1f} minutes of processor time",
            verdict(minutes < MINUTES),
        ],
    ]
    return table(["expected", "found (rows, positive, signal)", ""], rows, n_texts=3)


def time_text(seconds: dict[str, float], jobs: int) -> str:
    parts = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
    simulated = sum(seconds[name] for name in SIMULATIONS)
    busy = sum(processor_seconds.values())
    return (
        f"{speed.machine()}. It took {sum(seconds.values()) / 60:.1f} minutes with {jobs} processes: {parts}. The"
        f" simulations took {busy / 60:.1f} minutes of processor time, {busy / (jobs * simulated):.0%} of what {jobs}"
        " cores have in that time; what is missing went to other programs."
    )


def write(
    found: dict[str, Any],
    coverage: dict[Setting, intervals.Coverage],
    tests: dict[str, dict[Setting, np.ndarray]],
    dependent: str,
    fast: str,
    seconds: dict[str, float],
    jobs: int,
) -> str:
    """Join all paragraphs."""
    lines: Lines = found["lines"]
    by_share, by_rows = list(deviations.BY_SHARE), [*deviations.BY_ROWS, *deviations.FEW_POSITIVES]
    [(_, chosen)] = tests["choices"].items()
    parts = [
        "# Estimating AUC from few rows",
        "Written by `make experiment-auc_estimation`. " + time_text(seconds, jobs),
        summary_table(lines, seconds),
        SET_UP.format(shift=SHIFT, alpha=ALPHA),
        found["checked"],
        "## Bias: mean deviation from the true AUC",
        BIAS,
        deviations.bias_table(lines, by_share),
        "![Mean estimates without signal, by the share of positive rows](bias-by-share.svg)",
        deviations.bias_table(lines, by_rows),
        "![Mean deviation by number of rows](bias-by-rows.svg)",
        LEVELS,
        deviations.alpha_table(found["alphas"]),
        "## Spread: standard deviation of the deviation",
        SPREAD,
        deviations.spread_table(lines, by_share),
        deviations.spread_table(lines, by_rows),
        "![Standard deviation by number of rows](spread-by-rows.svg)",
        "## Other models",
        OTHERS,
        deviations.model_table(found["models"]),
        "## Intervals: how often they hold the truth",
        INTERVALS.format(**intervals.errors()),
        intervals.coverage_table(coverage),
        "![Coverage](coverage.svg)",
        "## Tests: how often they find what is not there",
        TESTS,
        chance.error_table(tests),
        "## Choosing by the same pairs",
        CHOICES.format(n=len(chosen), kernels=" and ".join(chance.KERNELS), alphas=chance.N_ALPHAS),
        chance.choice_table(chosen),
        "## Rows that depend on each other: OHSUMED",
        DEPENDENT,
        dependent,
        "## Speed",
        FAST,
        fast,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


SET_UP = """
Rows are normal with unit covariance and ten features; 0, 1 or 4 of them carry signal: their class means are {shift}
apart. The best AUC that can be had is 0.5, 0.638 or 0.760. Of a linear model it is known: Phi(w'd / sqrt(2 w'w)), where
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

20 rows, half of them positive, by alpha. The best models here are those with the largest alphas, and of those pooling
says that they get every pair wrong:
"""

SPREAD = """
Around the conditional / the unconditional AUC. Standard errors are the value times 1 / sqrt(2 n): 0.7 % of it for
10,000 data sets, 5 % for 200.
"""

OTHERS = """
30 rows, half of them positive: mean deviation ± its standard error (standard deviation from the conditional AUC).
Models are refitted for whatever is held out, hence the few data sets; leave-pair-out of `RankRLS` has a closed form
without ties as well. The tournament of an SVM, 435 fits a data set, was left out.
"""

INTERVALS = """
95 % intervals from `interval="rows"`, and with the jackknife: how often they hold the conditional / the unconditional
AUC (mean width). Half of the rows are positive. The standard error of a coverage of 90 % is {of_rows}; of one of 96 %
with the jackknife, {of_jackknife}.

**Reading.** With signal, intervals from rows are somewhat too narrow at 30 and 100 rows, and right from 300. Without
signal they are too narrow at *any* number of rows: about 80 to 85 % where 95 % is said. Estimates by leave-pair-out
then have about 1.5 times the standard deviation that the widths stand for: a row moves an estimate where it is compared
and where models are trained on it, and intervals from rows see the first only. Intervals of averaged folds are wider,
as they have fewer pairs, and so hold the truth more often; but not at 300 rows. Those with the jackknife see both.
"""

TESTS = """
`permutation_test` on data without signal, 199 permutations each. `compare` of two equally good models, which learn from
disjoint features, of which the same number carry signal.

**Reading.** Permutation tests keep their level, also by pooling, whose bias the permutations share. DeLong's test of
held-out pairs does not: it takes models as given, and finds a difference two to four times as often as it says. With
signal that gets better with the number of rows, without it does not. The jackknife sees how models vary, too.
"""

CHOICES = """
30 rows without signal, {n} data sets: whatever is chosen, the AUC is 0.5. `RankRLSCV` chooses among {alphas} alphas for
each of two kernels, {kernels}. Chosen by the same pairs, the best of them looks better than it is.
"""

DEPENDENT = """
`RankRLS` on 106 queries, grades 0 to 2, five folds, standardised inside them: concordance inside queries, and its 95 %
interval. *Flattery* is the mean difference of queries ± its standard error.

**Reading.** Of linear models, folds of rows flatter by nothing that can be told from chance: 45 weights have no room
for what is particular to a query. Gaussian kernels have, and gain 0.007 to 0.014 (1.6 to 4 standard errors), most with
raw features, which tell queries apart. That is less than the width of an interval, and as much as what separates
models. If anything it is too little: rows of a query are scored by five models, and so pooled. There are identical
rows. 1,498 of those that are scaled have no feature at all, in many queries; some 900 have a twin in their own query,
which folds of rows tear apart.
"""

FAST = """
Leave-pair-out of 1,000 rows, 500 of them positive: all pairs in closed form by `estimate_auc`, with an interval from
rows and with the jackknife, and the same pairs by refits, from a sample of 50 that is timed; its predictions are
checked to be the same. The *factor* is that of refits to the closed form with an interval from rows. *Permutations*:
`permutation_test` by leave-pair-out with 1,000 permutations of 300 rows. One thread; best of three, permutations of
two.
"""
