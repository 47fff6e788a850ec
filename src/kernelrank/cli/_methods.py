"""Methods of the command line: their estimators, and the options and data that these take."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NamedTuple

from kernelrank import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    GreedyRLS,
    OrdinalSVM,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.cli._kernels import chosen_kernel

_KERNEL = {"kernel": "kernel", "n_basis": "n_basis"}
_QUERIES = {"query_weighting": "query_weighting"}
_SOLVER = {"tol": "tol", "max_iter": "max_iter"}
_SVM = {**_KERNEL, **_SOLVER, "jobs": "n_jobs"}
_SQUARES = {**_KERNEL, **_QUERIES, "ties": "ties", "cost": "cost"}

# Data that options add, in the words of Python functions: the queries are always read.
_OPTION_OF = {"sample_weight": "weight", "observed": "observed", "pairs": "pairs", "targets": "other_targets"}


class Form(NamedTuple):
    """Estimator, its parameters by the names of options, and the data that it takes besides X and y."""

    estimator: Any
    options: dict[str, str]
    takes: frozenset[str]
    basis_if_linear: bool = False  # whether n_basis has an effect with the linear kernel


class Method(NamedTuple):
    """Two forms of a method: with a given alpha, and with a search for alpha, if there is one."""

    fit: Form
    search: Form | None = None

    def form(self, *, search: bool) -> Form | None:
        """Return one of the forms."""
        return self.search if search else self.fit


def _data(*names: str) -> frozenset[str]:
    return frozenset(names)


METHODS: dict[str, Method] = {
    "ranksvm": Method(
        Form(
            RankSVM,
            {**_SVM, **_QUERIES, "loss": "loss", "positive": "positive"},
            _data("qid", "sample_weight", "observed", "pairs"),
        ),
        Form(
            RankSVMCV,
            {**_SVM, **_QUERIES, "loss": "loss", "positive": "positive"},
            _data("qid", "sample_weight", "observed", "pairs"),
        ),
    ),
    "rankrls": Method(
        Form(
            RankRLS,
            {**_SQUARES, **_SOLVER},
            _data("qid", "sample_weight", "observed", "pairs", "magnitude", "targets"),
            True,
        ),
        Form(RankRLSCV, _SQUARES, _data("qid", "targets"), True),
    ),
    "rls": Method(
        Form(RLS, {**_KERNEL, **_SOLVER}, _data("sample_weight", "targets"), True),
        Form(RLSCV, _KERNEL, _data("groups", "targets"), True),
    ),
    "ordinal": Method(Form(OrdinalSVM, _SVM, _data("sample_weight"))),
    "greedy": Method(Form(GreedyRankRLS, {**_QUERIES, "n_features": "n_features"}, _data("qid", "targets"))),
}
# Selection of features, by what is held out.
SELECTIONS: dict[str, Form] = {
    "rankrls": METHODS["greedy"].fit,
    "rls": Form(GreedyRLS, {"n_features": "n_features"}, _data("targets")),
}
_FORMS = [form for method in METHODS.values() for form in method if form is not None] + list(SELECTIONS.values())
_TAKEN: dict[type, frozenset[str]] = {form.estimator: form.takes for form in _FORMS}


def make_model(args: argparse.Namespace, *, search: bool = False, **given: Any) -> Any:
    """Return the estimator of a command, with its parameters; `search` asks for the one that chooses alpha."""
    form = METHODS[args.method].form(search=search)
    if form is None:
        raise ValueError(
            f"--method {args.method} has no search for alpha: set --alpha in train, or use"
            f" {_methods(name for name, method in METHODS.items() if method.search)}."
        )
    # The first argument is alpha, or the alphas.
    return form.estimator(**given, **options_of(args, form, search=search))


def options_of(args: argparse.Namespace, form: Form, *, search: bool) -> dict[str, Any]:
    """Return the options that were set; the estimator has defaults for the others."""
    forms = {name: method.form(search=search) for name, method in METHODS.items()}

    def require(option: str, having: Iterable[str]) -> None:
        told = " with --alpha auto" if search and getattr(args, "alpha", None) == "auto" else ""
        raise ValueError(f"--{option.replace('_', '-')} is for {_methods(having)}{told}.")

    known = {option for each in forms.values() if each is not None for option in each.options}
    known |= {option for method in METHODS.values() for option in method.fit.options}
    for option in sorted(known - form.options.keys() - {"jobs"}):  # jobs also apply to reading files
        if getattr(args, option, None) is not None:
            having = [name for name, each in forms.items() if each is not None and option in each.options]
            require(option, having or [name for name, each in METHODS.items() if option in each.fit.options])
    for taken, option in _OPTION_OF.items():
        if taken not in form.takes and getattr(args, option, None):
            having = [name for name, each in forms.items() if each is not None and taken in each.takes]
            require("target with several columns" if option == "other_targets" else option, having)
    kernel = chosen_kernel(args)
    if kernel is not None and "kernel" not in form.options:
        raise ValueError(
            f"--kernel is for {_methods(n for n, each in forms.items() if each and 'kernel' in each.options)}."
        )
    if args.n_basis is not None and not form.basis_if_linear and kernel in (None, "linear"):
        having = [name for name, each in forms.items() if each is not None and each.basis_if_linear]
        raise ValueError(f"--n-basis is for --kernel gaussian or polynomial, or for {_methods(having)}.")
    values = {parameter: getattr(args, option, None) for option, parameter in form.options.items()}
    return {name: value for name, value in {**values, "kernel": kernel}.items() if value is not None}


def taken_by(model: Any) -> frozenset[str]:
    """Return the names of the data that the fit of an estimator takes besides X and y."""
    return _TAKEN[type(model)]


def _methods(names: Iterable[str]) -> str:
    *others, last = names
    return f"--method {', '.join(others)} or {last}" if others else f"--method {last}"


def parse_alphas(text: str) -> int | list[float]:
    """Parse the number of alphas, or their values."""
    try:
        return int(text) if text.isdecimal() else [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--alphas must be a count or comma-separated numbers, got {text!r}.") from None
