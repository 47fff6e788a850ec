"""
Survival by predicted risk
==========================
Some patients leave a study alive, so that their survival times are only known to be larger: they are censored. A ranker
compares those pairs of patients whose order is known. The picture shows how patients whom the model has not seen
survive, in three groups by predicted score. The data are simulated; see :doc:`/docs/survival`.
"""

# %%
# Three of four features matter. About half of the patients leave before they die.
import matplotlib.pyplot as plt
import numpy as np

from kernelrank import RankSVM
from kernelrank.metrics import concordance_interval

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 4))
lifetime = np.exp(1 - 0.8 * X[:, 0] - 0.5 * X[:, 1] + 0.3 * X[:, 2] + rng.gumbel(size=1000))
leaving = rng.uniform(0, 12, size=1000)
years, died = np.minimum(lifetime, leaving), lifetime <= leaving
train, test = np.arange(500), np.arange(500, 1000)

# %%
# ``observed`` says whose time is known. Higher scores mean longer lives.
model = RankSVM().fit(X[train], years[train], observed=died[train])
scores = model.predict(X[test])
found = concordance_interval(years[test], scores, observed=died[test])
print(f"{model.n_pairs_:,} of {500 * 499 // 2:,} pairs of training patients have a known order")
print(f"concordance of {len(test)} test patients: {found.concordance:.2f} ({found.low:.2f} to {found.high:.2f})")

# %%
# The estimate of Kaplan and Meier: a death among n patients who are still in the study multiplies the share alive by
# 1 - 1/n. Ticks are patients who left; the last steps of each curve rest on few patients.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
group = np.digitize(scores, np.quantile(scores, [1 / 3, 2 / 3]))
styles = {2: ("low risk", "#0072B2", "-"), 1: ("middle", "#E69F00", "-."), 0: ("high risk", "#D55E00", "--")}
for k, (name, color, line) in styles.items():
    order = np.argsort(years[test][group == k])
    time, death = years[test][group == k][order], died[test][group == k][order]
    alive = np.cumprod(1 - death / np.arange(len(time), 0, -1))
    ax.step(np.append(0, time), np.append(1, alive), where="post", color=color, linestyle=line, label=name)
    ax.plot(time[~death], alive[~death], "|", color=color, markersize=6)
ax.set(xlabel="years", ylabel="share alive", xlim=(0, 10), ylim=(0, 1.02))
ax.set_title(f"Survival of {len(test)} test patients, ranked with a concordance of {found.concordance:.2f}")
ax.legend(title="third by score")
plt.show()
