"""The studies: their quick runs, the readings of their committed reports, and what only they compute."""

import numpy as np
import pytest

from kernelrank import RLS

# Studies and titles of their reports.
STUDIES = {
    "auc_estimation": ("Bias", "Spread", "Other models", "Intervals", "Tests", "Choosing", "Dependent rows", "Speed"),
    "clicks": ("NDCG@10", "concordance", "Estimated propensities"),
    "covtype": ("Kernel RankSVM on covtype",),
    "letor": ("RankSVM on OHSUMED", "Three grades", "Grade 2 against", "Least squares by LETOR's", "Check of LETOR's"),
    "linearithmic_ranksvm": (),  # tests/test_linearithmic_experiment.py
    "nystrom": ("Figure 1", "Table 1", "Table 2", "All of leave-group-out"),
    "ppi": (
        *(
            "Against the paper",
            "Differences to max",
            "AIMed beside",
            "The pitfall",
            "Table 1 with",
            "What a basis costs",
        ),
        *("Table 2: ranks", "Table 5", "All pairs called", "Learning curves", "Basis rows", "Variants"),
    ),
    "rankrls": (
        *("Training time", "Gaussian kernel", "Linear kernel", "Conjugate gradients", "OHSUMED", "RankSVM: pairs or"),
        *("Jester", "All pairs", "RankSVM with smaller", "Table 4", "Table 5", "Agreement", "Intervals: ", "Gains"),
    ),
    "relational": (
        *("The test fold", "Similarities alone", "Kernels", "Folds", "Exact hold-outs", "Scores", "Time and memory"),
    ),
    "swapped_pairs": ("Percentage of swapped pairs",),
}
SLOW = {"auc_estimation"}


def files_of(root, study):
    return {path: path.stat().st_mtime_ns for path in (root / "experiments" / study).rglob("*.[ms][dv]*")}


@pytest.mark.parametrize(
    "study",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name, titles in STUDIES.items() if titles],
)
def test_quick_run(root, run, load, study):
    before = files_of(root, study)
    output = run(f"experiments.{study}.run", "--quick")
    assert files_of(root, study) == before
    found = load("benchmarks.harness").read_tables(output)
    for title in STUDIES[study]:
        assert any(name.startswith(title) for name in found), (title, list(found))
    assert output.count("**Quick run**") == output.count(" --quick`, ") == len(parts(load, study))
    assert "**Reading.**" not in output
    assert "nan" not in output.replace("nanmean", "")


def parts(load, study):
    return load(f"experiments.{study}.run").PARTS


@pytest.mark.parametrize("study", STUDIES)
def test_readings_say_what_the_tables_say(load, study):
    shape = load("experiments.study")
    for name, part in parts(load, study).items():
        text = shape.results_file(study, parts(load, study), name).read_text()
        assert shape.READING in text
        assert "Left out: it needs a table" not in text
        assert shape.with_readings(text, part) == text, f"run python -m experiments.{study}.run --readings"


@pytest.mark.parametrize("study", STUDIES)
def test_reports_have_one_shape(load, check_provenance, study):
    shape = load("experiments.study")
    for name in parts(load, study):
        title, about, *_ = shape.results_file(study, parts(load, study), name).read_text().split("\n\n")
        assert title.startswith("# ")
        part = f" {name}" if len(parts(load, study)) > 1 else ""
        assert about.startswith(f"- Written by `python -m experiments.{study}.run{part}`")
        check_provenance(about)


def test_a_reading_follows_its_tables(load):
    shape = load("experiments.study")
    covtype = load("experiments.covtype.run")
    text = shape.results_file("covtype", covtype.PARTS, "results").read_text()
    *_, last, _ = load("benchmarks.harness").read_tables(text)[covtype.TITLE][0]
    changed = shape.with_readings(text.replace(last["concordance"], "0.7777"), covtype)
    assert f"0.7777 with {last['model']}" in " ".join(changed.split())
    assert last["concordance"] not in changed


def test_the_readme_of_letor_describes_the_data(root, load):
    folder = root / "experiments" / "letor"
    [[data]] = [load("benchmarks.harness").read_tables((folder / "results.md").read_text())["RankSVM on OHSUMED"]]
    row, readme = data[0], (folder / "README.md").read_text()
    assert f"{row['queries']} queries and {row['documents']} judged documents" in readme
    assert f"of which {row['features that vary inside a query']} vary within a query" in readme


def test_the_published_intervals_are_intervals(load):
    published = load("experiments.rankrls._reuters_published").PUBLISHED
    assert len(published) == 25
    for figures in published.values():
        for area, low, high in figures[:3]:
            assert 0 < low < area < high < 1
            assert abs((low + high) / 2 - area) <= 0.0011  # symmetric, but for rounding


def test_one_draw_against_the_mean_of_several(load):
    deviations = load("experiments.rankrls._reuters_tables").deviations
    areas = np.array([[0.9, 0.8], [0.8, np.nan], [0.7, 0.6]])
    # Means 0.8 and 0.7; standard deviations 0.1 and 0.1 * sqrt(2); of the difference, times sqrt(1 + 1/n).
    expected = [-0.1 / (0.1 * np.sqrt(4 / 3)), 0.2 / (0.1 * np.sqrt(2) * np.sqrt(3 / 2))]
    np.testing.assert_allclose(deviations(areas, np.array([0.7, 0.9])), expected)


def test_letor_measures_by_hand(load):
    measures = load("experiments.letor.run").letor_measures
    gains, precision = measures([0.0, 2.0, 1.0], [0.5, 0.5, 0.1], n=4)  # the tie stays in the order of the file
    best = [3.0, 4.0, 4.0]
    np.testing.assert_allclose(gains, [0.0, 3 / best[1], (3 + 1 / np.log2(3)) / best[2], 0.0])
    np.testing.assert_allclose(precision, (1 / 2 + 2 / 3) / 2)
    assert measures([0.0, 0.0], [1.0, 2.0], n=2) == ([0.0, 0.0], 0.0)


def test_agreement_is_measured_in_standard_errors(load):
    study, harness = load("experiments.swapped_pairs.run"), load("benchmarks.harness")
    same = {f"{method}{which}": "20.00 ± 3.00" for method in study.METHODS for which in (", paper", "")}
    servo = same | {"data": "Servo", "SVOR_5": "21.00†† ± 4.00", "Herbrich_5": "19.00† ± 4.00"}
    stock = same | {"data": "Stock", "SVOR_5, paper": "21.00 ± 3.00", "Herbrich_5, paper": "22.00† ± 3.00"}
    found = harness.Table([servo, stock])
    [[cells, _]] = harness.read_tables(study.agreement_table(found, 25))[""]
    assert cells == {
        "data": "Servo",
        "SVOR_5": "+1.00 ± 1.00 (+1.0)",
        "Herbrich_5": "-1.00 ± 1.00 (-1.0)",
        "swapped pairs": "+0.00 ± 0.85 (+0.0)",
    }
    [wins] = harness.read_tables(study.win_table(found))[""]
    by_method = {who: [each[who] for each in wins] for who in ("ours", "paper")}
    assert by_method["ours"][:3] == ["1, 1, 0", "1, 0", "1, 0"]  # against SVOR_5
    assert by_method["ours"][5:8] == ["0, 1, 1", "0, 1", "0, 0"]  # against Herbrich_5
    assert by_method["paper"][:3] == ["1, 1, 0", "0, 0", "0, 0"]
    assert by_method["paper"][5:8] == ["1, 1, 0", "1, 0", "0, 0"]


def test_the_published_wins_are_those_of_the_text(load):
    study, data = load("experiments.swapped_pairs.run"), load("experiments.swapped_pairs._data")
    errors = {(of.name, study.FIRST): {m: np.zeros(2) for m in study.METHODS} for of in data.SETS}
    [found] = load("benchmarks.harness").read_tables(study.error_table(list(data.SETS), errors))[""]
    [wins] = load("benchmarks.harness").read_tables(study.win_table(found))[""]
    paper = [row["paper"] for row in wins]
    assert paper[:2] == ["8, 1, 3", "7, 0"]  # section 4 of the paper: 8 of 12, one tie, 7 of them significant
    assert paper[5:7] == ["9, 0, 3", "6, 0"]


@pytest.mark.parametrize("method", ["SVOR_5", "Herbrich_5"])
def test_the_published_pvalues_are_one_sided(load, rng, method):
    study, data = load("experiments.swapped_pairs.run"), load("experiments.swapped_pairs._data")
    which, printed = study.METHODS.index(method), float(study.PRINTED_P[method])
    gains = np.array([of.published[which].mean - of.published[-1].mean for of in data.SETS])
    errors = rng.uniform(-0.005, 0.005, size=(2, 500, len(gains))).sum(axis=0)  # of two means with two digits
    found = np.array([study._one_sided(gains + each) for each in errors])
    assert found.min() < printed < found.max()
    assert 2 * found.min() > printed  # no two-sided test


def test_a_reading_without_its_table(load):
    shape, part = load("experiments.study"), load("experiments.linearithmic_ranksvm.large")
    text = shape.with_readings(f"# Other title\n\n{shape.READING}\n", part)
    assert "Left out: it needs a table that is not here" in text


def test_readings_and_their_places_are_counted(load):
    shape, part = load("experiments.study"), load("experiments.covtype.run")
    text = shape.results_file("covtype", part.PARTS, "results").read_text()
    with pytest.raises(ValueError, match="1 readings, but 2 places"):
        shape.with_readings(f"{text}\n## More\n\n{shape.READING}\n", part)


def test_missing_data(root, load, monkeypatch, capsys):
    shape, part = load("experiments.study"), load("experiments.letor.run")
    monkeypatch.delenv("KERNELRANK_DATA", raising=False)
    with pytest.raises(SystemExit, match=r"needs letor/OHSUMED_QueryLevelNorm_S1.txt.xz .*--quick needs no data"):
        shape.write(part, shape.Run(False, 1, root, root), "python -m experiments.letor.run")


@pytest.mark.parametrize("lam", [0.1, 10.0])
def test_nested_hold_outs_are_refits(load, rng, lam):
    HeldOut = load("experiments.ppi._nested").HeldOut
    X, groups = rng.normal(size=(40, 60)), rng.integers(8, size=40)
    K, y = X @ X.T, rng.choice([-1.0, 1.0], size=40)
    fold, others = np.flatnonzero(groups < 2), np.flatnonzero(groups >= 2)

    def refit(train, test):
        model = RLS(lam / len(train), kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
        return model.predict(K[np.ix_(test, train)])

    model = HeldOut(K.copy(), y)
    found = model.at(lam).nested(fold, groups)
    np.testing.assert_allclose(found.fold, refit(others, fold), rtol=1e-6)
    np.testing.assert_allclose(found.fold, model.at(lam).hold_out(fold), rtol=1e-6)
    for group in range(2, 8):
        inside = groups[others] == group
        np.testing.assert_allclose(found.others[inside], refit(others[~inside], others[inside]), rtol=1e-6)
    each = model.at(lam).hold_out_each(groups)
    np.testing.assert_allclose(
        each[fold[groups[fold] == 0]], refit(np.flatnonzero(groups), np.flatnonzero(groups == 0))
    )
    new = model.at(lam).weights
    np.testing.assert_allclose((K - K.mean(axis=0)) @ new + y.mean(), refit(np.arange(40), np.arange(40)), rtol=1e-6)


def test_nested_hold_outs_without_a_mean(load, rng):
    HeldOut = load("experiments.ppi._nested").HeldOut
    X = rng.normal(size=(30, 5))
    K, y, test, train = X @ X.T, rng.choice([-1.0, 1.0], size=30), np.arange(6), np.arange(6, 30)
    weights = np.linalg.solve(K[np.ix_(train, train)] + 0.5 * np.eye(24), y[train])
    np.testing.assert_allclose(
        HeldOut(K.copy(), y, mean=False).at(0.5).hold_out(test), K[np.ix_(test, train)] @ weights
    )


def test_the_ranks_of_table_2_are_those_of_its_areas(load):
    cross = load("experiments.ppi.cross_corpus")
    found = {name: np.mean(list(ranks.values())) for name, ranks in cross.ranks(cross.PAPER).items()}
    assert found == {"AIMed": 2, "BioInfer": 1.5, "HPRD50": 3, "IEPA": 2, "LLL": 4}


def test_kept_measures_do_not_depend_on_the_number_of_processes(load, tmp_path):
    shared, study = load("experiments.ppi._shared"), load("experiments.study")
    configuration = load("experiments.ppi._corpora").MAX
    found = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        run = study.Run(True, jobs, folder, folder)
        [first], [again] = (shared.measure_all(run, [configuration], ["LLL"])["max"].values() for _ in range(2))
        assert first.seconds == again.seconds  # kept, not measured again
        found.append(first.measures)
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_errors_of_gains_are_those_of_drawn_documents(load, rng):
    variants = load("experiments.ppi.variants")
    y, documents = rng.integers(2, size=60), rng.integers(12, size=60)
    scores, others = y + rng.normal(size=60), rng.integers(3, size=60)
    gains = []
    for _ in range(1000):
        rows = np.concatenate([np.flatnonzero(documents == each) for each in rng.integers(12, size=12)])
        gains.append(variants.auc(y[rows], scores[rows]) - variants.auc(y[rows], others[rows]))
    found = variants.gain_error(y, documents, scores, others)
    np.testing.assert_allclose(found, 100 * np.std(gains), rtol=0.15)
    assert variants.gain_error(y, documents, scores, scores) == 0


@pytest.mark.parametrize("setting", ["entry", "row", "column", "both"])
def test_models_of_drugs_and_targets_never_see_the_test_entries(load, setting):
    settings = load("experiments.relational.settings")
    rng = np.random.default_rng(0)
    for name, predict in settings.PREDICT.items():
        if (name, setting) == (settings.TWO_STEP, "entry"):
            continue
        task, changed = (settings.Task(setting, 0, quick=True) for _ in range(2))
        unseen = np.setdiff1d(np.arange(len(task.y)), task.train)  # for "both", more than the test entries
        assert set(task.test) <= set(unseen)
        changed.y[unseen] = rng.normal(size=len(unseen))
        changed.Y.ravel()[unseen] = changed.y[unseen]
        assert not np.array_equal(task.Y, changed.Y)
        assert np.array_equal(predict(task), predict(changed)), name


def test_kernels_of_drugs_and_targets_know_the_training_folds_alone(load):
    choice, data = load("experiments.relational._choice"), load("experiments.relational._data")
    for module in ("davis", "kiba"):
        study = load(f"experiments.relational.{module}")
        pairs = getattr(data, module)(quick=True)
        for fold in (0, data.TEST):
            train, test = choice.split(pairs, fold)
            assert not (train & (test | (pairs.fold == data.TEST))).any()
            other = pairs._replace(y=np.where(train, pairs.y, 7.0))
            for kernels in study.KERNELS.values():
                first, second = (choice.matrices(kernels, each, train) for each in (pairs, other))
                assert all(map(np.array_equal, first, second))
