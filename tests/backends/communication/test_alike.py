"""What is alike on all ranks is made once in each memory, and its errors are those of all."""

from __future__ import annotations

import pytest

from portpart.backends.communication import Local, One
from portpart.backends.communication.calls import keepers, once
from portpart.errors import OutOfMemory

PLACES = ["here", "there", "here", "there", "there"]


def test_the_first_rank_of_each_memory_makes_it_for_all_that_are_there():
    made = []

    def main(comm):
        where = PLACES[comm.rank]
        found = once(comm, where, lambda: made.append(comm.rank) or [where])
        return keepers(comm, where), found

    outcomes = Local(5).run(main)
    assert made == [0, 1]
    assert [kept for kept, _ in outcomes] == 5 * [[0, 1, 0, 1, 1]]
    found = [each for _, each in outcomes]
    assert [each[0] for each in found] == PLACES
    assert found[0] is found[2]
    assert found[1] is found[3] is found[4]
    assert found[0] is not found[1]


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_one_is_raised_on_all(failing):
    def main(comm):
        def make():
            if comm.rank == failing:
                raise OutOfMemory("no MiB")

        with pytest.raises(OutOfMemory, match=f"^rank {failing}: no MiB$"):
            once(comm, PLACES[comm.rank], make)
        comm.vote(None)  # ranks are at the same step still

    Local(3).run(main)


def test_a_rank_alone_makes_it_itself():
    assert once(One(), "here", lambda: 7) == 7
    assert keepers(One(), "here") == [0]
