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
    file_order : bool
        Whether graphs are those of the published software: :func:`published_graphs`.
    drop : bool
        Whether small values are dropped, as the published software does.
    mean : bool
        Whether the model has a mean; that of the published software has none.
    """

    name: str
    combine: Literal["max", "sum"] = "max"
    product: bool = False
    file_order: bool = False
    drop: bool = False
    mean: bool = True

    def parts(self, corpus: PPICorpus) -> list[sp.csr_array]:
        """Return features of length one for each pair of a corpus: of its graph, or of both parts of it."""
        kernel = AllPaths(self.combine, normalized=not self.drop)
        if self.product:
            syntax, order = corpus.graphs(linear_weight=0.0), corpus.graphs(path_weight=0.0, other_weight=0.0)
            return [kernel.fit_transform(syntax), kernel.fit_transform(order)]
        X = kernel.fit_transform(published_graphs(corpus) if self.file_order else corpus.graphs())
        if self.drop:
            X.data[X.data <= _SMALLEST] = 0.0
            X.data /= np.repeat(np.sqrt(np.asarray(X.power(2).sum(axis=1))), np.diff(X.indptr))
        return [X]

    def kernel_matrix(self, corpus: PPICorpus) -> NDArray[np.float64]:
        """Return the kernel of all pairs of a corpus."""
        matrices = [np.asarray((X @ X.T).toarray()) for X in self.parts(corpus)]
        if not self.product:
            return matrices[0]
        a, b = matrices
        return (1 + a) * (1 + b) / 4


MAX, SUM = Configuration("max"), Configuration("sum", combine="sum")
PRODUCT = Configuration("product", product=True)
PUBLISHED = Configuration("published", file_order=True, drop=True, mean=False)
FILE_ORDER = Configuration("file order", file_order=True)
NO_MEAN = Configuration("no mean", drop=True, mean=False)


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


def count_reversed(corpus: PPICorpus) -> int:
    """Count the pairs whose entities the file names in the reverse of their order in the sentence."""
    return sum(
        min(corpus.sentences[number].entities[b].spans) < min(corpus.sentences[number].entities[a].spans)
        for number, a, b in corpus.pairs.tolist()
    )
