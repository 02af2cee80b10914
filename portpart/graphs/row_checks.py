"""Rows of a range that are checked: ends, weights, no loops.

Whether arcs have reverse arcs shows in all rows of a graph only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.errors import InputError
from portpart.graphs.row_range import Rows, id_dtype
from portpart.graphs.weights import NOT_NEGATIVE, total_of

if TYPE_CHECKING:
    from portpart.backends.interface import ExecutionSpace

BAD_TARGET, NEGATIVE_WEIGHT, LOOPS = 0, 1, 2


def checked_rows(first: int, num_vertices: int, offsets: np.ndarray, targets: np.ndarray,
                 weights: np.ndarray | None, vertex_weights: np.ndarray | None,
                 space: ExecutionSpace | str) -> Rows:
    """Rows of host arrays in the memory of `space`, without their loops.

    Parameters
    ----------
    first, num_vertices : int
    offsets : ndarray of int64
        From 0 to the number of targets, ascending.
    targets : ndarray of int32 or int64
    weights : ndarray of int32 or int64, or None
        They keep their type, so that those of all ranges have the same.
    vertex_weights : ndarray of integers or None
    space : ExecutionSpace or str

    Raises
    ------
    InputError
        Its `vertex` is the one with the first target that is no vertex, or with the first negative
        weight.
    """
    count, num_arcs = len(offsets) - 1, len(targets)
    host = backends.space("cpu")
    found = host.full(3, num_arcs, np.int64)
    found[LOOPS] = 0
    host.parallel_for(count, survey_row, first, num_vertices, offsets, targets, weights, found,
                      team=8)
    if found[BAD_TARGET] < num_arcs:
        v, u, _ = _arc_at(int(found[BAD_TARGET]), first, offsets, targets, None)
        _refuse(v, f"{u}, a neighbour of vertex {v}, is not a vertex: it must lie in 0 ... "
                   f"{num_vertices - 1}")
    if weights is not None and found[NEGATIVE_WEIGHT] < num_arcs:
        v, u, weight = _arc_at(int(found[NEGATIVE_WEIGHT]), first, offsets, targets, weights)
        _refuse(v, f"arc ({v}, {u}) has weight {weight}; {NOT_NEGATIVE}")
    if found[LOOPS]:
        offsets, targets, weights = _without_loops(first, offsets, targets, weights)
    if weights is not None:
        total_of(weights, "arc weights")
    masses = None if vertex_weights is None else _checked_masses(first, vertex_weights)
    where = backends.as_space(space)
    return Rows(first, num_vertices, where.asarray(offsets),
                where.asarray(targets.astype(id_dtype(num_vertices), copy=False)),
                None if weights is None else where.asarray(weights),
                None if masses is None else where.asarray(masses), where)


def _checked_masses(first: int, weights: np.ndarray) -> np.ndarray:
    """Vertex weights as int64, none of which may be negative."""
    wide = weights.astype(np.int64, copy=False)
    if len(wide) and int(wide.min()) < 0:
        place = int((wide < 0).argmax())
        _refuse(first + place, f"vertex {first + place} has weight {wide[place]}; vertex weights "
                               "must be >= 0")
    total_of(wide, "vertex weights")
    return wide


def _arc_at(arc: int, first: int, offsets: np.ndarray, targets: np.ndarray,
            weights: np.ndarray | None) -> tuple[int, int, Any]:
    """Tail, head and weight of an arc."""
    tail = first + int(np.searchsorted(offsets, arc, side="right")) - 1
    return tail, int(targets[arc]), None if weights is None else weights[arc]


def _refuse(vertex: int, problem: str) -> NoReturn:
    error = InputError(problem)
    error.vertex = vertex
    raise error


def _without_loops(first: int, offsets: np.ndarray, targets: np.ndarray,
                   weights: np.ndarray | None
                   ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The same rows without arcs from a vertex to itself."""
    sources = np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets))
    kept = sources != targets
    before = np.zeros(len(targets) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    return before[offsets], targets[kept], None if weights is None else weights[kept]


@kl.kernel
def survey_row(i, first, num_vertices, offsets, targets, weights, found):
    """Note the smallest arcs with bad ends and weights in `found`, and count loops; atomic."""
    v = first + i
    for arc in range(offsets[i] + kl.lane(), offsets[i + 1], kl.team_size()):
        u = kl.int64(targets[arc])
        if u < 0 or u >= num_vertices:
            kl.atomic_min(found, BAD_TARGET, arc)
        if u == v:
            kl.atomic_add(found, LOOPS, 1)
        elif kl.value_or(weights, arc, 1) < 0:
            kl.atomic_min(found, NEGATIVE_WEIGHT, arc)
