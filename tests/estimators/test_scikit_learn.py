"""The estimators as scikit-learn citizens."""

import pytest
from array_checks import run_with_host_attributes
from covering import PROFILE
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    GreedyRLS,
    MaxMarginClustering,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.kernels import Gaussian
from kernelrank.model_selection import FScoreClassifier

EQUIVALENCE = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
# The checks call partial_fit without queries, where rows join one ranking.
ROWS_JOIN_BY_A_REFIT = {
    "check_fit_score_takes_y": "what its pairs count changes for every row",
    "check_n_features_in_after_fitting": "what its pairs count changes for every row",
}


IN_SEVERAL_FOLDS = dict.fromkeys(
    EQUIVALENCE, "a row that is repeated can be in several folds, one with a weight cannot"
)
ANOTHER_DRAW = dict.fromkeys(EQUIVALENCE, "which rows are drawn for the basis depends on their number")


def expected_failures(estimator):
    if isinstance(estimator, FScoreClassifier):
        return IN_SEVERAL_FOLDS
    counts = isinstance(estimator, RankRLS) and (estimator.ties == "drop" or estimator.cost == "unit")
    if getattr(estimator, "n_basis", None) is not None:
        return ANOTHER_DRAW
    return ROWS_JOIN_BY_A_REFIT if counts else {}


# Every class, and every option that scikit-learn's checks can tell from its default.
CONFIGURATIONS = [
    RankSVM(),
    RankSVM(loss="squared_hinge", positive=True, tol=1e-10, query_weighting="pair", n_jobs=2),
    # Within the default gap, weights and repeated rows may end at other solutions than the checks of weights allow.
    RankSVMCV(alphas=3, cv=3, tol=1e-12),
    RLS(kernel=Gaussian(0.5)),
    RankRLS(ties="drop", query_weighting="pair"),
    RLSCV(alphas=4),
    RankRLSCV(alphas=4, kernel=["linear", Gaussian(0.5)]),
    GreedyRLS(),
    GreedyRankRLS(1, cv=3, query_weighting="pair"),
    MaxMarginClustering(),
    FScoreClassifier(RankSVM(), threshold="rate", cv=3),
]
MORE_CONFIGURATIONS = [
    RankSVM(query_weighting="pair", n_jobs=2),
    RankSVM(loss="squared_hinge"),
    RankSVM(loss="squared_hinge", positive=True, tol=1e-10),
    RankSVMCV(alphas=4, cv=3, loss="squared_hinge", tol=1e-10),
    RLS(),
    RankRLS(),
    RankRLS(kernel=Gaussian(0.5)),
    RankRLS(kernel="gaussian", n_basis=1),
    RankRLS(cost="unit"),
    RankRLS(solver="cg", tol=1e-12),
    RankRLSCV(alphas=4),
    GreedyRLS(1),
    GreedyRankRLS(),
    MaxMarginClustering(kernel=Gaussian(0.5), n_basis=9),
    FScoreClassifier(),
]


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks(
    CONFIGURATIONS + ([] if PROFILE == "fast" else MORE_CONFIGURATIONS), expected_failed_checks=expected_failures
)
def test_estimator_checks(estimator, check):
    if isinstance(estimator, RLSCV | RankRLSCV):
        run_with_host_attributes(check, estimator)
    else:
        check(estimator)
