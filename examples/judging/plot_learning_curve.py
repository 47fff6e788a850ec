"""
Would more data help?
=====================
A learning curve trains on more and more rows and scores each model on held-out ones. Here, images of digits are ranked
by the digit that they show. With ten images, a linear ranker and one with a kernel are much alike. From 320 images on,
the linear one gains 0.02, and more data would help it little; the other one gains 0.03, from a much higher level. See
:doc:`/docs/inspection`.
"""

# %%
# Eight by eight pixels with values from 0 to 16 are brought to the range from 0 to 1.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from kernelrank import RankRLS
from kernelrank.plots import LearningCurveDisplay

X, digit = load_digits(return_X_y=True)
X = X / 16

# %%
# Five folds hold out a fifth of the 1,797 images each. Training sets are nested, and the largest has 1,280 images. The
# band is the standard deviation over the folds.
sizes = [10, 20, 40, 80, 160, 320, 640, 1280]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, model in {"linear": RankRLS(), "Gaussian kernel": RankRLS(kernel="gaussian")}.items():
    display = LearningCurveDisplay.from_estimator(model, X, digit, sizes=sizes, name=name, ax=ax)
    print(f"{name:15}", *(f"{mean:.2f}" for mean in display.curve.mean), sep="  ")

ax.set_xscale("log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="images trained on", ylabel="concordance on held-out images")
ax.legend(loc="upper left")
plt.show()
