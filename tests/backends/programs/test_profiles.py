"""What programs that communicate tell of the time that their steps take."""

from __future__ import annotations

import time
from typing import Any

import pytest

from portpart.backends.communication import Local, One
from tests.helpers.ranks.profiled_program import profiled
from tests.helpers.ranks.rank_rows import DEVICES, space_of


class Slow(One):
    """A rank that is alone, and takes its time to add up words."""

    def all_reduce(self, *_: Any) -> None:
        time.sleep(0.005)


@pytest.mark.parametrize("name", DEVICES)
def test_launches_and_communication_stand_in_the_order_of_the_program(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = space_of(name)
    monkeypatch.setattr(space, "profiling", True)
    executable, run = profiled(space)
    for _ in range(2):
        run(Slow())
    rows = executable.profile()
    assert [row[0] for row in rows] == ["begin_rounds (1)", "all_reduce (state)", "end_round (1)",
                                        "all_to_all (send)"]
    counts = [count for _, count, _ in rows]
    assert counts == ([2, 6, 6, 2] if name == "cuda resident" else [0, 6, 0, 2])
    assert rows[1][2] > 15  # milliseconds, of which 30 are slept
    assert rows[3][2] > 0
    Local(2).run(run)
    assert [count for _, count, _ in executable.profile()][1::2] == [9, 3]


def test_nothing_is_measured_unless_that_is_wanted() -> None:
    executable, run = profiled(space_of("stand-in"))
    run(One())
    assert executable.profile() == []
