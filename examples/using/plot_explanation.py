"""
Why is A above B?
=================
:func:`~kernelrank.inspection.explain` splits the difference of two scores into contributions that sum to it exactly: of
the columns of a table, or of the training rows whose targets led to the scores. Here a ranker scores the listings of a
new search for apartments, and the top listing is compared with the bottom one. See :doc:`/docs/inspection`.
"""

# %%
# Searches 1 to 70 are for training, and the next one is new. All columns but the description are used.
import matplotlib.pyplot as plt
import numpy as np

from kernelrank import RankRLS
from kernelrank.datasets import load_apartments
from kernelrank.inspection import explain
from kernelrank.pipelines import make_table_ranker
from kernelrank.plots import ExplanationDisplay

X, y, qid = load_apartments()
train, new = np.flatnonzero(qid <= "s070"), np.flatnonzero(qid == "s071")
model = make_table_ranker(X, RankRLS(alpha=0.01), drop=["description"])
model.fit(X[train], y[train], rankrls__qid=qid[train])

# %%
# A contribution of a column is its weight times the difference of its values, summed over the features that were made
# of it. Least squares are linear in the targets, so the same difference is a sum over training rows, too.
order = new[np.argsort(model.predict(X[new]))]
a, b = X[order[-1:]], X[order[:1]]
by_columns = explain(model, a, b)
by_rows = explain(model, a, b, by="rows")
for found in (by_columns, by_rows):
    print(found.sentence)
    print(f"sum of {len(found.contributions)} contributions: {found.contributions.sum():.4f}")

# %%
# Hatched bars speak against the top listing. Its values are named first, those of the bottom listing last.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ExplanationDisplay.from_explanation(by_columns, ax=ax)
names = [f"{name}: {a[name][0]}, not {b[name][0]}" for name in by_columns.names]
ax.set(yticklabels=names, title="Why the top listing of a search is above the bottom one")
plt.show()
