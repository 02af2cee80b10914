"""How many cores a rank takes beside the other ranks of its host."""

from __future__ import annotations

import threading

import pytest

from portpart.backends.communication import Local, calls as home
from portpart.backends.communication.calls import cores_of_rank

EIGHT = [set(range(8))] * 4


def rank() -> int:
    """The rank that a thread runs."""
    return int(threading.current_thread().name.removeprefix("rank "))


@pytest.mark.parametrize(("cores", "hosts", "expected"), [
    (EIGHT, [1, 1, 1, 1], [2, 2, 2, 2]),  # four ranks share eight cores
    (EIGHT, [1, 1, 2, 3], [4, 4, 8, 8]),  # two share a host, two have one for themselves
    ([{0, 1}, {2, 3}, {4}, {5, 6, 7}], [1, 1, 1, 1], [2, 2, 1, 2]),  # bound by the launcher
    ([{3}] * 4, [1, 1, 1, 1], [1, 1, 1, 1]),  # more ranks than cores
    ([{0, 61, 62, 130}] * 2 + [{200}] * 2, [1, 1, 2, 2], [2, 2, 1, 1]),
])
def test_ranks_divide_the_cores_of_their_host(
    cores: list[set[int]], hosts: list[int], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "_usable_cores", lambda: cores[rank()])
    monkeypatch.setattr(home, "_host", lambda: hosts[rank()])
    assert Local(4).run(cores_of_rank) == expected
