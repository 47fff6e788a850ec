"""The command line: ``kernelrank``, and SVM^rank's two programs by another name.

Nothing in this package imports NumPy before there is work to do: ``--help`` is immediate.
"""

from kernelrank.cli._main import main
from kernelrank.cli._svm_rank import classify, learn

__all__ = ["classify", "learn", "main"]
