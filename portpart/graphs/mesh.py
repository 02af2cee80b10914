"""Meshes of finite elements, and the graphs by which they are partitioned.

The vertices of the dual graph are the elements, those of the nodal graph the nodes.  What is
adjacent, and how a partition of one side gives one of the other, is as in METIS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portpart import backends
from portpart.errors import InputError
from portpart.graphs.graph import Graph, read_only
from portpart.graphs.html import table
from portpart.graphs.incidence import Incidence, joined_rows
from portpart.graphs.other_side import part_of_other_side
from portpart.options import shown


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mesh:
    """Elements, each a set of nodes, in compressed form in host memory.

    The constructor trusts its arrays; user input goes through :func:`as_mesh`, whose arrays are
    read-only.

    Parameters
    ----------
    offsets : ndarray of int64, shape (num_elements + 1,)
        The nodes of element e are ``nodes[offsets[e]:offsets[e + 1]]``.
    nodes : ndarray of int32
        Nodes of all elements, none twice in one element.
    num_nodes : int
        Nodes are numbered 0 ... num_nodes - 1; some may be in no element.
    element_weights : ndarray of int64, shape (num_elements,), or None
        None means that every element weighs 1.

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
    _known: dict[str, Incidence] = field(default_factory=dict)

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
        return self._known["node"]

    def dual_graph(self, common_nodes: int = 1, *, weights: bool = False) -> Graph:
        """The graph whose vertices are the elements.

        Parameters
        ----------
        common_nodes : int, default 1
            Elements are adjacent if they share at least so many nodes.  Elements that share a
            face have 2 nodes in common in meshes of triangles or quadrilaterals, 3 in meshes of
            tetrahedra, 4 in meshes of hexahedra.  Of an element of p nodes p - 1 always suffice:
            that is METIS's rule, for meshes of mixed elements.
        weights : bool, default False
            Whether an edge weighs as many as there are common nodes.

        Returns
        -------
        Graph
            Vertex e is element e and weighs ``element_weights[e]``.

        Raises
        ------
        InputError
            If `common_nodes` is less than 1, or if it is 1 and a node in more than 2**16 elements,
            which are all adjacent then.
        OutOfMemory
            If the memory does not suffice.

        Notes
        -----
        Elements are joined in parallel.  With s the sum of squares of the numbers of elements of
        all nodes time is O(s log p); memory, beside the graph, is 24 bytes per node of an element.

        Examples
        --------
        >>> import portpart
        >>> two_triangles_and_one_apart = [[0, 1, 2], [1, 2, 3], [3, 4, 5]]
        >>> mesh = portpart.as_mesh(two_triangles_and_one_apart)
        >>> mesh.dual_graph()
        <Graph: 3 vertices, 2 edges, on cpu>
        >>> mesh.dual_graph(common_nodes=2)
        <Graph: 3 vertices, 1 edges, on cpu>
        """
        if not isinstance(common_nodes, (int, np.integer)) or common_nodes < 1:
            raise InputError(f"common_nodes is {shown(common_nodes)}; it must be an integer of at "
                             "least 1")
        rows = joined_rows(self.by_element, self.by_node, int(common_nodes), weights,
                           ("node", "elements"))
        return _graph(*rows, self._element_weights())

    def nodal_graph(self, *, weights: bool = False) -> Graph:
        """The graph whose vertices are the nodes; two are adjacent if an element has both.

        Parameters
        ----------
        weights : bool, default False
            Whether an edge weighs as many as there are elements that have both nodes.

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

    def node_part(self, element_part: Any, k: int | None = None, target: Any = None) -> np.ndarray:
        """Blocks of the nodes that fit blocks of the elements, as METIS chooses them.

        A node whose elements are all in one block is put there.  Then, in ascending order, every
        other node goes to the block that has most of its elements; if that holds its share of
        the nodes already, to the first of the blocks of its elements that is less loaded.

        Parameters
        ----------
        element_part : array_like of int, shape (num_elements,), PartitionResult or Session
        k : int, optional
            Number of blocks; default: that of the result, the number of targets, or the largest
            block plus one.
        target : array_like of float, shape (k,), optional
            Share of the nodes of each block; equal ones by default.

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

    def element_part(self, node_part: Any, k: int | None = None, target: Any = None) -> np.ndarray:
        """Blocks of the elements that fit blocks of the nodes, as METIS chooses them.

        The rule, the parameters and the errors are those of :meth:`node_part`, with nodes and
        elements exchanged.

        Returns
        -------
        ndarray of int32, shape (num_elements,)
        """
        return part_of_other_side(self.by_element, node_part, self.num_nodes,
                                  "node_part", k, target)

    def _element_weights(self) -> np.ndarray | None:
        weights = self.element_weights
        return None if weights is None or (weights == 1).all() else weights

    def __reduce__(self) -> tuple[Any, ...]:
        return sealed_mesh, (self.offsets, self.nodes, self.num_nodes, self.element_weights)

    def _repr_html_(self) -> str:
        return table("Mesh", [
            ("elements", self.num_elements), ("nodes", self.num_nodes),
            ("nodes of an element", f"{len(self.nodes) / max(1, self.num_elements):.2f} in the "
                                    "mean"),
            ("weights", "none" if self.element_weights is None else "elements")])

    def __repr__(self) -> str:
        weighted = "" if self.element_weights is None else ", with element weights"
        return f"<Mesh: {self.num_elements:,} elements, {self.num_nodes:,} nodes{weighted}>"


def sealed_mesh(*values: Any) -> Mesh:
    """A mesh of arrays of its own, which nobody changes."""
    mesh = Mesh(*values)
    read_only((mesh.offsets, mesh.nodes, mesh.element_weights))
    return mesh


def _graph(offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None,
           vertex_weights: np.ndarray | None) -> Graph:
    """The graph of arrays of its own, in host memory."""
    graph = Graph(offsets, targets, weights, vertex_weights, backends.space("cpu"))
    read_only(graph.arrays.values())
    return graph
