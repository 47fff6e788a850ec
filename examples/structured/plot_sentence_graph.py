"""
A sentence as a graph
=====================
Do two proteins of a sentence interact? The all-paths graph kernel compares sentences by graphs of two parts: their
syntax, and the order of their words. The names of the proteins are replaced, so that a model generalises to other
proteins. The shortest path between the two candidates, drawn in colour, has heavier edges. See :doc:`/docs/graphs`.
"""

# %%
# A sentence with its parts of speech, and its dependencies as (governor, dependent, type), annotated by hand. Any
# parser with this output can be used.
import matplotlib.pyplot as plt

from kernelrank.kernels import AllPaths
from kernelrank.relations import sentence_graph

words = ["Cofilin", "interacts", "with", "actin", "to", "disassemble", "profilin", "filaments"]
tokens = list(zip(words, ["NN", "VBZ", "IN", "NN", "TO", "VB", "NN", "NNS"], strict=True))
dependencies = [(1, 0, "nsubj"), (1, 3, "prep_with"), (5, 4, "aux"), (1, 5, "xcomp"), (7, 6, "nn"), (5, 7, "dobj")]

# %%
# The candidates are tokens 0 and 3; the third protein, token 6, is another entity. Labels on the shortest path between
# the candidates end in IP. A feature is a pair of labels, whose value sums over all walks between them.
graph = sentence_graph(tokens, dependencies, first=[0], second=[3], others=[6])
kernel = AllPaths(normalized=False)
strength = dict(zip(kernel.fit([graph]).get_feature_names_out(), kernel.transform([graph]).toarray()[0], strict=True))
print(f"{len(graph.labels)} vertices, {len(graph.edges)} edges, {len(strength)} features, of which the strongest are")
for name in sorted(strength, key=strength.get)[-3:]:
    print(f"  {name}: {strength[name]:.2f}")

# %%
# The words are in the order of the sentence, and each dependency is above the words that it connects. Below is the
# second part: the same words, tagged as before (B), in the middle of (M) or after (A) the candidates.
n = len(tokens)
places = [(k, 0) for k in range(n)]
places += [((a + b) / 2, {1: 0.8, 2: 1.4, 4: 2.0}[abs(a - b)]) for a, b, _ in dependencies]
places += [(k, -1.0) for k in range(n)]

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
boxes = []
for place, labels in zip(places, graph.labels, strict=True):
    colors = {"fc": "#FBE6D9", "ec": "#D55E00"} if labels[0].endswith("_IP") else {"fc": "white", "ec": "#999999"}
    text = ax.text(
        *place, "\n".join(labels), ha="center", va="center", fontsize=9, bbox={"boxstyle": "round", **colors}
    )
    boxes.append(text.get_bbox_patch())
for a, b in graph.edges:
    on_path = graph.labels[a][0].endswith("_IP") and graph.labels[b][0].endswith("_IP")
    style = {"color": "#D55E00", "linewidth": 2} if on_path else {"color": "#999999"}
    (x, height), end = places[a], places[b]
    if a < n:  # up from a word and across to its dependency; long ones start near the middle, and cross no other
        x += 0.12 / (end[0] - x)
        style["connectionstyle"] = "angle,angleA=90,angleB=0,rad=8"
    elif b < n:
        style["connectionstyle"] = "angle,angleA=0,angleB=90,rad=8"
    style |= {"arrowstyle": "-|>", "patchA": boxes[a], "patchB": boxes[b], "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, (x, height), arrowprops=style, zorder=0)
ax.text(-0.4, 2.0, "syntax", style="italic")
ax.text(-0.4, -0.6, "order of the words", style="italic")
ax.set(xlim=(-0.5, n - 0.5), ylim=(-1.3, 2.2))
ax.axis("off")
plt.show()
