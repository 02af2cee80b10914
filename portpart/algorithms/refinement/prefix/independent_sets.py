"""Independent sets of moves that gain (G-kway, section 3.2), and their program."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms import objectives
from portpart.algorithms.refinement import (
    SHARED,
    UNRATED,
    AccountingSteps,
    ByDegree,
    Deciding,
    Figures,
    IndependentOptions,
    Piece,
    Recording,
    RefinementSizes,
    Refiner,
    Run,
    gains,
    shared,
)
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.moves import Moves, add_move_to, copy_for
from portpart.algorithms.refinement.prefix.best_prefix import record_prefix, relaxed_limits
from portpart.algorithms.refinement.prefix.move_sequence import (
    MoveSequence,
    PrefixWords,
    sequence_for,
    sequence_of,
    set_top_gain,
)
from portpart.backends import language as kl
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Csr, Graph, degree_of

# An independent set of vertex moves that gain (G-kway, section 3.2.1 and algorithm 2) ----------
#
# A move is legal if it gains and its target block stays within its limit.  The best target of a
# vertex is cached (`gain_cache.py`); only if that block is full, other blocks are examined.  Of
# adjacent vertices with legal moves the one with the smallest id moves, so that all gains add up.
# Beyond the paper, moves of gain 0 are legal if they even out the weights of the two blocks; they
# come after the others.


NONE = -1


@kl.device
def accepts(b, weight, blocks: Blocks, figures: Figures):
    """Whether block b stays within its limit with this additional weight."""
    return blocks.weight[b] + weight <= blocks.limits[b] + figures.slack


@kl.device
def improves_balance(here, there, weight, blocks: Blocks):
    """Whether a move makes the heavier of its two blocks lighter."""
    return blocks.weight[there] + weight < blocks.weight[here]


@kl.kernel
def begin_sequence(_, sequence: MoveSequence):
    """Reset the largest gain."""
    set_top_gain(0, sequence.prefix)


@kl.kernel
def choose_legal(i, graph: Csr, state: Deciding, sequence: MoveSequence):
    """legal[v] = the best target of v, or -1; if that is full, list v to examine other blocks.

    Only movable vertices may gain.
    """
    v = gains.movable_vertex(i, state.active)
    gains.keep_if_movable(v, state.cache, state.active, state.figures)
    block = state.cache.best_target[v]
    weight = kl.value_or(graph.vertex_weights, v, 1)
    found = kl.int32(NONE)
    if block >= 0 and (state.cache.gain[v] > 0 or sequence.zero_gain != 0):
        if accepts(block, weight, state.blocks, state.figures):
            if state.cache.gain[v] > 0 or improves_balance(state.moves.part[v], block, weight,
                                                           state.blocks):
                found = block
                sequence.gain[v] = state.cache.gain[v]
        elif state.cache.gain[v] > 0 and state.figures.blocks > 2:
            gains.list_unrated(v, graph, state.unrated, state.figures)
    sequence.legal[v] = found


@kl.device
def admits_legal(v, block, graph: Csr, blocks: Blocks, figures: Figures):
    """Whether a block has capacity for v."""
    return accepts(block, kl.value_or(graph.vertex_weights, v, 1), blocks, figures)


@kl.device
def find_legal(v, graph: Csr, state: gains.Searching, connections: objectives.ConnectivityTable,
               tables: objectives.Tables, found: objectives.BestTarget,
               sequence: MoveSequence, search: gains.BlockSearch):
    """sequence.legal[v] = the best block with capacity for v, if there is one.

    Called by all lanes of a team.
    """
    gains.best_candidate(v, graph, state, connections, tables, found, search)
    if kl.lane() == 0 and found.block != NONE:
        gain = found.value - found.here
        block = kl.int32(found.block)
        legal = gain > 0
        if gain == 0 and sequence.zero_gain != 0:
            size = kl.value_or(graph.vertex_weights, v, 1)
            legal = improves_balance(state.moves.part[v], block, size, state.blocks)
        if legal:
            sequence.legal[v] = block
            sequence.gain[v] = gain


def legal(rules: objectives.Rules, valuation: objectives.BlockScore) -> kl.DeviceFunction:
    """Return `find_legal` for an objective and a block score."""
    return find_legal.bound(search=gains.BlockSearch(rules, valuation, admits_legal))


@kl.device
def is_candidate(v, active: gains.ActiveSets, sequence: MoveSequence):
    """Whether v has a legal move; `legal` is valid for movable vertices only."""
    found = active.flags[v] & gains.IS_MOVABLE != 0
    if found:
        found = sequence.legal[v] >= 0
    return found


@kl.device
def goes_first(u, v, sequence: MoveSequence):
    """Whether the move of u precedes that of v: a move that gains first, then the smaller id."""
    first = u < v
    if (sequence.gain[u] > 0) != (sequence.gain[v] > 0):
        first = sequence.gain[u] > 0
    return first


@kl.device
def move_if_first(v, graph: Csr, moves: Moves, active: gains.ActiveSets, figures: Figures,
                  sequence: MoveSequence):
    """List the move of v if the move of no neighbour precedes it.

    Atomic; the order of the list is arbitrary.  Called by all lanes of a team.
    """
    beaten = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if u != v and is_candidate(u, active, sequence):
            beaten |= kl.int64(goes_first(u, v, sequence))
    beaten = kl.team_max(beaten)
    if kl.lane() == 0 and beaten == 0:
        add_move_to(v, sequence.legal[v], moves, figures)
        kl.atomic_max(sequence.prefix, PrefixWords.top_gain, sequence.gain[v])
        weight = kl.value_or(graph.vertex_weights, v, 1)
        copy = copy_for(v, moves, figures)
        kl.atomic_add(sequence.weight_sums, copy + moves.part[v], -weight)
        kl.atomic_add(sequence.weight_sums, copy + sequence.legal[v], weight)


@kl.kernel
def keep_independent(i, graph: Csr, moves: Moves, active: gains.ActiveSets, figures: Figures,
                     sequence: MoveSequence):
    """Keep the move of vertex i if it precedes those of all neighbours, unless i is a hub."""
    v = active.movable_list[figures.vertices - active.movable_begin + i]
    if sequence.legal[v] >= 0 and degree_of(v, graph) <= figures.hub_degree:
        move_if_first(v, graph, moves, active, figures, sequence)


@kl.kernel
def keep_independent_hubs(i, graph: Csr, moves: Moves, active: gains.ActiveSets, figures: Figures,
                          sequence: MoveSequence):
    """Keep the move of hub i if it has one that precedes those of all neighbours."""
    v = active.hub_list[i]
    if is_candidate(v, active, sequence):
        move_if_first(v, graph, moves, active, figures, sequence)


# Independent-set refinement of a hierarchy (G-kway, section 3.2), one program for each level ----
#
# Except for the moves of balanced partitions, all is shared with Jet: the gain cache, the sums of
# weights and cut, the best partition so far, and rebalancing, which the paper does not have.


@dataclass(frozen=True)
class IndependentSets(Piece):
    """Independent sets of legal moves.

    Attributes
    ----------
    zero_gain : bool
        Whether moves of gain 0 are legal if they even out the weights of two blocks.
    apply_later_moves : bool
        Whether moves behind the prefix are made if their target has capacity.
    """

    zero_gain: bool
    apply_later_moves: bool

    def records(self, space: ExecutionSpace, sizes: RefinementSizes,
                run: Run) -> dict[str, kl.Record]:
        """Return the record of the legal moves and their sequence."""
        return {"sequence": sequence_for(space, sizes, run, self.zero_gain, self.apply_later_moves)}

    def move(self, this: Recording) -> None:
        """Record legal moves, an independent set of them, and its balanced prefix."""
        record_legal_moves(this)
        with this.program.side_by_side():
            this.program.launch(this.run.level.next_movable, keep_independent,
                                team=this.widths.team)
            if this.widths.hubs:
                this.program.launch(this.run.level.hubs, keep_independent_hubs,
                                    team=objectives.HUB_TEAM)
        record_prefix(this)


def independent_set_refiner(space: ExecutionSpace, finest: Graph, balance: objectives.Balance,
                            options: IndependentOptions, seed: int,
                            objective: objectives.Objective = objectives.CUT) -> Refiner:
    """Return G-kway's refinement of a hierarchy; see `Refiner`."""
    rule = IndependentSets(options.zero_gain, options.apply_later_moves)
    return Refiner(space, finest, balance, shared(options, options.round_limit), seed,
                   objective=objective, pieces=moving_by(rule, options.rebalance))


def moving_by(rule: IndependentSets, rebalance: bool) -> tuple[Piece, ...]:
    """Return the pieces of refinement by legal moves, of which `rule` selects some."""
    return (*SHARED, *relaxed_limits(rebalance), rule, AccountingSteps())


def record_legal_moves(this: Recording) -> None:
    """Record how the legal moves of all movable vertices are found."""
    program, level = this.program, this.run.level
    with program.side_by_side():
        program.launch(1, begin_sequence)
        program.launch(level.movable, choose_legal)
    gains.launch_by_degree(this, level.unrated, level.unrated_hubs,
                           ByDegree(legal, UNRATED, this.rules), sequence_of(this))
