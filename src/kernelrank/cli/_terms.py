"""Messages of the library in the terms of the command line: options instead of arguments of Python functions."""

from __future__ import annotations

import re

_REPLACED: tuple[tuple[str, str], ...] = (
    (r"drop=\['(.*)'\]", r"--drop '\1'"),
    (r"\(drop\)\.", "(--drop)."),
    (r"name it in categorical\.", "name it with --categorical."),
    (r": (categorical|drop|keep): ", r": --\1: "),
    (r": frame has no column", ": there is no column"),
    (r"Use to_onnx, or fit with kernel=\"linear\"", "Use --to onnx, or train with --kernel linear"),
    (r"^cv asks for", "--folds asks for"),
    (r"^cv must be None or a number of folds of at least 2, .*, got", "--folds must be at least 2, got"),
    (r"^cv must be None for strategy='([\w-]*)', which", r"--folds cannot be used with --strategy \1, which"),
    (r"^strategy='([\w-]*)' takes no qid:", r"--strategy \1 cannot be used with queries:"),
    (r"^interval=\"jackknife\" is for", "--interval jackknife is for"),
    (r", but groups must contain whole queries", ", but --groups must contain whole queries"),
    (r"Pass groups that keep identical rows together", "Set --groups to keep identical rows together"),
    (r"^n_jobs must be None or", "--jobs must be"),
    (r"^random_state must be None or (.*) or a numpy\.random\.RandomState, got", r"--seed must be \1, got"),
    (
        r"^\w+ has no closed form for one ranking with (cost|ties)=\"(\w+)\": refit, .*",
        r"--\1 \2 has no search for alpha without queries: set --qid, or --alpha in train.",
    ),
    (r"Fit one output, or use to_onnx", "Train with one --target, or use --to onnx"),
    (r"^feature_names ", "--feature-names "),
    (r"^bounds ", "--bounds "),
    (r"^table cannot", "--table cannot"),
    (r"^name must not", "--name must not"),
    (r"^n_features is", "--n-features is"),
    (r", for example with sklearn\.preprocessing\.StandardScaler, or pass smaller ones", ", or set smaller --alphas"),
    (r"Pass smaller ones as well, or a number of alphas", "Set smaller --alphas as well, or a number of them"),
    (r"Pass larger ones as well", "Set larger --alphas as well"),
    (
        r"^\w+ is fitted without queries, but the feature '(.*)' is named like a column of query ids\. .*",
        r"column '\1' is named like query ids, but it is used as an ordinary feature, and all rows are compared with"
        r" each other; use --qid \1, or --drop \1",
    ),
)


def in_terms_of_options(message: str) -> str:
    """Replace arguments of Python functions in a message by options."""
    for pattern, replacement in _REPLACED:
        message = re.sub(pattern, replacement, message)
    return message
