"""The longest balanced prefix of moves sorted by gain, against trying one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.options import RefinementSizes
from portpart.algorithms.refinement.piece import LevelWords, Recording, Run, Widths
from portpart.algorithms.refinement.prefix.best_prefix import record_prefix
from portpart.algorithms.refinement.prefix.move_sequence import MoveSequence, sequence_for
from portpart.algorithms.refinement.work_arrays import run_for
from portpart.backends.language import int64
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.graphs.structure import Csr
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.refining import copied


def recorded(records: dict[str, Any]) -> Program:
    program = Program("best prefix")
    slots = {name: program.record(name, record, opened=name == "run")
             for name, record in records.items()}
    widths = Widths(of_many=1, team=1, high_degree=False, hubs=False, counter=int64,
                    max_low_degree=0)
    record_prefix(Recording(program, slots["run"], widths, CUT.rules, ()))
    return program


class Moves:
    """Moves of some of n vertices between k blocks, and the limits of the blocks."""

    stripes = 3

    def __init__(self, n: int, k: int, count: int, seed: int, room: int, gains: int) -> None:
        random = np.random.default_rng(seed)
        self.n, self.k = n, k
        self.part = random.integers(0, k, n).astype(np.int32)
        self.proposal = ((self.part + random.integers(1, k, n)) % k).astype(np.int32)
        self.weights = random.integers(0, 5, n)
        self.gain = random.integers(0, gains, n)
        self.buffer = random.permutation(n)[:count].astype(np.int32)
        self.blocks = np.bincount(self.part, self.weights, k).astype(np.int64)
        self.limits = self.blocks + random.integers(0, room + 1, k)

    def in_order(self) -> list[int]:
        gain = self.gain.tolist()
        return sorted(self.buffer.tolist(), key=lambda v: (-gain[v], v))

    def longest(self) -> int:
        """Length of the longest balanced prefix."""
        blocks, limits, weights = self.blocks.tolist(), self.limits.tolist(), self.weights.tolist()
        part, proposal = self.part.tolist(), self.proposal.tolist()
        too_heavy: set[int] = set()
        longest = 0
        for length, v in enumerate(self.in_order(), 1):
            for block, change in ((part[v], -weights[v]), (proposal[v], weights[v])):
                blocks[block] += change
                if blocks[block] > limits[block]:
                    too_heavy.add(block)
                else:
                    too_heavy.discard(block)
            if not too_heavy:
                longest = length
        return longest

    def made(self) -> list[int]:
        """The longest prefix, and behind it what each block has room for."""
        order, longest = self.in_order(), self.longest()
        blocks, made = self.blocks.copy(), order[:longest]
        for v in made:
            blocks[self.part[v]] -= self.weights[v]
            blocks[self.proposal[v]] += self.weights[v]
        for v in order[longest:]:
            blocks[self.proposal[v]] += self.weights[v]
            if blocks[self.proposal[v]] <= self.limits[self.proposal[v]]:
                made.append(v)
        return made

    def run(self, space: ExecutionSpace) -> Run:
        """The state of a level that these moves are about to be made on."""
        level = LevelWords.zeros()
        level.blocks, level.vertices, level.moves = self.k, self.n, len(self.buffer)
        level.weight_stripes = self.stripes
        limits = Balance(self.k, 0, 0, self.limits, self.limits)
        run = run_for(space, RefinementSizes(self.n, 0, self.k), limits)
        put(space, run.moves.listed, self.buffer)
        put(space, run.moves.target, self.proposal)
        put(space, run.moves.moved_in, np.zeros(self.n))
        put(space, run.moves.part, self.part)
        put(space, run.blocks.weight, self.blocks)
        return run.replaced(level=LevelWords(space.asarray(level.array)))

    def sequence(self, space: ExecutionSpace, run: Run, apply_later_moves: bool) -> MoveSequence:
        """What the moves come to together."""
        sequence = sequence_for(space, RefinementSizes(self.n, 0, self.k), run, False,
                                apply_later_moves)
        sums = np.zeros((self.stripes, self.k), np.int64)
        stripe, weights = self.buffer % self.stripes, self.weights[self.buffer]
        np.subtract.at(sums, (stripe, self.part[self.buffer]), weights)
        np.add.at(sums, (stripe, self.proposal[self.buffer]), weights)
        put(space, sequence.gain, self.gain)
        sequence.prefix.top_gain = self.gain[self.buffer].max(initial=0)
        return sequence.replaced(weight_sums=space.asarray(sums.ravel()))

    def cut_down(self, space: ExecutionSpace, apply_later_moves: bool = False) -> tuple[Run,
                                                                                        MoveSequence]:
        """The list of moves is cut down by a program."""
        run = self.run(space)
        sequence = self.sequence(space, run, apply_later_moves)
        graph = Csr(None, None, None, None, space.asarray(self.weights.copy()), None)
        records = {"graph": graph, "run": run, "sequence": sequence}
        executable = space.cached_executable("best prefix of a test", lambda: recorded(records))
        executable.run(records, self.n)
        return run, sequence


def put(space: ExecutionSpace, array: Array, values: np.ndarray) -> None:
    """Set the first elements of an array of the space."""
    array[: len(values)] = space.asarray(values, array.dtype)


def kept_by(run: Run) -> np.ndarray:
    """The moves that are still listed."""
    return copied(run.moves.listed)[: copied(run.level.array)[LevelWords.moves]]


def assert_rooms_are_filled(space: ExecutionSpace, moves: Moves) -> None:
    run, _ = moves.cut_down(space, apply_later_moves=True)
    found, moved_in = kept_by(run), copied(run.moves.moved_in)
    assert sorted(found.tolist()) == sorted(moves.made())
    assert {v for v in moves.buffer.tolist() if moved_in[v] >= 0} == set(found.tolist())
    blocks = moves.blocks.copy()
    np.subtract.at(blocks, moves.part[found], moves.weights[found])
    np.add.at(blocks, moves.proposal[found], moves.weights[found])
    assert (blocks <= moves.limits).all()


def assert_prefix_is_longest(space: ExecutionSpace, moves: Moves) -> int:
    run, sequence = moves.cut_down(space)
    kept = len(kept_by(run))
    assert kept == moves.longest()
    if kept < len(moves.buffer):
        found = copied(sequence.other_list)[: len(moves.buffer)]
        assert found.tolist() == moves.in_order()
        assert (copied(run.moves.moved_in)[found[kept:]] < 0).all()
    assert not copied(sequence.weight_sums).any()
    return kept


@looped("gains", [1, 7, 2**20, 2**62])
@looped("room", [0, 20, 100])
@looped("k", [2, 9, 700])
def test_many_moves(space: ExecutionSpace, k: int, room: int, gains: int) -> None:
    kept = [assert_prefix_is_longest(space, Moves(5000, k, 3000, seed, room, gains))
            for seed in range(2)]
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
    moves.stripes = 2
    run, _ = moves.cut_down(space)
    assert np.array_equal(kept_by(run), moves.buffer)
