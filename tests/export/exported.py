"""Tables and pipelines to export."""

import numpy as np
import polars as pl
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelrank import RankSVM
from kernelrank.pipelines import make_query_pipeline

NUMBERS = ["price", "stars", "floor's"]
CATEGORIES = ["district", 'say "kind"', "parking"]


def make_table(rng, m=120):
    """Return a table with missing values, ties, rare categories and quotes in names and categories."""
    districts = ["north", "south", "o'hare", 'the "old" town', "ä", "rare 1", "rare 2"]
    table = pl.DataFrame(
        {
            "price": np.round(rng.normal(120, 30, m)),
            "stars": rng.integers(1, 6, m).astype(float),
            "floor's": 1e6 + rng.normal(size=m),
            "district": rng.choice(districts, m, p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.03, 0.02]),
            'say "kind"': rng.choice(["flat", "house"], m),
            "parking": rng.integers(0, 2, m).astype(bool),
            "qid": np.arange(m) // 8,
        }
    )
    for name, share in (("price", 0.3), ("district", 0.2), ('say "kind"', 0.2)):
        table = table.with_columns(pl.when(pl.Series(rng.random(m) >= share)).then(pl.col(name)).alias(name))
    # Equal rows in a query are ties.
    return pl.concat([table, table[: m // 8]]).sort("qid")


def utilities(rng, table):
    return table["stars"].to_numpy() - table["price"].fill_null(150).to_numpy() / 30 + rng.normal(size=len(table))


def make_table_pipeline(ranker=None, **options):
    """Return the pipeline of a table: numbers imputed and scaled, categories encoded with the rare ones together."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    options = {"min_frequency": 5, "handle_unknown": "infrequent_if_exist", **options}
    columns = ColumnTransformer([("numbers", numbers, NUMBERS), ("categories", OneHotEncoder(**options), CATEGORIES)])
    return make_query_pipeline(columns, RankSVM(1e-2) if ranker is None else ranker)


def with_surprises(table):
    """Return the table with categories that were never seen, and values that are missing where they were not."""
    rows = pl.int_range(len(table))
    return table.with_columns(
        pl.when(rows % 7 == 3).then(pl.lit("nowhere")).otherwise("district").alias("district"),
        pl.when(rows % 11 != 5).then("stars").alias("stars"),
    )


def rows_of(table):
    """Return the rows as dicts, without queries."""
    return table.drop("qid", strict=False).to_dicts()


def assert_same_order(scores, expected, qid):
    """Assert that scores rank each query as the expected ones do, ties included."""
    for query in np.unique(qid):
        found, right = scores[qid == query], expected[qid == query]
        np.testing.assert_array_equal(np.sign(found[:, None] - found), np.sign(right[:, None] - right))
