"""Command line: ``kernelrank``, and replacements of SVM^rank's two programs.

No module of this package imports NumPy before a command runs, so ``--help`` is immediate.
"""

from kernelrank.cli._main import main
from kernelrank.cli._svm_rank import classify, learn

__all__ = ["classify", "learn", "main"]
