"""Regions of a graph of several ranks: vertices near each other, on any ranks.

Regions grow from vertices that a hash draws, all at once, by one arc in each round.  A vertex that
several regions reach in the same round joins the smallest number.  So regions depend only on the
graph, and on the owners of vertices that no region reaches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, global_id
from portpart.graphs.ranks.ghosts import owned, values_for_ghosts
from portpart.graphs.ranks.rank_rows import DistributedGraph

SPACING, MAX_SEEDS = 64, 1 << 15
"""A region begins at one of SPACING vertices, at fewer if that would be more than MAX_SEEDS."""

MAX_ROUNDS = 256

SEED = 0x5EED

ROUND = 1 << 16
"""More than the number of regions: a reach is the round times this number, plus the region."""

UNREACHED = 2**31 - 1


class Regions(NamedTuple):
    """The regions of the vertices of a rank.

    Attributes
    ----------
    region : array of int32
        Regions of own vertices and ghosts.
    number : int
        Number of regions.  The last regions, one for each rank, have the vertices of the rank that
        no other region has reached.
    """

    region: Array
    number: int


class RegionGrowth(kl.Record):
    """Growing regions; sizes are the number of own vertices, and of these and ghosts.

    Attributes
    ----------
    reach : array of int32
        For own vertices, the first round in which a region has reached it, and the smallest such
        region; for ghosts, the value that was sent to the owner.  Else `UNREACHED`.
    reached : array of int32
        Own vertices that regions reach in this round.
    ghosts : array of int32
        Ghosts that regions reach for the first time.
    own : int
    num_reached, num_ghosts : int
        Lengths of the lists.
    """

    reach: Array = kl.work(np.int32, lambda sizes: sizes[1])
    reached: Array = kl.work(np.int32, lambda sizes: sizes[0])
    ghosts: Array = kl.work(np.int32, lambda sizes: sizes[1] - sizes[0])
    own: int = kl.word()
    num_reached: int = kl.word()
    num_ghosts: int = kl.word()


def grown_regions(graph: DistributedGraph, spacing: int = SPACING) -> primitives.Talk[Regions]:
    """Return regions of all vertices; one of `spacing` vertices begins one, or fewer."""
    space, comm, own = graph.space, graph.comm, graph.local.num_vertices
    growth = _begun(space, own, own + graph.num_ghosts)
    spacing = max(spacing, -(-graph.totals.num_vertices // MAX_SEEDS))
    drawn = space.empty(own, np.int8)
    space.parallel_for(own, draw_seed, graph.local.csr, 1 / spacing, drawn)
    front = primitives.positions_of(space, drawn)
    received = yield primitives.Message([], [len(front)])
    before, count = (int(received.words[:rank, 0].sum()) for rank in (comm.rank, comm.size))
    space.parallel_for(len(front), begin_region, front, before, growth)
    for _ in range(MAX_ROUNDS):
        space.parallel_for(len(front), reach_out, front, graph.local.csr, growth)
        received = yield primitives.Message([_reached_ghosts(graph, growth)], [len(front)])
        if not received.words[:, 0].any():
            break
        names, reaches = received.parts[0].columns
        space.parallel_for(len(names), reach_own, owned(graph, names), reaches, growth)
        front = space.copy(growth.reached[: _lengths(space, growth)[0]])
        growth.own_words.array[1:] = 0
    region = space.empty(own + graph.num_ghosts, np.int32)
    space.parallel_for(own, name_region, count + comm.rank, growth, region)
    received = yield primitives.Message([values_for_ghosts(space, graph.halo, [region])])
    region[own:] = received.parts[0].columns[0]
    return Regions(region, count + comm.size)


def _begun(space: ExecutionSpace, own: int, local: int) -> RegionGrowth:
    """Return the state in which no vertex has been reached."""
    made = RegionGrowth.allocate(space, (own, local)).over(
        RegionGrowth.own_words(space.asarray(np.array([own, 0, 0]))))
    made.reach[:] = UNREACHED
    return made


def _lengths(space: ExecutionSpace, growth: RegionGrowth) -> tuple[int, int]:
    """Return the lengths of the lists of own vertices and of ghosts."""
    _, reached, ghosts = space.to_host(growth.own_words.array).tolist()
    return reached, ghosts


def _reached_ghosts(graph: DistributedGraph, growth: RegionGrowth) -> primitives.Part:
    """Return the updates for owners of ghosts that have been reached."""
    space = graph.space
    ghosts = growth.ghosts[: _lengths(space, growth)[1]]
    names = primitives.gather(space, graph.names, ghosts)
    order, counts = primitives.grouped(space, graph.owners.first, graph.comm.size, names)
    return primitives.Part([names, primitives.gather(space, growth.reach, ghosts)], counts,
                           order=order)


@kl.kernel
def draw_seed(v, graph: Csr, chance, drawn):
    """Set drawn[v] to whether a region begins at v."""
    drawn[v] = kl.int8(primitives.is_drawn(primitives.hash_of(global_id(v, graph), SEED), chance))


@kl.kernel
def begin_region(i, front, before, growth: RegionGrowth):
    """Begin a new region at listed vertex i."""
    growth.reach[front[i]] = kl.int32(before + i)


@kl.device
def is_first(v, reach, growth: RegionGrowth):
    """Store that a region reaches v, and return whether it is the first one.  Atomic."""
    if growth.reach[v] <= reach:
        return False
    return kl.atomic_min(growth.reach, v, reach) == UNREACHED


@kl.kernel
def reach_out(i, front, graph: Csr, growth: RegionGrowth):
    """Reach the neighbours of listed vertex i; atomic, lists are in any order."""
    v = front[i]
    reach = kl.int64(growth.reach[v]) + ROUND
    for arc in range(graph.begin[v], graph.end[v]):
        u = kl.int64(graph.targets[arc])
        if is_first(u, reach, growth):
            if u >= growth.own:
                growth.ghosts[kl.atomic_next(growth, RegionGrowth.num_ghosts)] = kl.int32(u)
            else:
                growth.reached[kl.atomic_next(growth, RegionGrowth.num_reached)] = kl.int32(u)


@kl.kernel
def reach_own(i, vertices, reaches, growth: RegionGrowth):
    """Reach an own vertex for another rank; atomic, lists are in any order."""
    v = vertices[i]
    if is_first(v, kl.int64(reaches[i]), growth):
        growth.reached[kl.atomic_next(growth, RegionGrowth.num_reached)] = kl.int32(v)


@kl.kernel
def name_region(v, rest, growth: RegionGrowth, region):
    """Set region[v] to the region that has reached v, or to the rank's last region if none has."""
    region[v] = rest if growth.reach[v] == UNREACHED else growth.reach[v] % ROUND
