"""Graphs of sentences, spelled out and against paths that are listed one by one."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelrank.relations import SentenceGraphs, sentence_graph

# "Cofilin interacts with actin to disassemble profilin filaments ." in collapsed Stanford dependencies.
TOKENS = [
    *(("Cofilin", "NN"), ("interacts", "VBZ"), ("with", "IN"), ("actin", "NN"), ("to", "TO")),
    *(("disassemble", "VB"), ("profilin", "NN"), ("filaments", "NNS"), (".", ".")),
]
DEPENDENCIES = [
    *((1, 0, "nsubj"), (1, 3, "prep_with"), (5, 4, "aux"), (1, 5, "xcomp")),
    *((7, 6, "nn"), (5, 7, "dobj")),
]


def spell(graph):
    """Return the labels of each vertex as one text, and the weight of each edge by the texts it joins."""
    texts = [" ".join(labels) for labels in graph.labels]
    return texts, {(texts[a], texts[b]): w for (a, b), w in zip(graph.edges.tolist(), graph.weights, strict=True)}


class TestASentence:
    def test_all_of_its_graph(self):
        graph = sentence_graph(TOKENS, DEPENDENCIES, first=[0], second=[3], others=[6])
        texts, weights = spell(graph)
        assert texts == [
            *("PROT1_IP NN_IP", "interacts_IP VBZ_IP", "with IN", "PROT2_IP NN_IP", "to TO"),
            *("disassemble VB", "PROT NN", "filaments NNS", "."),
            *("nsubj_IP", "prep_with_IP", "aux", "xcomp", "nn", "dobj"),
            *("PROT1_M NN_M", "interacts_M VBZ_M", "with_M IN_M", "PROT2_M NN_M", "to_A TO_A"),
            *("disassemble_A VB_A", "PROT_A NN_A", "filaments_A NNS_A", "._A"),
        ]
        assert weights == {
            ("interacts_IP VBZ_IP", "nsubj_IP"): 0.9,
            ("nsubj_IP", "PROT1_IP NN_IP"): 0.9,
            ("interacts_IP VBZ_IP", "prep_with_IP"): 0.9,
            ("prep_with_IP", "PROT2_IP NN_IP"): 0.9,
            ("disassemble VB", "aux"): 0.3,
            ("aux", "to TO"): 0.3,
            ("interacts_IP VBZ_IP", "xcomp"): 0.3,
            ("xcomp", "disassemble VB"): 0.3,
            ("filaments NNS", "nn"): 0.3,
            ("nn", "PROT NN"): 0.3,
            ("disassemble VB", "dobj"): 0.3,
            ("dobj", "filaments NNS"): 0.3,
            **{(texts[k], texts[k + 1]): 0.9 for k in range(15, 23)},
        }
        assert graph.weights.dtype == np.float64

    def test_another_pair_has_the_same_edges(self):
        graphs = SentenceGraphs(TOKENS, DEPENDENCIES)
        one, other = graphs.of_pair([0], [3], [6]), graphs.of_pair([3], [6], [0])
        assert one.edges is other.edges
        assert not one.edges.flags.writeable
        assert other.labels[15:19] == (
            ("PROT_B", "NN_B"),
            ("interacts_B", "VBZ_B"),
            ("with_B", "IN_B"),
            ("PROT1_M", "NN_M"),
        )
        np.testing.assert_array_equal(other.weights[:12:2], [0.3, 0.9, 0.3, 0.9, 0.9, 0.9])

    def test_all_parameters(self):
        graph = sentence_graph(
            TOKENS[:4],
            DEPENDENCIES[:2],
            [3],
            [0],
            others=[2],
            path_weight=0.5,
            other_weight=0.25,
            linear_weight=0.125,
            path_tag="PATH",
            position_tags=("before", "middle", "after"),
            entity_labels=("DRUG", "DISEASE", "ENTITY"),
            lowercase=True,
        )
        assert spell(graph)[0] == [
            *("DISEASE_PATH NN_PATH", "interacts_PATH VBZ_PATH", "ENTITY IN", "DRUG_PATH NN_PATH"),
            *("nsubj_PATH", "prep_with_PATH"),
            *(
                "DISEASE_middle NN_middle",
                "interacts_middle VBZ_middle",
                "ENTITY_middle IN_middle",
                "DRUG_middle NN_middle",
            ),
        ]
        np.testing.assert_array_equal(graph.weights, [0.5] * 4 + [0.125] * 3)

    def test_lower_case_is_of_texts_only(self):
        labels = sentence_graph([("The", "DT"), ("A", "NN"), ("B", "NN")], [], [1], [2], lowercase=True).labels
        assert labels[:2] == (("the", "DT"), ("PROT1", "NN"))
        labels = sentence_graph([("The", "DT"), ("A", "NN"), ("B", "NN")], [], [1], [2]).labels
        assert labels[:1] == (("The", "DT"),)

    def test_an_empty_tag_makes_no_distinction(self):
        labels = sentence_graph(TOKENS, DEPENDENCIES, [0], [3], path_tag="", position_tags=("", "", "")).labels
        assert labels[1] == labels[16] == ("interacts", "VBZ")


CHAIN = [(0, 1, "a"), (1, 2, "b"), (2, 3, "c"), (3, 4, "d")]
WORDS = [(f"w{k}", "NN") for k in range(5)]


class TestEntities:
    def names(self, *entities, **parameters):
        graph = sentence_graph(WORDS, CHAIN, *entities, **parameters)
        return [labels[0] for labels in graph.labels]

    def test_several_tokens_are_several_vertices(self):
        assert self.names([0, 1], [3, 4])[:5] == ["PROT1_IP", "PROT1_IP", "w2_IP", "PROT2_IP", "PROT2_IP"]

    def test_only_the_nearest_ends(self):
        found = self.names([0, 1], [3, 4], path_ends="nearest")
        assert found[:9] == ["PROT1", "PROT1_IP", "w2_IP", "PROT2_IP", "PROT2", "a", "b_IP", "c_IP", "d"]

    def test_the_order_of_precedence(self):
        assert self.names([1, 2], [2, 3], [0, 1, 2, 3])[-5:] == ["PROT_B", "PROT1_M", "PROT1_M", "PROT2_M", "w4_A"]

    @pytest.mark.parametrize("path_ends", ["every", "nearest"])
    def test_a_shared_token_is_no_path(self, path_ends):
        assert self.names([2], [2], path_ends=path_ends)[:9] == ["w0", "w1", "PROT1", "w3", "w4", "a", "b", "c", "d"]

    def test_entities_in_pieces(self):
        # The middle is all that is between the first and the last token.
        assert self.names([0, 3], [1])[-5:] == ["PROT1_M", "PROT2_M", "w2_M", "PROT1_M", "w4_A"]

    def test_the_order_of_the_entities_does_not_matter_for_tags(self):
        assert self.names([3], [1])[-5:] == ["w0_B", "PROT2_M", "w2_M", "PROT1_M", "w4_A"]

    def test_arrays_and_sets(self):
        expected = self.names([0, 1], [4], [2])
        assert self.names(np.array([0, 1]), {4}, frozenset({2})) == expected

    def test_no_path(self):
        graph = sentence_graph(WORDS, [(0, 1, "a"), (3, 4, "d")], [0], [4])
        np.testing.assert_array_equal(graph.weights, [0.3] * 4 + [0.9] * 4)
        assert graph.labels[0] == ("PROT1", "NN")

    def test_no_dependency(self):
        graph = sentence_graph(WORDS[:2], [], [0], [1])
        assert graph.edges.tolist() == [[2, 3]]
        graph = sentence_graph(WORDS[:1], [], [0], [0])
        assert graph.edges.shape == (0, 2)
        assert graph.weights.shape == (0,)

    def test_parallel_and_reflexive_dependencies_are_kept(self):
        dependencies = [(0, 1, "a"), (0, 1, "b"), (1, 0, "a"), (1, 1, "c")]
        graph = sentence_graph(WORDS[:2], dependencies, [0], [1])
        assert graph.labels[2:6] == (("a_IP",), ("b_IP",), ("a_IP",), ("c",))
        np.testing.assert_array_equal(graph.weights[:8], [0.9] * 6 + [0.3] * 2)
        assert graph.edges[6:8].tolist() == [[1, 5], [5, 1]]

    def test_repeated_dependencies_are_one(self):
        once, twice = (sentence_graph(WORDS, dependencies, [0], [4]) for dependencies in (CHAIN, CHAIN[:3] + CHAIN))
        assert once.labels == twice.labels
        np.testing.assert_array_equal(once.edges, twice.edges)
        np.testing.assert_array_equal(once.weights, twice.weights)


class TestErrors:
    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"first": []}, "first has no token"),
            ({"second": []}, "second has no token"),
            ({"first": [9]}, "first refers to token 9, but there are 9"),
            ({"second": [-1]}, "second refers to token -1"),
            ({"others": [12]}, "others refers to token 12"),
            ({"dependencies": [(0, 9, "nn")]}, "dependency 'nn' refers to token 9"),
            ({"path_weight": -0.1}, "path_weight must be a non-negative finite number, got -0.1"),
            ({"other_weight": np.nan}, "other_weight must be"),
            ({"linear_weight": np.inf}, "linear_weight must be"),
            ({"path_ends": "all"}, "path_ends must be 'every' or 'nearest', got 'all'"),
        ],
    )
    def test_a_clear_message(self, changed, message):
        arguments = {"tokens": TOKENS, "dependencies": DEPENDENCIES, "first": [0], "second": [3]} | changed
        with pytest.raises(ValueError, match=message):
            sentence_graph(**arguments)

    def test_tokens_are_whole_numbers(self):
        with pytest.raises(TypeError):
            sentence_graph(TOKENS, DEPENDENCIES, [0.5], [3])


def shortest_paths(n_tokens, dependencies, start, end):
    """List all shortest undirected paths from a token to another, as vertices, by extending all paths step by step."""
    steps = [step for k, (a, b, _) in enumerate(dependencies) for step in ((a, n_tokens + k), (n_tokens + k, b))]
    neighbours = {v: set() for v in range(n_tokens + len(dependencies))}
    for a, b in steps:
        neighbours[a].add(b)
        neighbours[b].add(a)
    paths = [[start]]
    while paths:
        complete = [path for path in paths if path[-1] == end]
        if complete:
            return complete
        paths = [[*path, v] for path in paths for v in neighbours[path[-1]] if v not in path]
    return []


@st.composite
def sentences(draw, trees=False):
    n_tokens = draw(st.integers(2, 7))
    token = st.integers(0, n_tokens - 1)
    if trees:
        heads = [draw(st.integers(0, k)) for k in range(n_tokens - 1)]
        dependencies = [
            (head, k + 1, "t") if draw(st.booleans()) else (k + 1, head, "t") for k, head in enumerate(heads)
        ]
    else:
        dependencies = draw(st.lists(st.tuples(token, token, st.sampled_from("tu")), max_size=9, unique=True))
    entity = st.sets(token, min_size=1, max_size=3)
    return n_tokens, dependencies, draw(entity), draw(entity)


def tagged_and_heavy(n_tokens, dependencies, first, second, path_ends):
    graph = sentence_graph([("w", "P")] * n_tokens, dependencies, first, second, path_ends=path_ends)
    vertices = n_tokens + len(dependencies)
    tagged = {v for v in range(vertices) if all(label.endswith("_IP") for label in graph.labels[v])}
    plain = {v for v in range(vertices) if not any(label.endswith("_IP") for label in graph.labels[v])}
    assert len(tagged) + len(plain) == vertices
    n_steps = 2 * len(dependencies)
    heavy = {tuple(sorted(edge)) for edge in graph.edges[:n_steps][graph.weights[:n_steps] == 0.9].tolist()}
    assert set(graph.weights[:n_steps]) <= {0.3, 0.9}
    return tagged, heavy


def expected(n_tokens, dependencies, first, second, path_ends):
    """Return the vertices and edges of all paths."""
    paths = [path for a, b in product(first, second) if a != b for path in shortest_paths(n_tokens, dependencies, a, b)]
    if path_ends == "nearest":
        paths = [path for path in paths if len(path) == min(map(len, paths))]
    steps = {tuple(sorted(step)) for path in paths for step in pairwise(path)}
    return {v for path in paths for v in path}, steps


@pytest.mark.parametrize("path_ends", ["every", "nearest"])
class TestPaths:
    @given(sentence=sentences())
    def test_of_any_graph(self, path_ends, sentence):
        assert tagged_and_heavy(*sentence, path_ends) == expected(*sentence, path_ends)

    @given(sentence=sentences(trees=True))
    def test_of_trees(self, path_ends, sentence):
        assert tagged_and_heavy(*sentence, path_ends) == expected(*sentence, path_ends)

    @given(sentence=sentences())
    def test_in_either_direction(self, path_ends, sentence):
        n_tokens, dependencies, first, second = sentence
        there = tagged_and_heavy(n_tokens, dependencies, first, second, path_ends)
        assert tagged_and_heavy(n_tokens, dependencies, second, first, path_ends) == there
        turned = [(b, a, kind) for a, b, kind in dependencies]
        assert tagged_and_heavy(n_tokens, turned, first, second, path_ends) == there
