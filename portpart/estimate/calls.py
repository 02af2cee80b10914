"""Estimates by a dry run: an algorithm runs in a space that counts bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.coarsening import NetOptions
from portpart.algorithms.multilevel import Constraints, MappingProblem, Problem, Trace
from portpart.algorithms.objectives import CUT, Balance, distances_on, net_objective
from portpart.algorithms.refinement import RefinementSizes, refining_bytes
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import OutOfMemory
from portpart.estimate.space import Shrinking, SizingSpace
from portpart.graphs import (
    MAX_INT32,
    MAX_INT32_ARCS,
    EitherGraph,
    Graph,
    Hypergraph,
    Topology,
    table,
)

if TYPE_CHECKING:
    from portpart.algorithms.recipes import Algorithm
    from portpart.options import Configuration

ASKED_FROM = 2**28
"""Calls that need fewer bytes do not check the free memory."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Number of bytes in use in each phase of a partition or a mapping.

    Attributes
    ----------
    graph : int
        Arrays of the input graph, in the memory of the device.
    hierarchy : int
        All coarser graphs and the maps between levels.
    coarsening, refinement : int
        Maximum during the phase, including graph and hierarchy.
    swaps : int
        The same for the traffic between elements and swaps of blocks after a mapping.
    session : int
        Further arrays of a session, included in all peaks.

    Examples
    --------
    >>> import portpart
    >>> print(portpart.memory_estimate(2**20, 6 * 2**20, 64))
    input graph              28.0 MiB
    coarser graphs          128.3 MiB
    peak of coarsening      159.2 MiB
    peak of refinement      249.3 MiB
    peak                    249.3 MiB
    """

    graph: int
    hierarchy: int
    coarsening: int
    refinement: int
    swaps: int = 0
    session: int = 0

    @property
    def peak(self) -> int:
        """Maximum number of bytes in use."""
        return max(self.coarsening, self.refinement, self.swaps)

    def plus(self, size: int) -> MemoryEstimate:
        """Return the estimate with this many more bytes in every phase."""
        return replace(self, graph=self.graph + size, coarsening=self.coarsening + size,
                       refinement=self.refinement + size)

    def __str__(self) -> str:
        return "\n".join(f"{name:<22} {readable(size):>10}" for name, size in self._rows() if size)

    def _repr_html_(self) -> str:
        return table("MemoryEstimate", [(name, readable(size)) for name, size in self._rows()
                                        if size])

    def _rows(self) -> Iterator[tuple[str, int]]:
        yield "input graph", self.graph
        yield "kept by the session", self.session
        yield "coarser graphs", self.hierarchy
        yield "peak of coarsening", self.coarsening
        yield "peak of refinement", self.refinement
        yield "peak of swaps", self.swaps
        yield "peak", self.peak


def readable(size: int) -> str:
    """Return a number of bytes as text, with a unit."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"


def check_memory_limit(space: ExecutionSpace, k: int, graph: EitherGraph | None = None) -> None:
    """Raise if the arrays that every call needs for k blocks, or for nets, exceed all memory."""
    needed, cause = refining_bytes(RefinementSizes(0, 0, k)), "whatever the graph,"
    if isinstance(graph, Hypergraph):
        from portpart.algorithms.objectives import net_sizes
        from portpart.algorithms.refinement.nets import net_bytes

        needed += net_bytes(net_sizes(graph, k))
        cause = f"for {graph.num_nets:,} nets,"
    if needed <= ASKED_FROM:
        return
    free = space.free_bytes()
    if free is not None and needed > free:
        raise OutOfMemory(f"{k} blocks take {readable(needed)}, {cause} and "
                          f"{space.name} has {readable(free)}")


MARGIN, RUNS_MARGIN, WIDE_MARGIN = 1.05, 1.08, 1.12
"""Factors from the count of a dry run, without the input graph, to the estimate. With other seeds,
and in walks inside the blocks of a partition, levels are slightly larger. The largest levels of
several runs, those of hypergraphs, and of mappings inside sections, differ more."""


def margin_for(config: Configuration) -> float:
    """Return the factor for a configuration of a partitioner of graphs."""
    search = getattr(config, "search", None)
    is_one_run = search is None or (search.runs == 1 and search.max_runs is None)
    return MARGIN if is_one_run else RUNS_MARGIN


@dataclass(frozen=True)
class GivenSizes:
    """Sizes of a graph or hypergraph, and of the elements of its arrays.

    Attributes
    ----------
    counts : tuple of int
        Vertices and arcs, or vertices, nets and pins.
    offset_bytes, weight_bytes : int
        Bytes of an offset, and of a sum of weights of edges or nets.
    vertex_weights, weights : int
        Bytes of a weight; 0 without weights.
    degree : int, optional
        The highest degree, if known.
    size : int, optional
        Most pins of a net, if known.
    total : int, optional
        Total weight of edges or nets, if known.
    """

    counts: tuple[int, ...]
    offset_bytes: int
    weight_bytes: int
    vertex_weights: int = 0
    weights: int = 0
    degree: int | None = None
    size: int | None = None
    total: int | None = None

    @property
    def own_bytes(self) -> int:
        """Bytes of the graph's arrays."""
        space = SizingSpace(Shrinking(()))
        made = self.made(space)  # arrays are counted as long as they exist
        size = space.live
        del made
        return size

    def of_edges(self) -> GivenSizes:
        """Return the sizes of the hypergraph of edges, for a graph of these sizes."""
        n, arcs = self.counts
        return GivenSizes((arcs // 2, n, arcs), self.offset_bytes, self.weight_bytes,
                          8 * (self.weights > 0), self.vertex_weights)

    def made(self, space: SizingSpace) -> EitherGraph:
        """Return a graph or hypergraph of these sizes, without memory."""
        def array(count: int, size: int) -> Array:
            return space.empty(count, f"i{size}") if size else None

        n, *others = self.counts
        most = space.shrinking.degrees[0] if space.shrinking.degrees else min(n, others[-1])
        total = self.total or (MAX_INT32 + 1 if self.weight_bytes == 8 else MAX_INT32 // 2
                               if self.weights else min(others[0], MAX_INT32 // 2))
        totals = {"vertex": n, "degree": most if self.degree is None else self.degree}
        if len(others) == 1:
            arcs = others[0]
            return Graph(array(n + 1, self.offset_bytes), array(arcs, 4), array(arcs, self.weights),
                         array(n, self.vertex_weights), space, totals | {"arc": total})
        m, p = others
        size = min(n, p, NetOptions().max_size) if self.size is None else self.size
        return Hypergraph(
            array(m + 1, self.offset_bytes), array(p, 4), array(m, self.weights),
            array(n + 1, self.offset_bytes), array(p, 4), array(n, self.vertex_weights), space,
            totals | {"net": total, "size": size})


def offset_bytes(num_arcs: int) -> int:
    """Return the bytes of an offset into this many arcs."""
    return 4 if num_arcs <= MAX_INT32_ARCS else 8


def sizes_of(graph: EitherGraph) -> GivenSizes:
    """Return the sizes of an existing graph or hypergraph."""
    def width(array: Array | None) -> int:
        return 0 if array is None else int(array.dtype.itemsize)

    if isinstance(graph, Graph):
        return GivenSizes((graph.num_vertices, graph.num_arcs), width(graph.offsets),
                          graph.weight_sum_dtype.itemsize, width(graph.vertex_weights),
                          width(graph.weights), graph.max_degree, total=graph.total_arc_weight)
    return GivenSizes((graph.num_vertices, graph.num_nets, graph.num_pins),
                      width(graph.net_offsets), graph.weight_sum_dtype.itemsize,
                      width(graph.vertex_weights), width(graph.net_weights), graph.max_degree,
                      graph.max_net_size, graph.total_net_weight)


def counted(sizes: GivenSizes, shrinkings: Iterable[Shrinking],
            call: Callable[[EitherGraph, SizingSpace], None],
            margin: float = MARGIN, threads: int = 1) -> MemoryEstimate:
    """Return the estimate of a call: the maximum over several ways in which levels may shrink."""
    found = []
    for shrinking in shrinkings:
        space = SizingSpace(shrinking, threads)
        graph = sizes.made(space)
        own = space.live
        call(graph, space)
        space.enter("done", 0, 0)
        found.append((own, space.hierarchy - own, space.coarsening - own, space.refinement - own))
        del graph
    own, *others = (max(each) for each in zip(*found))
    margin = max(margin, MARGIN if len(sizes.counts) == 2 else WIDE_MARGIN)
    hierarchy, coarsening, most = (max(0, int(margin * each)) for each in others)
    return MemoryEstimate(own, hierarchy, own + coarsening, own + most)


def partition_call(algorithm: Algorithm, config: Configuration, k: int, previous: bool = False,
                   has_rounds: bool = False) -> Callable[[EitherGraph, SizingSpace], None]:
    """Return a call of `partition`; with `previous`, one that starts from previous blocks."""
    def call(graph: EitherGraph, space: SizingSpace) -> None:
        n = graph.num_vertices
        if k == 1 or n == 0:
            space.empty(n, np.int32)
            return
        limit = -(-n // k) * 103 // 100 + 1
        constraints = Constraints(rounds=int(has_rounds))
        if previous:
            start = space.zeros(n, np.int32)
            constraints = Constraints(
                initial=start, previous_blocks=PreviousBlocks(start, space.zeros(n, np.int64)))
        objective = net_objective("km1") if isinstance(graph, Hypergraph) else CUT
        problem: Problem[Any] = Problem(graph, Balance(k, limit, n // k), 1,
                                        Trace(space, graph, space.enter), constraints, objective)
        algorithm.partition(problem, config)

    return call


def mapping_call(machine: Topology, algorithm: str | None,
                 preset: str | Configuration) -> Callable[[EitherGraph, SizingSpace], None]:
    """Return a call of `map_processes` without the swaps of blocks."""
    from portpart.algorithms.mapping import mapper_of  # partitions load no mapper

    mapper, config = mapper_of(algorithm, preset, machine.is_hierarchy)

    def call(graph: EitherGraph, space: SizingSpace) -> None:
        n, k = graph.num_vertices, machine.num_elements
        if n == 0:
            return
        limit = -(-n // k) * 103 // 100 + 1
        assert isinstance(graph, Graph)
        mapper.map(MappingProblem(graph, Balance(k, limit, n // k), 1,
                                  Trace(space, graph, space.enter), topology=machine,
                                  distances=distances_on(space, machine)), config)

    return call
