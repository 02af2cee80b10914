"""Checked hypergraphs from the pins of nets, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portpart.backends import language as kl
from portpart.errors import InputError, errors_about
from portpart.graphs import checks
from portpart.graphs.arrays import (
    as_array,
    has_writable_base,
    index_array,
    item_of,
    owned,
    space_of,
)
from portpart.graphs.csr import Runs, narrowed, pack_pair, tails, turn_pair, unpacked
from portpart.graphs.from_arrays import MAX_VERTICES, checked_count, refuse_few_of_many
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.names import in_order
from portpart.graphs.structure import read_only
from portpart.graphs.weights import checked_vertex_weights, integral, surveyed_weights
from portpart.primitives import inspect_rows, row_at, sort_rows, sorted_pairs

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike

    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs.arrays import Numbers

NET_WORDS = checks.RowTerms("net_offsets", "pins", "pins", "a hypergraph of n nets")
VERTEX_WORDS = checks.RowTerms("vertex_offsets", "pins", "pins", "a hypergraph of n vertices")

PINS_PER_ITEM, TEAM = 256, 8
"""Pins that a team surveys: with fewer lanes each lane skips fewer rows."""

BAD_ROW, HASH, SURVEYED = range(checks.NUM_ROW_FACTS, checks.NUM_ROW_FACTS + 3)
"""Places of the results of a survey, behind the facts of rows, and their end."""


class NetInput(NamedTuple):
    """A hypergraph as read from an object: rows of pins, and optional values."""

    offsets: Any
    pins: Any
    num_vertices: int | None = None
    net_weights: Numbers | None = None
    names: Sequence[Hashable] | None = None
    net_names: Sequence[Hashable] | None = None


def nets_hypergraph(net_offsets: ArrayLike, net_pins: ArrayLike, num_vertices: int | None = None,
                    net_weights: Numbers | None = None, vertex_weights: Numbers | None = None,
                    space: ExecutionSpace | None = None) -> Hypergraph:
    """Return a checked hypergraph of rows of pins, on `space` or on the space of the pins.

    Pins are sorted, and repeated pins of a net are dropped.  The default number of vertices is the
    number of vertex weights, or the largest pin plus one.
    """
    here = space or space_of(net_pins)
    vertex_weights = in_order(vertex_weights, None, "vertex_weights")
    offsets = index_array(here, net_offsets, "net_offsets")
    pins = index_array(here, net_pins, "net_pins")
    n = _number_of_vertices(here, pins, num_vertices, vertex_weights)
    of_weights = num_vertices is None and vertex_weights is not None
    check_rows(here, offsets, pins, n, ", as many as vertex_weights" if of_weights else "")
    keys = _distinct_pins(here, offsets, pins)
    made = _both_ways(here, len(offsets) - 1, n, keys, len(pins) - len(keys))
    return with_weights(made, net_weights, vertex_weights)


def with_weights(made: Hypergraph, net_weights: Numbers | None,
                 vertex_weights: Numbers | None) -> Hypergraph:
    """Return the hypergraph with new weights where given, after a check."""
    if net_weights is None and vertex_weights is None:
        return made
    vertex_weights = in_order(vertex_weights, made.names, "vertex_weights")
    net_weights = in_order(net_weights, made.net_names, "net_weights", "net")
    weights, totals = _weights(made, net_weights, vertex_weights)
    changed = replace(made, net_weights=weights.get("net_weights", made.net_weights),
                      vertex_weights=weights.get("vertex_weights", made.vertex_weights),
                      _totals={**made._totals, **totals})
    read_only(changed.arrays.values())
    return changed


def nets_checked_again(hypergraph: Hypergraph) -> Hypergraph:
    """Return `hypergraph`; if other code can write to its arrays, check them again first."""
    h = hypergraph
    if not any(array is not None and has_writable_base(array) for array in h.arrays.values()):
        return h
    with errors_about("the arrays of this hypergraph have changed since", InputError):
        of_vertices = _survey(h)
        totals = _weights(h, h.net_weights, h.vertex_weights)[1]
        return replace(h, _totals={**totals, **of_vertices.degrees})


def _survey(h: Hypergraph) -> checks.RowFacts:
    """Return the facts of the rows of vertices; synchronises once for both directions.

    Raise if a row is invalid, or if the directions differ.
    """
    space = h.space
    directions = ((h.net_offsets, h.net_pins, h.num_vertices, NET_WORDS),
                  (h.vertex_offsets, h.vertex_nets, h.num_nets, VERTEX_WORDS))
    begun = [[*checks.nothing_found(len(offsets) - 1), len(offsets) - 1, 0]
             for offsets, *_ in directions]
    found = space.asarray(np.array(begun, np.int64).reshape(-1))
    for at, (offsets, items, limit, words) in enumerate(directions):
        own, rows = found[at * SURVEYED : (at + 1) * SURVEYED], len(offsets) - 1
        inspect_rows(space, offsets, own)
        space.parallel_for(-(-len(items) // PINS_PER_ITEM), survey_pins, offsets, items, rows,
                           len(items), limit, words is VERTEX_WORDS, own, team=TEAM)
    facts = space.to_host(found).reshape(-1, SURVEYED)
    for (offsets, items, limit, words), (*of_rows, row, _) in zip(directions, facts.tolist()):
        checks.refuse_offsets(space, offsets, len(items), known := checks.RowFacts(*of_rows), words)
        if row < len(offsets) - 1:
            raise InputError(f"row {row} of {words.offsets.partition('_')[0]} rows is not "
                             f"ascending or leaves 0 ... {limit - 1}")
    if facts[0, HASH] != facts[1, HASH]:
        raise InputError("the pins of nets and the nets of vertices differ")
    return known


def _number_of_vertices(space: ExecutionSpace, pins: Array, given: int | None,
                        vertex_weights: Numbers) -> int:
    given = checked_count(given)
    if given is None and vertex_weights is not None:
        given = as_array(space, vertex_weights, "vertex_weights").size
    n = given if given is not None else 1 + int(pins.max()) if len(pins) else 0
    if n > MAX_VERTICES:
        raise InputError(f"{n} vertices; at most 2**31 - 2 fit the 32-bit vertex numbers")
    if given is None:
        refuse_few_of_many(n, len(pins), "pins", "portpart.as_hypergraph(nets, num_vertices={})")
    return n


def check_rows(space: ExecutionSpace, offsets: Array, pins: Array, n: int, why: str = "") -> None:
    """Raise unless the rows hold all pins, which are among `n` vertices; `why` explains `n`."""
    checks.check_offsets(space, offsets, len(pins), NET_WORDS)
    if len(pins) == 0 or (int(pins.min()) >= 0 and int(pins.max()) < n):
        return
    place = int(((pins < 0) | (pins >= n)).argmax())
    net = int((offsets > place).argmax()) - 1
    raise InputError(f"net {net} has a pin {item_of(space, pins, place)}, which is not a vertex: "
                     f"vertices are 0 ... {n - 1}{why}", entry=place)


def _distinct_pins(space: ExecutionSpace, offsets: Array, pins: Array) -> Array:
    """Return sorted keys of the pins, each once: the net in the upper half, the vertex below."""
    keys = space.empty(len(pins), np.int64)
    space.parallel_for(len(pins), pack_pair, tails(space, offsets, len(pins)), pins, keys)
    sort_rows(space, offsets[:-1], offsets[1:], keys)
    return Runs(space, keys).first_of(keys)


def _both_ways(space: ExecutionSpace, m: int, n: int, keys: Array, repeated: int) -> Hypergraph:
    """Return the hypergraph of sorted keys, without weights."""
    net_offsets, net_pins, _ = unpacked(space, m, keys, None)
    turned = space.empty(len(keys), np.int64)
    space.parallel_for(len(keys), turn_pair, keys, turned)
    turned = sorted_pairs(space, turned, n, None, spare=keys)
    vertex_offsets, vertex_nets, _ = unpacked(space, n, turned, None)
    read_only([net_offsets, net_pins, vertex_offsets, vertex_nets])
    return Hypergraph(net_offsets, net_pins, None, vertex_offsets, vertex_nets, None, space,
                      repeated_pins=repeated)


def _weights(made: Hypergraph, net_weights: Any,
             vertex_weights: Any) -> tuple[dict[str, Array], dict[str, int]]:
    """Return the given weights in the library's types, and their totals."""
    space = made.space
    weights: dict[str, Array] = {}
    totals: dict[str, int] = {}
    if net_weights is not None:
        values = as_array(space, net_weights, "net_weights")
        if values.shape != (made.num_nets,):
            raise InputError(f"net_weights have shape {tuple(values.shape)} for {made.num_nets} "
                             "nets; one weight for each net is needed")
        values = integral(space, values, "net_weights")
        net, totals["net"] = surveyed_weights(space, values, "net weights")
        if net is not None:
            raise InputError(f"net {net} has weight {item_of(space, values, net)}; net weights "
                             "must be >= 0")
        weights["net_weights"] = _own(narrowed(space, values))
    if vertex_weights is not None:
        values = as_array(space, vertex_weights, "vertex_weights")
        checked, totals["vertex"] = checked_vertex_weights(space, values, made.num_vertices)
        assert checked is not None
        weights["vertex_weights"] = _own(checked)
    return weights, totals


def _own(weights: Array) -> Array:
    """Return the weights, on the host as a copy if other code can write to them."""
    return owned(weights, [weights], copy=True)


@kl.kernel
def survey_pins(item, offsets, items, num_rows, num_items, limit, turned, found):
    """Survey PINS_PER_ITEM pins of any rows, because one row may have nearly all pins.

    Store the first invalid row in found[BAD_ROW], and a hash of the pairs (net, vertex), the same
    for rows of nets and of vertices, in found[HASH].  Atomic, independent of order.  Pins are not
    examined if the offsets are invalid.
    """
    begin = item * PINS_PER_ITEM
    end = min(begin + PINS_PER_ITEM, kl.int64(num_items))
    if (found[checks.DECREASING] < num_rows or found[checks.FIRST] != 0
            or found[checks.LAST] != num_items):
        end = kl.int64(begin)
    total = kl.uint64(0)
    row = kl.int64(0)
    if begin < end:
        row = row_at(min(begin + kl.lane(), end - 1), offsets, num_rows)
    for i in range(begin + kl.lane(), end, kl.team_size()):
        while offsets[row + 1] <= i:
            row += 1
        there = kl.int64(items[i])
        bad = there < 0 or there >= limit
        if i > offsets[row]:
            bad = bad or items[i - 1] >= items[i]
        if bad:
            kl.atomic_min(found, BAD_ROW, row)
        total += checks.mixed(there, row, 1) if turned else checks.mixed(row, there, 1)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        kl.atomic_add(found, HASH, kl.int64(total))
