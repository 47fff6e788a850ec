"""
A first ranking
===============
Patients are ranked by the progression of their diabetes after a year. A :class:`~kernelrank.RankSVM` learns from every
pair of patients whose progression differs, and proves how close its objective is to the optimum: the left picture shows
the two bounds meet. The right picture has the ranking of patients that the model has not seen. The
:doc:`user guide </docs/guide>` goes on from here.
"""

# %%
# The data are 442 patients with ten measurements each. The features are standardised, because the penalty treats all
# weights alike.
import matplotlib.pyplot as plt
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankSVM
from kernelrank.metrics import concordance_index
from kernelrank.plots import ConvergenceDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
model = make_pipeline(StandardScaler(), RankSVM(alpha=0.01)).fit(X_train, y_train)

# %%
# The certificate: no coefficients have an objective that is smaller by more than the gap.
ranker = model[-1]
print(f"{ranker.n_pairs_:,} pairs of {len(y_train)} patients, {ranker.n_iter_} iterations")
print(f"certificate: objective {ranker.objective_:.4f}, at most {ranker.gap_:.1e} above the optimum")

# %%
# The concordance is the share of pairs of test patients in the right order, 0.5 for a random order. Ridge regression,
# which predicts the progression itself, orders these patients as well.
ridge = make_pipeline(StandardScaler(), Ridge()).fit(X_train, y_train)
concordance = model.score(X_test, y_test)
print(f"concordance of RankSVM          {concordance:.3f}")
print(f"concordance of ridge regression {concordance_index(y_test, ridge.predict(X_test)):.3f}")

# %%
# The points are far from the diagonal, but most patients with the highest scores are in the upper half by progression.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
ConvergenceDisplay.from_estimator(model, ax=left)
m = len(y_test)
right.scatter(rankdata(model.predict(X_test)), rankdata(y_test), s=18, color="#0072B2", alpha=0.7, linewidth=0)
right.plot([1, m], [1, m], color="#595959", linestyle="--", linewidth=1.2, label="perfect order")
right.set(xlabel="rank by predicted score", ylabel="rank by true progression", aspect="equal")
right.set(title=f"{m} test patients, concordance {concordance:.2f}", xticks=[1, 50, 100, 150], yticks=[1, 50, 100, 150])
right.legend(loc="upper left", fontsize="small")
plt.show()
