"""Methods of the command line: their estimators, and the options and data that these take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
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


# Options that commands have for themselves, whatever the method.
_OF_COMMANDS = {"folds", "seed"}


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
    "rankrls": Form(
        GreedyRankRLS,
        {**_QUERIES, "n_features": "n_features", "folds": "cv", "seed": "random_state"},
        _data("qid", "targets"),
    ),
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
    return form.estimator(**given, **options_of(args, form, search=search))


def options_of(args: argparse.Namespace, form: Form, *, search: bool) -> dict[str, Any]:
    """Return the options that were set; the estimator has defaults for the others."""
    _check_options(args, form, search=search)
    kernel = chosen_kernel(args)
    if kernel is not None and "kernel" not in form.options:
        raise ValueError(f"--kernel is for {_methods(_having(lambda each: 'kernel' in each.options, search))}.")
    if args.n_basis is not None and not form.basis_if_linear and kernel in (None, "linear"):
        having = _methods(_having(lambda each: each.basis_if_linear, search))
        raise ValueError(f"--n-basis is for --kernel gaussian or polynomial, or for {having}.")
    values = {parameter: getattr(args, option, None) for option, parameter in form.options.items()}
    return {name: value for name, value in {**values, "kernel": kernel}.items() if value is not None}


def _check_options(args: argparse.Namespace, form: Form, *, search: bool) -> None:
    """Raise an error for an option that the estimator does not have, or for data that it does not take."""
    told = " with --alpha auto" if search and getattr(args, "alpha", None) == "auto" else ""
    known = {option for each in _FORMS for option in each.options} - {"jobs"}  # jobs also apply to reading files
    for option in sorted(known - form.options.keys() - _OF_COMMANDS):
        if getattr(args, option, None) is not None:
            having = _having(lambda each: option in each.options, search)  # noqa: B023 - called at once
            raise ValueError(f"--{option.replace('_', '-')} is for {_methods(having)}{told}.")
    for taken, option in _OPTION_OF.items():
        if taken not in form.takes and getattr(args, option, None):
            having = _having(lambda each: taken in each.takes, search)  # noqa: B023 - called at once
            what = "target with several columns" if taken == "targets" else option
            raise ValueError(f"--{what} is for {_methods(having)}{told}.")


def _having(has: Callable[[Form], bool], search: bool) -> list[str]:
    """Return the methods whose form has something; if no search has it, those with a given alpha."""
    forms = {name: method.form(search=search) for name, method in METHODS.items()}
    found = [name for name, form in forms.items() if form is not None and has(form)]
    return found or [name for name, method in METHODS.items() if has(method.fit)]


def make_selection(args: argparse.Namespace) -> Any:
    """Return the estimator that selects features, with its parameters."""
    form = SELECTIONS[args.method]
    given = {
        option: getattr(args, option) for each in SELECTIONS.values() for option in each.options if option in vars(args)
    }
    for option in (option for option, value in given.items() if value is not None and option not in form.options):
        having = (name for name, each in SELECTIONS.items() if option in each.options)
        raise ValueError(f"--{option.replace('_', '-')} is for {_methods(having)}.")
    for taken, option in _OPTION_OF.items():
        if taken not in form.takes and getattr(args, option, None):
            raise ValueError(f"--{option} cannot be used to select features.")
    parameters = {name: given[option] for option, name in form.options.items() if given[option] is not None}
    return form.estimator(alpha=args.alpha, **parameters)


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
