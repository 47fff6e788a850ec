"""Tables, split by the names of their columns."""

from datetime import date
from decimal import Decimal

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from kernelrank import RankSVM
from kernelrank.io import _tables, load_svmlight, load_table

both_readers = pytest.mark.parametrize("backend", ["polars", "pandas"])


@pytest.fixture
def frame():
    return pl.DataFrame(
        {
            "rooms": [3, 5, 4],
            "age": [10.0, 2.5, 30.0],
            "new": [True, False, True],
            "district": list("aab"),
            "price": [2, 4, 1],
        }
    )


def write(frame, path):
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")
    return path


@both_readers
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.TSV", "t.parquet", "t.data"])
def test_every_kind_of_file(tmp_path, frame, name, backend, monkeypatch):
    if name.endswith("parquet") and backend == "pandas":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / name
    write(frame, path)
    table = load_table(path, target="price", qid="district", weight="age")
    assert list(table.X.columns) == ["rooms", "new"]
    np.testing.assert_array_equal(np.asarray(table.X, dtype=float), [[3, 1], [5, 0], [4, 1]])
    np.testing.assert_array_equal(table.y, [2.0, 4.0, 1.0])
    assert table.qid.tolist() == ["a", "a", "b"]
    np.testing.assert_array_equal(table.weight, [10.0, 2.5, 30.0])
    assert type(table.X).__module__.startswith(backend)


@both_readers
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("values", [[1, 0, 1], [True, False, True], [1.0, 0.0, 1.0], ["True", "False", "TRUE"]])
def test_what_is_observed(tmp_path, frame, name, values, backend, monkeypatch):
    if name.endswith("parquet") and backend == "pandas":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = write(frame.with_columns(pl.Series("died", values)), tmp_path / name)
    table = load_table(path, target="price", qid="district", observed="died")
    assert "died" not in table.X.columns
    assert table.observed.dtype == bool
    np.testing.assert_array_equal(table.observed, [True, False, True])
    with pytest.raises(ValueError, match='column "age" must hold 1 or 0, true or false, but holds'):
        load_table(path, target="price", observed="age", drop=["died", "district"])


def test_columns_to_leave_out_and_to_take(tmp_path, frame):
    path = write(frame, tmp_path / "t.csv")
    table = load_table(path, drop=["district", "price"])
    assert table.X.columns == ["rooms", "age", "new"]
    assert table.y is table.qid is table.weight is None
    assert load_table(path, features=["new", "rooms"]).X.columns == ["new", "rooms"]


def test_a_column_named_qid_is_taken_as_that(tmp_path, frame):
    path = write(frame.rename({"district": "qid"}), tmp_path / "t.csv")
    assert load_table(path, target="price").qid.tolist() == ["a", "a", "b"]
    assert load_table(path, target="price", qid="age", drop=["qid"]).qid.tolist() == ["10.0", "2.5", "30.0"]


# Features for preprocessing


@both_readers
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_features_as_they_are(tmp_path, name, backend, monkeypatch):
    if name.endswith("parquet") and backend == "pandas":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    frame = pl.DataFrame({"a": [1.5, None, 3.0], "b": ["x", None, "y"], "c": [True, False, True], "y": [1, 2, 3]})
    path = write(frame, tmp_path / name)
    X = load_table(path, target="y", numeric=False).X
    assert list(X.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(X["a"].to_numpy(), [1.5, np.nan, 3.0])
    assert [X["b"][0], X["b"][2]] == ["x", "y"]
    assert X["c"].to_numpy().dtype == bool
    with pytest.raises(ValueError, match='column "a" has missing values, the first in row 2'):
        load_table(path, target="y")
    with pytest.raises(ValueError, match='column "b" has missing values, the first in row 2'):
        load_table(path, target="b", numeric=False)


@both_readers
def test_columns_read_as_text(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / "t.csv"
    path.write_text("zip,qid,y\n01,1,2\n1,01,1\n,1,3\nNA,2,1\n")
    table = load_table(path, target="y", numeric=False, text=["zip", "not there"])
    X = table.X["zip"].to_list() if backend == "polars" else table.X["zip"].tolist()
    assert [X[0], X[1], X[3]] == ["01", "1", "NA"]
    assert X[2] is None or np.isnan(X[2])
    assert table.qid.tolist() == ["1", "01", "1", "2"]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("1", "2.5"),
        ("1", "many"),
        ("2.5", "many"),
        ("true", "1"),
        ("", "2"),
        ("", "many"),
        ("", ""),
        ("many", "1"),
        ("1", "99999999999999999999999"),
        ("1", "inf"),
    ],
)
def test_any_row_may_determine_the_type_of_a_column(tmp_path, monkeypatch, first, later):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + f"{first},1\n" * 6 + f"{later},2\n")
    found = load_table(path, target="y", numeric=False).X
    monkeypatch.setattr(_tables, "_FIRST_ROWS", 3)
    again = load_table(path, target="y", numeric=False).X
    assert again.schema == found.schema
    assert again.equals(found)


def test_long_files_are_read_once(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        pl, "read_csv", lambda *_, read=pl.read_csv, **options: calls.append(options) or read(*_, **options)
    )
    (tmp_path / "t.csv").write_text("a,y\n" + "1,1\n" * 20_000 + "2,2\n")
    assert len(load_table(tmp_path / "t.csv", target="y").X) == 20_001
    assert [each["infer_schema_length"] for each in calls] == [10_000]


# Query ids


def queries(path, lines, **options):
    path.write_text("query,a,y\n" + "".join(f"{each},{row},{row % 3}\n" for row, each in enumerate(lines)))
    return load_table(path, **{"target": "y", "qid": "query", **options})


@both_readers
@pytest.mark.parametrize(
    "ids",
    [
        ["01", "1", "001"],
        ["1.10", "1.1"],
        ["1e5", "100000"],
        ["+1", "1", "-0", "0"],
        ["12345678901234567890", "12345678901234567891"],
        ["9223372036854775807", "9223372036854775808"],
        ["9" * 50, "9" * 49 + "8", "9" * 5000],
        ["NA", "nan", "null", "NaN", "None"],
        ["true", "True", "1"],
        ["2020-01-01", "2020-1-1"],
        [" 1", "1", "1 "],
        ["ä", "a"],
    ],
    ids=lambda ids: ids[0][:20],
)
def test_ids_of_text_are_compared_as_written(tmp_path, ids, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    assert queries(tmp_path / "t.csv", ids * 2).qid.tolist() == ids * 2


@both_readers
def test_plain_integers_are_numbers_as_in_svmlight_files(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    ids = [0, 7, -3, 2**63 - 1, -(2**63), 7]
    table = queries(tmp_path / "t.csv", ids)
    assert table.qid.dtype == np.int64
    assert table.qid.tolist() == ids
    (tmp_path / "t.txt").write_text("".join(f"1 qid:{each} 1:1\n" for each in ids))
    assert load_svmlight(tmp_path / "t.txt").qid.tolist() == ids


@both_readers
@pytest.mark.parametrize("missing", ["", '""'])
def test_an_id_that_is_missing(tmp_path, missing, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    with pytest.raises(ValueError, match='column "query" has missing values, the first in row 2'):
        queries(tmp_path / "t.csv", ["q", missing])


@both_readers
def test_a_column_of_queries_that_is_a_feature_as_well(tmp_path, backend, monkeypatch):
    """A model that was trained without queries may be evaluated with them."""
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    table = queries(tmp_path / "t.csv", ["01", "1", "2.5"], features=["a", "query"])
    assert table.qid.tolist() == ["01", "1", "2.5"]
    np.testing.assert_array_equal(np.asarray(table.X, dtype=float), [[0, 1], [1, 1], [2, 2.5]])
    with pytest.raises(ValueError, match="column \"query\" does not hold numbers, but 'x'"):
        queries(tmp_path / "t.csv", ["01", "x"], features=["a", "query"])


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([1.5, 2.5, 1.5]),
        pl.Series(["01", "1", "01"]),
        pl.Series([2**64 - 1, 2**64 - 2, 2**64 - 1], dtype=pl.UInt64),
        pl.Series([2**100, 2**100 + 1, 2**100], dtype=pl.Int128),
        pl.Series([Decimal("12345678901234567890.1"), Decimal("12345678901234567890.2"), Decimal("1")]),
        pl.Series([date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)]),
        pl.Series(["a", "b", "a"], dtype=pl.Categorical),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_typed_ids_keep_their_values(tmp_path, ids):
    pl.DataFrame({"a": [1, 2, 3], "y": [1, 2, 3], "qid": ids}).write_parquet(tmp_path / "t.parquet")
    assert load_table(tmp_path / "t.parquet", target="y").qid.tolist() == ids.to_list()


@both_readers
def test_integers_of_20_digits(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / "t.csv"
    path.write_text("a,y\n12345678901234567890,1\n1,2\n")
    table = load_table(path, target="y")
    np.testing.assert_array_equal(np.asarray(table.X, dtype=float).ravel(), [12345678901234567890.0, 1.0])
    with pytest.raises(ValueError, match=r'column "a" has integers beyond 2\*\*53'):
        load_table(path, target="a")


@both_readers
def test_a_file_without_rows(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / "t.csv"
    for text in ("a,y,qid\n", "a,y,qid"):
        path.write_text(text)
        for options in ({}, {"target": "y"}, {"target": "y", "qid": "a"}, {"features": []}):
            with pytest.raises(ValueError, match=r"t\.csv: there are no rows\.$"):
                load_table(path, **options)


def test_format_overrules_the_name(tmp_path, frame):
    path = tmp_path / "t.bin"
    frame.write_parquet(path)
    assert load_table(path, format="parquet", drop=["district"]).X.shape == (3, 4)


def test_an_estimator_takes_it_with_its_names(tmp_path, frame):
    table = load_table(write(frame, tmp_path / "t.csv"), target="price", drop=["district"])
    model = RankSVM().fit(table.X, table.y)
    assert model.feature_names_in_.tolist() == ["rooms", "age", "new"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "prize"}, r't\.csv: there is no column "prize"; the columns are rooms, age'),
        ({"drop": ["garden"]}, '"garden"'),
        ({"features": ["rooms", "garden"]}, '"garden"'),
        (
            {"target": "price"},
            "column \"district\" does not hold numbers, but 'a' in row 1 of the data; encode or drop",
        ),
        ({"target": "district"}, "column \"district\" does not hold numbers, but 'a' in row 1 of the data; encode it"),
    ],
)
def test_bad_columns(tmp_path, frame, options, message):
    with pytest.raises(ValueError, match=message):
        load_table(write(frame, tmp_path / "t.csv"), **options)


def test_missing_values_are_told_by_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2\n,3\n")
    with pytest.raises(ValueError, match='column "a" has missing values, the first in row 2'):
        load_table(path, target="y")
    with pytest.raises(ValueError, match='column "a" has missing values, the first in row 2'):
        load_table(path, target="y", qid="a")


def test_integers_that_float64_cannot_tell_apart(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 2, 3], "y": [2**53, 2**53 + 1, 2**53 + 2]}).write_parquet(path)
    with pytest.raises(ValueError, match=r'column "y" has integers beyond 2\*\*53'):
        load_table(path, target="y")


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_no_finite_number_is_told_by_row(tmp_path, value):
    path = tmp_path / "t.csv"
    path.write_text(f"a,y\n1.5,2\n{value},3\n")
    with pytest.raises(ValueError, match=rf'column "a" (holds|does not hold numbers, but) .?{value}.? in row 2'):
        load_table(path, target="y")


@both_readers
def test_decimals_that_come_late(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n" * 2000 + "0.5,2\n")
    assert load_table(path, target="y").X["a"][2000] == 0.5


@both_readers
def test_one_bad_cell_far_down_is_found(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1.5,2\n" * 5000 + "oops,2\n")
    with pytest.raises(ValueError, match="column \"a\" does not hold numbers, but 'oops' in row 5001 of the data"):
        load_table(path, target="y")


def test_another_separator_is_hinted_at(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;y\n1;2\n")
    with pytest.raises(ValueError, match="the columns are a;y; commas separate columns"):
        load_table(path, target="y")


def test_what_libraries_say_is_cut_to_a_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2,3,4\n")
    with pytest.raises(ValueError, match=r"^[^\n]*t\.csv: cannot be read as a table: [^\n]*$"):
        load_table(path, target="y")


@both_readers
def test_bad_files(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    with pytest.raises(FileNotFoundError):
        load_table(tmp_path / "nowhere.csv")
    (tmp_path / "t.parquet").write_text("no parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: "):
        load_table(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("")
    with pytest.raises(ValueError, match=r"t\.csv: "):
        load_table(tmp_path / "t.csv")


def test_without_any_reader(tmp_path, frame, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", ("nothing_of_this_name",))
    with pytest.raises(ModuleNotFoundError, match=r"kernelrank\[tables\]"):
        load_table(write(frame, tmp_path / "t.csv"))


@both_readers
def test_a_feature_without_a_name(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    path = tmp_path / "index.csv"
    path.write_text(",a,y\n0,1,2\n1,3,4\n")  # as pandas writes a frame with its index
    nameless = {"polars": "", "pandas": "Unnamed: 0"}[backend]
    told = rf"index\.csv: column 1 has no name \(an index written by pandas\?\).*drop=\['{nameless}'\]"
    with pytest.raises(ValueError, match=told):
        load_table(path, target="y")
    assert list(load_table(path, target="y", drop=[nameless]).X.columns) == ["a"]
    assert list(load_table(path, target="y", features=["a"]).X.columns) == ["a"]  # of a model
    path.write_text("a,,y\n0,1,2\n1,3,4\n")
    with pytest.raises(ValueError, match="column 2 has no name"):
        load_table(path, target="y")


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_quotation_marks_in_names_and_values(tmp_path, monkeypatch, backend):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    (tmp_path / "t.csv").write_text('"the ""best""","a, b","""id""",y\n"x ""y""",1,01,1\nz,2,1,2\n')
    table = load_table(tmp_path / "t.csv", target="y", qid='"id"', numeric=False)
    X = nw.from_native(table.X, eager_only=True)
    assert X.columns == ['the "best"', "a, b"]
    assert X['the "best"'].to_list() == ['x "y"', "z"]
    assert table.qid.tolist() == ["01", "1"]
