"""Checked hypergraphs of the pins of nets, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.language import int64, kernel
from portpart.errors import InputError
from portpart.graphs.arrays import as_array, index_array, item_of, lent_arrays, owned, space_of
from portpart.graphs.checks import check_offsets
from portpart.graphs.csr import first_of_run, tails, unpacked
from portpart.graphs.from_arrays import MAX_VERTICES
from portpart.graphs.graph import read_only
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.weights import checked_vertex_weights, integral, total_of

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace


def nets_hypergraph(
    net_offsets: Any, net_pins: Any, num_vertices: int | None = None, net_weights: Any = None,
    vertex_weights: Any = None, space: ExecutionSpace | None = None,
) -> Hypergraph:
    """A checked hypergraph of rows of pins, on `space` or where the pins are.

    Pins are sorted, and counted once in a net.  Without a number of vertices these are as many as
    there are vertex weights, or up to the last that is a pin.
    """
    here = space or space_of(net_pins)
    offsets = index_array(here, net_offsets, "net_offsets")
    pins = index_array(here, net_pins, "net_pins")
    check_offsets(here, offsets, len(pins))
    n = _number_of_vertices(here, pins, num_vertices, vertex_weights)
    _check_pins(here, offsets, pins, n)
    keys = _distinct_pins(here, offsets, pins)
    made = _both_ways(here, len(offsets) - 1, n, keys, len(pins) - len(keys))
    weights, totals = _weights(made, net_weights, vertex_weights)
    read_only([*weights, *made.arrays.values()])
    return Hypergraph(made.net_offsets, made.net_pins, weights[0], made.vertex_offsets,
                      made.vertex_nets, weights[1], here, totals, made.repeated_pins)


def _number_of_vertices(space: ExecutionSpace, pins: Array, given: int | None,
                        vertex_weights: Any) -> int:
    if given is None and vertex_weights is not None:
        given = as_array(space, vertex_weights, "vertex_weights").shape[0]
    if given is None:
        given = 1 + int(pins.max()) if len(pins) else 0
    if given > MAX_VERTICES:
        raise InputError(f"{given} vertices; at most 2**31 - 2 fit the 32-bit vertex numbers")
    return given


def _check_pins(space: ExecutionSpace, offsets: Array, pins: Array, n: int) -> None:
    if len(pins) == 0 or (int(pins.min()) >= 0 and int(pins.max()) < n):
        return
    place = int(((pins < 0) | (pins >= n)).argmax())
    net = int((offsets > place).argmax()) - 1
    error = InputError(f"net {net} has a pin {item_of(space, pins, place)}, which is no vertex: "
                       f"vertices are 0 ... {n - 1}")
    error.entry = place
    raise error


def _distinct_pins(space: ExecutionSpace, offsets: Array, pins: Array) -> Array:
    """Sorted keys of the pins, each once: the net above, the vertex below."""
    keys = space.empty(len(pins), np.int64)
    space.parallel_for(len(pins), pack_pair, tails(space, offsets, len(pins)), pins, keys)
    keys.sort()
    return keys[first_of_run(keys)]


def _both_ways(space: ExecutionSpace, m: int, n: int, keys: Array, repeated: int) -> Hypergraph:
    """The hypergraph of sorted keys, without weights."""
    net_offsets, net_pins, _ = unpacked(space, m, keys, None)
    turned = space.empty(len(keys), np.int64)
    space.parallel_for(len(keys), turn_pair, keys, turned)
    turned.sort()
    vertex_offsets, vertex_nets, _ = unpacked(space, n, turned, None)
    return Hypergraph(net_offsets, net_pins, None, vertex_offsets, vertex_nets, None, space,
                      repeated_pins=repeated)


def _weights(made: Hypergraph, net_weights: Any,
             vertex_weights: Any) -> tuple[list[Array | None], dict[str, int]]:
    """Weights of nets and of vertices as the library has them, and their totals."""
    space, totals = made.space, {}
    found: list[Array | None] = [None, None]
    if net_weights is not None:
        values = integral(space, as_array(space, net_weights, "net_weights"), "net_weights")
        if values.shape != (made.num_nets,):
            raise InputError(f"net_weights have shape {tuple(values.shape)} for {made.num_nets} "
                             "nets; one weight for each net is needed")
        if len(values) and int(values.min()) < 0:
            net = int((values < 0).argmax())
            raise InputError(f"net {net} has weight {item_of(space, values, net)}; net weights "
                             "must be >= 0")
        totals["net"] = total_of(values, "net weights")
        found[0] = owned(values, lent_arrays(net_weights), True)
    if vertex_weights is not None:
        values = as_array(space, vertex_weights, "vertex_weights")
        checked, totals["vertex"] = checked_vertex_weights(space, values, made.num_vertices)
        found[1] = owned(checked, lent_arrays(vertex_weights), True)
    return found, totals


@kernel
def pack_pair(i, above, below, keys):
    """keys[i] = two numbers in one, by which pairs are sorted."""
    keys[i] = (int64(above[i]) << 32) | int64(below[i])


@kernel
def turn_pair(i, keys, turned):
    """turned[i] = the pair with the two numbers in each other's place."""
    turned[i] = ((keys[i] & 0xFFFFFFFF) << 32) | (keys[i] >> 32)
