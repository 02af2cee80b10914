"""Recognise what holds a hypergraph and turn it into a checked `Hypergraph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portpart.errors import InputError, typed_memory_errors
from portpart.graphs.from_nets import nets_hypergraph
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import shown

if TYPE_CHECKING:
    from portpart.backends.interface import ExecutionSpace


@typed_memory_errors
def as_hypergraph(
    data: Any,
    *,
    num_vertices: int | None = None,
    net_weights: Any = None,
    vertex_weights: Any = None,
    space: ExecutionSpace | None = None,
) -> Hypergraph:
    """Make a hypergraph of anything that holds one.

    Parameters
    ----------
    data : Hypergraph or tuple (net_offsets, net_pins)
        Net e has the pins ``net_pins[net_offsets[e]] ... net_pins[net_offsets[e + 1] - 1]``, in
        any order.
    num_vertices : int, optional
        Default: as many as there are vertex weights, else the largest pin plus one.
    net_weights : array_like of int, shape (m,), optional
        Not negative.  Default: every net weighs 1.
    vertex_weights : array_like of int, shape (n,), optional
        Not negative.  Default: every vertex weighs 1.
    space : ExecutionSpace, optional
        Default: where the pins are.

    Returns
    -------
    Hypergraph
        Pins that a net has several times count once.  Nets without pins or of one pin stay, and
        so do vertices without nets.

    Raises
    ------
    InputError
        Names the first net, pin or weight that cannot be.

    Examples
    --------
    >>> import portpart
    >>> portpart.as_hypergraph(([0, 3, 5], [0, 1, 2, 2, 3]))
    <Hypergraph: 4 vertices, 2 nets, 5 pins, on cpu>
    """
    if isinstance(data, Hypergraph):
        return data if space is None else data.to(space)
    if isinstance(data, tuple) and len(data) == 2:
        return nets_hypergraph(*data, num_vertices, net_weights, vertex_weights, space)
    raise InputError(f"{shown(data)} is no hypergraph; (net_offsets, net_pins) is one")
