"""Every public callable raises an error that names the parameter for each bad value."""

import importlib
import inspect
import re
import warnings
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone

import kernelrank as kr
from kernelrank import (
    datasets,
    export,
    features,
    inspection,
    io,
    kernels,
    metrics,
    model_selection,
    pairs,
    persistence,
    pipelines,
    plots,
    relations,
    report,
)

mpl.use("Agg")

M = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, 3))
Y = np.arange(M) % 4.0
CLASSES = (np.arange(M) % 2).astype(float)
QID = np.repeat(np.arange(4), 6)
SCORES = RNG.normal(size=M)
PAIRS = [[k + 1, k] for k in range(0, M, 2)]
ENTRIES = np.column_stack(np.divmod(np.arange(M), 6))
GRAPHS = [kernels.Graph([["a"], ["b"]], [[0, 1]], [0.5])] * 2


def masked(values):
    values = np.asarray(values)
    return np.ma.array(values, mask=np.eye(1, values.size).reshape(values.shape) > 0)


def dates(values):
    return np.arange(np.size(values)).reshape(np.shape(values)).astype("datetime64[D]")


class Unprintable:
    def __repr__(self):
        raise RuntimeError


NO_NUMBERS = ["x", 1j, [1.0], np.array([1.0, 2.0]), {}, object, Unprintable(), Fraction(1, 2), Decimal("0.5"), True]
NOT_A_NUMBER = [*NO_NUMBERS, np.True_, np.nan, np.array("NaT", "M8[D]"), 10**400, 10**5000]
NOT_WHOLE = [*NOT_A_NUMBER, 0.5, 2.0, np.inf, -(10**400)]
NO_FLAG = ["x", None, 0, 1, 2.0, np.nan, [True], np.array([True, False]), Unprintable()]
NO_CHOICE = ["x", 0, True, np.nan, ["hinge"], np.array(["hinge", "query"]), Unprintable(), b"hinge"]
NO_OBJECT = [0, "x", [], np.array([1, 2]), Unprintable(), 0.5]
BAD_VECTORS = [5, "x", {1: 2}, {1, 2}, Unprintable(), np.zeros((M, 2)), np.zeros(M + 1), [1j] * M, ["x"] * M, dates(Y)]
BAD_IDS = [
    5,
    "x",
    set(range(M)),
    dict.fromkeys(range(M)),
    masked(QID),
    QID[1:],
    np.zeros((M, 2)),
    [None] * M,
    Unprintable(),
]
NOT_POSITIVE = [*NOT_A_NUMBER, None, 0, -1, np.inf, -np.inf]

BAD = {
    "positive": NOT_POSITIVE,
    "non-negative": [*NOT_A_NUMBER, None, -1, np.inf],
    "share": [*NOT_A_NUMBER, None, -0.1, 1.1, np.inf],
    "half": [*NOT_A_NUMBER, None, 0, 0.51, np.inf],
    "probability": [*NOT_A_NUMBER, None, 0, 1, np.inf],
    "probability or None": [*NOT_A_NUMBER, 0, 1, np.inf],
    "number": [*NOT_A_NUMBER, None],
    "ties of positions": [*NOT_A_NUMBER, None, 0.3, -1],
    "count": [*NOT_WHOLE, None, 0, -1],
    "count or None": [*NOT_WHOLE, 0, -1],
    "length or None": [*NO_NUMBERS, np.nan, 0.5, np.inf, 0, -1, -(10**400)],  # no limit above the memory
    "count or zero": [*NOT_WHOLE, None, -1],
    "columns or None": [*NOT_WHOLE, -1],
    "positive or None": [each for each in NOT_POSITIVE if each is not None],
    "jobs": [*NOT_WHOLE, 0, 2**40, -np.inf],
    "seed": [*NOT_WHOLE, -1, 2**32],
    "undefined": ["x", None, 2, 0.5, True, np.nan, [0], Unprintable()],
    "flag": NO_FLAG,
    "flag or None": [each for each in NO_FLAG if each is not None],
    "flag or auto": [*NO_FLAG, "automatic"],
    "choice": [*NO_CHOICE, None],
    "choice or None": NO_CHOICE,
    "verbosity": ["x", None, -1, 0.5, [1], np.array([1, 2]), Unprintable()],
    "path": [5, None, [], b"x"],
    "source": [5, None, []],
    "text": [5, None, [], b"x"],
    "text or None": [5, [], b"x"],
    "names": [5, "x", None],
    "names or None": [5, "x"],
    "type": ["x", None, 5, "int32", object],
    "function": ["x", None, 5, []],
    "kernel": [None, 5, "x", [], np.array([1, 2]), kernels.Gaussian, Unprintable()],
    "plain kernel": [None, 5, "linear", [], np.array([1, 2]), Unprintable()],
    "estimator": [*NO_OBJECT, kr.RankSVM],
    "estimator, no default": [*NO_OBJECT, None, kr.RankSVM],
    "scoring": ["x", "ndcg@0", "auc@5", 0, np.int64(0), 2.5, [], np.array([1, 2])],
    "metric": ["x", None, 5, []],
    "function or None": ["x", 5, []],
    "folds": [0, 1, -1, True, 0.5, 2.0, np.nan, [1, 2], [[1]], [([0], [10**6])], "x", M + 1, 10**400, object(), {3, 4}],
    "folds that adapt": [0, 1, -1, True, 0.5, 2.0, np.nan, [1, 2], [[1]], [([0], [10**6])], "x", object(), {3, 4}],
    "alphas": [
        None,
        "x",
        True,
        0,
        -1,
        2.5,
        np.nan,
        [],
        [[1.0]],
        [0.0],
        [-1.0],
        [np.nan],
        [np.inf],
        ["x"],
        [1j],
        10**400,
    ],
    "given alphas": [None, "x", 3, [], [[1.0]], [0.0], [-1.0], [np.nan], [np.inf], ["x"]],
    "matrix": [
        None,
        5,
        "x",
        X[0],
        X[None],
        masked(X),
        dates(X),
        X * np.nan,
        X * 1j,
        [["x"] * 3] * M,
        [["x", 1, 2]] * M,
    ],
    "vector": [None, *BAD_VECTORS, masked(Y), np.full(M, np.nan), np.full(M, np.inf)],
    "values": [*BAD_VECTORS, masked(Y)],  # NaN may be written to a file
    "targets": [
        None,
        5,
        masked(Y),
        np.full(M, np.nan),
        [1j] * M,
        ["x"] * M,
        dates(Y),
        Y[1:],
        masked(np.stack([Y, Y], 1)),
    ],
    "classes": [None, 5, masked(Y), np.full(M, np.nan), Y[1:], np.zeros((M, 2))],
    "labels": [5, "x", [0.0, 0.0], [], [[0.0, 1.0]], masked([0.0, 1.0])],
    "ids": BAD_IDS,
    "needed ids": [None, *BAD_IDS],
    "weights": [*BAD_VECTORS[2:], masked(np.ones(M)), -np.ones(M), np.zeros(M), np.full(M, np.nan)],
    "pair weights": ["x", {1}, np.ones((12, 2)), np.ones(11), masked(np.ones(12)), -np.ones(12), ["x"] * 12],
    "magnitudes": ["x", {1}, np.ones((12, 2)), np.ones(11), masked(np.ones(12)), -np.ones(12), np.zeros(12)],
    "pairs": [None, 5, "x", [0, 1], [[0, 1, 2]], [[0.0, 1.0]], [[0, M]], [[-1, 0]], [[1, 1]], masked([[1, 0], [2, 1]])],
    "basis rows": [5, [], [[1]], [0.5], [-1], [M], [1, 1], masked([1, 2]), "x", None],
    "columns of scores": [None, 5, "x", np.zeros(M), {"a": masked(Y), "b": Y}, masked(np.stack([Y, Y], 1)), [Y]],
    "frame": [None, 5, "x", X, [[1.0]], Unprintable()],
    "params": [5, "x", {"sample_weight": 5}, {"sample_weight": [1.0]}],
    "bounds": [5, "x", X[:, :2], X[0], X[:0], [["x"] * 3], np.full((2, 3), np.inf), {1}, Unprintable()],
    "edges": [5, [[0, 5]], [[0.5, 1]], [[0, 1, 2]], masked([[0, 1]])],
    "edge weights": [5, [-1.0], [np.nan], ["x"], [1.0, 2.0], masked([1.0])],
}

KIND_OF = {
    "X": "matrix",
    "alpha": "positive",
    "alphas": "alphas",
    "beta": "positive",
    "classes": "labels",
    "coef0": "non-negative",
    "combine": "choice",
    "confidence": "probability",
    "cost": "choice",
    "cv": "folds",
    "degree": "count",
    "dense": "flag",
    "estimator": "estimator, no default",
    "factor": "positive",
    "gain": "choice",
    "gamma": "positive",
    "groups": "ids",
    "interval": "choice or None",
    "kernel": "kernel",
    "loss": "choice",
    "lowercase": "flag",
    "magnitude": "magnitudes",
    "max_iter": "count",
    "max_length": "length or None",
    "method": "choice",
    "min_share": "half",
    "n_basis": "count or None",
    "n_features": "count or None",
    "n_init": "count",
    "n_jobs": "jobs",
    "n_permutations": "count",
    "n_resamples": "count",
    "nested": "flag",
    "normalized": "flag",
    "observed": "flags or None",
    "pairs": "pairs",
    "params": "params",
    "path": "path",
    "path_ends": "choice",
    "per_query": "flag",
    "positive": "flag",
    "positive_rate": "probability or None",
    "qid": "ids",
    "query_weighting": "choice",
    "random_state": "seed",
    "ranker": "estimator",
    "rate": "share",
    "sample_weight": "weights",
    "scores": "vector",
    "scoring": "scoring",
    "solver": "choice",
    "split_groups": "flag",
    "strategy": "choice or None",
    "threshold": "number",
    "ties": "share",
    "undefined": "undefined",
    "convention": "choice",
    "tol": "positive",
    "truncation": "number or None",
    "verbose": "verbosity",
    "version": "text",
    "warm_start": "flag",
    "weight": "pair weights",
    "y": "vector",
    "y_score": "vector",
    "y_true": "truth",
    "zero_based": "flag",
}


class Call:
    """Callable with valid arguments, and kinds of parameters that differ from `KIND_OF`; None disables a check."""

    def __init__(self, function, good, parameters=None, /, **kinds):
        self.function, self.good, self.kinds = function, good, kinds
        self.parameters = list(inspect.signature(function).parameters) if parameters is None else parameters

    def kind(self, name):
        return self.kinds[name] if name in self.kinds else KIND_OF[name]

    def __call__(self, **arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.function(**(self.good | arguments))


def of_estimator(estimator, method="fit", good=None, /, *, fit=None, **kinds):
    """Make a case of a method, which includes the constructor parameters unless it is called after a fit."""
    of_constructor, of_method = (
        [name for name in inspect.signature(each).parameters if name != "self"]
        for each in (type(estimator), getattr(type(estimator), method))
    )

    def call(**arguments):
        model = clone(estimator).set_params(**{k: v for k, v in arguments.items() if k in of_constructor})
        if fit is not None:
            model.fit(**fit)
        return getattr(model, method)(**{k: v for k, v in arguments.items() if k in of_method})

    parameters = of_method if fit is not None else [*of_constructor, *of_method]
    return Call(call, ROWS if good is None else good, parameters, **kinds)


def of_kernel(kernel, good=None, /, **kinds):
    """Make a case of a kernel called with rows, which includes its constructor parameters."""
    names = list(inspect.signature(type(kernel)).parameters) if type(kernel).__init__ is not object.__init__ else []

    def call(X, **arguments):
        return clone(kernel).set_params(**arguments)(X)

    return Call(call, {"X": X} if good is None else good, ["X", *names], **kinds)


def splits(splitter):
    return lambda X, y, groups: list(splitter.split(X, y, groups))


def splits_by(splitter):
    def call(X, groups, y=None, n_splits=5, shuffle=True, random_state=0):
        return list(splitter(n_splits, shuffle=shuffle, random_state=random_state).split(X, y, groups))

    return call


ROWS = {"X": X, "y": Y}
METRIC = {"y_true": Y, "y_score": SCORES}
BINARY = {"y_true": CLASSES, "y_score": SCORES}
POSITIONS = {"ties": "ties of positions", "k": "count or None"}
SAMPLE = {"estimator": kr.RankRLS(), "X": X, "verbose": 0}
ENGINES = ("to_elasticsearch", "to_opensearch", "to_solr")
SENTENCE = {"tokens": [("A", "N"), ("b", "V"), ("C", "N")], "dependencies": [(1, 0, "s"), (1, 2, "o")]}
TOKENS = {"tokens": None, "dependencies": None, "first": None, "second": None, "others": None}
TOKENS |= {"position_tags": None, "entity_labels": None, "path_tag": "text"}
TOKENS |= dict.fromkeys(("path_weight", "other_weight", "linear_weight"), "non-negative")

OF_FOLDERS = {"folder": "path", "fold": "number of a fold", "part": "choice", "number": "number of a set"}
OF_FOLDERS |= {"dtype": "type"}


def make_calls(folder):
    model = kr.RankSVM().fit(X, Y)
    return {
        "RankSVM": of_estimator(kr.RankSVM()),
        "RankSVM.fit_pairs": of_estimator(kr.RankSVM(), "fit_pairs", {"X": X, "pairs": PAIRS}),
        "RankSVM.predict": of_estimator(kr.RankSVM(), "predict", {"X": X}, fit=ROWS),
        "RankSVM.rank": of_estimator(kr.RankSVM(), "rank", {"X": X}, fit=ROWS),
        "RankSVM.score": of_estimator(kr.RankSVM(), "score", fit=ROWS),
        "RankSVMCV": of_estimator(kr.RankSVMCV(alphas=2, cv=2)),
        "RankRLS": of_estimator(kr.RankRLS(), y="targets"),
        "RankRLS.fit_pairs": of_estimator(kr.RankRLS(), "fit_pairs", {"X": X, "pairs": PAIRS}),
        "RankRLS.partial_fit": of_estimator(kr.RankRLS(), "partial_fit", y="targets", **NO_PARTS),
        "RankRLS.leave_pair_out": of_estimator(
            kr.RankRLS(), "leave_pair_out", {}, fit=ROWS, alpha="positive or None", pairs="pairs or None"
        ),
        "RankRLS.path": of_estimator(kr.RankRLS(), "path", {"alphas": [1.0]}, fit=ROWS, alphas="given alphas"),
        "RankRLSCV": of_estimator(kr.RankRLSCV(alphas=2, cv=2), y="targets"),
        "RLS": of_estimator(kr.RLS(), y="targets"),
        "RLSCV": of_estimator(kr.RLSCV(alphas=2, cv=2), y="targets", scoring="function or None"),
        "GreedyRLS": of_estimator(kr.GreedyRLS(), y="targets"),
        "GreedyRankRLS": of_estimator(kr.GreedyRankRLS(), y="targets"),
        "MaxMarginClustering": of_estimator(kr.MaxMarginClustering(), "fit", {"X": X}, y=None),
        "OrdinalSVM": of_estimator(kr.OrdinalSVM(), y="classes"),
        "RankingClassifier": of_estimator(kr.RankingClassifier(), y="classes"),
        "KroneckerRows": Call(
            features.KroneckerRows,
            {"U": X, "V": None, "rows": ENTRIES[:, 0], "columns": ENTRIES[:, 1]},
            U="matrix",
            V="matrix or None",
            rows="row numbers",
            columns="row numbers",
            symmetry="choice or None",
        ),
        "NystromMap": of_estimator(
            kr.NystromMap(n_basis=3), "fit", {"X": X}, n_basis="count", selection="basis rows", y=None
        ),
        "FScoreClassifier": of_estimator(
            model_selection.FScoreClassifier(cv=2),
            "fit",
            {"X": X, "y": CLASSES},
            y="classes",
            threshold="choice",
            estimator="estimator",
            cv="folds that adapt",
        ),
        "make_query_pipeline": Call(
            lambda X, y, qid: pipelines.make_query_pipeline(kr.RankSVM()).fit(X, y, qid=qid),
            {**ROWS, "qid": QID},
            qid="needed ids",
        ),
        "make_table_ranker": Call(
            pipelines.make_table_ranker,
            {"frame": pd.DataFrame(X, columns=["a", "b", "c"])},
            frame="frame",
            ranker="estimator",
            scale="choice",
            categorical="names",
            drop="names",
            keep="names or None",
            min_frequency="count",
        ),
        "QueryScaler": of_estimator(pipelines.QueryScaler(), "fit", {"X": X, "qid": QID}, y=None, qid="needed ids"),
        "QueryScaler.transform": of_estimator(
            pipelines.QueryScaler(), "transform", {"X": X, "qid": QID}, fit={"X": X, "qid": QID}, qid="needed ids"
        ),
        "AllPaths": of_kernel(kernels.AllPaths(), {"X": GRAPHS}, X=None),
        "FunctionKernel": of_kernel(kernels.FunctionKernel(lambda A, B: A @ B.T), function="function", X=None),
        "Gaussian": of_kernel(kernels.Gaussian(1.0)),
        "Linear": of_kernel(kernels.Linear()),
        "NamedKernel": of_kernel(kernels.NamedKernel("rbf"), name="choice"),
        "Polynomial": of_kernel(kernels.Polynomial()),
        "Precomputed": of_kernel(kernels.Precomputed()),
        "Product": of_kernel(kernels.Linear() * kernels.Linear(), left="plain kernel", right="plain kernel"),
        "Scaled": of_kernel(2 * kernels.Linear(), kernel="plain kernel"),
        "Sum": of_kernel(kernels.Linear() + kernels.Linear(), left="plain kernel", right="plain kernel"),
        "make_kernel": Call(kernels.make_kernel, {"kernel": "linear"}),
        "Graph": Call(
            kernels.Graph,
            {"labels": [["a"], ["b"]], "edges": [[0, 1]], "weights": [1.0]},
            edges="edges",
            weights="edge weights",
            labels=None,
        ),
        "sentence_graph": Call(relations.sentence_graph, {**SENTENCE, "first": [0], "second": [2]}, **TOKENS),
        "SentenceGraphs": Call(relations.SentenceGraphs, SENTENCE, **TOKENS),
        "auc": Call(metrics.auc, BINARY),
        "auc_interval": Call(metrics.auc_interval, BINARY),
        "average_precision": Call(metrics.average_precision, METRIC, **POSITIONS),
        "best_f_score": Call(metrics.best_f_score, BINARY),
        "compare_scores": Call(
            metrics.compare_scores, {"y_true": Y, "scores": [SCORES, -SCORES]}, scores="columns of scores"
        ),
        "concordance_index": Call(metrics.concordance_index, METRIC),
        "concordance_interval": Call(metrics.concordance_interval, METRIC),
        "cumulative_dynamic_auc": Call(
            metrics.cumulative_dynamic_auc,
            {**METRIC, "times": [np.median(Y)]},
            times="times",
        ),
        "err": Call(metrics.err, METRIC, **POSITIONS, max_grade=None),
        "f_score": Call(metrics.f_score, {**BINARY, "threshold": 0.0}),
        "kendall_tau": Call(metrics.kendall_tau, METRIC),
        "make_ranking_scorer": Call(
            metrics.make_ranking_scorer,
            {"metric": "auc"},
            metric="metric",
            greater_is_better="flag or None",
            kwargs=None,
        ),
        "ndcg": Call(metrics.ndcg, METRIC, **POSITIONS),
        "pair_accuracy": Call(metrics.pair_accuracy, {"pairs": PAIRS, "y_score": SCORES}, y_score="truth"),
        "pairwise_error": Call(metrics.pairwise_error, METRIC),
        "precision_at": Call(metrics.precision_at, {**METRIC, "k": 3}, ties="ties of positions", k="count"),
        "reciprocal_rank": Call(metrics.reciprocal_rank, METRIC, **POSITIONS),
        "threshold_at_rate": Call(metrics.threshold_at_rate, {"y_score": SCORES, "rate": 0.5}, y_score="truth"),
        "compare": Call(
            model_selection.compare,
            {"estimators": [kr.RankRLS(), kr.RLS()], **ROWS, "verbose": 0, "strategy": "averaged"},
            estimators="estimators",
            cv="folds that adapt",
        ),
        "coef_intervals": Call(model_selection.coef_intervals, {"estimator": kr.RankRLS(), **ROWS, "cv": 3}),
        "estimate_auc": Call(
            model_selection.estimate_auc,
            {**SAMPLE, "y": CLASSES, "strategy": "averaged"},
            cv="folds that adapt",
            y="two classes",
        ),
        "estimate_concordance": Call(
            model_selection.estimate_concordance, {**SAMPLE, "y": Y, "strategy": "averaged"}, cv="folds that adapt"
        ),
        "estimate_propensities": Call(
            model_selection.estimate_propensities,
            {"clicked": CLASSES, "position": QID % 2, "row": np.arange(M) % 3},
            clicked="flags",
            position="vector",
            row="needed ids",
        ),
        "permutation_test": Call(
            model_selection.permutation_test,
            {**SAMPLE, "y": Y, "n_permutations": 2, "strategy": "averaged"},
            cv="folds that adapt",
        ),
        "permuted_outputs": Call(
            model_selection.permuted_outputs,
            {"y": Y, "n_permutations": 2},
            n_permutations="count or zero",
            y="truth",
        ),
        "tournament_roc": Call(model_selection.tournament_roc, {**SAMPLE, "y": CLASSES}, y="two classes"),
        "LeavePairOut": Call(
            splits(model_selection.LeavePairOut()), {**ROWS, "groups": QID}, X=None, y="labels of rows"
        ),
        "LeaveQueryOut": Call(
            splits(model_selection.LeaveQueryOut()),
            {**ROWS, "groups": QID},
            X=None,
            y="labels of rows",
            groups="needed ids",
        ),
        **{
            name: Call(
                splits_by(getattr(model_selection, name)),
                {"X": X, "groups": ENTRIES, "n_splits": 2},
                X=None,
                y=None,
                groups="entries",
                n_splits="number of folds",
                shuffle="flag",
            )
            for name in ("LeaveEntriesOut", "LeaveRowsOut", "LeaveColumnsOut", "LeaveBothOut")
        },
        "PreferencePairs": Call(pairs.PreferencePairs, {"pairs": PAIRS, "n_rows": M}, n_rows="count"),
        "UtilityPairs": Call(pairs.UtilityPairs, {"y": Y}, y="truth"),
        "UtilityPairs.count": Call(pairs.UtilityPairs(Y).count, {"scores": SCORES}, margin="number"),
        "count_violations": Call(pairs.count_violations, {"y": Y, "scores": SCORES}, y="truth"),
        "sample_pairs": Call(pairs.sample_pairs, {"y": Y, "k": 2}, k="count"),
        "weigh_clicks": Call(
            pairs.weigh_clicks,
            {"clicked": CLASSES, "propensity": np.ones(M)},
            clicked="flags",
            propensity="propensities",
            row="row numbers or None",
        ),
        "simulate_clicks": Call(
            datasets.simulate_clicks,
            {"y": Y, "qid": QID, "scores": SCORES},
            y="truth",
            eta="non-negative",
            noise="share",
            n_impressions="count",
        ),
        "apartments_path": Call(datasets.apartments_path, {}),
        "load_apartments": Call(datasets.load_apartments, {}),
        "load_istella": Call(datasets.load_istella, {"folder": folder / "public"}, **OF_FOLDERS),
        "load_jester": Call(datasets.load_jester, {"folder": folder / "public"}, **OF_FOLDERS),
        "load_letor": Call(
            datasets.load_letor, {"folder": folder / "public"}, n_features="columns or None", **OF_FOLDERS
        ),
        "load_movielens": Call(datasets.load_movielens, {"folder": folder / "public"}, **OF_FOLDERS),
        "load_mslr": Call(datasets.load_mslr, {"folder": folder / "public"}, **OF_FOLDERS),
        "load_yahoo": Call(datasets.load_yahoo, {"folder": folder / "public"}, **OF_FOLDERS),
        "load_svmlight": Call(
            lambda **arguments: io.load_svmlight(**{"source": BytesIO(b"1 1:2"), **arguments}),
            {},
            list(inspect.signature(io.load_svmlight).parameters),
            source="source",
            n_features="columns or None",
            zero_based="flag or auto",
            dtype="type",
        ),
        "dump_svmlight": Call(
            io.dump_svmlight,
            {**ROWS, "target": BytesIO()},
            X="matrix of a file",
            y="values",
            qid="ids",
            comments="comments",
            target="source",
        ),
        "load_table": Call(
            io.load_table,
            {"source": folder / "table.csv"},
            source="source",
            target="text or None",
            qid="text or None",
            weight="text or None",
            observed="text or None",
            drop="names",
            features="names or None",
            numeric="flag",
            text="names",
            format="choice",
        ),
        "RowStore": Call(io.RowStore, {"path": folder / "store"}),
        "RowStore.write": Call(
            lambda **arguments: io.RowStore.write(**{"chunks": [(X, Y)], **arguments}),
            {"path": folder / "store"},
            list(inspect.signature(io.RowStore.write).parameters),
            chunks="chunks",
            dtype="type or None",
            block_bytes="count",
            report="function or None",
        ),
        "RowStore.write_svmlight": Call(
            lambda **arguments: io.RowStore.write_svmlight(**{"source": BytesIO(b"1 1:2"), **arguments}),
            {"path": folder / "text"},
            list(inspect.signature(io.RowStore.write_svmlight).parameters),
            source="source",
            n_features="length or None",
            zero_based="flag",
            dense="flag",
            dtype="type",
            block_bytes="count",
            report="function or None",
        ),
        "RowStore.write_table": Call(
            lambda **arguments: io.RowStore.write_table(**{"source": folder / "table.csv", **arguments}),
            {"path": folder / "rows", "target": "b"},
            list(inspect.signature(io.RowStore.write_table).parameters),
            source="path",
            target="text",
            qid="text or None",
            drop="names",
            features="names or None",
            format="choice",
            dtype="type",
            block_bytes="count",
            report="function or None",
        ),
        "load_ppi": Call(
            lambda **arguments: relations.load_ppi(**{"source": BytesIO(b"<corpus/>"), **arguments}),
            {},
            list(inspect.signature(relations.load_ppi).parameters),
            source="source",
            parse="text",
            max_bytes="count",
        ),
        "load_model": Call(persistence.load_model, {"path": folder / "model"}),
        "load_svmlight_model": Call(persistence.load_svmlight_model, {"path": folder / "light"}),
        "save_model": Call(
            persistence.save_model, {"model": model, "path": folder / "model"}, model="estimator, no default"
        ),
        "save_svmlight_model": Call(
            persistence.save_svmlight_model, {"model": model, "path": folder / "light"}, model="estimator, no default"
        ),
        **{
            name: Call(
                getattr(export, name),
                {"model": model, "name": "m"} if name in ENGINES else {"model": model},
                model="estimator, no default",
                feature_names="names or None",
                dtype="choice",
                name="text",
                bounds="bounds",
                store="text or None",
                table="text or None",
            )
            for name in export.__all__
        },
        "explain": Call(
            inspection.explain,
            {"model": model, "a": X[0], "b": X[1]},
            model="estimator, no default",
            a="row",
            b="row",
            feature_names="names of columns",
            by="choice or None",
            output="number of an output",
        ),
        "audit_pairs": Call(inspection.audit_pairs, {"pairs": PAIRS}, pairs="pairs of ids"),
        "learning_curve": Call(
            inspection.learning_curve,
            {**SAMPLE, "y": Y, "sizes": [0.5]},
            cv="folds that adapt",
            sizes="sizes",
        ),
        "ExplanationDisplay": Call(
            plots.ExplanationDisplay.from_estimator,
            {"estimator": model, "a": X[0], "b": X[1]},
            estimator=None,  # it is the model of explain
            a="row",
            b="row",
            max_bars="count",
            ax=None,
            options=None,
        ),
        "LearningCurveDisplay": Call(
            plots.LearningCurveDisplay.from_estimator,
            {**SAMPLE, "y": Y, "cv": 2, "sizes": [1.0]},
            name=None,
            ax=None,
            options=None,
        ),
        "CalibrationOfThresholdDisplay": Call(
            plots.CalibrationOfThresholdDisplay.from_predictions,
            {**BINARY, "ax": Figure().subplots()},
            threshold="number or None",
            ax=None,
        ),
        "CalibrationOfThresholdDisplay.from_estimator": Call(
            plots.CalibrationOfThresholdDisplay.from_estimator,
            {
                "estimator": model_selection.FScoreClassifier(cv=2).fit(X, CLASSES),
                "X": X,
                "y": CLASSES,
                "ax": Figure().subplots(),
            },
            y="two classes",
            ax=None,
        ),
        "CoefficientDisplay": Call(
            plots.CoefficientDisplay.from_estimator,
            {"estimator": model, "ax": Figure().subplots()},
            feature_names="names of columns",
            intervals="result or None",
            output="number of an output",
            max_bars="count",
            ax=None,
        ),
        "CoefficientDisplay.from_result": Call(
            plots.CoefficientDisplay.from_result,
            {
                "result": model_selection.CoefIntervals(X[0], X[0] - 1, X[0] + 1, X),
                "ax": Figure().subplots(),
            },
            result="result",
            feature_names="names of columns",
            max_bars="count",
            ax=None,
        ),
        "PermutationDisplay": Call(
            plots.PermutationDisplay.from_estimator,
            {**SAMPLE, "y": Y, "n_permutations": 2, "strategy": "averaged", "ax": Figure().subplots()},
            ax=None,
            options=None,
        ),
        "PermutationDisplay.from_result": Call(
            plots.PermutationDisplay.from_result,
            {
                "result": model_selection.PermutationTest(0.7, 0.1, 0.1, SCORES, False, "rows", "averaged", 1),
                "ax": Figure().subplots(),
            },
            result="result",
            ax=None,
        ),
        "QueryBreakdownDisplay": Call(
            plots.QueryBreakdownDisplay.from_predictions,
            {**METRIC, "qid": QID, "ax": Figure().subplots()},
            qid="needed ids",
            metric="metric",
            max_bars="count",
            ax=None,
            options=None,
        ),
        "QueryBreakdownDisplay.from_estimator": Call(
            plots.QueryBreakdownDisplay.from_estimator,
            {"estimator": model, **ROWS, "qid": QID, "ax": Figure().subplots()},
            qid="needed ids",
            metric="metric",
            max_bars="count",
            ax=None,
            options=None,
        ),
        "TournamentROCDisplay": Call(
            plots.TournamentROCDisplay.from_estimator,
            {**SAMPLE, "y": CLASSES, "ax": Figure().subplots()},
            y="two classes",
            name=None,
            ax=None,
            options=None,
        ),
        "TournamentROCDisplay.from_result": Call(
            plots.TournamentROCDisplay.from_result,
            {
                "result": model_selection.tournament_roc(**SAMPLE, y=CLASSES, interval="rows"),
                "ax": Figure().subplots(),
            },
            result="result",
            name=None,
            ax=None,
        ),
        "ConvergenceDisplay": Call(plots.ConvergenceDisplay.from_estimator, {"estimator": model}, ax=None),
        "PathDisplay": Call(
            plots.PathDisplay.from_estimator, {"estimator": kr.RankSVMCV(alphas=2, cv=2).fit(X, Y)}, ax=None
        ),
        "write": Call(
            report.write,
            {"model": model, **ROWS, "path": folder / "report.html"},
            model="estimator, no default",
            y="truth",
            feature_names="names of columns",
            title="text or None",
            learning_curve="flag",
        ),
        "TimeDependentAUCDisplay": Call(
            plots.TimeDependentAUCDisplay.from_predictions, METRIC, times=None, name=None, ax=None
        ),
    }


# partial_fit does not exist for these.
NO_PARTS = {"n_basis": None, "kernel": None, "solver": None}
BAD |= {
    # Of two vectors of different lengths, either one may be wrong.
    "truth": [None, *(each for each in BAD["vector"][1:] if np.shape(each) != (M + 1,))],
    # Of flags, there may be any number.
    "flags": [None, 5, "x", masked(CLASSES), np.full(M, np.nan), Y, np.zeros((M, 2)), [1j] * M, ["x"] * M, dates(Y)],
    "propensities": [None, "x", 0, -1.0, np.nan, np.zeros(M), -np.ones(M), *BAD["vector"][2:]],
    "pairs or None": BAD["pairs"][1:],
    "pairs of ids": [
        *(None, 5, "x", [0, 1], [[0, 1, 2]], [[1, 1]], [[0, None]], [[0.0, np.nan]], [[[], 1]], ["ab"]),
        masked([[1, 0], [2, 1]]),
    ],
    "row": [
        *(None, 5, "x", [], X, X[:, :2], X[0] * np.nan, X[0] * np.inf, X[0, 1:], masked(X[0]), dates(X[0])),
        *(["x", 1.0, 2.0], X[0] * 1j, {1: 2}),
    ],
    "names of columns": [5, "x", [], ["a"], ["a", "a", "b"]],
    "number of an output": [*NOT_WHOLE, -1, 1],
    "result": [None, 5, "x", [], (1, 2), {}, Unprintable()],
    "result or None": [5, "x", [], (1, 2), {}, Unprintable()],
    "sizes": [None, 5, "x", [], [0], [0.0], [-1], [1.5], [np.nan], [[1]], [10**6], [True], [1j]],
    "labels of rows": [None, 5, masked(Y), np.zeros((M, 2)), np.full(M, np.nan), dates(Y)],
    "matrix or None": BAD["matrix"][1:],
    "row numbers": [
        None,
        5,
        "x",
        [0.5] * M,
        [-1] * M,
        [M] * M,
        np.zeros((M, 1), int),
        masked(QID),
        QID[1:],
        [True] * M,
    ],
    "row numbers or None": [5, "x", [0.5] * M, [-1] * M, [2**31] * M, np.zeros((M, 1), int), masked(QID), QID[1:]],
    "flags or None": [
        *(5, "x", masked(CLASSES), np.full(M, np.nan), Y, CLASSES[1:], np.zeros((M, 2))),
        *([1j] * M, ["x"] * M, dates(Y)),
    ],
    "number or None": NOT_A_NUMBER,
    "number of a fold": [*NOT_WHOLE, None, 0, -1, 6],
    "number of a set": [*NOT_WHOLE, None, 0, -1, 4],
    "times": [None, "x", [np.nan], [np.inf], [[1.0, 2.0]], masked([1.0, 2.0]), [1j], dates(Y[:2])],
    "entries": [None, 5, "x", QID, ENTRIES[1:], np.zeros((M, 3)), [[None, 1]] * M, masked(ENTRIES), [[1, [2]]] * M],
    "number of folds": [*NOT_WHOLE, None, 0, 1, -1, 10**9],
    "two classes": [None, 5, masked(Y), Y[1:], np.zeros((M, 2))],
    "matrix of a file": [None, 5, "x", X[0], X[None], masked(X), dates(X), X * 1j, [["x"] * 3] * M],
    "chunks": [None, 5, "x", X, [X], [5], {1: 2}],
    "type or None": ["x", 5, "int32", object],
    "comments": [5, [5] * M, ["x"], ["a\nb"] * M, set("x")],
    "estimators": [None, 5, [], [kr.RankRLS()], kr.RankRLS(), [kr.RankRLS(), 5], [kr.RankRLS(), kr.RLS]],
}
# Results, callables that check nothing (a base class, a registry), and callables that take a folder of data.
NOT_CALLED = {
    *(
        "AUCInterval",
        "Apartments",
        "Clicks",
        "CoefIntervals",
        "Comparison",
        "ConcordanceInterval",
        "Decision",
        "ScorerDifference",
        "RankingScorer",
        "Estimate",
        "JudgedDocuments",
        "Explanation",
        "LearningCurve",
        "PairAudit",
        "PermutationTest",
        "Propensities",
        "Ratings",
        "WeighedClicks",
        "TimeDependentAUC",
    ),
    *("Dependency", "Entity", "PPICorpus", "Sentence", "Token"),
    *("TournamentROC", "SvmlightData", "Table", "Violations", "ViolatedPairs", "Kernel", "Pairs", "QueryPipeline"),
    "RankingPipeline",
}
# Components of methods, which take validated values.
PARTS = {
    *(
        "DenseLaplacian",
        "GraphLaplacian",
        "Laplacian",
        "OrthonormalLaplacian",
        "PairLaplacian",
        "all_pairs",
        "members",
        "pairs_without_ties",
        "scale_both",
    ),
    *("draw_order", "lost_alone", "lost_directions", "whitening_of_rows"),
}
MODULES = (
    "",
    ".datasets",
    ".export",
    ".features",
    ".inspection",
    ".io",
    ".kernels",
    ".metrics",
    ".model_selection",
    ".pairs",
    ".persistence",
    ".pipelines",
    ".plots",
    ".relations",
    ".report",
)
NAMES = list(make_calls(Path()))


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad_values")
    (folder / "table.csv").write_text("a,b\n1,2\n3,4\n")
    io.RowStore.write(folder / "store", [(X, Y)])
    persistence.save_model(kr.RankSVM().fit(X, Y), folder / "model")
    persistence.save_svmlight_model(kr.RankSVM().fit(X, Y), folder / "light")
    write_public_sets(folder / "public")
    return make_calls(folder)


def write_public_sets(folder):
    """Write one row of each public set."""
    (folder / "Fold1").mkdir(parents=True)
    row = "1 qid:1 " + " ".join(f"{k}:1" for k in range(1, 137)) + "\n"
    for name in ("Fold1/train.txt", "train.txt", "set1.train.txt"):
        (folder / name).write_text(row)
    (folder / "jester-data-1.csv").write_text("1,5" + ",99" * 99 + "\n")
    (folder / "ratings.dat").write_text("1::1::5::0\n")
    (folder / "movies.dat").write_text("1::Heat (1995)::Action\n")


def test_every_public_callable_is_in_the_table():
    exported = {name for module in MODULES for name in importlib.import_module(f"kernelrank{module}").__all__}
    assert exported - set(NAMES) == NOT_CALLED | PARTS


@pytest.mark.parametrize("name", NAMES)
def test_bad_values_are_errors_that_name_the_parameter(calls, name):
    call = calls[name]
    call()  # the other arguments are valid
    failures = []
    for parameter in call.parameters:
        kind = call.kind(parameter)
        for value in [] if kind is None else BAD[kind]:
            failures += complain(call, parameter, value)
    assert not failures, "\n".join(failures)


def complain(call, parameter, value):
    """Return the fault of the response to a bad value, None if there is none."""
    try:
        shown = " ".join(f"{parameter} = {value!r}".split())[:90]
    except (RuntimeError, ValueError):
        shown = f"{parameter} = {type(value)}"
    try:
        call(**{parameter: value})
    except (TypeError, ValueError) as error:
        if re.search(rf"\b{parameter}\b", str(error)) and len(str(error)) < 1200:
            return []
        return [f"{shown}: the error does not name it, or is too long: {type(error).__name__} {str(error)[:150]}"]
    except Exception as error:
        return [f"{shown}: {type(error).__name__} {str(error)[:150]}"]
    return [f"{shown}: accepted"]


def test_numbers_of_numpy_are_good_values():
    unusual = {
        "alpha": np.float32(0.5),
        "tol": np.float16(0.125),
        "max_iter": np.int8(100),
        "n_jobs": np.int64(-1),
        "random_state": np.random.RandomState(0),
        "verbose": False,
        "warm_start": np.False_,
        "positive": np.True_,
        "loss": np.str_("hinge"),
    }
    expected = kr.RankSVM(alpha=0.5, tol=0.125, max_iter=100, positive=True).fit(X, Y)
    np.testing.assert_array_equal(kr.RankSVM(**unusual).fit(X, Y).coef_, expected.coef_)
    kr.RankSVM(alpha=1, random_state=np.random).fit(X, Y)
    assert kr.RankSVMCV(alphas=np.int64(2), cv=np.int32(2)).fit(X, Y).alphas_.shape == (2,)
