"""Communities of a hypergraph: vertices that coarsening keeps apart from others.

Vertices and nets are the two kinds of vertices of a graph, pins its edges.  Its clusters by
modularity, found level by level as in the Louvain method but in synchronous rounds, are the
communities of the vertices among them.  Clusters then do not reach across what a good partition
cuts (Heuer, Schlag 2017).

The modularity gain of v in a cluster C, times twice the square of the total weight 2M, is
2M w(v, C) - vol(v) vol(C), where volumes are weighted degrees.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import ClusterRow, Rating, weight_towards
from portpart.algorithms.coarsening.clustering import NO_LIMIT, ArcProposals, cluster
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.large_nets import remove_large_nets
from portpart.algorithms.coarsening.options import ClusteringOptions, CommunityOptions
from portpart.algorithms.coarsening.proposals import Proposals, keep_best_score
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import MAX_INT32_ARCS, Csr, Graph, Hypergraph, Nets, degree_of, team_for
from portpart.primitives import NO_VERTEX, gather

MAX_TOTAL = 2**61

MAX_UNIT = 2**20
"""What a pin of a net of weight one weighs at most."""

EQUAL, BY_SIZE, BY_DEGREE = 0, 1, 2
"""What pins weigh: as much as their net, a share of it, or that times the degree of the vertex."""


class PinWeights(kl.Record):
    """What pins weigh, and what they weigh together.

    Attributes
    ----------
    way : int
    unit : int
        The weight of a pin of a net of weight one that shares nothing.
    weights : array of int64, shape (2 p,)
    volumes : array of int64, shape (n + m,)
        Of vertices, then of nets.
    """

    way: int
    unit: int
    weights: Array
    volumes: Array


def communities(hypergraph: Hypergraph, seed: int, options: CommunityOptions) -> Array:
    """The community of each vertex, a number; vertices without nets have one in common.

    Returns
    -------
    array of int32, shape (n,)
        Numbers are below the number of vertices and nets, or are that.

    Notes
    -----
    Time O(p) per round.  Takes 24 bytes for each pin, besides what clusters and contraction of a
    graph of n + m vertices and 2 p arcs take.  Waits for the device a few times, and once a level.
    """
    space, n = hypergraph.space, hypergraph.num_vertices
    way = weighting_of(hypergraph)
    hypergraph = remove_large_nets(hypergraph, options.max_net_size)
    offsets, common = hypergraph.vertex_offsets, n + hypergraph.num_nets
    made = [incidence_graph(hypergraph, way)]
    del hypergraph  # neither it nor the graph, once that is contracted, stays in memory
    label = space.copy(clusters_by_modularity(made.pop(), seed, options)[:n])
    space.parallel_for(n, label_isolated, offsets, label, common)
    return label


def clusters_by_modularity(graph: Graph, seed: int, options: CommunityOptions) -> Array:
    """The cluster of each vertex of a graph whose vertices weigh their volumes, an int32 number."""
    space, label = graph.space, None
    rounds = ClusteringOptions(join_rounds=options.join_rounds,
                               improve_rounds=options.improve_rounds, max_left=1)
    for level in range(options.max_levels):
        found = cluster(space, graph, NO_LIMIT, (seed + level) % 2**63, rounds,
                        proposal_rule=BY_MODULARITY)
        label = found.cluster if label is None else gather(space, found.cluster, label)
        if level + 1 < options.max_levels:
            coarse = contract(space, graph, found, graph.weight_sum_dtype, guess=_guess)
            if coarse.num_vertices > options.max_kept * graph.num_vertices:
                break
            graph = coarse
    assert label is not None
    return label


def _guess(graph: Graph) -> list[int]:
    """A guess of the totals of a contraction: communities of circuits soon touch many others."""
    arcs = 11 * graph.num_arcs // 20
    return graph.space.guess("communities", graph, [
        graph.num_vertices // 3, arcs, 2 * graph.max_degree, graph.total_arc_weight])


def incidence_graph(hypergraph: Hypergraph, way: int) -> Graph:
    """The graph of vertices, then nets; edges are pins, and vertices weigh their volumes.

    What pins weigh is `EQUAL`, `BY_SIZE` or `BY_DEGREE`.
    """
    space = hypergraph.space
    n, m, p = hypergraph.num_vertices, hypergraph.num_nets, hypergraph.num_pins
    offsets = space.empty(n + m + 1, np.int32 if 2 * p <= MAX_INT32_ARCS else np.int64)
    offsets[:n] = hypergraph.vertex_offsets[:-1]
    offsets[n:] = hypergraph.net_offsets
    space.parallel_for(m + 1, add_to_entry, offsets, n, p)
    targets = space.empty(2 * p, np.int32)
    targets[:p] = hypergraph.vertex_nets
    space.parallel_for(p, add_to_entry, targets, 0, n)
    targets[p:] = hypergraph.net_pins
    most = max(1, hypergraph.total_net_weight) * max(1, hypergraph.max_net_size)
    if way == BY_DEGREE:
        most *= max(1, hypergraph.max_degree)
    unit = max(1, min(MAX_UNIT, MAX_TOTAL // (2 * most)))
    pins = PinWeights(way, unit, space.empty(2 * p, np.int64), space.empty(n + m, np.int64))
    known = {"degree": max(hypergraph.max_degree, hypergraph.max_net_size)}
    graph = Graph(offsets, targets, pins.weights, pins.volumes, space, known)
    space.parallel_for(n + m, weigh_pins, graph.csr, hypergraph.csr, hypergraph.nets, n, pins,
                       team=team_for(2 * graph.mean_degree))
    known["arc"] = graph.total_vertex_weight
    return graph


def weighting_of(hypergraph: Hypergraph) -> int:
    """What pins weigh, as in Mt-KaHyPar: by the nets for each vertex, and the largest net."""
    nets_per_vertex = hypergraph.num_nets / max(1, hypergraph.num_vertices)
    if nets_per_vertex < 0.75:
        return BY_DEGREE
    return BY_SIZE if nets_per_vertex < 2 and hypergraph.max_net_size > 1000 else EQUAL


@kl.kernel
def add_to_entry(i, values, begin, amount):
    """Add to an entry behind `begin`."""
    values[begin + i] += amount


@kl.kernel
def weigh_pins(u, graph: Csr, incident: Csr, nets: Nets, num_vertices, pins: PinWeights):
    """Weigh the pins of vertex u or of net u - num_vertices, and add them up."""
    total = kl.int64(0)
    for arc in range(kl.int64(graph.begin[u]) + kl.lane(), kl.int64(graph.end[u]), kl.team_size()):
        v = kl.int64(u)
        net = kl.int64(graph.targets[arc]) - num_vertices
        if u >= num_vertices:
            v = kl.int64(graph.targets[arc])
            net = u - num_vertices
        weight = pins.unit * kl.value_or(nets.weights, net, 1)
        if pins.way == BY_DEGREE:
            weight *= degree_of(v, incident)
        if pins.way != EQUAL:
            weight = weight // (kl.int64(nets.end[net]) - kl.int64(nets.begin[net]))
        pins.weights[arc] = weight
        total += weight
    total = kl.team_sum(total)
    if kl.lane() == 0:
        pins.volumes[u] = total


@kl.kernel
def label_isolated(v, offsets, label, common):
    """Vertices without nets have a label in common."""
    if offsets[v] == offsets[v + 1]:
        label[v] = kl.int32(common)


@kl.device
def gain(weight, volume, v, total, graph: Csr):
    """Modularity gain of v among clusters of a volume that its arcs lead to, as a multiple."""
    own = kl.float64(kl.value_or(graph.vertex_weights, v, 1))
    return kl.float64(weight) * kl.float64(total) - own * kl.float64(volume)


@kl.device
def gain_at_neighbour(arc, u, v, graph: Csr, clusters: Proposals):
    """Gain of v if it joins a single vertex."""
    return gain(kl.value_or(graph.weights, arc, 1), kl.value_or(graph.vertex_weights, u, 1), v,
                clusters.total, graph)


@kl.device
def others_in(c, v, own, cluster_weight, graph: Csr):
    """Volume of a cluster without v."""
    volume = kl.int64(cluster_weight[c])
    if c == own:
        volume -= kl.value_or(graph.vertex_weights, v, 1)
    return volume


@kl.device
def gain_in_cluster(arc, c, v, graph: Csr, clusters: Proposals):
    """Gain of v in a cluster around it; every arc is compared with every other."""
    volume = others_in(c, v, clusters.cluster[v], clusters.cluster_weight, graph)
    return gain(weight_towards(v, c, graph, clusters), volume, v, clusters.total, graph)


@kl.device
def gain_at_slot(slot, c, v, graph: Csr, row: ClusterRow):
    """Gain of v in the cluster at a slot of a hash row."""
    volume = others_in(c, v, row.cluster[v], row.cluster_weight, graph)
    return gain(row.sums[slot], volume, v, row.total, graph)


@kl.device
def keep_gain(v, best, score, search: Proposals):
    """Propose the best cluster if joining it gains anything."""
    top = kl.team_max(score)
    keep_best_score(v, best if top > 0 else kl.int32(NO_VERTEX), score, search)


BY_MODULARITY = ArcProposals(Rating(gain_at_neighbour, gain_in_cluster, gain_at_slot, keep_gain),
                             with_total=True)
