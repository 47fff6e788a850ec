"""The estimators as scikit-learn citizens."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import RLS, RLSCV, GreedyRankRLS, GreedyRLS, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.kernels import Gaussian
from kernelrank.model_selection import FScoreClassifier

# Where a path of cutting planes ends inside its tolerance depends on the last bit of the weights.
WITHIN_THE_GAP = {
    "check_sample_weight_equivalence_on_dense_data": "both solutions are right within the certified gap",
    "check_sample_weight_equivalence_on_sparse_data": "both solutions are right within the certified gap",
}
# The checks call partial_fit without queries, where rows join one ranking.
ROWS_JOIN_BY_A_REFIT = {
    "check_fit_score_takes_y": "what its pairs count changes for every row",
    "check_n_features_in_after_fitting": "what its pairs count changes for every row",
}


IN_SEVERAL_FOLDS = dict.fromkeys(
    WITHIN_THE_GAP, "a row that is repeated can be in several folds, one with a weight cannot"
)
ANOTHER_DRAW = dict.fromkeys(WITHIN_THE_GAP, "which rows are drawn for the basis depends on their number")


def expected_failures(estimator):
    if isinstance(estimator, RankSVMCV) and estimator.loss == "hinge":
        return WITHIN_THE_GAP
    if isinstance(estimator, FScoreClassifier):
        return IN_SEVERAL_FOLDS
    counts = isinstance(estimator, RankRLS) and (estimator.ties == "drop" or estimator.cost == "unit")
    if getattr(estimator, "n_basis", None) is not None:
        return ANOTHER_DRAW
    return ROWS_JOIN_BY_A_REFIT if counts else {}


@parametrize_with_checks(
    [
        RankSVM(),
        RankSVM(query_weighting="pair", n_jobs=2),
        RankSVM(loss="squared_hinge"),
        RankSVM(loss="squared_hinge", positive=True, tol=1e-10),
        RankSVMCV(alphas=4, cv=3, loss="squared_hinge", tol=1e-10),
        RankSVMCV(alphas=4, cv=3),
        RLS(),
        RLS(kernel=Gaussian(0.5)),
        RankRLS(),
        RankRLS(ties="drop", query_weighting="pair"),
        RankRLS(kernel=Gaussian(0.5)),
        RankRLS(kernel="gaussian", n_basis=1),
        RankRLS(cost="unit"),
        RankRLS(solver="cg", tol=1e-12),
        RLSCV(alphas=4),
        RankRLSCV(alphas=4),
        RankRLSCV(alphas=4, kernel=["linear", Gaussian(0.5)]),
        GreedyRLS(),
        GreedyRLS(1),
        GreedyRankRLS(),
        GreedyRankRLS(1, cv=3, query_weighting="pair"),
        FScoreClassifier(),
        FScoreClassifier(RankSVM(), threshold="rate", cv=3),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_checks(estimator, check):
    check(estimator)
