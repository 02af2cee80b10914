"""Netlists drawn on a device for runs at scale: valid, alike everywhere, like the generator's."""

from __future__ import annotations

import numpy as np

import portpart
from bench.hypergraphs_large import drawn_netlist, measured
from portpart import generators
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.spaces import reference


def reach(hypergraph: Hypergraph) -> np.ndarray:
    """How far sinks are from their drivers, but for wide nets, on ten scales."""
    lengths = np.diff(hypergraph.net_offsets)
    nets = np.repeat(np.arange(hypergraph.num_nets), lengths)
    narrow = nets < hypergraph.num_nets - 2
    far = np.abs(hypergraph.net_pins[narrow] - nets[narrow])
    return np.bincount(np.minimum(np.log2(np.maximum(far, 1)).astype(int), 9), minlength=10)


def test_every_space_draws_the_same(space: ExecutionSpace) -> None:
    """Rows ascend, both ways say the same, and every net has its driver."""
    drawn, expected = (drawn_netlist(each, 700) for each in (space, reference()))
    for name, array in drawn.arrays.items():
        if array is not None:
            assert np.array_equal(oracles.host(array), expected.arrays[name])
    checked = portpart.as_hypergraph((expected.net_offsets, expected.net_pins), num_vertices=700)
    assert np.array_equal(checked.vertex_nets, expected.vertex_nets)
    assert checked.repeated_pins == 0
    assert all(net in expected.net_pins[expected.net_offsets[net] : expected.net_offsets[net + 1]]
               for net in range(700))


def test_sizes_and_distances_are_those_of_the_generator() -> None:
    """Pins and reach differ by chance alone; two nets have half of all gates."""
    drawn, made = drawn_netlist(reference(), 20_000), generators.netlist(20_000)
    assert abs(drawn.num_pins / made.num_pins - 1) < 0.01
    assert np.allclose(reach(drawn) / reach(made), 1, atol=0.15)
    wide = np.diff(drawn.net_offsets)[-2:]
    assert np.allclose(wide, 10_000, atol=300)


def test_a_line_of_a_run_says_what_was_found() -> None:
    line = measured(drawn_netlist(reference(), 900), 3, "portpart", "fast")
    assert line["feasible"]
    assert line["km1"] > 0
    assert line["estimated GiB"] >= line["input GiB"]
