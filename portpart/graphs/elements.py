"""Recognises and checks objects that hold the elements of a mesh, except files."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portpart import backends
from portpart.errors import InputError, errors_about, shown
from portpart.graphs.arrays import Numbers, as_array, first_true, index_array
from portpart.graphs.cell_kinds import Cells, kind_of, with_nodes
from portpart.graphs.checks import RowTerms, check_offsets
from portpart.graphs.from_arrays import checked_number
from portpart.graphs.incidence import stacked
from portpart.graphs.mesh import Mesh, read_only_mesh
from portpart.graphs.weights import checked_vertex_weights, integral

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike


MAX_NODES = 2**31 - 2

ACCEPTED = (
    "an array (elements, nodes per element), a list of elements, a tuple (offsets, nodes), blocks "
    "of cells as meshio has them, a path or a portpart Mesh"
)

class ElementRows(NamedTuple):
    """The nodes of elements, and all blocks of cells if their kinds are known."""

    offsets: np.ndarray
    nodes: np.ndarray
    cells: tuple[Cells, ...] | None = None


def mesh_from(elements: Any, num_nodes: int | None, element_weights: Numbers | None,
              points: Any = None) -> Mesh:
    """Return the mesh for `as_mesh`, from any kind of `elements`."""
    if isinstance(elements, Mesh):
        if element_weights is None:
            element_weights = elements.element_weights
        points = elements.points if points is None else points
        num_nodes = elements.num_nodes if num_nodes is None else num_nodes
        rows = ElementRows(elements.offsets, elements.nodes, elements.cells)
        return checked_mesh(rows, num_nodes, element_weights, points)
    if hasattr(elements, "cells") and hasattr(elements, "points"):
        points = elements.points if points is None else points
        elements = elements.cells
    return checked_mesh(_rows(elements), num_nodes, element_weights, points)


def checked_mesh(rows: ElementRows, num_nodes: int | None, element_weights: Numbers | None,
                 points: ArrayLike | None) -> Mesh:
    """Return the checked mesh of rows of integers."""
    offsets, nodes, cells = rows
    num_elements = len(offsets) - 1
    if num_elements > MAX_NODES or len(nodes) > MAX_NODES:
        raise InputError(f"{num_elements} elements with {len(nodes)} nodes; at most 2**31 - 2 of "
                         "each fit")
    if (empty := first_true(offsets[1:] == offsets[:-1])) is not None:
        raise at_element(empty, "has no nodes")
    if points is not None:
        points = _checked_points(points, num_nodes)
        num_nodes = len(points)
    num_nodes = _number_of_nodes(offsets, nodes, num_nodes)
    if points is None:
        largest = [int(each.nodes.max(initial=-1)) for each in cells or ()]
        num_nodes = min(max([num_nodes, *(node + 1 for node in largest)]), MAX_NODES)
    _refuse_nodes_beyond(cells or (), num_nodes)
    nodes = nodes.astype(np.int32)
    mesh = read_only_mesh(offsets.astype(np.int64), nodes, num_nodes,
                          _weights(element_weights, num_elements), points,
                          None if cells is None else with_nodes(cells, nodes))
    _refuse_repeated_nodes(mesh)
    _refuse_mixed_dimensions(mesh)
    return mesh


def _checked_points(points: ArrayLike, num_nodes: int | None) -> np.ndarray:
    """Return the coordinates as an own array."""
    space = backends.space("cpu")
    array = space.to_host(as_array(space, points, "points"))
    if array.ndim != 2 or not 1 <= array.shape[1] <= 3 or array.dtype.kind not in "fiu":
        raise InputError(f"points are of shape {tuple(array.shape)} and type {array.dtype}; "
                         "numbers of shape (num_nodes, 1 to 3) are needed")
    if num_nodes not in (None, len(array)):
        raise InputError(f"there are {len(array)} points, and num_nodes is {shown(num_nodes)}: a "
                         "mesh has a point for each node")
    return np.array(array, np.float64)


def _refuse_nodes_beyond(blocks: tuple[Cells, ...], num_nodes: int) -> None:
    """Raise for a cell of lower dimension with a node that does not exist."""
    for at, cells in enumerate(blocks):
        number = first_true(((cells.nodes < 0) | (cells.nodes >= num_nodes)).any(axis=1))
        if number is not None:
            raise InputError(f"cell {number} of block {at} ({cells.kind}) has the nodes "
                             f"{cells.nodes[number].tolist()}; nodes must lie in 0 ... "
                             f"{num_nodes - 1}")


def _refuse_mixed_dimensions(mesh: Mesh) -> None:
    """Raise for a cell of a lower dimension on no element, such as a beam next to a plate."""
    for at, cells in enumerate(mesh.cells or ()):
        outside = mesh.elements_at(at) < 0
        if outside.any() and kind_of(cells.kind).dimension > 0:
            number = int(outside.argmax())
            raise InputError(
                f"cell {number} of block {at} ({cells.kind}) has the nodes "
                f"{cells.nodes[number].tolist()}, which are not all in one element: the mesh is "
                "of mixed dimensions; pass only the blocks of elements, such as "
                "as_mesh([block for block in mesh.cells if block.type == ...])")


def at_element(element: int, problem: str) -> InputError:
    """Return the error that names an element; readers of files replace it by a line."""
    return InputError(f"element {element} {problem}", vertex=element)


def _number_of_nodes(offsets: np.ndarray, nodes: np.ndarray, given: int | None) -> int:
    """Return the number of nodes, after a check that all are in range."""
    num_nodes = MAX_NODES if given is None else checked_number("num_nodes", given)
    place = first_true((nodes < 0) | (nodes >= num_nodes))
    if place is not None:
        hint = ("; nodes count from 0: subtract 1 from 1-based ones"
                if nodes[place] == num_nodes else "")
        raise at_element(int(np.searchsorted(offsets, place, side="right")) - 1,
                         f"has node {nodes[place]}; nodes must lie in 0 ... {num_nodes - 1}{hint}")
    return int(nodes.max(initial=-1)) + 1 if given is None else num_nodes


def _refuse_repeated_nodes(mesh: Mesh) -> None:
    """Raise naming the first element that has a node twice."""
    by_node = mesh.by_node
    elements, nodes = by_node.members, by_node.rows
    again = (elements[1:] == elements[:-1]) & (nodes[1:] == nodes[:-1])
    if again.any():
        element = elements[1:][again].min()
        node = nodes[1:][again & (elements[1:] == element)][0]
        raise at_element(int(element), f"has node {node} more than once")


def _weights(values: Any, num_elements: int) -> np.ndarray | None:
    if values is None:
        return None
    space = backends.space("cpu")
    array = as_array(space, values, "element_weights")
    try:
        return np.array(checked_vertex_weights(space, array, num_elements)[0], np.int64)
    except InputError as problem:
        text = str(problem).replace("vertex", "element").replace("vertices", "elements")
        raise InputError(text, vertex=problem.vertex) from None


def _rows(elements: ArrayLike | None) -> ElementRows:
    """Return offsets and nodes of an object that holds elements."""
    if isinstance(elements, tuple):
        return _compressed_rows(elements)
    if isinstance(elements, Mapping):
        return _rows_of_blocks([(str(name), data, f"block {shown(name)}")
                                for name, data in elements.items()])
    if any(hasattr(elements, name) for name in ("__array__", "__dlpack__")):
        rows = stacked([_table(elements, "the array of elements")])
        return ElementRows(rows.offsets, rows.members)
    each = _listed(elements)
    blocks = [_block_of(block, at) for at, block in enumerate(each)]
    if blocks and all(blocks):
        return _rows_of_blocks([block for block in blocks if block is not None])
    return _rows_of_lists(each)


def _listed(elements: Any) -> list[Any]:
    """Return the elements of a sequence, by iteration or by index."""
    try:
        walk = None if isinstance(elements, (bytes, bytearray, set)) else iter(elements)
    except TypeError:
        walk = None
    if walk is None:
        raise InputError(f"elements are a {type(elements).__name__}; accepted are {ACCEPTED}")
    return list(walk)


def _compressed_rows(pair: tuple[Any, ...]) -> ElementRows:
    if len(pair) != 2:
        raise InputError(f"a tuple of {len(pair)}: give (offsets, nodes), or a list of elements")
    space = backends.space("cpu")
    offsets = space.to_host(index_array(space, pair[0], "offsets"))
    nodes = space.to_host(index_array(space, pair[1], "nodes"))
    check_offsets(space, offsets, len(nodes),
                  RowTerms("offsets", "nodes", "nodes", "a mesh of n elements"))
    return ElementRows(offsets, nodes)


def _rows_of_lists(elements: list[Any]) -> ElementRows:
    """Return offsets and nodes of elements that are sequences of any lengths."""
    offsets = np.zeros(len(elements) + 1, np.int64)
    for at, element in enumerate(elements):
        if isinstance(element, (str, bytes, Mapping)) or not hasattr(element, "__len__"):
            raise at_element(at, f"is {shown(element)}; a sequence of nodes is needed")
        offsets[at + 1] = len(element)
    np.cumsum(offsets, out=offsets)
    flat = list(chain.from_iterable(elements))
    nodes = _integers(flat)
    if nodes is None:
        place = next(i for i, node in enumerate(flat) if _integers([node]) is None)
        raise at_element(int(np.searchsorted(offsets, place, side="right")) - 1,
                         f"has node {shown(flat[place])}; nodes must be integers below 2**63")
    return ElementRows(offsets, nodes)


def _integers(values: list[Hashable]) -> np.ndarray | None:
    """Return `values` as int64, or None if one is not an integer."""
    try:
        array = np.array(values) if values else np.empty(0, np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.dtype == np.uint64:
        return None
    return array.astype(np.int64, copy=False)


def _block_of(block: Any, at: int) -> tuple[str, Any, str] | None:
    """Return kind, array and place of a block of cells of any meshio version, or None."""
    if hasattr(block, "type") and hasattr(block, "data"):
        return str(block.type), block.data, f"block {at}"
    if isinstance(block, tuple) and len(block) == 2 and isinstance(block[0], str):
        return block[0], block[1], f"block {at}"
    return None


def _rows_of_blocks(blocks: list[tuple[str, Any, str]]) -> ElementRows:
    """Return the cells of the largest dimension as elements, in the order of blocks."""
    dimensions, tables = [], []
    for name, data, place in blocks:
        with errors_about(place, InputError):
            kind = kind_of(name)
        if name.startswith("polyhedron"):
            data = _nodes_of_polyhedra(data, place)
        table = _table(data, place)
        if table.shape[1] < (kind.corners or 1) and len(table):
            raise InputError(f"{place} has {table.shape[1]} nodes per cell; a {name} has at least "
                             f"{kind.corners}")
        dimensions.append(kind.dimension)
        tables.append(table)
    top = max(dimensions, default=0)
    rows = stacked([table for dimension, table in zip(dimensions, tables) if dimension == top])
    cells, first = [], 0
    for (name, _, _), dimension, table in zip(blocks, dimensions, tables):
        cells.append(Cells(name, table, first if dimension == top else None))
        first += len(table) if dimension == top else 0
    return ElementRows(rows.offsets, rows.members, tuple(cells))


def _nodes_of_polyhedra(cells: Any, place: str) -> Any:
    """Return the nodes of polyhedra with equal numbers of nodes, given as lists of faces."""
    if hasattr(cells, "ndim"):
        return cells
    try:
        return [np.unique(np.concatenate(faces)) for faces in cells]
    except (TypeError, ValueError):
        raise InputError(f"{place} holds no polyhedra: each is a list of faces, and a face is a "
                         "sequence of nodes") from None


def _table(block: Any, what: str) -> np.ndarray:
    """Return a block of elements of equal size as a two-dimensional array of integers."""
    space = backends.space("cpu")
    table = as_array(space, block, what)
    if table.ndim != 2:
        raise InputError(f"{what} has shape {tuple(table.shape)}; (elements, nodes per element) "
                         "is needed")
    if table.dtype.kind not in "iu" and table.size:
        raise InputError(f"{what} is of type {table.dtype}; nodes must be integers")
    return space.to_host(integral(space, table.ravel(), what)).reshape(table.shape)
