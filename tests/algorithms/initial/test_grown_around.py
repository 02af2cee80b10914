"""Starts where vertices are fixed: the others are divided by themselves, named by their ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import generators
from portpart.algorithms.initial.options import GROWING_ON_NETS
from portpart.algorithms.multilevel.greedy_start import greedy_start_in_groups
from portpart.algorithms.objectives.limits import Balance, balance_of
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.copies import induced
from portpart.graphs.graph import Graph
from portpart.graphs.graph_models import plain_graph
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers import data_folder
from tests.helpers.nets import circuit, hypergraphs, nets_of, weights_of


@given(hypergraph=hypergraphs(14), data=st.data())
@settings(max_examples=60, deadline=None)
def test_pins_of_some_vertices_are_left(space: ExecutionSpace, hypergraph: Hypergraph,
                                        data: Any) -> None:
    n = hypergraph.num_vertices
    label = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
    for wanted in range(4):
        found, vertices = induced(hypergraph.to(space), space.asarray(label), wanted)
        inside = np.flatnonzero(label == wanted).tolist()
        assert oracles.host(vertices).tolist() == inside
        assert nets_of(found) == [[inside.index(v) for v in net if v in inside]
                                  for net in nets_of(hypergraph)]
        rows = oracles.host(found.vertex_offsets)
        assert [oracles.host(found.vertex_nets)[rows[v] : rows[v + 1]].tolist()
                for v in range(len(inside))] == [
            [number for number, net in enumerate(nets_of(hypergraph)) if v in net] for v in inside]
        masses = weights_of(hypergraph.vertex_weights, n)
        assert weights_of(found.vertex_weights, len(inside)) == [masses[v] for v in inside]
        assert weights_of(found.net_weights, found.num_nets) == weights_of(
            hypergraph.net_weights, hypergraph.num_nets)


def test_blocks_of_different_limits_are_meant_to_be_full_alike() -> None:
    alike = balance_of(np.array([40, 40, 40]), 110)
    assert (alike.are_alike, alike.max_block_weight, alike.mean_block_weight) == (True, 40, 36)
    assert balance_of(np.array([10, 30, 60]), 50).means.tolist() == [5, 15, 30]
    assert balance_of(np.array([10, 30, 60]), 200).imbalance == 0


@pytest.mark.parametrize("kind", ["graph", "hypergraph"])
def test_fixed_vertices_stay_and_free_ones_fill_what_is_left(space: ExecutionSpace,
                                                             kind: str) -> None:
    """Block 2 has as much fixed as it may weigh; block 0 has half."""
    graph: Graph | Hypergraph = (generators.grid_2d(30) if kind == "graph" else circuit(900, 5))
    fixed = np.full(900, -1, np.int32)
    fixed[:225], fixed[-112:] = 2, 0
    parts = greedy_start_in_groups(graph.to(space), Balance(4, 232, 225), GROWING_ON_NETS, 3,
                                   space.asarray(fixed), lambda: plain_graph(graph.to(space)))
    expected = greedy_start_in_groups(graph, Balance(4, 232, 225), GROWING_ON_NETS, 3, fixed,
                                      lambda: plain_graph(graph))
    assert len(parts) == len(expected) > 1
    for part, same in zip(parts, expected, strict=True):
        found = oracles.host(part)
        assert np.array_equal(found, oracles.host(same))
        assert (found == fixed)[fixed >= 0].all()
        weights = np.bincount(found, minlength=4)
        assert 225 <= weights[2] <= 232
        assert 200 <= weights[0] <= 250


def test_blocks_without_room_leave_nothing_to_be_grown() -> None:
    fixed = np.repeat(np.array([0, 1, 2, -1], np.int32), [300, 300, 299, 1])
    nets = circuit(900, 5)
    assert len(greedy_start_in_groups(nets, Balance(3, 301, 300), GROWING_ON_NETS, 3, fixed,
                                      lambda: plain_graph(nets))) == 0


@pytest.mark.parametrize("name", ["netlist", "sat14_atco_enc1_opt2_10_16.primal.hgr.xz"])
def test_a_good_partition_is_found_again_where_some_of_it_is_fixed(name: str) -> None:
    """Where no block grew from fixed ones, the real one cost three times as much."""
    nets = (generators.netlist(6000, seed=4) if name == "netlist" else portpart.io.read_hypergraph(
        data_folder.require(data_folder.DATA / "hypergraphs" / name)))
    known = portpart.partition(nets, 8, seed=1)
    drawn = np.random.default_rng(3).random(nets.num_vertices) < 0.1
    fixed = np.where(drawn, known.part, -1)
    found = portpart.partition(nets, 8, fixed=fixed, seed=2)
    assert (found.part == fixed)[drawn].all()
    assert found.feasible
    assert found.km1 <= 1.15 * known.km1


def test_macros_are_no_reason_to_ask_metis() -> None:
    """Eight partitions of a clique graph on the host took four times as long as all else."""
    nets, weights = generators.netlist(3000), np.ones(3000, np.int64)
    weights[:2] = 900, 700
    made = portpart.as_hypergraph((nets.net_offsets, nets.net_pins), vertex_weights=weights)
    with pytest.warns(UserWarning, match="vertex 0 weighs 900"):
        found = portpart.partition(made, 16)
    assert "metis" not in found.stats["starts"]
