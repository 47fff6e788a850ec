"""
Ordered categories: a score and its thresholds
==============================================
:class:`~kernelrank.OrdinalSVM` predicts ordered categories. It learns a score and the thresholds between the categories
together, so that a wrong prediction costs more if it is further off. The picture shows the scores of new patients by
their true category, and the thresholds: where categories overlap, predictions are wrong, mostly by one category only.
See :doc:`/docs/guide`.
"""

# %%
# The progression of diabetes in three categories. Half of the patients are for the test.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernelrank import OrdinalSVM

names = np.array(["mild", "medium", "severe"])
X, y = load_diabetes(return_X_y=True)
course = np.digitize(y, [100, 200])
X_train, X_test, y_train, y_test = train_test_split(X, names[course], test_size=0.5, random_state=0)
scaler = StandardScaler().fit(X_train)
model = OrdinalSVM(alpha=0.01, classes=names).fit(scaler.transform(X_train), y_train)

# %%
# ``classes`` gave the order of the categories.
new = scaler.transform(X_test)
predicted, scores = model.predict(new), model.score_samples(new)
two_off = np.isin(predicted, ["mild", "severe"]) & np.isin(y_test, ["mild", "severe"]) & (predicted != y_test)
print(f"{model.score(new, y_test):.0%} of {len(y_test)} predictions are right; {two_off.sum()} are two categories off")
print(f"The most frequent category alone would be right for {np.mean(y_test == 'medium'):.0%}.")

# %%
# Each circle, triangle and square is a patient; the places within a strip are random.
rng = np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for place, (name, color, marker) in enumerate(zip(names, ("#0072B2", "#E69F00", "#D55E00"), "o^s", strict=True)):
    found = scores[y_test == name]
    ax.scatter(found, place + rng.uniform(-0.3, 0.3, len(found)), color=color, marker=marker, s=22, alpha=0.8)
    right = np.mean(predicted[y_test == name] == name)
    ax.text(1.01, place, f"{right:.0%} right", transform=ax.get_yaxis_transform(), va="center")
for threshold in model.thresholds_:
    ax.axvline(threshold, color="black", linewidth=1.2)
ax.set_yticks(range(3), names)
ax.set(xlabel="score", ylabel="true category", ylim=(-0.5, 2.5))

edges = np.concatenate([ax.get_xlim()[:1], model.thresholds_, ax.get_xlim()[1:]])
top = ax.secondary_xaxis("top")
top.set_xticks((edges[:-1] + edges[1:]) / 2, names)
top.tick_params(length=0)
top.set_xlabel("predicted category")
plt.show()
