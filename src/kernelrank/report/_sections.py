"""Parts of the page, each from the contents of the report; None leaves a part out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelrank._charts import curve, histogram, interval_bar, signed_bar
from kernelrank._html import Markup, join, number, percent, plural, share, table, tag
from kernelrank.report._metrics import Measured, leading
from kernelrank.report._model import certificate, coefficients, convergence, parameters
from kernelrank.report._page import Report, paragraphs
from kernelrank.report._rows import MOST_FEATURES, MOST_OF_A_QUERY, MOST_QUERIES, direction

_MOST_COLUMNS, _MOST_LEVELS, _MOST_WEIGHTS = 100, 12, 12
_PRINTED = 40  # lines of a long table, as in the style sheet
_NOTHING = "–"
_IN_WORDS = {
    "concordance": "share of pairs in the right order; 0.5 is chance",
    "kendall": "right minus wrong pairs, from -1 to 1; 0 is chance",
    "auc": "area under the ROC curve; 0.5 is chance",
    "map": "mean average precision; grades above 0 are relevant",
    "mrr": "1 / rank of the first relevant row",
    "ndcg@10": "gain of the first 10 rows, relative to the best order",
    "err@10": "expected 1 / rank at which a reader is satisfied",
    "precision@10": "share of relevant rows among the first 10",
}


def summary(report: Report) -> Markup:
    """Return the result in plain words."""
    subject, concordance = report.subject, report.measured[0]
    where = "" if subject.ids is None else f", as the mean over {plural(concordance.n_queries, 'query', 'queries')}"
    first = f"The model puts {percent(concordance.value)} of the pairs in the right order{where}"
    if not np.isnan(concordance.low):
        first += f" ({100 * report.confidence:g} % interval: {percent(concordance.low)} to {percent(concordance.high)})"
    lines = [first + ". Chance would be 50 %."]
    if (main := leading(report.measured)).name != "concordance" and subject.ids is not None:
        lines.append(f"{main.name} is {share(main.value)}{_interval(main)}.")
    if report.trust is not None and report.trust.skipped is None:
        lines.append(report.trust.sentence)
    lines.append(
        "If the model was trained on these rows, metrics of its scores are too good; judge it by rows that it has not"
        " seen."
    )
    n = len(report.advice)
    warned = tag("a", f"{plural(n, 'warning')} below", href="#warnings") if n else "No warnings."
    cards = [
        (share(concordance.value), "concordance"),
        (f"{subject.n_rows:,}", "rows"),
        *([(f"{subject.n_queries:,}", "queries")] if subject.ids is not None else []),
        (f"{len(subject.names):,}", "features"),
        (str(n), "warning" if n == 1 else "warnings"),
    ]
    shown = tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for value, name in cards), class_="cards")
    return join([shown, paragraphs(*lines), tag("p", warned)])


def warnings_(report: Report) -> Markup | None:
    """Return the warnings, each with what to do."""
    if not report.advice:
        return None
    items = [tag("li", tag("strong", each.title), " ", tag("span", each.remedy)) for each in report.advice]
    return tag("ul", *items, class_="warnings")


def data(report: Report) -> Markup:
    """Return sizes, levels and columns."""
    subject, facts = report.subject, report.facts
    duplicates = "cannot be compared" if facts.n_duplicates is None else f"{facts.n_duplicates:,}"
    rows = [
        ("rows", f"{subject.n_rows:,}"),
        ("queries", "none: all rows are one list" if subject.ids is None else f"{subject.n_queries:,}"),
        ("features", f"{len(subject.names):,}"),
        ("comparable pairs", f"{int(subject.pairs.n_pairs):,}"),
        ("pairs with equal utilities", f"{facts.n_tied:,}, which are not compared"),
        ("levels of the utility", f"{len(subject.levels):,}"),
        ("rows that repeat an earlier row", duplicates),
        ("features with one value", f"{int(facts.columns.constant.sum()):,}"),
        ("features with missing values", f"{int((facts.columns.missing > 0).sum()):,}"),
    ]
    if subject.ids is not None:
        sizes = subject.sizes
        rows[2:2] = [
            ("rows per query", f"{sizes.min():,} to {sizes.max():,}, median {number(float(np.median(sizes)))}"),
            ("queries without a comparable pair", f"{facts.n_idle_queries:,}"),
        ]
    return join([table(("fact", "value"), rows, "The data"), _levels(report), _columns(report)])


def _levels(report: Report) -> Markup:
    """Return the number of rows with each utility, if these are few."""
    subject = report.subject
    if len(subject.levels) > _MOST_LEVELS:
        low, middle, high = np.quantile(subject.y, [0, 0.5, 1])
        return paragraphs(f"Utilities go from {number(low)} to {number(high)}; their median is {number(middle)}.")
    counts = np.searchsorted(np.sort(subject.y), subject.levels, side="right")
    counts = np.diff(counts, prepend=0)
    rows = [
        (number(level), f"{count:,}", percent(count / subject.n_rows))
        for level, count in zip(subject.levels.tolist(), counts.tolist(), strict=True)
    ]
    return table(("utility", "rows", "share"), rows, "Levels of the utility", numeric=(1, 2))


def _columns(report: Report) -> Markup:
    """Return the summary of the columns."""
    columns = report.facts.columns
    n = len(columns.names)
    if n == 0:
        return Markup("")
    rows = [
        (columns.names[k], f"{columns.missing[k]:,}", *(number(each[k], 3) for each in columns[3:]),
         "one value" if columns.constant[k] else "")
        for k in range(min(n, _MOST_COLUMNS))
    ]  # fmt: skip
    heading = ("feature", "missing", "smallest", "mean", "largest", "standard deviation", "remark")
    shown = table(heading, rows, "Features", numeric=range(1, 6), data_sortable=True)
    rest = paragraphs(f"The first {_MOST_COLUMNS} of {n:,} features are shown.") if n > _MOST_COLUMNS else ""
    return tag("details", tag("summary", f"Features ({n:,})"), shown, rest)


def model(report: Report) -> Markup:
    """Return the parameters of the model, its certificate, and what it uses."""
    found = parameters(report.subject)
    parts = [
        paragraphs(*certificate(report.subject)),
        convergence(report.subject),
        _weights(report),
        tag("details", tag("summary", "Parameters"), table(("parameter", "value"), found, "Parameters of the model")),
    ]
    return join(part for part in parts if part is not None)


def _weights(report: Report) -> Markup | None:
    """Return the features with the largest influence."""
    shown = report.shown
    if shown.parts is None or not len(shown.rows):
        return None
    coef = coefficients(report.subject)
    largest = float(shown.spread.max(initial=0.0))
    rows = []
    for k, (name, spread) in enumerate(zip(shown.features[:_MOST_WEIGHTS], shown.spread.tolist(), strict=False)):
        sign = direction(shown, k)
        bar = _NOTHING if sign is None else signed_bar(sign * spread, largest)
        value = [number(coef[name]) if name in coef else _NOTHING] if coef else []
        rows.append((name, *value, number(spread, 3), bar))
    about = paragraphs(
        "Influence is the standard deviation of what a feature adds to the scores of the rows that are shown. To the"
        " right: a larger value raises the score; to the left: it lowers it. Categories have no direction."
    )
    heading = ("feature", *(["coefficient"] if coef else []), "influence", "direction")
    numeric = range(1, len(heading) - 1)
    return join([table(heading, rows, "Features with the largest influence", numeric=numeric), about])


def metrics(report: Report) -> Markup:
    """Return all metrics with their intervals."""
    by_query = report.subject.ids is not None
    rows = [
        (each.name, share(each.value), _ends(each), interval_bar(each.value, each.low, each.high),
         *([f"{each.n_queries:,}"] if by_query else []), _IN_WORDS.get(each.name, ""))
        for each in report.measured
    ]  # fmt: skip
    level = f"{100 * report.confidence:g} % interval"
    heading = (
        "metric",
        "mean" if by_query else "value",
        level,
        "0 to 1",
        *(["queries"] if by_query else []),
        "meaning",
    )
    source = (
        "Intervals are percentiles of the bootstrap over queries. Means are over queries where the metric is defined."
        if by_query
        else "Intervals are those of a sample of rows; a list of rows has none for metrics of its top."
    )
    numeric = (1, 2, 4) if by_query else (1, 2)
    return join([table(heading, rows, "Metrics", numeric=numeric), paragraphs(source)])


def queries(report: Report) -> Markup:
    """Return the queries with the worst first, or the most misplaced rows."""
    subject, n = report.subject, len(report.shown.rows)
    pairs = f"{plural(subject.n_wrong, 'pair')} in the wrong order, {subject.n_undecided:,} undecided."
    choice = "" if report.shown.parts is None else " Choose A and B in two rows to compare them below."
    if subject.ids is None:
        some = f"The {n:,} rows with the most wrong pairs" if n < subject.n_rows else f"All {n:,} rows"
        about = paragraphs(f"{pairs} {some} are listed, by their rank.{choice}")
        return join([about, tag("div", id="rows", class_="long"), _printed(n)])
    main = leading(report.measured)
    shown_codes = set(subject.codes[report.shown.rows].tolist())
    return join(
        [
            paragraphs(f"{pairs} Open a query to see its rows.{choice}"),
            histogram(main.per_query, f"{main.name} of a query", "queries"),
            _query_table(report, main, shown_codes),
            _left_out(report, len(shown_codes)),
            _printed(min(subject.n_queries, MOST_QUERIES)),
        ]
    )


def _query_table(report: Report, main: Measured, with_rows: set[int]) -> Markup:
    """Return the table of queries, which the script sorts, filters and opens."""
    subject = report.subject
    others = [each for each in report.measured if each is not main and each.name in ("concordance", "auc", "map")]
    body = []
    for code in report.order[:MOST_QUERIES].tolist():
        cells = [tag("th", tag("bdi", subject.name_query(code)), scope="row")]
        numbers = [subject.sizes[code], subject.pairs.pairs_per_query[code]]
        cells += [tag("td", f"{each:,}", class_="n", data_value=each) for each in numbers]
        for each in (main, *others):
            value = float(each.per_query[code])
            cells.append(tag("td", share(value), class_="n", data_value="" if np.isnan(value) else f"{value:.6g}"))
        body.append(tag("tr", *cells, data_query=code if code in with_rows else None))
    heading = ("query", "rows", "comparable pairs", main.name, *(each.name for each in others))
    head = tag("tr", *(tag("th", name, scope="col", class_="n" if k else None) for k, name in enumerate(heading)))
    caption = f"Queries, the worst {main.name} first"
    parts = tag("caption", caption), tag("thead", head), tag("tbody", *body)
    content = tag("table", *parts, data_sortable=True, data_filter="query id", id="query-table")
    return tag("div", content, class_="scroll tall long", tabindex="0", role="region", aria_label=caption)


def _printed(n_lines: int) -> Markup:
    """Return a note that is shown in print only."""
    if n_lines <= _PRINTED:
        return Markup("")
    return tag("p", f"In print, the first {_PRINTED} of {n_lines:,} lines are shown.", class_="printed")


def _left_out(report: Report, n_with_rows: int) -> Markup:
    """Return what the table of queries does not show."""
    subject = report.subject
    notes = []
    if subject.n_queries > MOST_QUERIES:
        notes.append(f"The worst {MOST_QUERIES} of {subject.n_queries:,} queries are listed; metrics are those of all.")
    if n_with_rows < min(subject.n_queries, MOST_QUERIES):
        notes.append(f"Rows are included for the worst {plural(n_with_rows, 'query', 'queries')}.")
    if subject.sizes.max() > MOST_OF_A_QUERY:
        notes.append(f"Of larger queries, the {MOST_OF_A_QUERY} rows with the most wrong pairs are included.")
    return paragraphs(" ".join(notes)) if notes else Markup("")


def trust(report: Report) -> Markup | None:
    """Return the estimates of the area under the ROC curve on new rows."""
    found = report.trust
    if found is None:
        return None
    if found.skipped is not None:
        return paragraphs(f"Not estimated: {found.skipped}")
    rows = [
        (each.strategy, share(each.estimate), f"{share(each.interval[0])} to {share(each.interval[1])}",
         each.interval_from, interval_bar(each.estimate, *each.interval), f"{each.n_fits:,}")
        for each in found.estimates
    ]  # fmt: skip
    level = f"{100 * report.confidence:g} % interval"
    heading = ("strategy", "estimate", level, "interval from", "0 to 1", "fits")
    said = (
        f"Pooling differs by {found.pooling_bias:+.3f} from {found.best.strategy}: it compares scores of different"
        " models, and is too low on average."
    )
    said += " Here the intervals overlap." if found.overlaps else " Believe the first line."
    if found.n_splits > 1:
        said += (
            f" “averaged” is the estimate from {found.n_splits} random splits of the rows into {found.n_folds} folds"
            " each: single splits of few rows give estimates that differ much."
        )
    tested = (
        f"Permutation test: p = {number(found.test.pvalue, 2)}, from {len(found.test.permuted):,} permutations."
        if found.test is not None
        else f"No permutation test: {found.untested}"
    )
    kept = "Models with the same parameters were fitted to parts of these rows, and judged by the others."
    if found.chooses:
        kept += " Each of them chose alpha again, from the rows that it was fitted to."
    strong = tag("p", tag("strong", found.sentence))
    return join(
        [strong, table(heading, rows, "Estimates for new rows", numeric=(1, 2, 5)), paragraphs(said, tested, kept)]
    )


def comparison(report: Report) -> Markup:
    """Return the place where the script compares two rows."""
    shown = report.shown
    if shown.parts is None:
        why = f"Contributions are not shown: {shown.reason}."
        return paragraphs(why, "kernelrank.inspection.explain has more kinds of contributions, also for kernels.")
    if len(shown.rows) < 2:
        return paragraphs("There are fewer than two rows to compare.")
    about = (
        "A linear model's difference of two scores is a sum over features, which is shown in full: each contribution is"
        " the coefficient times the difference of the feature, summed over what a pipeline makes of a column."
    )
    cut = f" The {MOST_FEATURES} features with the largest spread are listed; the others are summed."
    many = len(shown.features) > MOST_FEATURES
    needs = tag(
        "noscript", tag("p", "Comparing rows, sorting and filtering need JavaScript, which this page includes.")
    )
    return join([paragraphs(about + cut * many), tag("div", id="compare"), needs])


def learning(report: Report) -> Markup | None:
    """Return the learning curve."""
    found = report.curve
    if found is None:
        return None
    if isinstance(found, str):
        return paragraphs(f"Not computed: {found}")
    rows = [
        (f"{size:,}", number(rows), share(mean), share(std))
        for size, rows, mean, std in zip(
            found.sizes.tolist(), found.n_rows.tolist(), found.mean, found.std, strict=True
        )
    ]
    drawn = curve(found.sizes, found.mean, found.std, f"{found.unit} trained on", found.metric, "Learning curve")
    known = found.mean[~np.isnan(found.mean)]
    words = f"The last step gained {known[-1] - known[-2]:+.3f}. " if len(known) > 1 else ""
    ending = (
        "A curve that still rises at its end says that more data would help; a flat one, that better features would."
        " Models of all sizes have the parameters of this one."
    )
    heading = (found.unit, "rows", found.metric, "standard deviation")
    shown = table(heading, rows, "Learning curve", numeric=range(1, 4))
    return join([drawn, shown, paragraphs(words + ending)])


def _ends(each: Measured) -> str:
    return "–" if np.isnan(each.low) else f"{share(each.low)} to {share(each.high)}"


def _interval(each: Measured) -> str:
    return "" if np.isnan(each.low) else f" (interval {share(each.low)} to {share(each.high)})"


SECTIONS: tuple[tuple[str, str, Callable[[Report], Markup | None]], ...] = (
    ("summary", "In short", summary),
    ("warnings", "Warnings, and what to do", warnings_),
    ("metrics", "Metrics", metrics),
    ("trust", "Can this AUC be trusted?", trust),
    ("queries", "Where the order is wrong", queries),
    ("comparison", "Why is A above B?", comparison),
    ("model", "The model and its certificate", model),
    ("learning", "Would more data help?", learning),
    ("data", "The data", data),
)
