"""kernelrank and its peers behind one face: convert the arrays, fit, say what came out.

Every competitor is asked to minimise ``J(w) = mean pairwise loss + alpha ||w||^2``, each in its
own terms. With N comparable pairs, all of the same weight:

=============== ============================================== =========================
who             what it minimises                              its parameter
=============== ============================================== =========================
kernelrank      J(w)                                           alpha
scikit-survival 1/2 ||w||^2 + a/2 sum of squared hinges        a = 1 / (alpha N)
LinearSVC       1/2 ||w||^2 + C sum of losses                  C = 1 / (2 alpha N)
dlib            1/2 ||w||^2 + C mean of hinges                 C = 1 / (2 alpha)
XGBoost,        something else, with trees: a reference for    their defaults
LightGBM        the test error, nothing more
=============== ============================================== =========================

``conversions.py`` checks the first four against each other. Some more are kernelrank's solver without its line search
or with other ways to count: ``experiments/linearithmic_ranksvm`` measures them. A package is imported when it is used,
so that a missing one can be left out.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.peers.workloads import Rows
from kernelrank import RankSVM
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.losses import Risk
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, make_products

Loss = Literal["hinge", "squared_hinge"]

Method = Literal["auto", "tree", "rbtree", "pairs"]

TOL = 1e-3  # kernelrank's default: the certified gap, or the relative norm of the gradient
_MOST_ITERATIONS = 10_000  # without line search there may be many


@dataclass
class Problem:
    """Rows, alpha and loss; `tol` is passed to the competitor, None means its default."""

    rows: Rows
    alpha: float
    loss: Loss
    n_threads: int = 1
    tol: float | None = None

    @cached_property
    def n_pairs(self) -> int:
        """Return the number of comparable pairs."""
        return UtilityPairs(self.rows.y, qid=self.rows.qid).n_pairs


@dataclass
class Fitted:
    """Weights, or a function from rows to scores, and the competitor's own report."""

    w: NDArray[np.float64] | None = None
    predict: Callable[[Any], NDArray[np.float64]] | None = None
    iterations: int | None = None
    passes: int | None = None  # evaluations of the loss
    lower_bound: float | None = None  # of the optimum, if it proves one
    n_vectors: int | None = None  # vectors of features that it states to keep
    converged: bool = True

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows."""
        return X @ self.w if self.predict is None else np.asarray(self.predict(X), dtype=np.float64)


class Competitor:
    """Method to fit. `convert` is timed separately from `fit`, once per data set."""

    package = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def version(self) -> str | None:
        """Return the version installed, None if there is none."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None

    def convert(self, problem: Problem) -> Any:
        """Convert the arrays to the form that `fit` takes."""
        return problem.rows

    def fit(self, converted: Any, problem: Problem) -> Fitted:
        """Train, and return the solution."""
        raise NotImplementedError


class KernelRank(Competitor):
    """``RankSVM``, with its validation, to its default tolerance."""

    package = "kernelrank"

    def fit(self, converted: Rows, problem: Problem) -> Fitted:
        """Train with the same weight for every comparable pair."""
        model = RankSVM(
            problem.alpha,
            loss=problem.loss,
            query_weighting="pair",
            tol=problem.tol or TOL,
            n_jobs=problem.n_threads,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(converted.X, converted.y, qid=converted.qid)
        return Fitted(
            model.coef_,
            iterations=model.n_iter_,
            passes=int(model.history_["n_evaluations"][-1]),
            lower_bound=model.objective_ - model.gap_,
            n_vectors=self._vectors_kept(model),
            converged=not caught,
        )

    @staticmethod
    def _vectors_kept(model: RankSVM) -> int:
        """Return the documented number of vectors of features: planes, or vectors of conjugate gradients."""
        if model.loss == "hinge":
            return 20 + min(2 * (model.n_iter_ + 1), 200)
        # Three products before the first iteration, one in each, and two in a step of conjugate gradients.
        steps = (int(model.history_["n_products"][-1]) - 3 - (model.n_iter_ - 1)) // 2
        return 20 + 2 * min(steps, 30 if model.n_features_in_ <= 10_000 else 8)


class PlainBundle(Competitor):
    """The solver of ``RankSVM`` for the hinge, without its line search or with another way to count; no queries.

    Without line search it is the paper's TreeRSVM if it counts by a red-black tree, and its PairRSVM if it goes through
    the pairs.
    """

    package = "kernelrank"

    def __init__(self, name: str, method: Method, line_search: bool) -> None:
        super().__init__(name)
        self.method, self.line_search = method, line_search

    def fit(self, converted: Rows, problem: Problem) -> Fitted:
        """Train to the gap that ``RankSVM`` is asked for."""
        products = make_products(converted.X, problem.n_threads)
        loss = CountedHinge(UtilityPairs(converted.y, n_jobs=problem.n_threads), self.method)
        bundle = Bundle(LinearOracle(products, loss), line_search=self.line_search)
        result = bundle.minimize(problem.alpha, tol=problem.tol or TOL, max_iter=_MOST_ITERATIONS)
        return Fitted(
            result.w,
            iterations=result.n_iter,
            passes=int(result.history["n_evaluations"][-1]),
            lower_bound=result.lower_bound,
            converged=result.converged,
        )


class CountedHinge:
    """The average hinge of all pairs, from counts c and d by a method of choice (lemmas 1 and 2 of the paper)."""

    def __init__(self, pairs: UtilityPairs, method: Method) -> None:
        self.pairs, self.method = pairs, method

    def __call__(self, scores: NDArray[np.float64]) -> Risk:
        """Evaluate value and subgradient."""
        c, d, total = self.pairs.count(scores, method=self.method)
        g = (c - d) / self.pairs.n_pairs
        offset = total / self.pairs.n_pairs
        return Risk(offset + float(g @ scores), offset, g)


class ScikitSurvival(Competitor):
    """``FastSurvivalSVM`` with all events observed; its name ends with the tree it uses.

    Times must be positive: only their order is used, so they are replaced by ranks. X must be
    dense. Queries are unknown to it.
    """

    package = "scikit-survival"

    def convert(self, problem: Problem) -> Any:
        """Return dense X, and utilities as times of events."""
        from sksurv.util import Surv

        X, y, _ = problem.rows
        times = 1.0 + np.unique(y, return_inverse=True)[1]
        return X.toarray() if sp.issparse(X) else X, Surv.from_arrays(np.ones(len(y), bool), times)

    def fit(self, converted: Any, problem: Problem) -> Fitted:
        """Train with its default tolerance."""
        from sklearn.exceptions import ConvergenceWarning as NotConverged
        from sksurv.svm import FastSurvivalSVM

        settings = {} if problem.tol is None else {"tol": problem.tol, "max_iter": 1_000}
        model = FastSurvivalSVM(
            1 / (problem.alpha * problem.n_pairs), optimizer=self.name.split()[-1], random_state=0, **settings
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", NotConverged)
            model.fit(*converted)
        # Its predict() returns minus these scores: a risk, high for an early event.
        return Fitted(model.coef_, iterations=model.n_iter_, converged=not caught)


class LinearSVCOnPairs(Competitor):
    """scikit-learn's ``LinearSVC`` on the differences of all comparable pairs."""

    package = "scikit-learn"

    def convert(self, problem: Problem) -> Any:
        """Return one row per pair, every other one reversed, because a classifier needs two classes."""
        X, y, qid = problem.rows
        low, high = comparable_pairs(y, qid)
        signs = np.where(np.arange(len(low)) % 2, 1.0, -1.0)
        differences = X[high] - X[low]
        return sp.diags(signs) @ differences if sp.issparse(X) else signs[:, None] * differences, signs

    def fit(self, converted: Any, problem: Problem) -> Fitted:
        """Train with its default tolerance."""
        from sklearn.exceptions import ConvergenceWarning as NotConverged
        from sklearn.svm import LinearSVC

        settings = {} if problem.tol is None else {"tol": problem.tol, "max_iter": 1_000_000}
        model = LinearSVC(
            C=1 / (2 * problem.alpha * problem.n_pairs),
            loss=problem.loss,
            dual="auto",
            fit_intercept=False,
            random_state=0,
            **settings,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", NotConverged)
            model.fit(*converted)
        return Fitted(model.coef_.ravel(), iterations=int(model.n_iter_), converged=not caught)


class Dlib(Competitor):
    """``dlib.svm_rank_trainer``, which has relevant and other rows of a query only.

    Further levels are spelled out: at each but the highest, its rows against all rows above it.
    The pairs are the same ones, and all weigh the same, but rows of higher levels are there
    several times.
    """

    package = "dlib"

    def convert(self, problem: Problem) -> Any:
        """Copy the rows to dlib's vectors, one by one."""
        import dlib

        X, y, qid = problem.rows
        vectors = [dlib.vector(row) for row in X]
        queries = dlib.ranking_pairs()
        for rows in query_rows(y, qid):
            for level in np.unique(y[rows])[:-1]:
                pair = dlib.ranking_pair()
                pair.relevant.extend([vectors[i] for i in rows[y[rows] > level]])
                pair.nonrelevant.extend([vectors[i] for i in rows[y[rows] == level]])
                queries.append(pair)
        return queries

    def fit(self, converted: Any, problem: Problem) -> Fitted:
        """Train until its own bound on the risk is within 1e-3, its default."""
        import dlib

        trainer = dlib.svm_rank_trainer()
        trainer.c = 1 / (2 * problem.alpha)
        trainer.epsilon = problem.tol or TOL
        return Fitted(np.array(trainer.train(converted).weights))


class XGBoost(Competitor):
    """``XGBRanker`` with ``rank:pairwise``, otherwise its defaults."""

    package = "xgboost"

    def fit(self, converted: Rows, problem: Problem) -> Fitted:
        """Train, and return the solution."""
        from xgboost import XGBRanker

        model = XGBRanker(objective="rank:pairwise", n_jobs=problem.n_threads)
        return Fitted(predict=model.fit(converted.X, converted.y, qid=converted.qid).predict)


class LightGBM(Competitor):
    """``LGBMRanker`` with ``lambdarank``, otherwise its defaults."""

    package = "lightgbm"

    def fit(self, converted: Rows, problem: Problem) -> Fitted:
        """Train, and return the solution."""
        from lightgbm import LGBMRanker

        model = LGBMRanker(objective="lambdarank", n_jobs=problem.n_threads, verbose=-1)
        sizes = np.unique(converted.qid, return_counts=True)[1]  # rows are sorted by query
        return Fitted(predict=model.fit(converted.X, converted.y, group=sizes).predict)


COMPETITORS: dict[str, Competitor] = {
    who.name: who
    for who in (
        KernelRank("kernelrank"),
        PlainBundle("kernelrank, no line search", "auto", line_search=False),
        PlainBundle("TreeRSVM", "rbtree", line_search=False),
        PlainBundle("PairRSVM", "pairs", line_search=False),
        ScikitSurvival("scikit-survival rbtree"),
        ScikitSurvival("scikit-survival avltree"),
        LinearSVCOnPairs("LinearSVC on pairs"),
        Dlib("dlib"),
        XGBoost("XGBoost rank:pairwise"),
        LightGBM("LightGBM lambdarank"),
    )
}


def query_rows(y: NDArray[np.float64], qid: NDArray[np.intp] | None) -> list[NDArray[np.intp]]:
    """Return the rows of each query."""
    if qid is None:
        return [np.arange(len(y))]
    order = np.argsort(qid, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(qid[order])) + 1)


def comparable_pairs(y: NDArray[np.float64], qid: NDArray[np.intp] | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs with ``y[low] < y[high]`` inside a query."""
    found = []
    for rows in query_rows(y, qid):
        low, high = np.nonzero(y[rows][:, None] < y[rows])
        found.append((rows[low], rows[high]))
    low, high = zip(*found, strict=True)
    return np.concatenate(low), np.concatenate(high)
