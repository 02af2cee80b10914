"""Recognise what holds the elements of a mesh, but for files, and check it."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from portpart import backends
from portpart.errors import InputError
from portpart.graphs.checks import Words, check_offsets
from portpart.graphs.from_arrays import as_array, index_array
from portpart.graphs.mesh import Mesh, sealed_mesh
from portpart.graphs.weights import checked_vertex_weights, integral
from portpart.options import shown

MAX_NODES = 2**31 - 2

ACCEPTED = (
    "an array (elements, nodes per element), a list of elements, a tuple (offsets, nodes), blocks "
    "of cells as meshio has them, a path or a portpart Mesh"
)


DIMENSIONS = {"vertex": 0, "line": 1, "curve": 1, "triangle": 2, "quad": 2, "polygon": 2,
              "tetra": 3, "hexa": 3, "wedge": 3, "pyramid": 3, "penta": 3, "polyhedron": 3}
"""By how meshio's names of kinds of cells begin, as in ``hexahedron20``."""

Named = TypeVar("Named")


def mesh_from(elements: Any, num_nodes: int | None, element_weights: Any) -> Mesh:
    """The work of `as_mesh`: dispatch on the kind of `elements`."""
    if isinstance(elements, Mesh):
        if element_weights is None:
            element_weights = elements.element_weights
        num_nodes = elements.num_nodes if num_nodes is None else num_nodes
        return checked_mesh(elements.offsets, elements.nodes, num_nodes, element_weights)
    if hasattr(elements, "cells") and hasattr(elements, "points"):
        num_nodes = len(elements.points) if num_nodes is None else num_nodes
        elements = elements.cells
    return checked_mesh(*_rows(elements), num_nodes, element_weights)


def checked_mesh(
    offsets: np.ndarray, nodes: np.ndarray, num_nodes: int | None, element_weights: Any
) -> Mesh:
    """A mesh of rows of integers, checked."""
    num_elements = len(offsets) - 1
    if num_elements > MAX_NODES or len(nodes) > MAX_NODES:
        raise InputError(f"{num_elements} elements with {len(nodes)} nodes; at most 2**31 - 2 of "
                         "each fit")
    empty = offsets[1:] == offsets[:-1]
    if empty.any():
        raise at_element(int(empty.argmax()), "has no nodes")
    num_nodes = _number_of_nodes(offsets, nodes, num_nodes)
    mesh = sealed_mesh(offsets.astype(np.int64), nodes.astype(np.int32), num_nodes,
                       _weights(element_weights, num_elements))
    _refuse_repeated_nodes(mesh)
    return mesh


def at_element(element: int, problem: str) -> InputError:
    """The error that names an element, which a reader turns into a line."""
    return error_at(element, f"element {element} {problem}")


def error_at(element: int | None, problem: str) -> InputError:
    """An error for an element, where it is one's."""
    error = InputError(problem)
    error.vertex = element
    return error


def _number_of_nodes(offsets: np.ndarray, nodes: np.ndarray, given: int | None) -> int:
    """The number of nodes, after a check that all are in range."""
    num_nodes = MAX_NODES
    if given is not None:
        try:
            num_nodes = operator.index(given)
        except TypeError:
            raise InputError(f"num_nodes is {shown(given)}; it must be an integer") from None
        if not 0 <= num_nodes <= MAX_NODES:
            raise InputError(f"num_nodes is {given}; it must be between 0 and {MAX_NODES}")
    outside = (nodes < 0) | (nodes >= num_nodes)
    if outside.any():
        place = int(outside.argmax())
        hint = ("; nodes count from 0: subtract 1 from 1-based ones"
                if nodes[place] == num_nodes else "")
        raise at_element(int(np.searchsorted(offsets, place, side="right")) - 1,
                         f"has node {nodes[place]}; nodes must lie in 0 ... {num_nodes - 1}{hint}")
    return int(nodes.max(initial=-1)) + 1 if given is None else num_nodes


def _refuse_repeated_nodes(mesh: Mesh) -> None:
    """Raise naming the first element that has a node twice: it stands twice in the node's list."""
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
        raise error_at(problem.vertex, text) from None


def _rows(elements: Any) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and nodes of whatever holds elements."""
    if isinstance(elements, tuple):
        return _compressed_rows(elements)
    if isinstance(elements, Mapping):
        kept = _largest_dimension([(dimension_of(name), name) for name in elements])
        return _joined([_table(elements[name], f"block {shown(name)}") for name in kept])
    if any(hasattr(elements, name) for name in ("__array__", "__dlpack__")):
        return _joined([_table(elements, "the array of elements")])
    each = _listed(elements)
    blocks = [_cells_of(block) for block in each]
    if blocks and all(block is not None for block in blocks):
        kept = _largest_dimension([(_dimension(block), at) for at, block in enumerate(each)])
        return _joined([_table(blocks[at], f"block {at}") for at in kept])
    return _rows_of_lists(each)


def _listed(elements: Any) -> list[Any]:
    """The elements of what can be walked through in an order, by iteration or by number."""
    try:
        walk = None if isinstance(elements, (bytes, bytearray, set)) else iter(elements)
    except TypeError:
        walk = None
    if walk is None:
        raise InputError(f"elements are a {type(elements).__name__}; accepted are {ACCEPTED}")
    return list(walk)


def _compressed_rows(pair: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    if len(pair) != 2:
        raise InputError(f"a tuple of {len(pair)}: give (offsets, nodes), or a list of elements")
    space = backends.space("cpu")
    offsets, nodes = index_array(space, pair[0], "offsets"), index_array(space, pair[1], "nodes")
    check_offsets(space, offsets, len(nodes),
                  Words("offsets", "nodes", "nodes", "a mesh of n elements"))
    return offsets, nodes


def _rows_of_lists(elements: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and nodes of elements that are sequences of any lengths."""
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
    return offsets, nodes


def _integers(values: list[Any]) -> np.ndarray | None:
    """`values` as int64, or None if one of them is not an integer."""
    try:
        array = np.array(values) if values else np.empty(0, np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.dtype == np.uint64:
        return None
    return array.astype(np.int64, copy=False)


def _cells_of(block: Any) -> Any:
    """The array of a block of cells of meshio, new or old; None if it is none."""
    if hasattr(block, "type") and hasattr(block, "data"):
        return block.data
    pair = isinstance(block, tuple) and len(block) == 2 and isinstance(block[0], str)
    return block[1] if pair else None


def _dimension(block: Any) -> int | None:
    """The dimension of a block of cells of meshio."""
    found = getattr(block, "dim", None)
    return dimension_of(getattr(block, "type", None) or block[0]) if found is None else found


def dimension_of(kind: Any) -> int | None:
    """The dimension of cells by meshio's name of their kind; None of a kind that it has not."""
    name = str(kind).lower().removeprefix("vtk_lagrange_")
    return next((dimension for begin, dimension in DIMENSIONS.items() if name.startswith(begin)),
                None)


def _largest_dimension(blocks: list[tuple[int | None, Named]]) -> list[Named]:
    """Blocks of cells without those that lie on the boundary of others; all if one is unknown."""
    dimensions = [-1 if dimension is None else dimension for dimension, _ in blocks]
    wanted = {max(dimensions)} if blocks and min(dimensions) >= 0 else set(dimensions)
    return [name for dimension, (_, name) in zip(dimensions, blocks) if dimension in wanted]


def _table(block: Any, what: str) -> np.ndarray:
    """A block of elements of equal size as a two-dimensional array of integers."""
    space = backends.space("cpu")
    table = as_array(space, block, what)
    if table.ndim != 2:
        raise InputError(f"{what} has shape {tuple(table.shape)}; (elements, nodes per element) "
                         "is needed")
    if table.dtype.kind not in "iu" and table.size:
        raise InputError(f"{what} is of type {table.dtype}; nodes must be integers")
    nodes: np.ndarray = integral(space, table.reshape(-1), what)
    return nodes.reshape(table.shape)


def _joined(tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and nodes of blocks of elements, one after the other."""
    lengths = [np.full(len(table), table.shape[1], np.int64) for table in tables]
    offsets = np.concatenate([np.zeros(1, np.int64), *lengths])
    nodes = [table.reshape(-1) for table in tables]
    return np.cumsum(offsets), np.concatenate(nodes) if nodes else np.empty(0, np.int64)
