"""
A ROC curve from fifty patients
===============================
With few rows, none can be spared for testing. :func:`~kernelrank.model_selection.tournament_roc` compares every two
rows by a model that was trained without both. The share of comparisons that a row wins is its score. The band is wide,
because fifty patients cannot tell more about new ones, and the curve of 519 other patients is in it. See
:doc:`/docs/auc`.
"""

# %%
# A random sample of 50 patients with breast tumours, with two measurements of each: texture and smoothness. Malignant
# tumours are to be ranked first.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split

from kernelrank import RankRLS
from kernelrank.plots import TournamentROCDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, malignant = X[["mean texture", "mean smoothness"]], y == 0
X_few, X_others, few, others = train_test_split(X, malignant, train_size=50, random_state=0)
print(f"{few.sum()} malignant and {(~few).sum()} benign tumours")

# %%
# A model of all fifty, on the other 519: in practice, they would not be there.
score = RankRLS(alpha=1e-3).fit(X_few, few).predict(X_others)
fpr, tpr, _ = roc_curve(others, score)

# %%
# The interval of the area is from 0.65 to 0.90. Area and curve on the other patients are close to those of the
# tournament here, and may be further away for another sample of 50.
figure, ax = plt.subplots(figsize=(6, 5.2), layout="constrained")
ax.plot(fpr, tpr, color="#D55E00", linestyle="--", label=f"519 other patients {roc_auc_score(others, score):.3f}")
TournamentROCDisplay.from_estimator(RankRLS(alpha=1e-3), X_few, few, name="50 patients", ax=ax)
plt.show()
