"""What a session begins with: blocks that a caller has, and weights as `partition` takes them."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from scipy.sparse import csr_array

import portpart
from portpart import generators
from portpart.errors import InputError
from tests import oracles
from tests.conftest import cuda_space
from tests.oracles import nets as net_oracles

GRID = generators.grid_2d(8)
NETS = generators.netlist(300, seed=3)


def dealt(n: int, k: int, seed: int = 1) -> np.ndarray:
    """Blocks of equal numbers of vertices, anywhere: nobody would find such a partition."""
    return np.random.default_rng(seed).permutation(np.arange(n) % k)


@pytest.mark.parametrize("algorithm", [None, "igkway", "ihyperg"])
def test_a_session_begins_with_exactly_the_blocks_that_it_is_given(algorithm: str | None) -> None:
    graph = NETS if algorithm == "ihyperg" else GRID
    blocks = dealt(graph.num_vertices, 4).astype(np.int32)
    session = portpart.Session(graph, 4, algorithm=algorithm, initial=blocks)
    assert np.array_equal(session.part, blocks)
    given = blocks.copy()
    value = (net_oracles.values(graph, given)["km1"] if algorithm == "ihyperg"
             else oracles.cut(graph, given))
    assert getattr(session, session.objective) == value
    blocks[:] = 0  # the caller's array is the caller's
    update = session.apply(session.batch(), "none")
    assert np.array_equal(session.part, given)
    assert (update.value, update.feasible) == (value, True)


def test_blocks_come_from_results_and_by_names() -> None:
    graph = networkx.relabel_nodes(networkx.cycle_graph(12), {v: f"v{v}" for v in range(12)})
    result = portpart.partition(graph, 3)
    for initial in (result, dict(zip(result.labels, result.part.tolist()))):
        assert np.array_equal(portpart.Session(graph, 3, initial=initial).part, result.part)


def test_only_as_much_moves_as_a_limit_demands() -> None:
    """One vertex is too many in block 0; the others stay where they are."""
    blocks = dealt(64, 2)
    blocks[np.flatnonzero(blocks == 1)[0]] = 0
    session = portpart.Session(GRID, 2, imbalance=0, initial=blocks)
    assert session.block_weights.tolist() == [32, 32]
    assert int((session.part != blocks).sum()) == 1
    roomy = portpart.Session(GRID, 2, imbalance="5%", initial=blocks)
    assert np.array_equal(roomy.part, blocks)


def test_an_empty_block_gets_a_vertex() -> None:
    session = portpart.Session(GRID, 3, imbalance=1, initial=np.arange(64) // 32)
    assert session.block_weights.min() > 0
    assert int((session.part != np.arange(64) // 32).sum()) == 1


def test_vertices_that_are_fixed_elsewhere_move_first() -> None:
    blocks = np.arange(64) // 32
    session = portpart.Session(GRID, 2, imbalance=0, initial=blocks, fixed={5: 1, 40: 0, 41: 1})
    assert np.flatnonzero(session.part != blocks).tolist() == [5, 40]


def test_limits_that_no_blocks_can_keep_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="more than"):
        session = portpart.Session(GRID, 2, imbalance=0, initial=[0] * 64,
                                   fixed=[0] * 40 + [-1] * 24)
    assert session.block_weights.tolist() == [40, 24]


@pytest.mark.parametrize(("blocks", "message"), [
    ([0, 1], "initial has shape"), ([0, 1, 2] * 21 + [7], r"initial\[63\] is 7"),
    ([-1] * 64, r"initial\[0\] is -1"), ({0: 1}, "initial has no block for vertex 1")])
def test_blocks_that_are_none_are_refused_as_by_partition(blocks: Any, message: str) -> None:
    for call in (portpart.Session, portpart.partition):
        with pytest.raises(InputError, match=message):
            call(GRID, 3, initial=blocks)


WEIGHED: dict[str, tuple[Any, dict[str, Any]]] = {
    "vertex_weights": (GRID, {"vertex_weights": np.arange(64) % 5}),
    "edge_weights": (networkx.path_graph(40), {"edge_weights": np.arange(1, 40)}),
    "symmetrize": (csr_array(np.triu(GRID.to_scipy().toarray())), {"symmetrize": True}),
    "weights": (csr_array(GRID.to_scipy() * -2.0), {"weights": "abs"}),
    "weight_scale": (csr_array(GRID.to_scipy() * 0.25), {"weights": "round", "weight_scale": 8}),
}


@pytest.mark.parametrize("case", WEIGHED)
def test_sessions_read_graphs_as_partition_does(case: str) -> None:
    graph, options = WEIGHED[case]
    session = portpart.Session(graph, 2, **options)
    result = portpart.partition(graph, 2, **options)
    assert np.array_equal(session.part, result.part)
    assert session.cut == result.cut
    assert session.block_weights.tolist() == result.block_weights.tolist()
    assert session.graph().weight_scale == result.stats["weight_scale"]


def test_nets_get_weights() -> None:
    weights = np.arange(NETS.num_nets) % 7
    options: dict[str, Any] = {"net_weights": weights,
                               "vertex_weights": np.arange(NETS.num_vertices) % 3}
    session = portpart.Session(NETS, 2, **options)
    assert session.graph().net_weights.tolist() == weights.tolist()
    assert session.graph().vertex_weights.tolist() == (np.arange(NETS.num_vertices) % 3).tolist()
    weighted, old = portpart.as_hypergraph(NETS, **options), np.arange(NETS.num_vertices) % 2
    for call in (lambda graph, **more: portpart.partition(graph, 2, **more),
                 lambda graph, **more: portpart.repartition(graph, old, 2, **more)):
        result, expected = call(NETS, **options), call(weighted)
        assert np.array_equal(result.part, expected.part)
        assert result.km1 == net_oracles.values(weighted, result.part)["km1"]


def test_nets_get_weights_by_name() -> None:
    named = portpart.as_hypergraph({"x": [0, 1], "y": [1, 2], "z": [2, 3]})
    weights = {"z": 1, "y": 9, "x": 2}
    result = portpart.partition(named, 2, imbalance=1, min_block_weight=1, net_weights=weights)
    assert result.km1 == 1
    with pytest.raises(InputError, match="net_weights names 'q'"):
        portpart.partition(named, 2, net_weights={"q": 1, **weights})


@pytest.mark.parametrize(("graph", "options", "message"), [
    (GRID, {"vertex_weights": [1, 2]}, "vertex_weights"),
    (GRID, {"net_weights": [1]}, "net_weights is for hypergraphs"),
    (NETS, {"edge_weights": [1]}, "edge_weights is for graphs; for a hypergraph pass net_weights="),
    (NETS, {"edge_weights": [1], "net_weights": [1]}, "edge_weights is for graphs; for a hyper"),
    (GRID, {"edge_weights": [1], "net_weights": [1]}, "net_weights is for hypergraphs; for a gr"),
    (NETS, {"symmetrize": True}, "symmetrize is for graphs"),
    (NETS, {"net_weights": [1]}, "net_weights have shape"),
    (GRID, {"weight_scale": 2}, "weight_scale goes with"),
])
def test_weights_that_do_not_fit_are_refused(graph: Any, options: Any, message: str) -> None:
    """By all calls with the same words."""
    part = np.zeros(graph.num_vertices, np.int32)
    for call in (portpart.Session, portpart.partition,
                 lambda *given, **options: portpart.repartition(graph, part, 2, **options)):
        with pytest.raises(InputError, match=message):
            call(graph, 2, **options)


@pytest.mark.gpu
@pytest.mark.parametrize("graph", [GRID, NETS], ids=["grid", "netlist"])
def test_a_gpu_begins_with_given_blocks(graph: Any) -> None:
    """Given by the host or by the device; and repairs them as a CPU does."""
    space = cuda_space()
    blocks = dealt(graph.num_vertices, 4)
    for given in (blocks, space.asarray(blocks)):
        session = portpart.Session(graph, 4, initial=given, device="cuda")
        assert np.array_equal(oracles.host(session.part), blocks)
    heavy = np.where(np.arange(len(blocks)) < 20, 0, blocks)
    host, device = (portpart.Session(graph, 4, initial=heavy, imbalance=0, device=name)
                    for name in ("cpu", "cuda"))
    assert np.array_equal(oracles.host(device.part), host.part)
