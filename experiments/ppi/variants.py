"""Variants of the features and of the kernel, compared by leaving out documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.harness import data_file, number, table
from experiments.ppi._corpora import FILES
from experiments.ppi._measure import N_FOLDS, draw_folds
from experiments.ppi._nested import HeldOut
from experiments.ppi._shared import make_task, spread
from experiments.ppi._table_1 import signed
from experiments.study import READING, Run, Tables
from kernelrank.kernels import AllPaths
from kernelrank.metrics import auc
from kernelrank.relations import PPICorpus, load_ppi

Array = NDArray[np.float64]

CORPORA = ("AIMed", "HPRD50", "IEPA", "LLL")  # not BioInfer
HALVED = "AIMed"  # of which half of the documents are taken
QUICK_STEP = 3  # between variants of a quick run
N_RESAMPLES = 1000  # of documents, for standard errors
TOGETHER: tuple[dict[str, float], ...] = ({},)
SYNTAX, ORDER = {"linear_weight": 0.0}, {"path_weight": 0.0, "other_weight": 0.0}


@dataclass(frozen=True)
class Variant:
    """Variant of the features, which have length one for each part of the graphs, and of the kernel.

    Attributes
    ----------
    family, name : str
    graphs : dict
        Parameters of :meth:`kernelrank.relations.PPICorpus.graphs`.
    parts : tuple of dict
        Further parameters, for each part of the graphs that has features of its own.
    parse : str
    kernel : dict
        Parameters of :class:`kernelrank.kernels.AllPaths`.
    exponent, idf : float
        The values of features are raised to the first, and multiplied by the inverse document frequency raised to the
        second.
    join : callable
        Takes the kernel matrices of the parts, and returns one.
    """

    family: str
    name: str
    graphs: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Mapping[str, float], ...] = TOGETHER
    parse: str = "split_parse"
    kernel: Mapping[str, Any] = field(default_factory=dict)
    exponent: float = 1.0
    idf: float = 0.0
    join: Callable[..., Array] = lambda K: K

    def kernel_matrix(self, corpus: PPICorpus, rows: NDArray[np.intp]) -> Array:
        """Return the kernel of some pairs."""
        matrices = []
        for parameters in self.parts:
            graphs = corpus.graphs(**{**self.graphs, **parameters})
            X = AllPaths(**{"combine": "max", **self.kernel}).fit_transform([graphs[row] for row in rows])
            X = self.weigh(X)
            matrices.append(np.asarray((X @ X.T).toarray()))
        return self.join(*matrices)

    def weigh(self, X: sp.csr_array) -> sp.csr_array:
        """Weigh features, and scale rows to length one."""
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        X.data = X.data**self.exponent * np.log(X.shape[0] / frequency[X.indices]) ** self.idf
        lengths = np.sqrt(np.asarray(X.power(2).sum(axis=1)))
        X.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(X.indptr))
        return X


def weighted(path: float, other: float, linear: float) -> Variant:
    graphs = {"path_weight": path, "other_weight": other, "linear_weight": linear}
    return Variant("weights of edges", f"{path:g}, {other:g}, {linear:g}", graphs)


BOTH = (SYNTAX, ORDER)
MAX, PRODUCT = "max", "(1 + a)(1 + b) / 4: product"
VARIANTS = (
    Variant("as published", MAX),
    Variant("as published", "sum", kernel={"combine": "sum"}),
    *(Variant("exponents", f"values to the power {p:g}", exponent=p) for p in (0.0, 0.25, 0.5, 2.0)),
    *(Variant("idf weights", f"idf to the power {p:g}", idf=p) for p in (0.5, 1.0)),
    *(Variant("lengths of walks", f"at most {n}", kernel={"max_length": n}) for n in (1, 2, 3, 4)),
    *(weighted(0.9, other, 0.9) for other in (0.0, 0.1, 0.5)),
    *(weighted(*weights) for weights in ((0.5, 0.3, 0.9), (0.9, 0.3, 0.5), (0.9, 0.3, 0.1))),
    Variant("labels", "no tag on the shortest path", {"path_tag": ""}),
    Variant("labels", "no tags of positions", {"position_tags": ("", "", "")}),
    Variant("labels", "lower case", {"lowercase": True}),
    Variant("parses", "Charniak-Lease", parse="Charniak-Lease"),
    *(Variant("polynomials", f"((1 + K) / 2)^{n}", join=lambda K, n=n: ((1 + K) / 2) ** n) for n in (2, 3, 4)),
    *(
        Variant("Gaussians", f"exp({-2 * g:g} (1 - K))", join=lambda K, g=g: np.exp(2 * g * (K - 1)))
        for g in (0.25, 1, 4)
    ),
    Variant("parts apart", "dependencies alone: a", parts=(SYNTAX,)),
    Variant("parts apart", "order of the words alone: b", parts=(ORDER,)),
    Variant("parts apart", "(a + b) / 2", parts=BOTH, join=lambda a, b: (a + b) / 2),
    Variant("parts apart", "a b", parts=BOTH, join=lambda a, b: a * b),
    Variant(
        "parts apart", "((1 + a)² + (1 + b)²) / 8", parts=BOTH, join=lambda a, b: ((1 + a) ** 2 + (1 + b) ** 2) / 8
    ),
    Variant("parts apart", PRODUCT, parts=BOTH, join=lambda a, b: (1 + a) * (1 + b) / 4),
)


def measure(run: Run) -> dict[str, Any]:
    """Return the AUC of each variant on each corpus, and gains over the first with their errors."""
    task = make_task(run)
    corpora = [name for name in CORPORA if name in task.corpora]
    chosen = range(0, len(VARIANTS), QUICK_STEP if run.quick else 1)
    tasks = [(name, k) for name in corpora for k in chosen]
    scores = dict(zip(tasks, spread(run, score_variant, tasks), strict=True))
    found: dict[str, Any] = {"corpora": {}, "areas": {}, "gains": {}}
    for name in corpora:
        rows = rows_of(task.corpora[name])
        y, documents = task.corpora[name].y[rows], task.corpora[name].document[rows]
        found["corpora"][name] = len(rows)
        for k in chosen:
            mine, first = (scores[name, each]["scores"] for each in (k, 0))
            found["areas"].setdefault(k, []).append(100 * auc(y, mine))
            gain = 100 * (auc(y, mine) - auc(y, first)), gain_error(y, documents, mine, first)
            found["gains"].setdefault(k, []).append(gain)
    return found


def rows_of(corpus: PPICorpus) -> NDArray[np.intp]:
    """Return the pairs to compare on: all, or those of half of the documents."""
    if corpus.name != HALVED:
        return np.arange(len(corpus))
    return np.flatnonzero(draw_folds(corpus.document, 0) < N_FOLDS // 2)


@cache
def load_parse(run: Run, name: str, parse: str) -> PPICorpus:
    """Return a corpus with another parse; the generated ones have one parse only."""
    return make_task(run).corpora[name] if run.quick else load_ppi(data_file(f"ppi/{FILES[name]}"), parse=parse)


def score_variant(run: Run, name: str, k: int) -> dict[str, NDArray]:
    """Score all pairs, each without its document, with the lambda that has the best AUC."""
    task, variant = make_task(run), VARIANTS[k]
    corpus = task.corpora[name] if variant.parse == "split_parse" else load_parse(run, name, variant.parse)

    def compute() -> dict[str, Array]:
        rows = rows_of(corpus)
        y, documents = corpus.y[rows], corpus.document[rows]
        model = HeldOut(variant.kernel_matrix(corpus, rows), 2.0 * y - 1.0)
        found = [model.at(float(lam)).hold_out_each(documents) for lam in task.lambdas]
        return {"scores": max(found, key=lambda scores: auc(y, scores))}

    label = "".join(each if each.isalnum() else "_" for each in f"{variant.family}-{variant.name}")
    return task.keep(f"variant-{name}-{k}-{label}", compute)


def gain_error(y: NDArray[np.int64], documents: NDArray, scores: Array, others: Array) -> float:
    """Return the standard error of a difference of two AUCs, by drawing documents with replacement."""
    names, codes = np.unique(documents, return_inverse=True)
    of_document = np.eye(len(names))[codes]
    positive, negative = of_document[y == 1], of_document[y == 0]
    wins = np.subtract(*(np.sign(each[y == 1][:, None] - each[y == 0]) / 2 for each in (scores, others)))
    by_documents = positive.T @ wins @ negative
    times = np.random.default_rng(0).multinomial(len(names), np.full(len(names), 1 / len(names)), N_RESAMPLES) * 1.0
    n_pairs = (times @ positive.sum(axis=0)) * (times @ negative.sum(axis=0))
    gains = np.sum(times @ by_documents * times, axis=1)[n_pairs > 0] / n_pairs[n_pairs > 0]
    return 100 * float(np.std(gains, ddof=1))


def report(found: dict[str, Any], run: Run) -> list[str]:
    rows = []
    for k, areas in found["areas"].items():
        gains, errors = np.transpose(found["gains"][k])
        mean = signed(gains.mean(), float(np.linalg.norm(errors)) / len(errors))
        cells = [f"{area:.1f}" for area in areas]
        rows.append([VARIANTS[k].family, VARIANTS[k].name, *cells, mean, f"{sum(gains > 0)}"])
    names = {name: f"half of {name}" if name == HALVED else name for name in found["corpora"]}
    pairs = ", ".join(f"{n_pairs:,} ({names[name]})" for name, n_pairs in found["corpora"].items())
    heading = ["family", "variant", *names.values(), "mean gain over max", "corpora above max"]
    setting = SETTING.format(n_variants=len(rows), pairs=pairs)
    return [f"# {TITLE}", setting, table(heading, rows, n_texts=2), READING]


TITLE = "Variants of the kernel"
SETTING = """
{n_variants} variants, compared by leaving out each document in turn: AUC of all held-out pairs together, in percent,
with the lambda that is best for it. Pairs: {pairs}. Where nothing else is said, `combine="max"`, walks of any length,
features of length one, and the weights 0.9, 0.3 and 0.9 of edges on the shortest path, of other dependencies, and of
the order of the words. K is the kernel of max, a and b those of the dependencies and of the order of the words. Errors
of gains are by drawing documents with replacement.

**This list was written down afterwards.** A comparison of 34 variants of these families, by leaving out documents of
HPRD50, IEPA and LLL, and of seven on half of AIMed, led to the kernel *product* of `single_corpus.md`. Its list was not
kept, and product was known when this one was written: it shows what such a comparison finds, not how product was found.
No variant was compared on BioInfer.
"""


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]
    gain = {row["variant"]: row["mean gain over max"] for row in found}
    order = sorted(gain, key=lambda name: -number(gain[name]))
    clear = [name for name in order if number(gain[name]) > 2 * number(gain[name].partition("±")[2]) > 0]
    worse = [name for name in order if -number(gain[name]) > 2 * number(gain[name].partition("±")[2]) > 0]
    yield f"""
        Of {len(found)} variants, one of which is max, {sum(number(each) > 0 for each in gain.values())} have a larger
        mean AUC than max, {len(clear)} of them by more than two standard errors; {len(worse)} have a smaller one by
        more than two. Product is number {1 + order.index(PRODUCT)}, with {gain[PRODUCT]} points. The largest gains are
        those of {", ".join(f"*{name}* ({gain[name]})" for name in order[:4])}. The best of so
        many variants owes a part of its gain to having been picked: BioInfer, which is not here, shows in
        `single_corpus.md` what remains of it."""
