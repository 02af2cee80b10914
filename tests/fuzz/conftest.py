"""Limits of memory, and which process crashed, are Linux's to tell."""

from __future__ import annotations

import sys

collect_ignore = [] if sys.platform == "linux" else ["test_fuzz.py"]
