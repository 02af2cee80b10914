"""Programs with nested loops and branches, on every space."""

from __future__ import annotations

import numpy as np
import pytest

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
