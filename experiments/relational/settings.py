"""The four questions about a pair of a drug and a target, on Davis: known or new, least squares or hinge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from benchmarks.harness import Table, number, table
from experiments.relational._data import davis
from experiments.relational._kernels import cosine, features, with_unit_trace
from experiments.study import READING, Run, Tables, in_processes
from kernelrank import RankSVMCV
from kernelrank.exceptions import UndefinedQueryWarning
from kernelrank.metrics import concordance_index
from kernelrank.model_selection import LeaveBothOut, LeaveColumnsOut, LeaveEntriesOut, LeaveRowsOut
from kernelrank.relational import KroneckerRLS, KroneckerRLSCV, KroneckerRows, TwoStepRLS

SPLITTERS = {"entry": LeaveEntriesOut, "row": LeaveRowsOut, "column": LeaveColumnsOut, "both": LeaveBothOut}
QUESTIONS = {
    "entry": "known drug, known target",
    "column": "known drug, new target",
    "row": "new drug, known target",
    "both": "new drug, new target",
}
ALPHAS = 10.0 ** np.arange(-6.5, -0.9, 0.5)
SIDE_ALPHAS = 10.0 ** np.arange(-4.0, 1.1, 0.5)
HINGE_ALPHAS = 10.0 ** np.arange(-5.0, -1.9, 0.5)
OUTER, INNER = 5, 3
QUICK = {"alphas": ALPHAS[2::3], "sides": SIDE_ALPHAS[2::4], "hinge": HINGE_ALPHAS[2::2]}
FULL = {"alphas": ALPHAS, "sides": SIDE_ALPHAS, "hinge": HINGE_ALPHAS}

POINTWISE, RANKING, TWO_STEP, HINGE = "KroneckerRLS", "KroneckerRLS, ranking", "TwoStepRLS", "RankSVM"
MODELS = (POINTWISE, RANKING, TWO_STEP, HINGE)
COMPARABLE = {POINTWISE, TWO_STEP}  # models whose predictions of different drugs can be compared

Scores = tuple[float, float, float]  # concordance of each drug, of all entries, and mean squared error
Predict = Callable[[], np.ndarray]


def rate(name: str, rows: np.ndarray, y: np.ndarray, predicted: np.ndarray) -> Scores:
    """Return the mean concordance within drugs and, if predictions of drugs can be compared, both scores of all."""
    within = float(concordance_index(y, predicted, qid=rows))
    if name not in COMPARABLE:
        return within, np.nan, np.nan
    return within, float(concordance_index(y, predicted)), float(np.mean((y - predicted) ** 2))


class Task:
    """Kernel matrices, targets, and one division into training and test entries."""

    def __init__(self, setting: str, split: int, quick: bool) -> None:
        warnings.simplefilter("ignore", UndefinedQueryWarning)  # a drug may bind none of the targets of a fold
        pairs = davis(quick)
        self.setting = setting
        self.grids = QUICK if quick else FULL
        self.K, self.G = with_unit_trace(pairs.drugs), with_unit_trace(cosine(pairs.targets))
        self.Y = pairs.matrix()
        self.X = KroneckerRows(features(self.K), features(self.G), pairs.rows, pairs.columns)
        self.y = pairs.y
        if split >= 0:
            splits = list(SPLITTERS[setting](2 if quick else OUTER).split(self.X))
            self.train, self.test = splits[split]
            (self.rows, self.columns), (self.test_rows, self.test_columns) = (
                self.X.entries[part].T for part in (self.train, self.test)
            )

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the kernel matrices and targets of the training entries, and the kernels of all with them."""
        r, c = np.unique(self.rows), np.unique(self.columns)
        Y = np.full(self.Y.shape, np.nan)
        Y[self.rows, self.columns] = self.Y[self.rows, self.columns]
        return self.K[np.ix_(r, r)], self.G[np.ix_(c, c)], Y[np.ix_(r, c)], self.K[:, r], self.G[:, c]


def least_squares(task: Task, ranking: bool) -> np.ndarray:
    """Return test predictions, with the alpha of the hold-out that asks the same question."""
    K, G, Y, of_rows, of_columns = task.blocks()
    options = {"row_kernel": "precomputed", "column_kernel": "precomputed", "ranking": ranking}
    if task.setting == "entry":  # no closed form, since the test entries are missing
        model = KroneckerRLS(_by_refits(task, K, G, Y, options), **options).fit(K, G, Y)
    else:
        model = KroneckerRLSCV(task.grids["alphas"], leave=task.setting, **options).fit(K, G, Y)
    return model.predict_entries(of_rows, of_columns, task.test_rows, task.test_columns)


def _by_refits(task: Task, K: np.ndarray, G: np.ndarray, Y: np.ndarray, options: dict) -> float:
    scores = []
    rows, columns = np.nonzero(~np.isnan(Y))
    for train, test in LeaveEntriesOut(INNER).split(None, groups=np.column_stack((rows, columns))):
        part, (r, c) = np.full(Y.shape, np.nan), (rows[test], columns[test])
        part[rows[train], columns[train]] = Y[rows[train], columns[train]]
        scores.append([])
        for alpha in task.grids["alphas"]:
            predicted = KroneckerRLS(alpha, **options).fit(K, G, part).predict_entries(K, G, r, c)
            score = concordance_index(Y[r, c], predicted, qid=r)
            scores[-1].append(score if options["ranking"] else -np.mean((Y[r, c] - predicted) ** 2))
    return float(task.grids["alphas"][np.mean(scores, axis=0).argmax()])


def two_step(task: Task) -> np.ndarray:
    K, G, Y, of_rows, of_columns = task.blocks()
    model = _best_two_step(task, K, G, Y)
    return model.predict_entries(of_rows, of_columns, task.test_rows, task.test_columns)


def _best_two_step(task: Task, K: np.ndarray, G: np.ndarray, Y: np.ndarray) -> TwoStepRLS:
    model = TwoStepRLS(row_kernel="precomputed", column_kernel="precomputed").fit(K, G, Y)
    leave = getattr(model, f"leave_{task.setting}_out")

    def error(alphas: tuple[float, float]) -> float:
        return float(np.mean((Y - leave(row_alpha=alphas[0], column_alpha=alphas[1])) ** 2))

    row_alpha, column_alpha = min(product(task.grids["sides"], repeat=2), key=error)
    return model.set_params(row_alpha=row_alpha, column_alpha=column_alpha).fit(K, G, Y)


def hinge(task: Task) -> np.ndarray:
    inner = SPLITTERS[task.setting](2 if task.setting == "both" else INNER)
    model = RankSVMCV(task.grids["hinge"], cv=inner, tol=0.01)
    return model.fit(task.X[task.train], task.y[task.train], qid=task.rows).predict(task.X[task.test])


PREDICT: dict[str, Callable[[Task], np.ndarray]] = {
    POINTWISE: lambda task: least_squares(task, ranking=False),
    RANKING: lambda task: least_squares(task, ranking=True),
    TWO_STEP: two_step,
    HINGE: hinge,
}


def in_fold(name: str, setting: str, split: int, quick: bool) -> Scores:
    """Return the test scores of a split."""
    task = Task(setting, split, quick)
    return rate(name, task.test_rows, task.y[task.test], PREDICT[name](task))


def exactly(name: str, setting: str, quick: bool) -> Scores:
    """Return the scores of the exact hold-out of every entry."""
    task = Task(setting, -1, quick)
    if name == TWO_STEP:
        held_out = getattr(_best_two_step(task, task.K, task.G, task.Y), f"leave_{setting}_out")()
    else:
        model = KroneckerRLSCV(
            *(task.grids["alphas"],),
            leave=setting,
            row_kernel="precomputed",
            column_kernel="precomputed",
            ranking=name == RANKING,
        )
        held_out = model.fit(task.K, task.G, task.Y).held_out_
    return rate(name, task.X.entries[:, 0], task.y, held_out.ravel())


Found = tuple[dict[tuple[str, str], Scores], dict[tuple[str, str], Scores]]


def measure(run: Run) -> Found:
    each = list(product(QUESTIONS, MODELS))
    inner = {setting: SPLITTERS[setting](2 if run.quick else OUTER).get_n_splits() for setting in QUESTIONS}
    tasks = [
        (name, setting, split, run.quick)
        for setting, name in sorted(each, key=lambda pair: (pair[1] != HINGE, pair[0] != "both"))
        if (setting, name) != ("entry", TWO_STEP)
        for split in range(inner[setting])
    ]
    scores = in_processes(in_fold, tasks, run.jobs)
    folds: dict[tuple[str, str], list[Scores]] = {}
    for (name, setting, *_), found in zip(tasks, scores, strict=True):
        folds.setdefault((setting, name), []).append(found)
    whole = [(name, setting, run.quick) for setting, name in each if name != HINGE]
    held_out = in_processes(exactly, whole, run.jobs)
    return (
        {key: tuple(np.mean(folds[key], axis=0)) for key in each if key in folds},
        {(setting, name): found for (name, setting, _), found in zip(whole, held_out, strict=True)},
    )


COLUMNS = ("question", "model", "within drugs", "all entries", "error")


def _table(found: dict[tuple[str, str], Scores]) -> str:
    rows = [
        [QUESTIONS[setting], name, *("" if np.isnan(score) else f"{score:.3f}" for score in scores)]
        for (setting, name), scores in found.items()
    ]
    return table(COLUMNS, rows, n_texts=2)


def report(found: Found, run: Run) -> list[str]:
    folds, held_out = found
    n = 2 if run.quick else OUTER
    return [
        "# Known and new drugs and targets",
        ABOUT.strip(),
        "## Folds",
        FOLDS.format(n=n, both=n * n),
        _table(folds),
        READING,
        "## Exact hold-outs",
        HELD_OUT,
        _table(held_out),
        READING,
    ]


ABOUT = """
Davis et al., all entries known, with the similarities of drugs as they are and those of targets normalised; both
matrices divided by their mean diagonal element. *KroneckerRLS* minimises squared errors, with *ranking* those of
differences within a drug, *RankSVM* the hinge of differences within a drug, on `KroneckerRows` with `qid` = drugs.

*within drugs* is the mean over drugs of the concordance of their targets, *all entries* that of all test entries, and
*error* their mean squared error. Predictions of models that rank within drugs are comparable within a drug alone.
"""
FOLDS = """
Means over {n} test folds of entries, of drugs, or of targets; for both, over {both} folds of drugs and of targets.
Every alpha is chosen inside the training part, by a hold-out that asks the same question: the exact one, or folds where
there is none (*entry*, and *RankSVM*). A least-squares model chooses by its squared error; a ranking by the concordance
within drugs. *TwoStepRLS* cannot be trained with missing entries.
"""
HELD_OUT = """
Every entry predicted by the model of all the others (*known, known*), of all other drugs, of all other targets, or of
all other drugs and targets. alpha is that with the best score of these same predictions, which makes the scores
slightly optimistic. *within drugs* of a new target compares predictions of models that each lack another target.
"""


def readings(tables: Tables) -> Iterator[str]:
    [folds], [held_out] = tables["Folds"], tables["Exact hold-outs"]
    within, every, error = ({key: number(row[column]) for key, row in _by(folds).items()} for column in COLUMNS[2:])
    order = list(QUESTIONS.values())
    both, known = order[-1], order[0]
    best = {question: max((within[question, name], name) for name in _models(folds, question)) for question in order}
    gains = {question: within[question, RANKING] - within[question, POINTWISE] for question in order}
    yield f"""
        The same kind of model on the same data: the concordance of all entries is {every[known, POINTWISE]:.3f} for a
        known drug and a known target, {every[order[1], POINTWISE]:.3f} for a new target,
        {every[order[2], POINTWISE]:.3f} for a new drug and {every[both, POINTWISE]:.3f} for both; the mean squared
        error grows from {error[known, POINTWISE]:.3f} to {error[both, POINTWISE]:.3f}.
        A random split of the entries answers the first question only. Least squares of differences within drugs,
        instead of the values, change the concordance within drugs by
        {", ".join(f"{gain:+.3f}" for gain in gains.values())}, in the order of the table. The best models within
        drugs: {"; ".join(f"{question}, {name} ({score:.3f})" for question, (score, name) in best.items())}."""
    exact, exact_error = ({key: number(row[column]) for key, row in _by(held_out).items()} for column in COLUMNS[3:])
    apart = [exact[question, POINTWISE] - every[question, POINTWISE] for question in order]
    lower = [exact_error[question, POINTWISE] - error[question, POINTWISE] for question in order]
    yield f"""
        The exact hold-outs train with all but one entry, drug or target, the folds with four fifths. For KroneckerRLS
        the concordance of all entries differs from that of the folds by {", ".join(f"{gap:+.3f}" for gap in apart)},
        and the error by {", ".join(f"{gap:+.3f}" for gap in lower)}, in the order of the table."""


def _by(found: Table) -> dict[tuple[str, str], dict[str, str]]:
    return {(row["question"], row["model"]): row for row in found}


def _models(found: Table, question: str) -> list[str]:
    return [row["model"] for row in found if row["question"] == question]
