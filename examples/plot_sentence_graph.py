"""
A sentence as a graph
=====================
Do two proteins of a sentence interact? The all-paths graph kernel represents a sentence as a graph with two parts:
its syntax, and the order of its words. The names of the proteins are replaced, so that a model generalises to other
proteins.
"""

# %%
# A sentence with its parts of speech, and its dependencies as (governor, dependent, type), annotated by hand. Any
# parser with this output can be used.
from pathlib import Path

import matplotlib as mpl

from kernelrank.relations import sentence_graph

tokens = [
    *(("Cofilin", "NN"), ("interacts", "VBZ"), ("with", "IN"), ("actin", "NN"), ("to", "TO")),
    *(("disassemble", "VB"), ("profilin", "NN"), ("filaments", "NNS")),
]
dependencies = [
    *((1, 0, "nsubj"), (1, 3, "prep_with"), (5, 4, "aux"), (1, 5, "xcomp"), (7, 6, "nn"), (5, 7, "dobj")),
]

# %%
# The candidates are the first two proteins, tokens 0 and 3; the third, token 6, is another entity. Vertices on
# the shortest path between the candidates are tagged IP and have edges with large weights.
graph = sentence_graph(tokens, dependencies, first=[0], second=[3], others=[6])
print(f"{len(graph.labels)} vertices, {len(graph.edges)} edges")
for labels in graph.labels[: len(tokens)]:
    print("  ", *labels)

# %%
# The words are drawn in the order of the sentence, and each dependency above the words that it connects. Below is the
# second part: the same words, before (B), in the middle of (M) and after (A) the pair.
if not mpl.is_interactive():
    mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

places = [(k, 0.0) for k in range(len(tokens))]
places += [((a + b) / 2, 0.5 * abs(a - b) + 0.4) for a, b, _ in dependencies]
places += [(k, -1.3) for k in range(len(tokens))]
half_widths = [6 + 2.7 * len(labels[0]) for labels in graph.labels]

figure, axes = plt.subplots(figsize=(11, 5), layout="constrained")
figure.suptitle("The shortest path between the candidates is bold: edges of 0.9, others of 0.3; the words below: 0.9")
n_words = len(tokens)
for (a, b), weight in zip(graph.edges.tolist(), graph.weights, strict=True):
    (from_x, from_y), (to_x, to_y) = places[a], places[b]
    bold = max(a, b) < n_words + len(dependencies) and weight > 0.5
    style = {
        "arrowstyle": "-|>",
        "color": "C3" if bold else "0.6",
        "lw": 2.5 if bold else 1,
        "zorder": 2 if bold else 1,
    }
    if a < n_words:  # up from the governor, a little to the side, and across to the dependency
        from_x += 0.15 if to_x > from_x else -0.15
        style |= {"connectionstyle": "angle,angleA=90,angleB=0,rad=8", "shrinkA": 16, "shrinkB": half_widths[b]}
    elif b < n_words:
        style |= {"connectionstyle": "angle,angleA=0,angleB=90,rad=8", "shrinkA": half_widths[a], "shrinkB": 16}
    else:
        style |= {"shrinkA": half_widths[a], "shrinkB": half_widths[b]}
    axes.annotate("", (to_x, to_y), (from_x, from_y), arrowprops=style)
for (x, height), labels in zip(places, graph.labels, strict=True):
    bold = labels[0].endswith("_IP")
    box = {"boxstyle": "round", "facecolor": "mistyrose" if bold else "white", "edgecolor": "C3" if bold else "0.6"}
    axes.text(x, height, "\n".join(labels), ha="center", va="center", fontsize=8, bbox=box)
axes.set(xlim=(-0.5, n_words - 0.5), ylim=(-1.7, max(height for _, height in places) + 0.3))
axes.axis("off")
path = Path("build/sentence-graph.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
print(f"plot: {path}")
