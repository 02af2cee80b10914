"""What is left of the nets of a hypergraph before it is coarsened: huge and repeated ones go.

A net of very many pins is cut by nearly every partition, and looking at it costs most.  Of
identical nets one is enough, of the weight of all, and nets of fewer than two pins cost nothing.
Contraction finds all that out for coarser levels; here it is done where it spares enough.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.net_contraction import merged_nets
from portpart.algorithms.coarsening.options import NetOptions
from portpart.backends.interface import Array
from portpart.backends.language import int64, kernel, lane, team_size, team_sum, uint64
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.teams import team_for
from portpart.primitives.hashing import mixed

MIN_SPARED = 0.05
"""From this share of repeated nets on they are merged before the first level is made."""


def fewer_nets(hypergraph: Hypergraph, options: NetOptions) -> Hypergraph:
    """The hypergraph itself, or one with less nets where that pays.  Synchronises."""
    has_huge = hypergraph.max_net_size > options.largest(hypergraph.num_vertices)
    if has_huge or _repeated(hypergraph) > MIN_SPARED * hypergraph.num_nets:
        return merged_nets(hypergraph, options)
    return hypergraph


def _repeated(hypergraph: Hypergraph) -> int:
    """How many nets have the digest of another one that counts already."""
    space, m = hypergraph.space, hypergraph.num_nets
    digests: Array = space.empty(m, np.int64)
    team = team_for(hypergraph.num_pins / max(1, m))
    space.parallel_for(m, digest_net, hypergraph.nets, digests, team=team)
    digests.sort()
    return int((digests[1:] == digests[:-1]).sum())


@kernel
def digest_net(net, nets: Nets, digests):
    """digests[net] = a sum over its pins, 0 if it has fewer than two: those cost nothing."""
    begin = int64(nets.begin[net])
    end = int64(nets.end[net])
    low = int64(0)
    high = int64(0)
    if end - begin >= 2:
        for place in range(begin + lane(), end, team_size()):
            hashed = uint64(mixed(int64(nets.pins[place]) + 1))
            low += int64(hashed & uint64(0xFFFFFFFF))
            high += int64(hashed >> uint64(32))
    low = team_sum(low)
    high = team_sum(high)
    if lane() == 0:
        digests[net] = 0 if high == 0 else mixed(low ^ mixed(high))
