"""Who may leave blocks that are too heavy: listed one by one, or gathered from a long list."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.refinement.evaluation import evaluate
from portpart.algorithms.refinement.gains.state import IS_MOVABLE
from portpart.algorithms.refinement.rebalancing import eviction
from portpart.algorithms.refinement.rebalancing.rule import BATCH, MANY_VERTICES, set_threshold
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import grid_3d
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.refining import Phases, copied, opened
from tests.helpers.spaces import launch, reference

BLOCKS = 4
CUBE = grid_3d(11)
WEIGHTED = Graph(CUBE.offsets, CUBE.targets, None,
                 np.random.default_rng(1).integers(0, 5, CUBE.num_vertices), CUBE.space)
TOO_HEAVY = [57, 222, 442]
"""On the boundary of the first block, and more than it has to lose."""
HEAVY = Graph(CUBE.offsets, CUBE.targets, None,
              np.where(np.isin(np.arange(CUBE.num_vertices), TOO_HEAVY), 120, 2), CUBE.space)
GRAPHS = {"cube": CUBE, "weighted": WEIGHTED, "heavy": HEAVY}


def overloaded(space: ExecutionSpace, graph: Graph) -> tuple[Phases, np.ndarray]:
    """A level whose first block is slightly too heavy, evaluated; and the blocks."""
    n = graph.num_vertices
    share = np.array([0.26, 0.25, 0.25, 0.24])
    weights = np.ones(n)
    if graph.vertex_weights is not None:
        weights = oracles.host(graph.vertex_weights).astype(float)
    # layers of the cube that are mixed by numbers, so that every batch has some of each
    order = np.argsort(np.arange(n) % 11, kind="stable")
    middle = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    part = np.empty(n, np.int32)
    part[order] = np.searchsorted(np.cumsum(share)[:-1], middle)
    part[::61] = 0  # far from their block: they gain by leaving
    phases = Phases(space, graph, part, BLOCKS)
    phases.launch(1, evaluate, team=256)
    assert phases.level.overloaded == 1
    assert phases.level.swept == 0
    return phases, part


def found(phases: Phases) -> dict[str, list[int]]:
    """Who is on the lists, and what is in the buckets."""
    own, level = phases.run.rebalancing, phases.level
    return {
        "candidates": sorted(copied(own.listed)[: level.candidates].tolist()),
        "unrated": sorted(copied(phases.run.unrated.vertices)[: level.unrated].tolist()),
        "buckets": copied(own.bucket_weight).tolist(),
        "slots": copied(own.slot_weight).tolist(),
    }


def is_eviction_candidate(phases: Phases, part: np.ndarray) -> list[int]:
    """Vertices on the list of the block that is too heavy, but for movable ones, by plain words."""
    begin, active = int(phases.level.boundary_begin), phases.run.active
    listed = copied(active.boundary)[begin : begin + phases.level.on_boundary]
    flags = copied(active.flags)
    weight = np.ones(len(part), np.int64)
    if phases.graph.vertex_weights is not None:
        weight = oracles.host(phases.graph.vertex_weights)
    excess = weight[part == 0].sum() - weight.sum() // BLOCKS
    return sorted(v for v in listed.tolist() if part[v] == 0 and not flags[v] & IS_MOVABLE
                  and 0 < weight[v] <= excess + excess // 2)


@pytest.mark.parametrize("name", GRAPHS)
def test_those_on_the_boundary_of_a_heavy_block_may_leave(space: ExecutionSpace, name: str) -> None:
    phases, part = overloaded(space, GRAPHS[name])
    phases.launch(int(phases.level.single), eviction.list_other_candidates, team=1)
    expected = is_eviction_candidate(phases, part)
    assert found(phases)["candidates"] == expected
    assert len(expected) > 50
    assert not set(TOO_HEAVY) & set(expected) or name != "heavy"


@pytest.mark.parametrize("name", GRAPHS)
def test_gathering_finds_the_same(space: ExecutionSpace, name: str) -> None:
    """From several batches, the last one not full; they are rated as one by one.

    Movable vertices have been rated before.
    """
    single, part = overloaded(space, GRAPHS[name])
    single.launch(int(single.level.movable), eviction.list_movable_candidates, team=1)
    movable = found(single)["candidates"]
    assert movable
    single.launch(int(single.level.single), eviction.list_other_candidates, team=1)
    gathered, _ = overloaded(space, GRAPHS[name])
    length = int(gathered.level.on_boundary)
    assert length > 2 * BATCH
    assert length % BATCH != 0
    gathered.launch(int(gathered.level.movable), eviction.list_movable_candidates, team=1)
    gathered.launch(-(-length // BATCH), eviction.gather_other_candidates, team=32)
    assert found(gathered)["candidates"] == sorted(movable + is_eviction_candidate(gathered, part))
    gathered.launch(int(gathered.level.candidates), eviction.rate_gathered, team=1)
    assert found(gathered) == found(single)


def test_lanes_of_a_team_gather_together() -> None:
    """Lanes as threads, in any order."""
    phases, part = overloaded(reference(), CUBE)
    space = LanesSpace(3, seed=5)
    arguments = {**opened(phases.run, phases.level), "graph": phases.graph.csr}
    batches = -(-int(phases.level.on_boundary) // BATCH)
    launch(space, batches, eviction.gather_other_candidates, arguments, team=32)
    assert found(phases)["candidates"] == is_eviction_candidate(phases, part)


def test_what_has_been_rated_is_not_rated_again(space: ExecutionSpace) -> None:
    phases, _ = overloaded(space, GRAPHS["cube"])
    phases.launch(int(phases.level.single), eviction.list_other_candidates, team=1)
    before = found(phases)
    phases.level.rated = phases.level.candidates
    phases.launch(int(phases.level.candidates), eviction.rate_gathered, team=1)
    assert found(phases) == before


@pytest.mark.parametrize("n", [5000, MANY_VERTICES + 77])
def test_all_vertices_of_a_heavy_block_may_leave(space: ExecutionSpace, n: int) -> None:
    """From short and from long batches, the last one not full."""
    assert n % 32
    numbers = np.arange(n)
    around = np.column_stack([np.roll(numbers, 1), np.roll(numbers, -1)]).astype(np.int32)
    cycle = Graph(np.arange(0, 2 * n + 1, 2), around.reshape(-1), None, None, reference())
    part = np.where(numbers % 3 == 0, numbers % BLOCKS, 2).astype(np.int32)
    phases = Phases(space, cycle, part, BLOCKS)
    phases.launch(1, evaluate, team=256)
    phases.launch(int(phases.level.swept), eviction.list_all_candidates, team=32)
    expected = np.flatnonzero(part == 2).tolist()
    lists = found(phases)
    assert lists["candidates"] == expected
    assert lists["unrated"] == expected


def test_those_whose_best_block_was_asked_for_are_not_asked_again(space: ExecutionSpace) -> None:
    """Once thresholds are set, though more vertices are listed to reach them."""
    part = np.arange(CUBE.num_vertices, dtype=np.int32) % BLOCKS
    part[: CUBE.num_vertices // 2] = 0  # heavily overloaded
    phases = Phases(space, CUBE, part, BLOCKS)
    phases.launch(1, evaluate, team=256)
    phases.launch(int(phases.level.swept), eviction.list_all_candidates, team=32)
    assert phases.level.unrated == np.count_nonzero(part == 0)
    phases.launch(BLOCKS, set_threshold, team=32)
    assert (phases.level.rated, phases.level.unrated) == (phases.level.candidates, 0)
    assert phases.level.unrated_hubs == 0
