"""Hypergraphs of the Python libraries HyperNetX, XGI and hypergraphx, known by their methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from portpart.graphs.from_nets import NetInput
from portpart.graphs.nets_of_rows import nets_of_names

WEIGHT = "weight"
"""The attribute of nets that is read as their weight, 1 where it is missing."""


def nets_of_network(obj: Any) -> NetInput | None:
    """The nets of an object of these libraries, named by its nodes; None if it is none."""
    reader = _reader_of(obj)
    return None if reader is None else reader(obj)


def is_network_of_nets(obj: Any) -> bool:
    """Whether `obj` is a hypergraph of one of these libraries."""
    return _reader_of(obj) is not None


def _reader_of(obj: Any) -> Callable[[Any], NetInput] | None:
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
