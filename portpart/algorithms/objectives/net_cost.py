"""The cost of nets by the number of blocks that they span: km1, cut and sum of external degrees.

A net cost is a function of the number of blocks that a net of weight 1 spans.  The best block of a
vertex is one that its nets span already: without the vertex a net spans λ blocks; the net costs
net_cost(λ) if the vertex is in one of these, and net_cost(λ + 1) elsewhere.  So the net connects
the vertex to the blocks of its other pins with net_cost(λ + 1) - net_cost(λ) times its weight, and
the value of a block is the sum of these (`net_connectivity.py`), as for the cut of a graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from portpart.algorithms.objectives import objective
from portpart.algorithms.objectives.bitset_connectivity import (
    AT_ONCE,
    AtOnce,
    listed_connectivity,
    net_at,
    note_loss_of_listed,
    weight_at,
)
from portpart.algorithms.objectives.cut import COUNTING_TEAM, mean_of_admitted, one_distance
from portpart.algorithms.objectives.hub_connectivity import (
    SUMMED_CONNECTIVITY,
    is_split_by_sums,
    note_loss_by_sums,
    weight_of_split,
)
from portpart.algorithms.objectives.net_connectivity import counted_connectivity, net_connection
from portpart.algorithms.objectives.pin_state import BITS, NetRows, bit_of, is_alone, is_present
from portpart.backends import language as kl
from portpart.errors import InputError
from portpart.graphs import MAX_TOTAL_WEIGHT, Hypergraph

MAX_LOW_DEGREE, LONE_LANE_DEGREE = 128, 256
"""Maximum number of nets of a vertex for a small team, and for a device with one lane."""

MAX_ROUNDS = 4
"""Maximum number of nets per lane of a small team.

All lanes wait for the vertex that takes longest.
"""


@kl.device
def km1_cost(connectivity):
    """Return the number of blocks beyond the first."""
    return max(kl.int64(0), connectivity - 1)


@kl.device
def cut_cost(connectivity):
    """Return 1 if there are several blocks, else 0."""
    return kl.int64(connectivity > 1)


@kl.device
def soed_cost(connectivity):
    """Return the number of blocks if there are several, else 0."""
    net_cost = kl.int64(0)
    if connectivity > 1:
        net_cost = connectivity
    return net_cost


SUMMED = objective.BlockScore(SUMMED_CONNECTIVITY)
"""The score of blocks for a hub whose connectivity is summed up."""

NET_COSTS = {"km1": km1_cost, "cut": cut_cost, "soed": soed_cost}
"""The cost of a net of weight 1, as a function of the number of blocks that it spans."""


def check_net_costs(hypergraph: Hypergraph, num_blocks: int, of_what: str) -> None:
    """Raise an error if 64-bit sums may not hold the sum of external degrees.

    Parameters
    ----------
    of_what : str
        Name of the weights, for the message.
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
    """Whether a net of v with positive weight spans several blocks.

    Called by all lanes of a team.
    """
    return kl.team_sum(weight_of_split(graph.begin[v], graph.end[v], graph)) > 0


@kl.device
def loss_at(place, end, here, there, graph: NetRows, net_cost: kl.StaticValue):
    """Return the increase of a net's cost if a pin moves from bit `here` to bit `there` of a word.

    Places behind the end cost nothing.  There are no branches, so that several nets are loaded at
    once.
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
    """Return the increase of the cost of a lane's nets if v moves, if a word has all blocks."""
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
    """found.own = the cost of nets that v adds to its best block if it moves there.

    This is the real loss of a move: a net that is in both blocks and stays there loses nothing.
    Called by all lanes of a team.
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
    """Return the maximum number of nets of a vertex with few nets.

    A single lane lists blocks, if a word has all of them.
    """
    if shape.widest_team == 1:
        return LONE_LANE_DEGREE if shape.num_blocks <= BITS else MAX_LOW_DEGREE
    return min(MAX_LOW_DEGREE, MAX_ROUNDS * shape.team)


def net_objective(name: str) -> objective.Objective:
    """Return one of `NET_COSTS` as an objective."""
    return OBJECTIVES[name]


@dataclass(frozen=True)
class LowDegreeOnNets:
    """A function from the maximum degree to the block score for such vertices."""

    net_cost: kl.DeviceFunction

    def __call__(self, max_degree: int) -> objective.BlockScore:
        if max_degree > MAX_LOW_DEGREE:
            return objective.BlockScore(listed_connectivity(self.net_cost),
                                        note=note_loss_of_listed)
        return objective.BlockScore(counted_connectivity(self.net_cost))


def _objective(name: str, net_cost: kl.DeviceFunction) -> objective.Objective:
    counted = objective.BlockScore(counted_connectivity(net_cost))
    rules = objective.Rules(name, one_distance, True, mean_of_admitted, LowDegreeOnNets(net_cost),
                            counted, COUNTING_TEAM, is_boundary=is_split,
                            note=note_losses.bound(net_cost=net_cost), net_cost=net_cost)
    rules = replace(rules, summed=replace(
        rules, high_degree=SUMMED, is_boundary=is_split_by_sums, note=note_loss_by_sums))
    return objective.Objective(rules, objective.Tables(max_distance=1), low_degree_limit,
                               wide_degree=32, lone_lanes=False)


OBJECTIVES = {name: _objective(name, net_cost) for name, net_cost in NET_COSTS.items()}
