"""``python -m portpart.cli``: the command line if the entry point is not on the path."""

from __future__ import annotations

import sys

from portpart.cli.process import run

if __name__ == "__main__":
    sys.exit(run())
