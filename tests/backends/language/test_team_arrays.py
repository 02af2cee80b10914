"""Scratch arrays of teams: what is refused, how much there is, and that items do not meet in it."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from portpart import backends
from portpart.backends import cuda
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import (
    atomic_add,
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sync,
    uint8,
)
from portpart.backends.programs.program import TEAM_WIDTHS, Program
from portpart.errors import KernelTypeError
from tests.backends.cpu.test_cpu_space import run_python
from tests.backends.language.test_check import assert_refused, load, refusal

MOST = 44 * 1024 - 512
"""Bytes that a kernel has at its widest team."""

SIZES = {1: 22, 8: 100, 32: 512, 256: 1500, 512: 1500}
"""Elements of 8 bytes by width: nearly all that the teams of a block have."""


@functools.cache
def turned_by(size):
    """A kernel over arrays of `size` elements."""

    @kernel
    def turn(item, delay, result):
        """result[item] = sum of own[size - 1 - k] * (k + 1); the first lanes come last."""
        own = team_array(int64, size)
        for k in range(lane(), size, team_size()):
            own[k] = item + k
        team_sync()
        waited = int64(0)
        for turn in range(delay * (team_size() - lane())):
            waited = waited * 5 + turn
        total = int64(0)
        for k in range(lane(), size, team_size()):
            total += own[size - 1 - k] * (k + 1)
        if waited != -1:
            atomic_add(result, item, total)

    return turn


def turned(size, items):
    """What `turned_by` computes."""
    k = np.arange(size)
    return np.arange(items) * (k + 1).sum() + ((size - 1 - k) * (k + 1)).sum()


@pytest.mark.parametrize("team", TEAM_WIDTHS)
def test_items_of_a_team_do_not_meet(space, team):
    """In a program the grid is small, so that every team works on many items."""
    items = 300_000 if team == 1 else 30_000
    program = Program("turn")
    result = program.array("result", np.int64)
    program.parallel_for(items, turned_by(SIZES[team]), 3, result, team=team)
    given = {"result": space.zeros(items, np.int64)}
    space.executable(program).run(given, size=items)
    assert np.array_equal(space.to_host(given["result"]), turned(SIZES[team], items))


@pytest.mark.parametrize("team", TEAM_WIDTHS)
def test_launches_of_a_few_items(space, team):
    result = space.zeros(700, np.int64)
    space.parallel_for(700, turned_by(SIZES[team]), 1, result, team=team)
    assert np.array_equal(space.to_host(result), turned(SIZES[team], 700))


def test_plain_python_runs_it_too():
    result = np.zeros(5, np.int64)
    for item in range(5):
        turned_by(24)(item, 0, result)
    assert np.array_equal(result, turned(24, 5))


COMPILES = """
    import numpy as np
    from portpart import backends
    from portpart.backends.cpu import compile as cpu_compile
    from tests.backends.language.test_team_arrays import turned_by
    result = np.zeros(5, np.int64)
    texts, compile = [], cpu_compile.object_code
    cpu_compile.object_code = lambda text: texts.append(text) or compile(text)
    backends.space("cpu").parallel_for(5, turned_by(8), 0, result)
    print(len(texts), result.sum())
"""


def test_a_second_process_finds_the_compiled_kernel(tmp_path):
    outputs = [run_python(COMPILES, PORTPART_CACHE_DIR=str(tmp_path)).split() for _ in range(2)]
    assert int(outputs[0][0]) > 0
    assert int(outputs[1][0]) == 0
    assert {int(total) for _, total in outputs} == {turned(8, 5).sum()}


# how much there is -------------------------------------------------------------------------


@pytest.mark.parametrize("team", TEAM_WIDTHS)
def test_the_teams_of_a_block_share_what_there_is(team):
    most = MOST if team >= 256 else 44 * 1024 // (256 // team)
    assert f"<TEAM, uint8, {most}, 0>" in cuda.source(bytes_of_size(most), "*uint8", team=team)
    if team >= 256:
        return
    needed = (most + 1) * (256 // team)
    with pytest.raises(KernelTypeError, match=f"keep_bytes take {needed} bytes at team={team} "):
        cuda.source(bytes_of_size(most + 1), "*uint8", team=team)


def test_the_kernels_of_a_program_share_what_there_is():
    small, large = bytes_of_size(100), bytes_of_size(44_000)
    check_program(program_of("fits", [(small, 32), (large, 256), (large, 256), (small, 256)]))
    full = program_of("full", [(small, 32), (large, 256), (bytes_of_size(600), 32)])
    with pytest.raises(KernelTypeError, match=r"'full' take 49600 bytes .* table of 48 bytes"):
        check_program(full)


@pytest.mark.parametrize("team", [32, 256])
def test_a_program_has_blocks_of_one_size(team):
    small, large = bytes_of_size(100), bytes_of_size(44_000)
    check_program(program_of("wide", [(large, 512), (small, 512)]))
    mixed = program_of("mixed", [(large, 512), (small, team)])
    with pytest.raises(KernelTypeError,
                       match=f"'mixed' has blocks of 512 .* keep_bytes with team={team} needs 256"):
        check_program(mixed)


def test_the_table_of_a_program_takes_of_what_there_is():
    launches = [(bytes_of_size(44_000), 256)]
    check_program(program_of("short", launches * 250))
    with pytest.raises(KernelTypeError, match="table of 4800 bytes"):
        check_program(program_of("long", launches * 300))


def test_a_program_is_given_no_more_than_a_launch_takes():
    def bound_to(number):
        program = Program("many")
        for each in range(number):
            program.parallel_for(1, bytes_of_size(8), program.array(f"result{each}", np.uint8),
                                 team=256)
        return program

    check_program(bound_to(507))
    with pytest.raises(KernelTypeError, match="'many' is given 4104 bytes"):
        check_program(bound_to(508))


def program_of(name, launches):
    program = Program(name)
    result = program.array("result", np.uint8)
    for each, team in launches:
        program.parallel_for(1, each, result, team=team)
    return program


@functools.cache
def bytes_of_size(size):
    @kernel
    def keep_bytes(i, result):
        own = team_array(uint8, size)
        own[i] = 7
        result[i] = own[i]

    return keep_bytes


def test_a_cpu_takes_what_a_block_of_one_team_takes():
    result = np.zeros(MOST, np.uint8)
    backends.space("cpu").parallel_for(MOST, bytes_of_size(MOST), result)
    assert (result == 7).all()


def test_more_than_there_is_is_refused(tmp_path):
    source = ("@kernel\ndef f(i, values):\n    a = team_array(int64, 6000)\n"
              "    b = team_array(int32, 161)\n").replace("6000", "5488")
    assert_refused(tmp_path, source, 3, "take 44548 bytes", f"there are {MOST}")
    assert load(tmp_path, source.replace("161", "160")).f.team_arrays["b"].nbytes == 640


def test_only_items_with_arrays_end_with_a_barrier():
    kernels = turned_by(22), bytes_of_size(10)
    for team in TEAM_WIDTHS:
        for made, *types in ((kernels[0], "int64", "*int64"), (kernels[1], "*uint8")):
            loops = cuda.source(made, *types, team=team).split('extern "C"')[1:]
            barriers = [loop.count("_::TEAM>();\n    }") for loop in loops]
            assert barriers == [1, 1] if team > 1 else [0, 0]
    plain = cuda.source(leave_alone, "*int64", team=32).split('extern "C"')[1:]
    assert not any("team_sync" in loop for loop in plain)


@kernel
def leave_alone(i, values):
    team_sync()
    values[i] = lane()


# what is refused ----------------------------------------------------------------------------

MADE = [
    ("x = 1 + team_array(int64, 4)", "not the whole right side", "at the top level"),
    ("values[0] = team_array(int64, 4)", "its own name", "name = team_array(int64, 256)"),
    ("team_array(int64, 4)", "not the whole right side", "name = team_array(int64, 256)"),
    ("x = team_array(team_array(int64, 2), 4)", "element type", "int64"),
    ("values = team_array(int64, 4)", "parameter 'values' is assigned to", "new name"),
    ("own = team_array(int64, 4)", "'own' has a value above", "a new name"),
    ("x = y = team_array(int64, 4)", "several targets", "one line per target"),
    ("x = team_array(int64)", "an element type and a size", "team_array(int64, 256)"),
    ("x = team_array(int64, size=4)", "an element type and a size", "team_array(int64, 256)"),
    ("x = team_array(summed, 4)", "element type", "use one of int8"),
    ("x = team_array(lane, 4)", "element type", "use one of int8"),
    ("x = team_array(8, 4)", "element type", "use one of int8"),
    ("x = team_array(int64, i)", "size of a team array must be a constant", "an integer"),
    ("x = team_array(int64, own[0])", "size of a team array must be a constant", "an integer"),
    ("x = team_array(int64, 2 * LIMIT)", "must be a constant", "module or function"),
    ("x = team_array(int64, 4.0)", "must be a constant", "an integer"),
    ("x = team_array(int64, True)", "must be a constant", "an integer"),
    ("x = team_array(int64, 0)", "a team array of 0 elements", "one or more"),
    ("x = team_array(int64, 7000)", "take 56032 bytes", "make them smaller"),
]

USED = [
    ("x = own", "'own' is used as a number", "index it"),
    ("values[0] = own + 1", "'own' is used as a number", "index it"),
    ("x = int64(own)", "'own' is used as a number", "index it"),
    ("x = max(own, 1)", "'own' is used as a number", "index it"),
    ("x = atomic_add(values, 0, own)", "'own' is used as a number", "an atomic word"),
    ("for x in range(own): pass", "'own' is used as a number", "index it"),
    ("if own: pass", "'own' is used as a number", "index it"),
    ("own = values[0]", "team array 'own' is assigned to", "another name"),
    ("own += 1", "team array 'own' is assigned to", "another name"),
    ("for own in range(3): pass", "team array 'own' is assigned to", "another name"),
    ("own[0:2] = 1", "no slices", "one integer"),
]


@pytest.mark.parametrize(("statement", "problem", "remedy"), MADE + USED,
                         ids=[statement for statement, *_ in MADE + USED])
def test_statement_is_refused(tmp_path, statement, problem, remedy):
    source = f"@kernel\ndef f(i, values):\n    own = team_array(int64, 4)\n    {statement}\n"
    assert_refused(tmp_path, source, 3, problem, remedy)


@pytest.mark.parametrize("outer", ["if i > 0:", "while i > 0:", "for x in range(2):"])
def test_it_is_made_at_the_top_level(tmp_path, outer):
    source = f"@kernel\ndef f(i, values):\n    {outer}\n        own = team_array(int64, 4)\n"
    assert_refused(tmp_path, source, 3, "made once", "at the top level of a kernel")


def test_device_functions_are_given_theirs(tmp_path):
    source = "@device\ndef f(i):\n    own = team_array(int64, 4)\n    return own[i]\n"
    assert_refused(tmp_path, source, 2, "in a device function", "pass it as an argument")


BEFORE = [
    ("values[0] = own[0]", "a team array made above", "as an argument"),
    ("values[0] = summed(own)", "before it has a value", "on every path"),
]


@pytest.mark.parametrize(("statement", "problem", "remedy"), BEFORE)
def test_it_is_made_before_it_is_used(tmp_path, statement, problem, remedy):
    source = f"@kernel\ndef f(i, values):\n    {statement}\n    own = team_array(int64, 4)\n"
    assert_refused(tmp_path, source, 2, problem, remedy)


def test_a_kernel_with_one_has_no_return(tmp_path):
    source = ("@kernel\ndef f(i, values):\n    own = team_array(int64, 4)\n"
              "    if i == 3:\n        return\n")
    assert "must not return early" in refusal(tmp_path, source)


# types --------------------------------------------------------------------------------------


@device
def first_of(array):
    return array[0]


@kernel
def add_to_floats(i, values):
    own = team_array(float64, 4)
    atomic_add(own, 0, 1.0)


@kernel
def store_a_fraction(i, values):
    own = team_array(int32, 4)
    own[0] = values[i] * 0.5


@kernel
def count_backwards(i, values):
    own = team_array(int32, 4)
    values[i] = own[-1]


@kernel
def keep_a_type(i, values):
    own = team_array(float64, 4)
    mine = values[i]
    mine = first_of(own)
    values[i] = mine


@pytest.mark.parametrize(("made", "problem"), [
    (add_to_floats, "atomic_add on array of float64"),
    (store_a_fraction, "float64 stored into an int32 array"),
    (count_backwards, "a negative index"),
    (keep_a_type, "'mine' is int64 above and would become float64"),
], ids=lambda case: getattr(case, "name", ""))
def test_types_that_do_not_fit(space, made, problem):
    with pytest.raises(KernelTypeError, match=problem):
        space.parallel_for(1, made, space.zeros(1, np.int64), team=256)
