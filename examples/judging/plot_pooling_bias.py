"""
Pooled predictions look worse than chance
=========================================
Of measurements that have nothing to do with the outcome, the true AUC is 0.5. Many programs hold out each row in turn
and compute one AUC from all predictions. On data sets of pure noise, the mean of these pooled estimates is below 0.5,
and falls with the strength of regularisation. Leave-pair-out compares two rows only if both were held out, and is right
on average.
"""

# %%
# When a positive row is held out, one positive row is missing from the training data, and all scores are a little
# lower. Without a negative row, they are a little higher. Pooling compares such scores of different models.
#
# Here are 200 data sets of 30 rows and ten random features. :class:`~kernelrank.RankRLS` computes the predictions for
# held-out rows and pairs in closed form, for any alpha, from one fit per data set.
import matplotlib.pyplot as plt
import numpy as np

from kernelrank import RankRLS
from kernelrank.metrics import concordance_index

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 15)
rows = np.arange(30)[:, None]  # each row is a fold
alphas = [0.1, 1.0, 10.0, 100.0]
pooled, pairs = np.empty((200, 4)), np.empty((200, 4))
for number in range(200):
    model = RankRLS().fit(rng.normal(size=(30, 10)), y)
    for k, alpha in enumerate(alphas):
        pooled[number, k] = concordance_index(y, np.concatenate(model.hold_out(rows, alpha=alpha)))
        pairs[number, k] = model.leave_pair_out_concordance(alpha=alpha)
for name, found in (("pooled", pooled), ("leave-pair-out", pairs)):
    error = found.std(axis=0) / np.sqrt(200)
    print(f"{name:14} means {found.mean(axis=0).round(2)}, standard errors {error.round(2)}")

# %%
# Each point is the estimate for one data set. Both kinds vary a lot from one small data set to the next, but only
# pooled estimates go wrong with alpha: at 100, nearly every positive row is below every negative one. The mean of
# leave-pair-out is 0.52 here, about two standard errors from the truth, and 0.50 for the 10,000 data sets of
# :doc:`/docs/auc`.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for k in range(4):
    for found, place, color, marker in ((pooled, k - 0.2, "#D55E00", "s"), (pairs, k + 0.2, "#0072B2", "o")):
        ax.scatter(place + rng.uniform(-0.15, 0.15, 200), found[:, k], s=6, color=color, alpha=0.4, linewidth=0)
        mean = ax.scatter(place, found[:, k].mean(), s=80, color=color, marker=marker, edgecolor="black", zorder=3)
        mean.set_label(None if k else "pooled, mean" if found is pooled else "leave-pair-out, mean")
ax.axhline(0.5, color="#595959", linestyle="--", label="true AUC 0.5")
ax.set_xticks(range(4), [f"{alpha:g}" for alpha in alphas])
ax.set(xlabel="alpha: strength of regularisation", ylabel="estimated AUC of pure noise", ylim=(-0.05, 1))
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
plt.show()
