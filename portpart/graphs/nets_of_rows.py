"""Nets from Python's own containers and from hypergraph libraries of Python."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import chain
from numbers import Integral, Number
from typing import Any

import numpy as np

from portpart.errors import InputError, shown
from portpart.graphs.arrays import GraphLike, Numbers
from portpart.graphs.from_frames import is_missing
from portpart.graphs.from_nets import NetInput
from portpart.graphs.names import has_hash

# Nets in Python's own containers: lists of pins, by number or by name --------------------------


ACCEPTED = (
    "a list of nets, each a sequence of its pins, a tuple (net_offsets, net_pins), a sparse "
    "matrix, a Netlist, a HyperNetX, XGI or hypergraphx object, a path or a portpart Hypergraph"
)


def nets_of_rows(nets: Any) -> NetInput:
    """Return nets from sequences of pins or rows of an array; non-integer pins are names."""
    if isinstance(nets, Mapping):
        named = not all(isinstance(net, Integral) for net in nets)
        return nets_of_rows(list(nets.values()))._replace(net_names=list(nets) if named else None)
    if getattr(nets, "ndim", 2) == 1 and getattr(getattr(nets, "dtype", None), "kind", "") == "O":
        nets = list(nets)
    if getattr(nets, "ndim", 2) != 2:
        raise InputError(f"an array of shape {tuple(nets.shape)} is not a hypergraph; accepted are "
                         f"{ACCEPTED}")
    if isinstance(nets, np.ndarray):
        nets = np.asarray(nets)
        _refuse_incidences(nets)
        if nets.dtype.kind in "iu":
            return NetInput(np.arange(len(nets) + 1) * nets.shape[1], nets.reshape(-1))
    rows = _rows(nets)
    offsets, pins = np.cumsum([0, *map(len, rows)]), list(chain.from_iterable(rows))
    if all(isinstance(pin, (int, np.integer)) and not isinstance(pin, bool) for pin in pins):
        found = _integers(pins)
        if len({len(row) for row in rows}) == 1:
            _refuse_incidences(found.reshape(len(rows), -1))
        return NetInput(offsets, found)
    names = dict.fromkeys(chain.from_iterable(map(_ordered, rows))) if _are_names(pins) else {}
    return _numbered(offsets, pins, names)


def _refuse_incidences(table: np.ndarray) -> None:
    """Raise if rows of equal length are flags of vertices, not numbers of pins."""
    numbers = table.dtype.kind in "iu" and len(table) > 1 and table.shape[1] > 2 and (
        (int(table.min()), int(table.max())) == (0, 1))
    if numbers or table.dtype.kind in "bf":
        kind = "0 and 1" if numbers else f"type {table.dtype}"
        raise InputError(f"rows of {kind} are not nets of vertices 0, 1 ...; for an incidence "
                         "matrix with nets as rows pass scipy.sparse.csr_array(matrix)")


def nets_of_names(names: Iterable[Hashable], nets: Iterable[Iterable[Hashable]],
                  weights: Numbers | None = None) -> NetInput:
    """Return nets whose pins are among `names`; the vertices are numbered in that order."""
    rows = [list(net) for net in nets]
    return _numbered(np.cumsum([0, *map(len, rows)]), list(chain.from_iterable(rows)),
                     dict.fromkeys(names))._replace(net_weights=weights)


def _rows(nets: Any) -> list[Any]:
    """Return the nets as sequences."""
    try:
        found = None if isinstance(nets, (str, bytes, set)) else list(nets)
    except TypeError:
        found = None
    if found is None:
        raise InputError(f"{shown(nets)} is not a hypergraph; accepted are {ACCEPTED}")
    for net, row in enumerate(found):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or (
                getattr(row, "ndim", 1) != 1):
            raise InputError(f"net {net} is {shown(row)}; a sequence of its pins is needed")
    return found


def _ordered(row: Any) -> Any:
    """Return the pins of a net in an order that is the same in every process, also for sets."""
    if not isinstance(row, (set, frozenset)):
        return row
    try:
        return sorted(row)
    except TypeError:
        return sorted(row, key=lambda pin: (type(pin).__name__, repr(pin)))


def _integers(pins: list[Any]) -> np.ndarray:
    try:
        return np.array(pins, np.int64)
    except OverflowError:
        worst = shown(max(pins, key=abs))
        raise InputError(f"a net has a pin {worst}, which is not a vertex") from None


def _are_names(pins: list[Hashable]) -> bool:
    """Whether pins may be names of vertices, such as text and tuples, also with integers."""
    for pin in pins:
        number = isinstance(pin, (Number, np.bool_)) and (
            isinstance(pin, bool) or not isinstance(pin, Integral))
        if number or is_missing(pin) or not has_hash(pin):
            raise InputError(f"a net has a pin {shown(pin)}; pins are numbers of vertices, or "
                             "their names")
    return True


def _numbered(offsets: np.ndarray, pins: list[Hashable], names: dict[Hashable, None]) -> NetInput:
    """Return nets with the numbers of names as pins."""
    number = {name: vertex for vertex, name in enumerate(names)}
    for place, pin in enumerate(pins):
        if pin not in number:
            net = int(np.searchsorted(offsets, place, side="right")) - 1
            raise InputError(f"net {net} has a pin {shown(pin)}, which is not a vertex")
    found = np.fromiter((number[pin] for pin in pins), np.int64, len(pins))
    return NetInput(offsets, found, len(number), names=list(names))


# Hypergraphs of the libraries HyperNetX, XGI and hypergraphx, recognised by their methods ------


WEIGHT = "weight"
"""The attribute of nets that is read as their weight, 1 if it is missing."""


def reader_of_nets(obj: GraphLike) -> Callable[[Any], NetInput] | None:
    """Return the function that reads nets of an object of these libraries, else None."""
    if hasattr(obj, "get_nodes") and hasattr(obj, "get_edges"):
        return _of_hypergraphx
    if hasattr(obj, "incidence_dict") and hasattr(obj, "nodes"):
        return _of_hypernetx
    if hasattr(obj, "nodes") and hasattr(getattr(obj, "edges", None), "members"):
        return _of_xgi
    return None


def _of_hypernetx(obj: Any) -> NetInput:
    incidence = obj.incidence_dict
    weights = [getattr(obj.edges[edge], WEIGHT, 1) for edge in incidence]
    made = nets_of_names(obj.nodes, incidence.values(), _unless_ones(weights))
    return made._replace(net_names=list(incidence))


def _of_xgi(obj: Any) -> NetInput:
    found = obj.edges.attrs(WEIGHT).asdict()
    weights = [1 if found[edge] is None else found[edge] for edge in obj.edges]
    made = nets_of_names(obj.nodes, obj.edges.members(), _unless_ones(weights))
    return made._replace(net_names=list(obj.edges))


def _of_hypergraphx(obj: Any) -> NetInput:
    weights = obj.get_weights() if obj.is_weighted() else None
    return nets_of_names(obj.get_nodes(), obj.get_edges(), weights)


def _unless_ones(weights: list[Any]) -> list[Any] | None:
    return None if all(weight == 1 for weight in weights) else weights
