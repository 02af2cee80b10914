"""Sessions by algorithms that know no price of moving: partitions made anew on the way."""

from __future__ import annotations

from typing import Any

import pytest

import portpart
from bench.random_edits import RandomEdits
from portpart import generators

MAX_ROUNDS = 20


def first_time_anew(seed: int, algorithm: str) -> tuple[Any, Any, Any]:
    """The first update that is not local, that of a session that never does more, and from scratch.

    Both sessions are the same until then.
    """
    settings: dict[str, Any] = {"algorithm": algorithm, "device": "cpu", "seed": seed}
    graph: Any = (generators.grid_2d(40) if algorithm == "igkway"
                  else generators.netlist(800, seed=3))
    session = portpart.Session(graph, 4, **settings)
    twin = portpart.Session(graph, 4, escalate="never", **settings)
    draws = [RandomEdits(graph, seed, "uniform") for _ in range(2)]
    for _ in range(MAX_ROUNDS):
        updates = []
        for each, draw in zip((session, twin), draws):
            batch = each.batch()
            draw.play(batch, 8)
            updates.append(each.apply(batch))
        if updates[0].effort != "local":
            return *updates, portpart.partition(twin.graph(), 4, **settings)
    raise AssertionError("all rounds were local")


@pytest.mark.parametrize("algorithm", ["igkway", "ihyperg"])
def test_the_old_blocks_or_the_new_are_kept_whichever_cost_less(algorithm: str) -> None:
    """What luck has made better than a new partition is not given up, and nothing moves then."""
    old_are_kept = new_are_taken = 0
    for seed in range(3):
        update, local, scratch = first_time_anew(seed, algorithm)
        fresh = scratch.cut if scratch.km1 is None else scratch.km1
        assert update.effort == "full"
        assert (update.feasible, local.feasible) == (True, True)
        assert update.value == min(local.value, fresh)
        old_are_kept += local.value <= fresh and update.moved <= local.moved
        new_are_taken += fresh < local.value
    assert old_are_kept + new_are_taken == 3
    assert old_are_kept if algorithm == "igkway" else new_are_taken
