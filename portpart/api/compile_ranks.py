"""Code that several GPUs need for a call, made before anyone waits for it.

What ranks do next follows from their messages, so their calls cannot be rehearsed
without data.  A small call is made on the processor instead, and what GPUs would need is noted.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.coarsening.rank_hierarchy import Fold
from portpart.api.call_options import CallOptions
from portpart.api.rank_call import divided
from portpart.backends.communication import Communicator, Local
from portpart.backends.communication.plan import planned
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.interface import Executable, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.program import Program
from portpart.graphs.distribution import distributed
from portpart.graphs.graph import Graph
from portpart.graphs.reverse_arcs import check_reverse_arcs
from portpart.graphs.row_checks import checked_rows
from portpart.graphs.row_range import VERTEX_COST, balanced_borders

RANKS = 2

FOLDED = 32
"""The whole graph over the largest graph that every rank has as a whole: both kinds of levels are
worked on."""


class NotingSpace(CpuSpace):
    """The processor, in place of a GPU: what is run is noted.

    Parameters
    ----------
    stage : ExecutionSpace
        Of a GPU of which there is nothing but its compiler.
    """

    kind, name = "cuda", "recording"

    def __init__(self, stage: ExecutionSpace) -> None:
        super().__init__()
        self.stage, self.widest_team = stage, stage.widest_team

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        if n > 0:
            self.stage.parallel_for(n, kernel, *args, team=team)
        super().parallel_for(n, kernel, *args, team=team)

    def executable(self, program: Program) -> Executable:
        self.stage.executable(program)
        return super().executable(program)


def note_rank_call(stage: ExecutionSpace, graph: Graph, options: CallOptions) -> None:
    """Have the code asked for that ranks on GPUs need for a call on such a graph.

    Parameters
    ----------
    stage : ExecutionSpace
    graph : Graph
        Of the host.
    options : CallOptions
    """
    space = NotingSpace(stage)
    offsets = graph.offsets.astype("int64")
    first = balanced_borders(lambda v: int(offsets[v]), graph.num_vertices, graph.num_arcs, RANKS,
                             VERTEX_COST)
    fold = Fold(graph.num_vertices // FOLDED, graph.num_arcs // FOLDED)

    def main(comm: Communicator) -> None:
        low, high = first[comm.rank : comm.rank + 2]
        arcs = slice(int(offsets[low]), int(offsets[high]))
        rows = planned(comm, lambda: checked_rows(
            low, graph.num_vertices, offsets[low : high + 1] - offsets[low], graph.targets[arcs],
            None if graph.weights is None else graph.weights[arcs],
            None if graph.vertex_weights is None else graph.vertex_weights[low:high], space))
        made = distributed(comm, rows)
        check_reverse_arcs(made)
        divided(made, options, fold)

    Local(RANKS).run(main)
