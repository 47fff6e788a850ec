"""The corpora, and configurations of the features of their pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.harness import data_file
from kernelrank.kernels import AllPaths, Graph
from kernelrank.relations import PPICorpus, load_ppi

FILES = {
    "AIMed": "AImed-learning-format.xml.xz",
    "BioInfer": "BioInfer-learning-format.xml.xz",
    "HPRD50": "HPRD50-learning-format.xml.xz",
    "IEPA": "IEPA-learning-format.xml.xz",
    "LLL": "LLL-learning-format.xml.xz",
}
_SMALLEST = 1e-5  # smaller values are dropped by the published software


@dataclass(frozen=True)
class Configuration:
    """Configuration of the features of graphs, which have length one.

    Attributes
    ----------
    name : str
    combine : {"max", "sum"}
        Of :class:`kernelrank.kernels.AllPaths`.
    product : bool
        Whether dependencies and the order of the words have features of length one each, with the kernels a and b, and
        the kernel is (1 + a)(1 + b) / 4. It contains both kernels and their product. In one graph, the part with more
        and stronger connections outweighs the other.
    published : bool
        Whether graphs, features and model are those of the published software, as far as it is known.
    """

    name: str
    combine: Literal["max", "sum"] = "max"
    product: bool = False
    published: bool = False

    def parts(self, corpus: PPICorpus) -> list[sp.csr_array]:
        """Return features of length one for each pair of a corpus: of its graph, or of both parts of it."""
        kernel = AllPaths(self.combine, normalized=not self.published, n_jobs=-1)
        if self.published:
            X = kernel.fit_transform(published_graphs(corpus))
            X.data[X.data <= _SMALLEST] = 0.0
            X.data /= np.repeat(np.sqrt(np.asarray(X.power(2).sum(axis=1))), np.diff(X.indptr))
            return [X]
        if self.product:
            syntax, order = corpus.graphs(linear_weight=0.0), corpus.graphs(path_weight=0.0, other_weight=0.0)
            return [kernel.fit_transform(syntax), kernel.fit_transform(order)]
        return [kernel.fit_transform(corpus.graphs())]

    def kernel_matrix(self, corpus: PPICorpus) -> NDArray[np.float64]:
        """Return the kernel of all pairs of a corpus."""
        matrices = [np.asarray((X @ X.T).toarray()) for X in self.parts(corpus)]
        if not self.product:
            return matrices[0]
        a, b = matrices
        return (1 + a) * (1 + b) / 4


MAX, SUM = Configuration("max"), Configuration("sum", combine="sum")
PRODUCT = Configuration("product", product=True)
PUBLISHED = Configuration("published", published=True)


def load_corpora() -> dict[str, PPICorpus]:
    """Read the five corpora."""
    paths = {name: data_file(f"ppi/{file}") for name, file in FILES.items()}
    return {name: load_ppi(path) for name, path in paths.items()}


def published_graphs(corpus: PPICorpus) -> list[Graph]:
    """Make graphs as the published software does.

    The first entity is the one that the file names first, even if it comes later in the sentence. Tokens before it are
    "before", others that come after the second one are "after": of two entities in reverse order, what is between them
    is "before", although it is in the middle.
    """
    graphs = []
    for (number, a, b), graph in zip(corpus.pairs, corpus.graphs(order="file"), strict=True):
        sentence = corpus.sentences[number]
        first, second = sentence.entities[a].tokens, sentence.entities[b].tokens
        labels, n_tokens = list(graph.labels), len(sentence.tokens)
        for token in range(n_tokens):
            tag = "M"
            if token not in first and token not in second:
                tag = "B" if token < min(first) else "A" if token > max(second) else "M"
            place = len(labels) - n_tokens + token  # the order of the words comes last
            labels[place] = tuple(label[:-1] + tag for label in labels[place])
        graphs.append(Graph(tuple(labels), graph.edges, graph.weights))
    return graphs
