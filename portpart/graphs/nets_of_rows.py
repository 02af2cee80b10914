"""Nets in Python's own containers: lists of pins, by number or by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.from_nets import NetRows
from portpart.options import shown

ACCEPTED = (
    "a list of nets, each a sequence of its pins, a tuple (net_offsets, net_pins), a sparse "
    "matrix, a Netlist, a HyperNetX, XGI or hypergraphx object, a path or a portpart Hypergraph"
)


def nets_of_rows(nets: Any) -> NetRows:
    """Nets that are sequences of pins, or rows of an array; pins that are no integers are names."""
    if isinstance(nets, Mapping):
        nets = list(nets.values())
    if getattr(nets, "ndim", 2) != 2:
        raise InputError(f"an array of shape {tuple(nets.shape)} is no hypergraph; accepted are "
                         f"{ACCEPTED}")
    if isinstance(nets, np.ndarray) and nets.dtype.kind in "iu":
        return NetRows(np.arange(len(nets) + 1) * nets.shape[1], nets.reshape(-1))
    rows = _rows(nets)
    offsets, pins = np.cumsum([0, *map(len, rows)]), list(chain.from_iterable(rows))
    if all(isinstance(pin, (int, np.integer)) and not isinstance(pin, bool) for pin in pins):
        return NetRows(offsets, _integers(pins))
    return _numbered(offsets, pins, dict.fromkeys(pins) if _are_names(pins) else {})


def nets_of_names(names: Iterable[Hashable], nets: Iterable[Iterable[Hashable]],
                  weights: Any = None) -> NetRows:
    """Nets whose pins are among `names`, which number the vertices in their order."""
    rows = [list(net) for net in nets]
    return _numbered(np.cumsum([0, *map(len, rows)]), list(chain.from_iterable(rows)),
                     dict.fromkeys(names))._replace(net_weights=weights)


def _rows(nets: Any) -> list[Any]:
    """The nets as sequences."""
    try:
        found = None if isinstance(nets, (str, bytes, set)) else list(nets)
    except TypeError:
        found = None
    if found is None:
        raise InputError(f"{shown(nets)} is no hypergraph; accepted are {ACCEPTED}")
    for net, row in enumerate(found):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or (
                getattr(row, "ndim", 1) != 1):
            raise InputError(f"net {net} is {shown(row)}; a sequence of its pins is needed")
    return found


def _integers(pins: list[Any]) -> np.ndarray:
    try:
        return np.array(pins, np.int64)
    except OverflowError:
        worst = shown(max(pins, key=abs))
        raise InputError(f"a net has a pin {worst}, which is no vertex") from None


def _are_names(pins: list[Any]) -> bool:
    """Whether pins may name vertices: words, tuples and the like, and integers among them."""
    for pin in pins:
        if isinstance(pin, (float, bool, np.floating)) or not isinstance(pin, Hashable):
            raise InputError(f"a net has a pin {shown(pin)}; pins are numbers of vertices, or "
                             "their names")
    return True


def _numbered(offsets: np.ndarray, pins: list[Any], names: dict[Any, None]) -> NetRows:
    """Pins as numbers of their names."""
    number = {name: vertex for vertex, name in enumerate(names)}
    for place, pin in enumerate(pins):
        if pin not in number:
            net = int(np.searchsorted(offsets, place, side="right")) - 1
            raise InputError(f"net {net} has a pin {shown(pin)}, which is no vertex")
    found = np.fromiter((number[pin] for pin in pins), np.int64, len(pins))
    return NetRows(offsets, found, len(number), names=list(names))
