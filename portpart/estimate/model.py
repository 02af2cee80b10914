"""An estimate of memory, and checks before any work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from portpart.algorithms.refinement import RefinementSizes, refining_bytes
from portpart.backends.programs import ExecutionSpace
from portpart.errors import OutOfMemory
from portpart.graphs import EitherGraph, Hypergraph, table

ASKED_FROM = 2**28
"""Calls that need fewer bytes do not ask for the free memory."""


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
        """The same estimate with this many more bytes in every phase."""
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
    """A number of bytes as text, with a unit."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"


def check_memory_limit(space: ExecutionSpace, k: int, graph: EitherGraph | None = None) -> None:
    """Raise if the arrays that every call has for k blocks, or those of nets, exceed all memory."""
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
