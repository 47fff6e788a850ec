"""Messages of the library in the terms of the command line: options instead of arguments of Python functions."""

from __future__ import annotations

import re

_REPLACED: tuple[tuple[str, str], ...] = ((r"drop=\['(.*)'\]", r"--drop '\1'"),)


def in_terms_of_options(message: str) -> str:
    """Replace arguments of Python functions in a message by options."""
    for pattern, replacement in _REPLACED:
        message = re.sub(pattern, replacement, message)
    return message
