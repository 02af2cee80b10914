"""Lists of nets, and hubs of a hypergraph in chunks."""

from __future__ import annotations

from portpart.algorithms import objectives
from portpart.algorithms.refinement.gains import ON_BOUNDARY, ActiveSets, GainCache, mark_dirty
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.nets.state import HUB_CHUNK, HubChunks, NetLists
from portpart.backends import language as kl
from portpart.graphs import degree_of

# Lists of nets: each net is on at most one of them, once ---------------------------------------


@kl.device
def list_net(net, small, large, sets: objectives.PinSets, lists: NetLists):
    """Put a net on the list of its kind, once; `small` and `large` are the words that count them.

    The order of the lists is arbitrary.
    """
    if kl.atomic_load(lists.is_listed, net) == 0:
        if kl.atomic_cas(lists.is_listed, net, kl.int32(0), kl.int32(1)) == 0:
            if sets.row[net] < 0:
                lists.small_list[kl.atomic_next(lists, small)] = net
            else:
                lists.large_list[kl.atomic_next(lists, large)] = net


@kl.device
def claim_net(net, listed, selected, lists: NetLists):
    """Return 1 if the caller must put a selected net on its list, else 0.

    `listed` is whether the net was listed a moment ago.
    """
    claimed = kl.int64(0)
    if selected != 0 and listed == 0:
        claimed = kl.int64(kl.atomic_cas(lists.is_listed, net, kl.int32(0), kl.int32(1)) == 0)
    return claimed


@kl.device
def places_on_list(count, small, lists: NetLists):
    """Return the first of `count` places for this lane on the list of small nets.

    Called by all lanes of a team.
    """
    until = kl.team_scan(count)
    total = kl.team_last(until)
    first = kl.int64(0)
    if total > 0:
        if kl.lane() == kl.team_size() - 1:
            first = kl.atomic_add(lists, small, total)
        first = kl.team_last(first)
    return first + until - count


@kl.device
def list_claimed(net, claimed, place, large, sets: objectives.PinSets, lists: NetLists):
    """Put a claimed net on its list, a small one at `place`; return the next place."""
    after = kl.int64(place)
    if claimed != 0:
        if sets.row[net] < 0:
            lists.small_list[place] = kl.int32(net)
            after += 1
        else:
            lists.large_list[kl.atomic_next(lists, large)] = kl.int32(net)
    return after


@kl.device
def nets_within(place, end):
    """Return a bit for each of this lane's places from `place` on that is before the end."""
    within = kl.int64(0)
    for j in kl.static_range(objectives.AT_ONCE):
        within += kl.int64(place + j * kl.team_size() < end) << j
    return within


@kl.device
def list_nets(nets: objectives.AtOnce, selected, small, large, sets: objectives.PinSets,
              lists: NetLists):
    """Put the nets of a lane whose bits in `selected` are set on the lists of their kinds, once.

    Each access is issued for all nets before any is waited for.  The order is arbitrary.  Called by
    all lanes of a team.
    """
    listed = objectives.AtOnce()
    claimed = objectives.AtOnce()
    for j in kl.static_range(objectives.AT_ONCE):
        listed[j] = kl.atomic_load(lists.is_listed, nets[j])
    for j in kl.static_range(objectives.AT_ONCE):
        claimed[j] = claim_net(nets[j], listed[j], selected & (1 << j), lists)
    count = kl.int64(0)
    for j in kl.static_range(objectives.AT_ONCE):
        count += claimed[j] * kl.int64(sets.row[nets[j]] < 0)
    place = places_on_list(count, small, lists)
    for j in kl.static_range(objectives.AT_ONCE):
        place = list_claimed(nets[j], claimed[j], place, large, sets, lists)
    return place


@kl.device
def unlist(net, lists: NetLists):
    """Mark a net as not listed."""
    lists.is_listed[net] = kl.int32(0)


@kl.kernel
def empty_lists(_, lists: NetLists):
    """Empty all lists."""
    lists.small_listed = 0
    lists.large_listed = 0
    lists.small_touched = 0
    lists.large_touched = 0


# Hubs of a hypergraph in chunks, on which many teams work at the same time ---------------------


@kl.device
def end_of_chunk(p, graph: objectives.NetRows, hub_chunks: HubChunks):
    """Return the end of a chunk of a hub."""
    v = hub_chunks.vertex[p]
    return min(kl.int64(graph.end[v]), hub_chunks.begin[p] + HUB_CHUNK)


@kl.kernel
def split_hub(i, graph: objectives.NetRows, hub_sums: objectives.HubSums, hub_chunks: HubChunks,
              cache: GainCache, active: ActiveSets):
    """List the chunks of hub i, whose connectivity must be summed up, in any order."""
    v = active.hub_list[i]
    count = (degree_of(v, graph) + HUB_CHUNK - 1) // HUB_CHUNK
    first = kl.atomic_add(hub_chunks, HubChunks.chunks, count)
    for j in range(count):
        hub_chunks.vertex[first + j] = v
        hub_chunks.begin[first + j] = graph.begin[v] + j * HUB_CHUNK
    if graph.sets.width == 1:
        objectives.take_row_of_sums(v, i, hub_sums)
    mark_dirty(v, cache)


@kl.kernel
def clear_sums(i, graph: objectives.NetRows, cache: GainCache, active: ActiveSets):
    """Clear the sums of hub i if its connectivity has changed."""
    v = active.hub_list[i]
    if cache.is_dirty[v] != 0:
        objectives.clear_sums_of(v, graph)


@kl.kernel
def sum_chunk(p, graph: objectives.NetRows, hub_chunks: HubChunks, moves: Moves, cache: GainCache,
              active: ActiveSets, sums: objectives.PieceSums):
    """Add chunk p to the sums of its hub, if these are rebuilt."""
    connections = objectives.ConnectivityTable(blocks=kl.team_array(kl.int32, 1),
                                               weights=kl.team_array(sums.counter, sums.words),
                                               order=kl.team_array(kl.int8, 1))
    v = hub_chunks.vertex[p]
    if cache.is_dirty[v] != 0:
        is_boundary = active.flags[v] & ON_BOUNDARY != 0
        objectives.add_to_sums(v, hub_chunks.begin[p], end_of_chunk(p, graph, hub_chunks),
                               kl.int64(moves.part[v]), is_boundary, graph, connections, sums)
