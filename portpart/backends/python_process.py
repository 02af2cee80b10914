"""Whether another Python can be started beside this one."""

from __future__ import annotations

import sys
from pathlib import Path


def can_be_started() -> bool:
    """Whether there is a Python that runs a file of this package."""
    return (Path(sys.executable or "").name.lower().startswith("python")
            and not getattr(sys, "frozen", False) and Path(__file__).is_file())
