"""Hubs of a hypergraph in pieces, which many teams work on at the same time."""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import ConnectivityTable
from portpart.algorithms.objectives.hub_connectivity import (
    PieceSums,
    add_to_sums,
    clear_sums_of,
    take_row_of_sums,
)
from portpart.algorithms.objectives.pin_state import HubSums, NetRows
from portpart.algorithms.refinement.gains.active_sets import ON_BOUNDARY
from portpart.algorithms.refinement.gains.dirty_list import mark_dirty
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.nets.state import HUB_CHUNK, HubChunks
from portpart.backends import language as kl
from portpart.graphs.rows import degree_of


@kl.device
def end_of_chunk(p, graph: NetRows, hub_chunks: HubChunks):
    """Where a piece of a hub ends."""
    v = hub_chunks.vertex[p]
    return min(kl.int64(graph.end[v]), hub_chunks.begin[p] + HUB_CHUNK)


@kl.kernel
def split_hub(i, graph: NetRows, hub_sums: HubSums, hub_chunks: HubChunks, cache: GainCache,
              active: ActiveSets):
    """List the chunks of hub i, whose connectivity must be summed up.  In any order."""
    v = active.hub_list[i]
    count = (degree_of(v, graph) + HUB_CHUNK - 1) // HUB_CHUNK
    first = kl.atomic_add(hub_chunks, HubChunks.chunks, count)
    for j in range(count):
        hub_chunks.vertex[first + j] = v
        hub_chunks.begin[first + j] = graph.begin[v] + j * HUB_CHUNK
    if graph.sets.width == 1:
        take_row_of_sums(v, i, hub_sums)
    mark_dirty(v, cache)


@kl.kernel
def clear_sums(i, graph: NetRows, cache: GainCache, active: ActiveSets):
    """The sums of hub i are rebuilt if what ties it to blocks has changed."""
    v = active.hub_list[i]
    if cache.is_dirty[v] != 0:
        clear_sums_of(v, graph)


@kl.kernel
def sum_chunk(p, graph: NetRows, hub_chunks: HubChunks, moves: Moves, cache: GainCache,
              active: ActiveSets, sums: PieceSums):
    """Add piece p to the sums of its hub, if these are rebuilt."""
    connections = ConnectivityTable(blocks=kl.team_array(kl.int32, 1),
                                    weights=kl.team_array(sums.counter, sums.words),
                                    order=kl.team_array(kl.int8, 1))
    v = hub_chunks.vertex[p]
    if cache.is_dirty[v] != 0:
        is_boundary = active.flags[v] & ON_BOUNDARY != 0
        add_to_sums(v, hub_chunks.begin[p], end_of_chunk(p, graph, hub_chunks),
                    kl.int64(moves.part[v]), is_boundary, graph, connections, sums)
