"""For each ghost the own vertices that it has arcs to: none has to be asked for them."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record
from portpart.graphs.csr import tails
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.halo import foreign_targets
from portpart.graphs.rows import Csr
from portpart.primitives.basic import gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.owners import Halo
from portpart.primitives.sort import sort_keys


class GhostRows(Record):
    """Own neighbours of ghosts.

    Attributes
    ----------
    begin : array of int64, shape (ghosts + 1,)
        Neighbours of ghost i, counted from the first one, stand from ``begin[i]`` on.
    neighbours : array of int32
        Own vertices.
    """

    begin: Array
    neighbours: Array


def ghost_rows(graph: DistributedGraph) -> GhostRows:
    """The own neighbours of each ghost, as often as there are arcs between them."""
    space, local = graph.space, graph.local
    own = local.num_vertices
    counts = space.empty(own, np.int32)
    space.parallel_for(own, count_crossing, local.csr, graph.halo, own, counts)
    ghosts, first = foreign_targets(space, local.offsets, local.targets, 0, own, counts)
    ordered, order = sort_keys(space, ghosts)
    begin = space.empty(graph.num_ghosts + 1, np.int64)
    space.parallel_for(len(begin), find_first, ordered, len(ordered), own, begin)
    return GhostRows(begin, gather(space, tails(space, first, len(ghosts)), order))


@kl.kernel
def count_crossing(v, graph: Csr, halo: Halo, own, counts):
    """counts[v] = arcs of v to ghosts: a vertex that is no ghost elsewhere has none."""
    count = kl.int64(0)
    if halo.begin[v] < halo.begin[v + 1]:
        for arc in range(graph.begin[v], graph.end[v]):
            if graph.targets[arc] >= own:
                count += 1
    counts[v] = kl.int32(count)


@kl.kernel
def find_first(ghost, ordered, count, own, begin):
    """begin[ghost] = the first entry of a ghost, or of what comes behind it."""
    begin[ghost] = lower_bound(ordered, 0, count, own + ghost)
