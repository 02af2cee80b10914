"""Estimates of the memory of several ranks, against what their arrays take."""

from __future__ import annotations

from typing import Any

import pytest

import portpart
from bench.rank_memory import GRAPHS, peaks_of_ranks, whole_of
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.recipes.portpart import PRESETS, PortpartConfig
from portpart.algorithms.refinement.options import RefinementSizes
from portpart.algorithms.refinement.ranks.state import totals_for
from portpart.api import rank_memory as memory_ranks
from portpart.api.rank_memory import sums_bytes
from portpart.backends.spaces import space
from portpart.errors import InputError
from portpart.estimate import SizingSpace
from portpart.options import changed

SOME = Fold(20_000, 10**7)
"""The finest level belongs to ranks, the next ones are folded."""

ON_BAND = changed(PRESETS["strong"], {"flows.max_vertices": 20_000})
"""The finest level has flows on its band, as with `strong` if it has more than 2^22 vertices."""

EXACT = changed(ON_BAND, {"initial.growing.slack": 0.0, "initial.growing.balanced": False})
"""The same from other starts: how much a band takes depends on the partition."""


@pytest.mark.parametrize(("family", "side", "k", "config", "size"), [
    *((family, side, 8, PRESETS["fast"], size)
      for family, side in (("mesh", 220), ("cube", 37), ("random", 220)) for size in (2, 4)),
    ("cube", 32, 8, PRESETS["strong"], 4), ("random", 160, 8, PRESETS["best"], 2),
    ("cube", 32, 12, ON_BAND, 4), ("cube", 32, 8, EXACT, 4)])
def test_a_rank_takes_what_is_estimated_within_a_tenth(
    family: str, side: int, k: int, config: PortpartConfig, size: int,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The band of twelve blocks has almost half of all vertices, the most that a band may have."""
    monkeypatch.setattr(memory_ranks, "CPU_FOLD", SOME)
    drawn = GRAPHS[family](side)
    real, ghosts = max(peaks_of_ranks(drawn, k, config, size, SOME))
    estimate = portpart.memory_estimate(k=k, preset=config, like=whole_of(drawn), ranks=size,
                                        ghosts=ghosts, moves=family == "random")
    assert 0.9 < estimate.peak / real < 1.1


def test_an_estimate_ends_where_coarsening_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coarsest level is followed by itself: a loop down to a smaller fold would not end."""
    monkeypatch.setattr(memory_ranks, "CPU_FOLD", Fold(1, 1))
    graph, levels = portpart.generators.grid_2d(40, 40), []
    coarser = SizingSpace.coarser

    def counted(space: SizingSpace, level: tuple[int, ...]) -> list[tuple[int, ...]]:
        levels.append(level)
        assert len(levels) < 1000, f"no end at {level}"
        return coarser(space, level)

    monkeypatch.setattr(SizingSpace, "coarser", counted)
    estimate = portpart.memory_estimate(k=4, preset="fast", like=graph, ranks=2)
    assert 1 < min(size for size, *_ in levels)
    whole = portpart.memory_estimate(k=4, preset="fast", like=graph).peak
    assert whole / 2 < estimate.peak < 2 * whole


@pytest.mark.parametrize(("n", "k", "size"), [(810_000, 64, 2), (5000, 7, 3), (10**6, 1000, 4)])
def test_sums_take_what_is_allocated_for_them(n: int, k: int, size: int) -> None:
    made = totals_for(space("cpu"), RefinementSizes(n // size, 3 * n, k, n), size)
    arrays = (made.words, made.buckets, made.slots, made.sub_buckets, made.shares, made.before)
    assert sums_bytes(n, k, size) == sum(array.nbytes for array in arrays)


def test_ranks_share_what_a_graph_takes_and_ghosts_add_to_it() -> None:
    one, two, four, crossing = (
        portpart.memory_estimate(2**26, 6 * 2**26, 64, **options).peak
        for options in ({}, {"ranks": 2}, {"ranks": 4}, {"ranks": 4, "ghosts": 2**24}))
    assert 0.5 < two / one < 0.6
    assert 0.5 < four / two < 0.6
    assert 40 < (crossing - four) / 2**24 < 250


def test_small_graphs_are_held_by_every_rank() -> None:
    one, many = (portpart.memory_estimate(10_000, 60_000, 4, ranks=ranks).peak
                 for ranks in (1, 8))
    assert one < many < 1.3 * one


@pytest.mark.parametrize("options", [
    {"algorithm": "jet"}, {"session": True}, {"objective": "volume"},
    {"k": portpart.Topology("2:2", "1:10")}, {"ranks": 0}, {"ghosts": -1}])
def test_what_ranks_cannot_do_has_no_estimate(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        portpart.memory_estimate(**{"num_vertices": 1000, "num_arcs": 6000, "k": 4, "ranks": 2,
                                    **options})
