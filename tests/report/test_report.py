"""The report: its structure, its numbers, what it escapes and what it leaves out."""

import re
import warnings
from itertools import combinations
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import kernelrank as kr
from kernelrank import _html, metrics, report
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError, PathEndWarning
from kernelrank.inspection import explain, learning_curve
from kernelrank.kernels import Gaussian
from kernelrank.metrics import auc_interval, concordance_interval
from kernelrank.model_selection import estimate_auc, permutation_test
from kernelrank.pipelines import QueryScaler, make_query_pipeline, make_table_ranker
from kernelrank.report._refits import without_search

HOSTILE = "</script><script>alert(1)</script>\"'&<!--"


@pytest.fixture
def two_levels():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    return X, (X[:, 0] + rng.normal(size=40) > 0).astype(float)


def text_of(page):
    return " ".join(" ".join(each["text"] for each in page.all("main")).split()).replace("\u00a0", " ")


def test_the_page_has_a_sound_structure(written, ranked, graded):
    X, y, qid = graded
    page = written(ranked, X, y, qid=qid, learning_curve=True)
    ids = [each["attrs"]["id"] for each in page.elements if "id" in each["attrs"]]
    assert len(ids) == len(set(ids))
    headings = [each["tag"] for each in page.elements if re.fullmatch("h[1-6]", each["tag"])]
    assert headings == ["h1"] + ["h2"] * (len(headings) - 1)
    assert {each["attrs"]["href"][1:] for each in page.all("a")} <= set(ids)
    assert all(each["attrs"]["scope"] in ("col", "row") for each in page.all("th"))
    assert len(page.all("table")) == len(page.all("caption")) > 5
    assert page.all("html")[0]["attrs"]["lang"] == "en"
    assert all(each["text"] for each in page.all("title"))


def test_nothing_outside_of_the_file_is_used(written, ranked, graded):
    X, y, qid = graded
    page = written(ranked, X, y, qid=qid)
    assert "http://" not in page.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page.text
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|innerHTML", page.text)
    for each in page.elements:
        assert not each["attrs"].keys() & {"src", "srcset", "action", "background", "data"}
        assert not any(name.startswith("on") for name in each["attrs"])
        assert re.match(r"#|data:,$", each["attrs"].get("href", "#"))
    [policy] = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["attrs"]["content"].startswith("default-src 'none'")


def test_what_comes_from_data_is_escaped(written, graded):
    X, y, qid = graded
    names = [f"{HOSTILE}{k}" for k in range(4)]
    ids = np.array([f"{each}{HOSTILE}" for each in qid])
    frame = pd.DataFrame(X, columns=names).assign(qid=ids)
    model = kr.RankSVM().fit(frame, y)
    page = written(model, frame, y, title=HOSTILE)
    assert len(page.all("script")) == 2
    assert page.text.count("alert(1)") > 10
    assert "<script>alert" not in page.text
    assert "<!--" not in page.text
    assert page.rows["features"][0] in names
    assert set(page.rows["names"].values()) <= set(ids)
    assert page.all("h1")[0]["text"] == HOSTILE
    # Neither surrogates nor control characters make the file unreadable.
    odd = [f"{each}\ud800\x00\x1b" for each in qid]
    assert "q0?" in written(kr.RankSVM().fit(X, y, qid=odd), X, y, qid=odd).text


def test_metrics_are_those_of_the_library(written, ranked, graded):
    X, y, qid = graded
    scores = ranked.predict(X)
    page = written(ranked, X, y, qid=qid, confidence=0.9)
    told = {name: cells for name, *cells in page.table("Metrics")[1:]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = concordance_interval(y, scores, qid=qid, confidence=0.9, random_state=0)
    assert told["concordance"][:2] == [f"{found.concordance:.3f}", f"{found.low:.3f} to {found.high:.3f}"]
    expected = {
        "kendall": metrics.kendall_tau,
        "map": metrics.average_precision,
        "ndcg@10": lambda *given, qid: metrics.ndcg(*given, qid=qid, k=10),
        "mrr": metrics.reciprocal_rank,
    }
    for name, function in expected.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert told[name][0] == f"{function(y, scores, qid=qid):.3f}", name


def test_queries_are_listed_with_the_worst_first(written, ranked, graded):
    X, y, qid = graded
    scores = ranked.predict(X)
    head, *lines = written(ranked, X, y, qid=qid).table("Queries, the worst ndcg@10 first")
    assert head[:5] == ["query", "rows", "comparable pairs", "ndcg@10", "concordance"]
    assert {line[0] for line in lines} == set(qid)
    values = [float(line[3].replace("–", "nan")) for line in lines]
    assert values == sorted(values)
    of_query = dict(zip(dict.fromkeys(qid), metrics.ndcg(y, scores, qid=qid, k=10, per_query=True), strict=True))
    for name, n_rows, n_pairs, value, _ in (line[:5] for line in lines):
        levels = y[qid == name]
        assert int(n_rows) == len(levels)
        assert int(n_pairs) == sum(a != b for a, b in combinations(levels, 2))
        assert float(value.replace("–", "nan")) == pytest.approx(of_query[name], abs=6e-4, nan_ok=True)


def test_rows_have_their_scores_ranks_and_wrong_pairs(written, ranked, graded):
    X, y, qid = graded
    scores, ranks = ranked.predict(X), ranked.rank(X, qid)
    rows = written(ranked, X, y, qid=qid).rows
    assert len(rows["rows"]) == len(y)
    for number, code, utility, score, rank, wrong in rows["rows"]:
        row = number - 1
        same = (qid == qid[row]) & ((y - y[row]) * (scores - scores[row]) < 0)
        assert (rows["names"][str(code)], utility, rank, wrong) == (qid[row], y[row], ranks[row], same.sum())
        assert score == pytest.approx(scores[row], rel=1e-6)


def flats(rng):
    frame = pd.DataFrame({"rooms": rng.integers(1, 6, 80).astype(float), "age": rng.uniform(0, 90, 80).round()})
    frame["district"] = rng.choice(["north", "south", "west"], 80)
    frame.loc[::7, "age"] = np.nan
    return frame, (3 * frame["rooms"] + 2 * (frame["district"] == "west") + rng.normal(size=80)).to_numpy()


@pytest.mark.parametrize("library", ["pandas", "polars", "array", "sparse"])
def test_contributions_are_those_of_explain(written, library):
    X, y = flats(np.random.default_rng(0))
    if library == "array":
        X = X[["rooms", "age"]].fillna(0).to_numpy()
        model = make_pipeline(StandardScaler(), kr.RankRLS()).fit(X, y)
    elif library == "sparse":
        X = sp.csr_array(X[["rooms", "age"]].fillna(0).to_numpy())
        model = kr.RankSVM(alpha=0.1).fit(X, y)
    else:
        X = X if library == "pandas" else pl.from_pandas(X)
        model = make_table_ranker(X, kr.RankRLS()).fit(X, y)
    rows = written(model, X, y).rows
    places = {number - 1: k for k, (number, *_) in enumerate(rows["rows"])}
    for a, b in [(0, 1), (3, 70), (14, 20)]:
        one, other = (
            X[[k]] if library in ("array", "polars") else X.iloc[[k]] if library == "pandas" else X[[k]] for k in (a, b)
        )
        found = explain(model, one, other)
        expected = dict(zip(found.names, found.contributions, strict=True))
        parts = np.subtract(rows["parts"][places[a]], rows["parts"][places[b]])
        assert parts.sum() == pytest.approx(found.difference, abs=1e-5)
        for name, part in zip(rows["features"], parts, strict=True):
            assert part == pytest.approx(expected.get(name, 0.0), abs=1e-5)


def test_directions_of_features(written):
    X, y = flats(np.random.default_rng(0))
    y = y - 0.1 * X["age"].fillna(45)
    page = written(make_table_ranker(X, kr.RankRLS()).fit(X, y), X, y)
    head, *lines = page.table("Features with the largest influence")
    assert head == ["feature", "influence", "direction"]  # columns of a table have no coefficient of their own
    bars = {line[0]: line[2] for line in lines}
    assert bars == {"rooms": "", "age": "–", "district": "–"}
    [kinds] = [[each["attrs"]["class"] for each in page.all("rect") if each["attrs"]["class"] != "fill"]]
    assert kinds == ["plus"]
    page = written(make_pipeline(StandardScaler(), kr.RankRLS()).fit(X[["rooms"]], -y), X[["rooms"]], y)
    assert [each["attrs"]["class"] for each in page.all("rect")] == ["minus"]


def test_facts_and_warnings_about_data(written):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 1] = 7.0
    X[5] = X[4]
    qid = np.repeat(np.arange(10), 4)
    y = rng.integers(0, 3, 40).astype(float)
    y[4:6] = [0, 2]
    y[8:12] = 1
    page = written(kr.RankSVM().fit(X, y, qid=qid), X, y, qid=qid)
    facts = dict(page.table("The data")[1:])
    pairs = [(a, b) for a, b in combinations(range(40), 2) if qid[a] == qid[b]]
    assert facts["comparable pairs"] == str(sum(y[a] != y[b] for a, b in pairs))
    assert facts["pairs with equal utilities"].startswith(str(sum(y[a] == y[b] for a, b in pairs)))
    idle = sum(len(set(y[qid == each])) == 1 for each in range(10))
    assert facts["queries without a comparable pair"] == str(idle)
    assert facts["rows that repeat an earlier row"] == facts["features with one value"] == "1"
    told = [each["text"] for each in page.all("li") if "strong" not in each["tag"] and "ul" in each["within"]]
    for words in ("same value in all rows: x1", "1 row repeats", "2 rows have the same features and query",
                  f"{idle} of 10 queries have no two rows", "only"):  # fmt: skip
        assert any(words in each for each in told), words


def test_the_goal_of_a_search_decreases_with_the_objective(written, graded):
    X, _, _ = graded
    model = kr.RankSVMCV(alphas=[1e-3, 1e-4], cv=3).fit(X, X[:, 0])
    assert model.objective_ < 0.05
    goal = 10 * model.tol * max(model.objective_, 0.01)
    assert f"within the goal of {_html.number(goal)}" in text_of(written(model, X, X[:, 0]))


def test_warnings_about_the_model(written, graded):
    X, y, qid = graded

    def warned(model, X=X, y=y, **options):
        return text_of(written(model, X, y, **options))

    with pytest.warns(ConvergenceWarning):
        stopped = kr.RankSVM(alpha=1e-6, max_iter=2).fit(X, y, qid=qid)
    assert "before it converged" in warned(stopped, qid=qid)
    large = X * [1, 1, 100, 1]
    with pytest.warns(PathEndWarning):
        ended = kr.RankSVMCV(alphas=[1.0, 100.0], cv=2).fit(large, y, qid=qid)
    assert "is the smallest of those that were tried" in warned(ended, large, qid=qid)
    model = kr.RankSVM().fit(X, y, qid=qid)
    assert "trained with queries, but these rows have none" in warned(model)
    assert "trained without queries" in warned(kr.RankSVM().fit(X, y), qid=qid)
    assert "worse than chance" in warned(model, y=-y, qid=qid)
    assert "separated" in warned(model, y=model.predict(X))
    assert "very different scales" in warned(kr.RankRLS().fit(X * [1, 1, 1, 1e5], y), X=X * [1, 1, 1, 1e5])
    compared = np.isin(qid, [each for each in set(qid) if len(set(y[qid == each])) > 1])
    clean = warned(model, X[compared], y[compared], qid=qid[compared])
    assert "Warnings, and what to do" not in clean
    assert "No warnings." in clean


@pytest.mark.parametrize(
    ("means", "told"),
    [
        ([0.8, 0.7, 0.8], ""),  # another alpha is as good
        ([0.8, 0.7995, 0.7], ""),
        ([0.8, 0.7, 0.6], "largest"),
        ([0.6, 0.7, 0.8], "smallest"),
        ([0.6, 0.8, 0.7], ""),
    ],
)
@pytest.mark.parametrize("alphas", [3, [1.0, 0.1, 0.01]])
def test_ends_of_paths_are_told_by_the_rule_of_the_fit(written, graded, means, told, alphas):
    X, y, _ = graded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kr.RankRLSCV(alphas=alphas, cv=3).fit(X, y)
    model.scores_ = np.column_stack([means, means])
    model.alphas_ = model.alphas_[:3]
    model.alpha_ = float(model.alphas_[np.argmax(means)])
    found = re.findall(r"is the (\w+) of those that were tried", text_of(written(model, X, y)))
    # Above the largest alpha of a grid, little changes.
    assert found == ([] if not told or (told == "largest" and alphas == 3) else [told])


def test_numbers_of_a_chart_cover_neither_its_label_nor_its_edge(written, graded):
    X, y, _ = graded
    model = kr.RankRLSCV(alphas=[3.0, 1e-3, 1.2e-5], cv=3).fit(X, y)
    model.scores_ = np.array([[0.89001], [0.88833], [0.88664]])
    page = written(model, X, y)
    texts = [each for each in page.all("text") if "svg" in each["within"]]
    [label] = [each for each in texts if each["text"] == "held-out score"]
    right_of_label = float(re.search(r"translate\((\d+)", label["attrs"]["transform"])[1]) + 4
    numbers = [each for each in texts if each["attrs"].get("text-anchor") == "end"]
    assert [each["text"] for each in numbers] == ["0.88664", "0.88833", "0.89001"]
    for each in numbers:  # of 6 units per letter, as in the style sheet
        assert float(each["attrs"]["x"]) - 6 * len(each["text"]) > right_of_label
    below = [each for each in texts if each["attrs"].get("text-anchor") == "middle" and each is not label]
    assert any(each["text"] == "0.477" for each in below)
    assert all(float(each["attrs"]["x"]) + 3 * len(each["text"]) <= 360 for each in below)


def test_scores_that_are_all_equal(written, graded):
    X, y, _ = graded
    model = kr.RankSVM().fit(X, y)
    model.coef_ = np.zeros(4)
    page = written(model, X, y)
    assert "All scores are equal" in text_of(page)
    assert {row[4] for row in page.rows["rows"]} == {1}


def test_trust_is_that_of_estimate_auc(written, two_levels):
    X, y = two_levels
    model = kr.RankRLS(alpha=0.1).fit(X, y)
    page = written(model, X, y)
    told = {name: cells for name, *cells in page.table("Estimates for new rows")[1:]}
    assert list(told) == ["leave-pair-out", "tournament", "averaged", "pooled"]
    repeated = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    for name, cells in told.items():
        cv = {"averaged": repeated, "pooled": 10}.get(name)
        interval = None if name == "leave-pair-out" else "rows"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = estimate_auc(kr.RankRLS(alpha=0.1), X, y, strategy=name, cv=cv, interval=interval, verbose=0)
        low, high = found.interval
        assert cells[:2] == [f"{found.estimate:.3f}", f"{low:.3f} to {high:.3f}"]
    tested = permutation_test(kr.RankRLS(alpha=0.1), X, y, n_permutations=199, verbose=0)
    assert f"p = {tested.pvalue:.2g}" in text_of(page)
    assert "more than chance" in text_of(page)
    area, low, high = auc_interval(y, model.predict(X))
    [cells] = [line for line in page.table("Metrics") if line[0] == "auc"]
    assert cells[1:3] == [f"{area:.3f}", f"{low:.3f} to {high:.3f}"]


def test_trust_of_other_models(written, two_levels):
    X, y = two_levels
    shuffled = np.random.default_rng(3).permutation(y)
    assert "do not trust this result yet" in text_of(written(kr.RankRLS(alpha=0.1).fit(X, shuffled), X, shuffled))
    page = written(make_pipeline(StandardScaler(), kr.RankSVM()).fit(X, y), X, y)
    assert [line[0] for line in page.table("Estimates for new rows")[1:]] == ["averaged", "pooled"]
    assert "No permutation test" in text_of(page)
    searched = text_of(written(kr.RankSVMCV(alphas=2, cv=2).fit(X, y), X, y))
    assert re.search(r"Not estimated: RankSVMCV is not an estimator of kernelrank with a single alpha", searched)
    qid = np.repeat(np.arange(4), 10)
    assert "Not estimated: the rows belong to queries" in text_of(
        written(kr.RankRLS().fit(X, y, qid=qid), X, y, qid=qid)
    )
    many, levels = np.tile(X, (13, 1)), np.tile(y, 13)
    assert "Not estimated: there are more than 500 rows" in text_of(written(kr.RankRLS().fit(X, y), many, levels))


def test_trust_of_few_rows_does_not_rest_on_a_single_split(written, two_levels):
    X, y = two_levels
    model = make_pipeline(StandardScaler(), kr.RankRLS(alpha=0.1)).fit(X, y)
    area = estimate_auc(model, X, y, interval="rows", verbose=0).estimate
    told = {}
    for seed in range(4):
        single = estimate_auc(model, X, y, strategy="averaged", random_state=seed, verbose=0).estimate
        page = written(model, X, y, random_state=seed)
        [line] = [each for each in page.table("Estimates for new rows") if each[0] == "averaged"]
        told[seed] = float(line[1]), single
        assert "10 random splits of the rows into 10 folds" in text_of(page)
        assert "Here the intervals overlap." in text_of(page)
        assert "Believe the first line" not in text_of(page)
    repeated, singles = np.transpose(list(told.values()))
    assert np.ptp(repeated) < np.ptp(singles) / 2
    assert np.abs(repeated - area).max() < np.abs(singles - area).max() / 2


def test_trust_of_very_few_rows_holds_out_each_pair(written, two_levels):
    X, y = two_levels
    model = make_pipeline(StandardScaler(), kr.RankRLS(alpha=0.1)).fit(X, y)
    line = written(model, X[:16], y[:16]).table("Estimates for new rows")[1]
    found = estimate_auc(model, X[:16], y[:16], interval="rows", verbose=0)
    low, high = found.interval
    assert line[:3] == ["leave-pair-out", f"{found.estimate:.3f}", f"{low:.3f} to {high:.3f}"]


@pytest.mark.parametrize("search", [kr.RankRLSCV(alphas=3), kr.RLSCV(alphas=3)])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_trust_of_models_that_choose_alpha_in_closed_form(written, two_levels, search, in_pipeline):
    X, y = two_levels
    model = (make_pipeline(StandardScaler(), search) if in_pipeline else clone(search)).fit(X, y)
    page = written(model, X, y)
    repeated = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
    found = estimate_auc(model, X, y, strategy="averaged", cv=repeated, verbose=0)
    low, high = found.interval
    line = page.table("Estimates for new rows")[1]
    assert line[:3] == ["averaged", f"{found.estimate:.3f}", f"{low:.3f} to {high:.3f}"]
    assert "chose alpha again" in text_of(page)


def test_trust_needs_two_rows_of_each_class(written, two_levels):
    X, _ = two_levels
    y = np.append(np.zeros(39), 1.0)
    assert "Not estimated: models like this one cannot be fitted to these rows again: A class has only one row" in (
        text_of(written(make_pipeline(StandardScaler(), kr.RankRLS()).fit(X, y), X, y))
    )


def test_models_without_contributions_say_why(written, graded):
    X, y, qid = graded
    assert "has no coefficients" in text_of(written(kr.RankRLS(kernel="gaussian").fit(X, y, qid=qid), X, y, qid=qid))
    scaled = make_query_pipeline(QueryScaler(), kr.RankSVM()).fit(X, y, qid=qid)
    page = written(scaled, X, y, qid=qid, learning_curve=True)
    assert "scales features inside each query" in text_of(page)
    assert page.rows["parts"] is None
    assert page.rows["rows"]


def test_learning_curve_is_that_of_inspection(written, ranked, graded):
    X, y, qid = graded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = learning_curve(kr.RankSVM(), X, y, qid=qid, verbose=0)
    lines = written(ranked, X, y, qid=qid, learning_curve=True).table("Learning curve")[1:]
    assert [line[0] for line in lines] == [str(size) for size in found.sizes]
    assert [line[2] for line in lines] == [f"{mean:.3f}" for mean in found.mean]


@pytest.mark.parametrize(
    "search",
    [
        kr.RankSVMCV(alphas=[1.0, 0.01], loss="squared_hinge"),
        make_query_pipeline(StandardScaler(), kr.RankSVMCV(alphas=[1.0, 0.01], kernel=["linear", Gaussian(0.1)])),
        kr.RankRLSCV(alphas=[1.0, 0.01], kernel="gaussian"),
        kr.RLSCV(alphas=[1.0, 0.01]),
        kr.RankSVMCV(alphas=[1.0, 0.01], kernel=["linear", Gaussian(1000.0)], n_basis=20, tol=1e-5),
        kr.RankRLSCV(alphas=[1.0, 0.01], kernel=["linear", Gaussian(1000.0)], n_basis=20),
        kr.RankingClassifier(kr.RankSVMCV(alphas=[1.0, 0.01], tol=1e-7)),
        GridSearchCV(kr.RankSVM(), {"alpha": [1.0, 0.01]}, cv=GroupKFold(5)),
    ],
)
def test_learning_curves_need_no_folds_within_small_training_sets(written, graded, search):
    X, y, qid = graded
    given = {} if isinstance(search, kr.RLSCV | kr.RankingClassifier | GridSearchCV) else {"qid": qid}
    chosen = search.fit(X, y, **given, **({"groups": qid} if isinstance(search, GridSearchCV) else {}))
    model = without_search(chosen)
    last = model.steps[-1][1] if hasattr(model, "steps") else getattr(model, "ranker", model)
    assert type(last) in (kr.RankSVM, kr.RankRLS, kr.RLS)
    fitted = clone(model).fit(X, y, **given)
    assert np.corrcoef(fitted.predict(X), chosen.predict(X))[0, 1] > 0.9999
    assert len(written(chosen, X, y, qid=qid, learning_curve=True).table("Learning curve")) == 6


def test_missing_values_and_text(written):
    rng = np.random.default_rng(0)
    X, y = flats(rng)
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), kr.RankSVM())
    page = written(numbers.fit(X[["rooms", "age"]], y), X[["rooms", "age"]], y)
    assert "1 feature has missing values: age" in text_of(page)
    assert any("missing" in row for row in page.rows["values"])
    words = make_pipeline(OneHotEncoder(handle_unknown="ignore"), kr.RankSVM()).fit(X[["district"]], y)
    page = written(words, X[["district"]], y)
    assert page.rows["features"] == ["district"]
    assert {value for [value] in page.rows["values"]} == {"north", "south", "west"}


def test_documents_and_models_of_scikit_learn(written):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["good", "bad", "dog", "cat"], 5)) for _ in range(40)]
    y = np.array([text.count("good") - text.count("bad") for text in texts])
    page = written(make_pipeline(CountVectorizer(), kr.RankSVM()).fit(texts, y), texts, y)
    assert set(page.rows["features"]) == {"good", "bad", "dog", "cat"}
    X = rng.normal(size=(40, 3))
    page = written(LogisticRegression().fit(X, y > 0), X, (y > 0).astype(float))
    assert page.rows["parts"] is not None
    assert "Not estimated: LogisticRegression is not an estimator of kernelrank" in text_of(page)


def test_weights_of_zero_leave_no_pairs(written, ranked, graded):
    X, y, qid = graded
    with pytest.raises(NoComparablePairsError):
        written(ranked, X, y, qid=qid, sample_weight=(y == 0).astype(float))


def test_weights_apply_to_metrics_of_pairs(written, ranked, graded):
    X, y, qid = graded
    weight = np.random.default_rng(5).uniform(0.1, 3, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = metrics.concordance_index(y, ranked.predict(X), qid=qid, sample_weight=weight)
    told = dict(line[:2] for line in written(ranked, X, y, qid=qid, sample_weight=weight).table("Metrics")[1:])
    assert told["concordance"] == f"{expected:.3f}"


@pytest.mark.parametrize(("n", "n_queries"), [(10_000, None), (20_000, 200), (100_000, 20_000)])
def test_large_data_are_cut_and_it_says_so(written, n, n_queries):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 40))
    y = np.clip(np.rint(X[:, 0] + rng.normal(size=n)), 0, 4)
    qid = None if n_queries is None else rng.integers(0, n_queries, n)
    model = kr.RankSVM().fit(X[:1000], y[:1000], qid=None if qid is None else qid[:1000] % 10)
    start = perf_counter()
    page = written(model, X, y, qid=qid)
    assert perf_counter() - start < 10  # 0.8 s on a quiet machine
    assert len(page.text) < 2_000_000
    rows, text = page.rows, text_of(page)
    assert len(rows["rows"]) <= 1000
    assert len(rows["features"]) == 31
    assert "the others are summed" in text
    if n_queries is None:
        assert "The 300 rows with the most wrong pairs" in text
    elif n_queries == 200:
        assert "Of larger queries, the 60 rows with the most wrong pairs are included." in text
    else:
        assert "The worst 500 of" in text
    a, b = rows["rows"][:2]
    assert sum(rows["parts"][0]) - sum(rows["parts"][1]) == pytest.approx(a[3] - b[3], abs=1e-4)


def test_long_texts_are_cut(written):
    rng = np.random.default_rng(0)
    names = [f"{k} {'<é' * 500}" for k in range(40)]
    X = pd.DataFrame(rng.choice(["<" * 100, "é" * 90, "x"], size=(2000, 40)), columns=names)
    qid = np.array([f"{k} {'&' * 2000}" for k in np.repeat(np.arange(500), 4)])
    y = (X[names[0]] == "x") + rng.normal(size=2000)
    model = make_pipeline(OneHotEncoder(), kr.RankSVM(alpha=0.1)).fit(X, y)
    page = written(model, X, y, qid=qid)
    assert len(page.text.encode()) < 2_000_000
    assert 50 < len(page.rows["rows"]) < 1000
    assert len(page.rows["parts"]) == len(page.rows["values"]) == len(page.rows["rows"])
    assert max(map(len, [*page.rows["features"], *page.rows["names"].values()])) == 100


def test_errors_leave_an_older_report(tmp_path, ranked, graded):
    X, y, qid = graded
    path = tmp_path / "report.html"
    path.write_text("older")
    for model, rows, utilities, error in (
        (ranked, X, np.ones(len(y)), NoComparablePairsError),
        (ranked, X[:, :2], y, ValueError),
        (kr.RankRLS().fit(X, np.stack([y, -y], 1)), X, y, ValueError),
    ):
        with pytest.raises(error):
            report.write(model, rows, utilities, qid=qid, path=path)
    censored = np.array(list(zip(y > 0, y, strict=True)), dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match="observed"):
        report.write(ranked, X, censored, path=path)
    assert path.read_text() == "older"


def test_two_rows_are_enough(written):
    page = written(kr.RankSVM().fit([[0.0], [1.0]], [0, 1]), np.array([[0.0], [1.0]]), [0, 1])
    assert len(page.rows["rows"]) == 2
    assert "only 2 rows" in text_of(page)
