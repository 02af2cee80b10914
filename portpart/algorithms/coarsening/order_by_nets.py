"""An order of vertices by their nets, where most of them have large nets only.

Of such nets clustering examines the pins next to each vertex (`net_proposals.py`), which finds
similar vertices if these have neighbouring numbers.  So vertices are numbered anew, sorted by their
smallest net, then by the second one, and so on: small nets in common count most.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.net_contraction import contract_nets
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.coarsening.remove_large_nets import MAX_WITHOUT, net_sizes, share_without
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, Hypergraph, team_for
from portpart.primitives import iota, put_to, sort_keys

KEY_BITS = 62


def places_by_nets(hypergraph: Hypergraph, options: NetOptions) -> Array | None:
    """The place of each vertex in the order of its nets, smallest first.

    Returns
    -------
    array of int32, shape (n,), or None
        None where enough vertices have a net that is rated.
    """
    if share_without(hypergraph, options.max_rated) <= MAX_WITHOUT:
        return None
    space, n, m = hypergraph.space, hypergraph.num_vertices, hypergraph.num_nets
    _, nets = sort_keys(space, net_sizes(hypergraph))
    bits = m.bit_length()
    keys = space.empty(n, np.int64)
    space.parallel_for(n, write_key, hypergraph.csr, put_to(space, nets, iota(space, m)), bits,
                       KEY_BITS // bits, keys, team=team_for(hypergraph.mean_degree))
    _, vertices = sort_keys(space, keys)
    return put_to(space, vertices, iota(space, n))


def in_order(hypergraph: Hypergraph, places: Array) -> Hypergraph:
    """The same with vertex v at place ``places[v]``, without nets of one pin, and each net once."""
    space, n = hypergraph.space, hypergraph.num_vertices
    alone = Clusters(n, cluster=places, count=space.full(1, n, np.int64))
    return contract_nets(hypergraph, alone, max_net_size=n)


@kl.kernel
def write_key(v, rows: Csr, ranks, bits, fields, keys):
    """keys[v] = the smallest ranks of v's nets, each of a number of bits."""
    key = kl.int64(0)
    last = kl.int64(-1)
    for _ in range(fields):
        least = (kl.int64(1) << bits) - 1
        for i in range(rows.begin[v] + kl.lane(), rows.end[v], kl.team_size()):
            rank = kl.int64(ranks[rows.targets[i]])
            if rank > last:
                least = min(least, rank)
        last = kl.team_min(least)
        key = (key << bits) | last
    if kl.lane() == 0:
        keys[v] = key
