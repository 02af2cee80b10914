"""How much memory a search among partitions of a hypergraph takes, from what its pieces declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening import (
    MAX_ROW,
    MAX_UNCOUNTED,
    NET_CLUSTERING_WORK,
    ClusterRounds,
    Clusters,
    CoarseNets,
    DistinctPins,
    FineNetSizes,
    FineSizes,
    NetOptions,
    NetProposals,
    NetTotals,
    SortedPins,
    TwoHopGroups,
)
from portpart.algorithms.objectives import MAX_SMALL, pin_state
from portpart.algorithms.refinement import RefinementSizes, max_arcs, refining_bytes
from portpart.algorithms.refinement.nets import net_bytes, net_room
from portpart.backends.programs import bytes_of, bytes_outliving
from portpart.estimate.model import (
    OF_VERTEX,
    OF_WORD,
    LevelSize,
    MemoryModel,
    clustering_bytes,
    contraction_bytes,
    hierarchy_bytes,
    ingest_bytes,
    legal_moves_bytes,
    level_size,
    offset_bytes,
)
from portpart.estimate.search import MIN_SECTIONS, SearchLevels, SearchModel
from portpart.graphs import EDGE_WEIGHT, MAX_INT32, Hypergraph
from portpart.primitives import elements_of_rows_above

LARGE_SHARE = 0.1
"""Share of the pins in nets with counters, where no hypergraph is given."""

COMMUNITIES_KEPT = 0.7
"""Share of its vertices and arcs that the first level of communities keeps, at most."""

OF_PAIR, OF_PAIRED_PIN = 56, 20
"""Bytes of an arc and of a pin while the clique graph is made: the arc, its weight, its key, and
what that is sorted and added up with."""


@dataclass(frozen=True)
class NetLevelSize(LevelSize):
    """A hypergraph of a hierarchy; its arcs are its pins.

    Attributes
    ----------
    num_nets : int
    large : int
        Nets that have counters in refinement, at most.
    slots : int
        Slots of hash rows in main memory where its vertices look for clusters.
    pairs : int
        Arcs that its clique graph is made of.
    merges : bool
        Whether it may have nets too large for bisections, so that starts go by the others.
    edge_bytes : int
        Bytes of the weight of an edge of its clique graph, or of a coarser one's, at most.
    has_hubs : bool
        Whether vertices may have this many nets that their ties are summed up in pieces.
    """

    num_nets: int = 0
    large: int = 0
    slots: int = 0
    pairs: int = 0
    merges: bool = True
    edge_bytes: int = OF_WORD
    has_hubs: bool = True

    @property
    def fine(self) -> FineSizes:
        """What clustering works on."""
        n = self.num_vertices
        return FineSizes(n, self.slots, n, np.dtype(np.int64), np.dtype(f"i{self.offset_bytes}"))

    @property
    def nets(self) -> FineNetSizes:
        """What contraction works on."""
        return FineNetSizes(self.num_vertices, self.num_nets, self.num_arcs,
                            np.dtype(f"i{self.weight_bytes}"), np.dtype(f"i{self.offset_bytes}"))

    @property
    def incidence(self) -> LevelSize:
        """The graph of vertices and nets, of which the long arcs are."""
        return level_size(self.num_vertices + self.num_nets, 2 * self.num_arcs, OF_WORD,
                          long_arcs=self.long_arcs)


def net_level_size(n: int, m: int, p: int, weight_bytes: int, vertex_weight: int = OF_WORD,
                   net_weight: int | None = None, **more: Any) -> NetLevelSize:
    """A hypergraph whose weights take this many bytes; a coarse one has weights of both kinds."""
    offset = offset_bytes(p)
    own = (offset * (n + m + 2) + 2 * OF_VERTEX * p + vertex_weight * n
           + (weight_bytes if net_weight is None else net_weight) * m)
    more.setdefault("large", 1 + min(m, int(LARGE_SHARE * p) // (MAX_SMALL + 1)))
    if net_weight == 0 and 2 * EDGE_WEIGHT * m <= MAX_INT32:
        more["edge_bytes"] = OF_VERTEX  # even if all nets, of weight 1, join the same two vertices
    return NetLevelSize(n, p, own, weight_bytes, offset, num_nets=m, **more)


def size_of_nets(hypergraph: Hypergraph, slots: int = 0, pairs: int = 0) -> NetLevelSize:
    """A hypergraph that there is."""
    own = sum(array.nbytes for array in hypergraph.arrays.values() if array is not None)
    return NetLevelSize(
        hypergraph.num_vertices, hypergraph.num_pins, own, hypergraph.weight_sum_dtype.itemsize,
        hypergraph.net_offsets.dtype.itemsize, num_nets=hypergraph.num_nets,
        large=pin_state.net_sizes(hypergraph, 1).large, slots=slots, pairs=pairs,
        long_arcs=long_arcs_of(hypergraph),
        has_hubs=hypergraph.max_degree > max_arcs(1))


def long_arcs_of(hypergraph: Hypergraph) -> int | None:
    """Arcs of long rows in the graph of vertices and nets, or more; None if that is not large."""
    if 2 * hypergraph.num_pins <= MAX_UNCOUNTED:
        return None
    space = hypergraph.space
    return sum(int(space.to_host(elements_of_rows_above(space, rows, MAX_ROW))[0])
               for rows in (hypergraph.vertex_offsets, hypergraph.net_offsets))


def contraction_of_nets(level: NetLevelSize, coarse: NetLevelSize) -> int:
    """Bytes of a contraction, in the phase that takes most.

    Keys of pins are sorted, and a library's sort takes as much again; distinct pins are found;
    nets are compared; pins are copied, as keys too; and these are sorted.
    """
    sizes, keys, turned = level.nets, OF_WORD * level.num_arcs, OF_WORD * coarse.num_arcs
    pins, work = DistinctPins.num_bytes(sizes), CoarseNets.num_bytes(sizes)
    compared = pins - DistinctPins.declared["digest"].num_bytes(sizes)
    of_vertices = (coarse.offset_bytes * (coarse.num_vertices + 1) + OF_VERTEX * coarse.num_arcs
                   + OF_WORD * coarse.num_vertices)
    of_nets = coarse.own_bytes - of_vertices
    return OF_WORD * len(NetTotals.indices) + max(
        2 * keys, keys + SortedPins.num_bytes(sizes) + pins, pins + work,
        compared + bytes_outliving((CoarseNets,), sizes) + of_nets + turned, of_nets + 2 * turned,
        coarse.own_bytes + turned)


def clustering_of_nets(level: NetLevelSize) -> int:
    """Bytes of clusters by common nets, and of what finding them works on."""
    return bytes_of((Clusters, *NET_CLUSTERING_WORK), level.fine)


def communities_bytes(level: NetLevelSize, leaves_out: bool = False) -> int:
    """Bytes of communities while they are found, on the finest graph of vertices and nets.

    If nets may be left out there is a hypergraph without them, too.
    """
    offsets = level.offset_bytes * (level.num_vertices + level.num_nets + 2)
    fewer = 2 * OF_VERTEX * level.num_arcs + offsets if leaves_out else 0
    graph = level.incidence
    coarse = level_size(int(COMMUNITIES_KEPT * graph.num_vertices),
                        int(COMMUNITIES_KEPT * graph.num_arcs), OF_WORD)
    spared = (TwoHopGroups.num_bytes(graph.fine)
              + ClusterRounds.declared["granted"].num_bytes(graph.fine))
    kept = level.offset_bytes * (level.num_vertices + 1) if leaves_out else 0
    return graph.own_bytes + max(
        fewer, kept + clustering_bytes(graph.fine) - spared,
        kept + graph.clusters_bytes + contraction_bytes(graph.fine, coarse))


@dataclass(frozen=True)
class NetModel(MemoryModel):
    """The same for hypergraphs.

    Attributes
    ----------
    nets : float
        Share that a level keeps of the nets, too.
    lines_up : bool
        Whether large nets sort their pins.
    """

    nets: float = 0.72
    lines_up: bool = False

    def coarsening_bytes(self, levels: Sequence[LevelSize]) -> int:
        """Most bytes in addition to the finest hypergraph while the levels are made."""
        nets = [level for level in levels if isinstance(level, NetLevelSize)]
        return ingest_bytes(nets, clustering_of_nets, contraction_of_nets)

    def refining_bytes(self, finest: LevelSize, num_blocks: int,
                       level: LevelSize | None = None) -> int:
        """Bytes of what refinement keeps, the state of the nets included."""
        level = level or finest
        assert isinstance(finest, NetLevelSize)
        assert isinstance(level, NetLevelSize)
        pins = finest.num_arcs
        sizes = pin_state.PinStateSizes(finest.num_vertices, finest.num_nets, pins, finest.large,
                                        num_blocks, pins if self.lines_up else 0,
                                        RefinementSizes(finest.num_vertices, pins, num_blocks).hubs)
        room = net_room(sizes, level.num_vertices, level.num_nets, level.num_arcs, level.has_hubs)
        return super().refining_bytes(finest, num_blocks, level) + net_bytes(room)


OF_GROUPS = NetModel(0.5, 0.7, clustering_bytes, legal_moves_bytes, 0.75, lines_up=True)
NET_MODELS = {
    "portpart": NetModel(0.4, 0.65, clustering_bytes, refining_bytes),
    "hyperg": OF_GROUPS,
    "ihyperg": OF_GROUPS,
}
"""Their shares are so large that the sums over all levels are above those of 33 real hypergraphs;
groups are made with less than clusters."""


@dataclass(frozen=True)
class NetSearch(SearchModel):
    """A search among partitions of a hypergraph; starts are those of a clique graph."""

    @property
    def num_labels(self) -> int:
        """Labels that walks keep to: those of a partition, or communities."""
        found = super().num_labels
        return max(MIN_SECTIONS, found) if self.has_communities else found

    @property
    def has_communities(self) -> bool:
        """Whether walks from scratch keep to communities."""
        return getattr(self.config, "communities", None) is not None

    @property
    def spares_nets(self) -> bool:
        """Whether it begins with what may be a smaller hypergraph."""
        return hasattr(self.config, "nets")

    @property
    def proposals(self) -> NetProposals:
        """What nets vertices examine."""
        grouping = getattr(self.config, "grouping", None)
        return NetProposals(self.config.nets if grouping is None
                            else NetOptions(max_rated=grouping.max_rated))

    @property
    def model(self) -> NetModel:
        """What the pieces declare."""
        return NET_MODELS[self.algorithm]

    def _kept_bytes(self, walk: Sequence[LevelSize]) -> int:
        """Bytes of partitions, and of the communities of vertices and nets."""
        assert isinstance(walk[0], NetLevelSize)
        return super()._kept_bytes(walk) + self._communities(walk[0])

    def _communities(self, finest: NetLevelSize) -> int:
        """Bytes of the communities."""
        return OF_VERTEX * finest.num_vertices if self.has_communities else 0

    def _coarsening_bytes(self, walk: Sequence[LevelSize]) -> int:
        """Bytes of the levels, or of the communities while they are made before these."""
        levels = super()._coarsening_bytes(walk)
        if not self.has_communities:
            return levels
        assert isinstance(walk[0], NetLevelSize)
        found = communities_bytes(walk[0], leaves_out=walk[0].large > 1)
        return max(levels, found - self._communities(walk[0]))

    def _start_bytes(self, levels: SearchLevels) -> int:
        """Bytes of the clique graph while it is made, or of it and the starts."""
        coarsest, clique = levels.walk[-1], levels.start[0]
        assert isinstance(coarsest, NetLevelSize)
        made = OF_PAIR * coarsest.pairs + OF_PAIRED_PIN * coarsest.num_arcs
        copies = self.copies(clique)
        wide, below = coarsest.times(copies), [level.times(copies) for level in levels.start]
        hierarchy = below[0].own_bytes + hierarchy_bytes(below)
        several = self.growing is not None and (
            self.growing.for_blocks(self.num_blocks).net_levels > 1)
        own = (1 + several) * wide.own_bytes
        merging = own + contraction_of_nets(wide, wide) if several else (
            contraction_of_nets(coarsest, coarsest))
        return max(made, clique.own_bytes + max(
            hierarchy + (merging if several or coarsest.merges else 0),
            self._making_starts(levels.start, own)))
