"""HyperG's sequences of moves: gains, order and prefix are those of plain loops over nets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.objectives.net_cost import MAX_LOW_DEGREE, net_objective
from portpart.algorithms.refinement.nets.best_sequence import sequence_pieces, sequence_refiner
from portpart.algorithms.refinement.options import SequenceOptions
from portpart.algorithms.refinement.piece import Widths
from portpart.algorithms.refinement.prefix.best_prefix import WIDEST, lay_out_move, walk_moves
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.structure import Csr
from tests.algorithms.refinement.test_best_prefix import Moves, put
from tests.algorithms.refinement.test_net_refinement import agreed
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.net_phases import NET_COSTS, assert_outcome_is_true, cost, random_part
from tests.helpers.nets import circuit, hypergraphs, nets_of, weights_of
from tests.helpers.refining import balance_of, copied, opened, recorded, refiner_at
from tests.helpers.spaces import launch, reference

AS_PUBLISHED = SequenceOptions(apply_later_moves=False, tolerance=1, stall_limit=1,
                               rebalance=False,
                               hold_heavy=False, slack=0)


def refined(space: ExecutionSpace, hypergraph: Hypergraph, start: np.ndarray, k: int, name: str,
            imbalance: str = "0.03",
            options: SequenceOptions = AS_PUBLISHED) -> tuple[Refiner, Any]:
    """A refiner that has refined `start`, and what it says of that."""
    here = hypergraph.to(space)
    refiner = sequence_refiner(space, here, balance_of(hypergraph, k, imbalance), options, 7,
                               net_objective(name))
    refiner.start(here, space.asarray(start, np.int32))
    return refiner, dict(refiner.refine(here))


def best_gains(hypergraph: Hypergraph, part: np.ndarray, name: str) -> list[int]:
    """The most that each vertex gains by moving to a block of its nets; 0 where nothing gains."""
    nets, weights = nets_of(hypergraph), weights_of(hypergraph.net_weights, hypergraph.num_nets)
    around: list[list[int]] = [[] for _ in part]
    for net, pins in enumerate(nets):
        for v in pins:
            around[v].append(net)

    def price(v: int) -> int:
        return sum(weights[net] * NET_COSTS[name](len({int(part[u]) for u in nets[net]}))
                   for net in around[v])

    found = []
    for v, own in enumerate(part.tolist()):
        before, gains = price(v), [0]
        for block in {int(part[u]) for net in around[v] for u in nets[net]}:
            part[v] = block
            gains.append(before - price(v))
        part[v] = own
        found.append(max(gains))
    return found


def best_length(order: list[int], gains: dict[int, int], source: Any, target: Any, masses: Any,
                blocks: np.ndarray, limits: np.ndarray) -> int:
    """Of the prefixes after which blocks keep their limits, the longest of those gaining most."""
    blocks, total, found = blocks.copy(), 0, (0, 0)
    for length, v in enumerate(order, 1):
        blocks[source[v]] -= masses[v]
        blocks[target[v]] += masses[v]
        total += gains[v]
        if (blocks <= limits).all():
            found = max(found, (total, length))
    return found[1] if found[0] > 0 else 0


@pytest.mark.parametrize(("k", "imbalance"), [(2, "0.03"), (2, "1"), (70, "0.3")])
def test_a_round_makes_the_best_prefix(space: ExecutionSpace, k: int, imbalance: str) -> None:
    """Of moves in the order of their gains, each as large as it is after those before it."""
    hypergraph, name = circuit(260, 4, large=240, weighted=True), "cut"
    start = random_part(hypergraph, k)
    one_round = SequenceOptions(apply_later_moves=False, rebalance=False, hold_heavy=False,
                                slack=0,
                                round_limit=1)
    refiner, _ = refined(space, hypergraph, start, k, name, imbalance, one_round)
    gain, target = copied(refiner.run.cache.gain), copied(refiner.run.cache.best_target)
    proposals = {v: int(target[v]) for v in range(260) if target[v] >= 0 and gain[v] > 0}
    expected = best_gains(hypergraph, start.copy(), name)
    assert {v: int(gain[v]) for v in proposals} == {v: g for v, g in enumerate(expected) if g > 0}
    order = sorted(proposals, key=lambda v: (-expected[v], v))
    later = agreed(hypergraph, start, proposals, name, order)
    after = copied(refiner.rows(hypergraph.to(space)).afterburner.after)
    assert {v: int(after[v]) for v in order} == later
    masses = np.array(weights_of(hypergraph.vertex_weights, 260))
    blocks = np.bincount(start, masses, k).astype(np.int64)
    limits = np.maximum(balance_of(hypergraph, k, imbalance).limits, blocks)
    length = best_length(order, later, start, proposals, masses, blocks, limits)
    assert 0 < length < len(order)
    moved = start.copy()
    moved[order[:length]] = [proposals[v] for v in order[:length]]
    assert np.array_equal(copied(refiner.run.moves.part)[:260], moved)


def filled_rooms(order: list[int], length: int, gains: dict[int, int], start: np.ndarray,
                 target: dict[int, int], masses: np.ndarray, limits: np.ndarray) -> set[int]:
    """Of the moves behind the prefix those that gain and fit, with all up to them offered."""
    part = start.copy()
    part[order[:length]] = [target[v] for v in order[:length]]
    offered, found = np.bincount(part, masses, len(limits)), set()
    for v in order[length:]:
        offered[target[v]] += masses[v]
        if gains[v] > 0 and offered[target[v]] <= limits[target[v]]:
            found.add(v)
    return found


@pytest.mark.parametrize(("k", "imbalance"), [(3, "0.1"), (8, "0.05")])
def test_rooms_are_filled_with_moves_that_gain(space: ExecutionSpace, k: int,
                                               imbalance: str) -> None:
    """Behind the best prefix, by what they gain once all before them are made: none for nothing."""
    hypergraph, name = circuit(260, 4, large=240, weighted=True), "cut"
    start = random_part(hypergraph, k)
    one_round = SequenceOptions(rebalance=False, hold_heavy=False, slack=0, round_limit=1)
    refiner, _ = refined(space, hypergraph, start, k, name, imbalance, one_round)
    gain, target = copied(refiner.run.cache.gain), copied(refiner.run.cache.best_target)
    proposals = {v: int(target[v]) for v in range(260) if target[v] >= 0 and gain[v] > 0}
    order = sorted(proposals, key=lambda v: (-int(gain[v]), v))
    later = agreed(hypergraph, start, proposals, name, order)
    masses = np.array(weights_of(hypergraph.vertex_weights, 260))
    blocks = np.bincount(start, masses, k).astype(np.int64)
    limits = np.maximum(balance_of(hypergraph, k, imbalance).limits, blocks)
    length = best_length(order, later, start, proposals, masses, blocks, limits)
    more = filled_rooms(order, length, later, start, proposals, masses, limits)
    idle = dict.fromkeys(order, 1)
    assert more
    assert more < filled_rooms(order, length, idle, start, proposals, masses, limits)
    moved = start.copy()
    for v in [*order[:length], *more]:
        moved[v] = proposals[v]
    assert np.array_equal(copied(refiner.run.moves.part)[:260], moved)


def kept_of(space: ExecutionSpace, moves: Moves, gains: np.ndarray) -> int:
    """Length of the prefix that a walk finds."""
    order, run = moves.in_order(), moves.run(space)
    sequence = moves.sequence(space, run, False)
    put(space, run.moves.listed, np.array(order, np.int32))
    put(space, sequence.gain, gains)
    put(space, sequence.block_weight, moves.blocks)
    graph = Csr(None, None, None, None, space.asarray(moves.weights.copy()), None)
    records = {**opened(run, run.level), "graph": graph, "sequence": sequence}
    launch(space, len(order), lay_out_move, records)
    launch(space, 1, walk_moves, {**records, "by_sum": True}, team=WIDEST)
    return int(sequence.replaced(prefix=type(sequence.prefix)(
        copied(sequence.prefix.array))).prefix.kept)


def expected_of(moves: Moves, gains: np.ndarray) -> int:
    order = moves.in_order()
    return best_length(order, {v: int(gains[v]) for v in order}, moves.part, moves.proposal,
                       moves.weights, moves.blocks, moves.limits)


@pytest.mark.parametrize("room", [0, 20, 400])
@pytest.mark.parametrize("k", [2, 9])
def test_the_walk_finds_the_prefix_of_the_most_gain(space: ExecutionSpace, k: int,
                                                    room: int) -> None:
    """Gains of either sign, and many prefixes that gain as much."""
    for seed in range(3):
        moves = Moves(5000, k, 3000, seed, room, 7)
        gains = np.random.default_rng(seed).integers(-2, 3, 5000)
        assert kept_of(space, moves, gains) == expected_of(moves, gains)


@given(n=st.integers(2, 30), k=st.integers(2, 4), seed=st.integers(0, 10**6),
       room=st.integers(0, 12), shift=st.integers(-3, 1), lanes=st.integers(1, 3))
@settings(max_examples=40)
def test_few_moves(n: int, k: int, seed: int, room: int, shift: int, lanes: int) -> None:
    """Often nothing gains."""
    moves = Moves(n, k, n, seed, room, 5)
    gains = np.random.default_rng(seed).integers(-2, 3, n) + shift
    assert kept_of(LanesSpace(lanes), moves, gains) == expected_of(moves, gains)


@pytest.mark.parametrize("k", [2, 9])
def test_every_space_finds_the_same_partition(space: ExecutionSpace, k: int) -> None:
    """As published, from a balanced start; with all that is ours, from any start."""
    hypergraph, name = circuit(2000, 6, large=700, weighted=True), "cut"
    skewed = (np.random.default_rng(1).random(2000) ** 3 * k).astype(np.int32)
    for start, options in ((random_part(hypergraph, k), AS_PUBLISHED),
                           (skewed, SequenceOptions())):
        found = []
        for each in (space, reference()):
            refiner, outcome = refined(each, hypergraph, start, k, name, options=options)
            found.append((outcome, copied(refiner.best).tolist()))
        assert found[0] == found[1]
        assert_outcome_is_true(hypergraph, k, name, outcome, copied(refiner.best))
        assert outcome["overload"] <= 0
        assert outcome["cut"] < 0.9 * cost(hypergraph, start, name)


@given(hypergraph=hypergraphs(12), k=st.integers(2, 4), name=st.sampled_from(sorted(NET_COSTS)),
       data=st.data())
@settings(max_examples=60)
def test_no_block_gets_heavier_than_it_may_or_was(hypergraph: Hypergraph, k: int, name: str,
                                                  data: st.DataObject) -> None:
    """And what is minimised gets no larger: every objective, weights of zero, huge weights."""
    n = hypergraph.num_vertices
    start = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    refiner, _ = refined(reference(), hypergraph, start, k, name, "0.5")
    part = copied(refiner.best)[:n]
    masses = weights_of(hypergraph.vertex_weights, n)
    before, after = ([sum(m for m, b in zip(masses, blocks) if b == block) for block in range(k)]
                     for blocks in (start, part))
    limit = balance_of(hypergraph, k, "0.5").max_block_weight
    assert all(now <= max(limit, then) for now, then in zip(after, before))
    assert cost(hypergraph, part, name) <= cost(hypergraph, start, name)


def test_a_line_of_any_length_is_sorted() -> None:
    """Large nets of which all pins want to move: as many as two, three, ... times the lanes."""
    for count in (65, 100, 128, 200):
        hypergraph = circuit(count, count, large=count)
        start = random_part(hypergraph, 2)
        parts = []
        for space in (reference(), LanesSpace(3)):
            refiner, _ = refiner_at(space, hypergraph, start, 2, "1", net_objective("km1"),
                                    sequence_pieces(AS_PUBLISHED), iteration_limit=1)
            refiner.refine(hypergraph.to(space))
            parts.append(copied(refiner.run.moves.part).tolist())
        assert parts[0] == parts[1]


@pytest.mark.parametrize("team", [8, 32])
def test_the_program_has_room_for_the_arrays_of_all_teams(team: int) -> None:
    """In the memory of a block of a GPU, with vertices of all degrees."""
    hypergraph = circuit(300, 1, large=250)
    refiner, here = refiner_at(reference(), hypergraph, random_part(hypergraph, 4), 4,
                               objective=net_objective("soed"),
                               pieces=sequence_pieces(SequenceOptions()))
    check_program(recorded(refiner, here, Widths(team, team, True, True, int64, MAX_LOW_DEGREE)))
