"""Checked graphs from CSR arrays and from edges, and checks of borrowed arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError, errors_about, shown
from portpart.graphs.arrays import (
    as_array,
    borrowed_arrays,
    has_writable_base,
    index_array,
    item_of,
    owned,
    refuse_several_devices,
    space_of,
    weight_array,
)
from portpart.graphs.checks import check_offsets, refuse_asymmetry, survey
from portpart.graphs.csr import AGREE, SUM, directions_of, tails, undirected_rows, without_loops
from portpart.graphs.graph import Graph
from portpart.graphs.names import in_order
from portpart.graphs.structure import MAX_INT32_ARCS, read_only
from portpart.graphs.weights import (
    IGNORE,
    KEEP,
    NOT_NEGATIVE,
    checked_vertex_weights,
    converted,
    total_of,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs.arrays import Numbers

MAX_VERTICES = 2**31 - 2

UNCHECKED_VERTICES = 1 << 22
VERTICES_PER_ITEM = 64
"""Vertices without suspicion: this many in any case, and this many for each edge or pin."""


@dataclass(frozen=True)
class ArcReading:
    """Options for reading arcs and their weights."""

    symmetrize: bool | str = False
    mode: str = KEEP
    scale: float | None = None
    copy: bool = True


def csr_graph(
    offsets: Any,
    targets: Any,
    weights: Any = None,
    vertex_weights: Numbers | None = None,
    symmetrize: bool | str = False,
    space: ExecutionSpace | None = None,
    mode: str = KEEP,
    scale: float | None = None,
    copy: bool | None = None,
) -> Graph:
    """Return a checked graph of CSR arrays of any kind, on `space` or on the space of the arrays.

    `mode` is one of `weights.MODES`, `scale` as in `weights.converted`, `copy` as in
    `arrays.owned`: None if the library owns the arrays.
    """
    given = (offsets, targets, weights)
    if space is None:
        refuse_several_devices(indptr=offsets, indices=targets, edge_weights=weights,
                               vertex_weights=vertex_weights)
    here = space or space_of(targets)
    directions = directions_of(symmetrize)
    offsets = index_array(here, offsets, "indptr")
    targets = index_array(here, targets, "indices")
    if len(offsets) == 0 or weights is not None:  # weights may need tails
        check_offsets(here, offsets, len(targets))
    n = len(offsets) - 1
    if n > MAX_VERTICES:
        raise InputError(f"{n} vertices; at most 2**31 - 2 fit the 32-bit vertex numbers")
    weights, scale = integer_weights(
        here, weights, lambda: tails(here, offsets, len(targets)), targets, "arcs", mode, scale)
    facts = survey(here, offsets, targets, weights)
    if facts.all_weights_one and directions != SUM:
        weights = None
    if directions == SUM or (directions and not facts.symmetric):
        sources = tails(here, offsets, len(targets))
        return _joined(here, n, sources, targets, weights, vertex_weights, directions, scale, copy)
    if not facts.symmetric:
        refuse_asymmetry(here, offsets, targets, weights)
    known = {"arc": facts.total_weight, **facts.rows.degrees}
    if facts.num_loops:
        offsets, targets, weights = without_loops(here, offsets, targets, weights)
        known = {"arc": facts.total_weight}
    offset_type = np.int32 if len(targets) <= MAX_INT32_ARCS else np.int64
    offsets, targets = (array.astype(kind, copy=False)
                        for array, kind in ((offsets, offset_type), (targets, np.int32)))
    lent = borrowed_arrays(*given)
    offsets, targets, weights = (owned(array, lent, copy) for array in (offsets, targets, weights))
    return _finished(Graph(offsets, targets, weights, None, here, known, scale), vertex_weights,
                     copy)


def edges_graph(n: int, sources: Any, targets: ArrayLike, weights: Numbers | None = None,
                vertex_weights: Numbers | None = None, space: ExecutionSpace | None = None,
                symmetrize: bool | str = True, mode: str = KEEP, scale: float | None = None,
                copy: bool | None = None) -> Graph:
    """Return a checked graph of edges between vertices 0 ... n - 1, in any order.

    Edges have no direction, whether `symmetrize` is true or not; "sum" and "max" combine the
    weights of an edge that is given in both directions.
    """
    here = space or space_of(targets)
    sources = index_array(here, sources, "edge sources")
    targets = index_array(here, targets, "edge targets")
    if n > MAX_VERTICES:
        raise InputError(f"{n} vertices; at most 2**31 - 2 fit the 32-bit vertex numbers")
    for ends in (sources, targets):
        _check_ends(here, ends, n)
    weights, scale = integer_weights(here, weights, lambda: sources, targets, "edges", mode, scale)
    if weights is not None and len(weights) and int(weights.min()) < 0:
        edge = int((weights < 0).argmax())
        u, v, w = (item_of(here, array, edge) for array in (sources, targets, weights))
        raise InputError(f"edge {edge} ({u}, {v}) has weight {w}; {NOT_NEGATIVE}", entry=edge)
    directions = directions_of(symmetrize) or AGREE
    return _joined(here, n, sources, targets, weights, vertex_weights, directions, scale, copy)


def integer_weights(space: ExecutionSpace, weights: Numbers | None, tails_of: Callable[[], Array],
                    heads: Array, of_what: str, mode: str,
                    scale: float | None) -> tuple[Array | None, float]:
    """Return weights of arcs or edges as integers, 0 for loops, and their scale."""
    if weights is None or mode == IGNORE:
        return None, 1
    values = weight_array(space, weights, len(heads), of_what)
    if mode != KEEP or values.dtype.kind == "f" or of_what == "edges":
        loops = tails_of() == heads
        if bool(loops.any()):
            values = space.copy(values)
            values[loops] = 0
    return converted(space, values, mode, scale)


def _joined(space: ExecutionSpace, n: int, sources: Array, targets: Array, weights: Array | None,
            vertex_weights: Numbers | None, directions: str, scale: float,
            copy: bool | None) -> Graph:
    """Return the graph of arcs without direction."""
    offsets, targets, weights = undirected_rows(space, n, sources, targets, weights, directions)
    total = len(targets) if weights is None else total_of(weights, "arc weights")
    if weights is not None and len(weights) and int(weights.min()) == 1 == int(weights.max()):
        weights = None
    read_only([offsets, targets, weights])
    return _finished(Graph(offsets, targets, weights, None, space, {"arc": total}, scale),
                     vertex_weights, copy)


def _check_ends(space: ExecutionSpace, ends: Array, n: int) -> None:
    if len(ends) == 0 or (int(ends.min()) >= 0 and int(ends.max()) < n):
        return
    edge = int(((ends < 0) | (ends >= n)).argmax())
    raise InputError(f"edge {edge} has an end {item_of(space, ends, edge)}, which is not a vertex: "
                     f"vertices are 0 ... {n - 1}")


def _finished(graph: Graph, vertex_weights: Numbers | None, copy: bool | None) -> Graph:
    """Return `graph` with vertex weights, if there are any."""
    return graph if vertex_weights is None else with_vertex_weights(graph, vertex_weights, copy)


def with_vertex_weights(graph: Graph, vertex_weights: Numbers, copy: bool | None) -> Graph:
    """Return `graph` with new vertex weights, after a check."""
    space = graph.space
    vertex_weights = in_order(vertex_weights, graph.names, "vertex_weights")
    array = as_array(space, vertex_weights, "vertex_weights")
    checked, total = checked_vertex_weights(space, array, graph.num_vertices)
    checked = owned(checked, borrowed_arrays(vertex_weights), copy)
    return replace(graph, vertex_weights=checked, _totals={**graph._totals, "vertex": total})


def refuse_few_of_many(n: int, count: int, items: str, said: str) -> None:
    """Raise if the numbers in edges or pins are probably names, because few of them occur.

    Parameters
    ----------
    n, count : int
        Number of vertices up to the largest number, and of edges or pins.
    items, said : str
        The word for edges or pins, and the call that gives the number of vertices, with ``{}``.
    """
    if n > max(UNCHECKED_VERTICES, VERTICES_PER_ITEM * count):
        raise InputError(
            f"vertex {n - 1} in {count} {items} makes {n} vertices; numpy.unique({items}, "
            "return_inverse=True) numbers the ones that occur; if it is right, pass "
            f"{said.format(n)}")


def checked_count(num_vertices: int | None) -> int | None:
    """Return a caller's number of vertices after a check, or None."""
    return None if num_vertices is None else checked_number("num_vertices", num_vertices)


def checked_number(name: str, value: Any) -> int:
    """Return a number of vertices or nodes after a check; floats are refused."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {shown(value)}; it must be an integer") from None
    if not 0 <= count <= MAX_VERTICES:
        raise InputError(f"{name} is {shown(count)}; it must be between 0 and {MAX_VERTICES}")
    return count


def checked_again(graph: Graph, copy: bool) -> Graph:
    """Return `graph`; if other code can write to its arrays, check them again first.

    The check is one pass.  With `copy`, such host arrays are copied.
    """
    arrays = [graph.offsets, graph.targets, graph.weights, graph.vertex_weights]
    if not any(array is not None and has_writable_base(array) for array in arrays):
        return graph
    with errors_about("the arrays of this graph have changed since", InputError):
        facts = survey(graph.space, graph.offsets, graph.targets, graph.weights)
        if not facts.symmetric:
            refuse_asymmetry(graph.space, graph.offsets, graph.targets, graph.weights)
        totals = {"arc": facts.total_weight, **facts.rows.degrees}
        if graph.vertex_weights is not None:
            _, totals["vertex"] = checked_vertex_weights(graph.space, graph.vertex_weights,
                                                         graph.num_vertices)
    if facts.num_loops:
        raise InputError(f"the arrays of this graph have changed since: {facts.num_loops} arcs are "
                         "self loops")
    def kept(array: Array) -> Array:
        return owned(array, borrowed_arrays(array), copy)

    weights, masses = (None if each is None else kept(each) for each in arrays[2:])
    return replace(graph, offsets=kept(graph.offsets), targets=kept(graph.targets),
                   weights=weights, vertex_weights=masses, _totals=totals)
