"""Lanes that share an array have to meet between a write and another lane's use."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends.language import (
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_size,
    team_sum,
    team_sync,
)
from tests.helpers.emulation.lanes import LanesSpace


@kernel
def meet_before_reading(i, result):
    """Each lane reads what the next one has written."""
    words = team_array(int64, 8)
    words[lane()] = lane()
    team_sync()
    result[lane()] = words[(lane() + 1) % team_size()]


@kernel
def read_too_soon(i, result):
    """The same, without waiting."""
    words = team_array(int64, 8)
    words[lane()] = lane()
    result[lane()] = words[(lane() + 1) % team_size()]


@kernel
def read_after_a_sum(i, result):
    """A sum over lanes waits for them, but need not show what they have written."""
    words = team_array(int64, 8)
    words[lane()] = lane()
    result[lane()] = team_sum(lane()) + words[(lane() + 1) % team_size()]


@kernel
def write_what_is_read(i, result):
    """One lane writes again what all read."""
    words = team_array(int64, 8)
    if lane() == 0:
        words[0] = 5
    team_sync()
    result[lane()] = words[0]
    if lane() == 0:
        words[0] = 5


@kernel
def add_together(i, result):
    """Additions do not mind each other."""
    words = team_array(int64, 8)
    if lane() == 0:
        words[0] = 0
    team_sync()
    team_atomic_add(words, 0, lane())
    team_sync()
    result[lane()] = words[0]


@kernel
def read_while_others_add(i, result):
    """But readers do."""
    words = team_array(int64, 8)
    team_atomic_add(words, 0, lane())
    result[lane()] = words[0]


def after_launches(launches, kernel, watching=()):
    """A space of four lanes that has launched a kernel so often."""
    space = LanesSpace(4, watching=watching)
    space.launched[kernel.name] = launches
    return space


threads_and_greenlets = pytest.mark.parametrize("launches", [0, 2], ids=["threads", "greenlets"])


@threads_and_greenlets
@pytest.mark.parametrize(("fine", "expected"), [(meet_before_reading, [1, 2, 3, 0]),
                                                (add_together, [6, 6, 6, 6])])
def test_lanes_that_meet_do_not_race(fine, expected, launches):
    result = np.zeros(4, np.int64)
    after_launches(launches, fine).parallel_for(3, fine, result, team=32)
    assert result.tolist() == expected


@threads_and_greenlets
@pytest.mark.parametrize("racing", [read_too_soon, read_after_a_sum, write_what_is_read,
                                    read_while_others_add])
def test_lanes_that_do_not_meet_race(racing, launches):
    space = after_launches(launches, racing)
    with pytest.raises(AssertionError, match="lanes race for an element of an array"):
        space.parallel_for(3, racing, np.zeros(4, np.int64), team=32)


def test_a_lane_alone_races_with_nobody():
    result = np.zeros(1, np.int64)
    LanesSpace(4).parallel_for(3, read_too_soon, result, team=1)
    assert result.tolist() == [0]


@kernel
def pass_on(i, numbers):
    """Each lane reads what the one before it may have written already."""
    numbers[lane() + 1] = numbers[lane()] + 1


@threads_and_greenlets
def test_given_arrays_are_watched_in_kernels_that_are_named(launches):
    after_launches(launches, pass_on).parallel_for(1, pass_on, np.zeros(5, np.int64), team=32)
    watching = after_launches(launches, pass_on, {"pass_on"})
    with pytest.raises(AssertionError, match="lanes race for an element of an array"):
        watching.parallel_for(1, pass_on, np.zeros(5, np.int64), team=32)
