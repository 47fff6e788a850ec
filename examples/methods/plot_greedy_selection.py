"""
How many features are enough?
=============================
:class:`~kernelrank.GreedyRankRLS` adds the feature that lowers the error on held-out rows most, then the next one, and
so on. The errors are those of refits without the held-out rows, but nothing is refitted. On breast cancer data, six of
thirty features rank new tumours nearly as well as all of them. See :doc:`/docs/guide`.
"""

# %%
# Benign tumours should be ranked above malignant ones. Four of ten tumours are for the test alone.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernelrank import GreedyRankRLS, RankRLS

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
scaler = StandardScaler().set_output(transform="pandas").fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
model = GreedyRankRLS(n_features=30, alpha=0.01).fit(X_train, y_train)
order = X.columns[model.selected_]

# %%
# ``errors_`` has the mean squared error over pairs of held-out training rows. The features were chosen by it, so it is
# optimistic, and the first k features are evaluated on the test rows, too. There, the mean over all pairs is twice the
# variance of the residuals.
test_errors = []
for k in range(1, 31):
    ranker = RankRLS(alpha=0.01).fit(X_train[order[:k]], y_train)
    test_errors.append(2 * np.var(y_test - ranker.predict(X_test[order[:k]])))
    if k in (1, 6, 30):
        print(f"{k:2} features: AUC of the test rows {ranker.score(X_test[order[:k]], y_test):.3f}")

# %%
# Dashed lines show the errors with all features.
shown = 12
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, errors, color, marker in (
    ("test rows", test_errors, "#D55E00", "s"),
    ("held-out training rows", model.errors_, "#0072B2", "o"),
):
    ax.plot(errors[:shown], range(shown), color=color, marker=marker, label=name)
    ax.axvline(errors[-1], color=color, linestyle="--", linewidth=1.2, label=f"{name}, all 30 features")
ax.set_yticks(range(shown), [f"+ {name}" for name in order[:shown]])
ax.set(xlabel="mean squared error of a pair", title="Error after each selected feature")
ax.invert_yaxis()
ax.legend()
plt.show()
