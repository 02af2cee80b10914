"""Recognise an object with a hypergraph and convert it to a checked `Hypergraph`."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from portpart import graphs
from portpart.errors import InputError, shown, typed_memory_errors
from portpart.inputs.convert import refuse_blocks, refuse_foreign_type
from portpart.options import checked_flag

if TYPE_CHECKING:
    from portpart.backends.programs import ExecutionSpace
    from portpart.graphs import Numbers


OF_NETWORKS = ((graphs.is_networkx, "list(graph[net])"), (graphs.is_igraph, "graph.neighbors(net)"),
               (graphs.is_networkit, "list(graph.iterNeighbors(net))"))
"""Kinds of graphs, and an expression for the neighbours of one vertex."""


def is_hypergraph(data: Any) -> bool:
    """Whether `data` is a hypergraph or a file named as one, in any call."""
    if isinstance(data, (str, os.PathLike)):
        from portpart.inputs.hypergraphs import is_net_name

        return is_net_name(os.fspath(data))
    return isinstance(data, graphs.Hypergraph)


@typed_memory_errors
def as_hypergraph(
    data: Any,
    *,
    num_vertices: int | None = None,
    net_weights: Numbers | None = None,
    vertex_weights: Numbers | None = None,
    model: str | None = None,
    diagonal: bool = False,
    space: ExecutionSpace | None = None,
) -> graphs.Hypergraph:
    """Convert an object or a file to a :class:`Hypergraph`, and check it.

    Parameters
    ----------
    data : Hypergraph, tuple, list, sparse matrix, Netlist, network object or path
        - a :class:`Hypergraph`;
        - a tuple ``(net_offsets, net_pins)`` of arrays of any kind: net e has the pins
          ``net_pins[net_offsets[e]] ... net_pins[net_offsets[e + 1] - 1]``, in any order;
        - a list of nets, each a sequence of its pins; a mapping with nets as values, whose keys
          are ``net_names`` unless they are numbers; an array of shape (m, pins of a net), or of m
          lists.  Pins that are not integers are ``names``, numbered as they occur.  A tuple of two
          always has arrays, as above;
        - a SciPy or CuPy sparse matrix, by its pattern: see `model`;
        - a :class:`portpart.io.Netlist`: its gates and nets, with ``names`` and ``net_names``;
        - a hypergraph of HyperNetX, XGI or hypergraphx: nodes are ``names``, in their order, and
          the attribute ``weight`` of nets is their weight;
        - a path (str or PathLike), read by :func:`portpart.io.read_hypergraph`.
    num_vertices : int, optional
        Number of vertices, if pins are numbers.  Default: the number of vertex weights, else the
        largest pin plus one.  It is required above 2^22 vertices with more than 64 for each pin.
    net_weights : array_like of int, shape (m,), or dict, optional
        Not negative.  Default: the weights in `data`, else 1.  A dict, or a Series with such an
        index, has weights by ``net_names``, or by numbers where nets have no names.
    vertex_weights : array_like of int, shape (n,), or dict, optional
        The same for vertices, by ``names``.
    model : {"row-net", "column-net", "fine-grain"}, optional
        Model of a matrix: columns are vertices and rows are nets (default); the reverse; or
        entries are vertices, and nets are the rows, then the columns.
    diagonal : bool
        Add the diagonal of a square matrix: net i has the pin i.  Then km1 is the communication
        volume of a product whose input and output vectors are divided in the same way.
    space : ExecutionSpace, optional
        Space of the hypergraph; default: the one that has the pins.

    Returns
    -------
    Hypergraph
        Pins are ascending.  Repeated pins of a net count once (``repeated_pins`` is their number).
        Nets with fewer than two pins and vertices without nets are kept.

    Raises
    ------
    InputError
        If a net, pin or weight is invalid; the message names the first one.

    Notes
    -----
    Pins are sorted in parallel on their device.  Python lists and names are read in Python.

    Examples
    --------
    >>> import portpart
    >>> portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    <Hypergraph: 4 vertices, 2 nets, 5 pins, on cpu>
    >>> portpart.as_hypergraph(([0, 3, 5], [0, 1, 2, 2, 3]), net_weights=[4, 1]).total_net_weight
    5
    """
    diagonal = checked_flag("diagonal", diagonal)
    if isinstance(data, (str, os.PathLike)):
        from portpart.inputs.hypergraphs import read_hypergraph

        data, model, diagonal = read_hypergraph(data, model=model, diagonal=diagonal), None, False
    elif hasattr(data, "gate_names"):
        from portpart.inputs.hypergraphs import hypergraph_of_netlist

        data = hypergraph_of_netlist(data)
    for name, values in (("net_weights", net_weights), ("vertex_weights", vertex_weights)):
        if isinstance(values, str):
            raise InputError(f"{name} is {shown(values)}; one weight for each is needed")
    matrix = hasattr(data, "tocsr")
    if not matrix and (model is not None or diagonal):
        raise InputError(f"{'diagonal' if model is None else 'model'} goes with a sparse matrix, "
                         f"not with a {type(data).__name__}")
    if isinstance(data, graphs.Hypergraph):
        _refuse_other_number(num_vertices, data.num_vertices)
        made = graphs.nets_checked_again(data)
        return graphs.with_weights(made if space is None else made.to(space), net_weights,
                                   vertex_weights)
    rows = graphs.nets_of_matrix(data, model, diagonal) if matrix else _rows_of(data)
    if rows.num_vertices is not None:
        _refuse_other_number(num_vertices, rows.num_vertices)
        num_vertices = rows.num_vertices
    weights = rows.net_weights if net_weights is None else net_weights
    vertex_weights = graphs.in_order(vertex_weights, rows.names, "vertex_weights")
    weights = graphs.in_order(weights, rows.net_names, "net_weights", "net")
    made = graphs.nets_hypergraph(rows.offsets, rows.pins, num_vertices, weights, vertex_weights,
                                  space)
    return replace(made, names=rows.names, net_names=rows.net_names)


def _rows_of(data: Any) -> graphs.NetInput:
    """Return the nets of an object that is neither a hypergraph nor a matrix."""
    if isinstance(data, tuple) and len(data) == 2:
        return graphs.NetInput(*data)
    refuse_foreign_type(data)
    refuse_blocks(data)
    if isinstance(data, graphs.Graph):
        raise InputError("a Graph is not a hypergraph; portpart.as_hypergraph(graph.to_scipy(), "
                         "diagonal=True) makes a net of each vertex and its neighbours, whose km1 "
                         "is the communication volume of the graph")
    for is_kind, neighbours in OF_NETWORKS:
        if is_kind(data):
            raise InputError(f"a {type(data).__name__} is a graph, not a hypergraph; of one in "
                             f"which nets are vertices also, [{neighbours} for net in nets] makes "
                             "nets")
    if graphs.is_frame(data):
        raise InputError(f"a {type(data).__name__} is not a hypergraph; of its columns net and pin "
                         "[list(pins) for _, pins in frame.groupby('net')['pin']] makes nets")
    return (graphs.reader_of_nets(data) or graphs.nets_of_rows)(data)


def _refuse_other_number(given: int | None, there: int) -> None:
    if graphs.checked_count(given) not in (None, there):
        raise InputError(f"num_vertices is {given}, but there are {there} vertices")
