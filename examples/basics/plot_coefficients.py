"""
Which features matter?
======================
The score of a linear ranker is a weighted sum of the features. A positive weight moves patients with a large value
up, a negative one moves them down. The whiskers are 95 % intervals: where they include zero, the data do not tell the
direction. :doc:`/docs/tuning` says how they are computed.
"""

# %%
# Weights can be compared because all features have the same scale. The data are ten measurements of 442 patients and
# the progression of their diabetes after a year.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankSVM
from kernelrank.model_selection import coef_intervals
from kernelrank.plots import CoefficientDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = X.rename(columns={"bmi": "body mass", "bp": "blood pressure", "s1": "cholesterol", "s2": "LDL", "s3": "HDL"})
X = X.rename(columns={"s4": "cholesterol / HDL", "s5": "log triglycerides", "s6": "glucose"})
model = make_pipeline(StandardScaler(), RankSVM(alpha=0.01)).fit(X, y)

# %%
# The intervals come from ten models, each trained without a tenth of the patients.
intervals = coef_intervals(model, X, y)
certain = (intervals.low > 0) | (intervals.high < 0)
print("the sign is certain of:", ", ".join(X.columns[certain]))

# %%
# Intervals of measurements that hold much of the same information, such as the two cholesterols, are wide: the model
# can exchange the weight of one for the other.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
CoefficientDisplay.from_estimator(model, intervals=intervals, ax=ax)
ax.set(title="What moves a patient up the ranking", xlabel="coefficient of the standardised measurement, 95 % interval")
plt.show()
