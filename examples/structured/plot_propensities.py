"""
How often is a position examined?
=================================
Clicks at the third position are rarer than at the first for two reasons: fewer users examine it, and the rows there are
worse. The second reason must not count in a propensity. Where two rankers show the same row at different positions, the
ratio of its click rates is the ratio of the propensities, whatever its relevance. The clicks are simulated; see
:doc:`/docs/clicks`.
"""

# %%
# Two rankers, as in an A/B test: each knows one of the three features that matter.
import matplotlib.pyplot as plt
import numpy as np

from kernelrank.datasets import simulate_clicks
from kernelrank.model_selection import estimate_propensities

rng = np.random.default_rng(0)
qid, X = np.repeat(np.arange(100), 20), rng.normal(size=(2000, 3))
y = (X.sum(axis=1) + rng.normal(size=2000) > 2).astype(int)
logs = [simulate_clicks(y, qid, X[:, k], random_state=k, n_impressions=50) for k in (0, 1)]
clicked, position, row = (np.concatenate([getattr(log, k) for log in logs]) for k in ("clicked", "position", "row"))
print(f"{clicked.sum():,} clicks on {len(X):,} rows")

# %%
# The estimate knows what was shown and clicked, but neither the relevance of the rows nor the rankers.
found = estimate_propensities(clicked, position, row)
click_rate = np.bincount(position, clicked)[1:] / np.bincount(position)[1:]
print(f"position 5: true 0.20, estimate {found.propensity[4]:.2f} ± {found.standard_error[4]:.2f}", end=", ")
print(f"click rate {click_rate[4] / click_rate[0]:.2f}")

# %%
# Error bars are 1.96 standard errors. Click rates fall too fast, because the rankers place relevant rows at the top.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(found.position, 1 / found.position, color="#595959", linewidth=1.2, label="true propensity, 1 / position")
ax.errorbar(
    found.position,
    found.propensity,
    1.96 * found.standard_error,
    fmt="o",
    color="#0072B2",
    label="estimated propensity",
)
ax.plot(found.position, click_rate / click_rate[0], "s", color="#D55E00", label="click rate")
ax.set(yscale="log", xlabel="position", ylabel="relative to the first position", xticks=[1, 5, 10, 15, 20])
ax.set_yticks([0.01, 0.03, 0.1, 0.3, 1], ["0.01", "0.03", "0.1", "0.3", "1"])
ax.minorticks_off()
ax.legend()
plt.show()
