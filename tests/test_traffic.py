"""Counting the bytes that launches move: what is counted, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from bench import recipes, traffic
from bench.metered_spaces import FROM_PYTHON, Meter, MeteredCpuSpace, TracedSpace, Work
from bench.touching import SECTOR
from portpart import generators
from portpart.algorithms.coarsening.contraction import clusters_of_matching, contract
from portpart.algorithms.coarsening.matching import heavy_edge_matching
from portpart.algorithms.multilevel.trace import Trace
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language import (
    atomic_add,
    device,
    int64,
    kernel,
    team_array,
    value_or,
)
from portpart.backends.program import Program


@device
def element(values, i):
    """An element that a device function loads."""
    return values[i]


@device
def sum_to(values, i):
    """Sum of two elements, one by way of another device function."""
    return element(values, i) + element(values, 0)


@kernel
def gather(i, places, values, result):
    """result[i] = values[places[i]]"""
    result[i] = element(values, places[i])


@kernel
def count_up(i, values, absent, total):
    """Add to values[i] in two ways, with scratch memory that counts for nothing."""
    scratch = team_array(int64, 4)
    scratch[0] = value_or(absent, i, 1)
    values[i] += scratch[0]
    atomic_add(total, 0, 1)


@kernel
def add_first(i, values, result):
    """result[i] = values[i] + values[0], the index passed on."""
    result[i] = sum_to(values, i)


@pytest.fixture
def space() -> TracedSpace:
    return TracedSpace(1 << 30)


def work_of(space: TracedSpace, kernel_name: str, program: str = FROM_PYTHON) -> Work:
    return space.meter.take()[program, kernel_name]


def test_a_gather_moves_a_sector_for_each_place(space: TracedSpace) -> None:
    n = 100
    places, values = space.empty(n, np.int32), space.empty(16 * n, np.int64)
    values[:] = np.arange(16 * n)
    places[:] = 16 * np.arange(n)[::-1]
    result = space.zeros(n, np.int64)
    space.parallel_for(n, gather, places, values, result)
    assert result.tolist() == (16 * np.arange(n)[::-1]).tolist()
    work = work_of(space, "gather")
    assert (work.launches, work.items) == (1, n)
    assert work.bytes_read == SECTOR * (13 + n)  # 400 bytes of places, and a sector for each
    assert work.bytes_written == 8 * n


def test_what_a_launch_needs_twice_is_read_once(space: TracedSpace) -> None:
    places, values, result = space.zeros(64, np.int32), space.zeros(8, np.int64), space.zeros(
        64, np.int64)
    space.parallel_for(64, gather, places, values, result)
    assert work_of(space, "gather").bytes_read == 4 * 64 + SECTOR
    space.parallel_for(64, gather, places, values, result)
    assert work_of(space, "gather").bytes_read == 4 * 64 + SECTOR


def test_device_functions_pass_marks_on(space: TracedSpace) -> None:
    values, result = space.full(16, 7, np.int64), space.zeros(16, np.int64)
    space.parallel_for(16, add_first, values, result)
    assert result.tolist() == [14] * 16
    work = work_of(space, "add_first")
    assert (work.bytes_read, work.bytes_written) == (8 * 16, 8 * 16)


def test_changes_count_as_reads_and_writes(space: TracedSpace) -> None:
    values, total = space.zeros(16, np.int64), space.zeros(1, np.int64)
    space.parallel_for(16, count_up, values, None, total)
    assert values.tolist() == [1] * 16
    assert total[0] == 16
    work = work_of(space, "count_up")
    assert work.bytes_read == work.bytes_written == 8 * 16 + SECTOR


def test_programs_are_walked_with_their_words_and_scratch(space: TracedSpace) -> None:
    program = Program("walk")
    slots = [program.array("places", np.int32), program.scratch("values", np.int64),
             program.array("result", np.int64)]
    left = program.words("left", 2)
    with program.while_loop(left[0]):
        program.parallel_for(left[1], gather, *slots)
        program.parallel_for(1, count_down, left)
    result = space.zeros(8, np.int64)
    space.executable(program).run(
        {"places": space.zeros(8, np.int32), "values": 8, "result": result, "left": (3, 8)}, 8)
    works = space.meter.take()
    assert works["walk", "gather"].launches == 3
    assert works["walk", "gather"].items == 24
    assert works["walk", "count_down"].bytes_moved == 0


@kernel
def count_down(_, left):
    """Decrease left[0]."""
    left[0] -= 1


def test_tracing_changes_no_result(space: TracedSpace) -> None:
    mesh = generators.delaunay(500)

    def coarse(space: CpuSpace) -> tuple[list[int], list[int]]:
        graph = recipes.copied(mesh, space)
        mate = heavy_edge_matching(space, graph, 2, 1)
        smaller = contract(space, graph, clusters_of_matching(space, mate))
        return mate.tolist(), smaller.to_scipy().toarray().tolist()

    assert coarse(space) == coarse(CpuSpace(1))
    works = space.meter.take()
    arcs = works["contraction", "fill_row"]
    assert arcs.bytes_read >= 4 * mesh.num_arcs  # their heads at least
    assert works[FROM_PYTHON, "copy_row"].launches == 1


def test_a_ledger_knows_phase_and_level() -> None:
    mesh, space = generators.delaunay(20_000), MeteredCpuSpace()
    ledger = traffic.ledger_of(space, space.meter, mesh, 8, "default", 1)
    plain = Trace(CpuSpace(1), mesh, None)
    recipes.run(recipes.copied(mesh, plain.space), 8, "portpart", "default", 1, plain)
    assert ledger.cuts == plain.cuts
    levels = range(len(plain.levels))
    places = {(place.phase, place.level) for place in ledger.works}
    assert {("refinement", level) for level in levels} <= places
    assert {("coarsening", level) for level in levels[:-1]} <= places
    assert {phase for phase, _ in places} == {"coarsening", "initial", "refinement"}


def test_searches_are_booked_as_such() -> None:
    mesh, space = generators.delaunay(3000), MeteredCpuSpace()
    ledger = traffic.ledger_of(space, space.meter, mesh, 4, "strong", 1)
    assert ("search", None) in {(place.phase, place.level) for place in ledger.works}


def test_the_report_relates_bytes_to_the_bandwidth() -> None:
    row = {"phase": "refinement", "level": 0, "program": "refinement", "kernel": "judge",
           "launches": 3, "items": 3, "bytes_read": 10**6, "bytes_written": 10**6,
           "seconds": 0.001}
    text = traffic.markdown({
        "k": 2, "preset": "default", "device": "cpu", "cut": 7, "copy_bandwidth": 4e9,
        "phases": {"refinement": 0.002}, "rows": [row],
        "levels": [{"vertices": 5, "arcs": 8, "iterations": 4,
                    "refinement": {"synchronizations": 1}}],
    })  # fmt: skip
    assert "| refinement | refinement | 3 | 1.00 | 1.00 | 1.000 | 2 | 0.500 |" in text
    assert "| refinement | 0 | 5 | 8 | 4 | 1 | 3 |" in text


def test_meters_begin_anew_when_taken() -> None:
    meter = Meter()
    meter.add("p", "k", Work(1, 2, 3.0))
    meter.add("p", "k", Work(1, 2, 3.0))
    assert meter.take() == {("p", "k"): Work(2, 4, 6.0)}
    assert meter.take() == {}
