"""The estimators as scikit-learn citizens."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import RLS, RLSCV, GreedyRankRLS, GreedyRLS, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.kernels import Gaussian

# Where a path of cutting planes ends inside its tolerance depends on the last bit of the weights.
WITHIN_THE_GAP = {
    "check_sample_weight_equivalence_on_dense_data": "both solutions are right within the certified gap",
    "check_sample_weight_equivalence_on_sparse_data": "both solutions are right within the certified gap",
}


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
        RankRLS(solver="cg", tol=1e-12),
        RLSCV(alphas=4),
        RankRLSCV(alphas=4),
        GreedyRLS(),
        GreedyRLS(1),
        GreedyRankRLS(),
        GreedyRankRLS(1, cv=3, query_weighting="pair"),
    ],
    expected_failed_checks=lambda estimator: (
        WITHIN_THE_GAP if isinstance(estimator, RankSVMCV) and estimator.loss == "hinge" else {}
    ),
)
def test_estimator_checks(estimator, check):
    check(estimator)
