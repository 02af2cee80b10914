"""Partitions of NetworkX graphs, and portpart as a backend of NetworkX."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pytest

import portpart
from portpart.compat import networkx_backend
from portpart.compat.networkx import partition, to_networkx
from portpart.errors import InputError
from tests import oracles

ROOT = Path(__file__).resolve().parents[2]
bisection = networkx_backend.kernighan_lin_bisection


def weighted(weight: Any) -> nx.Graph:
    """A path of four nodes; what joins the middle ones has a weight."""
    graph = nx.path_graph(["o", "p", "q", "r"])
    graph.edges["p", "q"]["weight"] = weight
    return graph


def test_blocks_are_sets_of_nodes() -> None:
    graph = nx.relabel_nodes(nx.les_miserables_graph(), {"Valjean": ("Jean", 1)})
    sets = partition(graph, 4, imbalance=0.1, fixed={("Jean", 1): 2})
    assert nx.community.is_partition(graph, sets)
    assert ("Jean", 1) in sets[2]
    assert sets == list(map(set, portpart.partition(graph, 4, imbalance=0.1,
                                                    fixed={("Jean", 1): 2}).blocks()))
    assert portpart.compat.networkx.partition(graph, 1) == [set(graph)]


def test_nodes_may_be_anything_that_networkx_takes() -> None:
    nodes = [math.nan, "a", 1.5, (2, 3), frozenset([1]), b"x", ..., object, float("nan"), True]
    graph = nx.relabel_nodes(nx.path_graph(len(nodes)), dict(enumerate(nodes)))
    one, other = partition(graph, 2)
    assert len(one) == len(other) == 5
    assert nx.cut_size(graph, one) == 1
    assert nx.community.is_partition(graph, bisection(graph))
    with pytest.raises(ValueError, match="None cannot be a node"):
        graph.add_node(None)


def test_loops_and_parallel_edges_count_as_they_should() -> None:
    graph = nx.MultiGraph([("a", "a"), ("a", "b"), ("a", "b"), ("b", "c"), ("c", "d"), ("c", "d")])
    assert {frozenset(each) for each in partition(graph, 2)} == {
        frozenset("ab"), frozenset("cd")} == {frozenset(each) for each in bisection(graph)}
    view = nx.subgraph_view(graph, filter_node=lambda node: node != "d")
    assert set.union(*partition(view, 2)) == {"a", "b", "c"}


def test_directed_graphs_are_refused_unless_their_direction_is_ignored() -> None:
    graph = nx.DiGraph([(1, 2), (2, 3)])
    with pytest.raises(InputError, match=r"no reverse arc .*symmetrize=True"):
        partition(graph, 2)
    assert nx.community.is_partition(graph, partition(graph, 2, symmetrize=True))
    with pytest.raises(InputError, match=r"G is \[\[0, 1\]\]; it must be a graph of NetworkX"):
        partition([[0, 1]], 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", ["x", 1j, [1], 10**30, math.nan, math.inf])
def test_weights_that_are_no_finite_numbers_are_refused_by_the_nodes(weight: Any) -> None:
    for call in (lambda graph: partition(graph, 2), bisection):
        with pytest.raises(InputError, match="'p' and 'q'"):
            call(weighted(weight))


def test_other_weights_are_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match=r'weights="round" .*the vertices are \'p\' and \'q\''):
        partition(weighted(1.5), 2)
    with pytest.raises(InputError, match=r"weight -1; .*'p' and 'q'"):
        partition(weighted(-1), 2)
    with pytest.raises(NotImplementedError, match=r"of 'p' and 'q' has weight -1; backend="):
        bisection(weighted(-1))
    loose = nx.path_graph(3)
    nx.set_node_attributes(loose, {0: 1.5, 1: 1, 2: 1}, "size")
    with pytest.raises(InputError, match=r"vertex_weights\[0\] is 1.5; (?!.*the vertices are)"):
        partition(loose, 2, vertex_weights="size")


def test_a_graph_goes_to_networkx_and_back() -> None:
    graph = portpart.as_graph(nx.karate_club_graph(), vertex_weights=range(34))
    result = portpart.partition(graph, 3)
    made = to_networkx(graph, result)
    assert dict(made.nodes(data="block")) == result.to_dict()
    assert {(u, v): w for u, v, w in nx.karate_club_graph().edges(data="weight")} == {
        (u, v): w for u, v, w in made.edges(data="weight")}
    again = portpart.as_graph(made, vertex_weights="weight")
    assert oracles.vertex_weights(again) == list(range(34))
    assert sorted(oracles.arcs(again)) == sorted(oracles.arcs(graph))
    assert list(to_networkx(portpart.as_graph(nx.path_graph("cab")))) == ["c", "a", "b"]
    assert to_networkx(portpart.from_edges([], num_vertices=2)).nodes(data=True)[1] == {}


def test_parallel_edges_become_one_in_networkx() -> None:
    graph = portpart.as_graph(([0, 2, 4], [1, 1, 0, 0]))
    assert list(to_networkx(graph).edges(data="weight")) == [(0, 1, 2)]


def test_what_is_no_graph_of_names_is_refused() -> None:
    with pytest.raises(InputError, match=r"it must be a portpart.Graph"):
        to_networkx(nx.path_graph(3))  # type: ignore[arg-type]
    path = portpart.generators.grid_2d(1, 3)
    with pytest.raises(InputError, match=r"part has shape \(1,\) for a graph of 3 vertices"):
        to_networkx(path, [0])
    session = portpart.Session(nx.path_graph("abc"), 1)
    assert set(to_networkx(session.graph(), session).nodes) == set("abc")


def test_bisections_have_equal_halves_or_the_sizes_of_a_start() -> None:
    graph = nx.karate_club_graph()
    assert list(map(len, bisection(graph))) == [17, 17]
    assert list(map(len, bisection(nx.path_graph(7)))) == [4, 3]
    start = [set(range(0, 34, 3)), set(range(34)) - set(range(0, 34, 3))]
    made = bisection(graph, start)
    assert list(map(len, made)) == [22, 12]
    assert nx.cut_size(graph, *made, weight="weight") < nx.cut_size(graph, *start, weight="weight")
    assert bisection(nx.Graph()) == (set(), set())
    assert bisection(nx.empty_graph(1)) == ({0}, set())
    assert bisection(graph, [list(graph), []]) == (set(graph), set())


@pytest.mark.parametrize("start", [3, [1, 2], ([0], [1]), ([0], [1], [2]), ([0, 1, 2], [2]),
                                   ([0, 1], [2, 3]), ([[]], [0, 1, 2])])
def test_starts_that_are_no_partition_raise_networkx_errors(start: Any) -> None:
    with pytest.raises(nx.NetworkXError, match="partition"):
        bisection(nx.path_graph(3), start)


def test_the_seed_and_nothing_else_decides() -> None:
    graph = nx.gnm_random_graph(60, 300, seed=1)
    drawn = {seed: bisection(graph, seed=Random(seed)) for seed in range(6)}
    assert drawn[3] == bisection(graph, seed=Random(3))
    assert len({frozenset(one) for one, _ in drawn.values()}) > 1
    assert bisection(graph) == bisection(graph, seed=nx.utils.create_py_random_state(None))


def test_weights_may_be_functions_or_left_out() -> None:
    graph = nx.cycle_graph(4)
    hidden = bisection(graph, weight=lambda u, v, _: None if {u, v} == {2, 3} else u + v)
    assert {frozenset(each) for each in hidden} == {frozenset({1, 2}), frozenset({0, 3})}
    heavy = weighted(9.5)
    assert nx.cut_size(heavy, *bisection(heavy, weight=None)) == 1
    assert {"p", "q"} in bisection(heavy)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which portpart has the entry points of pyproject.toml."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "portpart-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: portpart\nVersion: 0\n")
    lines = [line.replace('"', "") for line in (ROOT / "pyproject.toml").read_text().splitlines()]
    begin = lines.index("[project.entry-points.networkx.backends]")
    (info / "entry_points.txt").write_text("\n".join(lines[begin:begin + 5]).replace(
        "project.entry-points.", ""))
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
            "NETWORKX_TEST_BACKEND": "portpart", "NETWORKX_FALLBACK_TO_NX": "True"}


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


dispatches = pytest.mark.skipif(tuple(map(int, nx.__version__.split(".")[:2])) < (3, 3),
                                reason="NetworkX before 3.3 has other backends")


@dispatches
def test_networkx_imports_little_of_its_backend_and_dispatches_to_it(
    installed: dict[str, str],
) -> None:
    run(installed, "-W", "error", "-c", """
import sys, networkx as nx
assert not {"numba", "numpy", "click", "portpart.graphs"} & set(sys.modules)
assert nx.utils.backends.backend_info["portpart"]["functions"]
graph = nx.barbell_graph(3, 0)
for _ in range(2):
    halves = nx.community.kernighan_lin_bisection(graph, backend="portpart")
    assert sorted(map(sorted, halves)) == [[0, 1, 2], [3, 4, 5]]
assert not graph.__networkx_cache__["backends"]
""")


@dispatches
def test_the_backend_passes_the_tests_of_networkx(installed: dict[str, str]) -> None:
    folder = Path(nx.community.__file__).parent / "tests"
    files = [folder / name for name in ("test_bipartitions.py", "test_kernighan_lin.py")]
    told = run(installed, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--rootdir",
               str(folder), "--log-level=DEBUG", "-rP", "-k", "not greedy and not spectral",
               *(str(file) for file in files if file.exists()))
    assert told.count("Using backend 'portpart' for call to 'kernighan_lin_bisection'") > 20
