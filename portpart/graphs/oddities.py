"""What is unusual in a hypergraph, counted."""

from __future__ import annotations

from portpart.graphs.hypergraph import Hypergraph


def oddities(hypergraph: Hypergraph) -> dict[str, int]:
    """How many nets, pins and vertices of each unusual kind there are."""
    h = hypergraph
    sizes = h.net_offsets[1:] - h.net_offsets[:-1]
    degrees = h.vertex_offsets[1:] - h.vertex_offsets[:-1]
    found = {
        "empty_nets": sizes == 0,
        "single_pin_nets": sizes == 1,
        "weightless_nets": None if h.net_weights is None else h.net_weights == 0,
        "isolated_vertices": degrees == 0,
        "weightless_vertices": None if h.vertex_weights is None else h.vertex_weights == 0,
    }
    counts = {name: 0 if are is None else int(are.sum()) for name, are in found.items()}
    return {**counts, "repeated_pins": h.repeated_pins}
