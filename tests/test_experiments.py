"""The studies: their quick runs, the readings of their committed reports, and what only they compute."""

import numpy as np
import pytest

from kernelrank import RLS

# Studies and titles of their reports.
STUDIES = {
    "auc_estimation": ("Bias", "Spread", "Other models", "Intervals", "Tests", "Choosing", "Dependent rows", "Speed"),
    "covtype": ("Kernel RankSVM on covtype",),
    "letor": ("RankSVM on OHSUMED", "Three grades", "Grade 2 against", "Least squares by LETOR's definitions"),
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
    "rankrls": ("Training time", "Conjugate gradients", "OHSUMED", "Jester", "Table 4", "Table 5", "Gains"),
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
def test_reports_have_one_shape(load, study):
    shape = load("experiments.study")
    for name in parts(load, study):
        title, about, *_ = shape.results_file(study, parts(load, study), name).read_text().split("\n\n")
        assert title.startswith("# ")
        part = f" {name}" if len(parts(load, study)) > 1 else ""
        assert about.startswith(f"- Written by `python -m experiments.{study}.run{part}`")


def test_a_reading_follows_its_tables(load):
    shape = load("experiments.study")
    covtype = load("experiments.covtype.run")
    text = shape.results_file("covtype", covtype.PARTS, "results").read_text()
    changed = shape.with_readings(text.replace("0.8834", "0.7777"), covtype)
    assert "0.7777 with 1,000" in changed
    assert "0.8834" not in changed


def test_the_readme_of_letor_describes_the_data(root, load):
    folder = root / "experiments" / "letor"
    [[data]] = [load("benchmarks.harness").read_tables((folder / "results.md").read_text())["RankSVM on OHSUMED"]]
    row, readme = data[0], (folder / "README.md").read_text()
    assert f"{row['queries']} queries and {row['documents']} judged documents" in readme
    assert f"of which {row['features that vary inside a query']} vary within a query" in readme


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
