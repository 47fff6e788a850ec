"""
Learning from clicks
====================
Users examine the top of a ranking more often than the rest. A ranker trained on clicks as they are learns the ranking
that was shown, and more clicks do not help. With each click weighted by the inverse of its propensity, the probability
that its position is examined, the ranker becomes as good as one trained on judgements. All clicks are simulated; see
:doc:`/docs/clicks`.
"""

# %%
# Three of five features matter, but the ranker in use knows the first one only. Its rankings are shown to users.
import matplotlib.pyplot as plt
import numpy as np

from kernelrank import RankSVM
from kernelrank.datasets import simulate_clicks
from kernelrank.metrics import ndcg
from kernelrank.pairs import weigh_clicks

rng = np.random.default_rng(0)
qid, X = np.repeat(np.arange(200), 20), rng.normal(size=(4000, 5))
y = (X[:, :3].sum(axis=1) + rng.normal(size=4000) > 2).astype(int)
X_train, X_test, y_train, y_test = X[:2000], X[2000:], y[:2000], y[2000:]
qid_train, qid_test = qid[:2000], qid[2000:]
model = RankSVM(query_weighting="pair").fit(X_train, y_train, qid=qid_train)
judged = ndcg(y_test, model.predict(X_test), qid=qid_test, k=10, undefined=0)

# %%
# ``weigh_clicks`` turns clicks into labelled rows with weights. Clicks are drawn five times for each number of
# impressions per query; a propensity of 1 for all means no weights.
n_impressions, seeds = [1, 3, 10, 30, 100], range(5)
n_clicks, scores = np.empty((5, 5)), np.empty((2, 5, 5))
for i, n in enumerate(n_impressions):
    for seed in seeds:
        shown = simulate_clicks(y_train, qid_train, X_train[:, 0], random_state=seed, n_impressions=n)
        n_clicks[i, seed] = shown.clicked.sum()
        for k, propensity in enumerate([shown.propensity, 1.0]):
            found = weigh_clicks(shown.clicked, propensity, qid=qid_train[shown.row], row=shown.row)
            model.fit(X_train[found.row], found.y, qid=found.qid, sample_weight=found.sample_weight)
            scores[k, i, seed] = ndcg(y_test, model.predict(X_test), qid=qid_test, k=10, undefined=0)
weighted, unweighted = scores[:, -1].mean(axis=1)
print(f"{n_clicks[-1].mean():,.0f} clicks: NDCG@10 {weighted:.2f} with weights, {unweighted:.2f} without")
print(f"judgements: {judged:.2f}")

# %%
# The lines are means, the bands reach from the lowest to the highest of the five draws.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.axhline(judged, color="#595959", linewidth=1.2, label="trained on judgements")
labels, styles = (
    ("clicks, weighted by 1 / propensity", "clicks without weights"),
    (("#0072B2", "o-"), ("#D55E00", "s--")),
)
for label, (color, style), found in zip(labels, styles, scores, strict=True):
    ax.plot(n_clicks.mean(axis=1), found.mean(axis=1), style, color=color, label=label)
    ax.fill_between(n_clicks.mean(axis=1), found.min(axis=1), found.max(axis=1), color=color, alpha=0.18, linewidth=0)
ax.set(xscale="log", xlabel="clicks", ylabel="NDCG@10 of held-out queries")
ax.legend()
plt.show()
