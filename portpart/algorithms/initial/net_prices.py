"""Gains of the nets of a hypergraph, of which those cost that have pins on two sides.

Such a net costs its weight, and for each of its s pins on one side and each on the other a share of
``1 / (s - 1)`` of that.  The first alone leaves nearly all moves without a gain, for a net gains or
loses by its last pin on a side only; the second alone is the cut of a graph of cliques.  With both,
moves that bring a net closer to one side count as well.

Only pins inside a bisection count.  So each part of a net that a bisection cuts is a separate net
in the next ones, and what all bisections cut together is the connectivity less one (km1).
"""

from __future__ import annotations

from portpart.backends import language as kl
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.rows import Csr

PRICE = 840
"""What a cut net of weight 1 costs: a multiple of 1 ... 8, so that shares are exact for most."""


class VertexNets(Csr):
    """The nets of each vertex, and their pins."""

    nets: Nets


def incidence_of(hypergraph: Hypergraph) -> VertexNets:
    """The rows of a hypergraph in both directions."""
    return VertexNets(**dict(hypergraph.csr.named()), nets=hypergraph.nets)


@kl.device
def size_of(net, graph: VertexNets):
    """Number of pins of a net."""
    return kl.int64(graph.nets.end[net]) - kl.int64(graph.nets.begin[net])


@kl.device
def scaled_cost(net, shift, graph: VertexNets):
    """What it costs to cut a net, pairs of pins aside."""
    return PRICE * (kl.value_or(graph.nets.weights, net, 1) >> shift)


@kl.device
def cost_of(near, across, net, shift, graph: VertexNets):
    """What a net costs with a pin here, this many others on its side, and this many across."""
    result = kl.int64(0)
    if across > 0:
        price = scaled_cost(net, shift, graph)
        result = price + price // (size_of(net, graph) - 1) * across * (near + 1)
    return result


@kl.device
def gain_of(near, across, net, shift, graph: VertexNets):
    """What a net gains if one pin changes sides, with this many others on its side and across."""
    price = scaled_cost(net, shift, graph)
    share = price // max(kl.int64(1), size_of(net, graph) - 1)
    return price * (kl.int64(near == 0) - kl.int64(across == 0)) + share * (across - near)
