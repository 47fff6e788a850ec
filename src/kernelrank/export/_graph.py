"""Construction of ONNX graphs node by node."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernelrank.export._form import Matrix

_MOST_BYTES = 2**31 - 1  # of a message of protobuf


class Graph:
    """Nodes, constants and inputs of an ONNX graph, computed in one floating-point type.

    Parameters
    ----------
    onnx : module
    dtype : {"float64", "float32"}
    """

    def __init__(self, onnx: ModuleType, dtype: Literal["float64", "float32"]) -> None:
        self._onnx = onnx
        self.dtype = np.dtype(dtype)
        self.kind: int = onnx.TensorProto.DOUBLE if dtype == "float64" else onnx.TensorProto.FLOAT
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self._constants: list[Any] = []
        self._n_bytes = 0

    def add(self, operator: str, *inputs: str, domain: str = "", output: str | None = None, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        name = f"kernelrank/{len(self.nodes)}/{operator}" if output is None else output
        self.nodes.append(self._onnx.helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def constant(self, values: Any) -> str:
        """Add numbers in the type of the graph; return their name."""
        exact = np.asarray(values, np.float64)
        with np.errstate(over="ignore", under="ignore"):  # checked below
            numbers = exact.astype(self.dtype)
        if np.isinf(numbers).any():
            raise ValueError(f'model cannot be exported with dtype="{self.dtype}": its numbers exceed that type.')
        return self._store(numbers)

    def indices(self, values: Any) -> str:
        """Add integers; return their name."""
        return self._store(np.asarray(values, np.int64))

    def add_input(self, name: str, width: int, *, text: bool = False) -> str:
        """Add an input of shape (n_rows, width); return its name."""
        kind = self._onnx.TensorProto.STRING if text else self.kind
        self.inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, ["n_rows", width]))
        return name

    def look_up(self, column: str, known: tuple[Any, ...], table: Matrix, *, text: bool) -> str:
        """Add a matrix whose rows are those of a table: one per known category, for unknown ones, and for missing."""
        helper, tensor = self._onnx.helper, self._onnx.TensorProto
        n_known = len(known)
        places = [*range(n_known), n_known + 1]
        keys: list[Any]
        if text:
            if "" in known:  # then an empty string is not a missing one
                keys, places = list(known), places[:-1]
            else:
                keys = [*known, ""]
            keys, kind = [key.encode() for key in keys], tensor.STRING
        else:
            keys, kind = [*map(float, known), np.nan], self.kind
            if len(np.unique(np.array(keys, self.dtype))) < len(keys):
                raise ValueError(
                    f"model cannot be exported: some of its categories are the same number in {self.dtype}."
                )
        place = self.add(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_tensor=helper.make_tensor("keys", kind, [len(keys)], keys),
            values_tensor=helper.make_tensor("values", tensor.INT64, [len(keys)], places),
            default_tensor=helper.make_tensor("default", tensor.INT64, [1], [n_known]),
        )
        flat = self.add("Squeeze", place, self.indices([1]))
        return self.add("Gather", self.constant(table), flat, axis=0)

    def finish(self, output: str, n_outputs: int | None, **properties: Any) -> Any:
        """Return the graph as a model with one output, of one number per row unless `n_outputs` is given."""
        helper = self._onnx.helper
        shape = ["n_rows"] if n_outputs is None else ["n_rows", n_outputs]
        result = helper.make_tensor_value_info(output, self.kind, shape)
        graph = helper.make_graph(self.nodes, "kernelrank", self.inputs, [result], self._constants)
        return helper.make_model(graph, **properties)

    def _store(self, values: NDArray[Any]) -> str:
        self._n_bytes += values.nbytes
        if self._n_bytes > _MOST_BYTES:
            raise ValueError(
                "model cannot be exported: an ONNX file has at most 2 GiB, and the basis rows or weights have more. Use"
                ' a smaller n_basis, or dtype="float32".'
            )
        name = f"kernelrank/constant/{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))
        return name
