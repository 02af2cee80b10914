"""Communities of a hypergraph: coarsening merges vertices of one community only.

Vertices and nets become the vertices of a graph, and pins its edges.  Clusters of large modularity
are computed level by level as in the Louvain method, but in synchronous rounds.  They are the
communities of the vertices of the hypergraph.  Coarsening inside communities makes no clusters
across the cuts of a good partition (Heuer, Schlag 2017).

If edges weigh M in total and volumes are weighted degrees, the modularity gain of v in a cluster C,
times 2 M^2, is 2M w(v, C) - vol(v) vol(C).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import ClusterRow, Rating, weight_towards
from portpart.algorithms.coarsening.cluster_rules import ClustersOfLevels
from portpart.algorithms.coarsening.clustering import ArcProposals
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.hierarchy import NextLevels
from portpart.algorithms.coarsening.large_nets import remove_large_nets
from portpart.algorithms.coarsening.level_loop import UNLIMITED
from portpart.algorithms.coarsening.options import ClusteringOptions, CommunityOptions
from portpart.algorithms.coarsening.proposals import Proposals, keep_best_score
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import MAX_INT32_ARCS, Csr, Graph, Hypergraph, Nets, degree_of, team_for
from portpart.primitives import NO_VERTEX, gather

MAX_TOTAL = 2**61

MAX_UNIT = 2**20
"""Maximum weight of a pin of a net of weight one."""

EQUAL, BY_SIZE, BY_DEGREE = 0, 1, 2
"""Weight of a pin: that of its net, a share of that, or the share times the vertex's degree."""


class PinWeights(kl.Record):
    """Weights of pins, and their sums.

    Attributes
    ----------
    way : int
    unit : int
        Weight of a pin of a net of weight one, before it is shared.
    weights : array of int64, shape (2 p,)
    volumes : array of int64, shape (n + m,)
        Sums of vertices, then of nets.
    """

    way: int
    unit: int
    weights: Array
    volumes: Array


def communities(hypergraph: Hypergraph, seed: int, options: CommunityOptions) -> Array:
    """Return the community of each vertex; vertices without nets share one.

    Returns
    -------
    array of int32, shape (n,)
        Numbers from 0 to the number of vertices and nets, which vertices without nets have.

    Notes
    -----
    Time O(p) per round.  Memory: 24 bytes per pin, and that of clustering and contracting a graph
    of n + m vertices and 2 p arcs.  Waits for the device a few times, and once per level.
    """
    space, n = hypergraph.space, hypergraph.num_vertices
    way = weighting_of(hypergraph)
    hypergraph = remove_large_nets(hypergraph, options.max_net_size)
    offsets, common = hypergraph.vertex_offsets, n + hypergraph.num_nets
    made = [incidence_graph(hypergraph, way)]
    del hypergraph  # frees it now, and the graph when that has been contracted
    label = space.copy(clusters_by_modularity(made.pop(), seed, options)[:n])
    space.parallel_for(n, label_isolated, offsets, label, common)
    return label


def clusters_by_modularity(graph: Graph, seed: int, options: CommunityOptions) -> Array:
    """Return the cluster of each vertex, as int32; the weights of vertices are their volumes."""
    rounds = ClusteringOptions(join_rounds=options.join_rounds,
                               improve_rounds=options.improve_rounds, max_left=1)
    find_clusters = ClustersOfLevels(UNLIMITED, rounds, BY_MODULARITY, _guess)
    levels, label = NextLevels(find_clusters, partial(contract, guess=_guess)), None
    for level in range(options.max_levels):
        left = options.max_levels - level
        found, coarse, _ = levels.below(
            graph, (seed + level) % 2**63, graph.weight_sum_dtype, None, contracts=left > 1,
            stop_at=1, max_kept=options.max_kept, max_levels=left)
        label = found.cluster if label is None else gather(graph.space, found.cluster, label)
        if left == 1 or coarse.num_vertices > options.max_kept * graph.num_vertices:
            break
        graph = coarse
    assert label is not None
    return label


def _guess(graph: Graph) -> list[int]:
    """Guess the totals of a contraction: communities of circuits soon have many neighbours."""
    arcs = 11 * graph.num_arcs // 20
    return graph.space.guess("communities", graph, [
        graph.num_vertices // 3, arcs, 2 * graph.max_degree, graph.total_arc_weight])


def incidence_graph(hypergraph: Hypergraph, way: int) -> Graph:
    """Return the graph of vertices, then nets; edges are pins, and weights of vertices are volumes.

    `way` of weighting pins is `EQUAL`, `BY_SIZE` or `BY_DEGREE`.
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
    """Return how pins are weighted, by nets per vertex and the largest net, as in Mt-KaHyPar."""
    nets_per_vertex = hypergraph.num_nets / max(1, hypergraph.num_vertices)
    if nets_per_vertex < 0.75:
        return BY_DEGREE
    return BY_SIZE if nets_per_vertex < 2 and hypergraph.max_net_size > 1000 else EQUAL


@kl.kernel
def add_to_entry(i, values, begin, amount):
    """Add `amount` to entry begin + i."""
    values[begin + i] += amount


@kl.kernel
def weigh_pins(u, graph: Csr, incident: Csr, nets: Nets, num_vertices, pins: PinWeights):
    """Compute the weights of the pins of vertex u, or of net u - num_vertices, and their sum."""
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
    """Give v the common label if it has no nets."""
    if offsets[v] == offsets[v + 1]:
        label[v] = kl.int32(common)


@kl.device
def gain(weight, volume, v, total, graph: Csr):
    """Return a multiple of v's modularity gain in a cluster, by its volume and the arcs to it."""
    own = kl.float64(kl.value_or(graph.vertex_weights, v, 1))
    return kl.float64(weight) * kl.float64(total) - own * kl.float64(volume)


@kl.device
def gain_at_neighbour(arc, u, v, graph: Csr, clusters: Proposals):
    """Return the gain of v if it joins a single vertex."""
    return gain(kl.value_or(graph.weights, arc, 1), kl.value_or(graph.vertex_weights, u, 1), v,
                clusters.total, graph)


@kl.device
def others_in(c, v, own, cluster_weight, graph: Csr):
    """Return the volume of a cluster without v."""
    volume = kl.int64(cluster_weight[c])
    if c == own:
        volume -= kl.value_or(graph.vertex_weights, v, 1)
    return volume


@kl.device
def gain_in_cluster(arc, c, v, graph: Csr, clusters: Proposals):
    """Return the gain of v in an adjacent cluster, from all arcs of v."""
    volume = others_in(c, v, clusters.cluster[v], clusters.cluster_weight, graph)
    return gain(weight_towards(v, c, graph, clusters), volume, v, clusters.total, graph)


@kl.device
def gain_at_slot(slot, c, v, graph: Csr, row: ClusterRow):
    """Return the gain of v in the cluster at a slot of a hash row."""
    volume = others_in(c, v, row.cluster[v], row.cluster_weight, graph)
    return gain(row.sums[slot], volume, v, row.total, graph)


@kl.device
def keep_gain(v, best, score, search: Proposals):
    """Propose the best cluster if its gain is positive."""
    top = kl.team_max(score)
    keep_best_score(v, best if top > 0 else kl.int32(NO_VERTEX), score, search)


BY_MODULARITY = ArcProposals(Rating(gain_at_neighbour, gain_in_cluster, gain_at_slot, keep_gain),
                             with_total=True)
