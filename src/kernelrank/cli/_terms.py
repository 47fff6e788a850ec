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
    (r"^cv must be None for strategy='(.*)', which", r"--folds cannot be used with --strategy \1, which"),
    (r"^cv asks for", "--folds asks for"),
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
