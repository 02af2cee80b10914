"""Whatever holds blocks stands for them in every metric: results, sessions, names."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

import portpart
from portpart import metrics
from tests import oracles

GRID = portpart.generators.grid_2d(6, 6)
NETS = portpart.as_hypergraph([[0, 1, 2], [2, 3], [3, 4, 5, 0]])
MACHINE = portpart.Topology("2:2", "1:10")

OF_GRAPHS = ("cut", "boundary_vertices", "communication_volume", "components_per_block",
             "quotient_graph", "block_weights", "max_block_weight", "imbalance", "is_balanced",
             "traffic_matrix", "evaluate")
OF_NETS = ("cut", "boundary_vertices", "km1", "soed", "connectivity_histogram", "absorption",
           "block_weights", "max_block_weight", "imbalance", "is_balanced", "evaluate")


def edited(graph: Any, k: int) -> portpart.Session:
    """A session in which ids and vertices are not the same numbers any more."""
    session = portpart.Session(graph, k)
    batch = session.batch()
    new = batch.insert_vertices(count=2)
    batch.delete_vertices([1])
    session.apply(batch)
    batch = session.batch()
    batch.delete_vertices([new[0]])
    session.apply(batch)
    return session


def plain(value: Any) -> Any:
    if hasattr(value, "to_scipy"):
        value = value.to_scipy()
    if hasattr(value, "toarray"):
        value = value.toarray()
    return value.as_dict() if hasattr(value, "as_dict") else np.asarray(value).tolist()


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_a_session_stands_for_the_blocks_of_its_graph(name: str) -> None:
    session = edited(GRID, 4)
    blocks = [int(session.part[vertex]) for vertex in session.ids]
    graph = session.graph()
    assert len(blocks) == graph.num_vertices < len(session.part)
    metric = getattr(metrics, name)
    told = metric(graph, session, 4) if name == "evaluate" else metric(graph, session)
    assert plain(told) == plain(metric(graph, blocks))
    if name == "cut":
        assert told == oracles.cut(graph, blocks) == session.cut


@pytest.mark.parametrize("name", OF_NETS)
def test_a_session_of_nets_stands_for_its_blocks(name: str) -> None:
    session = edited(NETS, 2)
    blocks = [int(session.part[vertex]) for vertex in session.ids]
    metric = getattr(metrics, name)
    assert plain(metric(session.graph(), session)) == plain(metric(session.graph(), blocks))


@pytest.mark.parametrize("name", ["mapping_cost", "level_costs"])
def test_costs_of_a_mapping_take_a_session(name: str) -> None:
    session = edited(GRID, 4)
    blocks = [int(session.part[vertex]) for vertex in session.ids]
    metric = getattr(metrics, name)
    assert plain(metric(session.graph(), session, MACHINE)) == plain(
        metric(session.graph(), blocks, MACHINE))


def test_a_result_with_names_is_read_by_them() -> None:
    path = networkx.path_graph(list("abcdef"))
    result = portpart.partition(path, 2)
    turned = networkx.Graph()
    turned.add_nodes_from("fdbace")
    turned.add_edges_from(path.edges)
    assert metrics.cut(turned, result) == result.cut == 1
    assert metrics.evaluate(turned, result).components.tolist() == [1, 1]


def test_a_session_with_names_is_read_by_them() -> None:
    session = portpart.Session(networkx.path_graph(list("abcdef")), 2)
    batch = session.batch()
    batch.delete_vertices("c")
    batch.insert_vertices(names=["z"])
    batch.insert_edges(["z"], ["a"])
    session.apply(batch)
    graph = session.graph()
    assert metrics.cut(graph, session) == session.cut == oracles.cut(
        graph, session.part[session.ids])
    turned = networkx.Graph()
    turned.add_nodes_from("zfedba")
    turned.add_edges_from(["za", "ab", "de", "ef"])
    assert metrics.cut(turned, session) == session.cut
    batch = session.batch()
    batch.insert_vertices(count=1)
    session.apply(batch)
    assert metrics.cut(session.graph(), session) == session.cut


@pytest.mark.parametrize("metric", ["communication_volume", "quotient_graph",
                                    "components_per_block", "traffic_matrix"])
def test_a_metric_of_graphs_names_those_of_hypergraphs(metric: str) -> None:
    with pytest.raises(portpart.InputError, match="for hypergraphs use km1") as caught:
        getattr(metrics, metric)(NETS, [0, 0, 1, 1, 0, 0])
    assert "Session" not in str(caught.value)
    with pytest.raises(portpart.InputError, match="for hypergraphs use km1"):
        metrics.mapping_cost(NETS, [0, 0, 1, 1, 0, 0], MACHINE)
