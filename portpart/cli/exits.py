"""What the exit codes of the command line mean."""

from __future__ import annotations

OK = 0
INFEASIBLE = 1
BAD_INPUT = 2
UNAVAILABLE = 3
DEFECT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141
