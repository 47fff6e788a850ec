"""Comparison of scorers on the same rows: differences in concordance, with confidence intervals and tests."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import rankdata, wilcoxon

from kernelrank._notebook import ShowsResult
from kernelrank._query_ids import encode_queries
from kernelrank._validation import as_array, check_vector
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._concordance import concordance_index
from kernelrank.metrics._influence import Floats, RowCounts, check_confidence, influences, interval, variance
from kernelrank.metrics._queries import comparable_pair, summarise

_EXACT = 50  # up to this number of signed ranks, all choices of signs are counted, exactly in float64


@dataclass(frozen=True)
class ScorerDifference:
    """Difference in concordance between two scorers.

    Attributes
    ----------
    first, second : hashable
        Names of the two scorers.
    difference : float
        Concordance of the first minus that of the second.
    low, high : float
        Confidence interval of the difference, not corrected for multiple comparisons.
    pvalue : float
        Two-sided p-value: the probability of a difference at least as large between equally good scorers.
    corrected_pvalue : float
        The p-value corrected for multiple comparisons.
    """

    first: Hashable
    second: Hashable
    difference: float
    low: float
    high: float
    pvalue: float
    corrected_pvalue: float


@dataclass(frozen=True)
class Comparison(ShowsResult):
    """Result of :func:`~kernelrank.metrics.compare_scores`; ``print`` shows it as a table.

    Attributes
    ----------
    names : tuple
        Names of the scorers.
    estimates : tuple of float
        Concordance of each scorer.
    intervals : tuple of (float, float)
        Confidence interval of each concordance.
    differences : tuple of ScorerDifference
        Difference for each pair of scorers, in order; ``pandas.DataFrame(list(differences))`` makes a table of them.
    method : {"DeLong", "DeLong, with the jackknife", "Wilcoxon signed ranks"}
        Name of the test.
    confidence : float
        Confidence level of the intervals.
    notes : tuple of str
        How estimates on new rows were computed, and what was left out of them.
    """

    names: tuple[Hashable, ...]
    estimates: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    differences: tuple[ScorerDifference, ...]
    method: str
    confidence: float
    notes: tuple[str, ...] = ()

    def _html(self) -> list[Any]:
        from kernelrank.metrics._notebook import show_comparison

        return show_comparison(self)

    def __str__(self) -> str:
        heading = f"{100 * self.confidence:g}% interval"
        scorers = [
            (str(name), f"{estimate:.4f}", _show_interval(*ends))
            for name, estimate, ends in zip(self.names, self.estimates, self.intervals, strict=True)
        ]
        pairs = [
            (
                f"{each.first} - {each.second}",
                f"{each.difference:.4f}",
                _show_interval(each.low, each.high),
                f"{each.pvalue:.3g}",
                f"{each.corrected_pvalue:.3g}",
            )
            for each in self.differences
        ]
        return "\n".join(
            [
                *_align([("scorer", "concordance", heading), *scorers]),
                "",
                *_align([("scorers", "difference", heading, "p", "corrected p"), *pairs]),
                "",
                f"Test: {self.method}. Correction: Holm.",
                *self.notes,
            ]
        )


def compare_scores(
    y_true: ArrayLike,
    scores: Mapping[Any, ArrayLike] | Sequence[ArrayLike] | ArrayLike,
    *,
    qid: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """Compare the concordance of several scorers on the same rows and test their differences.

    Without queries, the rows are regarded as a sample, and each row takes part in many pairs. For two classes this is
    DeLong's test of areas under the ROC curve [1]_; for other true values it is the same test of the concordance index,
    as in [2]_. With queries, the queries are regarded as a sample, and the differences in their concordance are tested
    with Wilcoxon's signed-rank test [3]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; equal ones are not compared.
    scores : mapping, data frame, list or array
        Scores of models that were not trained on these rows: a mapping of names to vectors, a data frame with one
        column per scorer, a list of vectors, or an array of shape (n_samples, n_scorers). Scorers without names are
        called 0, 1, ...
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    confidence : float, default=0.95
        Confidence level of the intervals, above 0 and below 1.

    Returns
    -------
    Comparison
        The concordance of each scorer, and for each pair of scorers the difference, its interval, and the p-value
        with and without Holm's correction [4]_.

    Raises
    ------
    ValueError
        If there are fewer than two scorers, if one of two classes has fewer than two rows, or, with queries, if fewer
        than two of them have a comparable pair.
    NoComparablePairsError
        If no query has two different true values.

    Warns
    -----
    UndefinedQueryWarning
        If some queries have no comparable pair; they are left out.

    See Also
    --------
    kernelrank.metrics.concordance_index : The metric that is compared; ties in the scores count half.
    kernelrank.metrics.auc_interval : Confidence interval of a single area under the ROC curve.

    Notes
    -----
    Only the order of the scores matters, so scorers may be on different scales. The running time for m rows is
    O(m log m) per scorer, as for the fast algorithm for DeLong's test [5]_, and O(m) per pair of scorers.

    *Equal scorers.* If the difference is zero, the p-value is 1.

    *No variance.* If one scorer is ahead of another by the same share of pairs in every row, such as a perfect scorer
    compared with a constant one, the estimated variance of the difference is zero. Then the interval has no width, and
    the normal approximation would give a p-value of zero even for four rows. The p-value is ``2 ** (1 - k)`` instead,
    for k comparable pairs of which no two have a row in common: the probability that k independent comparisons all
    favour the same scorer.

    *Queries.* The estimates are means over the queries, with intervals from Student's t distribution. The p-value is
    not derived from the intervals, so it may be below 0.05 although the 95 % interval contains zero. Queries in which
    two scorers are equal take part in the ranking of the differences, but have no sign [6]_: if they were left out
    beforehand, a difference could become significant by shrinking. With up to 50 other queries the p-value is exact,
    whether or not differences tie; with more it is a normal approximation.

    *Correction.* Holm's correction is valid for any dependence between the differences, and is never less powerful than
    Bonferroni's, which is ``min(1, pvalue * len(differences))``. Intervals are not corrected.

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson: Comparing the areas under two or more correlated receiver
       operating characteristic curves: a nonparametric approach. Biometrics 44 (1988).
    .. [2] Kang, Chen, Petrick, Gallas: Comparing two correlated C indices with right-censored survival outcome:
       a one-shot nonparametric approach. Statistics in Medicine 34 (2015).
    .. [3] Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1 (1945).
    .. [4] Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6 (1979).
    .. [5] Sun, Xu: Fast implementation of DeLong's algorithm for comparing the areas under correlated
       receiver operating characteristic curves. IEEE Signal Processing Letters 21 (2014).
    .. [6] Pratt: Remarks on zeros and ties in the Wilcoxon signed rank procedures. Journal of the American
       Statistical Association 54 (1959).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.metrics import compare_scores
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> good, other, poor = (y + noise * rng.normal(size=200) for noise in (1, 1.2, 3))
    >>> found = compare_scores(y, {"good": good, "other": other, "poor": poor})
    >>> print(found)
    scorer  concordance      95% interval
    good         0.7403  0.6718 to 0.8088
    other        0.7602  0.6929 to 0.8275
    poor         0.5792  0.4997 to 0.6587
    <BLANKLINE>
    scorers       difference       95% interval         p  corrected p
    good - other     -0.0199  -0.1186 to 0.0788     0.693        0.693
    good - poor       0.1611   0.0576 to 0.2646   0.00228      0.00456
    other - poor      0.1810   0.0818 to 0.2802  0.000349      0.00105
    <BLANKLINE>
    Test: DeLong. Correction: Holm.
    """
    check_confidence(confidence)
    truth = check_vector(y_true, "y_true")
    vectors = {name: check_vector(each, f"scores[{name!r}]", len(truth)) for name, each in _name_scorers(scores)}
    if len(vectors) < 2:
        raise ValueError(f"scores must have at least two scorers to compare, got {len(vectors)}.")
    if qid is None:
        rows = RowCounts(truth)
        wins = [rows.wins(each) for each in vectors.values()]
        return compare_samples(tuple(vectors), wins, RowSample(rows.pairs, rows.strata), confidence)
    codes, _ = encode_queries(qid, len(truth))
    values = [concordance_index(truth, each, qid=codes, per_query=True) for each in vectors.values()]
    summarise(
        values[0], False, "skip", comparable_pair(censored=False), NoComparablePairsError
    )  # raises the error or warns about undefined queries
    values = [each[~np.isnan(each)] for each in values]
    if len(values[0]) < 2:
        raise ValueError("A comparison requires at least two queries with a comparable pair, got one.")
    return compare_samples(tuple(vectors), values, QuerySample(len(values[0])), confidence)


def _name_scorers(scores: Any) -> Iterable[tuple[Hashable, Any]]:
    if isinstance(scores, Mapping):
        return scores.items()
    frame = nw.from_native(scores, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return ((name, column.to_numpy()) for name, column in zip(frame.columns, frame.iter_columns(), strict=True))
    if isinstance(scores, list | tuple):
        return enumerate(scores)
    table = as_array(scores, "scores")
    if table.ndim != 2:
        raise ValueError(f"scores must have one column per scorer, got an array of shape {table.shape}.")
    return enumerate(table.T)


class Sample(Protocol):
    """Sample on which scorers were measured; defines the estimate, its variance and the test."""

    @property
    def method(self) -> str:
        """Name of the test."""

    @property
    def n_values(self) -> int | None:
        """Number of independent values that an estimate is the mean of; None if it is not a mean."""

    def moments(self, values: Floats) -> tuple[float, float]:
        """Return the estimate from the values, and its variance."""

    def pvalue(self, differences: Floats, estimate: float, variance: float) -> float:
        """Return the two-sided p-value of the differences between two scorers, given their moments."""


@dataclass(frozen=True)
class RowSample:
    """Independent rows, or units of rows; the values are the correctly ordered pairs of each row.

    Attributes
    ----------
    pairs : ndarray of shape (n_rows,)
        Number of pairs of each row.
    strata, units : ndarray of shape (n_rows,), optional
        As in :func:`kernelrank.metrics._influence.variance`.
    """

    pairs: Floats
    strata: NDArray[Any] | None = None
    units: NDArray[Any] | None = None
    method = "DeLong"
    n_values = None

    def moments(self, values: Floats) -> tuple[float, float]:
        """Return the share of correctly ordered pairs and its variance."""
        share, u = influences(values, self.pairs)
        return share, variance(u, strata=self.strata, units=self.units)

    def pvalue(self, differences: Floats, estimate: float, variance: float) -> float:
        """Test with the normal approximation, or a sign test if the variance is zero."""
        if estimate == 0:
            return 1.0
        deviation = np.sqrt(variance)
        if deviation < 1e-9 * abs(estimate):  # floating-point rounding only
            return min(1.0, 2.0 ** (1 - self._n_disjoint()))
        return float(2 * ndtr(-abs(estimate) / deviation))

    def _n_disjoint(self) -> int:
        """Return a lower bound of the number of pairs of which no two have a row, or unit, in common.

        By Vizing's theorem, the pairs can be partitioned into such sets; their number is the largest degree plus one.
        """
        pairs = self.pairs if self.units is None else np.bincount(self.units, weights=self.pairs)
        return int(np.ceil(pairs.sum() / 2 / (pairs.max() + 1)))


@dataclass(frozen=True)
class QuerySample:
    """Independent queries; the values are the concordances of `n_values` queries."""

    n_values: int
    method = "Wilcoxon signed ranks"

    def moments(self, values: Floats) -> tuple[float, float]:
        """Return the mean over queries and its variance."""
        return float(values.mean()), float(values.var(ddof=1) / self.n_values)

    def pvalue(self, differences: Floats, estimate: float, variance: float) -> float:
        """Test with Wilcoxon's signed ranks; zeros are ranked but have no sign."""
        differences = np.round(differences, 12)  # so that 1 - 2/3 ties with 1/3
        n_signed = np.count_nonzero(differences)
        if n_signed == 0:
            return 1.0
        if n_signed > _EXACT:
            return float(wilcoxon(differences, zero_method="pratt", method="asymptotic").pvalue)
        return _exact_signed_ranks(differences)


def _exact_signed_ranks(differences: Floats) -> float:
    """Return the exact p-value given ties and zeros, with all choices of signs equally likely."""
    signed = differences[differences != 0]
    ranks = (2 * rankdata(np.abs(signed))).astype(np.intp)  # doubled, as midranks may be halves; zeros rank before
    ways = np.zeros((len(signed) + 1, ranks.sum() + 1))  # choices of signs, by number and rank sum of the positive ones
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank]
    shift = 2 * (len(differences) - len(signed))
    sums = shift * np.arange(len(ways))[:, None] + np.arange(ways.shape[1])
    found = (shift + ranks)[signed > 0].sum()
    fewer = min(ways[sums <= found].sum(), ways[sums >= found].sum())
    return float(min(1.0, 2 * fewer / 2.0 ** len(signed)))


def compare_samples(
    names: Sequence[Hashable], values: Sequence[Floats], sample: Sample, confidence: float
) -> Comparison:
    """Compare each pair of several scorers by their values on the same sample."""
    estimates, intervals = [], []
    for each in values:
        moments = sample.moments(each)
        estimates.append(moments[0])
        intervals.append(interval(*moments, confidence, n_values=sample.n_values))
    found, pvalues = [], []
    for i, j in combinations(range(len(names)), 2):
        moments = sample.moments(values[i] - values[j])
        ends = interval(*moments, confidence, lowest=-1.0, n_values=sample.n_values)
        found.append((names[i], names[j], moments[0], *ends))
        pvalues.append(sample.pvalue(values[i] - values[j], *moments))
    return Comparison(
        names=tuple(names),
        estimates=tuple(estimates),
        intervals=tuple(intervals),
        differences=tuple(
            ScorerDifference(*each, *both) for each, *both in zip(found, pvalues, correct_pvalues(pvalues), strict=True)
        ),
        method=sample.method,
        confidence=confidence,
    )


def correct_pvalues(pvalues: Sequence[float]) -> list[float]:
    """Correct for multiple tests by Holm's method: multiply the smallest of n by n, the next by n - 1, ..."""
    order = np.argsort(pvalues)
    multiplied = np.sort(pvalues) * np.arange(len(pvalues), 0, -1)
    corrected = np.empty(len(pvalues))
    corrected[order] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return [float(each) for each in corrected]


def _show_interval(low: float, high: float) -> str:
    return f"{low:.4f} to {high:.4f}"


def _align(lines: Sequence[Sequence[str]]) -> list[str]:
    """Pad columns; the first is aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if k else text.ljust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
