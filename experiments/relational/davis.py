"""Davis et al.: the published results, what makes the difference to them, and how far kernels go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import number, table
from experiments.relational._choice import Chosen, Kernels, choose, least_squares
from experiments.relational._data import Pairs, davis
from experiments.relational._kernels import cosine, grams, levels, profiles
from experiments.study import READING, Run, Tables, span

ALPHAS = 10.0 ** np.arange(-7.5, -2.9, 0.5)
QUICK_ALPHAS = 10.0 ** np.arange(-5, -2.0)

PUBLISHED = {  # concordance and mean squared error of the same test fold
    "KronRLS": (0.871, 0.379),
    "DeepDTA": (0.878, 0.261),
    "GraphDTA": (0.893, 0.229),
    "best graph networks of 2023": (0.906, 0.195),
}


def as_they_are(pairs: Pairs, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return pairs.drugs, pairs.targets


def normalised(pairs: Pairs, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return pairs.drugs, cosine(pairs.targets)


def with_levels(drugs: Kernels) -> Kernels:
    def kernels(pairs: Pairs, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        K, G = drugs(pairs, Y)
        return K + levels(len(K), 0.1), G + levels(len(G), 0.1)

    return kernels


def of_drugs(power: int, shortest: int = 2, longest: int = 5) -> Kernels:
    """Return the power of the fingerprints' similarities, times the kernel of n-grams; targets normalised."""

    def kernels(pairs: Pairs, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return pairs.drugs**power * grams(pairs.smiles, shortest, longest), cosine(pairs.targets)

    return kernels


def with_profiles(base: Kernels, of_rows: float, of_columns: float) -> Kernels:
    def kernels(pairs: Pairs, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        K, G = base(pairs, Y)
        rows, columns = profiles(Y)
        return K + of_rows * rows, G + of_columns * columns

    return kernels


# (kernels, number for unknown entries, intercept)
TREATMENTS = {
    (similarities, fill, intercept): (kernels, fill.replace("left out", ""), intercept == "yes")
    for similarities, kernels in (("as they are", as_they_are), ("normalised", normalised))
    for fill in ("left out", "mean", "zero")
    for intercept in ("yes", "no")
}
SIMILARITIES = "similarities"
BASE = with_levels(of_drugs(4))
KERNELS: dict[str, Kernels] = {
    SIMILARITIES: as_they_are,
    "similarities, targets normalised": normalised,
    "n-grams": of_drugs(0),
    "similarities + levels": with_levels(normalised),
    "n-grams + levels": with_levels(of_drugs(0)),
    "similarities * n-grams + levels": with_levels(of_drugs(1)),
    "similarities² * n-grams + levels": with_levels(of_drugs(2)),
    "similarities⁴ * n-grams + levels": BASE,
    "the same + profiles of drugs": with_profiles(BASE, 1.0, 0.0),
    "the same + profiles of targets": with_profiles(BASE, 0.0, 0.1),
    "the same + profiles of both": with_profiles(BASE, 1.0, 0.1),
    "the same + 3 profiles of drugs + 0.1 of targets": with_profiles(BASE, 3.0, 0.1),
    "the same + 3 profiles of drugs + 0.3 of targets": with_profiles(BASE, 3.0, 0.3),
}
WITH_PROFILES = [name for name in KERNELS if "profiles" in name]


def treat(name: tuple[str, str, str], fold: int, alphas: np.ndarray, quick: bool) -> np.ndarray:
    kernels, fill, intercept = TREATMENTS[name]
    return least_squares(davis(quick), kernels, fold, alphas, fill=fill, intercept=intercept)


def combine(name: str, fold: int, alphas: np.ndarray, quick: bool) -> np.ndarray:
    return least_squares(davis(quick), KERNELS[name], fold, alphas)


Found = tuple[dict[tuple[str, str, str], Chosen], dict[str, Chosen], Pairs]


def measure(run: Run) -> Found:
    pairs, alphas = davis(run.quick), QUICK_ALPHAS if run.quick else ALPHAS
    treatments = choose(treat, list(TREATMENTS), alphas, run.quick, jobs=run.jobs)
    return treatments, choose(combine, list(KERNELS), alphas, run.quick, jobs=run.jobs), pairs


def _cells(each: Chosen) -> list[str]:
    scores = (each.concordance, each.error, each.test_concordance, each.test_error)
    return [f"{each.alpha:.0e}", *(f"{value:.3f}" for value in scores)]


SCORES = ("alpha", "CV concordance", "CV error", "concordance", "error")


def report(found: Found, _: Run) -> list[str]:
    treatments, kernels, pairs = found
    q, m = pairs.shape
    n_test = int((pairs.fold == 5).sum())
    best = _best(kernels, list(kernels))
    plain = _best(kernels, [name for name in kernels if name not in WITH_PROFILES])
    ours = {"KroneckerRLS, similarities": SIMILARITIES, f"KroneckerRLS, {plain}": plain, f"KroneckerRLS, {best}": best}
    rows = [[name, *(f"{value:.3f}" for value in scores)] for name, scores in PUBLISHED.items()]
    rows += [[name, *_cells(kernels[of])[-2:]] for name, of in ours.items()]
    return [
        "# Drugs and targets: Davis et al.",
        ABOUT.format(q=q, m=m, n_test=n_test),
        "## The test fold",
        FOLD,
        table(["model", "concordance", "error"], rows),
        READING,
        "## Similarities alone",
        TREATED,
        table(
            ["similarities", "unknown entries", "intercept", *SCORES],
            [[*name, *_cells(each)] for name, each in treatments.items()],
            n_texts=3,
        ),
        READING,
        "## Kernels",
        COMBINED,
        table(["kernel of the drugs", *SCORES], [[name, *_cells(each)] for name, each in kernels.items()]),
        READING,
    ]


def _best(found: dict[str, Chosen], names: list[str]) -> str:
    return max(names, key=lambda name: found[name].concordance)


ABOUT = """
Strengths (pKd) of {q} inhibitors against {m} kinases, all measured. The folds are those of the published results: five
for training, and {n_test:,} entries for the test. Drugs and targets of the test are known from other entries. All
models here are `KroneckerRLS` by conjugate gradients on the entries of the training folds, the others unknown.
Kernel matrices are divided by their mean diagonal element. alpha is the one with the greatest mean concordance over the
training folds, each predicted by the other four (*CV*). Then all five predict the test fold.
"""
FOLD = """
Concordance is the share of pairs of test entries in the right order, as published; *error* is the mean squared error.
Ours are the similarities as they are, and the kernels with the greatest concordance inside the training folds, without
and with profiles (see *Kernels*); the test fold has chosen nothing.
"""
TREATED = """
*as they are*: alignment scores, whose diagonal grows with the length of a sequence; *normalised*: divided by the roots
of both diagonal elements. *unknown entries* are left out of the loss, or the mean of the training entries, or zero,
stands for them. The second and third need no conjugate gradients, since the matrix is then complete.
"""
COMBINED = """
From the third row on, the targets' similarities are normalised. *n-grams*: cosine of the counts of substrings of 2 to 5
letters of SMILES. *levels*: a constant that all share, and 0.1 times one that each drug and each target has of its own,
for both sides. *profiles*: Gaussian kernels of what the training entries say of a drug, and of a target; unknown ones
count as the mean. Squares and products are of elements. *the same*: similarities⁴ * n-grams + levels.
"""


def readings(tables: Tables) -> Iterator[str]:
    [scores] = tables["The test fold"]
    rows = {row["model"]: (number(row["concordance"]), number(row["error"])) for row in scores}
    published = {name: rows[name] for name in PUBLISHED}
    ours = {name: each for name, each in rows.items() if name not in PUBLISHED}
    top, (concordance, error) = list(ours.items())[-1]
    beaten = sum(concordance > c and error < e for c, e in published.values())
    (alone, alone_error), (plain, plain_error), _ = ours.values()
    yield f"""
        {top} has a concordance of {concordance:.3f} and an error of {error:.3f}, better than {beaten} of the
        {len(published)} published results in both. Without profiles it is {plain:.3f} and {plain_error:.3f}. The
        similarities alone, as published for KronRLS, have {alone:.3f} and {alone_error:.3f}."""
    [treated] = tables["Similarities alone"]
    key = ("similarities", "unknown entries", "intercept")
    by = {tuple(row[name] for name in key): row for row in treated}

    def gaps(first: tuple[str, str, str], column: str, place: int, value: str) -> float:
        other = list(first)
        other[place] = value
        return number(by[tuple(other)][column]) - number(by[first][column])

    left_out = [name for name in by if name[1] == "left out"]
    normal = [abs(gaps(name, "concordance", 0, "normalised")) for name in left_out if name[0] == "as they are"]
    constant = [abs(gaps(name, "concordance", 2, "no")) for name in left_out if name[2] == "yes"]
    means = [gaps(name, "error", 1, "mean") for name in left_out]
    kronrls = PUBLISHED["KronRLS"]
    yield f"""
        Neither normalisation, which changes the concordance by at most {max(normal):.3f} if unknown entries are left
        out, nor the intercept, by at most {max(constant):.3f}, explains the published {kronrls[0]} and {kronrls[1]}.
        What is done with unknown entries may: if their mean stands for them the error grows by {span(means, ".3f")},
        to {span((number(by[name]["error"]) for name in by if name[1] == "mean"), ".3f")}, and the concordance is
        {span((number(by[name]["concordance"]) for name in by if name[1] == "mean"), ".3f")}; if it is zero, the error
        is {span((number(by[name]["error"]) for name in by if name[1] == "zero"), ".2f")}. A closed form needs a number
        for every entry. The publication does not say which it took, if any. The published error is far from that of
        every fit that leaves them out, and near that of fits to their mean."""
    [combined] = tables["Kernels"]
    cells = {row["kernel of the drugs"]: row for row in combined}

    def gain(name: str, other: str) -> str:
        return f"{number(cells[name]['concordance']) - number(cells[other]['concordance']):+.3f}"

    chosen = max(cells, key=lambda name: number(cells[name]["CV concordance"]))
    base = "similarities⁴ * n-grams + levels"
    yield f"""
        Levels add {gain("similarities + levels", "similarities, targets normalised")} to the test concordance of the
        similarities, products with n-grams another {gain(base, "similarities + levels")}, and profiles
        {gain("the same + profiles of both", base)}. Inside the training folds "{chosen}" is best. Concordances of
        the test fold are greater than those inside the training folds by {
        span((number(row["concordance"]) - number(row["CV concordance"]) for row in combined), ".3f")
    }: a fifth fewer entries train there. Profiles
        say nothing of new drugs or targets."""
