"""Programs: loops, branches and launches that never return to Python, on every space."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends.language import (
    Words,
    atomic_add,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
    work,
)
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Launch, While
from portpart.errors import InputError, KernelTypeError
from tests.helpers.each import looped


@kernel
def double_into(i, values, result):
    """result[i] = 2 values[i]."""
    result[i] = 2 * values[i]


@kernel
def add_to_all(i, values, amount):
    """values[i] += amount."""
    values[i] += amount


@kernel
def set_to(i, values, value):
    """values[i] = value."""
    values[i] = value


@kernel
def add_element(i, values, sums, place):
    """sums[place] += values[i]; atomic."""
    atomic_add(sums, place, int64(values[i]))


@kernel
def add_to_one(_, values, place, amount):
    """values[place] += amount."""
    values[place] += amount


@kernel
def copy_word(_, source, source_at, target, target_at):
    """target[target_at] = source[source_at]."""
    target[target_at] = source[source_at]


@kernel
def note_parity(_, state, number_at, flag_at):
    """Set a flag to the parity of a number."""
    state[flag_at] = state[number_at] & 1


@kernel
def collatz(_, state):
    """One step of Collatz's sequence; state = [number, steps, not one, odd]."""
    if state[3] != 0:
        state[0] = 3 * state[0] + 1
    else:
        state[0] = state[0] // 2


@kernel
def look_at(_, state):
    """Count a step and set the flags for the next one."""
    state[1] += 1
    state[2] = int64(state[0] != 1)
    state[3] = state[0] & 1


@kernel
def weigh(i, offsets, weights, factor, result):
    """result[i] = factor * weight of row i, where absent weights are 1."""
    total = int64(0)
    for arc in range(offsets[i] + lane(), offsets[i + 1], team_size()):
        total += value_or(weights, arc, 1)
    total = team_sum(total)
    if lane() == 0:
        result[i] = total * factor


def run(space, program, size=1, **bindings):
    bound = {
        name: space.asarray(value.copy()) if isinstance(value, np.ndarray) else value
        for name, value in bindings.items()
    }
    space.executable(program).run(bound, size=size)
    return {name: space.to_host(value) for name, value in bound.items()
            if isinstance(bindings[name], np.ndarray)}


class Numbers(Words):
    """Words without names."""


def test_words_and_scratch_belong_to_a_run(space):
    """Words have their first values at every run, scratch is of any length."""
    program = Program("own memory")
    words = program.record("words", Numbers((0, 0, 0))).array
    more = program.record("more", Numbers((0,))).array
    many = program.scratch("many", work(np.int64, lambda sizes: sizes[0]))
    few = program.scratch("few", work(lambda sizes: np.dtype(np.int32), lambda sizes: sizes[1]))
    result = program.array("result", np.int64)
    for length, own in ((words[0], many), (words[1], few)):
        program.parallel_for(length, set_to, own, 5)
        program.parallel_for(length, add_element, own, words, 2)
    program.parallel_for(more[0], copy_word, words, 2, result, 0)
    executable = space.executable(program)
    for m, n in ((7, 3), (40, 1000), (0, 1)):
        found = space.zeros(2, np.int64)
        given = {"words": Numbers((m, n, 4)), "more": Numbers((1,)), "result": found}
        executable.run(given, n, (m, n))
        assert space.to_host(found).tolist() == [4 + 5 * (m + n), 0]


def test_words_are_flags(space):
    program = Program("flags in words")
    flags = program.record("flags", Numbers((0, 0))).array
    values = program.array("values", np.int64)
    with program.while_loop(flags[0]):
        program.parallel_for(1, add_to_all, values, 1)
        program.parallel_for(1, add_to_all, flags, -1)
    with program.if_nonzero(flags[1]):
        program.parallel_for(1, add_to_all, values, 100)
    executable = space.executable(program)
    for rounds, more in ((3, 0), (5, 1)):
        values = space.zeros(1, np.int64)
        executable.run({"flags": Numbers((rounds, more)), "values": values}, 1)
        assert int(space.to_host(values)[0]) == rounds + 100 * more


class Rounds(Words):
    done: int
    more: int


def test_words_that_begin_with_zeros_do_so_at_every_run(space):
    program = Program("zeros")
    given = program.record("given", Numbers((0, 0))).array
    own = program.zeros("own", Rounds)
    result = program.array("result", np.int64)
    with program.while_loop(given[0]):
        program.parallel_for(1, add_to_all, given, -1)
        program.parallel_for(1, add_to_one, own.array, Rounds.more, 5)
    for word in (Rounds.done, Rounds.more):
        program.parallel_for(1, copy_word, own.array, word, result, word)
    executable = space.executable(program)
    for _ in range(2):
        found = space.zeros(2, np.int64)
        executable.run({"given": Numbers((3, 9)), "result": found}, 2)
        assert space.to_host(found).tolist() == [0, 3 * 5]


def test_scratch_is_no_flag_and_words_have_a_length(space):
    program = Program("refused")
    own = program.scratch("own", work(np.int64, lambda size: size))
    with pytest.raises(ValueError, match="scratch, no flag"), program.while_loop(own[0]):
        pass
    words = program.record("words", Numbers((0, 0))).array
    program.parallel_for(words[0], set_to, own, 1)
    with pytest.raises(InputError, match="takes 2 numbers, not 3"):
        space.executable(program).run({"words": Numbers((1, 2, 3))}, 1, 1)
    with pytest.raises(InputError, match="is not bound"):
        space.executable(program).run({}, 1, 1)


def test_launches_run_in_order_with_sizes_from_memory(space):
    program = Program("order")
    values, sizes = program.array("values", np.int64), program.array("sizes", np.int64)
    program.parallel_for(sizes[0], add_to_all, values, 1)
    program.parallel_for(sizes[1], add_to_all, values, 10)
    program.parallel_for(2, add_to_all, values, 100)
    program.parallel_for(1, copy_word, values, 0, sizes, 2)
    program.parallel_for(sizes[2], add_to_all, values, 1000)
    found = run(space, program, 200, values=np.zeros(200, np.int64), sizes=np.array([4, 3, 0]))
    assert found["values"][:5].tolist() == [1111, 1111, 1011, 1001, 1000]
    assert np.count_nonzero(found["values"]) == 111


@pytest.mark.parametrize("size", [0, -3])
def test_a_size_of_nothing_launches_nothing(space, size):
    program = Program("nothing")
    values, sizes = program.array("values", np.int64), program.array("sizes", np.int64)
    program.parallel_for(sizes[0], add_to_all, values, 1)
    program.parallel_for(0, add_to_all, values, 1)
    found = run(space, program, values=np.zeros(3, np.int64), sizes=np.array([size]))
    assert found["values"].tolist() == [0, 0, 0]


def test_empty_program_runs(space):
    assert run(space, Program("empty")) == {}


@pytest.mark.parametrize("start", [1, 2, 27])
def test_loop_with_a_branch_inside(space, start):
    program = Program("collatz")
    state = program.array("state", np.int64)
    program.parallel_for(1, look_at, state)
    with program.while_loop(state[2]):
        with program.if_nonzero(state[3]):
            program.parallel_for(1, collatz, state)
        with program.otherwise():
            program.parallel_for(1, collatz, state)
        program.parallel_for(1, look_at, state)
    number, steps = start, 1
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps += 1
    found = run(space, program, state=np.array([start, 0, 0, 0]))
    assert found["state"].tolist() == [1, steps, 0, 1]


def nested_loops() -> Program:
    """Loops over state[0] x state[1]; counts rounds in state[3], odd ones in state[4]."""
    program = Program("nested")
    state = program.array("state", np.int64)
    with program.while_loop(state[0]):
        program.parallel_for(1, copy_word, state, 1, state, 2)
        with program.while_loop(state[2]):
            program.parallel_for(1, add_to_one, state, 3, 1)
            program.parallel_for(1, note_parity, state, 2, 5)
            with program.if_nonzero(state[5]):
                program.parallel_for(1, add_to_one, state, 4, 1)
            program.parallel_for(1, add_to_one, state, 2, -1)
        with program.if_nonzero(state[1]), program.if_nonzero(state[4]):
            program.parallel_for(1, add_to_one, state, 6, 1)
        program.parallel_for(1, add_to_one, state, 0, -1)
    return program


@pytest.mark.parametrize(("outer", "inner"), [(0, 5), (3, 0), (1, 1), (4, 7)])
def test_nested_loops_and_branches(space, outer, inner):
    found = run(space, nested_loops(), state=np.array([outer, inner, 0, 0, 0, 0, 0]))
    odd = outer * ((inner + 1) // 2)
    assert found["state"][[0, 2, 3, 4]].tolist() == [0, 0, outer * inner, odd]
    assert found["state"][6] == (outer if odd else 0)


def test_otherwise_runs_on_zero_only(space):
    program = Program("sides")
    state = program.array("state", np.int64)
    for flag in (0, 1):
        with program.if_nonzero(state[flag]):
            program.parallel_for(1, add_to_one, state, 2, 1)
        with program.otherwise():
            program.parallel_for(1, add_to_one, state, 3, 1)
    assert run(space, program, state=np.array([0, 9, 0, 0]))["state"][2:].tolist() == [1, 1]


@looped("team", [1, 8, 32, 256, 512])
@looped("weighted", [False, True])
def test_scalars_teams_and_absent_arrays(space, team, weighted):
    offsets = np.array([0, 0, 3, 300, 301], np.int32)
    weights = np.arange(301, dtype=np.int32) if weighted else None
    program = Program("weigh")
    slots = (program.array("offsets", np.int32),
             program.array("weights", np.int32 if weighted else None),
             program.scalar("factor"), program.array("result", np.int64))
    program.parallel_for(4, weigh, *slots, team=team)
    for factor in (1, -5):
        found = run(space, program, 4, offsets=offsets, weights=weights, factor=factor,
                    result=np.zeros(4, np.int64))
        rows = np.add.reduceat(np.append(weights if weighted else np.ones(301, int), 0), offsets)
        rows[0] = 0
        assert found["result"].tolist() == (rows[:4] * factor).tolist()


def test_constants_and_scalars_keep_their_dtypes(space):
    program = Program("dtypes")
    values, amount = program.array("values", np.float32), program.scalar("amount", np.float32)
    program.parallel_for(1, add_to_all, values, amount)
    program.parallel_for(1, add_to_all, values, np.float32(0.25))
    found = run(space, program, values=np.zeros(1, np.float32), amount=0.5)
    assert found["values"].tolist() == [0.75]


def test_one_executable_serves_other_arrays(space):
    program = Program("again")
    values, size = program.array("values", np.int64), program.array("size", np.int64)
    program.parallel_for(size[0], add_to_all, values, 1)
    executable = space.executable(program)
    for n in (5, 70_000, 1):
        arrays = {"values": space.zeros(n, np.int64), "size": space.full(1, n, np.int64)}
        executable.run(arrays, size=n)
        assert space.to_host(arrays["values"]).tolist() == [1] * n


def test_executables_are_compiled_once_per_key(space):
    made = []

    def record() -> Program:
        made.append(Program("cached"))
        return made[-1]

    key = ("test_executables_are_compiled_once_per_key", space.name)
    assert space.cached_executable(key, record) is space.cached_executable(key, record)
    assert len(made) == 1


@pytest.mark.parametrize(("bindings", "error", "message"), [
    ({}, InputError, "'values' is not bound"),
    ({"values": None}, KernelTypeError, "needs an array of int64, not no array"),
    ({"values": np.zeros(2, np.int32)}, KernelTypeError, "needs an array of int64.*int32"),
])
def test_wrong_bindings_are_refused(space, bindings, error, message):
    program = Program("bindings")
    program.parallel_for(1, add_to_all, program.array("values", np.int64), 1)
    with pytest.raises(error, match=message):
        run(space, program, **bindings)


def test_recording_makes_a_tree():
    program = nested_loops()
    (outer,) = program.steps
    assert isinstance(outer, While)
    first, inner, branch, last = outer.steps
    assert isinstance(first, Launch)
    assert isinstance(inner, While)
    assert isinstance(branch, Branch)
    assert isinstance(branch.then[0], Branch)
    assert isinstance(last, Launch)
    assert len(program.launches()) == 7


def test_recording_mistakes_are_refused():
    program = Program("mistakes")
    values = program.array("values", np.int64)
    assert program.array("values", np.int64) == values
    with pytest.raises(ValueError, match="declared twice"):
        program.scalar("values")
    with pytest.raises(ValueError, match="team must be one of"):
        program.parallel_for(1, add_to_all, values, 1, team=7)
    with pytest.raises(ValueError, match="must follow"), program.otherwise():
        pass
    with program.if_nonzero(values[0]):
        program.parallel_for(1, add_to_all, values, 1)
    with program.otherwise():
        program.parallel_for(1, add_to_all, values, 1)
    with pytest.raises(ValueError, match="must follow"), program.otherwise():
        pass


def test_launch_takes_the_slots_named_like_the_parameters(space):
    program = Program("by name")
    result, values = program.array("result", np.int64), program.array("values", np.int64)
    program.launch(3, double_into)
    by_hand = Program("by hand")
    for name in ("values", "result"):
        by_hand.array(name, np.int64)
    by_hand.parallel_for(3, double_into, values, result)
    assert program.launches() == by_hand.launches()
    arrays = {"values": space.asarray(np.array([1, 2, 3])), "result": space.zeros(3, np.int64)}
    space.executable(program).run(arrays, 3)
    assert space.to_host(arrays["result"]).tolist() == [2, 4, 6]


def test_launch_takes_what_is_given_for_a_parameter():
    program = Program("given")
    source, result = program.array("source", np.int64), program.array("result", np.int64)
    program.launch(3, double_into, values="source")
    program.launch(3, double_into, values=7, result=None)
    assert [step.args for step in program.launches()] == [(source, result), (7, None)]
    with pytest.raises(ValueError, match="needs other, which"):
        program.launch(3, double_into, values="other")


def test_launch_names_the_slots_that_are_missing():
    program = Program("incomplete")
    program.array("values", np.int64)
    with pytest.raises(ValueError, match="double_into needs result, which no slot or"):
        program.launch(3, double_into)
