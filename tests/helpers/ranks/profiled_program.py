"""A program that communicates, of which ranks ask how long its steps take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from portpart.backends.language import kernel
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Parcel


@kernel
def begin_rounds(_, state):
    """Three rounds are to go."""
    state[0] = 3


@kernel
def end_round(_, state):
    """One round less to go."""
    state[0] -= 1


def profiled(space: Any) -> tuple[Any, Callable[[Any], None]]:
    """A program of three rounds with a sum in each, and an exchange behind; and what runs it."""
    program = Program("profiled")
    state, send, recv, counts = (program.array(name, np.int64)
                                 for name in ("state", "send", "recv", "counts"))
    program.launch(1, begin_rounds)
    with program.while_loop(state[0]):
        program.all_reduce(state, 1, 1)
        program.launch(1, end_round)
    program.all_to_all(Parcel(send=send, send_counts=counts, recv=recv, recv_counts=counts))
    executable = space.executable(program)

    def run(comm: Any) -> None:
        arrays = {name: space.zeros(2 * comm.size, np.int64) for name in ("state", "send", "recv")}
        executable.run({**arrays, "counts": space.full(comm.size, 2, np.int64), "comm": comm}, 1)

    return executable, run
