"""Mutation testing: put one defect at a time into the sources, and see whether the tests notice.

    python tests/mutants.py                      all mutants of tests/mutant_table.py
    python tests/mutants.py metrics _bundle      those of files whose path contains one of the words
    python tests/mutants.py --root ../other      sources and tests of another checkout

Mutants of Python files are put in by an import hook, in a process that is forked for each: the working tree stays
as it is, and programs that tests start do not see them. Mutants of C++ files are built from a copy, in build/mutants.
Prints one line per mutant with the first test that failed, then the survivors; the exit status is their number.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from importlib.abc import MetaPathFinder
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import NamedTuple

from mutant_table import MUTANTS


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    tests: str

    def __str__(self):
        return f"{self.file}: {' '.join(self.old.split())} -> {' '.join(self.new.split()) or 'nothing'}"


class Outcome(NamedTuple):
    killed: bool
    how: str  # the test that failed first, or what became of the run


def all_mutants(words=()):
    """Return the mutants of files whose path contains one of the words, or all without any."""
    return [
        Mutant(file, old, new, tests)
        for file, (tests, changes) in MUTANTS.items()
        for old, new in changes
        if not words or any(word in file for word in words)
    ]


def mutate(text, mutant):
    """Return the text of a file with the mutant in it."""
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file} has {text.count(mutant.old)} places with {mutant.old!r}, one is expected.")
    return text.replace(mutant.old, mutant.new)


class _MutatedLoader(SourceFileLoader):
    source = ""

    def get_code(self, fullname):
        return compile(self.source, self.path, "exec")


class ImportHook(MetaPathFinder):
    """Import hook that replaces the source of one module."""

    def __init__(self, path, source):
        parts = path.relative_to(path.parents[[p.name for p in path.parents].index("src")]).with_suffix("").parts
        self._name, self._loader = ".".join(parts), _MutatedLoader(".".join(parts), str(path))
        self._loader.source = source

    def find_spec(self, fullname, path=None, target=None):
        """Find the mutated module, and no other."""
        return spec_from_file_location(fullname, loader=self._loader) if fullname == self._name else None


def build_core(root, mutant):
    """Compile the core with a mutant of a C++ file, and return the folder of the module."""
    copy, build = root / "build" / "mutants" / "source", root / "build" / "mutants" / "build"
    for name in ("CMakeLists.txt", "cpp"):
        # Only what differs is written, so that only that is compiled.
        for path in [root / name] if (root / name).is_file() else sorted((root / name).rglob("*.?pp")):
            target = copy / path.relative_to(root)
            text = path.read_text()
            text = mutate(text, mutant) if str(path.relative_to(root)) == mutant.file else text
            if not target.exists() or target.read_text() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not (build / "build.ninja").exists():
        nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
        ninja = shutil.which("ninja", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        options = [
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dnanobind_DIR={nanobind}",
            f"-DCMAKE_MAKE_PROGRAM={ninja}",
        ]
        configure = [cmake, "-S", copy, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", build], check=True, stdout=subprocess.DEVNULL)
    return build


def run_tests(root, mutant, log):
    """Run the tests of a mutant, in this process, and return the exit status of pytest."""
    import pytest

    os.chdir(root)
    sys.path.insert(0, str(root / "src"))
    if mutant.file.startswith("src/"):
        path = root / mutant.file
        sys.meta_path.insert(0, ImportHook(path, mutate(path.read_text(), mutant)))
    else:
        os.environ["KERNELRANK_CORE"] = str(build_core(root, mutant))
    tests = [test for test in mutant.tests.split() if (root / test).exists()]
    with open(log, "w") as file, contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
        return pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "-rf", *tests])


def judge(root, mutant, seconds):
    """Run the tests of a mutant in a process of its own, and say whether it was noticed."""
    with tempfile.NamedTemporaryFile("r+") as log:
        child = os.fork()
        if child == 0:
            signal.alarm(seconds)  # a mutant may loop for ever: that is noticed as well
            try:
                os._exit(int(run_tests(root, mutant, log.name)))
            except BaseException:
                traceback.print_exc()
                os._exit(70)
        _, status = os.waitpid(child, 0)
        text = log.read()
    failed = [line.split(" - ")[0] for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if os.WIFSIGNALED(status):
        return Outcome(True, f"ended by signal {os.WTERMSIG(status)}")
    code = os.WEXITSTATUS(status)
    if code not in (0, 1, 2):
        raise RuntimeError(f"pytest ended with status {code} for {mutant}:\n{text[-2000:]}")
    return Outcome(code != 0, failed[0] if failed else ("it cannot be imported" if code else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--seconds", type=int, default=900, help="after which a mutant counts as noticed")
    arguments = parser.parse_args()
    import scipy.stats  # noqa: F401 - once, before the forks
    import sklearn.utils.estimator_checks  # noqa: F401

    chosen, survivors = all_mutants(arguments.words), []
    for number, mutant in enumerate(chosen, 1):
        outcome = judge(arguments.root.resolve(), mutant, arguments.seconds)
        print(
            f"{number}/{len(chosen)} {'killed  ' if outcome.killed else 'SURVIVED'} {mutant}  [{outcome.how}]",
            flush=True,
        )
        if not outcome.killed:
            survivors.append(mutant)
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} mutants killed. Survivors:", *survivors, sep="\n  ")
    return min(len(survivors), 100)


if __name__ == "__main__":
    sys.exit(main())
