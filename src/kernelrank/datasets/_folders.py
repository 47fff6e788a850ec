"""Files of a published layout in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kernelrank._rules import PATH
from kernelrank.io._files import COMPRESSED


def require_folder(folder: str | os.PathLike[str], content: str) -> Path:
    """Return the path of a folder, if there is one; `content` is what it is expected to hold, for the error."""
    PATH("folder", folder)
    path = Path(folder)
    if path.is_dir():
        return path
    if path.exists():
        raise NotADirectoryError(f"folder must be a folder that holds {content}, but {path} is a file.")
    raise FileNotFoundError(f"folder must be a folder that holds {content}, but {path} does not exist.")


def find_file(folder: Path, *names: str) -> Path | None:
    """Return the only file in a folder that has one of some names, or one followed by the suffix of a compression."""
    found = [folder / f"{name}{suffix}" for name in names for suffix in ("", *COMPRESSED)]
    found = [path for path in found if path.is_file()]
    if len(found) > 1:
        raise ValueError(f"folder must have one of {join(path.name for path in found)}, but {folder} has all of them.")
    return found[0] if found else None


def missing(folder: Path, expected: str, remedy: str = "") -> FileNotFoundError:
    """Return an error for a folder without an expected file, which lists what is there."""
    there = sorted(path.name for path in folder.iterdir())
    shown = f"has only {join(there[:8])}{' and more' if len(there) > 8 else ''}" if there else "is empty"
    return FileNotFoundError(f"folder must hold {expected}, but {folder} {shown}.{remedy}")


def join(names: Iterable[str]) -> str:
    """Return names as an enumeration."""
    return ", ".join(names)
