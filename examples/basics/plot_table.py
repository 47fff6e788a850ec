"""
A table with text, categories and missing values
================================================
Listings of apartments were shown for searches, and the searchers ignored, opened or saved them, or contacted the
owner. :func:`~kernelrank.pipelines.make_table_ranker` looks at the columns of such a table and returns an ordinary
pipeline that prepares them. The picture shows what the ranker has learnt, and how it scores listings of new searches.
See :doc:`/docs/pipelines`.
"""

# %%
# Rows are sorted by search, and the last 30 of the 100 searches are for testing. Grades go from 0, ignored, to 3,
# contacted, and are compared within a search only.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from kernelrank import RankSVM
from kernelrank.datasets import load_apartments
from kernelrank.metrics import concordance_index
from kernelrank.pipelines import make_table_ranker
from kernelrank.plots import CoefficientDisplay

X, y, qid = load_apartments()
n_test = np.sum(qid > "s070")
X_train, X_test, y_train, y_test, qid_train, qid_test = train_test_split(X, y, qid, test_size=n_test, shuffle=False)

# %%
# Missing numbers become the mean and are marked, and districts become one feature each. A description is a category,
# too, but most of them occur only once.
model = make_table_ranker(X_train, RankSVM(alpha=0.01)).fit(X_train, y_train, ranksvm__qid=qid_train)
print(f"concordance of test searches: {concordance_index(y_test, model.predict(X_test), qid=qid_test):.2f}")

# %%
# The steps are scikit-learn's and can be changed. Here, the phrases of the descriptions become features, which tell
# much about a listing.
model = make_table_ranker(X_train, RankSVM(alpha=0.01), drop=["description"])
phrases = ("phrases", CountVectorizer(token_pattern=r"\w[^,]+"), "description")
model[0].set_params(transformers=[*model[0].transformers, phrases], verbose_feature_names_out=False)
score = model.fit(X_train, y_train, ranksvm__qid=qid_train).predict(X_test)
print(f"with phrases of descriptions: {concordance_index(y_test, score, qid=qid_test):.2f}")

# %%
# Numbers are standardised, and all other features are 0 or 1. Scores are comparable inside a search only, so the mean
# score of each search is subtracted.
search = np.unique(qid_test, return_inverse=True)[1]
score -= (np.bincount(search, score) / np.bincount(search))[search]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
CoefficientDisplay.from_estimator(model, max_bars=12, ax=left)
left.set(title="What moves a listing up or down", xlim=(-1.5, 1.5))
style = {"medianprops": {"color": "#D55E00", "linewidth": 2}, "showfliers": False, "widths": 0.6}
right.boxplot([score[y_test == grade] for grade in range(4)], positions=range(4), **style)
right.scatter(y_test + np.random.default_rng(0).uniform(-0.2, 0.2, len(y_test)), score, s=8, color="#0072B2", alpha=0.6)
right.set_xticks(range(4), ["ignored", "opened", "saved", "contacted"])
right.set(title="Listings of 30 new searches", ylabel="predicted score, relative to its search")
plt.show()
