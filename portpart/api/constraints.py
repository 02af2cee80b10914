"""What a caller wants of vertices and of time, checked and brought to the device."""

from __future__ import annotations

from portpart.algorithms.multilevel.constraints import Constraints, deadline_check
from portpart.api.bounds import FREE, block_array, start_with_fixed
from portpart.api.call_options import CallOptions
from portpart.api.vertex_names import blocks_by_vertex, refuse_partial
from portpart.graphs.hypergraph import EitherGraph


def constraints_of(graph: EitherGraph, options: CallOptions) -> Constraints:
    """The constraints of a call.

    Raises
    ------
    InputError
        If a vertex has no block, or none of 0 ... k - 1.
    """
    space, n, k = graph.space, graph.num_vertices, options.k
    fixed = block_array(space, blocks_by_vertex(options.fixed, "fixed", graph), n, k, "fixed",
                        FREE)
    refuse_partial(options.initial, "initial", graph)
    initial = block_array(space, blocks_by_vertex(options.initial, "initial", graph), n, k,
                          "initial", 0)
    return Constraints(fixed, start_with_fixed(space, initial, fixed),
                       deadline_check(space, options.deadline))
