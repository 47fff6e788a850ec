"""
Two clusters with a wide margin
===============================
:class:`~kernelrank.MaxMarginClustering` divides rows without labels into the two clusters that least squares separates
best, linearly or with a kernel. K-means looks for compact clusters instead, and cuts through long or bent ones. An
adjusted Rand index of 1 means the true groups, 0 no more agreement than by chance. See :doc:`/docs/guide`.
"""

# %%
# Two long groups side by side, and two moons, each with equally many rows. The kernel and the other parameters for the
# moons were chosen with a look at the true groups: with ``min_share=0.3``, the default, the index is 0.36. For the long
# groups, all parameters have their defaults.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import adjusted_rand_score

from kernelrank import MaxMarginClustering
from kernelrank.kernels import Gaussian

rng = np.random.default_rng(0)
group = np.arange(300) % 2
long_groups = np.column_stack([3 * rng.normal(size=300), 2 * group - 1 + 0.4 * rng.normal(size=300)])
moons, moon = make_moons(300, noise=0.08, random_state=0)
k_means = KMeans(2, n_init=10, random_state=0)
with_kernel = MaxMarginClustering(0.02, kernel=Gaussian(4.0), min_share=0.5, n_init=100)
panels = [
    ("k-means", k_means, long_groups, group),
    ("maximum margin", MaxMarginClustering(), long_groups, group),
    ("k-means", k_means, moons, moon),
    ("maximum margin, Gaussian kernel", with_kernel, moons, moon),
]

# %%
# Colours and markers are the clusters found; lines are the boundaries between them.
figure, axes = plt.subplots(2, 2, figsize=(7, 4.8), layout="constrained")
figure.suptitle("Clusters found, and their adjusted Rand index")
for ax, (name, model, X, truth) in zip(axes.flat, panels, strict=True):
    labels = model.fit_predict(X)
    for cluster, color, marker in ((0, "#0072B2", "o"), (1, "#E69F00", "^")):
        ax.scatter(*X[labels == cluster].T, color=color, marker=marker, s=14, linewidth=0)
    boundary = {"response_method": "predict", "plot_method": "contour", "levels": [0.5], "colors": "black"}
    DecisionBoundaryDisplay.from_estimator(model, X, ax=ax, eps=0.4, grid_resolution=400, **boundary)
    ax.set(title=f"{name}: {adjusted_rand_score(truth, labels):.2f}", xticks=[], yticks=[], xlabel="", ylabel="")
plt.show()
