"""Subgraphs of blocks: the vertices of each block, and adjacent ones of other blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import graphs
from portpart.errors import typed_memory_errors
from portpart.inputs.convert import as_graph
from portpart.inputs.convert_nets import as_hypergraph, is_hypergraph
from portpart.options import checked_integer
from portpart.primitives import gather

if TYPE_CHECKING:
    from collections.abc import Hashable

    from portpart.backends.programs import Array
    from portpart.graphs import Blocks, GraphLike

MAX_HALO = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class Subgraph:
    """The sub-graph of one block.  Its own vertices come first, then its ghosts.

    A *ghost* is a vertex of another block that is close to an own one.  Arrays are in the memory of
    the graph.

    Attributes
    ----------
    block : int
    graph : Graph or Hypergraph
        The vertices of the block, numbered from 0, and the edges or nets between them.
    vertices : array of int32, shape (graph.num_vertices,)
        The number of each of them in the whole graph; own vertices are ascending.
    num_own : int
    owners : array of int32, shape (number of ghosts,)
        The block of each ghost.  Ghosts are ordered by block, then ascending.
    send : dict of int to array of int32
        For each block that has own vertices as ghosts: their local numbers, in the order
        that they have there.
    recv : dict of int to slice
        For each block that owns ghosts: their local numbers.
    nets : array of int32, or None
        The number of each net in the whole hypergraph.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 6)
    >>> left, right = portpart.subgraphs(path, [0, 0, 0, 1, 1, 1])
    >>> left
    <Subgraph: block 0 with 3 own vertices and 1 ghosts>
    >>> left.vertices.tolist(), left.owners.tolist()
    ([0, 1, 2, 3], [1])
    >>> right.send[0].tolist(), left.recv[1]
    ([0], slice(3, 4, None))
    """

    block: int
    graph: graphs.EitherGraph
    vertices: Array
    num_own: int
    owners: Array
    send: dict[int, Array]
    recv: dict[int, slice]
    nets: Array | None = None

    @property
    def ghosts(self) -> Array:
        """The number of each ghost in the whole graph."""
        return self.vertices[self.num_own :]

    @property
    def neighbours(self) -> list[int]:
        """The blocks that exchange values with this one, ascending."""
        return sorted({*self.send, *self.recv})

    def _repr_html_(self) -> str:
        return graphs.table("Subgraph", [
            ("block", self.block), ("own vertices", self.num_own), ("ghosts", len(self.owners)),
            ("other blocks", len(self.neighbours)), ("memory of", self.graph.space.name)])

    def __repr__(self) -> str:
        return (f"<Subgraph: block {self.block} with {self.num_own:,} own vertices and "
                f"{len(self.owners):,} ghosts>")


@typed_memory_errors
def subgraphs(graph: GraphLike, part: Blocks, halo: int = 1, *,
              k: int | None = None) -> list[Subgraph]:
    """Divide a graph or hypergraph into the sub-graphs of its blocks, with ghosts and send lists.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of `as_graph`
    part : array_like of int, shape (n,), dict, PartitionResult or Session
        Block of each vertex, 0 ... k - 1.
    halo : int, default 1
        The ghosts of a block are the vertices of other blocks whose distance from one of its
        vertices is at most this number of edges or nets. With 0 it has no ghosts.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block plus one.

    Returns
    -------
    list of Subgraph
        One for each block; an empty block has a graph without vertices.

    Raises
    ------
    InputError
        If `part` has the wrong length or type, or `halo` is not an integer or negative.
    OutOfMemory
        If the memory is too small.

    Notes
    -----
    The graph of a block has all edges between its vertices, so with a halo the rows of own vertices
    are complete.  A hypergraph has the nets of own vertices and of ghosts that are less than `halo`
    nets away, with the pins that the block has; with a halo these are all pins.  Names are kept.

    The work is done on the device of the graph, in parallel, in O(m log n) for the rows of own
    vertices and ghosts.  The result does not depend on the device.

    Examples
    --------
    Each block receives the values of its ghosts from their owners:

    >>> import numpy as np
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(8)
    >>> parts = portpart.subgraphs(grid, portpart.partition(grid, 4))
    >>> values = [np.zeros(len(each.vertices)) for each in parts]
    >>> for each, mine in zip(parts, values):
    ...     mine[: each.num_own] = each.vertices[: each.num_own]
    >>> for each, mine in zip(parts, values):
    ...     for other, places in each.recv.items():
    ...         mine[places] = values[other][parts[other].send[each.block]]
    >>> all((mine == each.vertices).all() for each, mine in zip(parts, values))
    True
    """
    of_nets = is_hypergraph(graph)
    whole: Any = as_hypergraph(graph) if of_nets else as_graph(graph, copy=False)
    blocks, k = graphs.blocks_of(part, whole.num_vertices, k, whole.names)
    halo = checked_integer("halo", halo, 0, MAX_HALO)
    owner = whole.space.asarray(blocks.astype(np.int32))
    pairs, nets = _near(whole, owner, halo, k)
    items = graphs.block_items(whole.space, pairs, owner, k)
    local = graphs.local_items(whole.space, items, owner)
    made: Iterator[Any] = (_graphs(whole, items, local) if nets is None
            else _hypergraphs(whole, items, local, nets, k))
    return [Subgraph(block, found, each.numbers, each.num_own, each.owners, each.send, each.recv,
                     numbers) for block, (each, (found, numbers)) in enumerate(zip(local, made))]


def _near(whole: graphs.EitherGraph, owner: Array, halo: int, k: int) -> tuple[Array, Array | None]:
    """Return pairs of blocks and their vertices; for a hypergraph, also those of nets."""
    space, n = whole.space, whole.num_vertices
    own = newest = inner = graphs.pairs_of(space, owner)
    ghosts = space.empty(0, np.int64)
    for _ in range(halo):
        inner = graphs.merged(space, own, ghosts)
        known = graphs.known_pairs(space, ghosts, n, k, owner)
        if isinstance(whole, graphs.Graph):
            newest = graphs.reached(space, newest, whole.csr, whole.mean_degree, known, n)
        else:
            newest = graphs.reached(space, _nets_of(whole, newest, k), _pins(whole),
                                    _mean_size(whole), known, n)
        if not len(newest):
            break
        ghosts = graphs.merged(space, ghosts, newest)
    nets = None if isinstance(whole, graphs.Graph) else _nets_of(whole, inner, k)
    return graphs.merged(space, own, ghosts), nets


def _nets_of(whole: graphs.Hypergraph, pairs: Array, k: int) -> Array:
    """Return pairs of blocks and the nets of some of their vertices."""
    nothing = graphs.known_pairs(whole.space, whole.space.empty(0, np.int64), whole.num_nets, k)
    return graphs.reached(whole.space, pairs, whole.csr, whole.mean_degree, nothing, whole.num_nets)


def _pins(whole: graphs.Hypergraph) -> graphs.Csr:
    """Return the nets as rows of pins."""
    return graphs.rows_of(whole.net_offsets, whole.net_pins)


def _mean_size(whole: graphs.Hypergraph) -> float:
    return whole.num_pins / max(1, whole.num_nets)


def _graphs(whole: graphs.Graph, items: graphs.BlockItems,
            local: list[graphs.LocalItems]) -> Iterator[tuple[graphs.Graph, None]]:
    """Yield the graphs of all blocks."""
    space, n = whole.space, whole.num_vertices
    made = graphs.block_rows(space, items.keys, whole.csr, whole.mean_degree, items.known, n)
    weights = None if whole.weights is None else gather(space, whole.weights, made.places)
    ends = space.to_host(made.offsets[space.asarray(items.first)])
    for each, begin, end in zip(local, ends.tolist(), ends[1:].tolist()):
        dtype = np.int32 if end - begin <= graphs.MAX_INT32_ARCS else np.int64
        offsets = (made.offsets[each.first : each.last + 1] - begin).astype(dtype)
        graph = graphs.Graph(offsets, made.numbers[begin:end],
                             None if weights is None else weights[begin:end], _masses(whole, each),
                             space, weight_scale=whole.weight_scale, names=_names(whole, each))
        graphs.read_only(graph.arrays.values())
        yield graph, None


def _hypergraphs(whole: graphs.Hypergraph, items: graphs.BlockItems, local: list[graphs.LocalItems],
                 nets: Array, k: int) -> Iterator[tuple[graphs.Hypergraph, Array]]:
    """Yield the hypergraphs of all blocks, and the numbers of their nets."""
    space, m = whole.space, whole.num_nets
    made = graphs.block_rows(space, nets, _pins(whole), _mean_size(whole), items.known,
                             whole.num_vertices)
    numbers = (nets % max(1, m)).astype(np.int32)
    first = space.to_host(graphs.known_pairs(space, nets, m, k).first).tolist()
    ends = space.to_host(made.offsets[space.asarray(np.array(first))]).tolist()
    for block, each in enumerate(local):
        rows, (begin, end) = slice(first[block], first[block + 1]), ends[block : block + 2]
        weights = whole.net_weights
        graph = graphs.nets_hypergraph(
            made.offsets[rows.start : rows.stop + 1] - begin, made.numbers[begin:end],
            len(each.numbers), None if weights is None else gather(space, weights, numbers[rows]),
            _masses(whole, each), space)
        yield replace(graph, names=_names(whole, each), net_names=_chosen(
            whole.net_names, space.to_host(numbers[rows]))), numbers[rows]


def _masses(whole: graphs.EitherGraph, each: graphs.LocalItems) -> Array | None:
    """Return the weights of a block's vertices."""
    masses = whole.vertex_weights
    return None if masses is None else gather(whole.space, masses, each.numbers)


def _names(whole: graphs.EitherGraph, each: graphs.LocalItems) -> Sequence[Hashable] | None:
    """Return the names of a block's vertices."""
    return _chosen(whole.names, whole.space.to_host(each.numbers))


def _chosen(names: Sequence[Hashable] | None, numbers: np.ndarray) -> list[Hashable] | None:
    """Return the names with these numbers."""
    return None if names is None else [names[number] for number in numbers.tolist()]
