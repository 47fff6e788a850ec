"""
Documents in queries, and which queries go wrong
================================================
A search engine ranks the documents of each query by themselves: rows of different queries are never compared. The mean
of a metric hides that some queries are ranked perfectly and others badly. The display draws NDCG of each query,
the worst first, and so names the queries to look at. :doc:`/docs/queries` is a tutorial.
"""

# %%
# Simulated documents: 15 for each of 120 queries, with grades from 0 to 3 of how relevant they are. Judges agree about
# most queries, but the grades of every fourth query have three times as much noise: nobody knows what was meant.
import matplotlib.pyplot as plt
import numpy as np

from kernelrank import RankSVM
from kernelrank.plots import QueryBreakdownDisplay

rng = np.random.default_rng(0)
query = np.repeat(np.arange(120), 15)
vague = query % 4 == 0
X = rng.normal(size=(len(query), 3))  # how well the text matches, popularity, age
utility = X @ [1.0, 0.6, -0.4] + np.where(vague, 1.5, 0.5) * rng.normal(size=len(query))
grade = np.digitize(utility, [0, 1, 2])
qid = np.where(vague, "vague ", "clear ") + query.astype(str)

# %%
# The model learns from the first hundred queries, and ranks the documents of the other twenty.
train, test = query < 100, query >= 100
model = RankSVM(alpha=0.01).fit(X[train], grade[train], qid=qid[train])
print("coefficients:", model.coef_.round(2))
print("ranks of the documents of one query:", model.rank(X[test][:15], qid[test][:15]))

# %%
# NDCG@5 looks at the first five documents, and is 1 for the best possible order. The mean is 0.84, and three of the
# five vague queries are far below it.
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
display = QueryBreakdownDisplay.from_estimator(model, X[test], grade[test], qid=qid[test], metric="ndcg@5", ax=ax)
for bar, name in zip(ax.patches, display.queries, strict=True):
    if name.startswith("vague"):
        bar.set(facecolor="#F3C9AE", edgecolor="#D55E00", hatch="///")
ax.set(xlabel="NDCG@5", title=f"20 test queries, mean {display.mean:.2f} (dashed)")
plt.show()
