"""How well scores agree with the truth: concordance, the area under the ROC curve, and metrics of positions.

All are called as ``metric(y_true, y_score, qid=qid)``, true values first; higher is better on both
sides. Three rules hold for all of them.

**Queries.** A metric is computed for each query, and the result is the mean over the queries.
``per_query=True`` returns an array with one element per query instead, in the order of their first rows.

**Undefined queries.** A metric may have no value for a query: the concordance of rows with equal true values, or the
NDCG of a query without a relevant row, would be zero divided by zero. `undefined` says what such a query counts:

- ``undefined="skip"``: nothing. The mean is over the other queries, and an
  :class:`~kernelrank.exceptions.UndefinedQueryWarning` says how many were left out; if all are, that is an error.
  With ``per_query=True`` the element is NaN.
- ``undefined=0``: 0, as in trec_eval, scikit-learn and LETOR.
- ``undefined=1``: 1, as in XGBoost and LightGBM.

The default is "skip"; for :func:`precision_at`, :func:`reciprocal_rank` and :func:`err`, which are 0 where nothing
relevant is found, it is 0. Means can be compared only if they treat such queries alike. ``docs/ndcg.md`` shows how to
get the numbers of other programs.

**Ties.** Rows of a query with equal scores have no order, so `ties` says which one to assume:

- ``ties=0.5``, the default: any order is as likely as any other, and the result is the exact
  expected value over all of them, in closed form;
- ``ties=1``: the order that makes the most of the metric;
- ``ties=0``: the order that makes the least of it;
- ``ties="ordinal"``, for metrics of positions: the order in which the rows are given, as in most other programs. The
  result then depends on that order.

In metrics of pairs, `ties` is what a pair with equal scores counts, and may be any number from 0
to 1; the three values above are what the rule says. (:func:`pairwise_error` is an error, so
there 1 is the worst.) Tau-b has a rule of its own.

:func:`pair_accuracy` is about given pairs instead of true values.

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
from kernelrank.metrics._pairs import pair_accuracy
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
    "pair_accuracy",
    "pairwise_error",
    "precision_at",
    "reciprocal_rank",
    "threshold_at_rate",
]
