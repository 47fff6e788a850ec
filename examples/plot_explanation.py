"""
Why is A above B?
=================
Rank patients by the progression of their diabetes, and explain why one patient is ranked above
another: by the features, and by the training patients that speak for it. Then see how the
performance grows with the number of patients.
"""

# %%
# The ranker is linear in the standardised features. The explanation is in the original ones.
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankRLS
from kernelrank.inspection import explain, learning_curve

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = make_pipeline(StandardScaler(), RankRLS(alpha=0.1)).fit(X, y)
a, b = X.iloc[0], X.iloc[1]
by_features = explain(model, a, b)
print(by_features)

# %%
# Least squares are linear in the targets, so that the same difference is also a sum over the
# training patients.
by_rows = explain(model, a, b, by="rows")
print(by_rows.sentence)
print(f"sum by features {by_features.contributions.sum():.6f}, by rows {by_rows.contributions.sum():.6f}")

# %%
# Would more patients help?
curve = learning_curve(make_pipeline(StandardScaler(), RankRLS(alpha=0.1)), X, y, cv=5)
print(curve)

if not mpl.is_interactive():
    mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from kernelrank.plots import ExplanationDisplay, LearningCurveDisplay  # noqa: E402

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ExplanationDisplay.from_explanation(by_features, ax=left)
LearningCurveDisplay.from_curve(curve, name="RankRLS", ax=right)
path = Path("build/explanation.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
print(f"plots: {path}")
