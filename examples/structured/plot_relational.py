"""
Four questions about a matrix
=============================
The rows of a matrix are drugs, its columns are targets, and a model predicts how well they bind. How good it is depends
on what is new: one entry, a drug, a target, or both. All four hold-outs of :class:`~kernelrank.relational.KroneckerRLS`
are exact and need no refit. Here the concordance falls from 0.86 for a new entry to 0.77 if both are new, so an
estimate for one question does not answer another. See :doc:`/docs/relational`.
"""

# %%
# Simulated features of 60 drugs and 80 targets, and all their affinities, with noise.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from kernelrank.metrics import concordance_index
from kernelrank.relational import KroneckerRLS

rng = np.random.default_rng(0)
U, V = rng.normal(size=(60, 4)), rng.normal(size=(80, 3))
Y = np.sin(U @ rng.normal(size=(4, 3))) @ np.cos(V @ rng.normal(size=(3, 3))).T + 0.3 * rng.normal(size=(60, 80))
model = KroneckerRLS(alpha=1e-4, row_kernel="gaussian", column_kernel="gaussian").fit(U, V, Y)

# %%
# Each method predicts every entry by a model that was not trained on the entry, its row, its column, or either.
held_out = {
    "a new entry": model.leave_entry_out(),
    "a new target": model.leave_column_out(),
    "a new drug": model.leave_row_out(),
    "both new": model.leave_both_out(),
}
concordance = {name: concordance_index(Y.ravel(), predicted.ravel()) for name, predicted in held_out.items()}
print(", ".join(f"{name} {value:.2f}" for name, value in concordance.items()))

# %%
# The small matrices say what is predicted, what the model was trained on, and what is left out. The bars start at 0.5,
# the concordance of random predictions.
cells = np.zeros((4, 5, 7), dtype=int)
cells[0, 2, 4], cells[1, :, 4], cells[2, 2, :] = 1, 1, 1
cells[3, 2, :], cells[3, :, 4], cells[3, 2, 4] = 2, 2, 1

figure, axes = plt.subplot_mosaic(
    [["0", "1", "2", "3"], ["bars"] * 4], figsize=(7, 4), layout="constrained", height_ratios=[2, 3]
)
colors = {"trained on": "#9ECAE1", "predicted": "#D55E00", "left out": "#FFFFFF"}
for k, name in enumerate(held_out):
    shown = axes[str(k)]
    shown.pcolormesh(cells[k], cmap=ListedColormap(list(colors.values())), vmin=0, vmax=2, edgecolor="#BBBBBB")
    shown.set(title=name, aspect="equal")
    shown.axis("off")
bars = axes["bars"].bar(range(4), list(concordance.values()), color="#0072B2", width=0.5)
axes["bars"].bar_label(bars, fmt="%.2f")
axes["bars"].set(xticks=[], xlim=(-0.5, 3.5), ylim=(0.5, 1), ylabel="held-out concordance")
patches = [Patch(facecolor=color, edgecolor="#BBBBBB", label=name) for name, color in colors.items()]
axes["bars"].legend(handles=patches, ncols=3, loc="upper center")
plt.show()
