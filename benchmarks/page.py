"""The page of the documentation on benchmarks, and the numbers that other pages cite.

    python -m benchmarks.page

Writes ``docs/benchmarks.md`` from the committed reports of ``benchmarks/results`` and
``experiments/linearithmic_ranksvm/results``, and brings the numbers of ``benchmarks/claims.py`` up to date. Nothing is
measured. A test fails if a page differs from what this computes.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import claims
from benchmarks.citations import ROOT, report
from benchmarks.linearithmic import linearithmic
from benchmarks.reports import RESULTS
from experiments.study import filled

PAGE = ROOT / "docs" / "benchmarks.md"

START = """
# kernelrank and its peers

<!-- Written by `python -m benchmarks.page`, from the reports in benchmarks/results. -->

How long does training take, and is the result correct? Several packages solve the same problem as `RankSVM`, or a very
similar one. Here they run on the same rows, one after the other, on the same machine, and a common referee computes
objective, gap and test error of all of them in the same way. The other sections measure parts of the package.

```sh
make bench          # counting, training, paths, Dask clusters, metrics, files, tables, relations, large data, exports
make bench-peers    # makes .venv-peers, then compares with other packages
make bench-rlscore  # makes .venv-rlscore, by Python 3.6, then compares with RLScore
.venv-peers/bin/python -m benchmarks.peers.run --help   # parts of the comparison
.venv/bin/python -m benchmarks.page                     # writes this page again, from the reports
```

Each command writes its report to the folder `benchmarks/results`, with the command, the versions, the machine, the
commit and the date. With `ARGS=--quick` it takes small data, and writes nothing.

The first time, dlib is built from source, which takes long; pip keeps the result. California housing is read from
`regression/california_housing.csv.gz` in the folder that the environment variable `KERNELRANK_DATA` names. The file has
a line of names, and then 8 features and the median house value per line, as in "cadata" of the LIBSVM collection or
`cal.housing.arff` in the repository renatopp/arff-datasets. Without the file, this workload is left out. All other data
are generated from seeds.

## What is compared

All packages minimise

    J(w) = mean over the pairs y_i < y_j of loss(w·x_j - w·x_i)  +  alpha ||w||²,

with the hinge `max(0, 1 - z)` or its square. `alpha` weighs the norm against the *average* loss. With queries, only
pairs within a query count, and all pairs have the same weight (`query_weighting="pair"`). For N pairs:

| who | solves | its own terms | its parameter |
|---|---|---|---|
| kernelrank `RankSVM` | both losses | J(w) | `alpha` |
| scikit-survival `FastSurvivalSVM`, all events observed | squared hinge | 1/2 ‖w‖² + a/2 Σ loss | `a = 1 / (alpha N)` |
| scikit-learn `LinearSVC` on all differences of pairs | both losses | 1/2 ‖w‖² + C Σ loss | `C = 1 / (2 alpha N)` |
| dlib `svm_rank_trainer` | hinge, relevant rows against others \
| 1/2 ‖w‖² + C · mean loss over all pairs of all queries | `C = 1 / (2 alpha)` |
| XGBoost `rank:pairwise`, LightGBM `lambdarank` | something else, with trees | | defaults |

The last two show the test error of other methods on data with queries. All packages run to their default accuracy:
kernelrank stops at a certified gap of 1e-3, and for the squared hinge also at a gradient of 1e-3 of that at zero; dlib
stops when the bound of its risk is within 1e-3.

The conversions of parameters are checked in every run, on small problems that all packages solve to high accuracy. J is
strongly convex, so the weights must agree. The table "Conversions" shows how closely they do.

The workloads are California housing (features standardised, utility = house value), text-like rows (Zipf frequencies,
tf-idf, unit length; utility = dot product with one of the rows), queries with three levels, and bipartite data with a
tenth of the rows positive. The table "Workloads" has their sizes.

## How it is measured

- **fit s**: seconds of the best of several fits, including validation of the input, with one thread. Each competitor
  gets a new process for each problem, and first fits 50 rows, so that all its modules are loaded. A process that takes
  too long is stopped, and the table says so.
- **convert s**: seconds to convert the arrays to the form that the competitor needs. This has to be done once per data
  set.
- **fit u**: the same time in units of one `X @ w`, one `X.T @ g` and one `np.argsort` of as many numbers, measured in
  turns with the fits.
- **objective**: J(w), computed by the referee from the weights. The referee uses kernelrank's counting, and compares it
  with the definition, pair by pair, on the first 1,000 rows each time.
- **gap**: objective minus the best known lower bound of the optimum, from the certificate of a kernelrank fit with
  tolerance 1e-5. **certified**: the gap that the fit itself has proven.
- **gradient**: norm of the gradient of J, relative to that at zero; squared hinge only.
- **test error**: share of the test set's pairs in the wrong order, ties counting half, averaged over queries.
- **passes**: evaluations of the loss, each of which counts all pairs.
- **bytes/row**: growth of resident memory in conversion and first fit, beyond the loaded rows. For kernelrank this
  includes some megabytes that do not grow with the number of rows (large pages), and vectors with one number per
  feature. The bar excludes as many of these vectors as the notes of `RankSVM` state.
- **Bars** are limits that kernelrank is meant to keep. The tables "Bars" say which ones it keeps.
"""
OTHERS = (
    *("counting", "training", "path", "scaling", "dask_rankers", "least_squares", "rlscore", "metrics", "concordance"),
    *("survival", "reading", "tables", "relational", "out_of_core", "exports"),
)

OPTIONAL = {"rlscore"}  # it needs an old version of Python


def notes() -> str:
    """Return the notes on the peers, with numbers from their report."""
    peers = report("peers")
    text, housing = "Text-like, sparse, squared hinge", "California housing, hinge"

    def gigabytes(title: str, who: str, rows: str) -> float:
        return peers.value(title, (who, rows), "bytes/row") * float(rows.replace(",", "")) / 1e9

    tied = peers.value("Workloads", "Bipartite", "tied pairs, %") / 100
    ours, svc = (
        {name: peers.cell(housing, (who, "2,000"), name) for name in ("gap", "test error")}
        for who in ("kernelrank", "LinearSVC on pairs")
    )
    survival = peers.cell("California housing, squared hinge", ("scikit-survival rbtree", "16,000"), "gap")
    errors = {
        who: peers.cell("Queries, hinge", who, "test error")
        for who in ("kernelrank", "XGBoost rank:pairwise", "LightGBM lambdarank")
    }
    return f"""
## Notes on the peers

**scikit-survival** predicts *risks* when it only ranks (`rank_ratio=1`): `predict` returns minus the scores, and
`coef_` has the same sign as `RankSVM.coef_`. Times must be positive; only their order matters, so ranks can be used. It
puts equal utilities in a random order and trains on that order as if it had been observed. On house values, where few
pairs are ties, its objective therefore stays above the optimum of the problem, by {survival} at 16,000 rows. With two
levels most pairs are ties: on bipartite data it learns from {tied / (1 - tied):.1f} times as many invented pairs as
real ones, which shows in objective and test error ("Bipartite, squared hinge"). Marking rows as censored does not help:
a pair needs its lower row observed, and two tied lower rows then form a pair, too. It takes dense arrays only, and
copies them: {gigabytes(text, "scikit-survival rbtree", "8,000"):.1f} GB for 8,000 rows of text. It has no queries.

**dlib** distinguishes relevant rows from others. Three levels are therefore passed as level 2 against 1, and 2 and 1
against 0: the same pairs with the same weights, but rows of higher levels occur twice. Real-valued utilities would need
a copy of the rows for each value. Rows are converted one by one in Python, which can take longer than the fit. It stops
when its risk, not its objective, is within 1e-3 of its model.

**LinearSVC on pairs** needs one row per pair: a thousand rows make half a million pairs, and those of 2,000 rows
already fill {gigabytes(housing, "LinearSVC on pairs", "2,000"):.1f} GB. It serves as the reference for small sizes.
Half of the differences have to be reversed, because a classifier needs two classes.

**XGBoost and LightGBM** use all cores by default; here they have one thread. On these queries relevance is nearly
linear in the features, and trees with default settings have test errors of {errors["XGBoost rank:pairwise"]} and
{errors["LightGBM lambdarank"]}, kernelrank {errors["kernelrank"]}. Nothing follows from this for other data.

**kernelrank** stops at a certified gap of 1e-3, which is not the optimum. On 2,000 house values with the hinge, its gap
is {ours["gap"]} and its test error {ours["test error"]}; the solution of LinearSVC has a gap of {svc["gap"]} and a test
error of {svc["test error"]}.
"""


def included(name: str) -> str:
    """Return a report as a section: headings one level lower, figures where they are."""
    found = report(name)
    text = re.sub(r"^#", "##", found.text.strip(), flags=re.MULTILINE)
    folder = Path("..") / found.path.parent.relative_to(ROOT)
    return re.sub(r"\]\((\w+\.svg)\)", rf"]({folder.as_posix()}/\1)", text)


def compute() -> str:
    """Return the page."""
    sections = [START.strip(), included("peers"), filled(notes())]
    sections += [included(name) for name in OTHERS if name not in OPTIONAL or (RESULTS / f"{name}.md").exists()]
    return "\n\n".join([*sections, filled(linearithmic())]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(compute())
    claims.refresh()
