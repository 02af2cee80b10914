"""Words in parts and scopes: one array for all parts, and no more than a function uses."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends import cuda, language as kl
from portpart.backends.language import Scope, Words
from portpart.backends.programs.program import Program
from portpart.errors import KernelSyntaxError, KernelTypeError
from tests.backends.part_kernels import (
    Counting,
    Counts,
    Everything,
    Hidden,
    Level,
    Limits,
    Listed,
    Stack,
    Taking,
    Together,
    Values,
    count_parity,
    lengthen_copies,
    list_even,
    push,
    shorten_in_a_copy,
    swap_counts,
)

NUMBERS = np.array([3, 4, 5, 6, 7, 20, 21, 1])
WITHIN = {"odd": 3, "even": 2}  # of 3 ... 7


def test_parts_lie_one_after_the_other():
    assert list(Level.indices) == ["rounds", "odd", "even", "least", "most"]
    assert (Level.even, Counts.even, Limits.most) == (2, 2, 4)
    level = Level.of(least=3, even=5)
    assert (level.least, level.even, level.most) == (3, 5, 0)
    assert isinstance(level, Counts)


def begun(space) -> Level:
    return Level(space.asarray(np.array(Level.of(least=3, most=7).array)))


def test_a_launch_takes_the_whole_for_each_part(space):
    level, values = begun(space), Values(space.asarray(NUMBERS))
    space.parallel_for(8, count_parity, Counting(values=values, limits=level, counts=level))
    found = Level(space.to_host(level.array))
    assert {"odd": found.odd, "even": found.even} == WITHIN
    space.parallel_for(1, swap_counts, level, level, level)
    found = Level(space.to_host(level.array))
    assert (found.odd, found.even, found.least, found.most, found.rounds) == (2, 3, 3, 0, 1)


def test_a_program_finds_parts_and_puts_scopes_together(space):
    program, level = Program("parts"), begun(space)
    values = Values(space.asarray(NUMBERS))
    program.record("values", values)
    program.record("level", level)
    program.launch(8, count_parity)
    program.launch(1, swap_counts)
    space.executable(program).run({"values": values, "level": level}, size=8)
    found = Level(space.to_host(level.array))
    assert (found.odd, found.even, found.rounds) == (2, 3, 1)


def test_a_kernel_gets_one_array_of_words_and_the_fields_that_it_uses():
    level = Level(np.zeros(5, np.int64))
    text = cuda.source(count_parity, Counting(Values(NUMBERS), level, level))
    assert "body(int64 i, int64* state_values_numbers, int64* words_of_level)" in text


def test_parts_of_different_arrays_are_refused(space):
    one, other = begun(space), begun(space)
    with pytest.raises(KernelTypeError, match="are of different arrays"):
        space.parallel_for(1, swap_counts, one, other, one)
    with pytest.raises(KernelTypeError, match="takes a record of class Counts, not Limits"):
        space.parallel_for(1, swap_counts, Limits(one.array), one, one)


def test_a_program_names_what_a_scope_lacks():
    program = Program("parts")
    program.record("level", Level(np.zeros(5, np.int64)))
    with pytest.raises(ValueError, match="needs values, which no slot or record is named"):
        program.launch(8, count_parity)


class Narrow(Scope):
    """Less than is needed."""

    limits: Limits


def test_a_scope_is_passed_on_where_it_has_all_that_is_needed():
    def passes(i, state: Narrow):
        return counts_at(i, state)

    from tests.backends.part_kernels import counts_at

    with pytest.raises(KernelSyntaxError, match="counts_at takes a Looking as 'state', this is a"):
        kl.device(passes).check()


def test_a_part_does_not_stand_for_the_whole():
    @kl.device
    def rounds_of(level: Level):
        return level.rounds

    def passes(i, counts: Counts):
        return rounds_of(counts)

    with pytest.raises(KernelSyntaxError, match="rounds_of takes a Level as 'level', this is a"):
        kl.device(passes).check()


def test_words_of_records_are_parts_of_one_array(space):
    program, words = Program("words"), Together(space.zeros(4, np.int64))
    words.array[Together.most] = 2
    members = space.zeros(8, np.int64)
    everything = Everything(Listed(members), Hidden(), words)
    values = Values(space.asarray(NUMBERS))
    program.record("values", values)
    program.record("everything", everything, opened=True)
    program.launch(8, list_even)
    program.launch(1, shorten_in_a_copy, team=32)
    space.executable(program).run({"values": values, "everything": everything}, size=8)
    found = Together(space.to_host(words.array))
    assert (found.length, found.lost, found.seen, found.most) == (2, 1, 8, 2)
    assert sorted(space.to_host(members))[-3:] == [4, 6, 20]


@pytest.mark.parametrize("team", [1, 8, 32, 256, 512])
def test_teams_of_a_warp_count_in_their_own_copies_of_words(space, team):
    """Threads that append to words of all share an atomic, without comparing addresses."""
    found = space.zeros(50, np.int64)
    space.parallel_for(50, lengthen_copies, found, team=team)
    assert space.to_host(found).tolist() == 50 * [20]


def test_words_of_records_act_in_plain_python():
    words, numbers = Together(np.zeros(4, np.int64)), Values(NUMBERS)
    listed = Listed(np.zeros(8, np.int64)).over(words)
    for i in range(len(NUMBERS)):
        list_even(i, Taking(numbers, listed, Hidden().over(words)))
    listed.lost = 4
    assert (listed.length, words.lost, words.seen, listed.lost) == (3, 4, 8, 4)
    assert (Listed.lost, Hidden.seen, Listed.field_names) == (2, 3, ("members",))


def test_words_without_their_record_are_not_all_of_it():
    @kl.device
    def first_of(listed: Listed):
        return listed.members[listed.length - 1]

    def passes(_, together: Together):
        first_of(together)

    with pytest.raises(KernelSyntaxError, match="first_of uses 'members' of a record"):
        kl.kernel(passes).check()


def test_unknown_words_of_a_record_are_named():
    def passes(_, listed: Listed):
        listed.shortened = 1

    with pytest.raises(KernelSyntaxError, match="it has members, length, lost"):
        kl.kernel(passes).check()


class Twice(Words):
    """A word that another part has, too."""

    odd: int


def test_words_have_different_names_and_one_whole():
    with pytest.raises(AssertionError, match="Counts is part of"):
        type("Other", (Counts,), {"__annotations__": {"more": int}})
    with pytest.raises(AssertionError, match="two parts have a word of one name"):
        type("Both", (Twice,), {"__annotations__": {"odd": int}})


def test_a_record_has_words_of_its_own_where_no_others_share_them(space):
    """They travel with the arguments, lie in memory of the space, or begin with zeros."""
    begin = {"given": Stack().with_words(length=5), "in_memory": Stack().over(
        Stack.own_words(space.asarray(np.array([2])))), "empty": Stack()}
    program = Program("stacks")
    bound = {f"{what} of {name}": space.zeros(count, np.int64) for name in begin
             for what, count in (("seen", 3), ("last", 1))}
    for name, stack in program.declare(begin).items():
        seen, last = (program.array(f"{what} of {name}", np.int64) for what in ("seen", "last"))
        program.launch(3, push, stack=stack, seen=seen)
        with program.if_nonzero(stack.length):
            program.launch(1, push, stack=stack, seen=last)
    for _ in range(2):
        space.executable(program).run({**begin, **bound}, size=3)
    found = {name: sorted(space.to_host(array)) for name, array in bound.items()}
    assert found == {"seen of given": [5, 6, 7], "last of given": [8],
                     "seen of in_memory": [6, 7, 8], "last of in_memory": [9],
                     "seen of empty": [0, 1, 2], "last of empty": [3]}
    assert space.to_host(begin["in_memory"].own_words.array)[0] == 10
