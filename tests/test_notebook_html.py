"""HTML of results and fitted estimators: its numbers, what it escapes, how large it is, and when there is none."""

import pickle
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import kernelrank as kr
from kernelrank._html import number
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.inspection import Explanation, audit_pairs, explain, learning_curve
from kernelrank.metrics import Comparison, ScorerDifference, compare_scores, make_ranking_scorer
from kernelrank.model_selection import (
    Estimate,
    FScoreClassifier,
    PermutationTest,
    compare,
    estimate_auc,
    estimate_concordance,
    permutation_test,
    tournament_roc,
)
from kernelrank.persistence import load_model, load_svmlight_model, save_model, save_svmlight_model
from kernelrank.pipelines import make_query_pipeline, make_table_ranker
from kernelrank.relational import KroneckerRLS, KroneckerRLSCV

HOSTILE = "<script>alert(1)</script>\"'&<!--"
BEGIN = '<div class="kernelrank">'


class Shown:
    """The part of some HTML that is kernelrank's, parsed: tables as dictionaries, and pictures."""

    def __init__(self, html):
        self.html = html[html.index(BEGIN) :]
        self.root = ET.fromstring(self.html.replace("\u00a0", " "))  # fails unless it is well-formed
        self.text = " ".join(" ".join(self.root.itertext()).split())
        self.tables = {}
        for table in self.root.iter("table"):
            cells = [["".join(cell.itertext()) for cell in row if cell.tag != "svg"] for row in table.iter("tr")]
            self.tables[table.find("caption").text] = {name: rest for name, *rest in cells}
        self.pictures = list(self.root.iter("svg"))

    @property
    def facts(self):
        [table] = self.tables.values()
        return {name: value for name, [value] in table.items()}

    @property
    def labels(self):
        """Return the text alternatives of pictures; others must be marked as mere illustrations."""
        labelled = [each for each in self.pictures if each.get("aria-hidden") != "true"]
        for each in labelled:
            assert each.get("role") == "img"
            assert each.find("title").text == each.get("aria-label")
        return [each.get("aria-label") for each in labelled]


def html_of(thing):
    """Return the HTML that a notebook shows; both protocols must agree, up to the numbers that scikit-learn counts."""
    html = thing._repr_html_()
    if hasattr(thing, "_repr_mimebundle_"):
        bundle = thing._repr_mimebundle_(include=None, exclude=None)
        assert bundle["text/plain"] == repr(thing)
        assert without_ids(bundle["text/html"]) == without_ids(html)
    return html


def without_ids(html):
    return re.sub(r"sk-(container|estimator)-id-\d+", "id", html)


def shown(thing):
    return Shown(html_of(thing))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["age", HOSTILE, "dose", "weight"])
    return X, X.to_numpy() @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=60)


@pytest.fixture(scope="module")
def classes(data):
    X, y = data
    return X[:30], y[:30] > 0


def fitted_models(X, y):
    qid = np.arange(len(y)) // 6
    levels = np.array(["low", "<i>", "high"])
    rng = np.random.default_rng(1)
    U, V, Y = rng.normal(size=(8, 2)), rng.normal(size=(9, 3)), rng.normal(size=(8, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            kr.RankSVM().fit(X, y),
            kr.RankSVM(loss="squared_hinge").fit(X, y, qid=qid),
            kr.RankSVM(kernel="gaussian", max_iter=3).fit(X, y),
            kr.RankSVM().fit_pairs(X, [[0, 1], [2, 3], [1, 2]]),
            kr.OrdinalSVM(classes=levels).fit(X, levels[np.digitize(y, [-1, 1])]),
            kr.RankSVMCV(4, cv=3).fit(X, y, sample_weight=np.full(60, 0.5)),
            kr.RankSVMCV([0.1], cv=2, kernel=["linear", "gaussian"], scoring="pairwise_error").fit(X, y),
            kr.RankRLS().fit(X, y),
            kr.RankRLS(solver="cg").fit(X, y),
            kr.RankRLSCV(3, scoring="ndcg@5:gain=linear", cv=2).fit(X, y - y.min()),
            kr.RLSCV(3).fit(X, y),
            kr.GreedyRLS(3).fit(X, y),
            kr.GreedyRankRLS(2).fit(X, y, qid=qid),
            kr.MaxMarginClustering().fit(X),
            kr.RankingClassifier(make_pipeline(StandardScaler(), kr.RankSVM())).fit(X, np.digitize(y, [0])),
            FScoreClassifier(kr.RankRLS()).fit(X, y > 0),
            make_query_pipeline(StandardScaler(), kr.RankSVM()).fit(X.assign(qid=qid), y),
            KroneckerRLS().fit(U, V, Y),
            KroneckerRLSCV(3).fit(U, V, Y),
        ]


@pytest.fixture(scope="module")
def models(data):
    return fitted_models(*data)


def results(X, y, rows, levels):
    model = kr.RankSVM().fit(X, y)
    ridge = kr.RankRLS()
    return [
        estimate_auc(ridge, rows, levels),
        estimate_concordance(ridge, X, y, qid=np.arange(60) // 6),
        permutation_test(ridge, rows, levels, n_permutations=50),
        tournament_roc(ridge, rows, levels),
        compare({HOSTILE: ridge, "plain": kr.RLS()}, X, y),
        compare_scores(y, {"a": X["age"], "b": X["dose"]}),
        explain(model, X.iloc[0], X.iloc[1]),
        explain(model, X.iloc[0], X.iloc[0]),
        learning_curve(model, X, y, sizes=[0.5, 1.0], cv=2, verbose=0),
        learning_curve(model, X, y, sizes=[2, 3], cv=2, qid=np.arange(60) // 6, verbose=0),
        audit_pairs([["tea", HOSTILE], [HOSTILE, "tea"], ["tea", "milk"]]),
        audit_pairs([["tea", "milk"]]),
    ]


@pytest.fixture(scope="module")
def found(data, classes):
    return results(*data, *classes)


def test_all_of_it_is_well_formed_labelled_small_and_escaped(models, found):
    for each in [*models, *found]:
        part = shown(each)
        assert len(part.labels) <= 2
        assert len(part.html) < 10_000
        tags = {element.tag for element in part.root.iter()}
        assert not tags & {"script", "i", "img", "b"}
        # Text has the colour of the notebook, and nothing covers its background.
        assert "color:inherit" in part.html
        assert "currentColor" in part.html
        assert not re.search("background|:white|#fff|:black|#000", part.html)


def test_it_is_below_the_diagram_of_scikit_learn(models):
    for model in models:
        html = without_ids(html_of(model))
        assert html[: html.index(BEGIN)] == without_ids(estimator_html_repr(model))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_the_certificate_of_a_fit(data, loss, kernel):
    X, y = data
    model = kr.RankSVM(loss=loss, kernel=kernel).fit(X, y)
    part = shown(model)
    assert list(part.tables) == ["Fit of RankSVM"]
    assert part.facts == {
        "objective": number(model.objective_, 6),
        "proven gap to the optimum": f"at most {number(model.gap_, 3)}",
        "gap that tol asks for": f"{number(float(model.history_['goal'][-1]), 3)}, reached",
        "iterations": f"{model.n_iter_}",
        "comparable pairs": "1,770",
    }
    [label] = part.labels
    assert f"in {model.n_iter_} iterations" in label
    assert {"objective", "lower bound", "iteration"} <= {text.text for text in part.root.iter("text")}


def test_a_fit_that_misses_its_tolerance_says_so(data):
    with pytest.warns(ConvergenceWarning):
        model = kr.RankSVM(max_iter=2).fit(*data)
    facts = shown(model).facts
    assert facts["gap that tol asks for"].endswith(", not reached")
    assert facts["proven gap to the optimum"] == f"at most {number(model.gap_, 3)}"


def test_bounds_are_drawn_as_they_are(data):
    model = kr.RankSVM().fit(*data)
    upper, lower = model.history_["upper_bound"], model.history_["lower_bound"]
    lines = [line.get("points") for line in shown(model).root.iter("polyline")]
    drawn = [np.array([point.split(",") for point in line.split()], dtype=float) for line in lines]
    (left, right), (top, bottom) = ([each[:, k] for each in drawn] for k in (0, 1))
    np.testing.assert_array_equal(left, right)
    slope, level = np.polyfit(np.concatenate([upper, lower]), np.concatenate([top, bottom]), 1)
    assert slope < 0  # up is more
    np.testing.assert_allclose(slope * upper + level, top, atol=0.1)
    np.testing.assert_allclose(slope * lower + level, bottom, atol=0.1)


def test_the_choice_of_alpha(data):
    model = kr.RankSVMCV(6, cv=3).fit(*data)
    part = shown(model)
    scores = model.scores_[list(model.alphas_).index(model.alpha_)]
    facts = part.facts
    assert facts["chosen alpha"].startswith(f"{number(model.alpha_)} of {len(model.alphas_)} from ")
    assert facts["held-out concordance"] == (
        f"{number(scores.mean())}, standard deviation {number(scores.std(), 2)} over 3 folds"
    )
    assert facts["largest gap of all alphas"] == number(model.gaps_.max(), 3)
    assert facts["gap that tol asks for"].endswith(", reached")
    assert facts["comparable pairs"] == "1,770"
    titles = [each.find("title").text for each in part.root.iter("circle")]
    means = model.scores_.mean(axis=1)
    assert set(titles) == {f"{number(a)}: {b:.3f}" for a, b in zip(model.alphas_, means, strict=True)}
    assert len(titles) == len(model.alphas_)
    assert f"best at {number(model.alpha_)}" in part.labels[0]


@pytest.mark.parametrize(
    ("scoring", "name"),
    [(None, "concordance"), ("pairwise_error", "minus pairwise_error"), ("ndcg@3:gain=linear", "ndcg@3:gain=linear")],
)
def test_the_metric_of_a_search_is_named(data, scoring, name):
    X, y = data
    model = kr.RankSVMCV([0.1, 1.0], cv=2, scoring=scoring).fit(X, y - y.min())
    assert f"held-out {name}" in shown(model).facts


def test_objects_and_functions_that_score_are_named(data):
    X, y = data

    def shares_top(y_true, y_score, qid=None):
        return float(np.argmax(y_true) == np.argmax(y_score))

    model = kr.RankSVMCV([0.1, 1.0], cv=2, scoring=shares_top).fit(X, y)
    assert "held-out shares_top" in shown(model).facts
    model = kr.RankSVMCV([0.1, 1.0], cv=2, scoring=make_ranking_scorer("kendall")).fit(X, y)
    assert "held-out make_ranking_scorer('kendall_tau')" in shown(model).facts
    assert "held-out minus squared error" in shown(kr.RLSCV(2).fit(X, y)).facts


def test_folds_without_a_score_are_left_out(data):
    X, y = data
    model = kr.RankSVMCV(4, cv=3).fit(X, y)
    model.scores_[1, 0] = np.nan
    kept = model.scores_[list(model.alphas_).index(model.alpha_), 1:]
    value = f"{number(kept.mean())}, standard deviation {number(kept.std(), 2)} over 2 folds"
    assert shown(model).facts["held-out concordance"] == value
    model.scores_[:] = np.nan
    part = shown(model)
    assert "held-out concordance" not in part.facts
    assert not part.pictures


def test_closed_forms_and_conjugate_gradients(data):
    X, y = data
    assert shown(kr.RankRLS().fit(X, y)).facts == {"solved": "in closed form"}
    model = kr.RankRLS(solver="cg").fit(X, y)
    assert shown(model).facts == {"solved": f"by conjugate gradients, in {model.n_iter_} iterations"}


def test_selected_features_are_named_and_escaped(data):
    X, y = data
    facts = shown(kr.GreedyRLS(3).fit(X, y)).facts
    assert facts["in this order"].startswith(f"{HOSTILE}, ")
    assert facts["selected"] == "3 features of 4"
    assert shown(kr.GreedyRLS(2).fit(X.to_numpy(), y)).facts["in this order"].startswith("1, ")


def test_thresholds_between_classes(models):
    model = next(each for each in models if isinstance(each, kr.OrdinalSVM))
    low, high = (number(each, 3) for each in model.thresholds_.tolist())
    assert shown(model).facts["thresholds"] == f"low < {low} < <i> < {high} < high"


def test_many_thresholds_are_counted_above_the_wrapped_model(data):
    X, y = data
    model = kr.RankingClassifier(kr.RankSVM()).fit(X, np.digitize(y, np.linspace(-2, 2, 12)))
    tables = shown(model).tables
    low, high = number(model.thresholds_[0], 3), number(model.thresholds_[-1], 3)
    assert tables["Fit of RankingClassifier"] == {"thresholds": [f"{len(model.thresholds_)} from {low} to {high}"]}
    assert "objective" in tables["Fit of RankSVM"]


def test_the_last_step_of_a_query_pipeline_is_shown(data):
    X, y = data
    table = X.assign(qid=np.arange(60) // 6)
    scaled = make_query_pipeline(StandardScaler(), kr.RankSVM())
    for model in (scaled, make_table_ranker(table, min_frequency=2)):
        assert BEGIN not in html_of(model)
        model.fit(table, y)
        assert shown(model).facts == shown(model[-1]).facts
    without = make_table_ranker(X, min_frequency=2).fit(X, y)
    assert shown(without).facts == shown(without[-1]).facts
    other = make_query_pipeline(StandardScaler(), kr.RankRLSCV(3)).fit(table, y)
    assert "chosen alpha" in shown(other).facts


def test_a_wrapped_model_is_shown_below_its_thresholds(data):
    X, y = data
    model = kr.RankingClassifier(make_pipeline(StandardScaler(), kr.RankSVM())).fit(X, np.digitize(y, [0]))
    part = shown(model)
    assert list(part.tables) == ["Fit of RankingClassifier", "Fit of RankSVM"]
    inner = model.ranker_[-1]
    assert part.tables["Fit of RankSVM"]["objective"] == [number(inner.objective_, 6)]


def test_nothing_is_shown_before_a_fit(models):
    unfitted = [type(model)() for model in models if type(model).__name__ not in ("QueryPipeline", "FScoreClassifier")]
    for model in [*unfitted, FScoreClassifier(kr.RankRLS()), make_query_pipeline(StandardScaler(), kr.RankSVM())]:
        assert without_ids(html_of(model)) == without_ids(estimator_html_repr(model))


def test_changed_models_and_results_are_shown_with_an_error_in_place_of_the_rest(data, classes):
    model = kr.RankSVMCV(3, cv=2).fit(*data)
    diagram = without_ids(estimator_html_repr(model.set_params(scoring=HOSTILE)))
    part = shown(model)
    assert "Not shown: ValueError: Unknown metric" in part.text
    assert "<script>alert(1)" in part.text  # as text
    assert without_ids(html_of(model)).startswith(diagram)
    del model.set_params(scoring=None).scores_
    assert "Not shown: AttributeError: " in shown(model).text

    class Own(kr.RankSVM):
        def _html_of_fit(self):
            raise ZeroDivisionError("x" * 100_000)

    assert len(shown(Own()).html) < 5000
    estimate = replace(estimate_auc(kr.RankRLS(), *classes), interval=None)
    assert "Not shown: TypeError" in shown(estimate).text


def test_display_as_text_is_honoured(models, found):
    with config_context(display="text"):
        for model in models:
            assert not hasattr(model, "_repr_html_")
            assert model._repr_mimebundle_() == {"text/plain": repr(model)}
        assert [each._repr_html_() for each in found] == [None] * len(found)


def test_representations_as_text_are_unchanged(data, classes):
    assert repr(kr.RankSVM(alpha=0.1).fit(*data)) == "RankSVM(alpha=0.1)"
    estimate = estimate_auc(kr.RankRLS(), *classes)
    assert repr(estimate).startswith("Estimate(estimate=")
    assert str(estimate).endswith(", leave-pair-out)")


def test_models_from_files_are_shown_as_far_as_files_tell(data, tmp_path):
    X, y = data
    model = kr.RankSVM().fit(X, y)
    save_model(model, tmp_path / "model.kr")
    for copy in (load_model(tmp_path / "model.kr"), pickle.loads(pickle.dumps(model))):
        assert shown(copy).facts == shown(model).facts
    least_squares = pickle.loads(pickle.dumps(kr.RankRLS().fit(X, y)))  # has left its training data behind
    assert "coef_" in dir(least_squares)
    assert not hasattr(least_squares, "shortcuts")
    assert BEGIN not in html_of(least_squares)
    save_svmlight_model(model, tmp_path / "model.txt")
    assert BEGIN not in html_of(load_svmlight_model(tmp_path / "model.txt"))


def test_models_of_old_versions_are_shown():
    files = Path(__file__).parent.glob("persistence/data/**/*.kernelrank")
    # Pipelines are for one version of scikit-learn.
    found = [load_model(path) for path in files if "pipelines" not in path.parts]
    tables = [table for model in found if BEGIN in html_of(model) for table in shown(model).tables.values()]
    assert len(tables) >= 10
    gaps = [table["gap that tol asks for"] for table in tables if "gap that tol asks for" in table]
    assert len(gaps) > 3
    assert all(gap.endswith(", reached") for [gap] in gaps)


def test_models_fitted_on_a_cluster_are_shown_as_others(data):
    dask = pytest.importorskip("kernelrank.dask")
    model = kr.RankSVM().fit(*data)
    remote = dask.RankSVM()
    remote.__dict__.update({name: value for name, value in vars(model).items() if name not in model.get_params()})
    assert shown(remote).facts == shown(model).facts


def test_long_histories_and_paths_stay_small(data):
    model = kr.RankSVM().fit(*data)
    model.history_ = np.repeat(model.history_, 2000)
    assert len(shown(model).html) < 10_000
    path = kr.RankSVMCV(4, cv=3).fit(*data)
    path.alphas_, path.scores_ = np.geomspace(1, 1e-6, 5000), np.random.default_rng(0).random((5000, 3))
    path.alpha_ = path.alphas_[0]
    part = shown(path)
    assert len(part.html) < 10_000
    assert len(part.root.find(".//polyline").get("points").split()) == 100
    X, y = data
    greedy = kr.GreedyRLS(3).fit(X.set_axis([str(k) * 100_000 for k in range(4)], axis=1), y)
    assert len(shown(greedy).html) < 10_000


def test_an_estimate_with_its_interval_and_chance(classes):
    estimate = estimate_auc(kr.RankRLS(), *classes)
    part = shown(estimate)
    low, high = estimate.interval
    assert part.facts == {
        "estimate": f"{estimate.estimate:.3f}",
        "95 % interval by the jackknife": f"{low:.3f} to {high:.3f}",
        "strategy": "leave-pair-out",
        "compared pairs": f"{estimate.n_pairs}",
        "fits": f"{estimate.n_fits}",
    }
    [label] = part.labels
    assert label == f"Estimate {estimate.estimate:.3f}, 95 % interval {low:.3f} to {high:.3f}; chance is 0.5"
    [line] = (each for each in part.root.iter("line") if each.get("class") == "interval")
    [circle] = part.root.iter("circle")
    places = [float(each) for each in (line.get("x1"), circle.get("cx"), line.get("x2"))]
    drawn = np.interp([low, estimate.estimate, high], [0, 1], [14, 346])
    np.testing.assert_allclose(places, drawn, atol=0.06)


def test_what_was_left_out_of_an_estimate_is_bounded():
    skipped = tuple(f"pair {k} <b>" for k in range(1000))
    estimate = Estimate(0.7, (0.6, 0.8), 0.9, "averaged", 10, 3, skipped, 0.1, np.zeros(3))
    part = shown(estimate)
    assert "pair 2 <b>" in part.text
    assert "997 more" in part.text
    assert "pair 3" not in part.text
    assert "90 % interval from rows" in part.text


def test_a_null_distribution_with_the_observed_value():
    permuted = np.repeat([0.3, 0.5, 0.6, 0.7, 0.8], [1, 4, 2, 3, 1])
    test = PermutationTest(0.7, 5 / 12, 0.1, permuted, False, "rows inside queries", "averaged", 5)
    part = shown(test)
    assert part.facts["p-value"] == "0.417 (standard error 0.1)"
    assert part.facts["permutations"] == "11, of rows inside queries"
    bars = {kind: [each for each in part.root.iter("rect") if each.get("class") == kind] for kind in ("fill", "minus")}
    counts = {kind: [int(each.find("title").text.split(": ")[1]) for each in found] for kind, found in bars.items()}
    assert counts == {"fill": [1, 4, 2], "minus": [3, 1]}
    assert "observed 0.700" in part.text


def counted(part):
    """Return how many values the bars of each colour stand for."""
    bars = [(each.get("class"), each.find("title").text.split(": ")[1]) for each in part.root.iter("rect")]
    return {kind: sum(int(count) for of, count in bars if of == kind) for kind in ("fill", "minus")}


@pytest.mark.parametrize("seed", range(5))
def test_every_permutation_is_counted_once(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        permuted = rng.integers(0, 50, rng.integers(2, 20)) / rng.choice([49, 50, 64, 77])
        observed = float(rng.choice(permuted))
        shaken = permuted + rng.choice([-1e-14, 0.0, 1e-14], len(permuted))  # equal, up to rounding
        test = PermutationTest(observed, 1.0, 0.0, shaken, False, "rows", "averaged", 5)
        as_large = int((permuted >= observed).sum())
        assert counted(shown(test)) == {"fill": len(permuted) - as_large, "minus": as_large}


@pytest.mark.parametrize("permuted", [[], [0.5] * 9, [0.7] * 9])
@pytest.mark.parametrize("observed", [0.0, 0.7, 1.0])
def test_null_distributions_without_spread(permuted, observed):
    test = PermutationTest(observed, 1.0, 0.0, np.array(permuted), True, "rows", "averaged", 5)
    part = shown(test)
    assert "(exact)" in part.text
    counts = [int(each.find("title").text.split(": ")[1]) for each in part.root.iter("rect")]
    assert sum(counts) == len(permuted)


def test_many_permutations_stay_small():
    rng = np.random.default_rng(0)
    test = PermutationTest(0.9, 1e-5, 1e-5, rng.normal(0.5, 0.1, 100_000), False, "rows", "averaged", 5)
    assert len(shown(test).html) < 10_000


def test_a_tournament(classes):
    curve = tournament_roc(kr.RankRLS(), *classes)
    part = shown(curve)
    assert part.facts["area under the curve"] == f"{curve.auc:.3f}"
    assert f"an area of {curve.auc:.3f}" in part.labels[0]
    assert len(part.root.find(".//polyline").get("points").split()) == len(curve.fpr)
    many = replace(curve, fpr=np.linspace(0, 1, 10_000), tpr=np.linspace(0, 1, 10_000))
    assert len(shown(many).html) < 10_000


def test_a_comparison_of_estimators(data):
    found = compare({HOSTILE: kr.RankRLS(), "plain": kr.RLS(1e6)}, *data)
    part = shown(found)
    scorers, differences = part.tables["Concordance"], part.tables["Differences"]
    for name, value, (low, high) in zip(found.names, found.estimates, found.intervals, strict=True):
        assert scorers[name][:2] == [f"{value:.4f}", f"{low:.4f} to {high:.4f}"]
    [each] = found.differences
    line = differences[f"{HOSTILE} − plain"]
    assert line[:2] == [f"{each.difference:.4f}", f"{each.low:.4f} to {each.high:.4f}"]
    assert line[3:] == [number(each.pvalue, 3), number(each.corrected_pvalue, 3)]
    assert all(note in part.text for note in found.notes)


def test_intervals_that_are_not_known_are_not_drawn():
    nan = float("nan")
    difference = ScorerDifference("a", "b", 0.2, nan, nan, nan, nan)
    found = Comparison(("a", "b"), (0.7, 0.5), ((nan, nan), (0.4, 0.6)), (difference,), "DeLong", 0.95)
    part = shown(found)
    assert [each.get("class") for each in part.root.iter("line")].count("interval") == 1
    assert 'x1="nan"' not in part.html


def test_comparisons_of_many_scorers_stay_small():
    rng = np.random.default_rng(0)
    y = rng.random(20)
    found = compare_scores(y, {f"scorer {k}": y + rng.random(20) for k in range(15)})
    part = shown(replace(found, notes=("x" * 10_000, "y" * 10_000)))
    assert len(part.html) < 25_000
    assert part.text.endswith("Not shown: 3 scorers more and 93 differences more.")


def test_an_explanation(data):
    X, y = data
    found = explain(kr.RankSVM().fit(X, y), X.iloc[0], X.iloc[1])
    part = shown(found)
    assert " ".join(found.sentence.split()) in part.text
    table = part.tables["Contributions to the difference of scores"]
    lines = list(table.items())[1:]
    assert [name for name, _ in lines] == found.names
    assert [rest[0] for _, rest in lines] == [f"{each:+.3g}" for each in found.contributions]
    signs = {bar.get("class") for bar in part.root.iter("rect")}
    assert signs == {"plus" if each > 0 else "minus" for each in found.contributions}


def test_an_explanation_without_contributions(data):
    X, y = data
    part = shown(explain(kr.RankSVM().fit(X, y), X.iloc[0], X.iloc[0]))
    assert "a and b have the same score" in part.text
    assert not part.tables


def test_explanations_of_many_features_stay_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5000))
    found = explain(kr.RankSVM().fit(X, X[:, 0]), X[0], X[1])
    part = shown(found)
    assert len(part.html) < 10_000
    assert "4,990 others" in part.text
    others = found.contributions[10:].sum()
    assert abs(others) > abs(found.contributions[0])
    bars = [bar for bar in part.root.iter("rect") if bar.get("class") in ("plus", "minus")]
    widths = [float(bar.get("width")) for bar in bars]
    values = np.abs([*found.contributions[:10], others])
    np.testing.assert_allclose(widths, 66 * values / abs(others), atol=0.06)  # none leaves its picture


def test_only_the_lines_that_are_shown_are_named():
    class Row(int):
        n_shown = 0

        def __str__(self):
            Row.n_shown += 1
            return super().__str__()

    table = np.array(
        [(Row(k), 1.0 - 1e-3 * k) for k in range(100)], dtype=[("feature", object), ("contribution", float)]
    )
    found = Explanation(1.0, (1.0, 0.0), "features", table)
    assert "90 others" in shown(found).text
    assert Row.n_shown <= 20
    assert len(found.names) == 100


def test_a_learning_curve(data):
    X, y = data
    found = learning_curve(kr.RankSVM(), X, y, sizes=[10, 20, 40], cv=3, verbose=0)
    part = shown(found)
    table = part.tables["Learning curve, 3 folds"]
    assert table["rows"] == ["mean concordance", "standard deviation"]
    for size, mean, std in zip(found.sizes, found.mean, found.std, strict=True):
        assert table[f"{size}"] == [f"{mean:.3f}", f"{std:.3f}"]
    assert len(list(part.root.iter("circle"))) == 3
    many = replace(found, sizes=np.arange(1, 1001), n_rows=np.arange(1.0, 1001), scores=np.ones((1000, 3)))
    assert len(shown(many).html) < 10_000
    undefined = replace(found, scores=np.full((3, 3), np.nan))
    assert not shown(undefined).pictures


def test_an_audit():
    audit = audit_pairs([["tea", "milk"], ["milk", "tea"], ["tea", "juice"]], weight=[3, 1, 1])
    part = shown(audit)
    assert str(audit) in part.text
    assert part.labels == [
        "Of the weight of all pairs, 80 % can be put in order by some scorer, and at least 20 % cannot"
    ]
    widths = {bar.get("class"): float(bar.get("width")) for bar in part.root.iter("rect")}
    assert widths["minus"] / widths["frame"] == pytest.approx(0.2, abs=1e-3)
    assert widths["fill"] / widths["frame"] == pytest.approx(0.8, abs=1e-3)


def test_nothing_for_notebooks_is_imported_before_it_is_needed():
    script = (
        "import sys, kernelrank.pipelines, kernelrank.inspection, kernelrank.relational\n"
        "print([name for name in sys.modules if name in ('kernelrank._html', 'kernelrank._charts', 'matplotlib')])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
