"""Entry point of ``python -m kernelrank``, the command line."""

import sys

from kernelrank.cli import main

if __name__ == "__main__":
    sys.exit(main())
