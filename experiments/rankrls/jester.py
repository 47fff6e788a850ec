"""Jester: jokes ranked for a user by the ratings of other users, with three costs (P09, table 6).

Reads ``other/jester1.npz``: ratings of 100 jokes by 24,983 users. For each of 300 active users, a model learns from
half of the jokes that the user has rated, and is measured on the other half. The features of a joke are its ratings by
300 reference users, drawn by the number of jokes that they have rated. Half an hour of processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, product
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import sem, wilcoxon

from benchmarks.harness import Table, data_file, number, table
from experiments.rankrls._reuters import LAMBDAS
from experiments.study import READING, Run, Tables, in_processes, span, verdict
from kernelrank import RLS, NystromMap, RankRLS
from kernelrank.kernels import Gaussian
from kernelrank.losses import PairwiseHinge
from kernelrank.metrics import pairwise_error
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, make_products

# Squared distances between jokes are about 2^14. For a gamma above these the kernel matrix is next to the identity;
# below them the kernel is next to linear, and another lambda gives the same.
GAMMAS = 2.0 ** np.arange(-18, -9)
LEAST_SVM_LAMBDA = 2.0**-5  # `try_small_lambdas` measures what smaller ones would change
TOL = 1e-3  # certified gap of RankSVM; the objective of a constant model is 1
DENSITIES = {"20–40": (20, 40), "40–60": (40, 60), "60–80": (60, 80), "all sizes": (0, 100)}  # ratings: above, up to


class Sizes(NamedTuple):
    """Users of each kind, draws of them, grids, and users for whom RankSVM is fitted with smaller lambdas."""

    n_users: int
    n_draws: int
    lambdas: np.ndarray
    gammas: np.ndarray
    n_tried: int


FULL, QUICK = Sizes(300, 3, LAMBDAS, GAMMAS, 40), Sizes(8, 1, LAMBDAS[::15], GAMMAS[::4], 3)


class User(NamedTuple):
    """An active user: jokes to learn from, jokes to be measured on, and the ratings of both."""

    train: np.ndarray
    test: np.ndarray
    ratings: np.ndarray


def by_pairs(K: np.ndarray, y: np.ndarray, lambdas: np.ndarray, cost: str) -> np.ndarray:
    n_pairs = np.count_nonzero(y[:, None] > y)
    return RankRLS(kernel="precomputed", cost=cost, ties="drop").fit(K, y).path(lambdas / n_pairs)


def by_all_pairs(K: np.ndarray, y: np.ndarray, lambdas: np.ndarray) -> np.ndarray:
    return RankRLS(kernel="precomputed").fit(K, y).path(lambdas / (len(y) ** 2 / 2))


def by_values(K: np.ndarray, y: np.ndarray, lambdas: np.ndarray) -> np.ndarray:
    return RLS(kernel="precomputed").fit(K, y).path(lambdas / len(y))


class Margins(NamedTuple):
    """RankSVM with all jokes as basis; one bundle for all lambdas, from the largest to the least.

    The processor time of each solution is added to `seconds`, if it is given.
    """

    least: float = LEAST_SVM_LAMBDA
    seconds: np.ndarray | None = None

    def follow(self, K: np.ndarray, y: np.ndarray, lambdas: np.ndarray) -> np.ndarray:
        """Return weights of the jokes."""
        nystrom = NystromMap("precomputed", n_basis=len(y)).fit(K)
        pairs = UtilityPairs(y)
        bundle = Bundle(LinearOracle(make_products(nystrom.transform(K)), PairwiseHinge(pairs)))
        solutions = []
        for k, each in enumerate(lambdas[lambdas >= self.least]):
            start = process_time()
            solutions.append(bundle.minimize(each / pairs.n_pairs, tol=TOL).w)
            if self.seconds is not None:
                self.seconds[k] += process_time() - start
        weights = np.zeros((len(solutions), len(y)))
        weights[:, nystrom.basis_indices_] = nystrom.coefficients(np.transpose(solutions)).T
        return weights


class Method(NamedTuple):
    """The published error for each density, if there is one, and a function that returns weights of training jokes."""

    published: Sequence[float] | None
    follow: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


METHODS = {
    "RankRLS, unit (20)": Method((0.413, 0.400, 0.378, 0.371), partial(by_pairs, cost="unit")),
    "RankRLS, magnitude (21)": Method((0.413, 0.400, 0.379, 0.371), partial(by_pairs, cost="magnitude")),
    "RankRLS, relative (22)": Method((0.445, 0.426, 0.388, 0.379), partial(by_pairs, cost="relative")),
    "RankSVM": Method((0.413, 0.400, 0.378, 0.371), Margins().follow),
    "RLS": Method((0.414, 0.401, 0.378, 0.371), by_values),
    "RankRLS, magnitude (21), all pairs": Method(None, by_all_pairs),
}
UNIT, MAGNITUDE, RELATIVE, SVM, REGRESSION, ALL_PAIRS = METHODS
TRIED = ("20–40", "60–80")  # densities for which smaller lambdas are tried
TITLE, EVERY_PAIR, SMALL = "Jester: three costs", "All pairs", "RankSVM with smaller lambdas"
ABOUT = """
Table 6 of Pahikkala et al. (2009): disagreement error, mean over active users, by the number of ratings of the
reference users. {sizes.n_draws} draws of {sizes.n_users} reference users, {sizes.n_users} active users, and
{sizes.n_users} other users whose mean error chooses lambda and gamma, once per method and draw. ±: standard error over
the active users of all draws; those of a draw share its reference users, lambda and gamma. *p*: signed-rank test
against the first row, over the active users. As in the paper, a missing feature is the median of the reference user,
and lambda is from 2^-15 … 2^15; for RankSVM it is from 2^{least:.0f} … 2^15 (see the last table). Gamma is from
2^-18 … 2^-10, as the ratings are not scaled; the paper does not say what its widths from 2^-15 … 2^15 multiply.

The users are not those of the paper, which drew from 73,496. This file has {n_users:,}, who have rated {fewest} jokes
or more, {mean:.0f} on average, so the group 20–40 is in fact {fewest}–40.
"""
ABOUT_PAIRS = """
P09: "We also tested the effects of including all pairs instead of only relevant ones in the training data. No
performance differences were observed in the results." On Jester every user has a model of their own, so the only
irrelevant pairs are those of jokes with equal ratings; section 5.1 tests them "only with (21), because it is the only
cost function in which the ties can be treated in a trivial way". Here is the error of the cost (21) without and with
the tied pairs, their difference with its standard error over the active users, *p* of the signed-rank test, and the
share of tied pairs among all pairs of training jokes. The paper's threshold of significance is 0.05.
"""
ABOUT_SMALL = """
The first table takes lambda from 2^{least:.0f} on for RankSVM. Here it has the whole grid, for {n} of the users who
choose lambda and gamma, in one draw of 20–40 and one of 60–80: the mean error with the best gamma, for one lambda or,
in the first row, for the best of the lambdas of the first table; and the processor seconds for all these users and all
gammas. One bundle solves for all lambdas in turn, so the seconds of a smaller lambda come on top of those above.
"""


@cache
def load_ratings(quick: bool) -> np.ndarray:
    """Return ratings from -10 to 10, one row per user; NaN where there is none."""
    if quick:
        rng = np.random.default_rng(0)
        ratings = np.clip(
            rng.normal(size=(200, 3)) @ rng.normal(size=(3, 100)) + 2 * rng.normal(size=(200, 100)), -10, 10
        )
        ratings = np.round(ratings)  # so that there are ties
        return np.where(rng.random(ratings.shape) < rng.uniform(0.22, 0.8, size=(200, 1)), ratings, np.nan)
    with np.load(data_file("other/jester1.npz")) as file:
        raw = file["ratings_x100"]
    return np.where(raw == 9999, np.nan, raw / 100.0)


def split_jokes(ratings: np.ndarray, rng: np.random.Generator) -> User:
    rated = rng.permutation(np.flatnonzero(~np.isnan(ratings)))
    half = len(rated) // 2
    return User(rated[:half], rated[half:], ratings)


def has_pairs(user: User) -> bool:
    return all(len(np.unique(user.ratings[jokes])) > 1 for jokes in (user.train, user.test))


def describe_jokes(ratings: np.ndarray) -> np.ndarray:
    """Return the features of the jokes: ratings of the reference users, the median of a user where there is none."""
    medians = np.nanmedian(ratings, axis=1, keepdims=True)
    return np.where(np.isnan(ratings), medians, ratings).T


def errors(users: list[User], K: np.ndarray, method: Method, lambdas: np.ndarray) -> np.ndarray:
    """Return the disagreement error of every user, for every lambda; a tie is an error, as in the paper."""
    scores = []
    for user in users:
        weights = method.follow(K[np.ix_(user.train, user.train)], user.ratings[user.train], lambdas)
        scores.append(K[np.ix_(user.test, user.train)] @ weights.T)
    y = np.concatenate([user.ratings[user.test] for user in users])
    qid = np.repeat(np.arange(len(users)), [len(user.test) for user in users])
    columns = np.concatenate(scores).T
    return np.array([pairwise_error(y, column, qid=qid, ties=1, per_query=True) for column in columns])


def draw(
    ratings: np.ndarray, density: tuple[int, int], n_users: int, rng: np.random.Generator
) -> tuple[np.ndarray, list[User]]:
    """Return features of the jokes by reference users of some density, and twice `n_users` other users."""
    above, up_to = density
    n_rated = np.sum(~np.isnan(ratings), axis=1)
    reference = rng.choice(np.flatnonzero((above < n_rated) & (n_rated <= up_to)), n_users, replace=False)
    others = rng.permutation(np.setdiff1d(np.arange(len(ratings)), reference))
    users = filter(has_pairs, (split_jokes(ratings[user], rng) for user in others))
    return describe_jokes(ratings[reference]), list(islice(users, 2 * n_users))


def choose_and_measure(
    active: list[User], others: list[User], X: np.ndarray, method: Method, sizes: Sizes
) -> np.ndarray:
    """Return the errors of the active users, with the gamma and the lambda that are best for the others."""
    found = [errors(others, Gaussian(gamma)(X), method, sizes.lambdas).mean(axis=1) for gamma in sizes.gammas]
    width, penalty = np.unravel_index(np.argmin(found), np.shape(found))
    return errors(active, Gaussian(sizes.gammas[width])(X), method, sizes.lambdas)[penalty]


def run_draw(name: str, seed: int, title: str, quick: bool) -> np.ndarray:
    """Return the errors of the active users of one draw, with one method."""
    sizes = QUICK if quick else FULL
    X, users = draw(load_ratings(quick), DENSITIES[name], sizes.n_users, np.random.default_rng(seed))
    return choose_and_measure(users[: sizes.n_users], users[sizes.n_users :], X, METHODS[title], sizes)


def try_small_lambdas(name: str, gamma: float, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return mean errors and processor seconds of RankSVM for every lambda, for some users of the first draw."""
    sizes = QUICK if quick else FULL
    X, users = draw(load_ratings(quick), DENSITIES[name], sizes.n_users, np.random.default_rng(0))
    seconds = np.zeros(len(sizes.lambdas))
    method = Method(None, Margins(sizes.lambdas.min(), seconds).follow)
    some = users[sizes.n_users :][: sizes.n_tried]
    return errors(some, Gaussian(gamma)(X), method, sizes.lambdas).mean(axis=1), seconds


def share_of_ties(name: str, sizes: Sizes, quick: bool) -> float:
    """Return the share of pairs with equal ratings among the pairs of training jokes of all active users."""
    ties = pairs = 0
    for seed in range(sizes.n_draws):
        _, users = draw(load_ratings(quick), DENSITIES[name], sizes.n_users, np.random.default_rng(seed))
        for user in users[: sizes.n_users]:
            y = user.ratings[user.train]
            pairs += len(y) * (len(y) - 1) // 2
            ties += (np.count_nonzero(y[:, None] == y) - len(y)) // 2
    return ties / pairs


def measure(run: Run) -> dict[str, Any]:
    """Return the errors of the active users of all draws, ties, and what smaller lambdas give."""
    sizes, quick = (QUICK if run.quick else FULL), run.quick
    ratings = load_ratings(quick)  # once, before there are processes
    slowest_first = sorted(METHODS, key=SVM.__ne__)
    draws = [
        (name, seed, title, quick) for title, name, seed in product(slowest_first, DENSITIES, range(sizes.n_draws))
    ]
    results = dict(zip(draws, in_processes(run_draw, draws, run.jobs), strict=True))
    settings = [(name, gamma, quick) for name, gamma in product(TRIED, sizes.gammas)]
    tried = dict(zip(settings, in_processes(try_small_lambdas, settings, run.jobs), strict=True))
    return {
        "errors": {
            (name, title): np.concatenate([results[name, seed, title, quick] for seed in range(sizes.n_draws)])
            for name, title in product(DENSITIES, METHODS)
        },
        "ties": {name: share_of_ties(name, sizes, quick) for name in DENSITIES},
        "tried": {name: [tried[name, gamma, quick] for gamma in sizes.gammas] for name in TRIED},
        "rated": np.sum(~np.isnan(ratings), axis=1),
    }


def report(found: dict[str, Any], run: Run) -> list[str]:
    sizes, rated, least = (QUICK if run.quick else FULL), found["rated"], np.log2(LEAST_SVM_LAMBDA)
    users = {"n_users": len(rated), "fewest": rated.min(), "mean": rated.mean()}
    return [
        f"# {TITLE}",
        ABOUT.format(sizes=sizes, least=least, **users),
        methods_table(found["errors"]),
        READING,
        f"## {EVERY_PAIR}",
        ABOUT_PAIRS,
        pairs_table(found["errors"], found["ties"]),
        READING,
        f"## {SMALL}",
        ABOUT_SMALL.format(least=least, n=sizes.n_tried),
        lambdas_table(found["tried"], sizes.lambdas),
        READING,
    ]


def test(mine: np.ndarray, other: np.ndarray) -> str:
    """Return the p-value of the signed-rank test; empty if the errors are the same."""
    return f"{wilcoxon(mine, other).pvalue:.1g}" if np.any(mine != other) else ""


def methods_table(found: dict[tuple[str, str], np.ndarray]) -> str:
    cells = []
    for title, method in METHODS.items():
        row = [title]
        for name, published in zip(DENSITIES, method.published or (), strict=bool(method.published)):
            mine = found[name, title]
            row += [f"{published:.3f}", f"{mine.mean():.4f} ± {sem(mine):.4f}", test(mine, found[name, UNIT])]
        cells += [row] if method.published else []
    return table(["method", *(cell for name in DENSITIES for cell in (f"{name}: paper", "ours", "p"))], cells)


def pairs_table(found: dict[tuple[str, str], np.ndarray], ties: dict[str, float]) -> str:
    cells = []
    for name in DENSITIES:
        relevant, every = found[name, MAGNITUDE], found[name, ALL_PAIRS]
        difference = f"{np.mean(every - relevant):+.4f} ± {sem(every - relevant):.4f}"
        means = (f"{relevant.mean():.4f}", f"{every.mean():.4f}")
        cells.append([name, *means, difference, test(every, relevant), f"{ties[name]:.2%}"])
    return table(["ratings", "relevant pairs", "all pairs", "difference", "p", "tied pairs"], cells)


def lambdas_table(tried: dict[str, list[tuple[np.ndarray, np.ndarray]]], lambdas: np.ndarray) -> str:
    n_large = np.count_nonzero(lambdas >= LEAST_SVM_LAMBDA)
    columns = {"lambda": [LARGER, *(f"2^{np.log2(each):.0f}" for each in lambdas[n_large:])]}
    for name, found in tried.items():
        least, seconds = np.min([each[0] for each in found], axis=0), np.sum([each[1] for each in found], axis=0)
        columns[f"{name}: error"] = [f"{each:.4f}" for each in (least[:n_large].min(), *least[n_large:])]
        columns[f"{name}: seconds"] = [f"{each:.1f}" for each in (seconds[:n_large].sum(), *seconds[n_large:])]
    return table(list(columns), zip(*columns.values(), strict=True))


LARGER = f"2^{np.log2(LEAST_SVM_LAMBDA):.0f} … 2^15"


def readings(tables: Tables) -> Iterator[str]:
    yield read_methods(*tables[TITLE])
    yield read_pairs(*tables[EVERY_PAIR])
    yield read_lambdas(*tables[SMALL])


def read_methods(found: Table) -> str:
    ours = [name for name in found[0] if name.startswith("ours")]
    pvalues = [name for name in found[0] if name.startswith("p") and "paper" not in name]
    better = [
        found.column(f"{name}: paper") - found.column(column) for name, column in zip(DENSITIES, ours, strict=True)
    ]

    def row(title: str, columns: list[str]) -> np.ndarray:
        return np.array([number(found.row(title)[column]) for column in columns])

    least = min(row(title, pvalues).min() for title in (MAGNITUDE, SVM, REGRESSION))
    apart = row(RELATIVE, ours) - row(UNIT, ours)
    sparse, middle, dense, every = row(UNIT, ours)
    return f"""
        The errors by density of the reference users are {sparse:.4f}, {middle:.4f} and {dense:.4f} with the unit cost:
        that they fall with density is {verdict(sparse > middle > dense)}. The costs unit and magnitude, RankSVM and the
        regressor do not differ in the paper; here the smallest of the {3 * len(ours)} p-values is {least:g}. That the
        relative cost is worse everywhere is {verdict(*(apart > 0))}, by {apart[0]:.3f} with the sparsest features and
        {apart[-2]:.3f} with the densest, with p-values of {row(RELATIVE, pvalues).max():.0e} at most. It divides by the
        square of a difference, and so gives nearly all weight to pairs of jokes that the user likes almost equally,
        whose order is the least certain.

        Our errors are smaller by {span(np.ravel(better), ".3f")}. The likely reason is that the paper's active users
        may have rated fewer jokes than any user here, and then leave fewer to learn from. *All sizes* has an error of
        {every:.4f} with the unit cost, and 60–80 has {dense:.4f}.

        RLS has an intercept here, so it is RankRLS with the cost (21) and ties kept. Its row differs from the second
        because ties are dropped there, and because lambda is against a sum over rows here and over pairs there.

        RankSVM has the hinge of the pairs of cost (20), and lambda against the same sum. All training jokes are its
        basis, so the kernel is exact, and every solution is within {TOL} of the optimum, by certificate; the objective
        of a constant model is 1. In the paper its row is that of (20) to the last digit; here the two differ by
        {np.abs(row(SVM, ours) - row(UNIT, ours)).max():.4f} at most."""


def read_pairs(found: Table) -> str:
    difference, errors = found.column("difference"), [number(row["difference"].partition("±")[2]) for row in found]
    ratios = [abs(mean) / error for mean, error in zip(difference, errors, strict=True) if error > 0]  # as written
    pvalues = [number(row["p"]) for row in found if row["p"]]
    smallest = f"the smallest of {len(pvalues)} p-values is {min(pvalues):g}" if pvalues else "the errors are the same"
    return f"""
        The paper saw no difference. Here {smallest}, and the errors differ by at most {np.abs(difference).max():.4f},
        or {max(ratios, default=0):.1f} standard errors. Tied pairs are {span(found.column("tied pairs"), ".2f")}% of
        all pairs of training jokes: with so few, the two sets of pairs are nearly the same."""


def read_lambdas(found: Table) -> str:
    smaller = Table(found[1:])
    errors = [f"{name}: error" for name in TRIED]
    gained = [smaller.column(name).min() - found.value(LARGER, name) for name in errors]
    times = [smaller.column(f"{name}: seconds").sum() / found.value(LARGER, f"{name}: seconds") for name in TRIED]
    return f"""
        The least error with a smaller lambda is {gained[0]:+.4f} and {gained[1]:+.4f} away from that with the lambdas
        above, so that smaller lambdas do not help is {verdict(*(each >= 0 for each in gained))} for these users. They
        would take {span(times, ".1f")} times as long as the others, on top of them."""
