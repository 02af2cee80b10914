"""Meshes of finite elements, and the graphs by which they are partitioned.

The vertices of the dual graph are the elements, those of the nodal graph the nodes.  Adjacency, and
the blocks of nodes for blocks of elements, are those of METIS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.errors import InputError, shown, typed_memory_errors
from portpart.graphs.blocks import blocks_of_elements
from portpart.graphs.cell_kinds import Cells, chosen_cells, corners_of, lower_cells, renumbered
from portpart.graphs.element_blocks import part_of_other_side
from portpart.graphs.graph import Graph
from portpart.graphs.incidence import Incidence, joined_rows, rows_with, stacked
from portpart.graphs.structure import read_only, table
from portpart.options import checked_integer

if TYPE_CHECKING:
    from portpart.graphs.arrays import Blocks, Numbers
    from portpart.graphs.submesh import BlockElements, Submesh

FACE, MAX_NUMBER = "face", 2**31 - 1

WITHOUT_KINDS = ("has no kinds of cells: as_mesh({'tetra': elements}) for example says what the "
                 "elements are")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mesh:
    """Elements, each a set of nodes, in compressed form in host memory.

    The constructor trusts its arrays; user input is checked by :func:`as_mesh`, whose arrays are
    read-only.

    Parameters
    ----------
    offsets : ndarray of int64, shape (num_elements + 1,)
        The nodes of element e are ``nodes[offsets[e]:offsets[e + 1]]``.
    nodes : ndarray of int32
        Nodes of all elements; no element has a node twice.
    num_nodes : int
        Nodes are numbered 0 ... num_nodes - 1; some may be in no element.
    element_weights : ndarray of int64, shape (num_elements,), or None
        None means that every element weighs 1.
    points : ndarray of float64, shape (num_nodes, 1 to 3), or None
        Coordinates of the nodes.
    cells : tuple of blocks of cells, or None
        All blocks of cells of the mesh, if the kinds of cells are known.  A block has the
        attributes ``kind``, meshio's name such as ``"tetra10"``; ``nodes``, an int32 array of shape
        (cells, nodes per cell); and ``first``, the number of its first element.  ``first`` is None
        for cells of a lower dimension, which are not elements.

    Examples
    --------
    >>> import portpart
    >>> mesh = portpart.as_mesh([[0, 1, 2], [1, 2, 3]])
    >>> mesh
    <Mesh: 2 elements, 4 nodes>
    >>> mesh.dual_graph(common_nodes=2)
    <Graph: 2 vertices, 1 edges, on cpu>
    >>> mesh.nodal_graph()
    <Graph: 4 vertices, 5 edges, on cpu>
    >>> mesh.node_part([0, 1], 2)
    array([0, 0, 0, 1], dtype=int32)
    """

    offsets: np.ndarray
    nodes: np.ndarray
    num_nodes: int
    element_weights: np.ndarray | None = None
    points: np.ndarray | None = None
    cells: tuple[Cells, ...] | None = None
    _known: dict[str | int, Any] = field(default_factory=dict)

    @property
    def num_elements(self) -> int:
        """Number of elements."""
        return len(self.offsets) - 1

    @property
    def by_element(self) -> Incidence:
        """The nodes of each element."""
        return Incidence(self.offsets, self.nodes)

    @property
    def by_node(self) -> Incidence:
        """The elements of each node, ascending; computed once."""
        if "node" not in self._known:
            transposed = self.by_element.transposed(self.num_nodes)
            read_only((transposed.offsets, transposed.members))
            self._known["node"] = transposed
        found: Incidence = self._known["node"]
        return found

    def elements_at(self, block: int) -> np.ndarray:
        """Return the element that each cell of a block of `cells` is or lies on, as int32 array.

        A cell lies on the first element that has all its nodes; -1 if there is none.
        """
        if self.cells is None:
            raise InputError(f"this mesh {WITHOUT_KINDS}")
        block = checked_integer("block", block, 0, len(self.cells) - 1)
        _, nodes, first = self.cells[block]
        if first is not None:
            return np.arange(first, first + len(nodes), dtype=np.int32)
        if block not in self._known:
            self._known[block] = rows_with(stacked([nodes]), self.by_element, self.by_node)
        found: np.ndarray = self._known[block]
        return found

    def cell_data(self, element_part: Blocks, k: int | None = None) -> list[np.ndarray]:
        """Return blocks of all cells, one array for each block of `cells`: cell data for meshio.

        Parameters
        ----------
        element_part : array_like of int, shape (num_elements,), PartitionResult or Session
        k : int, optional
            Number of blocks; default: k of the result, or the largest block plus one.

        Returns
        -------
        list of ndarray of int32
            A cell of a lower dimension, such as a triangle on the boundary of tetrahedra, has the
            block of the first element that it lies on, or -1 if it lies on none.

        Raises
        ------
        InputError
            If `element_part` does not fit, or if the kinds of the cells are not known.

        Examples
        --------
        >>> import portpart
        >>> mesh = portpart.as_mesh({"line": [[1, 3]], "triangle": [[0, 1, 2], [1, 2, 3]]})
        >>> [part.tolist() for part in mesh.cell_data([0, 1])]
        [[1], [0, 1]]
        """
        part, _ = blocks_of_elements(element_part, self.num_elements, self.num_nodes, k)
        if self.cells is None:
            raise InputError(f"this mesh {WITHOUT_KINDS}")
        padded = np.append(part, -1).astype(np.int32)  # the last entry is for -1
        return [padded[self.elements_at(block)] for block in range(len(self.cells))]

    def dual_graph(self, common_nodes: int | str | None = None, *, weights: bool = False) -> Graph:
        """Return the graph whose vertices are the elements.

        Parameters
        ----------
        common_nodes : int or "face", optional
            Elements are adjacent if they share at least this many nodes.  With ``"face"`` they are
            adjacent if they share a face: all its corners, that is 3 of tetrahedra, 4 of hexahedra,
            and 2 of triangles and quadrilaterals, whose faces are edges.  Default: ``"face"`` if
            the kinds of the elements are known, as in files of meshio, else 1.  For an element of p
            nodes, p - 1 common nodes always suffice: METIS's rule for mixed meshes.
        weights : bool, default False
            Whether the weight of an edge is the number of common nodes, with ``"face"`` of common
            corners.

        Returns
        -------
        Graph
            Vertex e is element e and weighs ``element_weights[e]``.

        Raises
        ------
        InputError
            If `common_nodes` is less than 1, if it is ``"face"`` and the kinds of the elements are
            not known, or if it is 1 and a node is in more than 2**16 elements, which would all be
            adjacent.
        OutOfMemory
            If the memory is too small.

        Notes
        -----
        Elements are joined in parallel, in time O(s log p), where s is the sum over all nodes of
        the squared number of elements.  In addition to the graph, memory is 24 bytes per node of an
        element.

        Examples
        --------
        >>> import portpart
        >>> two_triangles_and_one_apart = [[0, 1, 2], [1, 2, 3], [3, 4, 5]]
        >>> mesh = portpart.as_mesh(two_triangles_and_one_apart)
        >>> mesh.dual_graph()
        <Graph: 3 vertices, 2 edges, on cpu>
        >>> mesh.dual_graph(common_nodes=2)
        <Graph: 3 vertices, 1 edges, on cpu>
        >>> portpart.as_mesh({"triangle": two_triangles_and_one_apart}).dual_graph()
        <Graph: 3 vertices, 1 edges, on cpu>
        """
        if common_nodes is None:
            common_nodes = 1 if self.cells is None else FACE
        if isinstance(common_nodes, str) and common_nodes == FACE:
            these, others, common = self._corners()
        elif isinstance(common_nodes, (int, np.integer)) and common_nodes >= 1:
            these, others, common = self.by_element, self.by_node, int(common_nodes)
        else:
            raise InputError(f"common_nodes is {shown(common_nodes)}; it must be an integer of at "
                             "least 1, or 'face'")
        rows = joined_rows(these, others, common, weights, ("node", "elements"))
        heavy = self.element_weights
        return _graph(*rows, None if heavy is None or (heavy == 1).all() else heavy)

    def _corners(self) -> tuple[Incidence, Incidence, int | np.ndarray]:
        """Return the corners of each element, the elements of each corner, and a face's corners."""
        if self.cells is None:
            raise InputError(f"common_nodes is 'face', but the mesh {WITHOUT_KINDS}, or pass the "
                             "number of common nodes")
        corners, needed = corners_of(self.cells, self.by_element)
        same = corners.members is self.nodes
        return corners, self.by_node if same else corners.transposed(self.num_nodes), needed

    def nodal_graph(self, *, weights: bool = False) -> Graph:
        """Return the graph whose vertices are the nodes; two are adjacent if an element has both.

        Parameters
        ----------
        weights : bool, default False
            Whether the weight of an edge is the number of elements that have both nodes.

        Returns
        -------
        Graph
            Nodes that are in no element have no edges.

        Raises
        ------
        InputError
            If an element has more than 2**16 nodes, which are all adjacent.
        OutOfMemory
            If the memory does not suffice.

        Examples
        --------
        >>> import portpart
        >>> portpart.as_mesh([[0, 1, 2], [1, 2, 3]]).nodal_graph()
        <Graph: 4 vertices, 5 edges, on cpu>
        """
        ascending = self.by_node.transposed(self.num_elements)
        rows = joined_rows(self.by_node, ascending, 1, weights, ("element", "nodes"))
        return _graph(*rows, None)

    def node_part(self, element_part: Blocks, k: int | None = None,
                  target: Numbers | None = None) -> np.ndarray:
        """Return blocks of the nodes for blocks of the elements, by METIS's rule.

        A node whose elements are all in one block is in that block.  Then, in ascending order,
        every other node goes to the block that has most of its elements.  If that block has its
        share of the nodes already, the node goes to the first less loaded block of its elements.

        Parameters
        ----------
        element_part : array_like of int, shape (num_elements,), PartitionResult or Session
        k : int, optional
            Number of blocks; default: k of the result, the number of targets, or the largest block
            plus one.
        target : array_like of float, shape (k,), optional
            Share of the nodes of each block; equal shares by default.

        Returns
        -------
        ndarray of int32, shape (num_nodes,)
            -1 for nodes that are in no element.

        Raises
        ------
        InputError
            If a block is not in 0 ... k - 1 or a length is wrong.

        Examples
        --------
        >>> import portpart
        >>> portpart.as_mesh([[0, 1], [1, 2], [2, 3]]).node_part([0, 0, 1])
        array([0, 0, 0, 1], dtype=int32)
        """
        return part_of_other_side(self.by_node, element_part, self.num_elements,
                                  "element_part", k, target)

    def element_part(self, node_part: Blocks, k: int | None = None,
                     target: Numbers | None = None) -> np.ndarray:
        """Return blocks of the elements for blocks of the nodes, by METIS's rule.

        The rule, the parameters and the errors are those of :meth:`node_part`, with nodes and
        elements exchanged.

        Returns
        -------
        ndarray of int32, shape (num_elements,)
        """
        return part_of_other_side(self.by_element, node_part, self.num_nodes,
                                  "node_part", k, target)

    @typed_memory_errors
    def submeshes(self, element_part: Blocks, ghosts: int = 1, *,
                  k: int | None = None) -> list[Submesh[Mesh]]:
        """Return the sub-mesh of each block of a partition, with ghosts.

        Parameters
        ----------
        element_part : array_like of int, shape (num_elements,), PartitionResult or Session
            Block of each element.
        ghosts : int, default 1
            Layers of elements of other blocks in a sub-mesh.  The first layer shares nodes with own
            elements.  With 0 a sub-mesh has own elements only.
        k : int, optional
            Number of blocks; default: k of the result, or the largest block plus one.

        Returns
        -------
        list of Submesh
            One for each block; an empty block has a mesh without elements.  A cell of a lower
            dimension goes to the block of the first element that it lies on.  Nodes that are in no
            element are in no sub-mesh.

        Raises
        ------
        InputError
            If `element_part` has the wrong length or type, or `ghosts` is not an integer >= 0.
        OutOfMemory
            If the memory does not suffice.

        Notes
        -----
        Work is done in parallel, O(s log s) for the s nodes of all own elements and ghosts.  The
        result does not depend on the number of threads.

        Examples
        --------
        >>> import portpart
        >>> strip = portpart.as_mesh([[i, i + 1] for i in range(6)])
        >>> left, right = strip.submeshes([0, 0, 0, 1, 1, 1])
        >>> left.elements.tolist(), left.owners.tolist(), left.neighbours
        ([0, 1, 2, 3], [1], [1])
        """
        from portpart.graphs.submesh import Submesh, pieces_of

        part, k = blocks_of_elements(element_part, self.num_elements, self.num_nodes, k)
        ghosts = checked_integer("ghosts", ghosts, 0, MAX_NUMBER)
        part = part.astype(np.int32)
        pieces = pieces_of(self.by_element, self.by_node, part, self.node_part(part, max(1, k)),
                           ghosts, k)
        lower = lower_cells(self.cells or (), self.cell_data(part, k) if self.cells else [], k)
        return [Submesh(block, self._piece(piece, mine), *piece.elements[2:],
                        *piece.nodes[2:], piece.shared, mine)
                for block, (piece, mine) in enumerate(zip(pieces, lower))]

    def _piece(self, piece: BlockElements, lower: dict[int, np.ndarray]) -> Mesh:
        elements, numbers = piece.elements.numbers, piece.nodes.numbers
        weights, points = (None if each is None else each[chosen] for each, chosen in (
            (self.element_weights, elements), (self.points, numbers)))
        cells = None if self.cells is None else (
            *chosen_cells(self.cells, elements, piece.offsets, piece.targets),
            *renumbered(self.cells, lower, numbers))
        return read_only_mesh(piece.offsets, piece.targets, len(numbers), weights, points, cells)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_only_mesh, (self.offsets, self.nodes, self.num_nodes, self.element_weights,
                                self.points, self.cells)

    def _repr_html_(self) -> str:
        return table("Mesh", [
            ("elements", self.num_elements), ("nodes", self.num_nodes),
            ("nodes of an element", f"{len(self.nodes) / max(1, self.num_elements):.2f} in the "
                                    "mean"),
            ("cells", None if self.cells is None else ", ".join(
                dict.fromkeys(cells.kind for cells in self.cells))),
            ("points", None if self.points is None else f"of {self.points.shape[1]} coordinates"),
            ("weights", "none" if self.element_weights is None else "elements")])

    def __repr__(self) -> str:
        weighted = "" if self.element_weights is None else ", with element weights"
        return f"<Mesh: {self.num_elements:,} elements, {self.num_nodes:,} nodes{weighted}>"


def read_only_mesh(*values: Any) -> Mesh:
    """Return a mesh of read-only arrays."""
    mesh = Mesh(*values)
    read_only((mesh.offsets, mesh.nodes, mesh.element_weights, mesh.points,
               *(cells.nodes for cells in mesh.cells or ())))
    return mesh


def _graph(offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None,
           vertex_weights: np.ndarray | None) -> Graph:
    """Return the graph of these arrays, in host memory."""
    graph = Graph(offsets, targets, weights, vertex_weights, backends.space("cpu"))
    read_only(graph.arrays.values())
    return graph
