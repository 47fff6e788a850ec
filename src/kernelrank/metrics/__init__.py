"""Ranking metrics: concordance, area under the ROC curve, and metrics of positions such as NDCG.

All metrics are called as ``metric(y_true, y_score, qid=qid)``, true values first; higher values are better in both
arguments. Three rules hold for all of them.

**Queries.** A metric is computed for each query, and the result is the mean over the queries.
``per_query=True`` returns an array with one element per query instead, in the order of their first rows.

**Undefined queries.** A metric may have no value for a query: the concordance of rows with equal true values, or the
NDCG of a query without a relevant row, would be zero divided by zero. `undefined` sets the value of such a query:

- ``undefined="skip"``: no value. The mean is over the other queries, and an
  :class:`~kernelrank.exceptions.UndefinedQueryWarning` reports how many were left out. If no query has a value, an
  error is raised. With ``per_query=True`` the element is NaN.
- ``undefined=0``: 0, as in trec_eval, scikit-learn and LETOR.
- ``undefined=1``: 1, as in XGBoost and LightGBM.

The default is "skip", except for :func:`~kernelrank.metrics.precision_at`, :func:`~kernelrank.metrics.reciprocal_rank`
and :func:`~kernelrank.metrics.err`, which are 0 where nothing relevant is found: their default is 0. Means can be
compared only if they treat such queries alike. ``docs/ndcg.md`` shows how to reproduce the values of other programs.

**Ties.** Rows of a query with equal scores have no order. `ties` chooses the order to assume:

- ``ties=0.5``, the default: all orders are equally likely, and the result is the exact expected value over them, in
  closed form;
- ``ties=1``: the order that maximises the metric;
- ``ties=0``: the order that minimises the metric;
- ``ties="ordinal"``, for metrics of positions: the order in which the rows are given, as in most other programs. The
  result then depends on that order.

In metrics of pairs, `ties` is the value of a pair with equal scores and may be any number from 0 to 1; the values 0,
0.5 and 1 have the meaning given above. (:func:`~kernelrank.metrics.pairwise_error` is an error, so there 1 is the worst
case.) :func:`~kernelrank.metrics.kendall_tau` follows the definition of tau-b instead.

:func:`~kernelrank.metrics.pair_accuracy` compares scores with given pairs instead of true values.

:func:`~kernelrank.metrics.f_score` and :func:`~kernelrank.metrics.best_f_score` evaluate binary decisions instead of an
order. They use one threshold for all rows, have no queries, and count a score equal to the threshold as below it.
:func:`~kernelrank.metrics.threshold_at_rate` computes a threshold from the expected share of positive rows.

Utilities may be censored, as in survival analysis: with ``observed=``, :func:`~kernelrank.metrics.concordance_index`,
:func:`~kernelrank.metrics.pairwise_error` and :func:`~kernelrank.metrics.kendall_tau` compare only pairs whose order is
known, and :func:`~kernelrank.metrics.cumulative_dynamic_auc` evaluates who is gone by a time.

The running time is O(m log m) for m rows, independent of the number of queries (see :func:`~kernelrank.metrics.err` for
the cost of ties).

:func:`~kernelrank.metrics.auc_interval` and :func:`~kernelrank.metrics.concordance_interval` compute confidence
intervals, and :func:`~kernelrank.metrics.compare_scores` tests whether one scorer is better than another.
"""

from kernelrank.metrics._auc import auc
from kernelrank.metrics._cascade import err, reciprocal_rank
from kernelrank.metrics._comparison import Comparison, ScorerDifference, compare_scores
from kernelrank.metrics._concordance import concordance_index, kendall_tau, pairwise_error
from kernelrank.metrics._decisions import Decision, best_f_score, f_score, threshold_at_rate
from kernelrank.metrics._gain import ndcg
from kernelrank.metrics._intervals import AUCInterval, ConcordanceInterval, auc_interval, concordance_interval
from kernelrank.metrics._pairs import pair_accuracy
from kernelrank.metrics._relevance import average_precision, precision_at
from kernelrank.metrics._scorer import RankingScorer, make_ranking_scorer
from kernelrank.metrics._time_dependent import TimeDependentAUC, cumulative_dynamic_auc

__all__ = [
    "AUCInterval",
    "Comparison",
    "ConcordanceInterval",
    "Decision",
    "RankingScorer",
    "ScorerDifference",
    "TimeDependentAUC",
    "auc",
    "auc_interval",
    "average_precision",
    "best_f_score",
    "compare_scores",
    "concordance_index",
    "concordance_interval",
    "cumulative_dynamic_auc",
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
