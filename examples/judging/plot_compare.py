"""
Which model is better?
======================
The intervals of five models overlap on the left, which says little: all models are judged on the same patients, and a
patient that is hard for one is hard for the others. :func:`~kernelrank.model_selection.compare` therefore looks at the
differences, on the right, whose intervals are much narrower. See :doc:`/docs/auc`.
"""

# %%
# Each model is trained on four fifths of 442 patients, and ranks the others by the progression of their diabetes. None
# of them was tuned.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankSVM
from kernelrank.model_selection import compare

models = {
    "RankSVM": make_pipeline(StandardScaler(), RankSVM(alpha=0.01)),
    "Gaussian kernel": make_pipeline(StandardScaler(), RankSVM(alpha=0.01, kernel="gaussian")),
    "ridge regression": make_pipeline(StandardScaler(), Ridge()),
    "random forest": RandomForestRegressor(random_state=0),
    "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor()),
}
X, y = load_diabetes(return_X_y=True)
result = compare(models, X, y, strategy="averaged", cv=5)
for each in result.differences:
    if each.corrected_pvalue < 0.05:
        print(f"{each.first} - {each.second}: {each.difference:.3f}, corrected p = {each.corrected_pvalue:.3f}")

# %%
# Two of the differences from RankSVM have intervals without zero. Of all ten differences, one remains below 0.05 if
# p-values are corrected for their number, as above. These intervals take the trained models as given: they are a little
# too narrow, as other training rows would make other models.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
style = {"fmt": "o", "color": "#0072B2", "capsize": 4, "markersize": 7}
low, high = np.transpose(result.intervals)
mean = np.array(result.estimates)
left.errorbar(mean, range(5), xerr=[mean - low, high - mean], **style)
found = result.differences[:4]  # those from the first model
mean = np.array([each.difference for each in found])
ends = [[each.difference - each.low for each in found], [each.high - each.difference for each in found]]
right.errorbar(mean, range(1, 5), xerr=ends, **style)
right.axvline(0, color="#595959", linestyle="--")
left.set(title="Each model by itself", xlabel="concordance, 95 % interval")
left.set(yticks=range(5), yticklabels=models, ylim=(4.5, -0.5))
right.set(title="On the same patients", xlabel="RankSVM minus the other model, 95 % interval")
plt.show()
