"""The public function that partitions the edges of a graph, and its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.multilevel import Progress
from portpart.api.bounds import FREE
from portpart.api.call_options import CallOptions
from portpart.api.device import to_callers_memory
from portpart.api.progress import takes_progress
from portpart.api.request import checked_request
from portpart.api.results import PartitionResult
from portpart.formats.text import PathLike, as_bytes, write_chunks
from portpart.graphs import Blocks, GraphLike, Numbers, copies_of_vertices, host_array
from portpart.io import write_partition

if TYPE_CHECKING:
    from collections.abc import Hashable

    from portpart.backends.programs import Array
    from portpart.options import Configuration

LINES_PER_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EdgePartitionResult(PartitionResult):
    """A partition of the edges of a graph.  Unpacks as ``replication_factor, part``.

    It has the attributes of :class:`PartitionResult`, applied to edges: ``part[e]`` is the block of
    edge e, and weights are those of edges.  ``cut`` is the weight of the vertices with several
    copies, ``km1`` the weight of all copies but the first of each vertex, and ``labels`` are the
    names of the vertices.  It also has these:

    Attributes
    ----------
    edges : array of int32, shape (m, 2)
        Both ends of each edge, the smaller one first, in the array type of the graph.
    copy_offsets, copy_blocks : array of int
        Vertex v has copies in the blocks ``copy_blocks[copy_offsets[v]:copy_offsets[v + 1]]``,
        ascending: the blocks with an edge of it.  An isolated vertex has no copy.

    Examples
    --------
    >>> import portpart
    >>> star = portpart.as_graph([(0, 1), (0, 2), (0, 3), (0, 4)])
    >>> result = portpart.partition_edges(star, 2)
    >>> result.copies.tolist(), result.replication_factor
    ([2, 1, 1, 1, 1], 1.2)
    >>> factor, part = result
    """

    edges: Array
    copy_offsets: Array
    copy_blocks: Array

    @property
    def copies(self) -> np.ndarray:
        """The number of copies of each vertex, int64, shape (n,); 0 without edges."""
        return np.diff(host_array(self.copy_offsets)).astype(np.int64)

    @property
    def replication_factor(self) -> float:
        """Number of all copies divided by the number of vertices that have an edge; 1 if none."""
        copies = self.copies
        return int(copies.sum()) / int((copies > 0).sum()) if len(self.part) else 1.0

    @property
    def masters(self) -> np.ndarray:
        """The block with most edges of each vertex, int32, shape (n,).

        The smallest of several; -1 for a vertex without edges.
        """
        ends, blocks = host_array(self.edges), np.repeat(host_array(self.part), 2)
        pairs, counts = np.unique(ends.reshape(-1).astype(np.int64) * self.k + blocks,
                                  return_counts=True)
        order = np.lexsort((pairs, -counts, pairs // self.k))
        vertices, first = np.unique(pairs[order] // self.k, return_index=True)
        masters = np.full(len(self.copies), FREE, np.int32)
        masters[vertices] = pairs[order][first] % self.k
        return masters

    @property
    def arc_part(self) -> np.ndarray:
        """The block of each arc, int32, shape (2 m,): both directions of each edge.

        Arcs are in the order of the rows, ascending in each row, as in a SciPy CSR matrix with
        sorted indices.
        """
        ends, blocks = host_array(self.edges), host_array(self.part)
        tails, heads = (np.concatenate([ends[:, i], ends[:, 1 - i]]) for i in (0, 1))
        return np.concatenate([blocks, blocks])[np.lexsort((heads, tails))]

    def blocks(self) -> list[np.ndarray]:
        """The edges of each block: k arrays of numbers."""
        blocks: Any = replace(self, labels=None)
        return PartitionResult.blocks(blocks)  # type: ignore[return-value]

    def to_dict(self) -> dict[Hashable, int]:
        """Return the block of each edge by its two ends, by name if vertices have names."""
        pairs, names = host_array(self.edges).tolist(), self.labels
        keys = map(tuple, pairs) if names is None else ((names[u], names[v]) for u, v in pairs)
        return dict(zip(keys, host_array(self.part).tolist()))

    def save(self, path: PathLike, ends: bool = False) -> None:
        """Write the block of each edge, one per line, in the order of `edges`.

        Parameters
        ----------
        path : str or PathLike
            The file is written completely or not at all; ``-`` is standard output.
        ends : bool, default False
            Whether each line begins with both ends of the edge: their names, or numbers from 1.
        """
        if ends:
            write_chunks(path, self._lines())
        else:
            write_partition(self.part, path)

    def _lines(self) -> Iterator[bytes]:
        pairs, blocks = host_array(self.edges), host_array(self.part)
        for begin in range(0, len(blocks), LINES_PER_CHUNK):
            some = slice(begin, begin + LINES_PER_CHUNK)
            rows = zip(pairs[some].tolist(), blocks[some].tolist())
            yield b"".join(b"%b %b %d\n" % (*map(self._word, ends), b) for ends, b in rows)

    def _word(self, vertex: int) -> bytes:
        return as_bytes(vertex + 1 if self.labels is None else self.labels[vertex])

    def __iter__(self) -> Iterator[Any]:
        return iter((self.replication_factor, self.part))

    def _facts(self) -> list[tuple[str, object]]:
        return [("edges", len(self.part)), ("vertices", len(self.copies)),
                ("replication factor", f"{self.replication_factor:.4f}"), *super()._facts()[1:]]

    def __repr__(self) -> str:
        state = "" if self.feasible else ", out of bounds"
        return (f"<EdgePartitionResult: {len(self.part):,} edges in {self.k:,} blocks, replication "
                f"factor {self.replication_factor:.4f}, imbalance {self.imbalance:.4f}{state}, "
                f"{self.seconds:.3f} s>")


@takes_progress
def partition_edges(
    graph: GraphLike,
    k: int,
    *,
    imbalance: float | str = 0.03,
    vertex_weights: Numbers | None = None,
    edge_weights: Numbers | None = None,
    target: Numbers | None = None,
    fixed: Blocks | None = None,
    initial: Blocks | None = None,
    min_block_weight: int | None = None,
    algorithm: str | None = None,
    preset: str | Configuration = "default",
    device: str = "auto",
    seed: int | None = 0,
    threads: int | None = None,
    starts: int | None = None,
    time_limit: float | None = None,
    rounds: int | str | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    progress: Progress | bool | None = None,
) -> EdgePartitionResult:
    """Partition the edges of a graph into `k` blocks of nearly equal weight: a vertex cut.

    A vertex has a copy in each block that has an edge of it.  The number of copies is minimised, or
    their weight if vertices have weights.  Graph systems that keep edges on machines, such as
    PowerGraph and GraphX, exchange data between the copies of a vertex.

    Parameters
    ----------
    graph : Graph, sparse matrix, tuple, edge list, network, frame or path
        Any input of :func:`portpart.as_graph`.  Self loops and repeated edges are treated as there:
        parallel edges of a `Graph` have a block each.
    k : int
        Number of blocks.  No block is empty if at least `k` edges have positive weight, unless
        `target` or `fixed` prevent it.
    imbalance : float, default 0.03
        A block weighs at most (1 + imbalance) times the average, as in :func:`portpart.partition`.
    vertex_weights : array_like, dict or str, optional
        Cost of each copy of a vertex but the first, such as the size of its data.  Weights that the
        graph has count in the same way; without any, each copy costs 1.
    edge_weights : array_like or str, optional
        Load of each edge; the weight of a block is the sum over its edges.
    target : array_like, shape (k,), optional
        Target share of each block in the weight of all edges, as in :func:`portpart.partition`.
    fixed : array_like of int, shape (m,), or dict, optional
        Fixed block of each edge, -1 for free edges.  The keys of a dict are pairs of vertices, by
        name where these have names.
    initial : array_like of int, shape (m,), dict or result, optional
        Initial partition of the edges, which is improved.  The result is never worse: the balance
        is compared first, then the cost.
    min_block_weight : int, optional
        Minimum weight of every block.
    algorithm, preset : optional
        As for hypergraphs: ``"portpart"``, ``"hyperg"`` or ``"ihyperg"``, and names of their
        presets, or a configuration.  Presets of ``"portpart"`` are tuned for edges: clusters grow
        more slowly than in hypergraphs, and starts regard large nets.
    device, seed, threads, starts, time_limit, rounds, symmetrize, weights, weight_scale, progress
        As in :func:`portpart.partition`.

    Returns
    -------
    EdgePartitionResult

    Raises
    ------
    InputError
        If the graph is a hypergraph or directed, or an option is invalid; raised before any work
        starts.
    DeviceUnavailable
        As in :func:`portpart.partition`.
    OutOfMemory
        If the memory of the device or of the host is too small.

    Warns
    -----
    UserWarning
        If `imbalance` is above 1, or if a limit or the minimum weight is missed.

    Notes
    -----
    Edges are numbered by the rows of the graph: first the edges {0, v}, then {1, v} with v > 1, and
    so on; ``result.edges`` has their ends.  Edges of a row are in its order, which ascends unless
    the graph came as rows in another one.

    The hypergraph that is partitioned has a vertex for each edge and a net for each vertex of the
    graph.  Its km1 is the cost.  The same graph, options and seed give the same partition on every
    device and any number of threads, bit for bit, unless a `time_limit` is given.
    ``portpart.memory_estimate(..., edges=True)`` returns the memory that is needed.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(8, 8)
    >>> result = portpart.partition_edges(graph, 2)
    >>> round(result.replication_factor, 3), result.block_weights.tolist(), result.feasible
    (1.125, [55, 57], True)
    >>> result.edges[:3].tolist(), len(result.part)
    ([[0, 1], [0, 8], [1, 2]], 112)
    >>> path = portpart.as_graph([(0, 1), (1, 2), (2, 3)])
    >>> portpart.partition_edges(path, 2, imbalance=1, fixed={(0, 1): 1, (2, 1): 1}).masters
    array([1, 1, 0, 0], dtype=int32)
    """
    asked = CallOptions(
        k, imbalance=imbalance, vertex_weights=vertex_weights, edge_weights=edge_weights,
        target=target, fixed=fixed, initial=initial, min_block_weight=min_block_weight,
        algorithm=algorithm, preset=preset, device=device, seed=seed, threads=threads,
        starts=starts, time_limit=time_limit, rounds=rounds, symmetrize=symmetrize,
        weights=weights, weight_scale=weight_scale, progress=progress)
    call = checked_request(graph, asked, of_edges=True)
    edges, space = call.spec.edges, call.problem.space
    assert edges is not None
    part, block_weights = call.partition(call.problem)
    with space.active():
        offsets, blocks = copies_of_vertices(edges, part)
    arrays = {"edges": edges.vertex_nets.reshape(-1, 2), "copy_offsets": offsets,
              "copy_blocks": blocks}
    facts = call.facts(part, block_weights, call.problem.trace)
    return EdgePartitionResult(
        **{**facts, "labels": edges.net_names},
        **{name: to_callers_memory(array, graph, space) for name, array in arrays.items()})
