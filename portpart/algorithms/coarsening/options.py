"""Parameters of coarsening, and sizes of its work arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from portpart.errors import InputError
from portpart.graphs import Graph, Hypergraph
from portpart.options import check_options, derived, option, option_class
from portpart.primitives import tiles_of

# Parameters of coarsening: where it ends, and how vertices are merged --------------------------


MAX_FOR_MANY = 3 * 2**15
"""Maximum number of vertices that `min_per_block` requires where coarsening ends."""

MAX_SCORE = 2**62
"""Limit of scores: edges that weigh more than this divided by c count as equally heavy."""


@option_class
class CoarseningOptions:
    """Where coarsening ends."""

    coarsest_per_block: int = option(
        32, "Coarsening ends at a graph with this number of vertices per block.", min=0)
    min_coarsest: int = option(512, "Minimum number of vertices at which coarsening ends.", min=0)
    max_coarsest: int = option(
        8192, "Maximum number of vertices at which coarsening ends, unless that is less than "
        "`min_per_block`.", min=0)
    min_per_block: int = option(
        2, "Minimum number of vertices per block at which coarsening ends, for at most 98,304 "
        "vertices; always at least two.", min=0)
    dense_per_block: int | None = option(
        None, "A dense graph is coarsened further, to this number of vertices per block.", min=0)
    max_kept: float = option(
        0.98, "Coarsening ends if a level keeps more than this share of the vertices.",
        above=0, below=1)  # at 1 coarsening would go on for ever
    drop_below: float = option(
        0.25, "A graph with less than this share of the vertices at which coarsening ends is "
        "discarded; the previous graph is the coarsest.", min=0, max=1)
    skip_above: float = option(
        1.0, "A graph with more than this share of the arcs or pins of the finer one is not used "
        "as a level, unless it is the coarsest: refining it would take as long.",
        above=0, max=1)

    def coarsest_vertices(self, num_blocks: int) -> int:
        """Return the number of vertices at which coarsening ends."""
        vertices = max(self.coarsest_per_block * num_blocks, self.min_coarsest)
        if vertices <= self.max_coarsest:
            return vertices
        least = min(self.min_per_block * num_blocks, MAX_FOR_MANY)
        return max(self.max_coarsest, least, 2 * num_blocks)

    def coarsest_dense_vertices(self, num_blocks: int) -> int | None:
        """Return the same number for a dense graph."""
        if self.dense_per_block is None:
            return None
        return max(self.dense_per_block * num_blocks, self.min_coarsest // 4)


FEW_BLOCKS = 4
"""Maximum number of blocks that counts as few."""


@option_class
class ClusteringOptions:
    """Merging by clusters."""

    growth: float = option(
        8, "Maximum weight of a cluster, in mean vertices of its level.",
        above=1, below=float("inf"))
    skewed_growth: float = option(
        32, "The same for more than 4 blocks and very skewed degrees: the mean square is above 16 "
        "times the square of the mean.", above=1, below=float("inf"))
    growths_for_two: tuple[float, ...] | None = option(
        None, "The same for 2 blocks, if different: in turn in the partitions from scratch of a "
        "search.", above=1, below=float("inf"))
    max_coarse_weight: float = option(
        8, "Maximum weight of a cluster, in mean vertices of a graph at which coarsening may end.",
        above=1, below=float("inf"))
    join_rounds: int = option(3, "Number of rounds in which single vertices join clusters.", min=1)
    improve_rounds: int = option(
        0, "Number of further rounds in which half of the members, alternating, may also "
        "move.", min=0)
    max_left: float = option(
        0.25, "If more than this share of the vertices is still single, two-hop clustering groups "
        "them.",
        min=0)

    @derived
    def of_runs(self, num_blocks: int) -> tuple[ClusteringOptions, ...]:
        """Return the options for `num_blocks` blocks in the runs of a search in turn."""
        if num_blocks > FEW_BLOCKS:
            return (self,)
        given = self.growths_for_two if num_blocks == 2 else None
        return tuple(replace(self, growth=growth, skewed_growth=growth, growths_for_two=None)
                     for growth in given or (self.growth,))


@option_class
class NetOptions:
    """The nets of a hypergraph that take part."""

    max_rated: int = option(
        200, "Nets with more pins do not count in the ratings of clusters.", min=1)
    max_size: int = option(
        50_000, "Nets with more pins, and more than max_share of the vertices, are ignored by "
        "coarsening and refinement.", min=2)
    max_share: float = option(0.01, "Share of the vertices, see max_size.", min=0, max=1)

    def largest(self, num_vertices: int) -> int:
        """Return the maximum number of pins of a net that takes part."""
        return max(self.max_size, int(self.max_share * num_vertices))


@option_class
class CommunityOptions:
    """Communities of a hypergraph, which its clusters stay within."""

    max_levels: int = option(6, "Maximum number of levels of communities.", min=1)
    max_kept: float = option(
        0.9, "The last level is one that keeps more than this share of the "
        "vertices.", above=0, max=1)
    join_rounds: int = option(3, "Number of rounds in which single vertices join "
        "communities.", min=1)
    improve_rounds: int = option(
        2, "Number of further rounds in which half of the members, alternating, may also "
        "move.", min=0)
    max_net_size: int = option(1000, "Nets with more pins do not count.", min=2)


@option_class
class MatchingOptions:
    """Merging by pairs."""

    two_hop: bool = option(
        True, "Whether vertices at distance two are also matched while more than 25 % are single.")
    max_matchmaker_degree: int = option(
        1000, "Vertices of higher degree match no relatives (vertices with a common "
        "neighbour).", min=0)
    max_share: float | None = option(
        0.25, "Maximum weight of a pair, as a share of the limit of a block; None: no maximum.",
        above=0, max=1)
    rounds: int | None = option(
        None, "Maximum number of rounds of matching on a level; None: until no edge joins two free "
        "vertices.",
        min=1, max=32)
    mutual: bool = option(
        True, "Whether both vertices of a pair must propose each other; otherwise one proposal is "
        "enough, as in Jet's released code, and vertex weights differ less.")


@option_class
class NetGroupingOptions:
    """Merging by balanced groups."""

    group_size: int = option(4, "Maximum number of vertices in a group.", min=2)
    max_rated: int = option(
        1000, "Nets with more pins do not count when vertices select others.", min=1)
    max_coarse_weight: float | None = option(
        8, "Maximum weight of a vertex and the vertex that it selects, in mean vertices of a "
        "hypergraph at which coarsening may end; None: only max_share counts.",
        above=1, below=float("inf"))
    max_share: float | None = option(
        0.25, "Maximum weight of the same two, as a share of the limit of a block; None: no such "
        "maximum, as in the paper.", above=0, max=1)


@option_class
class GroupingOptions:
    """Merging by union-find groups."""

    group_size: int | None = option(
        6, "Maximum weight of a group, in mean vertices of its level; None: all linked vertices, "
        "of any weight.", min=2)
    broken_up: bool = option(
        False, "Whether all linked vertices are joined first, round by round, and then split into "
        "groups of group_size vertices in the order of their rounds.")
    ties: str = option(
        "hash", 'Selection among neighbours of equal score: by a seeded "hash", or the "first" '
        "one, with the smallest id, if all linked vertices are joined first.",
        choices=("hash", "first"))
    score_factor: int | None = option(
        None, "The score of an edge is this factor times its weight, minus the degree of its other "
        "end. Default: the highest degree of the level plus 1.",
        min=1, max=MAX_SCORE)
    max_coarse_weight: float | None = option(
        4, "Maximum weight of a group, in mean vertices of a graph at which coarsening may end, "
        "and at most a quarter of a block; None: any weight.", above=1, below=float("inf"))

    def __post_init__(self) -> None:
        check_options(self)
        cut_first = self.group_size is not None and not self.broken_up
        if self.ties != "hash" and cut_first:
            raise InputError(f'ties is {self.ties!r}; with a group_size it must be "hash"')
        if self.broken_up and self.group_size is None:
            raise InputError("groups that are broken_up need a group_size")


# Sizes of the work arrays of coarsening --------------------------------------------------------


ANY_DEGREE = 2**31


class FineSizes(NamedTuple):
    """Sizes of a graph that is coarsened, and the maximum number of its clusters.

    Attributes
    ----------
    vertices, arcs, clusters : int
    sum_type : dtype
        Type of sums of arc weights.
    index_type : dtype
        Type of offsets.
    max_degree : int
        Maximum number of arcs of a vertex.
    slots : int or None
        Slots of hash rows in main memory; None: one for each arc.
    """

    vertices: int
    arcs: int = 0
    clusters: int = 0
    sum_type: np.dtype = np.dtype(np.int32)
    index_type: np.dtype = np.dtype(np.int32)
    max_degree: int = ANY_DEGREE
    slots: int | None = None


class FineNetSizes(NamedTuple):
    """Sizes of a hypergraph that is coarsened.

    Attributes
    ----------
    vertices, nets, pins : int
    sum_type : dtype
        Type of sums of net weights.
    index_type : dtype
        Type of offsets.
    """

    vertices: int
    nets: int
    pins: int
    sum_type: np.dtype
    index_type: np.dtype

    @classmethod
    def of(cls, hypergraph: Hypergraph) -> FineNetSizes:
        """Return the sizes of a hypergraph."""
        return cls(hypergraph.num_vertices, hypergraph.num_nets, hypergraph.num_pins,
                   hypergraph.weight_sum_dtype, hypergraph.net_offsets.dtype)


def sizes_of(graph: Graph, max_clusters: int | None = None,
             sum_type: np.dtype | None = None) -> FineSizes:
    """Return the sizes of a graph; by default each vertex may be a cluster."""
    n = graph.num_vertices
    return FineSizes(n, graph.num_arcs, n if max_clusters is None else max_clusters,
                     graph.whole.weight_sum_dtype if sum_type is None else sum_type,
                     graph.offsets.dtype)


def of_cluster_tiles(sizes: FineSizes) -> int:
    """Return the number of tiles of clusters."""
    return tiles_of(sizes.clusters)


def around_clusters(sizes: FineSizes) -> int:
    """Return the number of offsets of clusters: one each, and one for the end of the last."""
    return sizes.clusters + 1
