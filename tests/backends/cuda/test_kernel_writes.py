"""What kernels may change, and where a resident program therefore needs no barrier."""

from __future__ import annotations

import numpy as np

from portpart.backends.cuda.requirements import ANY, may_set, written
from portpart.backends.cuda.resident import before_barrier
from portpart.backends.language import atomic_add, atomic_next, device, kernel
from portpart.backends.programs import FEW, FEWEST, MANY, SOME, Program
from portpart.backends.programs.table import TableSizes

FLAG, COUNT, OTHER = 0, 1, 2


@device
def add_one(array, place):
    """Changes what it is given."""
    return atomic_add(array, place, 1)


@device
def count(words):
    """Changes a known element."""
    return atomic_next(words, COUNT)


@kernel
def step(i, words, values):
    """One known element, all values."""
    values[i] += count(words)
    words[2] = 7


@kernel
def reset(_, words):
    """The flag."""
    words[FLAG] = 0


@kernel
def scatter(i, words, values):
    """An element that is not known."""
    place = values[i]
    add_one(words, place)


@kernel
def look(i, words, values):
    """Nothing of words."""
    values[i] = words[FLAG]


def test_known_elements_are_told_apart() -> None:
    assert written(step, "words") == {COUNT, OTHER}
    assert written(reset, "words") == {FLAG}
    assert written(scatter, "words") == {ANY}
    assert written(look, "words") == set()
    assert written(look, "values") == {ANY}


def recorded(*kernels) -> tuple[Program, list[bool]]:
    program = Program("writes")
    words = program.array("words", np.int64)
    program.array("values", np.int64)
    for one in kernels:
        program.launch(1, one)
    return program, [may_set(launch, words[FLAG]) for launch in program.launches()]


def test_a_launch_may_set_a_flag_of_the_array_it_is_given() -> None:
    assert recorded(step, reset, scatter, look)[1] == [False, True, True, False]


def test_launches_before_the_first_barrier() -> None:
    program = Program("order")
    words = program.array("words", np.int64)
    program.array("values", np.int64)
    with program.if_nonzero(words[COUNT]):
        with program.side_by_side():
            program.launch(1, step)
            program.launch(1, reset)
        program.launch(1, scatter)
    program.launch(1, look)
    names = [launch.kernel.name for launch in before_barrier(program.steps)]
    assert names == ["step", "reset", "look"]  # the branch may be passed by


def test_a_loop_whose_first_launch_leaves_the_flag_alone_waits_for_nothing() -> None:
    from portpart.backends.cuda.resident import ResidentWriter
    from portpart.backends.cuda.translate import STEP, translate
    from portpart.backends.language.types import type_of

    texts = {}
    for first in (step, reset):
        program = Program("loop")
        words = program.array("words", np.int64)
        program.array("values", np.int64)
        with program.while_loop(words[FLAG]):
            program.launch(1, first)
            program.launch(1, reset)
        launches = program.launches()
        translations = {
            id(launch): translate(launch.kernel,
                                  tuple(type_of("*int64") for _ in launch.args), 1, (STEP,))
            for launch in launches
        }
        rows = {id(launch): 4 * number for number, launch in enumerate(launches)}
        writer = ResidentWriter(translations, rows, {words[FLAG]: 9}, TableSizes(10, 8, 8, 0, 0))
        texts[first.name] = writer.write(program.steps)[1]
    assert "while (grid.reads(table[9]))" in texts["step"]
    assert "while (grid.sees(table[9]))" in texts["reset"]


def test_the_compiler_leaves_room_for_as_many_blocks_as_are_asked_for() -> None:
    from portpart.backends.cuda.resident import BLOCKS, ResidentWriter

    assert BLOCKS[FEWEST] < BLOCKS[FEW] < BLOCKS[SOME] < BLOCKS[MANY]
    for given, blocks in (({}, BLOCKS[SOME]), ({"blocks": BLOCKS[MANY]}, BLOCKS[MANY])):
        symbol, text = ResidentWriter({}, {}, {}, TableSizes(1, 5, 5, 0, 0), **given).write([])
        assert f"__launch_bounds__(256, {blocks}) {symbol}(" in text


def test_a_block_has_as_many_threads_as_its_widest_team() -> None:
    from portpart.backends.cuda.program_text import ProgramText

    for teams, threads in (([], 256), ([1, 32], 256), ([1, 512], 512)):
        program = Program("blocks")
        values = program.array("values", np.int64)
        for team in teams:
            program.parallel_for(3, look, values, values, team=team)
        text = ProgramText(program)
        assert text.threads == threads
        assert f"__launch_bounds__({threads}, {text.max_blocks}) " in text.write()
