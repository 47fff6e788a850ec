"""
Learning from clicks
====================
Users examine the top of a ranking more often than the rest. A ranker trained on their clicks as they are learns the
ranking that was shown; one trained on clicks that are weighted by their propensities approaches, with more clicks, the
ranker trained on judgements. All clicks here are simulated.
"""

# %%
# Three features matter. The two rankers in use know one of them each, and both show their rankings of the training
# queries.
from pathlib import Path

import matplotlib as mpl
import numpy as np

from kernelrank import RankSVM
from kernelrank.datasets import simulate_clicks
from kernelrank.metrics import ndcg
from kernelrank.model_selection import estimate_propensities
from kernelrank.pairs import weigh_clicks

rng = np.random.default_rng(0)
qid, X = np.repeat(np.arange(200), 20), rng.normal(size=(4000, 5))
y = (X[:, :3].sum(axis=1) + rng.normal(size=4000) > 2).astype(int)
train, test = np.arange(2000), np.arange(2000, 4000)


def evaluate(model):
    """Return NDCG@10 on the test queries."""
    return ndcg(y[test], model.predict(X[test]), qid=qid[test], k=10, undefined=0)


def fit(clicked, propensity, row):
    """Train on clicks."""
    found = weigh_clicks(clicked, propensity, qid=qid[row], row=row)
    model = RankSVM(query_weighting="pair")
    return model.fit(X[found.row], found.y, qid=found.qid, sample_weight=found.sample_weight)


def show(n_impressions, random_state=0):
    """Simulate clicks on both rankings: clicks, rows, positions and propensities."""
    rng = np.random.RandomState(random_state)
    logs = [
        simulate_clicks(y[train], qid[train], X[train, k], random_state=rng, n_impressions=n_impressions)
        for k in (0, 1)
    ]
    return (
        np.concatenate([getattr(log, name) for log in logs]) for name in ("clicked", "row", "position", "propensity")
    )


# %%
# Rankers trained on growing numbers of clicks, without weights, with the true propensities and with estimated ones.
# Positions from the eleventh on share an estimate.
judged = evaluate(RankSVM(query_weighting="pair").fit(X[train], y[train], qid=qid[train]))
numbers, curves = [], {"without weights": [], "true propensities": [], "estimated propensities": []}
for n_impressions in (4, 10, 40, 100):
    clicked, row, position, propensity = show(n_impressions)
    bins = np.minimum(position, 11)
    estimated = estimate_propensities(clicked, bins, row)
    numbers.append(int(clicked.sum()))
    for curve, weights in zip(curves.values(), (1.0, propensity, estimated.at(bins)), strict=True):
        curve.append(evaluate(fit(clicked, weights, row)))
    print(f"from {numbers[-1]:,} clicks:", ", ".join(f"{name} {curve[-1]:.3f}" for name, curve in curves.items()))
print(f"from judgements: {judged:.3f}")
print(f"propensity of position 5: 0.2; estimated: {estimated.propensity[4]:.2f} ± {estimated.standard_error[4]:.2f}")

# %%
# Without weights, more clicks do not help: the bias stays.
if not mpl.is_interactive():
    mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

figure, axes = plt.subplots(layout="constrained")
for name, curve in curves.items():
    axes.plot(numbers, curve, "o-", label=name)
axes.axhline(judged, color="gray", linestyle="--", label="judgements")
axes.set(xscale="log", xlabel="clicks", ylabel="NDCG@10 of the test queries", title="Rankers trained on clicks")
axes.legend()
path = Path("build/clicks.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
print(f"plot: {path}")
