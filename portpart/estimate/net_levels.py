"""How large the levels of a search are on a hypergraph: by shares, or as those of another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from portpart.algorithms.coarsening import Level, reduced_nets
from portpart.algorithms.multilevel import Problem, Trace, levels_below, levels_of
from portpart.algorithms.objectives import Balance, net_objective
from portpart.algorithms.recipes import OF_NETS, find
from portpart.backends.programs import Array
from portpart.estimate.levels import OTHER_SEED, LevelCounts, start_by_shares
from portpart.estimate.model import OF_WORD, LevelSize, MemoryEstimate, level_size
from portpart.estimate.nets import NetLevelSize, NetSearch, net_level_size, size_of_nets
from portpart.estimate.search import SearchLevels
from portpart.graphs import MAX_ARCS, Hypergraph, num_pairs, plain_graph
from portpart.metrics import block_weight_limit

PAIRS_OF_PIN, PAIRS_KEPT = 8, 0.6
"""Arcs that the clique graph is made of for a pin of the coarsest hypergraph, and the share of
them that differ, where no hypergraph is given."""


@dataclass(frozen=True)
class NetLevelCounts:
    """Vertices, nets and pins of a level, and slots of its hash rows in main memory."""

    vertices: int
    nets: int
    pins: int
    slots: int = 0

    def scaled(self, fine: NetLevelCounts, coarse: NetLevelCounts) -> NetLevelCounts:
        """The next level, if it keeps what `coarse` keeps of `fine`."""
        values = (-(-own * after // max(1, before)) for own, before, after in zip(
            self.counts, fine.counts, coarse.counts, strict=True))
        vertices, nets, pins = values
        return NetLevelCounts(vertices, nets, pins, coarse.slots * pins // max(1, coarse.pins))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Vertices, nets and pins."""
        return self.vertices, self.nets, self.pins


@dataclass(frozen=True)
class NetSizeSample:
    """Levels of a hypergraph, arcs of its clique graph, levels of that, and if nets are large."""

    levels: list[NetLevelCounts]
    pairs: int
    below: list[LevelSize]
    merges: bool


def net_estimate(given: NetLevelSize, k: int, algorithm: str | None, preset: Any,
                 like: Hypergraph | None, cycles: bool) -> MemoryEstimate:
    """Memory that a partition of a hypergraph takes, of the sizes given or, if it is, like one.

    With `cycles` there are walks that improve it, as sessions have them.
    """
    found, config = find(algorithm, preset, OF_NETS)
    if cycles and hasattr(config, "search"):
        config = replace(config, search=replace(config.search, cycles=1))
    search = NetSearch(found.name, config, k)
    if like is None or (like.num_vertices, like.num_nets, like.num_pins) != (
            given.num_vertices, given.num_nets, given.num_arcs):
        return search.estimate(net_levels_for(given, search, like))
    fewer = reduced_nets(like, config.nets) if search.spares_nets else like
    estimate = search.estimate(net_levels_for(size_of_nets(fewer), search, fewer))
    return estimate if fewer is like else estimate.plus(size_of_nets(like).own_bytes)


def net_levels_for(finest: NetLevelSize, search: NetSearch,
                   like: Hypergraph | None) -> list[SearchLevels]:
    """The levels that a search has on a hypergraph.

    Parameters
    ----------
    like : Hypergraph, optional
        It is coarsened, and levels shrink as its do.
    """
    if like is None or search.num_blocks == 1:
        return [_by_shares(finest, search)]
    share = min(1.0, like.num_vertices / max(1, finest.num_vertices))
    wanted = search if share == 1 else search.reduced(share)
    return [_levels(finest, found, share) for found in _measured(like, wanted)]


def _measured(like: Hypergraph, search: NetSearch) -> Iterator[NetSizeSample]:
    """Coarsen a hypergraph by two seeds; or, where walks improve a partition, inside of one."""
    total, k = like.total_vertex_weight, search.num_blocks
    balance = Balance(k, min(block_weight_limit(total, k), total), total // k)
    problem = Problem(like, balance, 0, Trace(like.space, like, None),
                      objective=net_objective("km1"))
    recipe = replace(OF_NETS[search.algorithm].recipe(problem, search.config),
                     coarsening=search.coarsening)
    walks: list[tuple[int, Array | None]] = [(0, None), (OTHER_SEED, None)]
    if not search.search.is_one_walk:
        algorithm, config = find("portpart", "fast", OF_NETS)
        walks[1] = OTHER_SEED, algorithm.partition(problem, config)
    for seed, label in walks:
        yield _sizes(levels_of(problem, recipe, seed, label), search)


def _sizes(levels: list[Level[Hypergraph]], search: NetSearch) -> NetSizeSample:
    coarsest, growing = levels[-1].graph, search.growing
    proposals = search.proposals
    counts = [NetLevelCounts(level.graph.num_vertices, level.graph.num_nets, level.graph.num_pins,
                             0 if level.cluster is None
                             else proposals.around(level.graph, 0).sizes.arcs) for level in levels]
    clique = plain_graph(coarsest)
    graphs = [clique] if growing is None else [
        level.graph for level in levels_below(clique, growing, 0)]
    # those of coarser graphs depend on how many copies there are, and inside of blocks more is left
    first = None
    if clique.weights is not None and search.search.is_one_walk:
        first = clique.weights.dtype.itemsize
    below = [level_size(each.num_vertices, each.num_arcs, OF_WORD,
                        edge_weight=first if each is clique else None,
                        max_degree=each.max_degree) for each in graphs]
    merges = growing is not None and coarsest.max_net_size > growing.max_net_size
    return NetSizeSample(counts, num_pairs(coarsest), below, merges)


def _levels(finest: NetLevelSize, found: NetSizeSample, share: float) -> SearchLevels:
    """Levels that shrink as those of a hypergraph that is smaller by so much."""
    now = NetLevelCounts(finest.num_vertices, finest.num_nets, finest.num_arcs)
    counts = [replace(now, slots=int(found.levels[0].slots / share))]
    for fine, coarse in pairwise(found.levels):
        counts.append(counts[-1].scaled(fine, coarse))
    below = found.below if share == 1 else [
        level_size(int(each.num_vertices / share), int(each.num_arcs / share), OF_WORD,
                   max_degree=each.max_degree)
        for each in found.below]
    return SearchLevels(_walk(finest, counts, int(found.pairs / share), found.merges), below)


def _walk(finest: NetLevelSize, counts: Sequence[NetLevelCounts], pairs: int,
          merges: bool = True) -> list[LevelSize]:
    """Levels of these counts, the first of which is there."""
    coarse = [net_level_size(*each.counts, finest.weight_bytes, slots=each.slots)
              for each in counts[1:]]
    walk = [replace(finest, slots=counts[0].slots), *coarse]
    walk[-1] = replace(walk[-1], pairs=min(pairs, MAX_ARCS), merges=merges)
    return list(walk)


def _by_shares(finest: NetLevelSize, search: NetSearch) -> SearchLevels:
    """One level more than the shares give: the first levels of some keep more than that."""
    model, end = search.model, search.coarsening.coarsest_vertices(search.num_blocks)
    n, m, p = finest.num_vertices, finest.num_nets, finest.num_arcs
    counts, last = [NetLevelCounts(n, m, p)], n <= end
    while not last:
        last = n <= end
        n, m, p = int(model.vertices * n), int(model.nets * m), int(model.arcs * p)
        counts.append(NetLevelCounts(n, m, p))
    coarsest = next((each for each in counts if each.vertices <= end), counts[-1])
    pairs = min(MAX_ARCS, PAIRS_OF_PIN * coarsest.pins)
    arcs = min(int(PAIRS_KEPT * pairs), end * end)
    start = [LevelCounts(min(finest.num_vertices, end), arcs)]
    first, *others = start_by_shares(start, search, end)
    edge_weight = finest.edge_bytes if search.search.is_one_walk else None
    below = [level_size(first.vertices, first.arcs, OF_WORD, edge_weight=edge_weight),
             *(level_size(each.vertices, each.arcs, OF_WORD) for each in others)]
    return SearchLevels(_walk(finest, counts, pairs), below)
