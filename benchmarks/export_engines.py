"""Evaluators of exported models, each written from the documentation of its format and not from the exporter.

The two plugins of search engines compute in float32, one number after the other. Rows are dicts from column names to
values; a column that is absent or None is missing.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = Mapping[str, Any]
Vector = NDArray[np.float64]
F = np.float32


def feature_value(row: Row, name: str) -> float:
    """Return the value of a feature for a document: the queries that a user defines in the engine, as documented.

    ``column`` is the field's value, ``column=category`` is 1 for documents of the category, and ``column:missing`` is 1
    for those without the field. A document that no query matches has the value 0.
    """
    if name in row or ("=" not in name and ":" not in name):
        value = row.get(name)
        return 0.0 if _is_missing(value) else float(value)
    column, _, kind = name.rpartition(":")
    if kind == "missing" and column in row:
        return float(_is_missing(row[column]))
    for column in row:
        if name.startswith(f"{column}="):
            return float(not _is_missing(row[column]) and f"{column}={row[column]}" == name)
    raise KeyError(name)


def ltr_scores(body: Any, rows: Iterable[Row]) -> Vector:
    """Score rows as the Learning to Rank plugins of Elasticsearch and OpenSearch do.

    https://elasticsearch-learning-to-rank.readthedocs.io/en/latest/training-models.html: the definition of a
    ``model/linear`` maps features to weights; ``standard`` is ``(value - mean) / standard_deviation``, and ``min_max``
    is ``(value - minimum) / (maximum - minimum)``.
    """
    model = _through_json(body)["model"]["model"]
    assert model["type"] == "model/linear"
    weights, norms = json.loads(model["definition"]), model.get("feature_normalizers", {})
    assert norms.keys() <= weights.keys()

    def normalise(name: str, value: np.float32) -> np.float32:
        for kind, parameters in norms.get(name, {}).items():
            p = {key: F(number) for key, number in parameters.items()}
            if kind == "standard":
                return (value - p["mean"]) / p["standard_deviation"]
            assert kind == "min_max"
            return (value - p["minimum"]) / (p["maximum"] - p["minimum"])
        return value

    return _float32_sums(weights, normalise, rows)


def solr_scores(body: Any, rows: Iterable[Row]) -> Vector:
    """Score rows as the Learning To Rank module of Solr does.

    https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html: each feature has one weight, and a
    StandardNormalizer is ``(value - avg) / std`` with parameters that are text.
    """
    model = _through_json(body)
    assert model["class"] == "org.apache.solr.ltr.model.LinearModel"
    names = [each["name"] for each in model["features"]]
    weights = model["params"]["weights"]
    assert sorted(names) == sorted(weights)
    assert len(set(names)) == len(names)
    norms = {each["name"]: each["norm"] for each in model["features"] if "norm" in each}

    def normalise(name: str, value: np.float32) -> np.float32:
        if name not in norms:
            return value
        assert norms[name]["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
        parameters = norms[name]["params"]
        assert all(isinstance(each, str) for each in parameters.values())
        std = F(parameters["std"])
        assert std > 0
        return (value - F(parameters["avg"])) / std

    return _float32_sums({name: weights[name] for name in names}, normalise, rows)


def onnx_scores(model: Any, rows: Any) -> NDArray[Any]:
    """Score rows with onnxruntime: a matrix, or a sequence of dicts. A missing number is NaN, a missing text empty."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    types = {"tensor(double)": np.float64, "tensor(float)": np.float32}
    feed = {}
    for each in session.get_inputs():
        if each.type == "tensor(string)":
            texts = ["" if _is_missing(row.get(each.name)) else str(row[each.name]) for row in rows]
            feed[each.name] = np.array(texts, dtype=object)[:, None]
        elif isinstance(rows, np.ndarray):
            feed[each.name] = rows.astype(types[each.type])
        else:
            numbers = [math.nan if _is_missing(row.get(each.name)) else float(row[each.name]) for row in rows]
            feed[each.name] = np.array(numbers, types[each.type])[:, None]
    [scores] = session.run(None, feed)
    return scores


def sql_scores(expression: str, rows: Sequence[Row]) -> Vector:
    """Evaluate an expression of SQL with SQLite; NULL becomes NaN."""
    columns = list(rows[0])
    quoted = ['"' + name.replace('"', '""') + '"' for name in columns]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE rows ({', '.join(quoted)})")
        values = [[None if _is_missing(row[name]) else row[name] for name in columns] for row in rows]
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})", values)
        found = [score for (score,) in database.execute(f"SELECT {expression} FROM rows ORDER BY rowid")]
    return np.array([math.nan if score is None else score for score in found], dtype=np.float64)


def _float32_sums(weights: Mapping[str, float], normalise: Any, rows: Iterable[Row]) -> Vector:
    scores = []
    for row in rows:
        score = F(0)
        for name, weight in weights.items():
            score = F(score + F(weight) * normalise(name, F(feature_value(row, name))))
        scores.append(float(score))
    return np.array(scores)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _through_json(body: Any) -> Any:
    return json.loads(json.dumps(body, allow_nan=False))
