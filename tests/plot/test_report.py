"""Reports are whole pages, fetch nothing, and say what is counted apart from them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import main
from tests import oracles
from tests.plot.drawn import figure
from tests.plot.pages import Page

assert figure

GRID = portpart.generators.grid_2d(10, 10)
PART = np.arange(100) // 10 // 4 * 2 + np.arange(100) % 10 // 5
K = 6
POINTS = np.stack(np.divmod(np.arange(100), 10), axis=1)

NETS = [[0, 1, 2], [2, 3], [3, 4, 5, 6], [6, 0], [7], [5, 7]]
NET_PART = [0, 0, 1, 1, 2, 2, 2, 0]


def number(text: str) -> int:
    """The number that a cell begins with."""
    return int(text.split()[0].replace(",", ""))


def column(page: Page, name: str) -> list[int]:
    place = page.blocks[0].index(name)
    return [number(row[place]) for row in page.blocks[1:]]


def test_numbers_of_a_graph_are_those_that_are_counted_apart() -> None:
    page = Page(portpart.plot.report(GRID, PART, points=POINTS))
    cut = oracles.cut(GRID, PART)
    assert number(page.facts["cut"]) == cut == number(page.tiles[0])
    assert page.facts["share of the edges cut"] == f"{cut / GRID.num_edges:.2%}"
    volumes = oracles.communication_volumes(GRID, PART, K)
    assert number(page.facts["communication volume"]) == sum(volumes)
    assert number(page.facts["largest volume of a block"]) == max(volumes)
    boundary = oracles.boundary(GRID, PART)
    assert number(page.facts["boundary vertices"]) == len(boundary)
    weights = oracles.block_weights(GRID, PART, K)
    assert page.facts["imbalance"] == f"{float(oracles.imbalance_of(weights)):.4f}"
    assert number(page.facts["heaviest block"]) == max(weights)
    limits = oracles.block_weight_limits(100, K, 0.03)
    over = sum(weight > limit for weight, limit in zip(weights, limits))
    assert number(page.facts["blocks above their limits"]) == over > 0
    assert page.tiles[-1] == "broken"
    assert column(page, "block") == list(range(K))
    assert column(page, "vertices") == column(page, "weight") == weights
    assert column(page, "limit") == limits
    assert column(page, "volume sent") == volumes
    assert column(page, "pieces") == list(oracles.components_per_block(GRID, PART, K))
    counted = Counter(PART[boundary].tolist())
    assert column(page, "boundary vertices") == [counted[block] for block in range(K)]
    pairs = [(PART[u], PART[v]) for u, v, _ in oracles.arcs(GRID) if PART[u] != PART[v]]
    assert column(page, "cut") == [sum(a == block for a, _ in pairs) for block in range(K)]
    assert column(page, "neighbours") == [len({b for a, b in pairs if a == block})
                                          for block in range(K)]


def test_numbers_of_a_hypergraph_are_those_that_are_counted_apart() -> None:
    weights = [3, 1, 4, 1, 5, 9]
    nets = portpart.as_hypergraph(NETS, net_weights=weights)
    page = Page(portpart.plot.report(nets, NET_PART, imbalance=0.5))
    touched = [{NET_PART[pin] for pin in net} for net in NETS]
    cut = [len(blocks) > 1 for blocks in touched]
    assert number(page.facts["cut"]) == sum(np.array(weights)[cut])
    assert number(page.facts["km1"]) == sum(
        weight * (len(blocks) - 1) for weight, blocks in zip(weights, touched))
    assert number(page.facts["soed"]) == sum(
        weight * len(blocks) for weight, blocks in zip(weights, touched) if len(blocks) > 1)
    for block in range(3):
        own = [net for net, blocks in enumerate(touched) if block in blocks]
        outer = [net for net in own if len(touched[net]) > 1]
        assert column(page, "nets")[block] == len(own)
        assert column(page, "nets in several blocks")[block] == len(outer)
        assert column(page, "their weight")[block] == sum(weights[net] for net in outer)
    pairs = {pair for blocks in touched for pair in combinations(sorted(blocks), 2)}
    assert column(page, "neighbours") == [sum(block in pair for pair in pairs)
                                          for block in range(3)]


def test_mappings_tell_their_cost_level_by_level_and_results_their_limits() -> None:
    machine = portpart.Topology("3:2", "1:10")
    page = Page(portpart.plot.report(GRID, PART, topology=machine))
    costs = [0, 0]
    for u, v, weight in oracles.arcs(GRID):
        if u < v and PART[u] != PART[v]:
            far = int(PART[u] // 3 != PART[v] // 3)
            costs[far] += weight * (10 if far else 1)
    assert number(page.facts["communication cost"]) == sum(costs)
    assert page.facts["cost by level"] == " + ".join(f"{cost:,}" for cost in costs)
    result = portpart.map_processes(GRID, topology=machine, imbalance=0.25)
    page = Page(portpart.plot.report(GRID, result))
    assert column(page, "limit") == oracles.block_weight_limits(100, 6, 0.25)
    assert number(page.facts["communication cost"]) == result.cost
    assert page.tiles[-1] == "kept"
    assert "seconds" in page.facts


def test_a_page_says_that_hypergraphs_have_no_communication_cost(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine adds is a picture of the traffic."""
    nets = portpart.as_hypergraph(NETS)
    told = "not defined for hypergraphs"
    page = Page(portpart.plot.report(nets, NET_PART, topology=portpart.Topology("3", "1")))
    assert page.facts["communication cost"] == told
    assert "communication cost" not in Page(portpart.plot.report(nets, NET_PART)).facts
    monkeypatch.chdir(tmp_path)
    portpart.io.write_hypergraph(nets, "x.hgr")
    portpart.io.write_partition(NET_PART, "x.part")
    assert main(["report", "x.hgr", "x.part", "-H", "3", "-D", "1", "--imbalance", "2"]) == 0
    assert Page(Path("report.html").read_text()).facts["communication cost"] == told


def test_a_mesh_is_drawn_with_its_points_or_refused_without() -> None:
    """It was left out, and the graph drawn with a layout of its own."""
    cells = [[0, 1, 2], [1, 2, 3]]
    mesh, nodes = portpart.as_mesh(cells), np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    graph = mesh.dual_graph()
    with pytest.raises(portpart.InputError, match=r"mesh goes with points.*give points="):
        portpart.plot.report(graph, [0, 1], mesh=mesh)
    own = SimpleNamespace(points=nodes, cells=[SimpleNamespace(type="triangle", data=cells)])
    page = portpart.plot.report(graph, [0, 1], mesh=own)
    assert "2 elements in 2 blocks" in page
    assert page == portpart.plot.report(graph, [0, 1], points=nodes, mesh=mesh)


@pytest.mark.parametrize("graph", ["grid", "nets", "large"])
def test_pages_are_whole_fetch_nothing_and_are_the_same_each_time(graph: str) -> None:
    what: dict[str, Any] = {
        "grid": (GRID, PART, {"points": POINTS}), "nets": (portpart.as_hypergraph(NETS), NET_PART,
                                                           {}),
        "large": (portpart.generators.grid_2d(70, 70), np.arange(4900) // 1000,
                  {"topology": portpart.Topology("5", "1")})}[graph]
    given, part, options = what
    text = portpart.plot.report(given, part, **options)
    page = Page(text)
    assert page.tags.count("figure") >= 3
    assert page.tags.count("svg") + page.tags.count("img") == page.tags.count("figure")
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert all(value.startswith(("data:", "#")) for value in page.fetched)
    assert "@import" not in text
    assert page.texts["footer"] == f"portpart {portpart.__version__}"
    assert text == portpart.plot.report(given, part, **options)


def test_text_is_escaped() -> None:
    page = Page(portpart.plot.report(GRID, PART, title="<img src=x> & co",
                                     commands=["a < b && c > d"]))
    assert page.texts["h1"] == page.texts["title"] == "<img src=x> & co"
    assert page.texts["pre"] == "a < b && c > d"


def test_one_command_is_one_line() -> None:
    page = Page(portpart.plot.report(GRID, PART, commands="portpart partition g -k 6"))
    assert page.texts["pre"] == "portpart partition g -k 6"


@pytest.mark.parametrize(("given", "message"), [
    ({"part": None}, "part is None; the blocks of 100 vertices are needed"),
    ({"part": PART, "title": 3}, "title is 3; it must be text"),
])
def test_what_makes_no_page_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(portpart.InputError, match=message):
        portpart.plot.report(GRID, **given)


def test_of_very_many_blocks_the_heaviest_are_listed() -> None:
    weights = np.arange(1, 2101)
    graph = portpart.from_edges([], num_vertices=2100, vertex_weights=weights)
    page = Page(portpart.plot.report(graph, np.arange(2100)))
    assert column(page, "weight") == weights[100:].tolist()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    portpart.io.write(GRID, tmp_path / "grid.graph")
    portpart.io.write_partition(PART, tmp_path / "grid.part")
    np.savetxt(tmp_path / "grid.xyz", POINTS)
    return tmp_path


def test_the_command_writes_a_page(files: Path) -> None:
    page = str(files / "page.html")
    command = ["report", str(files / "grid.graph"), str(files / "grid.part"), "-o", page,
               "--points", str(files / "grid.xyz"), "--imbalance", "0.5", "--made-by", "by hand"]
    assert main(command) == 0
    found = Page(Path(page).read_text())
    assert number(found.facts["cut"]) == oracles.cut(GRID, PART)
    first, second = found.texts["pre"].splitlines()
    assert first == "by hand"
    assert second.startswith("portpart report ")
    assert "--imbalance 0.5" in second
    assert sorted(path.name for path in files.iterdir()) == ["grid.graph", "grid.part", "grid.xyz",
                                                             "page.html"]
    assert main([*command[:4], page]) == 1


def test_the_command_draws_the_elements_of_a_mesh(files: Path) -> None:
    mesh = portpart.as_mesh([[0, 1, 2], [1, 2, 3]])
    portpart.io.write_mesh(mesh, files / "two.mesh")
    portpart.io.write_partition([0, 1], files / "two.part")
    np.save(files / "nodes.npy", np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]]))
    page = files / "mesh.html"
    assert main(["report", str(files / "two.mesh"), str(files / "two.part"), "-o", str(page),
                 "--points", str(files / "nodes.npy")]) == 0
    assert "2 elements in 2 blocks" in page.read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--points", "grid.part"], "shape"),
    (["--points", "two.xyz"], "2 points for a graph of 100 vertices"),
    (["-H", "2:3"], "-D"), (["-k", "2"], "block numbers"),
    (["--points", "none.xyz"], "error: none.xyz cannot"),
    (["-o", "none/page.html"], "page.html"),
])
def test_the_command_says_what_is_wrong(
    files: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (files / "two.xyz").write_text("0 0\n1 1\n")
    monkeypatch.chdir(files)
    assert main(["report", "grid.graph", "grid.part", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(files.glob("*.html"))


def test_a_machine_may_have_more_elements_than_there_are_blocks() -> None:
    machine = portpart.Topology("4:2", "1:10")
    result = portpart.partition(GRID, 4)
    found = Page(portpart.plot.report(GRID, result, topology=machine))
    assert number(found.facts["communication cost"]) == sum(
        machine.distance(result.part[u], result.part[v]) * weight
        for u, v, weight in oracles.arcs(GRID) if u < v)
    assert (found.facts["blocks"], found.facts["empty blocks"]) == ("8", "4")


@pytest.mark.parametrize("large", [1e308, 1e101, float("inf"), float("nan")])
def test_coordinates_beyond_all_measure_are_refused(large: float) -> None:
    points = np.array(POINTS, float)
    points[3, 1], points[7, 0] = large, -large
    with pytest.raises(portpart.InputError, match=r"points\[3\] is .* at most 1e\+100"):
        portpart.plot.report(GRID, PART, points=points)


def test_large_coordinates_are_drawn() -> None:
    points = 1e100 * np.array(POINTS, float) / np.abs(POINTS).max()
    portpart.plot.report(GRID, PART, points=points)


def test_a_title_may_hold_what_utf8_cannot(tmp_path: Path) -> None:
    portpart.plot.report(GRID, PART, tmp_path / "r.html", title="a\udcff\x1b[31mb")
    assert "<h1>a\\udcff\\x1b[31mb</h1>" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_command_takes_file_names_that_are_no_utf8(files: Path) -> None:
    odd = os.fsdecode(bytes(files) + b"/odd-\xff.graph")
    try:
        shutil.copy(files / "grid.graph", odd)
    except OSError:
        pytest.skip("this file system takes no such names")
    page = files / "odd.html"
    assert main(["report", odd, str(files / "grid.part"), "-o", str(page),
                 "--imbalance", "0.5"]) == 0
    assert "odd-\\udcff.graph" in page.read_text(encoding="utf-8")


def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("chromium is not installed")
    page, shot = tmp_path / "page.html", tmp_path / "page.png"
    portpart.plot.report(GRID, PART, page, points=POINTS)
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}",
                    "--window-size=1200,1400", page.as_uri()], capture_output=True, check=True,
                   timeout=120)
    pixels = pytest.importorskip("matplotlib.image").imread(shot)[..., :3]
    assert pixels.shape[:2] == (1400, 1200)
    # the colours of the blocks are on the page
    for colour in np.unique(portpart.plot.block_colors(GRID, PART), axis=0):
        assert (np.abs(pixels - colour).max(axis=2) < 0.02).sum() > 200
