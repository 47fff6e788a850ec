"""
Random features and basis rows
==============================
A kernel matrix has a row and a column for every training row, which is too much for large data. Two maps lead to a
linear model instead: random Fourier features, computed by scikit-learn's ``RBFSampler``, and the kernels of randomly
drawn basis rows, computed by :class:`~kernelrank.NystromMap`. Basis rows adapt to the data: here, ten of them rank
about as well as two hundred random features. See :doc:`/docs/kernels`.
"""

# %%
# In each of 60 queries, the row farthest from the centre is the best, which no linear score can express. The queries
# have different levels, so that only rows of the same query are comparable. Half of the queries are held out.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import RBFSampler

from kernelrank import NystromMap, RankSVM
from kernelrank.kernels import Gaussian

rng = np.random.default_rng(0)
X, qid = rng.normal(size=(1800, 4)), np.arange(1800) // 30
y = np.linalg.norm(X, axis=1) + 10 * rng.normal(size=60)[qid] + 0.1 * rng.normal(size=1800)
train, test = qid < 30, qid >= 30
for kernel in ("linear", Gaussian(0.1)):
    model = RankSVM(kernel=kernel).fit(X[train], y[train], qid=qid[train])
    exact = model.score(X[test], y[test], qid=qid[test])
    print(f"{kernel}: concordance on held-out queries {exact:.3f}")

# %%
# Both maps draw random numbers, so each is fitted with five seeds for each number of features.
sizes, seeds = [5, 10, 20, 50, 100, 200], range(5)
scores = np.empty((2, len(sizes), len(seeds)))
for i, n in enumerate(sizes):
    for seed in seeds:
        basis_rows = NystromMap(Gaussian(0.1), n_basis=n, random_state=seed)
        fourier = RBFSampler(gamma=0.1, n_components=n, random_state=seed)
        for k, features in enumerate([basis_rows, fourier]):
            Z = features.fit(X[train]).transform(X)
            model = RankSVM().fit(Z[train], y[train], qid=qid[train])
            scores[k, i, seed] = model.score(Z[test], y[test], qid=qid[test])

# %%
# The lines are means over the seeds, the bands reach from the worst to the best seed.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
names, styles = ("basis rows (Nyström)", "random Fourier features"), (("#0072B2", "o-"), ("#D55E00", "s--"))
for name, (color, style), found in zip(names, styles, scores, strict=True):
    ax.plot(sizes, found.mean(axis=1), style, color=color, label=name)
    ax.fill_between(sizes, found.min(axis=1), found.max(axis=1), color=color, alpha=0.18, linewidth=0)
ax.axhline(exact, color="#595959", linewidth=1.2, zorder=1, label="exact kernel, 900 rows")
ax.set(xlabel="number of features", ylabel="concordance on held-out queries", xscale="log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
