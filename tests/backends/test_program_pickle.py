"""Programs that were sent are the same: the text of their kernel does not change by a letter."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.cuda.program_pickle import from_bytes, to_bytes
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.language import DeviceFunction, device, int64, kernel
from portpart.backends.program import Program
from tests.backends.sample_programs import record_nested


def sent(program: Program) -> Program:
    return from_bytes(to_bytes(program))


def test_a_program_of_loops_and_branches_has_the_same_text():
    program = record_nested(8)
    assert sent(program) is not program
    assert ProgramText(sent(program)).write() == ProgramText(program).write()


class Apart(CpuSpace):
    """A space of its own, which has no programs yet."""

    kind, name = "cuda", "apart"


CALLS = {
    "graphs": lambda space: follow(portpart.Session(generators.delaunay(800).to(space), 4)),
    "hypergraphs": lambda space: portpart.partition(generators.netlist(800).to(space), 4),
}


def follow(session: portpart.Session) -> None:
    batch = session.batch()
    batch.insert_edges([0, 1], [100, 101])
    session.apply(batch)


@pytest.mark.parametrize("name", CALLS)
def test_all_programs_of_a_call_can_be_sent(name):
    space = Apart(1)
    CALLS[name](space)
    programs = [program for program, _ in space._executables.values()]
    assert len(programs) >= 3
    for program in programs:
        assert ProgramText(sent(program)).words == ProgramText(program).words


def adding(amount: int, twice: DeviceFunction):
    """A kernel with a number, a device function and a word that are found in no module."""
    cast = int64

    @kernel
    def add_amount(i, values):
        values[i] += twice(cast(amount))

    return add_amount


def doubling():
    @device
    def twice(x):
        return 2 * x

    return twice


def test_kernels_that_functions_have_made_are_sent_with_what_they_mean():
    twice = doubling()
    texts = []
    for amount in (5, 6):
        program = Program("adds")
        program.parallel_for(4, adding(amount, twice), program.array("values", np.int64))
        text = ProgramText(program)
        assert ProgramText(sent(program)).words == text.words
        texts.append(text.words)
    assert texts[0] != texts[1]


def with_argument(argument) -> Program:
    program = Program("takes an argument")
    program.parallel_for(4, adding(1, doubling()), argument)
    return program


def test_arrays_stay_where_they_are():
    on_a_gpu = SimpleNamespace(__cuda_array_interface__={})
    for array in (np.zeros(4, np.int64), on_a_gpu):
        with pytest.raises(pickle.PicklingError, match="an array is part of the program"):
            to_bytes(with_argument(array))


def test_kernels_of_the_script_that_runs_stay_there():
    made = adding(1, doubling())
    made.function.__module__ = "__main__"
    program = Program("of a script")
    program.parallel_for(4, made, program.array("values", np.int64))
    with pytest.raises(pickle.PicklingError, match="add_amount is in no module"):
        to_bytes(program)


def test_what_cannot_be_pickled_is_told_as_such():
    program = with_argument(lambda: 0)
    with pytest.raises(pickle.PicklingError):
        to_bytes(program)
