"""Connectivity of hubs, summed up chunk by chunk and kept until their nets change.

A vertex of thousands of nets would keep one team busy while all others wait, so several teams add
up chunks of it.  A row of sums has, for each block, the weight of nets that leave their block with
the hub, because it is their only pin there, and the weight of nets that stay; then the weight of
all nets that stay, and the weight of nets that span other blocks.  A move to a block increases the
cost by the weight of all nets that stay, except those connected to that block.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import connectivity
from portpart.algorithms.objectives.bitset_connectivity import (
    BOTH_KINDS,
    STAYING,
    add_nets_of_one_word,
)
from portpart.algorithms.objectives.objective import BestTarget, Rules
from portpart.algorithms.objectives.pin_state import HubSums, NetRows, connectivity_of
from portpart.backends import language as kl


@kl.device
def first_sum(v, graph: NetRows):
    """Return where the row of sums of a hub begins."""
    return kl.int64(graph.hub_sums.row[v]) * (2 * graph.sets.blocks + 2)


@kl.device
def take_row_of_sums(v, row, hub_sums: HubSums):
    """Assign a row of sums to a hub."""
    hub_sums.row[v] = kl.int32(row)


@kl.device
def clear_sums_of(v, graph: NetRows):
    """Clear the sums of a hub, which will be summed up again.  Called by all lanes of a team."""
    first = first_sum(v, graph)
    for j in range(kl.lane(), 2 * graph.sets.blocks + 2, kl.team_size()):
        graph.hub_sums.sums[first + j] = 0


@kl.device
def weight_of_split(begin, end, graph: NetRows):
    """Return the weight of a lane's nets at places begin ... end-1 that span several blocks."""
    outside = kl.int64(0)
    for place in range(begin + kl.lane(), end, kl.team_size()):
        net = graph.targets[place]
        if connectivity_of(net, graph.sets) > 1:
            outside += kl.value_or(graph.nets.weights, net, 1)
    return outside


COPY = BOTH_KINDS + 1
"""Number of words of a copy of the sums of a chunk.

It is odd, so that copies of a sum are in different banks.
"""


COPIES = 16
"""Number of copies of the sums of a chunk, if they have 32 bits.

Lanes that add to the same copy wait for each other.  Copies of 64 bits would not fit into scratch
memory.
"""


@dataclass(frozen=True)
class PieceSums(kl.Static):
    """How the nets of a chunk are added up in scratch memory, as numbers of a type."""

    rules: Rules
    counter: kl.Word

    @property
    def copies(self) -> int:
        """Number of copies."""
        return COPIES if self.counter is kl.int32 else 1

    @property
    def words(self) -> int:
        """Number of words of all copies."""
        return self.copies * COPY


@kl.device
def add_to_sums(v, begin, end, here, knows_split, graph: NetRows,
                connections: connectivity.ConnectivityTable, sums: PieceSums):
    """Add the nets of hub v at places begin ... end-1 to its sums.

    Atomic, independent of order.

    The weight of split nets is not needed if the hub is known to have some.  Called by all lanes of
    a team.
    """
    num_blocks = kl.int64(graph.sets.blocks)
    for b in range(kl.lane(), num_blocks, kl.team_size()):
        for copy in range(sums.copies):
            connections.weights[copy * COPY + b] = 0
            connections.weights[copy * COPY + STAYING + b] = 0
    kl.team_sync()
    copy_begin = kl.lane() % sums.copies * COPY
    staying = kl.team_sum(add_nets_of_one_word(begin, end, here, copy_begin, graph, connections,
                                            sums.rules.net_cost, True))
    split = kl.int64(0)
    if not knows_split:
        split = kl.team_sum(weight_of_split(begin, end, graph))
    kl.team_sync()
    first = first_sum(v, graph)
    for b in range(kl.lane(), num_blocks, kl.team_size()):
        leaves = kl.int64(0)
        stays = kl.int64(0)
        for copy in range(sums.copies):
            leaves += connections.weights[copy * COPY + b]
            stays += connections.weights[copy * COPY + STAYING + b]
        if leaves != 0:
            kl.atomic_add(graph.hub_sums.sums, first + b, leaves)
        if stays != 0:
            kl.atomic_add(graph.hub_sums.sums, first + num_blocks + b, stays)
    if kl.lane() == 0:
        kl.atomic_add(graph.hub_sums.sums, first + 2 * num_blocks, staying)
        kl.atomic_add(graph.hub_sums.sums, first + 2 * num_blocks + 1, split)
    kl.team_sync()


@kl.device
def summed_weight(j, count, v, block, first, end, graph: NetRows,
                  connections: connectivity.ConnectivityTable):
    """Return the connectivity of v to block j."""
    place = first_sum(v, graph) + j
    return graph.hub_sums.sums[place] + graph.hub_sums.sums[place + graph.sets.blocks]


SUMMED_CONNECTIVITY = connectivity.Connectivity(
    connectivity.load_nothing, connectivity.count_blocks, connectivity.block_at, summed_weight)
"""The connectivity of a hub by its sums."""


@kl.device
def is_split_by_sums(v, graph: NetRows, part):
    """Whether a net of hub v with positive weight spans several blocks."""
    first = first_sum(v, graph)
    return graph.hub_sums.sums[first + 2 * graph.sets.blocks + 1] > 0


@kl.device
def note_loss_by_sums(v, graph: NetRows, part, found: BestTarget):
    """found.own = the cost of nets that hub v adds to its best block if it moves there."""
    if kl.lane() == 0:
        loss = kl.int64(0)
        if found.block >= 0:
            stays = first_sum(v, graph) + graph.sets.blocks
            loss = (graph.hub_sums.sums[stays + graph.sets.blocks]
                    - graph.hub_sums.sums[stays + found.block])
        found.own = loss
    return v
