"""A CSR graph from arcs in any order: pack both ends into one key, sort, merge, unpack.

The arrays may be of any execution space; the results do not depend on the space.  This module also
has runs of equal keys and the team widths for rows.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError, shown
from portpart.graphs.structure import MAX_INT32, MAX_INT32_ARCS, Structure
from portpart.graphs.weights import total_of

LOOP = -1
"""Key of a self loop, dropped before the sort."""

LOW_HALF = 0xFFFFFFFF

AGREE, SUM, MAX = "agree", "sum", "max"
"""Treatment of the weights of the two directions of an edge."""


def directions_of(symmetrize: bool | str | None) -> str | None:
    """Return the treatment that the option `symmetrize` requests, or None."""
    if isinstance(symmetrize, str):
        if symmetrize in (SUM, MAX):
            return symmetrize
    elif isinstance(symmetrize, (bool, np.bool_)):
        return AGREE if symmetrize else None
    raise InputError(f"symmetrize is {shown(symmetrize)}; it must be True, False, 'sum' or 'max'")


def undirected_rows(space: ExecutionSpace, n: int, sources: Array, targets: Array,
                    weights: Array | None,
                    directions: str = AGREE) -> tuple[Array, Array, Array | None]:
    """Return CSR rows (offsets, targets, weights) of arcs without direction, rows ascending.

    Weights of a repeated ordered pair are added.  An edge that is given in both directions gets
    their common weight, which must agree, their sum or their maximum.  Without weights a pair
    counts once, except in a sum, in which each arc counts one.  Self loops are dropped.
    """
    if directions == SUM and weights is None:
        weights = space.full(len(sources), 1, np.int64)
    if weights is not None:
        total_of(weights, "edge weights")
    keys, weights = merged_arcs(space, n, sources, targets, weights)
    m = len(keys)
    both = space.empty(2 * m, np.int64)
    both[:m] = keys
    space.parallel_for(m, turn_pair, keys, both[m:])
    if weights is None:
        both = primitives.sorted_pairs(space, both, n, n)
        return unpacked(space, n, Runs(space, both).first_of(both), None)
    both, order = primitives.sort_keys(space, both)
    source_weights = space.empty(2 * m, np.int64)
    source_weights[:m] = weights
    source_weights[m:] = weights
    source_weights = primitives.gather(space, source_weights, order)
    joined = joined_directions(space, both, source_weights, directions)
    runs = Runs(space, both)
    return unpacked(space, n, runs.first_of(both), runs.first_of(joined))


def joined_directions(space: ExecutionSpace, keys: Array, weights: Array, how: str) -> Array:
    """Return weights of edges, each at the first place of its key in the sorted `keys`."""
    length = len(keys)
    if how != AGREE:
        joined = space.empty(length, np.int64)
        space.parallel_for(length, join_directions.bound(add=how == SUM), keys, weights, length,
                           joined)
        return joined
    found = space.full(1, length, np.int64)
    space.parallel_for(length, find_disagreement, keys, weights, length, found)
    place = int(space.to_host(found)[0])
    if place < length:
        _refuse_disagreement(space, keys, weights, place)
    return weights


def _refuse_disagreement(space: ExecutionSpace, keys: Array, weights: Array, place: int) -> None:
    key = int(space.to_host(keys[place : place + 1])[0])
    u, v = key >> 32, key & LOW_HALF
    one, other = (int(weight) for weight in space.to_host(weights[place : place + 2]))
    raise InputError(f"edge ({u}, {v}) has weight {one} and edge ({v}, {u}) has weight {other}: "
                     'symmetrize="sum" adds the two directions up, symmetrize="max" takes the '
                     "larger", edge=(u, v))


def directed_rows(space: ExecutionSpace, n: int, sources: Array, targets: Array,
                  weights: Array | None, loops: bool = True) -> tuple[Array, Array, Array | None]:
    """Return CSR rows of directed arcs, rows ascending; repeated arcs are merged, loops dropped.

    Without `loops` there must be no loops.
    """
    keys, weights = merged_arcs(space, n, sources, targets, weights, loops)
    return unpacked(space, n, keys, weights)


def merged_arcs(space: ExecutionSpace, n: int, sources: Array, targets: Array,
                weights: Array | None, loops: bool = True) -> tuple[Array, Array | None]:
    """Return sorted keys of the distinct arcs that are not loops, and the sums of their weights.

    The caller checks the total weight of all arcs.
    """
    keys = space.empty(len(sources), np.int64)
    space.parallel_for(len(sources), pack_arc, sources, targets, keys)
    if loops and len(keys) and primitives.min_of(space, keys) == LOOP:
        proper = keys != LOOP
        keys = keys[proper]
        weights = None if weights is None else weights[proper]
    if weights is None:
        keys = primitives.sorted_pairs(space, keys, n, n)
        return Runs(space, keys).first_of(keys), None
    keys, order = primitives.sort_keys(space, keys)
    runs = Runs(space, keys)
    return runs.first_of(keys), runs.sums_of(weights, order)


def unpacked(space: ExecutionSpace, n: int, keys: Array,
             weights: Array | None) -> tuple[Array, Array, Array | None]:
    """Return the CSR rows of sorted keys."""
    num_arcs = len(keys)
    offsets = space.empty(n + 1, np.int32 if num_arcs <= MAX_INT32_ARCS else np.int64)
    targets = space.empty(num_arcs, np.int32)
    space.parallel_for(num_arcs + 1, unpack_arc, keys, n, num_arcs, offsets, targets)
    return offsets, targets, narrowed(space, weights)


MaybeArray = TypeVar("MaybeArray", "Array", "Array | None")


def narrowed(space: ExecutionSpace, weights: MaybeArray) -> MaybeArray:
    """Return `weights` as int32 if their values allow it."""
    if weights is None or (len(weights) and primitives.max_of(space, weights) > MAX_INT32):
        return weights
    return primitives.converted(space, weights, np.int32)


def tails(space: ExecutionSpace, offsets: Array, num_arcs: int) -> Array:
    """Return the vertex that each arc leaves, as int32."""
    sources = space.empty(num_arcs, np.int32)
    space.parallel_for(len(offsets) - 1, write_tail, offsets, sources)
    return sources


def without_loops(space: ExecutionSpace, offsets: Array, targets: Array, weights: Array | None,
                  first: int = 0) -> tuple[Array, Array, Array | None]:
    """Return the CSR rows of vertices from `first` on without self loops, in the same order."""
    heads = targets if first == 0 else targets.astype(np.int64) - first
    proper = heads != tails(space, offsets, len(targets))
    kept = space.zeros(len(targets) + 1, np.int64)
    kept[1:] = proper.cumsum()
    offsets = kept[offsets].astype(offsets.dtype, copy=False)
    return offsets, targets[proper], None if weights is None else weights[proper]


@kl.kernel
def pack_arc(arc, sources, targets, keys):
    """Set keys[arc] to both ends of the arc, the tail first, or to LOOP if they are equal."""
    u = kl.int64(sources[arc])
    v = kl.int64(targets[arc])
    keys[arc] = LOOP if u == v else (u << 32) | v


@kl.device
def turned(key):
    """Return the key of the reverse arc."""
    return ((key & LOW_HALF) << 32) | (key >> 32)


@kl.kernel
def pack_pair(i, above, below, keys):
    """Set keys[i] to a pair of numbers as one key, by which pairs are sorted."""
    keys[i] = (kl.int64(above[i]) << 32) | kl.int64(below[i])


@kl.kernel
def turn_pair(i, keys, result):
    """Set result[i] to the pair with its two numbers exchanged."""
    result[i] = turned(keys[i])


@kl.kernel
def unpack_arc(arc, keys, num_vertices, num_arcs, offsets, targets):
    """Write the target of an arc and the offsets of the rows that begin with it.

    Item num_arcs writes the last offsets.
    """
    before = kl.int64(-1)
    if arc > 0:
        before = keys[arc - 1] >> 32
    u = kl.int64(num_vertices)
    if arc < num_arcs:
        u = keys[arc] >> 32
        targets[arc] = keys[arc] & LOW_HALF
    for row in range(before + 1, u + 1):
        offsets[row] = arc


@kl.kernel
def write_tail(u, offsets, sources):
    """Set sources[arc] to u for the arcs of vertex u."""
    for arc in range(offsets[u], offsets[u + 1]):
        sources[arc] = u


@kl.kernel
def join_directions(i, keys, weights, length, joined, add: kl.StaticValue):
    """Set joined[i] to the sum or maximum of the weights of keys[i] and of an equal next key."""
    weight = weights[i]
    if i + 1 < length:
        if keys[i + 1] == keys[i]:
            if add:
                weight += weights[i + 1]
            else:
                weight = max(weight, weights[i + 1])
    joined[i] = weight


@kl.kernel
def find_disagreement(i, keys, weights, length, found):
    """Store the smallest place before an equal key of another weight in found[0]; by atomic_min."""
    if i + 1 < length:
        if keys[i + 1] == keys[i]:
            if weights[i + 1] != weights[i]:
                kl.atomic_min(found, 0, i)


# Runs of equal keys in a sorted array: the first of each, and sums over them -------------------


class Runs:
    """The runs of equal keys in a sorted array.  Counting them synchronises with the device.

    Attributes
    ----------
    count : int
    """

    def __init__(self, space: ExecutionSpace, keys: Array) -> None:
        first = space.empty(len(keys), np.int8)
        space.parallel_for(len(keys), mark_first, keys, first)
        self._space = space
        self._places = primitives.offsets_from_counts(space, first)
        self.count, = space.read(self._places[-1:], lambda: [len(keys)])

    def first_of(self, values: Array) -> Array:
        """Return the value at the first key of each run."""
        result = self._space.empty(self.count, values.dtype)
        self._space.parallel_for(len(values), copy_first, values, self._places, result)
        return result

    def sums_of(self, values: Array, order: Array) -> Array:
        """Return the sums over the runs, int64; ``order[i]`` is the place of the value of key i."""
        result = self._space.zeros(self.count, np.int64)
        self._space.parallel_for(len(order), add_to_run, values, order, self._places, result)
        return result


def distinct(space: ExecutionSpace, keys: Array) -> Array:
    """Return the keys in ascending order, each once."""
    if not len(keys):
        return keys
    ordered, _ = primitives.sort_keys(space, keys)
    return Runs(space, ordered).first_of(ordered)


@kl.kernel
def mark_first(i, keys, first):
    """Set first[i] to whether key i differs from the previous key."""
    differs = i == 0
    if i > 0:
        differs = keys[i] != keys[i - 1]
    first[i] = kl.int8(differs)


@kl.kernel
def copy_first(i, values, places, result):
    """Copy value i to the place of its run, if it is the first of the run."""
    if places[i + 1] > places[i]:
        result[places[i]] = values[i]


@kl.kernel
def add_to_run(i, values, order, places, result):
    """Add the value of key i to the sum of its run; atomic, independent of order."""
    kl.atomic_add(result, places[i + 1] - 1, values[order[i]])


# Team widths for vertices ----------------------------------------------------------------------


def team_for(mean_degree: float) -> int:
    """Return the team width for loops over the arcs of a vertex."""
    if mean_degree <= 4:
        return 1
    return 8 if mean_degree <= 16 else 32


LONE_DEGREE = 8
"""Up to this mean number of arcs, one lane for each of many vertices is faster than several."""


def team_for_all(graph: Structure) -> int:
    """Return the team width for a loop over the arcs of all vertices."""
    return 1 if graph.max_degree <= LONE_DEGREE else team_for(graph.mean_degree)


ROWS_AT_A_TIME = 6000
"""A lane needs as much time for an element as a device for this many rows."""


def team_for_longest(rows: int, mean: float, longest: int) -> int:
    """Return the team width for a short loop over each row: one lane would delay a long row."""
    team = team_for(mean)
    for wider in (8, 32):
        if team < wider and longest * ROWS_AT_A_TIME > rows * team * wider:
            team = wider
    return team
