"""What can be known to be too much for a space before any work."""

from __future__ import annotations

from portpart.algorithms.refinement.sizes import RefinementSizes
from portpart.algorithms.refinement.work_arrays import refining_bytes
from portpart.backends.interface import ExecutionSpace
from portpart.errors import OutOfMemory
from portpart.graphs.hypergraph import EitherGraph, Hypergraph

ASKED_FROM = 2**28
"""Less than this many bytes are taken without asking what is free."""


def check_memory_limit(space: ExecutionSpace, k: int, graph: EitherGraph | None = None) -> None:
    """Raise if the arrays that every call has for k blocks, or those of nets, exceed all memory."""
    needed, cause = refining_bytes(RefinementSizes(0, 0, k)), "whatever the graph,"
    if isinstance(graph, Hypergraph):
        from portpart.algorithms.objectives.pin_state import net_sizes
        from portpart.algorithms.refinement.nets.state import net_bytes

        needed += net_bytes(net_sizes(graph, k))
        cause = f"for {graph.num_nets:,} nets,"
    if needed <= ASKED_FROM:
        return
    free = space.free_bytes()
    if free is not None and needed > free:
        from portpart.api.memory_model import readable

        raise OutOfMemory(f"{k} blocks take {readable(needed)}, {cause} and "
                          f"{space.name} has {readable(free)}")
