import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from kernelrank import RankRLS, RankSVM
from kernelrank.datasets import load_apartments
from kernelrank.model_selection import coef_intervals
from kernelrank.pipelines import make_table_ranker
from kernelrank.plots import CoefficientDisplay

Figure = pytest.importorskip("matplotlib.figure").Figure
pd = pytest.importorskip("pandas")


@pytest.fixture
def frame(rng):
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "c", "d"])
    return X, X.to_numpy() @ [1.0, -3.0, 0.1, 0.5] + rng.normal(size=60)


def drawn(display):
    """Return the names and lengths of the bars."""
    ax = display.ax_
    return [label.get_text() for label in ax.get_yticklabels()], [bar.get_width() for bar in ax.patches]


def plot(*arguments, **options):
    return CoefficientDisplay.from_estimator(*arguments, ax=Figure().subplots(), **options)


def test_bars_are_coefficients_largest_first(frame):
    model = RankSVM().fit(*frame)
    display = plot(model)
    names, lengths = drawn(display)
    assert sorted(names) == list("abcd")
    assert names[0] == "b"
    np.testing.assert_array_equal(lengths, model.coef_[[list("abcd").index(name) for name in names]])
    assert np.all(np.diff(np.abs(lengths)) <= 0)
    hatches = [bar.get_hatch() for bar in display.ax_.patches]
    assert [hatch is not None for hatch in hatches] == [length < 0 for length in lengths]
    assert display.ax_.yaxis_inverted()
    assert display.ax_.get_title() == ""
    low, high = display.ax_.get_xlim()
    assert low < min(lengths) < 0 < max(lengths) < high


def test_the_smallest_are_left_out(frame):
    model = RankSVM().fit(*frame)
    display = plot(model, max_bars=2)
    assert drawn(display)[1] == sorted(model.coef_, key=abs)[:1:-1]
    assert display.ax_.get_title() == "largest 2 of 4"


def test_names_of_columns(frame):
    X, y = frame
    plain = RankSVM().fit(X.to_numpy(), y)
    assert sorted(drawn(plot(plain))[0]) == ["x0", "x1", "x2", "x3"]
    assert drawn(plot(plain, list("pqrs")))[0][0] == "q"
    assert drawn(plot(RankSVM().fit(X, y), list("pqrs")))[0][0] == "q"
    scaled = make_pipeline(StandardScaler(), RankSVM()).fit(X.to_numpy(), y)
    assert drawn(plot(scaled, list("pqrs")))[0][0] == "q"
    assert sorted(drawn(plot(RankSVM().fit(sp.csr_array(X.to_numpy()), y)))[0]) == ["x0", "x1", "x2", "x3"]


def test_names_through_pipelines_and_searches(frame):
    X, y = frame
    X = X.assign(e=np.where(X["a"] > 0, "warm", "cold"))
    columns = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["e"]))
    search = GridSearchCV(make_pipeline(columns, RankRLS()), {"rankrls__alpha": [0.1, 1.0]}, cv=2).fit(X, y)
    names, lengths = drawn(plot(search))
    model = search.best_estimator_
    expected = dict(zip(model[:-1].get_feature_names_out(), model[-1].coef_, strict=True))
    assert len(names) == 4
    assert "onehotencoder__e_warm" in names
    for name, length in zip(names, lengths, strict=True):
        assert length == pytest.approx(expected[name])


def test_names_of_a_table():
    table = load_apartments()
    X, y = table.X, table.y
    model = make_table_ranker(X).fit(X, y)
    display = plot(model, max_bars=1000)
    assert set(display.names) >= {str(name) for name in model[0].get_feature_names_out()}


def test_names_that_cannot_be_followed(frame):
    X, y = frame
    model = make_pipeline(FunctionTransformer(np.square), RankSVM()).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="feature_names cannot be followed through the transformers"):
        plot(model)
    with pytest.raises(ValueError, match="feature_names cannot be followed"):
        plot(make_pipeline(StandardScaler(), RankSVM()).fit(X, y), list("pqrs"))
    with pytest.raises(ValueError, match="feature_names must name 4 coefficients, got 3 names"):
        plot(RankSVM().fit(X, y), list("pqr"))


def test_intervals(frame):
    X, y = frame
    model = make_pipeline(StandardScaler(), RankSVM(alpha=0.01)).fit(X, y)
    found = coef_intervals(model, X, y, cv=4)
    display = plot(model, intervals=found)
    order = np.argsort(-np.abs(found.coef))
    segments = display.ax_.collections[0].get_segments()
    np.testing.assert_array_equal([[a[0], b[0]] for a, b in segments], np.stack((found.low, found.high), 1)[order])
    assert drawn(display)[0] == [list("abcd")[k] for k in order]
    alone = CoefficientDisplay.from_result(found, list("abcd"), ax=Figure().subplots())
    assert drawn(alone) == drawn(display)
    low, high = display.ax_.get_xlim()
    assert low < found.low.min()
    assert found.high.max() < high
    with pytest.raises(ValueError, match="intervals must be of the coefficients of this estimator"):
        plot(RankSVM(alpha=10.0).fit(X, y), intervals=found)
    with pytest.raises(ValueError, match="intervals must be of the coefficients of this estimator"):
        plot(RankSVM().fit(X[["a", "b"]], y), intervals=found)
    with pytest.raises(TypeError, match=r"intervals must be what .*coef_intervals returns, got tuple"):
        plot(model, intervals=(1, 2))


def test_several_outputs_and_other_packages(frame):
    X, y = frame
    model = RankRLS().fit(X, np.column_stack((y, -y)))
    np.testing.assert_allclose(drawn(plot(model, output=0))[1], -np.array(drawn(plot(model, output=1))[1]))
    with pytest.raises(ValueError, match="RankRLS has 2 outputs: pass output=0"):
        plot(model)
    logistic = LogisticRegression().fit(X, y > 0)
    assert sorted(drawn(plot(logistic))[1]) == sorted(logistic.coef_[0])


def test_zero_coefficients():
    display = CoefficientDisplay(["a", "b"], [0.0, 0.0]).plot(ax=Figure().subplots())
    low, high = display.ax_.get_xlim()
    assert low < 0 < high


def test_nothing_to_draw(frame):
    X, y = frame
    with pytest.raises(NotFittedError):
        plot(RankSVM())
    with pytest.raises(TypeError, match=r"estimator must have coef_.*got RankRLS.*ExplanationDisplay"):
        plot(RankRLS(kernel="gaussian").fit(X, y))
    with pytest.raises(ValueError, match="coef is empty"):
        CoefficientDisplay([], [])
    with pytest.raises(ValueError, match="coef"):
        CoefficientDisplay(["a"], [np.nan])
    with pytest.raises(ValueError, match="low and high must be given together"):
        CoefficientDisplay(["a"], [1.0], low=[0.5])
    with pytest.raises(TypeError, match=r"result must be what .*coef_intervals returns, got dict"):
        CoefficientDisplay.from_result({})
