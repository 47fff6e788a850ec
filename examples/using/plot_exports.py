"""
The same scores without Python
==============================
A fitted model can be exported together with the scalers of its pipeline: to SQL, which a database evaluates, or to an
ONNX graph, which onnxruntime runs from many languages. The scores are those of ``predict`` up to rounding. In float64,
the largest difference here is about 1e-15 of the range of the scores; in float32, about 1e-6. See :doc:`/docs/export`.
"""

# %%
# A linear model, and one with a Gaussian kernel, which SQL cannot express.
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankRLS, RankSVM
from kernelrank.export import to_onnx, to_sql

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
linear = make_pipeline(StandardScaler(), RankSVM(alpha=0.01)).fit(X, y)
gaussian = make_pipeline(StandardScaler(), RankRLS(kernel="gaussian", n_basis=100)).fit(X, y)

# %%
# SQLite scores the rows of a table in memory.
database = sqlite3.connect(":memory:")
X.to_sql("patients", database, index=False)
scored = database.execute(to_sql(linear, table="patients")).fetchall()
database.close()
found = {"SQL, linear": (linear, np.array(scored)[:, -1])}

# %%
# An ONNX graph has an input for each column.
for dtype in ("float64", "float32"):
    for kind, model in (("linear", linear), ("Gaussian", gaussian)):
        runtime = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
        [scores] = runtime.run(["score"], {name: X[[name]].to_numpy(dtype) for name in X})
        found[f"ONNX, {kind}, {dtype}"] = model, scores

# %%
# Each point is a patient. Equal scores have no place on a logarithmic axis; the numbers on the right say how many.
rng = np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for place, (name, (model, scores)) in enumerate(found.items()):
    expected = model.predict(X)
    error = np.abs(scores - expected) / np.ptp(expected)
    print(f"{name}: largest difference {error.max():.0e}")
    some = error > 0
    ax.scatter(error[some], place + rng.uniform(-0.3, 0.3, some.sum()), color="#0072B2", s=6, alpha=0.5, linewidth=0)
    ax.text(1.02, place, f"{np.mean(~some):.0%} equal", transform=ax.get_yaxis_transform(), va="center")
for dtype in ("float64", "float32"):
    ax.axvline(np.finfo(dtype).eps, color="#D55E00", linestyle="--", linewidth=1.2)
    ax.text(np.finfo(dtype).eps, -0.7, f"precision of {dtype}", color="#D55E00", ha="center")
ax.set_yticks(range(len(found)), list(found))
ax.set(xscale="log", xlabel="difference from predict, relative to the range of the scores", ylim=(4.5, -0.6))
plt.show()
