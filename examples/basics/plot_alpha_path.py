"""
Choosing alpha along a path
===========================
A small alpha lets the model fit the training rows closely, a large one keeps it simple. :class:`~kernelrank.RankSVMCV`
scores a whole path of alphas by cross-validation and chooses the best. The band is the standard deviation over the
folds. The dashed line, for patients that took no part in the choice, peaks at the same alphas. See :doc:`/docs/tuning`.
"""

# %%
# Ten measurements of diabetes patients become 65 features: the measurements, their squares and their products. With
# 221 training rows, that is enough to overfit.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from kernelrank import RankSVM, RankSVMCV
from kernelrank.plots import PathDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler(), RankSVMCV())
model.fit(X_train, y_train)
search = model[-1]
print(f"{len(search.alphas_)} alphas on {search.scores_.shape[1]} folds, chosen: {search.alpha_:.2g}")
print(f"largest proven gap {search.gaps_.max():.1e}")

# %%
# One model per alpha, scored on the patients that were not used so far. This is for the picture only: the test rows
# must not choose alpha.
train, test = (model[:-1].transform(rows) for rows in (X_train, X_test))
new = [RankSVM(alpha=alpha).fit(train, y_train).score(test, y_test) for alpha in search.alphas_]

# %%
# Both curves fall to the left, where the model overfits, and to the right, where it is too simple. The two halves of
# the patients differ, so that the dashed line may be lower or higher; what matters is where it peaks.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
PathDisplay.from_estimator(model, ax=ax)
ax.plot(search.alphas_, new, color="#D55E00", linestyle="--", marker="s", markersize=5, label="221 test rows")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
plt.show()
