"""How well scores agree with the truth: concordance, the area under the ROC curve, and metrics of positions.

All are called as ``metric(y_true, y_score, qid=qid)``, true values first; higher is better on both
sides. Three rules hold for all of them.

**Queries.** A metric is computed for each query, and the result is the mean over the queries for which it
is defined. If there are others, an :class:`~kernelrank.exceptions.UndefinedQueryWarning` counts
them; if there are no others, that is an error. ``per_query=True`` returns an array with an element a
query instead, in the order of their first rows, NaN where the metric is not defined.

**Ties.** Rows of a query with equal scores have no order, so `ties` says which one to assume:

- ``ties=0.5``, the default: any order is as likely as any other, and the result is the exact
  expected value over all of them, in closed form;
- ``ties=1``: the order that makes the most of the metric;
- ``ties=0``: the order that makes the least of it.

In metrics of pairs, `ties` is what a pair with equal scores counts, and may be any number from 0
to 1; the three values above are what the rule says. (:func:`pairwise_error` is an error, so
there 1 is the worst.) Tau-b has a rule of its own.

**Undefined** is what would be a division of zero by zero, such as the concordance of a query in which all
true values are equal. A query that merely has nothing relevant found has a value: zero.

:func:`f_score` and :func:`best_f_score` are about decisions, not about an order: one threshold for all rows, which have
no queries there, and a tie with it is below it. :func:`threshold_at_rate` makes a threshold.

Time is O(m log m) for m rows, a few sorts, whatever the number of queries (:func:`err` says what ties cost it).

:func:`auc_interval` says how far to trust an area under the ROC curve, and :func:`compare_scores` whether one scorer is
better than another.
"""

from kernelrank.metrics._auc import AUCInterval, auc, auc_interval
from kernelrank.metrics._cascade import err, reciprocal_rank
from kernelrank.metrics._comparison import Comparison, ScorerDifference, compare_scores
from kernelrank.metrics._concordance import concordance_index, kendall_tau, pairwise_error
from kernelrank.metrics._decisions import Decision, best_f_score, f_score, threshold_at_rate
from kernelrank.metrics._gain import ndcg
from kernelrank.metrics._relevance import average_precision, precision_at
from kernelrank.metrics._scorer import RankingScorer, make_ranking_scorer

__all__ = [
    "AUCInterval",
    "Comparison",
    "Decision",
    "RankingScorer",
    "ScorerDifference",
    "auc",
    "auc_interval",
    "average_precision",
    "best_f_score",
    "compare_scores",
    "concordance_index",
    "err",
    "f_score",
    "kendall_tau",
    "make_ranking_scorer",
    "ndcg",
    "pairwise_error",
    "precision_at",
    "reciprocal_rank",
    "threshold_at_rate",
]
