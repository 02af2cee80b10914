"""For each ghost the own vertices that it has arcs to: none has to be asked for them."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.rows import Csr
from portpart.primitives.basic import gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.owners import Halo
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.sort import sort_keys


class GhostRows(Record):
    """Own vertices beside ghosts.

    Attributes
    ----------
    begin : array of int64, shape (ghosts + 1,)
        Ghost i, counted from the first one, is beside the entries from ``begin[i]`` on.
    beside : array of int32
        Own vertices.
    """

    begin: Array
    beside: Array


def ghost_rows(graph: DistributedGraph) -> GhostRows:
    """The own vertices beside each ghost, as often as there are arcs between them."""
    space, local = graph.space, graph.local
    own = local.num_vertices
    counts = space.empty(own, np.int64)
    space.parallel_for(own, count_crossing, local.csr, graph.halo, own, counts)
    first = offsets_from_counts(space, counts)
    total = int(space.to_host(first[own:])[0])
    sources, ghosts = (space.empty(total, np.int32) for _ in range(2))
    space.parallel_for(own, list_crossing, local.csr, own, first, sources, ghosts)
    ordered, order = sort_keys(space, ghosts)
    begin = space.empty(graph.num_ghosts + 1, np.int64)
    space.parallel_for(len(begin), find_first, ordered, total, begin)
    return GhostRows(begin, gather(space, sources, order))


@kl.kernel
def count_crossing(v, graph: Csr, halo: Halo, own, counts):
    """counts[v] = arcs of v to ghosts: a vertex that is no ghost elsewhere has none."""
    count = kl.int64(0)
    if halo.begin[v] < halo.begin[v + 1]:
        for arc in range(graph.begin[v], graph.end[v]):
            if graph.targets[arc] >= own:
                count += 1
    counts[v] = count


@kl.kernel
def list_crossing(v, graph: Csr, own, first, sources, ghosts):
    """List v and its ghosts, each counted from the first one, for its arcs to ghosts."""
    place = first[v]
    if place < first[v + 1]:
        for arc in range(graph.begin[v], graph.end[v]):
            u = graph.targets[arc]
            if u >= own:
                sources[place] = kl.int32(v)
                ghosts[place] = kl.int32(u - own)
                place += 1


@kl.kernel
def find_first(ghost, ordered, count, begin):
    """begin[ghost] = the first entry of a ghost, or of what comes behind it."""
    begin[ghost] = lower_bound(ordered, 0, count, ghost)
