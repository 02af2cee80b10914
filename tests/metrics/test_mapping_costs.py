"""Metrics of mappings against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.errors import InputError
from portpart.graphs.topology import Topology
from portpart.metrics import level_costs, mapping_cost, traffic_matrix
from tests.graphs.test_topology import HIERARCHIES
from tests.helpers.each import looped
from tests.helpers.spaces import GRAPHS
from tests.oracles import mappings as plain


def drawn_part(n: int, k: int) -> np.ndarray:
    return np.random.default_rng(n + k).integers(0, k, n)


@looped("name", GRAPHS)
@looped(("arities", "lengths"), HIERARCHIES[:4])
def test_cost_and_traffic(name: str, arities: list[int], lengths: list[int]) -> None:
    graph, machine = GRAPHS[name], Topology(arities, lengths)
    k = machine.num_elements
    part = drawn_part(graph.num_vertices, k)
    table = plain.distances(arities, lengths)
    assert mapping_cost(graph, part, machine) == plain.cost(graph, part, table)
    assert mapping_cost(graph, part, Topology.from_matrix(table)) == plain.cost(graph, part, table)
    assert level_costs(graph, part, machine).tolist() == plain.level_costs(
        graph, part, arities, lengths)
    traffic = traffic_matrix(graph, part, k).toarray()
    assert np.array_equal(traffic, plain.traffic(graph, part, k))
    assert (traffic * np.array(table)).sum() == 2 * mapping_cost(graph, part, machine)


def test_costs_by_level() -> None:
    path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    machine = Topology("2:2", "1:10")
    assert level_costs(path, [0, 1, 2, 3, 3], machine).tolist() == [2, 10]
    assert mapping_cost(path, [0, 1, 2, 3, 3], machine) == 12
    assert mapping_cost(path, [2, 2, 2, 2, 2], machine) == 0


def test_elements_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match=r"part\[1\] is 4"):
        mapping_cost([(0, 1)], [0, 4], Topology("2:2", "1:10"))


def test_costs_beyond_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match="64 bits"):
        mapping_cost([(0, 1, 2**60)], [0, 1], Topology("2", "1000"))


def test_costs_that_fit_are_exact() -> None:
    """Though the weight of all edges times the largest distance is beyond 64 bits."""
    far = 2**31 - 1
    edges = [(0, 1, 2**33), (2, 3, 1)]
    tree, matrix = Topology("2:2", f"1:{far}"), np.array([[0, 1, far], [1, 0, far], [far, far, 0]])
    for machine in (tree, Topology.from_matrix(matrix)):
        assert mapping_cost(edges, [0, 1, 0, 2], machine) == 2**33 + far
    near = Topology("2", str(2**30 - 1))
    assert mapping_cost([(0, 1, 2**33)], [0, 1], near) == 2**33 * (2**30 - 1)


def test_a_machine_is_needed() -> None:
    with pytest.raises(InputError, match=r"must be a portpart\.Topology"):
        mapping_cost([(0, 1)], [0, 1], "2:1")
