"""Programs with nested loops and branches, on every space."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends.language import atomic_add, kernel
from portpart.backends.programs.program import Program
from portpart.errors import InputError, KernelTypeError
from tests.backends import sample_programs as samples


@pytest.mark.parametrize("team", [1, 8, 32, 256, 512])
def test_nested_loops_and_branches(space, team):
    executable = space.executable(samples.record_nested(team))
    for n, rounds in ((50, 9), (50, 0), (1000, 13)):
        given = samples.bindings_for(space, n, rounds)
        executable.run(given, size=n)
        values, total, steps = samples.expected(n, rounds)
        assert np.array_equal(space.to_host(given["values"]), values)
        assert space.to_host(given["total"])[0] == total
        assert space.to_host(given["control"])[samples.STEPS] == steps


def test_runs_follow_each_other_without_waiting(space):
    executable = space.executable(samples.record_nested(1))
    runs = [samples.bindings_for(space, 40 + r, r) for r in range(8)]
    for given in runs:
        executable.run(given, size=50)
    for r, given in enumerate(runs):
        assert np.array_equal(space.to_host(given["values"]), samples.expected(40 + r, r)[0])


def test_a_slot_must_be_bound_to_what_was_declared(space):
    executable = space.executable(samples.record_nested(1))
    given = samples.bindings_for(space, 10, 1)
    with pytest.raises(KernelTypeError, match="values"):
        executable.run({**given, "values": space.zeros(10, np.int32)}, size=10)
    with pytest.raises(InputError, match="amount"):
        executable.run({name: value for name, value in given.items() if name != "amount"}, size=10)


@kernel
def add_amount(i, total, amount):
    """total += amount"""
    atomic_add(total, 0, amount)


@kernel
def halve(i, words):
    """Halve the amount, and count down."""
    words[1] = words[1] // 2
    words[0] = words[0] - 1


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_launch_reads_its_numbers_when_it_starts(space, is_sent):
    program = Program("read when it starts")
    total = program.array("total", np.int64)
    words = samples.words_of(program, "words", 2 if is_sent else 0)
    with program.while_loop(words[0]):
        program.launch(10, add_amount, total=total, amount=words[1])
        program.launch(1, halve, words=words)
    executable = space.executable(program)
    for amount in (100, 7):
        added, given = space.zeros(1, np.int64), np.array([4, amount])
        executable.run({"total": added, "words": given.tolist() if is_sent else
                        space.asarray(given)}, 10)
        expected = 10 * sum(amount >> turn for turn in range(4))
        assert space.to_host(added).tolist() == [expected]
