"""Grids of alpha go on while the score improves, and say so where they end too early."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernelrank import RLSCV, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.estimators._alphas import AlphaGrid, warn_at_end
from kernelrank.exceptions import ConvergenceWarning, PathEndWarning
from kernelrank.kernels import Gaussian

pytestmark = pytest.mark.filterwarnings("error::kernelrank.exceptions.PathEndWarning")


def scaled(rng, m=150, n=5):
    """Return columns of scales 0.02 to 50 that matter alike."""
    X = rng.normal(size=(m, n))
    return X * np.geomspace(0.02, 50.0, n), X.sum(axis=1) + 0.3 * rng.normal(size=m)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_features_that_were_not_scaled(load):
    X_train, X_test, y_train, y_test = train_test_split(*load(return_X_y=True), random_state=0)
    model = RankSVMCV().fit(X_train, y_train)
    assert len(model.alphas_) > 20
    ratios = model.alphas_[1:] / model.alphas_[:-1]
    np.testing.assert_allclose(ratios, 1e-4 ** (1 / 19), rtol=1e-9)
    assert model.alpha_ > model.alphas_[-1]
    # Four decades gave 0.837 and 0.986 where the default alpha gives 0.990 and 0.996.
    assert model.score(X_test, y_test) > RankSVM().fit(X_train, y_train).score(X_test, y_test) - 0.005


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_number_of_alphas_is_where_a_path_begins(rng, loss):
    X, y = scaled(rng)
    few, many = (RankSVMCV(n, cv=3, loss=loss).fit(X, y) for n in (5, 12))
    for model in (few, many):
        assert model.alphas_[-1] < 1e-5 * model.alphas_[0]
        assert model.scores_.shape == (len(model.alphas_), 3)
        assert model.coef_path_.shape == (len(model.alphas_), 5)
        assert model.scores_.mean(axis=1).max() > 0.85
        assert model.alpha_ == model.alphas_[np.argmax(model.scores_.mean(axis=1))]


def test_a_path_that_goes_on_is_the_path_of_all_its_alphas(rng):
    X, y = scaled(rng)
    settings = {"cv": 3, "tol": 1e-6, "max_iter": 5000}
    model = RankSVMCV(6, **settings).fit(X, y)
    whole = RankSVMCV(model.alphas_, **settings).fit(X, y)
    np.testing.assert_allclose(model.scores_, whole.scores_, atol=0.003)  # solutions within tol of each other
    assert (model.gaps_ <= model.tol).all()


def test_features_of_one_scale_cost_nothing_more(rng):
    X, y = scaled(rng)
    model = RankSVMCV(9).fit(StandardScaler().fit_transform(X), y)
    assert len(model.alphas_) <= 11  # a decade beyond the four, at most


def test_a_large_column_of_noise_hides_the_others_for_a_while(rng):
    """The first decades order by the noise alone, each alpha in the same way."""
    X = rng.normal(size=(120, 2))
    y = X[:, 1] + 0.1 * rng.normal(size=120)
    model = RankSVMCV(9, cv=3).fit(X * [1e4, 1.0], y)
    assert (np.ptp(model.scores_[:9], axis=0) == 0).all()
    assert model.scores_.mean(axis=1).max() > 0.9


def test_a_path_ends_where_fits_do_not_converge(rng):
    X, y = scaled(rng)
    with pytest.warns() as caught:
        model = RankSVMCV(9, cv=3, max_iter=7).fit(X, y)
    assert {each.category for each in caught} == {ConvergenceWarning, PathEndWarning}
    assert len(model.alphas_) < len(RankSVMCV(9, cv=3).fit(X, y).alphas_)


def test_the_bound(rng):
    X = rng.normal(size=(60, 2)) * [1e9, 1e-9]
    model = RankSVMCV(13, cv=3, max_iter=50).fit(X, X[:, 1])
    assert len(model.alphas_) == 37  # three in a decade, over twelve, and the first
    np.testing.assert_allclose(model.alphas_[-1], 1e-12 * model.alphas_[0])


# Ends


@pytest.mark.parametrize("model", [RankSVMCV, RankRLSCV, RLSCV])
def test_given_alphas_are_not_extended_but_warned_about(rng, model):
    X, y = scaled(rng)
    with pytest.warns(
        PathEndWarning, match=r"1, is the smallest of the 3 that were tried.*Pass smaller ones"
    ) as caught:
        fitted = model([1.0, 10.0, 100.0], cv=3).fit(X, y)
    assert [each.filename for each in caught] == [__file__]
    np.testing.assert_array_equal(fitted.alphas_, [100.0, 10.0, 1.0])
    assert fitted.alpha_ == 1.0


def test_a_larger_alpha_is_asked_for_where_it_would_make_a_difference(rng):
    X = rng.normal(size=(60, 40))
    y = X.sum(axis=1) + 8 * rng.normal(size=60)  # the mean of the pairs is about the best direction
    largest = RankSVMCV(5, cv=6).fit(X, y).alphas_[0]
    with pytest.warns(PathEndWarning, match=r"is the largest of the 2.*Pass larger ones"):
        RankSVMCV(largest * np.array([0.1, 1e-5]), cv=6).fit(X, y)
    # Above the first alpha of a grid all directions are the same: there is nothing to warn of.
    model = RankSVMCV(largest * np.array([4.0, 1e-5]), cv=6).fit(X, y)
    assert model.alpha_ == model.alphas_[0]


def test_one_alpha_has_no_end(rng):
    RankSVMCV([1e-3], cv=3).fit(*scaled(rng))


def test_least_squares_go_on_as_well(rng):
    X = rng.normal(size=(150, 5)) * np.geomspace(1e-5, 1e4, 5)
    y = (X / np.geomspace(1e-5, 1e4, 5)).sum(axis=1) + 0.3 * rng.normal(size=150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PathEndWarning)  # twelve decades do not reach the smallest column
        ranker, values = RankRLSCV(9, cv=3).fit(X, y), RLSCV(9).fit(X, y)
    for model in (ranker, values):
        assert len(model.alphas_) > 9
        assert model.scores_.shape[0] == len(model.alphas_)
    single = RLSCV([values.alpha_]).fit(X, y)
    np.testing.assert_allclose(values.held_out_, single.held_out_)


def test_only_the_kernel_that_was_chosen_is_warned_about():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.hypot(*X.T) + 0.3 * rng.normal(size=80)
    alphas = {"alphas": [1e-6, 1e-3, 1e-1, 1.0], "cv": 4}
    for kind in (RankRLSCV, RankSVMCV):
        alone = kind(**alphas, kernel=Gaussian(1.0)).fit(X, y)
        with pytest.warns(PathEndWarning):
            kind(**alphas, kernel=Gaussian(1e-4)).fit(X, y)
        both = kind(**alphas, kernel=[Gaussian(1e-4), Gaussian(1.0)]).fit(X, y)
        np.testing.assert_array_equal(both.scores_, alone.scores_)


# The rules


def test_a_grid_goes_on_by_decades():
    grid = AlphaGrid(9, lambda: 100.0, 4.0)
    np.testing.assert_allclose(grid.first, 100 * np.logspace(0, -4, 9))
    rising = np.linspace(0.5, 0.9, 9)
    np.testing.assert_allclose(grid.further(grid.first, rising), 1e-2 * np.logspace(-0.5, -1, 2))
    assert len(grid.further(grid.first, rising[::-1])) == 0
    assert len(grid.further(grid.first, np.full(9, 0.7))) == 2  # nothing has made a difference yet
    chance = np.full(9, 0.7)
    chance[-1] += 0.0005
    assert len(grid.further(grid.first, chance)) == 0
    bound = 100 * np.logspace(0, -12, 25)
    assert len(grid.further(bound, np.linspace(0, 1, 25))) == 0
    assert len(AlphaGrid([3.0, 1.0], lambda: 1.0, 4.0).further(np.array([3.0, 1.0]), np.array([0.0, 1.0]))) == 0


@pytest.mark.parametrize(
    ("means", "text"),
    [
        ([0.5, 0.6, 0.7], "smallest"),
        ([0.7, 0.6, 0.5], "largest"),
        ([0.5, 0.7, 0.6], None),
        ([0.7, 0.7, 0.7], None),
        ([0.5, 0.7, 0.7005], None),  # as good as its neighbour
        ([-5.0, -3.0, -1.0], "smallest"),  # errors have a sign
    ],
)
def test_ends(means, text):
    alphas = np.array([1.0, 0.1, 0.01])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_at_end(alphas, np.array(means), goes_on=True, limit=lambda: 10.0)
    assert [text] * (text is not None) == [text for each in caught if text in str(each.message)]
    assert len(caught) == (text is not None)
