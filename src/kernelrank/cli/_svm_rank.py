r"""Replacements of SVM^rank's ``svm_rank_learn`` and ``svm_rank_classify``.

Arguments, files and their meanings are the same, so that only the program name changes in a script:

========== ========================================================================================
argument   here
========== ========================================================================================
``-c C``   with n queries and N pairs, 1/2 ||w||^2 + C/n sum of slacks is minimised. With ``-l 1``, all pairs have
           equal weight and ``alpha = n / (2 C N)``. With ``-l 2``, all queries have equal weight and
           ``alpha = n / (2 C n')``, where n' of the queries have a comparable pair
``-e eps`` the certified gap, relative to the largest loss, and smaller for a small objective (``tol`` of RankSVM)
``-# k``   maximum number of iterations
``-t``     0: the linear kernel; 1: ``(s a.b + r)^d`` with ``-s``, ``-r`` and ``-d``; 2: ``exp(-g ||a - b||^2)``
           with ``-g``. C keeps its meaning, and ||w|| is the norm of the function
========== ========================================================================================

A pair with equal scores counts as swapped, as in SVM^rank. ``--n-basis`` is not an option of SVM^rank: with a kernel,
memory is needed for a matrix of all rows, or of that number of rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kernelrank.cli._guard import guarded, positive_number

# Options of SVM^rank that are not supported, with the reason.
_REFUSED = {
    "-u": "user-defined kernels are not supported",
    "-a": "dual variables are not computed",
}
# Options that support some values only: these values, with the reason.
_LIMITED = {
    "-t": ((0, 1, 2), "the sigmoid is not positive semi-definite, and there are no user-defined kernels"),
    "-p": ((1,), "slack variables are not squared"),
    "-o": ((2,), "slack rescaling is not implemented"),
}
_KERNELS = "kernel. 0: a.b (default); 1: (s a.b + r)^d; 2: exp(-g ||a-b||^2)"
# Options of SVM^rank's algorithms, which do not change the solution.
_WITHOUT_EFFECT = ("-w", "-k", "-f", "-b", "-n", "-q", "-m", "-h", "-y")
_LEARN_EPILOG = """\
example:
  kr_rank_learn -c 20 -l 2 train.dat model.dat
  kr_rank_learn -c 20 -t 2 -g 0.5 train.dat model.dat

Options of SVM^rank's algorithms (-w -k -f -b -n -q -m -h -y) have no effect; other options raise an error.
"""
_CLASSIFY_EPILOG = """\
example:
  kr_rank_classify test.dat model.dat predictions
"""


def learn(argv: Sequence[str] | None = None) -> int:
    """Train as ``svm_rank_learn`` does.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 for success, 2 for a mistake in the arguments or the data, 3 for a bug.
    """
    parser = _Parser("kr_rank_learn", "Train a ranking SVM as svm_rank_learn does.", _LEARN_EPILOG, _REFUSED)
    parser.add_argument(
        "-c", type=float, default=0.01, metavar="C", help="trade-off of loss against margin (default: 0.01)"
    )
    parser.add_argument("-e", type=float, default=0.001, metavar="EPS", help="tolerance of the gap (default: 0.001)")
    parser.add_argument(
        "-l",
        type=int,
        default=1,
        choices=(1, 2),
        help="1: number of swapped pairs (default); 2: their share, averaged over queries",
    )
    for flag, limits in _LIMITED.items():
        text = _KERNELS if flag == "-t" else argparse.SUPPRESS
        parser.add_argument(
            flag, type=float, action=_Limited, const=limits, default=limits[0][0], metavar="K", help=text
        )
    parser.add_argument("-d", type=int, default=3, help="degree of -t 1 (default: 3)")
    parser.add_argument("-g", type=float, default=1.0, help="gamma of -t 2 (default: 1)")
    parser.add_argument("-s", type=float, default=1.0, help="scale of -t 1 (default: 1)")
    parser.add_argument("-r", type=float, default=1.0, help="constant term of -t 1 (default: 1)")
    parser.add_argument(
        "--n-basis",
        type=positive_number,
        metavar="N",
        help="-t 1 and 2: expand the model in N randomly drawn rows (default: all rows)",
    )
    for flag in _WITHOUT_EFFECT:
        parser.add_argument(flag, default=None, help=argparse.SUPPRESS)
    parser.add_argument("-v", type=int, default=1, choices=range(4), help="verbosity; 0: no output (default: 1)")
    parser.add_argument(
        "-#", dest="max_iter", type=int, default=100_000, metavar="N", help="maximum number of iterations"
    )
    parser.add_argument("train", help="svmlight file; rows of a query have the same qid")
    parser.add_argument(
        "model", nargs="?", default="svm_struct_model", help="file to save the model to (default: %(default)s)"
    )
    return _run(parser, "learn", argv)


def classify(argv: Sequence[str] | None = None) -> int:
    """Predict as ``svm_rank_classify`` does.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 for success, 2 for a mistake in the arguments or the data, 3 for a bug.
    """
    parser = _Parser("kr_rank_classify", "Score rows as svm_rank_classify does.", _CLASSIFY_EPILOG)
    parser.add_argument("-h", action="help", help=argparse.SUPPRESS)
    parser.add_argument("-y", help=argparse.SUPPRESS)  # verbosity of SVM^light, without effect
    parser.add_argument("-v", type=int, default=2, choices=range(4), help="verbosity; 0: no output (default: 2)")
    parser.add_argument("test", help="svmlight file")
    parser.add_argument("model", help="model file written by kr_rank_learn or svm_rank_learn")
    parser.add_argument(
        "predictions",
        nargs="?",
        default="svm_predictions",
        help="file for the scores, one per line (default: %(default)s)",
    )
    return _run(parser, "classify", argv)


def _run(parser: argparse.ArgumentParser, command: str, argv: Sequence[str] | None) -> int:
    args = parser.parse_args(argv)

    def work() -> int:
        return int(getattr(import_module("kernelrank.cli._svm_rank_commands"), command)(args))

    return guarded(parser.prog, work)


class _Parser(argparse.ArgumentParser):
    """Parser that accepts -? for help and explains options of SVM^rank that are not supported."""

    def __init__(self, prog: str, description: str, epilog: str, refused: dict[str, str] | None = None) -> None:
        self._refused = refused or {}
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument("-?", "--help", action="help", help="show this help message and exit")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, others = self.parse_known_args(args, namespace)
        for flag in others:
            if flag[:2] in self._refused:
                self.error(f"{flag[:2]} of SVM^rank is not supported: {self._refused[flag[:2]]}")
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known


class _Limited(argparse.Action):
    """Action that accepts some values only; `const` holds these and the reason."""

    def __call__(self, parser: argparse.ArgumentParser, found: Any, value: Any, flag: str | None = None) -> None:
        allowed, reason = self.const
        if value not in allowed:
            parser.error(f"{flag} {value:g} of SVM^rank is not supported: {reason}")
        setattr(found, self.dest, value)
