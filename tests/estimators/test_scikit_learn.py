"""RankSVM as a scikit-learn citizen."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import RankSVM


@parametrize_with_checks([RankSVM(), RankSVM(query_weighting="pair", n_jobs=2)])
def test_estimator_checks(estimator, check):
    check(estimator)
