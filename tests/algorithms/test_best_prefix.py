"""The longest balanced prefix of moves sorted by gain, against trying one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portpart.algorithms.refinement import best_prefix
from portpart.algorithms.refinement import state as at
from portpart.backends.interface import ExecutionSpace
from portpart.backends.program import Program
from portpart.primitives.recorded_sort import sort_arrays
from tests.backends.lanes import LanesSpace

INT32 = ("move_list", "moved_in", "wish", "part")
INT64 = ("block_weight", "limits", "vertex_weights", "state")


def recorded() -> Program:
    program = Program("best prefix")
    for name in INT32:
        program.array(name, np.int32)
    for name in INT64:
        program.array(name, np.int64)
    best_prefix.declare_prefix(program)
    best_prefix.record_prefix(program)
    return program


class Moves:
    """Moves of some of n vertices between k blocks, and the limits of the blocks."""

    def __init__(self, n: int, k: int, count: int, seed: int, room: int, gains: int) -> None:
        random = np.random.default_rng(seed)
        self.n, self.k = n, k
        self.part = random.integers(0, k, n).astype(np.int32)
        self.wish = ((self.part + random.integers(1, k, n)) % k).astype(np.int32)
        self.weights = random.integers(0, 5, n)
        self.gain = random.integers(0, gains, n)
        self.buffer = random.permutation(n)[:count].astype(np.int32)
        self.blocks = np.bincount(self.part, self.weights, k).astype(np.int64)
        self.limits = self.blocks + random.integers(0, room + 1, k)

    def in_order(self) -> list[int]:
        return sorted(self.buffer.tolist(), key=lambda v: (-self.gain[v], v))

    def longest(self) -> int:
        """Length of the longest balanced prefix."""
        blocks, longest = self.blocks.copy(), 0
        for length, v in enumerate(self.in_order(), 1):
            blocks[self.part[v]] -= self.weights[v]
            blocks[self.wish[v]] += self.weights[v]
            if (blocks <= self.limits).all():
                longest = length
        return longest

    def made(self) -> list[int]:
        """The longest prefix, and behind it what each block has room for."""
        order, longest = self.in_order(), self.longest()
        blocks, made = self.blocks.copy(), order[:longest]
        for v in made:
            blocks[self.part[v]] -= self.weights[v]
            blocks[self.wish[v]] += self.weights[v]
        for v in order[longest:]:
            blocks[self.wish[v]] += self.weights[v]
            if blocks[self.wish[v]] <= self.limits[self.wish[v]]:
                made.append(v)
        return made

    def bindings(self, space: ExecutionSpace, stripes: int) -> dict[str, Any]:
        state = np.zeros(at.SIZE, np.int64)
        state[at.BLOCKS], state[at.VERTICES], state[at.MOVES] = self.k, self.n, len(self.buffer)
        state[at.WEIGHT_STRIPES] = stripes
        trial = np.zeros((stripes, self.k), np.int64)
        for v in self.buffer:
            trial[v % stripes, self.part[v]] -= self.weights[v]
            trial[v % stripes, self.wish[v]] += self.weights[v]
        sequence = np.zeros(best_prefix.NUM_WORDS, np.int64)
        sequence[best_prefix.TOP_GAIN] = self.gain[self.buffer].max(initial=0)
        rest = np.zeros(self.n - len(self.buffer), np.int32)
        arrays = {
            "move_list": np.concatenate([self.buffer, rest]), "wish": self.wish,
            "moved_in": np.zeros(self.n, np.int32), "part": self.part, "block_weight": self.blocks,
            "limits": self.limits, "vertex_weights": self.weights, "state": state,
            "trial_sums": trial.ravel(), "sequence": sequence, "move_gain": self.gain,
        }
        return {
            **{name: space.asarray(array.copy()) for name, array in arrays.items()},
            **sort_arrays(space, self.n),
            "move_keys": space.empty(self.n, np.int64),
            "other_keys": space.empty(self.n, np.int64),
            "other_list": space.empty(self.n, np.int32),
            "trial_weight": space.empty(self.k, np.int64), "fill_rooms": 0,
        }


def assert_rooms_are_filled(space: ExecutionSpace, moves: Moves) -> None:
    bindings = moves.bindings(space, 3)
    bindings["fill_rooms"] = 1
    space.cached_executable("best prefix of a test", recorded).run(bindings, moves.n)
    count = int(space.to_host(bindings["state"])[at.MOVES])
    found = space.to_host(bindings["move_list"])[:count]
    assert sorted(found.tolist()) == sorted(moves.made())
    moved_in = space.to_host(bindings["moved_in"])
    assert {v for v in moves.buffer.tolist() if moved_in[v] >= 0} == set(found.tolist())
    blocks = moves.blocks.copy()
    np.subtract.at(blocks, moves.part[found], moves.weights[found])
    np.add.at(blocks, moves.wish[found], moves.weights[found])
    assert (blocks <= moves.limits).all()


def assert_prefix_is_longest(space: ExecutionSpace, moves: Moves, stripes: int = 3) -> int:
    bindings = moves.bindings(space, stripes)
    space.cached_executable("best prefix of a test", recorded).run(bindings, moves.n)
    kept = int(space.to_host(bindings["state"])[at.MOVES])
    assert kept == moves.longest()
    if kept < len(moves.buffer):
        found = space.to_host(bindings["other_list"])[: len(moves.buffer)]
        assert found.tolist() == moves.in_order()
        dropped = space.to_host(bindings["moved_in"])[found[kept:]]
        assert (dropped < 0).all()
    assert not space.to_host(bindings["trial_sums"]).any()
    return kept


@pytest.mark.parametrize("gains", [1, 7, 2**20, 2**62])
@pytest.mark.parametrize("room", [0, 20, 100])
@pytest.mark.parametrize("k", [2, 9, 700])
def test_many_moves(space: ExecutionSpace, k: int, room: int, gains: int) -> None:
    kept = [assert_prefix_is_longest(space, Moves(5000, k, 3000, seed, room, gains))
            for seed in range(3)]
    assert_rooms_are_filled(space, Moves(5000, k, 3000, 1, room, gains))
    if k == 2 and room > 0:
        assert any(0 < count < 3000 for count in kept)


@given(n=st.integers(2, 40), k=st.integers(2, 5), seed=st.integers(0, 10**6),
       room=st.integers(0, 12), gains=st.integers(1, 9), data=st.data())
@settings(max_examples=80)
def test_few_moves(space: ExecutionSpace, n: int, k: int, seed: int, room: int, gains: int,
                   data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    assert_prefix_is_longest(space, Moves(n, k, count, seed, room, gains))
    assert_rooms_are_filled(space, Moves(n, k, count, seed, room, gains))


@pytest.mark.parametrize("lanes", [3, 8])
@pytest.mark.parametrize("seed", range(3))
def test_the_width_of_a_team_decides_nothing(lanes: int, seed: int) -> None:
    assert_prefix_is_longest(LanesSpace(lanes, seed), Moves(60, 3, 50, seed, 6, 4))
    assert_rooms_are_filled(LanesSpace(lanes, seed), Moves(60, 3, 50, seed, 6, 4))


def test_moves_that_fit_are_not_even_sorted(space: ExecutionSpace) -> None:
    moves = Moves(1000, 4, 600, 1, 0, 50)
    moves.limits[:] = moves.weights.sum()
    bindings = moves.bindings(space, 2)
    space.cached_executable("best prefix of a test", recorded).run(bindings, moves.n)
    assert np.array_equal(space.to_host(bindings["move_list"])[:600], moves.buffer)
    assert space.to_host(bindings["state"])[at.MOVES] == 600
