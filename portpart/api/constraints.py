"""What a caller wants of vertices and of time, checked and brought to the device."""

from __future__ import annotations

from typing import Any

from portpart.algorithms.multilevel.constraints import Constraints, deadline_check
from portpart.api.bounds import FREE, block_array, start_with_fixed
from portpart.api.vertex_names import blocks_by_vertex, refuse_partial
from portpart.graphs.hypergraph import EitherGraph


def constraints_of(graph: EitherGraph, k: int, fixed: Any, initial: Any,
                   deadline: float) -> Constraints:
    """The constraints of a call; `deadline` is a reading of ``time.perf_counter``.

    Raises
    ------
    InputError
        If a vertex has no block, or none of 0 ... k - 1.
    """
    space, n = graph.space, graph.num_vertices
    fixed = block_array(space, blocks_by_vertex(fixed, "fixed", graph), n, k, "fixed", FREE)
    refuse_partial(initial, "initial", graph)
    initial = block_array(space, blocks_by_vertex(initial, "initial", graph), n, k, "initial", 0)
    return Constraints(fixed, start_with_fixed(space, initial, fixed),
                       deadline_check(space, deadline))
