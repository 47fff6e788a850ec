"""
A first ranking
===============
Rank patients by the progression of their diabetes: train a RankSVM on part of scikit-learn's
diabetes data, inspect its certificate, and compare its ranking of the test set with that of a
pointwise baseline, ridge regression.
"""

# %%
# The features are standardised, as for any method with a norm penalty.
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankSVM
from kernelrank.metrics import concordance_index

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
ranker = make_pipeline(StandardScaler(), RankSVM(alpha=1e-2, verbose=1)).fit(X_train, y_train)
baseline = make_pipeline(StandardScaler(), Ridge()).fit(X_train, y_train)

# %%
# Every fit has a certificate of its accuracy: no coefficients have an objective that is
# smaller by more than the gap.
model = ranker[-1]
print(f"\ntrained on {len(y_train)} patients, {model.n_pairs_:,} pairs, in {model.n_iter_} iterations")
print(f"certificate: objective {model.objective_:.6f}, at most {model.gap_:.1e} above the optimum")

# %%
# The share of correctly ordered pairs of test patients; random scores have an expected value of 0.5.
print(f"concordance on {len(y_test)} test patients:")
print(f"  RankSVM          {ranker.score(X_test, y_test):.4f}")
print(f"  ridge regression {concordance_index(y_test, baseline.predict(X_test)):.4f}")

# %%
# The upper and lower bounds converge to the optimum.
if not mpl.is_interactive():
    mpl.use("Agg")
from kernelrank.plots import ConvergenceDisplay  # noqa: E402

display = ConvergenceDisplay.from_estimator(model)
path = Path("build/demo-convergence.png")
path.parent.mkdir(exist_ok=True)
display.figure_.savefig(path, dpi=120)
print(f"convergence plot: {path}")
