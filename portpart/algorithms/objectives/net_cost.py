"""The cost of nets by the number of blocks that they span: km1, cut and sum of external degrees.

A net cost is a function of the number of blocks that a net of weight 1 spans.  A vertex costs least
where its nets are already: without it a net spans λ blocks; in each of these the net costs
net_cost(λ), elsewhere net_cost(λ + 1).  So the connection of a vertex to the blocks of the other
pins weighs net_cost(λ + 1) - net_cost(λ) times the net's weight, and the value of a block is the
sum of these (`net_connectivity.py`), as it is for the cut of a graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portpart.algorithms.objectives import objective
from portpart.algorithms.objectives.bitset_connectivity import AT_ONCE, AtOnce, net_at, weight_at
from portpart.algorithms.objectives.cut import COUNTING_TEAM, mean_of_admitted, one_distance
from portpart.algorithms.objectives.hub_connectivity import (
    SUMMED_TIES,
    is_split_by_sums,
    note_loss_by_sums,
    weight_of_split,
)
from portpart.algorithms.objectives.net_connectivity import counted_ties, net_connection
from portpart.algorithms.objectives.pin_state import NetRows, bit_of, is_alone, is_present
from portpart.backends import language as kl
from portpart.errors import InputError
from portpart.graphs import MAX_TOTAL_WEIGHT, Hypergraph

MAX_LOW_DEGREE = 256
"""Most nets of a vertex that is no hub, with the fewest lanes."""

MAX_ROUNDS = 4
"""A few lanes count no more nets each: all wait for the vertex that takes them longest."""


@kl.device
def km1_cost(connectivity):
    """Blocks beyond the first."""
    return max(kl.int64(0), connectivity - 1)


@kl.device
def cut_cost(connectivity):
    """1 if there are several."""
    return kl.int64(connectivity > 1)


@kl.device
def soed_cost(connectivity):
    """Blocks, if there are several."""
    net_cost = kl.int64(0)
    if connectivity > 1:
        net_cost = connectivity
    return net_cost


SUMMED = objective.BlockScore(SUMMED_TIES)
"""How the blocks of a hub are valued whose ties are summed up."""

NET_COSTS = {"km1": km1_cost, "cut": cut_cost, "soed": soed_cost}
"""What a net of weight 1 costs, from the number of blocks that it touches."""


def check_net_costs(hypergraph: Hypergraph, num_blocks: int, of_what: str) -> None:
    """Refuse weights of nets for which 64-bit sums may not hold the sum of external degrees.

    Parameters
    ----------
    of_what : str
        What the weights are, for the error.
    """
    most = min(num_blocks, hypergraph.max_net_size)
    if most < 2 or hypergraph.total_net_weight * most < MAX_TOTAL_WEIGHT:
        return
    offsets, weights = hypergraph.net_offsets, hypergraph.net_weights
    blocks = (offsets[1:] - offsets[:-1]).astype(np.int64).clip(None, num_blocks)
    blocks[blocks < 2] = 0
    if weights is not None:
        weights = weights.astype(np.int64, copy=False)
        high, low = (int((half * blocks).sum()) for half in (weights >> 32, weights & 0xFFFFFFFF))
        if (high << 32) + low >= MAX_TOTAL_WEIGHT:
            raise InputError(f"the {of_what}, each times the number of blocks that a net can "
                             f"span (k is {num_blocks}), add up to {(high << 32) + low}; that "
                             "must be below 2**62: divide them by a common factor")


@kl.device
def is_split(v, graph: NetRows, part):
    """Whether a net of v with some weight touches several blocks; all lanes of a team together."""
    return kl.team_sum(weight_of_split(graph.begin[v], graph.end[v], graph)) > 0


@kl.device
def loss_at(place, end, here, there, graph: NetRows, net_cost: kl.StaticValue):
    """What the net there costs more if a pin goes from bit `here` to bit `there` of a word.

    Places behind the end cost nothing.  No branches, so that several are asked at once.
    """
    net = net_at(place, end, graph)
    present = graph.sets.bits[2 * net]
    stays = graph.sets.bits[2 * net + 1] & here == 0
    counts = kl.int64(stays) * kl.int64(present & there == 0)
    connectivity = kl.popcount(present)
    step = net_cost(connectivity + 1) - net_cost(connectivity)
    return counts * step * weight_at(place, end, net, graph)


@kl.device
def losses_of_one_word(v, here, block, graph: NetRows, net_cost: kl.StaticValue):
    """What the nets of a lane cost more if v goes to the block, where a word has all blocks."""
    begin = kl.int64(graph.begin[v]) + kl.lane()
    end = kl.int64(graph.end[v])
    width = kl.team_size()
    bit = bit_of(here)
    there = bit_of(block)
    total = kl.int64(0)
    losses = AtOnce()
    for place in range(begin, end, AT_ONCE * width):
        for j in kl.static_range(AT_ONCE):
            losses[j] = loss_at(place + j * width, end, bit, there, graph, net_cost)
        for j in kl.static_range(AT_ONCE):
            total += losses[j]
    return total


@kl.device
def note_losses(v, graph: NetRows, part, found: objective.BestTarget, net_cost: kl.StaticValue):
    """found.own = what nets cost more that v brings to its best block, if it moves there.

    These are what a move really loses: a net that is in both blocks and stays there loses
    nothing.  All lanes of a team together.
    """
    block = kl.int64(0)
    if kl.lane() == 0:
        block = found.block
    block = kl.team_sum(block)
    here = kl.int64(part[v])
    loss = kl.int64(0)
    if block >= 0:
        if graph.sets.width == 1 and kl.team_size() > 1:
            loss = losses_of_one_word(v, here, block, graph, net_cost)
        else:
            for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
                net = graph.targets[place]
                if not is_present(net, block, graph):
                    if not is_alone(net, here, graph):
                        loss += net_connection(net, here, graph, net_cost)
    loss = kl.team_sum(loss)
    if kl.lane() == 0:
        found.own = loss
    return loss


def low_degree_limit(shape: objective.Shape) -> int:
    """Most nets of a vertex that has few."""
    several = min(MAX_LOW_DEGREE, MAX_ROUNDS * shape.team)
    return MAX_LOW_DEGREE if shape.widest_team == 1 else several


def net_objective(name: str) -> objective.Objective:
    """One of `NET_COSTS` as an objective."""
    return OBJECTIVES[name]


def _objective(name: str, net_cost: kl.DeviceFunction) -> objective.Objective:
    counted = objective.BlockScore(counted_ties(net_cost))
    rules = objective.Rules(name, one_distance, True, mean_of_admitted, lambda max_degree: counted,
                            counted, COUNTING_TEAM, is_boundary=is_split,
                            note=note_losses.bound(net_cost=net_cost), net_cost=net_cost)
    rules = replace(rules, summed=replace(
        rules, high_degree=SUMMED, is_boundary=is_split_by_sums, note=note_loss_by_sums))
    return objective.Objective(rules, objective.Tables(max_distance=1), low_degree_limit,
                               wide_degree=32, lone_lanes=False)


OBJECTIVES = {name: _objective(name, net_cost) for name, net_cost in NET_COSTS.items()}
