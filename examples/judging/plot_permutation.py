"""
Could it be chance?
===================
Even a model of pure noise can have a concordance well above 0.5. A permutation test shuffles the outcomes, so that they
have nothing to do with the measurements, and repeats the whole estimate a thousand times: the histogram is what chance
can do. The p-value is the share of permutations that are at least as good as the true order. See :doc:`/docs/auc`.
"""

# %%
# Thirty patients, with body mass, blood pressure and a blood value on the left, and with three random numbers for each
# patient on the right.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from kernelrank import RankRLS
from kernelrank.plots import PermutationDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
measured, progression = X.loc[:29, ["bmi", "bp", "s5"]], y[:30]
noise = np.random.default_rng(0).normal(size=(30, 3))

# %%
# All permutations share one decomposition, so that 999 of them take little longer than one.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharex=True, sharey=True)
for ax, features, name in zip(axes, (measured, noise), ("measurements", "random numbers"), strict=True):
    display = PermutationDisplay.from_estimator(RankRLS(alpha=0.1), features, progression, ax=ax)
    ax.set_title(f"{name}: p = {display.result.pvalue:.2g}")
    ax.set(xlabel="concordance on held-out pairs")
    ax.label_outer()
    ax.legend(loc="upper left", fontsize="small")
    print(f"{name}: {display.result}")
plt.show()
