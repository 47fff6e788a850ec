"""Readers of ratings, on small folders in the published layouts."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank import RankSVM
from kernelrank.datasets import load_jester, load_movielens
from kernelrank.exceptions import DataFormatError
from kernelrank.relational import KroneckerRows

RATINGS = [(7, 50, 5, 881250949), (3, 9, 2, 891717742), (7, 9, 3, 878887116), (3, 2, 4, 880606923)]
GENRES = (
    "unknown|Action|Adventure|Animation|Children's|Comedy|Crime|Documentary|Drama|Fantasy|Film-Noir|Horror|Musical|"
    "Mystery|Romance|Sci-Fi|Thriller|War|Western"
)
YEARS = {2: 1995, 9: 1966, 50: 2004, 51: 1995}  # that of 51 is not known: the median of the others


def write_100k(folder):
    def film(number, title, *genres):
        flags = ["1" if name in genres else "0" for name in GENRES.split("|")]
        return "|".join([str(number), title, "01-Jan-1995", "", "http://us.imdb.com/M/title-exact?x", *flags])

    (folder / "u.data").write_text("".join("\t".join(map(str, row)) + "\n" for row in RATINGS))
    films = [
        film(2, "Toy Story (1995)", "Animation", "Comedy"),
        film(9, "Belle de jour (1966)", "Drama"),
        film(50, "Léon, der (2004)", "Action"),
        film(51, "unknown", "unknown"),
    ]
    (folder / "u.item").write_bytes("\n".join(films).encode("latin-1"))  # É is not UTF-8
    (folder / "u.user").write_text("3|24|M|technician|85711\n7|53|F|other|94043\n8|23|M|writer|32067\n")


def write_dat(folder, users=True):
    (folder / "ratings.dat").write_text("".join("::".join(map(str, row)) + "\n" for row in RATINGS))
    (folder / "movies.dat").write_text(
        "2::Toy Story (1995)::Animation|Comedy\n9::Belle de jour (1966)::Drama\n"
        "50::Léon: der, Profi (2004)::Action\n51::Nothing::(no genres listed)\n"
    )
    if users:
        (folder / "users.dat").write_text("3::M::25::15::55117\n7::F::56::2::70072\n8::M::1::10::48067\n")


def write_csv(folder):
    rows = "".join(",".join(map(str, row)) + "\r\n" for row in RATINGS)
    (folder / "ratings.csv.gz").write_bytes(
        gzip.compress(("userId,movieId,rating,timestamp\r\n" + rows.replace("50,5,", "50,4.5,")).encode())
    )
    (folder / "movies.csv").write_text(
        'movieId,title,genres\r\n2,Toy Story (1995),Animation|Comedy\r\n9,"Belle ""de"" jour, la (1966)",Drama\r\n'
        "50,Léon (2004– ),Action\r\n51,Nothing,(no genres listed)\r\n",
        encoding="utf-8",
    )


WRITERS = {"100K": write_100k, "1M": write_dat, "10M": lambda folder: write_dat(folder, users=False), "CSV": write_csv}


@pytest.mark.parametrize("name", WRITERS)
def test_movielens(tmp_path, name):
    WRITERS[name](tmp_path)
    found = load_movielens(tmp_path)
    stars = [4.5 if name == "CSV" else 5, 2, 3, 4]
    users = [3, 7, 8] if name in ("100K", "1M") else [3, 7]  # user 8 has no ratings
    np.testing.assert_array_equal(found.y, stars)
    np.testing.assert_array_equal(found.qid, [7, 3, 7, 3])
    np.testing.assert_array_equal(found.timestamp, [row[3] for row in RATINGS])
    np.testing.assert_array_equal(found.item_ids, [2, 9, 50, 51])
    np.testing.assert_array_equal(found.user_ids, users)
    np.testing.assert_array_equal(found.user_ids[found.entries[:, 0]], [row[0] for row in RATINGS])
    np.testing.assert_array_equal(found.item_ids[found.entries[:, 1]], [row[1] for row in RATINGS])
    assert [title[:4] for title in found.titles[:3]] == ["Toy ", "Bell", "Léon"]

    wanted = {2: {"Animation", "Comedy"}, 9: {"Drama"}, 50: {"Action"}, 51: {"unknown"} if name == "100K" else set()}
    *names, last = found.item_feature_names
    assert last == "decades after 2000"
    features = found.item_features.toarray()
    for row, film in zip(features, found.item_ids.tolist(), strict=True):
        assert {name for name, flag in zip(names, row, strict=False) if flag} == wanted[film]
        assert row[-1] == pytest.approx((YEARS[film] - 2000) / 10)
    np.testing.assert_array_equal(found.X.toarray(), features[found.entries[:, 1]])

    matrix = np.full((len(users), 4), np.nan)
    for (user, film, *_), rating in zip(RATINGS, stars, strict=True):
        matrix[users.index(user), [2, 9, 50, 51].index(film)] = rating
    np.testing.assert_array_equal(found.to_matrix(), matrix)


def test_features_of_users(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_100k(tmp_path / "a")
    write_dat(tmp_path / "b")
    old, new = load_movielens(tmp_path / "a"), load_movielens(tmp_path / "b")
    assert old.user_feature_names[2:] == ["occupation other", "occupation technician", "occupation writer"]
    np.testing.assert_allclose(
        old.user_features.toarray(), [[2.4, 1, 0, 1, 0], [5.3, 0, 1, 0, 0], [2.3, 1, 0, 0, 1]], rtol=1e-12
    )
    assert new.user_feature_names[2:] == ["occupation 2", "occupation 10", "occupation 15"]  # in the order of numbers
    np.testing.assert_allclose(
        new.user_features.toarray(), [[2.5, 1, 0, 0, 1], [5.6, 0, 1, 0, 0], [0.1, 1, 0, 1, 0]], rtol=1e-12
    )
    assert old.user_feature_names[:2] == new.user_feature_names[:2] == ["age in decades", "gender M"]


@pytest.mark.parametrize("name", ["100K", "CSV"])
def test_rankers_take_the_ratings(tmp_path, name):
    WRITERS[name](tmp_path)
    found = load_movielens(tmp_path)
    assert RankSVM().fit(found.X, found.y, qid=found.qid).score(found.X, found.y, qid=found.qid) == 1
    U = sp.eye_array(len(found.user_ids)) if found.user_features is None else found.user_features
    rows = KroneckerRows(U, found.item_features, *found.entries.T)
    assert RankSVM().fit(rows, found.y, qid=found.qid).score(rows, found.y, qid=found.qid) == 1


def test_several_sets_or_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold u.data, ratings.dat or ratings.csv, but .* is empty"):
        load_movielens(tmp_path)
    (tmp_path / "ml-1m").mkdir()
    write_dat(tmp_path / "ml-1m")
    with pytest.raises(FileNotFoundError, match=f"has only ml-1m. Pass {tmp_path / 'ml-1m'}."):
        load_movielens(tmp_path)
    write_csv(tmp_path / "ml-1m")
    with pytest.raises(ValueError, match=r"one set of MovieLens, but .* has ratings.dat and ratings.csv.gz"):
        load_movielens(tmp_path / "ml-1m")
    with pytest.raises(FileNotFoundError, match=r"folder must be a folder that holds .*nowhere does not exist"):
        load_movielens(tmp_path / "nowhere")
    write_100k(tmp_path)
    (tmp_path / "u.item").unlink()
    with pytest.raises(FileNotFoundError, match=r"folder must hold u.item, but .* has only ml-1m, u.data, u.user"):
        load_movielens(tmp_path)


@pytest.mark.parametrize(
    ("name", "file", "line", "text", "message"),
    [
        ("100K", "u.data", 2, "3\t9\t2", "expected 4 fields separated by a tab, got 3."),
        ("100K", "u.data", 2, "3\t9\tgood\t1", "rating must be a number, got 'good'."),
        ("100K", "u.data", 3, "7\t9\tnan\t1", "rating must be a finite number, got nan."),
        ("100K", "u.data", 3, "7\t9.5\t3\t1", "movieId must be an integer, got '9.5'."),
        ("100K", "u.data", 4, "3\t77\t3\t1", "movieId 77 is not in u.item."),
        ("100K", "u.data", 4, "9\t2\t3\t1", "userId 9 is not in u.user."),
        ("100K", "u.item", 2, "9|Belle de jour (1966)|Drama", 'expected 24 fields separated by "|", got 3.'),
        ("100K", "u.item", 2, "|".join(["9", "a", "", "", "", *["2"] * 19]), "the last 19 fields, of genres, must be"),
        ("100K", "u.user", 1, "3|M|24|technician|85711", "the age must be an integer, got 'M'."),
        ("100K", "u.user", 2, "7|53|X|other|94043", "the gender must be M or F, got 'X'."),
        ("1M", "ratings.dat", 1, "7:50:5:881250949", 'expected 4 fields separated by "::", got 1.'),
        ("1M", "movies.dat", 3, "two::Toy Story (1995)::Comedy", "the id must be an integer, got 'two'."),
        ("1M", "movies.dat", 3, "9::Toy Story (1995)::Comedy", "the id 9 is also in line 2."),
        ("CSV", "movies.csv", 3, "9,Belle de jour, la (1966),Drama", 'expected 3 fields separated by ",", got 4.'),
        ("CSV", "movies.csv", 3, f"9,{'x' * 200_000},Drama", "field larger than field limit (131072)."),
        ("CSV", "movies.csv", 1, "id,title,genres", "expected the header movieId,title,genres."),
    ],
)
def test_mistakes_are_told_with_the_line(tmp_path, name, file, line, text, message):
    WRITERS[name](tmp_path)
    path = tmp_path / file
    lines = path.read_text(encoding="latin-1").splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines) + "\n", encoding="latin-1")
    with pytest.raises(DataFormatError) as raised:
        load_movielens(tmp_path)
    assert str(raised.value).startswith(f"{path}:{line}: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3.0,4\n", ":1: expected the header userId,movieId,rating,timestamp, got '1,2,3.0,4'."),
        ("", ":1: expected the header userId,movieId,rating,timestamp, got ''."),
        ("userId,movieId,rating,timestamp\n", ": there are no rows."),
        ("userId,movieId,rating,timestamp\n\n1,2,x,4\n", ":3: rating must be a number, got 'x'."),
        ("userId,movieId,rating,timestamp\n\n1,2,inf,4\n", ":3: rating must be a finite number, got inf."),
    ],
)
def test_ratings_with_a_header(tmp_path, text, message):
    write_csv(tmp_path)
    (tmp_path / "ratings.csv.gz").unlink()
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    with pytest.raises(DataFormatError) as raised:
        load_movielens(tmp_path)
    assert str(raised.value) == f"{path}{message}"


def test_byte_order_marks_are_skipped(tmp_path):
    write_csv(tmp_path)
    expected = load_movielens(tmp_path)
    films = (tmp_path / "movies.csv").read_bytes()
    ratings = gzip.decompress((tmp_path / "ratings.csv.gz").read_bytes())
    (tmp_path / "movies.csv").write_bytes(b"\xef\xbb\xbf" + films)
    (tmp_path / "ratings.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + ratings))
    found = load_movielens(tmp_path)
    np.testing.assert_array_equal(found.to_matrix(), expected.to_matrix())
    assert found.titles == expected.titles


def test_empty_files(tmp_path):
    for name in ("u.data", "u.item", "u.user"):
        write_100k(tmp_path)
        (tmp_path / name).write_text("")
        with pytest.raises(DataFormatError, match=f"^{tmp_path / name}: there are no rows"):
            load_movielens(tmp_path)


def write_jester(path, ratings):
    table = np.where(np.isnan(ratings), 99, ratings)
    lines = [",".join(f"{value:g}" for value in (np.sum(row != 99), *row)) for row in table]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("number", [1, 2, 3])
def test_jester(tmp_path, number):
    rng = np.random.default_rng(number)
    ratings = np.where(rng.random((5, 100)) < 0.4, np.round(rng.uniform(-10, 10, (5, 100)), 2), np.nan)
    ratings[2, :] = np.nan  # a user without ratings
    write_jester(tmp_path / f"jester-data-{number}.csv", ratings)
    found = load_jester(tmp_path, number)
    np.testing.assert_array_equal(found.to_matrix(), ratings)
    rows, jokes = np.nonzero(~np.isnan(ratings))
    np.testing.assert_array_equal(found.entries, np.column_stack([rows, jokes]))
    np.testing.assert_array_equal(found.y, ratings[rows, jokes])
    np.testing.assert_array_equal(found.qid, rows + 1)
    np.testing.assert_array_equal(found.X.toarray(), np.eye(100)[jokes])
    assert found.user_features is found.timestamp is None


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda cells: cells[:-1], 'expected 101 fields separated by ",", got 100.'),
        (lambda cells: [*cells[:4], "x", *cells[5:]], "joke 4 must be a number, got 'x'."),
        (lambda cells: [*cells[:4], "", *cells[5:]], "joke 4 must be a number, got ''."),
        (
            lambda cells: [*cells[:4], "10.5", *cells[5:]],
            "a rating must be from -10 to 10, or 99, but joke 4 has 10.5.",
        ),
    ],
)
def test_mistakes_in_jester_are_told_with_the_line(tmp_path, edit, message):
    path = write_jester(tmp_path / "jester-data-1.csv", np.full((3, 100), 1.5))
    lines = path.read_text().splitlines()
    lines[1] = ",".join(edit(lines[1].split(",")))
    path.write_text("\n".join(lines))
    with pytest.raises(DataFormatError) as raised:
        load_jester(tmp_path)
    assert str(raised.value) == f"{path}:2: {message}"


def test_excel_files_are_to_be_converted(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder must hold jester-data-1.csv, but .* is empty\.$"):
        load_jester(tmp_path)
    (tmp_path / "jester-data-1.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(FileNotFoundError, match=r"Convert the Excel file: libreoffice .* jester-data-1\.xls$"):
        load_jester(tmp_path)


@pytest.mark.skipif("KERNELRANK_DATA" not in os.environ, reason="KERNELRANK_DATA names no folder with real data")
def test_jester_of_real_users(tmp_path):
    with np.load(Path(os.environ["KERNELRANK_DATA"], "other", "jester1.npz")) as file:
        raw = file["ratings_x100"][:2000]
    ratings = np.where(raw == 9999, np.nan, raw / 100.0)
    write_jester(tmp_path / "jester-data-1.csv", ratings)
    found = load_jester(tmp_path)
    np.testing.assert_array_equal(found.to_matrix(), ratings)
    assert np.bincount(found.qid)[1:].min() >= 36
