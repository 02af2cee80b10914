"""What nets cost by the number of blocks that they touch: km1, cut and sum of external degrees.

A price says what a net of weight 1 costs that touches so many blocks.  A vertex costs least where
its nets are already: take it out of a net, which then touches λ blocks; in each of these the net
costs price(λ), elsewhere price(λ + 1).  So the ties of a vertex to the blocks of the other pins
weigh price(λ + 1) - price(λ) times the net's weight, and the value of a block is the weight of the
ties to it, as it is for the cut of a graph.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.connectivity import Connectivity, Ties
from portpart.algorithms.objectives.cut import (
    COUNTING_TEAM,
    mean_of_admitted,
    one_distance,
    weight_itself,
)
from portpart.algorithms.objectives.objective import (
    Found,
    Objective,
    Rules,
    Shape,
    Tables,
    Valuation,
)
from portpart.algorithms.objectives.pin_state import (
    BITS,
    WORD_SHIFT,
    NetRows,
    bit_of,
    is_alone,
    is_present,
    place_of_word,
    spread_of,
    spread_without,
)
from portpart.backends.language import (
    DeviceFunction,
    ctz,
    device,
    int32,
    int64,
    lane,
    team_atomic_add,
    team_size,
    team_sum,
    team_sync,
    uint64,
    value_or,
)
from portpart.graphs.rows import Csr

CAPACITY = 64
"""Blocks whose weights are counted at a time, a multiple of the bits of a word."""

MAX_FEW = 256
"""Most nets of a vertex that a few lanes count."""


@device
def km1_price(spread):
    """Blocks beyond the first."""
    return max(int64(0), spread - 1)


@device
def cut_price(spread):
    """1 if there are several."""
    return int64(spread > 1)


@device
def soed_price(spread):
    """Blocks, if there are several."""
    price = int64(0)
    if spread > 1:
        price = spread
    return price


PRICES = {"km1": km1_price, "cut": cut_price, "soed": soed_price}
"""What a net of weight 1 costs, from the number of blocks that it touches."""


@cache
def tie_of(price: DeviceFunction) -> DeviceFunction:
    """Device function for a price."""

    @device
    def tie_of(net, here, graph: NetRows):
        """What a pin in block `here` ties to each block of the net's other pins."""
        others = spread_without(net, here, graph.state)
        step = price(others + 1) - price(others)
        if step != 0:
            step *= value_or(graph.nets.weights, net, 1)
        return step

    return tie_of


@device
def add_tie(net, here, tie, first, end, graph: NetRows, ties: Ties):
    """Add a tie to each of the blocks first ... end-1 that has other pins than one `here`."""
    alone = is_alone(net, here, graph.state)
    for base in range(first, end, BITS):
        blocks = graph.state.sets[place_of_word(net, base, graph.state)]
        if alone and here >> WORD_SHIFT == base >> WORD_SHIFT:
            blocks ^= bit_of(here)
        while blocks != 0:
            team_atomic_add(ties.weights, base - first + ctz(blocks), tie)
            blocks &= blocks - uint64(1)
    return tie


@cache
def count_ties(price: DeviceFunction) -> DeviceFunction:
    """Device function for a price."""
    tie_of_pin = tie_of(price)

    @device
    def count_ties(v, first, graph: NetRows, part, ties: Ties, num_blocks):
        """Add up what ties v to CAPACITY blocks from `first`."""
        end = min(num_blocks, first + CAPACITY)
        for place in range(lane(), end - first, team_size()):
            ties.weights[place] = 0
        team_sync()
        here = int64(part[v])
        for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
            net = graph.targets[place]
            tie = tie_of_pin(net, here, graph)
            if tie != 0:
                add_tie(net, here, tie, first, end, graph, ties)
        team_sync()
        return end

    return count_ties


@device
def number_of_blocks(v, first, end, graph: Csr, ties: Ties):
    """One candidate a block."""
    return end - first


@device
def block_counted(j, v, first, end, graph: Csr, part, ties: Ties):
    """Block number j of these."""
    return int32(first + j)


@device
def weight_counted(j, count, v, block, first, end, graph: Csr, ties: Ties):
    """What ties v to it."""
    return int64(ties.weights[j])


@device
def is_split(v, graph: NetRows, part):
    """Whether a net of v with some weight touches several blocks; all lanes of a team together."""
    outside = int64(0)
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        net = graph.targets[place]
        if spread_of(net, graph.state) > 1:
            outside += value_or(graph.nets.weights, net, 1)
    return team_sum(outside) > 0


@cache
def note_losses(price: DeviceFunction) -> DeviceFunction:
    """Device function for a price."""
    tie_of_pin = tie_of(price)

    @device
    def note_losses(v, graph: NetRows, part, found: Found):
        """found.own = what nets cost more that v brings to its best block, if it moves there.

        These are what a move really loses: a net that is in both blocks and stays there loses
        nothing.  All lanes of a team together.
        """
        block = int64(0)
        if lane() == 0:
            block = found.block
        block = team_sum(block)
        here = int64(part[v])
        loss = int64(0)
        if block >= 0:
            for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
                net = graph.targets[place]
                if not is_present(net, block, graph.state):
                    if not is_alone(net, here, graph.state):
                        loss += tie_of_pin(net, here, graph)
        loss = team_sum(loss)
        if lane() == 0:
            found.own = loss
        return loss

    return note_losses


def max_of_few(shape: Shape) -> int:
    """Most nets of a vertex that has few."""
    return MAX_FEW


@cache
def net_objective(name: str) -> Objective:
    """One of `PRICES` as an objective."""
    price = PRICES[name]
    counted = Valuation(Connectivity(count_ties(price), number_of_blocks, block_counted,
                                     weight_counted, weights=CAPACITY), weight_itself)
    rules = Rules(name, one_distance, True, mean_of_admitted, lambda max_degree: counted, counted,
                  COUNTING_TEAM, crosses=is_split, note=note_losses(price), price=price)
    return Objective(rules, Tables(max_distance=1), max_of_few, wide_degree=32, lone_lanes=False)
