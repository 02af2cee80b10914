"""Sub-meshes of blocks: the elements of each block, their nodes, and adjacent ghosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from portpart import backends
from portpart.backends.programs import Array
from portpart.graphs.block_items import (
    BlockPairs,
    LocalItems,
    block_items,
    block_rows,
    known_pairs,
    local_items,
    merged,
    pairs_of,
    reached,
)
from portpart.graphs.incidence import Incidence
from portpart.graphs.structure import rows_of, table

DUPLICATE = 1
"""VTK's mark for cells and points that another piece owns."""

M = TypeVar("M")  # Mesh, which imports this module


@dataclass(frozen=True, eq=False, repr=False)
class Submesh(Generic[M]):
    """The sub-mesh of one block, in host memory.

    Its own elements come first, then its *ghosts*: elements of other blocks that are close to own
    ones.  Its own nodes come first, then nodes that other blocks own.  Numbers are local and begin
    with 0, unless the whole mesh is mentioned.

    Attributes
    ----------
    block : int
    mesh : Mesh
        The elements and nodes of the block, with points, kinds of cells and weights.
    elements : ndarray of int32, shape (mesh.num_elements,)
        The number of each element in the whole mesh; own elements are ascending.
    num_own : int
        Number of own elements.
    owners : ndarray of int32, shape (number of ghosts,)
        The block of each ghost.  Ghosts are ordered by block, then ascending.
    send, recv : dict of int to ndarray of int32, dict of int to slice
        `send`: for each block that has own elements as ghosts, their numbers in the order that they
        have there.  `recv`: for each block that owns ghosts, their numbers.
    nodes : ndarray of int32, shape (mesh.num_nodes,)
        The number of each node in the whole mesh; own nodes are ascending.
    num_own_nodes : int
        Number of own nodes: each node has one owner, by :meth:`Mesh.node_part`.
    node_owners : ndarray of int32
        The block of each node that another block owns, ordered by block, then ascending.
    node_send, node_recv : dict of int to ndarray of int32, dict of int to slice
        The same as `send` and `recv`, for nodes.
    shared : dict of int to ndarray of int32
        For each block whose own elements have nodes in common with own ones: these nodes, in the
        same order on both sides.
    lower_cells : dict of int to ndarray of int32
        For each block of ``cells`` of the whole mesh that is of a lower dimension, such as
        triangles on the boundary of tetrahedra: the numbers of its cells that lie on own elements.
        The last blocks of ``mesh.cells`` are these cells.  Each cell is in one sub-mesh.

    Examples
    --------
    >>> import portpart
    >>> strip = portpart.as_mesh([[0, 1, 4, 3], [1, 2, 5, 4]])
    >>> left, right = strip.submeshes([0, 1], ghosts=0)
    >>> left
    <Submesh: block 0 with 1 own elements, 0 ghosts and 4 nodes>
    >>> left.nodes.tolist(), right.nodes.tolist()
    ([0, 1, 3, 4], [2, 5, 1, 4])
    >>> left.shared[1].tolist(), right.shared[0].tolist()
    ([1, 3], [2, 3])
    """

    block: int
    mesh: M
    elements: np.ndarray
    num_own: int
    owners: np.ndarray
    send: dict[int, np.ndarray]
    recv: dict[int, slice]
    nodes: np.ndarray
    num_own_nodes: int
    node_owners: np.ndarray
    node_send: dict[int, np.ndarray]
    node_recv: dict[int, slice]
    shared: dict[int, np.ndarray]
    lower_cells: dict[int, np.ndarray]

    @property
    def neighbours(self) -> list[int]:
        """The blocks with which this one shares nodes or exchanges ghosts, ascending."""
        return sorted({*self.shared, *self.send, *self.recv})

    @property
    def ghost_types(self) -> tuple[np.ndarray, np.ndarray]:
        """``vtkGhostType`` of elements and of nodes, uint8: 0 of own ones, 1 of others."""
        elements, nodes = (np.full(len(each), DUPLICATE, np.uint8)
                           for each in (self.elements, self.nodes))
        elements[: self.num_own] = nodes[: self.num_own_nodes] = 0
        return elements, nodes

    def _repr_html_(self) -> str:
        return table("Submesh", [
            ("block", self.block), ("own elements", self.num_own), ("ghosts", len(self.owners)),
            ("own nodes", self.num_own_nodes), ("nodes", len(self.nodes)),
            ("other blocks", len(self.neighbours))])

    def __repr__(self) -> str:
        return (f"<Submesh: block {self.block} with {self.num_own:,} own elements, "
                f"{len(self.owners):,} ghosts and {len(self.nodes):,} nodes>")


class BlockElements(NamedTuple):
    """The elements and nodes of a block.

    Attributes
    ----------
    elements, nodes : LocalItems
    offsets, targets : ndarray of int64, ndarray of int32
        The nodes of each element, by their local numbers.
    shared : dict of int to ndarray of int32
        See `Submesh`.
    """

    elements: LocalItems
    nodes: LocalItems
    offsets: np.ndarray
    targets: np.ndarray
    shared: dict[int, np.ndarray]


def pieces_of(by_element: Incidence, by_node: Incidence, part: np.ndarray, node_part: np.ndarray,
              ghosts: int, k: int) -> list[BlockElements]:
    """Return the elements and nodes of each block.

    Parameters
    ----------
    by_element, by_node : Incidence
        The nodes of each element, and the elements of each node.
    part, node_part : ndarray of int32
        The block of each element, and of each node: a block of one of its elements.
    ghosts : int
        Ghosts are elements of other blocks that are at most this many steps away; a step leads from
        an element to one that shares a node with it.
    k : int
    """
    space = backends.space("cpu")
    num_elements, num_nodes = len(by_element), len(by_node)
    nodes_of, elements_of = (rows_of(rows.offsets, rows.members) for rows in (by_element, by_node))
    mean, mean_of_nodes = (len(rows.members) / max(1, len(rows)) for rows in (by_element, by_node))
    nothing = known_pairs(space, space.empty(0, np.int64), num_nodes, k)
    own: Array = pairs_of(space, part)
    newest = own
    own_nodes = reached(space, own, nodes_of, mean, nothing, num_nodes)
    near: Array = space.empty(0, np.int64)
    for _ in range(ghosts):
        around = reached(space, newest, nodes_of, mean, nothing, num_nodes)
        known = known_pairs(space, near, num_elements, k, part)
        newest = reached(space, around, elements_of, mean_of_nodes, known, num_elements)
        if not len(newest):
            break
        near = merged(space, near, newest)
    pairs = merged(space, own, near)
    nodes = reached(space, pairs, nodes_of, mean, nothing, num_nodes)
    items = block_items(space, pairs, part, k)
    node_items = block_items(space, nodes, node_part, k)
    rows = block_rows(space, items.keys, nodes_of, mean, node_items.known, num_nodes)
    shared = _shared_nodes(own_nodes, node_items.known, num_nodes, k)
    ends = rows.offsets[items.first].tolist()
    return [BlockElements(elements, of_nodes,
                          rows.offsets[elements.first : elements.last + 1] - begin,
                          rows.numbers[begin:end], between)
            for elements, of_nodes, begin, end, between in zip(
                local_items(space, items, part), local_items(space, node_items, node_part),
                ends, ends[1:], shared)]


def _shared_nodes(pairs: Array, known: BlockPairs, num_nodes: int,
                  k: int) -> list[dict[int, np.ndarray]]:
    """Return for each block the local numbers of the nodes that it shares with each other block.

    `pairs` are blocks and the nodes of their elements.
    """
    host = backends.space("cpu").to_host
    blocks, nodes = np.divmod(host(pairs), max(1, num_nodes))
    order = np.lexsort((blocks, nodes))
    blocks, nodes = blocks[order], nodes[order]
    found = [np.empty((3, 0), np.int64)]
    distance = 1
    while (same := np.flatnonzero(nodes[distance:] == nodes[:-distance])).size:
        one, other, node = blocks[same], blocks[same + distance], nodes[same]
        found += [np.array([one, other, node]), np.array([other, one, node])]
        distance += 1
    own, other, node = np.concatenate(found, axis=1)
    order = np.lexsort((node, other, own))
    own, other, node = own[order], other[order], node[order]
    local = (known.ranks[np.searchsorted(host(known.keys), own * num_nodes + node)]
             - known.first[own]).astype(np.int32)
    shared: list[dict[int, np.ndarray]] = [{} for _ in range(k)]
    begins = np.flatnonzero(np.diff(own * k + other, prepend=-1))
    for begin, numbers in zip(begins.tolist(), np.split(local, begins[1:])):
        if len(numbers):
            shared[int(own[begin])][int(other[begin])] = numbers
    return shared
