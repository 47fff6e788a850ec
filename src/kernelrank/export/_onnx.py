"""Models and pipelines as ONNX graphs."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import version
from math import isnan
from types import ModuleType
from typing import Any, Literal

import numpy as np

from kernelrank._memory import require_memory
from kernelrank._rules import choice
from kernelrank.export._form import Category, Expansion, Form, Linear, Matrix, Number, tabulate
from kernelrank.export._graph import Graph
from kernelrank.export._kernels import add_kernel
from kernelrank.export._model import describe
from kernelrank.export._terms import by_column

# Old enough for the runtimes in use, and new enough for lookups of float64 and text.
_OPERATORS, _ML_OPERATORS, _IR_VERSION = 17, 4, 8

_DTYPE = choice("float64", "float32")


def to_onnx(model: Any, feature_names: Any = None, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
    """Write a model, with the preprocessing of its pipeline, as an ONNX graph.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted :class:`~kernelrank.RankSVM`, :class:`~kernelrank.RankRLS`, :class:`~kernelrank.RLS`, one of their
        ``...CV``, :class:`~kernelrank.GreedyRLS` or :class:`~kernelrank.GreedyRankRLS`, or a Pipeline that ends in one.
        Kernels may be Linear, Polynomial, Gaussian, ``"rbf"``, ``"poly"``, and their sums, products and multiples. The
        steps may be scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer,
        OneHotEncoder, OrdinalEncoder, ColumnTransformer, Pipeline and selectors of features, and
        :class:`~kernelrank.NystromMap` before a linear model.
    feature_names : list of str, optional
        Names of inputs, one for each column that the model was fitted to. By default those of the data frame; a model
        that was fitted to an array of numbers has one input ``X``.
    dtype : {"float64", "float32"}, default="float64"
        Type of inputs, computations and scores. float32 loses about nine of sixteen digits, and more of them in a
        polynomial kernel or with features that were not scaled.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(found, path)`` writes a file.

    Raises
    ------
    ModuleNotFoundError
        If the package onnx is not installed.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model, its kernel or a step of the pipeline has no such graph; the error names it.
    ValueError
        If `feature_names` are too few, too many or repeated; if the model exceeds float32 or the 2 GiB of an ONNX file.

    See Also
    --------
    kernelrank.export.to_sql : Write a linear model as SQL.

    Notes
    -----
    The inputs are matrices of one column, one for each column of the data frame that the model uses, of strings or of
    numbers; or one matrix ``X``. The output ``score`` has one number per row, or one column per output of the model.
    Scores of float64 are those of ``predict`` up to rounding.

    A missing number is NaN, and a missing string is empty. The score is NaN where ``predict`` raises an error: for a
    category that the encoder refuses, and for a missing number without an imputer.

    The graph uses operators of the standard opset 17 and, for categories, LabelEncoder of ``ai.onnx.ml`` 4 [1]_; all of
    them are available in onnxruntime for float64. A kernel model holds its basis rows, which can be read by anyone who
    gets the file. Its size and the time per row are in proportion to the number of basis rows. The names of the
    columns, the class of the model and the version of kernelrank are in ``metadata_props``.

    References
    ----------
    .. [1] ONNX operators, https://onnx.ai/onnx/operators/

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankRLS
    >>> from kernelrank.export import to_onnx
    >>> X = [[1.0, 30.0], [2.0, 10.0], [3.0, 20.0]]
    >>> model = make_pipeline(StandardScaler(), RankRLS(kernel="gaussian")).fit(X, [0, 1, 2])
    >>> found = to_onnx(model)
    >>> [each.name for each in found.graph.input], [each.name for each in found.graph.output]
    (['X'], ['score'])
    """
    _DTYPE("dtype", dtype)
    form = describe(model, "ONNX", feature_names)
    onnx = _import_onnx()
    graph = Graph(onnx, dtype)
    inputs = _Inputs(form, graph)
    scorer = form.scorer
    total = _linear(form, scorer, inputs) if isinstance(scorer, Linear) else _expansion(form, scorer, inputs)
    total = graph.add("Add", total, graph.constant(scorer.offset))
    output = "score"
    while output in inputs.names:
        output += "_"
    if form.single:
        graph.add("Squeeze", total, graph.indices([1]), output=output)
    else:
        graph.add("Identity", total, output=output)
    found = graph.finish(output, None if form.single else len(scorer.offset), **_properties(onnx))
    facts = {"model": form.name, "kernelrank": version("kernelrank"), "feature_names": json.dumps(inputs.names)}
    onnx.helper.set_model_props(found, facts)
    onnx.checker.check_model(found, full_check=True)
    return found


class _Inputs:
    """Inputs of a graph, and the features that are computed from them."""

    def __init__(self, form: Form, graph: Graph) -> None:
        self.form, self.graph = form, graph
        self.columns = by_column(form)
        self.texts = {
            column: _is_text(features[0].known, form.column_names[column])
            for column, features in self._categories().items()
        }
        self._matrix: str | None = None
        if form.names is None and not any(self.texts.values()):
            self._matrix = graph.add_input("X", form.n_columns)
            self.names = ["X"]
            return
        names = form.column_names
        for column in sorted(self.columns):
            graph.add_input(names[column], 1, text=self.texts.get(column, False))
        self.names = [names[column] for column in sorted(self.columns)]

    def column(self, column: int) -> str:
        """Return the name of a column, of shape (n_rows, 1)."""
        if self._matrix is None:
            return self.form.column_names[column]
        return self.graph.add("Gather", self._matrix, self.graph.indices([column]), axis=1)

    def numbers(self) -> tuple[list[int], str]:
        """Return the positions of the features that are numbers, and their matrix."""
        graph = self.graph
        found = [(place, each) for place, each in enumerate(self.form.features) if isinstance(each, Number)]
        features = [each for _, each in found]
        matrix = self._gather([each.column for each in features])
        encoded = matrix
        centres, factors = [each.centre for each in features], [each.factor for each in features]
        if any(centres):
            encoded = graph.add("Sub", encoded, graph.constant(centres))
        if any(factor != 1 for factor in factors):
            encoded = graph.add("Mul", encoded, graph.constant(factors))
        if any(shifts := [each.shift for each in features]):
            encoded = graph.add("Add", encoded, graph.constant(shifts))
        if not all(isnan(each.missing) for each in features):
            absent = graph.constant([each.missing for each in features])
            encoded = graph.add("Where", graph.add("IsNaN", matrix), absent, encoded)
        return [place for place, _ in found], encoded

    def _gather(self, columns: list[int]) -> str:
        graph = self.graph
        if self._matrix is None:
            names = [self.form.column_names[column] for column in columns]
            return graph.add("Concat", *names, axis=1)
        if columns == list(range(self.form.n_columns)):
            return self._matrix
        return graph.add("Gather", self._matrix, graph.indices(columns), axis=1)

    def categories(self) -> list[tuple[list[int], list[Category]]]:
        """Return the features of each column of categories, with their positions."""
        found = sorted(self._categories().items())
        return [([place for place, _ in self.columns[column]], features) for column, features in found]

    def look_up(self, features: list[Category], table: Matrix) -> str:
        """Return the row of a table for the category of each row."""
        column = features[0].column
        return self.graph.look_up(self.column(column), features[0].known, table, text=self.texts[column])

    def _categories(self) -> dict[int, list[Category]]:
        found = {
            column: [each for _, each in features if isinstance(each, Category)]
            for column, features in self.columns.items()
        }
        return {column: features for column, features in found.items() if features}

    @property
    def has_numbers(self) -> bool:
        """Whether any feature is a number."""
        return any(isinstance(each, Number) for each in self.form.features)


def _is_text(known: tuple[Any, ...], column: str) -> bool:
    """Return whether a column of categories is text."""
    texts = {isinstance(key, str) for key in known}
    if len(texts) > 1:
        raise ValueError(f"The column {column!r} cannot be exported to ONNX: its categories are text and numbers.")
    return texts != {False}


def _linear(form: Form, scorer: Linear, inputs: _Inputs) -> str:
    """Add a linear model, whose categories are looked up in tables of their contributions to the scores."""
    graph, parts = inputs.graph, []
    if inputs.has_numbers:
        places, matrix = inputs.numbers()
        parts.append(graph.add("MatMul", matrix, graph.constant(scorer.weights[places])))
    for places, features in inputs.categories():
        parts.append(inputs.look_up(features, tabulate(features, scorer.weights[places])))
    total = parts[0]
    for part in parts[1:]:
        total = graph.add("Add", total, part)
    return total


def _expansion(form: Form, scorer: Expansion, inputs: _Inputs) -> str:
    """Add a kernel expansion; the basis rows have their features in the order of the graph."""
    graph, blocks = inputs.graph, []
    order: list[int] = []
    if inputs.has_numbers:
        order, matrix = inputs.numbers()
        blocks.append(matrix)
    for places, features in inputs.categories():
        n_rows = len(features[0].known) + 2
        require_memory(8.0 * n_rows * len(places), "The table of encoded categories", "Group infrequent categories.")
        blocks.append(inputs.look_up(features, tabulate(features, np.eye(len(places)))))
        order = order + places
    rows = blocks[0] if len(blocks) == 1 else graph.add("Concat", *blocks, axis=1)
    kernel = add_kernel(scorer.kernel, rows, scorer.basis[:, order], graph)
    return graph.add("MatMul", kernel, graph.constant(scorer.weights))


def _properties(onnx: ModuleType) -> dict[str, Any]:
    sets = [onnx.helper.make_opsetid("", _OPERATORS), onnx.helper.make_opsetid("ai.onnx.ml", _ML_OPERATORS)]
    return {
        "opset_imports": sets,
        "ir_version": _IR_VERSION,
        "producer_name": "kernelrank",
        "producer_version": version("kernelrank"),
    }


def _import_onnx() -> ModuleType:
    try:
        return import_module("onnx")
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            'to_onnx requires the package onnx: pip install "kernelrank[onnx]".', name="onnx"
        ) from missing
