"""All-paths graph kernel, against its definition."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from kernelrank import RLS, RankRLS, RankSVM
from kernelrank._core import connect_labels
from kernelrank.kernels import AllPaths, Graph

LABELS = list("abcde")


def values(graph, combine="sum", max_length=None):
    """Return the matrix G of all labels, by a loop over the vertices."""
    n = len(graph)
    A = np.zeros((n, n))
    for (i, j), weight in zip(graph.edges, graph.weights, strict=True):
        A[i, j] += weight
    if max_length is None:
        W = np.linalg.inv(np.eye(n) - A) - np.eye(n)
    else:
        W = sum(np.linalg.matrix_power(A, k) for k in range(1, max_length + 1))
    G = np.zeros((len(LABELS), len(LABELS)))
    for i in range(n):
        for j in range(n):
            for first in graph.labels[i]:
                for second in graph.labels[j]:
                    a, b = LABELS.index(first), LABELS.index(second)
                    G[a, b] = G[a, b] + W[i, j] if combine == "sum" else max(G[a, b], W[i, j])
    return G.ravel()


@st.composite
def graphs(draw, largest=0.15):
    n = draw(st.integers(0, 6))
    labels = draw(st.lists(st.lists(st.sampled_from(LABELS), max_size=3), min_size=n, max_size=n))
    vertex = st.integers(0, max(n - 1, 0))
    edges = draw(
        st.lists(
            st.tuples(vertex, vertex, st.just(0.0) | st.floats(1e-3, largest)), max_size=2 * n if n else 0, min_size=0
        )
    )
    edges = edges if n else []
    # With at most two edges from a vertex, all rows of A sum to less than one.
    kept = [edge for k, edge in enumerate(edges) if sum(e[0] == edge[0] for e in edges[:k]) < 6]
    return Graph(labels, [edge[:2] for edge in kept], [edge[2] for edge in kept])


@given(st.lists(graphs(), min_size=1, max_size=5), st.sampled_from(["sum", "max"]), st.sampled_from([None, 1, 2, 5]))
def test_definition(some, combine, max_length):
    kernel = AllPaths(combine, max_length=max_length, normalized=False)
    G = np.array([values(graph, combine, max_length) for graph in some])
    features = kernel.fit_transform(some)
    assert features.format == "csr"
    assert features.has_canonical_format
    assert not (features.data == 0).any()
    found = np.zeros(G.shape)
    places = [LABELS.index(kernel.labels_[a]) * len(LABELS) + LABELS.index(kernel.labels_[b]) for a, b in kernel.pairs_]
    found[:, places] = features.toarray()
    np.testing.assert_allclose(found, G, rtol=1e-9, atol=1e-12)
    K = kernel(some)
    np.testing.assert_allclose(K, G @ G.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diagonal(some), np.diag(K), rtol=1e-12)


def test_weights_whose_squares_are_no_numbers():
    for weight in (1e-200, 1e200):
        graph = Graph([["a"], ["b"], ["c"]], [[0, 1], [1, 2]], [weight, weight])
        np.testing.assert_allclose(AllPaths(max_length=1).fit_transform([graph]).toarray(), [[0.5**0.5] * 2])


@given(st.lists(graphs(), min_size=1, max_size=4), st.lists(graphs(), min_size=1, max_size=4), st.booleans())
def test_new_graphs(some, others, normalized):
    kernel = AllPaths(normalized=normalized).fit(some)
    G, H = (np.array([values(graph) for graph in each]) for each in (some, others))
    if normalized:  # by all pairs of labels, including those unseen in fit
        G, H = (each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-300) for each in (G, H))
    inner = (kernel.transform(some) @ kernel.transform(others).T).toarray()
    np.testing.assert_allclose(inner, G @ H.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(some, others), G @ H.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel.transform(some).toarray(), kernel.fit_transform(some).toarray())


def chain(*labels, weight=0.5):
    """Return a path of vertices with one label each."""
    edges = [[k, k + 1] for k in range(len(labels) - 1)]
    return Graph([[label] for label in labels], edges, np.full(len(edges), weight))


def test_a_chain_by_hand():
    kernel = AllPaths(normalized=False)
    features = kernel.fit_transform([chain("a", "b", "a")])
    names = dict(zip(kernel.get_feature_names_out(), features.toarray()[0], strict=True))
    assert names == {"a -> a": 0.25, "a -> b": 0.5, "b -> a": 0.5}


def test_cycles_sum_up_and_may_diverge():
    loop = Graph([["a"]], [[0, 0]], [0.5])
    assert AllPaths(normalized=False).fit_transform([loop]).toarray() == pytest.approx(1.0)  # 1/2 + 1/4 + ...
    assert AllPaths(normalized=False, max_length=2).fit_transform([loop]).toarray() == pytest.approx(0.75)
    wild = Graph([["a"], ["b"]], [[0, 1], [1, 0]], [2.0, 1.0])
    with pytest.raises(ValueError, match=r"1 graphs .* graph 1 .* radius 1\.414, .* max_length"):
        AllPaths().fit([loop, wild])
    assert AllPaths(max_length=9).fit_transform([wild]).shape == (1, 4)
    just = Graph([["a"], ["b"]], [[0, 1], [1, 0]], [1.0, 1.0])
    assert just.spectral_radius() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="below 1"):
        AllPaths().fit([just])
    almost = Graph([["a"], ["b"]], [[0, 1], [1, 0]], [1.0, 1.0 - 1e-9])
    assert AllPaths(normalized=False).fit_transform([almost]).max() == pytest.approx(1e9, rel=1e-6)


def test_threads_change_nothing(rng):
    some = []
    for _ in range(40):
        n = int(rng.integers(2, 30))
        edges = rng.integers(n, size=(2 * n, 2))
        some.append(
            Graph([[f"w{rng.integers(9)}", f"p{rng.integers(3)}"] for _ in range(n)], edges, np.full(2 * n, 0.05))
        )
    for combine in ("sum", "max"):
        one, three = (AllPaths(combine, n_jobs=n_jobs).fit_transform(some) for n_jobs in (1, 3))
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(one, name), getattr(three, name))


def test_linear_methods_learn_from_the_features(rng):
    words = ["binds", "inhibits", "ignores", "and"]
    verbs = rng.integers(4, size=80)
    some = [chain("A", words[verb], "B", *rng.permutation(words)[:2]) for verb in verbs]
    y = (verbs < 2).astype(float)
    for model in (RLS(), RankRLS(), RankSVM(), RidgeClassifier()):
        pipeline = make_pipeline(AllPaths("max"), model).fit(some[:60], y[:60])
        score = pipeline.predict(some[60:])
        assert score[y[60:] == 1].mean() > score[y[60:] == 0].mean() + 0.5
    K = AllPaths("max")(some)
    precomputed = RankRLS(kernel="precomputed").fit(K[:60, :60], y[:60]).predict(K[60:, :60])
    linear = make_pipeline(AllPaths("max"), RankRLS()).fit(some[:60], y[:60]).predict(some[60:])
    np.testing.assert_allclose(precomputed, linear, atol=1e-9)


def test_other_ways_to_make_a_graph():
    adjacency = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.25], [0.0, 0.0, 0.0]])
    labels = [["a"], ["b", "c"], []]
    expected = values(Graph(labels, [[0, 1], [1, 2]], [0.5, 0.25]))
    for matrix in (adjacency, adjacency.tolist(), sp.csr_array(adjacency)):
        np.testing.assert_array_equal(values(Graph.from_adjacency(matrix, labels)), expected)
    with pytest.raises(ValueError, match="2 vertices"):
        Graph.from_adjacency(adjacency, labels[:2])
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node("x", labels="a")
    graph.add_node("y", labels=["b", "c"])
    graph.add_node("z")
    graph.add_edge("x", "y", weight=0.5)
    graph.add_edge("y", "z", weight=0.25)
    np.testing.assert_array_equal(values(Graph.from_networkx(graph)), expected)
    both = Graph.from_networkx(graph.to_undirected())
    assert len(both.edges) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [], []), "list of strings"),
        (([["a"]], [[0, 1]], [1.0]), "of the 1 vertices"),
        (([["a"]], [[0, -1]], [1.0]), "from 0"),
        (([["a"]], [[0.5, 0.0]], [1.0]), "two columns"),
        (([["a"]], [0, 0], [1.0]), "two columns"),
        (([["a"]], [[0, 0]], [1.0, 2.0]), "1 edges"),
        (([["a"]], [[0, 0]], [-1.0]), "negative"),
        (([["a"]], [[0, 0]], [np.nan]), "weights contains NaN"),
    ],
)
def test_bad_graphs(arguments, message):
    with pytest.raises(ValueError, match=message):
        Graph(*arguments)


def test_bad_calls():
    some = [chain("a", "b")]
    for kernel, message in [
        (AllPaths("mean"), "combine"),
        (AllPaths(max_length=0), "max_length"),
        (AllPaths(max_length=1.5), "max_length"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernel.fit(some)
    with pytest.raises(TypeError, match=r"Graph 1 is of type builtins\.list"):
        AllPaths().fit([*some, [1]])
    with pytest.raises(ValueError, match="graphs is empty"):
        AllPaths().fit([])
    with pytest.raises(ValueError, match="not fitted"):
        AllPaths().transform(some)
    kernel = clone(AllPaths("max", max_length=3, n_jobs=2))
    assert kernel.get_params() == {"combine": "max", "max_length": 3, "n_jobs": 2, "normalized": True}


def test_arrays_that_do_not_fit():
    fit = {
        "vertices": np.array([0, 2]),
        "labels": np.array([0, 1, 2]),
        "label": np.zeros(2, np.int32),
        "edges": np.array([0, 1]),
        "from_": np.zeros(1, np.int32),
        "to": np.ones(1, np.int32),
        "weight": np.ones(1),
        "strongest": False,
        "max_length": 1,
        "n_threads": 1,
    }
    assert len(connect_labels(**fit)[3]) == 1
    for name, value in [
        ("vertices", np.array([0, 3])),
        ("vertices", np.array([1, 2])),
        ("labels", np.array([0, 2, 1])),
        ("edges", np.array([0, 2])),
        ("edges", np.array([0, 0, 1])),
        ("to", np.full(1, 2, np.int32)),
        ("from_", np.full(1, -1, np.int32)),
        ("weight", -np.ones(1)),
        ("weight", np.ones(2)),
        ("n_threads", 0),
    ]:
        with pytest.raises(ValueError, match=r"graph|vert|edge|weight|negative"):
            connect_labels(**fit | {name: value})


def test_a_spectral_radius_of_one_is_refused():
    rng = np.random.default_rng(0)
    for n in range(2, 30):
        A = rng.uniform(size=(n, n))
        for matrix in (np.full((n, n), 1 / n), A / A.sum(axis=1, keepdims=True)):
            with pytest.raises(ValueError, match="spectral radius 1, which must be below 1"):
                AllPaths().fit([Graph.from_adjacency(matrix, [["a"]] * n)])
            AllPaths().fit([Graph.from_adjacency((1 - 1e-6) * matrix, [["a"]] * n)])


def test_walks_that_overflow_are_refused():
    both_ways = Graph([["a"], ["b"]], [[0, 1], [1, 0]], [1e200, 1e200])
    one_way = Graph([["a"], ["b"], ["c"]], [[0, 1], [1, 2]], [1e200, 1e200])
    for kernel, graph in (
        (AllPaths(max_length=3), both_ways),
        (AllPaths(), one_way),
        (AllPaths(max_length=10**9), both_ways),
    ):
        with pytest.raises(ValueError, match="overflow float64"):
            kernel.fit([graph])
    # An edge with weight zero does not connect, also if sums are huge.
    graph = Graph([["a"], ["b"]], [[0, 0], [1, 0], [0, 1]], [2.0, 0.0, 0.0])
    assert AllPaths(max_length=900, normalized=False).fit_transform([graph]).toarray() == pytest.approx(2.0**901 - 2)
    assert AllPaths(max_length=2**70).fit_transform([Graph([["a"]], [], [])]).shape == (1, 0)


def test_labels_that_are_not_connected_cost_nothing(monkeypatch):
    lonely = Graph([[f"label {k}"] for k in range(30_000)], [[0, 1]], [0.5])
    assert AllPaths().fit_transform([lonely]).toarray() == pytest.approx(1.0)
    monkeypatch.setattr("kernelrank.kernels._all_paths._MUCH", 0)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 10)
    with pytest.raises(MemoryError, match="fewer n_jobs"):
        AllPaths().fit([lonely])


def test_graphs_can_be_compared_and_sent():
    graph = Graph([["a"], ["b", "c"]], [[0, 1]], [0.5])
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert hash(again) == hash(graph)
    assert not again.weights.flags.writeable
    assert not copy.deepcopy(graph).edges.flags.writeable
    assert graph != Graph([["a"], ["b"]], [[0, 1]], [0.5])
    assert graph != Graph([["a"], ["b", "c"]], [[0, 1]], [0.25])
    assert graph != "a graph"


def test_what_is_no_graph_is_said():
    for make, message in (
        (lambda: Graph(["ab", "cd"], [[0, 1]], [0.5]), "vertex 0 must be a list of strings, got 'ab'"),
        (
            lambda: Graph((each for each in ["ab", "cd"]), [[0, 1]], [0.5]),
            "vertex 0 must be a list of strings, got 'ab'",
        ),
        (lambda: Graph.from_adjacency([[0, 1], [0, 0]], ["ab", "cd"]), "vertex 0 must be a list of strings, got 'ab'"),
        (lambda: Graph([["a"], None], [[0, 1]], [0.5]), "vertex 1 must be a list of strings, got None"),
        (lambda: Graph([["a"], [1]], [[0, 1]], [0.5]), "labels of vertex 1 must be strings, got"),
        (lambda: Graph([], [[0, 1]], [0.5]), "of the 0 vertices"),
        (lambda: Graph([["a"], ["b"]], [[0.0, 1.0]], [0.5]), "float64 of shape"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError, match=r"pass \[graph\]"):
        AllPaths().fit(Graph([["a"]], [], []))
    networkx = pytest.importorskip("networkx")
    path = networkx.path_graph(3)
    with pytest.raises(TypeError, match="networkx"):
        AllPaths().fit([path])
    with pytest.raises(ValueError, match="No vertex has the attribute 'labels'"):
        Graph.from_networkx(path)
