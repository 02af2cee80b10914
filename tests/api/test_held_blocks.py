"""Results and sessions stand for their blocks in meshes, pictures, files and other calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart

GRID = portpart.generators.grid_2d(6, 6)
ELEMENTS = [[row * 6 + column, row * 6 + column + 1, row * 6 + column + 6, row * 6 + column + 7]
            for row in range(5) for column in range(5)]


@pytest.fixture(scope="module")
def session() -> portpart.Session:
    """A session in which ids and vertices are not the same numbers any more."""
    made = portpart.Session(GRID, 4)
    batch = made.batch()
    new = batch.insert_vertices(count=2)
    batch.insert_edges([new[1]], [35])
    batch.delete_vertices([1, new[0]])
    made.apply(batch)
    return made


@pytest.fixture(scope="module")
def blocks(session: portpart.Session) -> list[int]:
    """The blocks of its living vertices, in the order of their ids."""
    return [int(session.part[vertex]) for vertex in session.ids.tolist()]


def test_blocks_of_a_session_are_fewer_than_its_ids(session: portpart.Session,
                                                    blocks: list[int]) -> None:
    assert len(blocks) == session.graph().num_vertices == len(session.part) - 2


def test_a_partition_begins_with_the_blocks_of_a_session(session: portpart.Session,
                                                         blocks: list[int]) -> None:
    graph = session.graph()
    options: dict[str, Any] = {"preset": "fast", "starts": 1}
    assert (portpart.partition(graph, 4, initial=session, **options).part.tolist()
            == portpart.partition(graph, 4, initial=blocks, **options).part.tolist())
    held = portpart.repartition(graph, session, 4, preset="fast")
    given = portpart.repartition(graph, blocks, 4, preset="fast")
    assert (held.part.tolist(), held.moved) == (given.part.tolist(), given.moved)


def test_nodes_of_a_mesh_follow_a_result() -> None:
    mesh = portpart.as_mesh(ELEMENTS)
    result = portpart.partition(mesh.dual_graph(common_nodes=2), 3)
    assert mesh.node_part(result).tolist() == mesh.node_part(result.part, 3).tolist()
    follow = portpart.Session(mesh.nodal_graph(), 3)
    assert mesh.element_part(follow).tolist() == mesh.element_part(follow.part, 3).tolist()


def test_files_hold_the_blocks_of_a_session(session: portpart.Session, blocks: list[int],
                                            tmp_path: Path) -> None:
    portpart.io.write_partition(session, tmp_path / "s.part")
    assert (tmp_path / "s.part").read_text() == "".join(f"{block}\n" for block in blocks)


@pytest.mark.parametrize("name", ["graph", "quotient", "block_weights", "traffic",
                                  "block_colors"])
def test_pictures_take_a_session(name: str, session: portpart.Session,
                                 blocks: list[int]) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    draw = getattr(portpart.plot, name)
    if name == "block_colors":
        assert draw(session.graph(), session).tolist() == draw(session.graph(), blocks, 4).tolist()
        return
    axes = [draw(session.graph(), part, ax=figures.Figure().add_subplot())
            for part in (session, blocks)]
    assert axes[0].get_title() == axes[1].get_title()


def test_a_partition_over_points_or_elements_takes_a_session() -> None:
    figures = pytest.importorskip("matplotlib.figure")
    points = [[column, row] for row in range(6) for column in range(6)]
    mesh = portpart.as_mesh(ELEMENTS)
    for graph, text in ((mesh.dual_graph(2), "25 elements in 2 blocks"),
                        (mesh.nodal_graph(), "36 vertices in 2 blocks")):
        ax = portpart.plot.partition(points, portpart.Session(graph, 2), mesh=mesh,
                                     ax=figures.Figure().add_subplot())
        assert ax.get_title() == text


@pytest.mark.parametrize("call", [portpart.as_graph, portpart.as_hypergraph,
                                  lambda graph: portpart.partition(graph, 2)])
def test_blocks_are_no_graph_and_say_where_they_go(call: Any, session: portpart.Session) -> None:
    with pytest.raises(portpart.InputError, match=r"a Session is not a graph; its graph\(\)"):
        call(session)
    with pytest.raises(portpart.InputError, match=r"pass the graph, and the result as initial="):
        call(portpart.partition(GRID, 2))


def test_what_a_report_counts_is_the_bound_that_is_given() -> None:
    pytest.importorskip("matplotlib")
    graph = portpart.as_graph(GRID, vertex_weights=np.arange(36))
    result = portpart.partition(graph, 4, imbalance=0.5, initial=np.arange(36) // 9)
    assert result.feasible
    assert ">kept<" in portpart.plot.report(graph, result)
    tight = float(result.imbalance) / 2
    assert ">broken<" in portpart.plot.report(graph, result, imbalance=tight)
    with pytest.raises(portpart.InputError, match="imbalance is '<b>'"):
        portpart.plot.report(graph, result, imbalance="<b>")
