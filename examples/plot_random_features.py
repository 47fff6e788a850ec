"""
Random features for large kernels
=================================
The Gaussian kernel matrix of many rows is large. Random Fourier features, computed by scikit-learn's
RBFSampler, approximate it with any number of columns; a linear RankSVM of these features approximates
the kernel method. Queries pass through the pipeline by scikit-learn's metadata routing.
"""

# %%
# In each of 60 queries the row farthest from the centre is the best, which no linear function of
# the features can express. The queries have different levels, so that only rows of the same query are comparable.
from pathlib import Path

import matplotlib as mpl
import numpy as np
import sklearn
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline

from kernelrank import NystromMap, RankSVM
from kernelrank.kernels import Gaussian

sklearn.set_config(enable_metadata_routing=True)
rng = np.random.default_rng(0)
X = rng.normal(size=(1800, 4))
qid = np.repeat(np.arange(60), 30)
y = np.linalg.norm(X, axis=1) + 10 * rng.normal(size=60)[qid] + 0.1 * rng.normal(size=1800)
train, test = qid < 30, qid >= 30


# %%
# The pipeline takes ``qid`` in the same way as RankSVM.
def concordance(*steps):
    """Train on the first half of the queries, and return the score on the other half."""
    model = make_pipeline(*steps, RankSVM(alpha=1e-3)).fit(X[train], y[train], qid=qid[train])
    return model.score(X[test], y[test], qid=qid[test])


sizes = [5, 20, 100, 300]
random = [concordance(RBFSampler(gamma=0.1, n_components=n, random_state=0)) for n in sizes]
nystrom = [concordance(NystromMap(Gaussian(0.1), n_basis=n)) for n in sizes]
print(f"concordance on 30 held-out queries, linear: {concordance():.3f}")
for n, *found in zip(sizes, random, nystrom, strict=True):
    print(f"  {n} random features {found[0]:.3f}, {n} basis rows {found[1]:.3f}")

# %%
# Basis rows adapt to the data, while random features depend only on the kernel, so more of them are needed.
if not mpl.is_interactive():
    mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

figure, axes = plt.subplots(layout="constrained")
axes.plot(sizes, random, "o-", label="random features")
axes.plot(sizes, nystrom, "s-", label="basis rows (Nyström)")
axes.set(xscale="log", xlabel="features", ylabel="concordance on held-out queries")
axes.legend()
path = Path("build/random-features.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
print(f"plot: {path}")
