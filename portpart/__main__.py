"""The process of the command line; ``python -m portpart`` if the entry point is not on the path."""

from __future__ import annotations

import os
import sys


def run() -> int:
    """Run the command line; return the exit code, if Python itself must end.

    OpenBLAS starts a thread for each core when NumPy is imported, which takes up to a quarter of
    the time of a small call. Commands multiply no large matrices.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from portpart.cli import process

    return process.run()


if __name__ == "__main__":
    sys.exit(run())
