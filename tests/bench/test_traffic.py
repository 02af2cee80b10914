"""Counting launches and bytes: what is counted, and that nothing else changes."""

from __future__ import annotations

import numpy as np
from click.testing import CliRunner

from bench import recipes, traffic
from portpart import generators
from portpart.algorithms.multilevel.trace import Trace
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language import Words, kernel, work
from portpart.backends.programs.program import Program


@kernel
def add_to(i, values, others, absent, step):
    """values[i] += others[i] + step"""
    values[i] += others[i] + step


@kernel
def count_down(_, left):
    """Decrease left[0]."""
    left[0] -= 1


def test_every_array_of_a_launch_counts_once_at_its_size() -> None:
    space = traffic.LaunchCounter()
    values, others = space.zeros(8, np.int64), space.full(10, 2, np.int32)
    space.parallel_for(8, add_to, values, others, None, 1)
    space.parallel_for(0, add_to, values, values, None, 1)
    assert values.tolist() == [3] * 8
    assert space.launches == {("", "add_to"): 2}
    assert space.bytes == {("", "add_to"): 64 + 40 + 64}


class Left(Words):
    """Rounds that are left, and items of each."""

    rounds: int
    items: int


def test_programs_are_walked_with_their_words_and_scratch() -> None:
    space, program = traffic.LaunchCounter(), Program("walk")
    values = program.array("values", np.int64)
    scratch = program.scratch("scratch", work(np.int64, lambda size: size))
    left = program.record("left", Left((0, 0))).array
    with program.while_loop(left[0]):
        program.parallel_for(left[1], add_to, values, scratch, None, program.scalar("step"))
        program.parallel_for(1, count_down, left)
    with program.if_nonzero(left[0]):
        program.parallel_for(1, count_down, left)
    with program.otherwise():
        program.parallel_for(1, count_down, values)
    space.executable(program).run(
        {"values": space.zeros(8, np.int64), "left": Left((3, 0)), "step": 1}, 8, 4)
    assert space.launches == {("", "add_to"): 3, ("", "count_down"): 4}
    assert space.bytes["", "add_to"] == 3 * (64 + 32)
    assert space.bytes["", "count_down"] == 3 * 16 + 64


def test_counting_changes_no_result_and_knows_the_phase() -> None:
    mesh = generators.delaunay(3000)
    space, trace = traffic.counted(mesh, 4, "strong", 1)
    plain = Trace(CpuSpace(1), mesh, None)
    recipes.run(recipes.copied(mesh, plain.space), 4, "portpart", "strong", 1, plain)
    assert trace.cuts == plain.cuts
    assert {"coarsening", "initial", "refinement", "search"} <= {phase for phase, _ in space.bytes}
    assert space.bytes["coarsening", "fill_row"] >= 4 * mesh.num_arcs  # their heads at least


def test_the_report_has_phases_and_kernels() -> None:
    done = CliRunner().invoke(traffic.main, ["--graphs", "cube_20", "--k", "3"],
                              catch_exceptions=False)
    assert "### cube_20, k = 3, default, cpu" in done.output
    assert "| phase | launches | syncs | MB | ms | GB/s |" in done.output
    assert "| phase | kernel | launches | MB |" in done.output
