"""Rehearsed calls ask for the code that the calls themselves need, and change nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.mapping.mappers import list_algorithms
from portpart.api import compile_ahead
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.cuda.compile import request, request_resident
from portpart.backends.cuda.dry_run import DryRunSpace
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.cuda.translate import DIRECT
from portpart.backends.programs.arguments import tag_of
from portpart.cli import main
from portpart.estimate.dry_run import dry_run, placeholder_problem
from portpart.options import changed


class Words(dict):
    """In place of modules: what is asked for, by its words."""

    quick = False

    def request(self, words: str, text: Any, quick: bool = False, later: bool = False) -> None:
        self[words] = text

    def request_together(self, parts: Any, head: str, quick: bool) -> None:
        self.update(parts)


class Watched(CpuSpace):
    """The processor with a GPU's widths: calls are rehearsed, then run, and both are recorded."""

    kind, name = "cuda", "watched"
    widest_team = 256
    runs_behind = True

    def __init__(self) -> None:
        super().__init__(2)
        self.rehearsed, self.used = Words(), Words()
        self.launched: set[str] = set()
        self.launched_late: set[str] = set()
        self.kinds: list[str] = []

    @property
    def dry_runs(self) -> Any:
        return self

    def once(self, kind: str, call: Any) -> None:
        self.kinds.append(kind)
        stage = DryRunSpace(self.rehearsed)
        call(stage)
        stage.request()
        self.used.clear()

    def parallel_for(self, n: int, kernel: Any, *args: Any, team: int = 1) -> None:
        if n > 0:
            asked = Words()
            request(asked, (kernel, tuple(map(tag_of, kernel.flattened(args))), team), DIRECT)
            self.launched.add(kernel.name)
            if not asked.keys() <= self.rehearsed.keys():
                self.launched_late.add(kernel.name)
            self.used.update(asked)
        super().parallel_for(n, kernel, *args, team=team)

    def executable(self, program: Any) -> Any:
        request_resident(self.used, ProgramText(program))
        return super().executable(program)

    @property
    def missing(self) -> list[str]:
        """Programs that were used and not asked for before."""
        return [words for words in self.used.keys() - self.rehearsed.keys()
                if words.startswith("(")]


GRAPHS = {
    "triangles": lambda: generators.delaunay(20_000),
    "cubes": lambda: generators.grid_3d(40, 40, 40),
    "small": lambda: generators.grid_2d(10, 10),
}


@pytest.mark.parametrize("k", [2, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_all_programs_of_a_mesh_are_asked_for(name, k):
    space = Watched()
    result = portpart.partition(GRAPHS[name]().to(space), k)
    assert result.cut == portpart.partition(GRAPHS[name](), k).cut
    assert len(space.used) > 5
    assert not space.missing


@pytest.mark.parametrize("k", [2, 8, 64])
def test_all_programs_of_a_circuit_are_asked_for(k):
    space = Watched()
    portpart.partition(generators.netlist(20_000).to(space), k)
    assert len([words for words in space.used if words.startswith("(")]) > 8
    assert not space.missing


def test_all_programs_of_a_circuit_with_macros_are_asked_for():
    space, circuit = Watched(), generators.netlist(20_000)
    weights = np.ones(20_000, np.int64)
    weights[:20] = 400
    portpart.partition(circuit.to(space), 8, vertex_weights=weights)
    assert "hold_vertex" in space.launched
    assert not space.missing


@pytest.mark.parametrize("nets", [False, True], ids=["graph", "hypergraph"])
def test_all_kernels_and_programs_of_rounds_are_asked_for(nets):
    space, graph = Watched(), generators.netlist(20_000) if nets else generators.delaunay(2_000)
    config = portpart.HypergraphConfig() if nets else portpart.PortpartConfig()
    preset = changed(config, {"search.population": 2})
    portpart.partition(graph.to(space), 4, preset=preset, rounds=12)
    kernel = "count_differing_nets" if nets else "count_differing_arcs"
    assert kernel in space.launched
    assert kernel not in space.launched_late
    assert not space.missing


@pytest.mark.parametrize("nets", [False, True], ids=["graph", "hypergraph"])
def test_all_kernels_of_an_evaluation_are_asked_for(nets):
    space, graph = Watched(), generators.netlist(2_000) if nets else generators.delaunay(2_000)
    portpart.partition(graph.to(space), 4)
    assert not {"add_net_costs", "add_costs"} & space.launched_late


def test_all_kernels_that_make_edges_and_list_copies_are_asked_for():
    space = Watched()
    portpart.partition_edges(generators.grid_2d(40).to(space), 4)
    kernels = {"mark_ahead", "write_ends", "write_pin", "write_even", "pack_copy"}
    assert kernels <= space.launched
    assert not kernels & space.launched_late


def test_kinds_of_calls_differ_in_what_programs_depend_on():
    space, mesh = Watched(), generators.grid_2d(40, 40)
    portpart.partition(mesh.to(space), 4)
    portpart.partition(generators.grid_2d(41, 41).to(space), 4, seed=3)
    same, other = space.kinds
    assert same == other
    portpart.partition(mesh.to(space), 4, edge_weights=np.full(mesh.num_arcs, 2))
    portpart.partition(mesh.to(space), 4, fixed=[0, *[-1] * 1599])
    portpart.partition(mesh.to(space), 4, preset="fast")
    portpart.partition(mesh.to(space), 64)
    assert len(set(space.kinds)) == 5


@pytest.mark.parametrize("nets", [False, True], ids=["graphs", "hypergraphs"])
def test_every_algorithm_and_preset_can_be_rehearsed(nets):
    graph = generators.netlist(3000) if nets else generators.delaunay(3000)
    space = Watched()
    working = graph.to(space)
    for name, algorithm in list_algorithms(hypergraphs=nets).items():
        if algorithm.task != "partition":
            continue
        for preset in algorithm.presets:
            before = len(space.kinds)
            portpart.partition(working, 4, algorithm=name, preset=preset)
            assert len(space.kinds) > before, (name, preset)


@pytest.mark.parametrize("algorithm", ["hm", "im", "two-phase"])
def test_mappings_can_be_rehearsed(algorithm):
    space = Watched()
    portpart.map_processes(generators.delaunay(3000).to(space), "2:4", "1:10", algorithm=algorithm)
    assert space.kinds
    assert len(space.rehearsed) > 5


def test_a_larger_web_needs_nothing_but_what_was_compiled_ahead(monkeypatch):
    """Where the example has too few vertices it is not coarsened like larger ones."""
    monkeypatch.setattr(compile_ahead, "BLOCKS", (64,))
    space = Watched()
    for call in compile_ahead.calls(["web"], ["default"]):
        dry_run(call.problem, call.run, call.config, space)
    monkeypatch.setattr(space, "once", lambda kind, call: None)
    portpart.partition(generators.rmat(18).to(space), 64)  # its finest levels are not small
    assert len([words for words in space.used if words.startswith("(")]) > 5
    assert not space.missing


def test_what_stands_in_for_a_graph_has_more_vertices_than_blocks(monkeypatch):
    """Else it would be divided without coarsening, and the graph itself would not."""
    k = 2**18
    monkeypatch.setattr(compile_ahead, "BLOCKS", (k,))
    monkeypatch.setattr(compile_ahead, "VERTICES", 4 * k)
    monkeypatch.setitem(compile_ahead.KINDS, "mesh", lambda: (compile_ahead._mesh(),))
    (call,) = compile_ahead.calls(["mesh"], ["fast"])
    assert placeholder_problem(call.problem, DryRunSpace(Words())).graph.num_vertices == 2 * k


def test_the_processor_is_prepared_by_calls(monkeypatch, capsys):
    monkeypatch.setattr(compile_ahead, "VERTICES", 900)
    assert main(["compile", "--kinds", "mesh,circuit", "--presets", "fast", "--json"]) == 0
    assert '"cpu"' in capsys.readouterr().out


AHEAD = """
import portpart
from portpart.backends.cpu import code
from portpart import generators
from portpart.api import compile_ahead
from portpart.base import cache_folder

code.LEVEL = 0  # what is compiled matters, not how well
compile_ahead.BLOCKS = (4,)
compile_ahead.KINDS["edges"] = lambda: (generators.grid_2d(30),)
made = compile_ahead.compile_for_cpu(["edges"], ["fast"])
before = len(list(cache_folder.files()))
portpart.partition_edges(generators.grid_2d(30), 4, preset="fast", device="cpu")
print(made.modules > 100, len(list(cache_folder.files())) - before)
"""


def test_a_partition_of_edges_compiles_nothing_after_compile(tmp_path):
    done = subprocess.run([sys.executable, "-c", AHEAD], capture_output=True, text=True,
                          env={**os.environ, "PORTPART_CACHE_DIR": str(tmp_path / "cache")})
    assert done.stdout == "True 0\n", done.stderr


@pytest.mark.parametrize(("arguments", "message"), [
    (["--arch", "90"], "--arch needs --device cuda"),
    (["--kinds", "meshes"],
     "kind is 'meshes'; it must be one of mesh, web, circuit, matrix, edges"),
    (["--device", "cuda", "--arch", "new"], "--arch is 'new'; it lists numbers"),
])
def test_mistakes_are_told(arguments, message, capsys):
    assert main(["compile", *arguments]) == 2
    assert message in capsys.readouterr().err
