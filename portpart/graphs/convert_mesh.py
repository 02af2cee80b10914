"""Recognise what holds a mesh and turn it into a checked `Mesh`."""

from __future__ import annotations

import os
from typing import Any

from portpart.errors import typed_memory_errors
from portpart.graphs.elements import mesh_from
from portpart.graphs.mesh import Mesh


@typed_memory_errors
def as_mesh(elements: Any, *, num_nodes: int | None = None, element_weights: Any = None,
            points: Any = None) -> Mesh:
    """Make a :class:`Mesh` of arrays or lists of elements, checking it on the way.

    Parameters
    ----------
    elements : Mesh, array, list, tuple, dict, object with cells, or path
        - an array of integers of shape (num_elements, nodes per element);
        - a list of elements, each a sequence of its nodes: elements may be of several kinds;
        - a tuple ``(offsets, nodes)``: element e has ``nodes[offsets[e]:offsets[e + 1]]``;
        - a dict or list of blocks as meshio has them: ``{"triangle": array, "quad": array}``,
          ``mesh.cells`` or ``mesh.cells_dict``;
        - an object with ``cells`` and ``points``, such as a ``meshio.Mesh``;
        - a path (str or PathLike), read by :func:`portpart.io.read_mesh`.

        Nodes are numbered from 0.  Of blocks of several dimensions those of the largest are taken:
        lines or triangles next to tetrahedra lie on the boundary.
    num_nodes : int, optional
        Number of nodes; default: the number of points, else the largest node plus one.
    element_weights : array_like of int, shape (num_elements,), optional
        Weights of the elements, zero allowed.
    points : array_like, shape (num_nodes, 1 to 3), optional
        Coordinates of the nodes; default: those of an object with ``points``.

    Returns
    -------
    Mesh
        With new arrays.

    Raises
    ------
    InputError
        Names the first element that is at fault: a node that is negative, out of range or there
        twice, or no node at all.  Names the block of cells whose kind is unknown, and the first
        cell of a lower dimension whose nodes are not all in one element.
    OutOfMemory
        If the memory does not suffice.

    Notes
    -----
    Elements are numbered in the order in which they are given, block after block.  Time and
    memory are linear in the number of nodes of all elements.

    Examples
    --------
    >>> import portpart
    >>> mesh = portpart.as_mesh([[0, 1, 2], [1, 2, 3, 4]])
    >>> mesh
    <Mesh: 2 elements, 5 nodes>
    >>> portpart.partition(mesh.dual_graph(common_nodes=2), 2).cut
    1
    """
    if isinstance(elements, (str, os.PathLike)):
        from portpart.io.meshes import read_mesh

        elements = read_mesh(elements)
    return mesh_from(elements, num_nodes, element_weights, points)
