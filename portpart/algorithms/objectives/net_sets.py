"""Finding the sets of blocks of nets: all when a level begins, then those of nets that change."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import (
    ALONE_CHANGED,
    BITS,
    MAX_SMALL,
    PRESENT_CHANGED,
    WORD_SHIFT,
    NetRows,
    NetWords,
    PinState,
    bit_of,
    size_of_net,
)
from portpart.backends.language import (
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    popcount,
    team_array,
    team_atomic_add,
    team_max,
    team_size,
    team_sum,
    team_sync,
    uint64,
)


@device
def store_word(net, word, once, alone, state: PinState):
    """Set a word of both sets of a net; returns what changes."""
    place = 2 * (int64(net) * state.words.width + word)
    changed = int64(0)
    if state.sets[place + 1] != alone:
        changed = int64(ALONE_CHANGED)
        state.sets[place + 1] = alone
    if state.sets[place] != once:
        changed = int64(PRESENT_CHANGED)
        state.sets[place] = once
    return changed


@device
def store_small(net, size, blocks, state: PinState):
    """Set the sets of a net from the blocks of its pins, in scratch memory.

    All lanes of a team together; returns what changes.
    """
    changed = int64(0)
    spread = int64(0)
    for word in range(lane(), state.words.width, team_size()):
        once = uint64(0)
        twice = uint64(0)
        for j in range(size):
            if int64(blocks[j]) >> WORD_SHIFT == word:
                bit = bit_of(blocks[j])
                twice |= once & bit
                once |= bit
        changed = max(changed, store_word(net, word, once, once & ~twice, state))
        spread += popcount(once)
    spread = team_sum(spread)
    changed = team_max(changed)
    if lane() == 0:
        state.spread[net] = int32(spread)
    return changed


@device
def store_large(net, state: PinState):
    """Set the sets of a net from its counters; else as `store_small`."""
    first = int64(state.row[net]) * state.words.blocks
    changed = int64(0)
    spread = int64(0)
    for word in range(lane(), state.words.width, team_size()):
        once = uint64(0)
        alone = uint64(0)
        for block in range(word * BITS, min(word * BITS + BITS, state.words.blocks)):
            count = state.counts[first + block]
            if count > 0:
                once |= bit_of(block)
            if count == 1:
                alone |= bit_of(block)
        changed = max(changed, store_word(net, word, once, alone, state))
        spread += popcount(once)
    spread = team_sum(spread)
    changed = team_max(changed)
    if lane() == 0:
        state.spread[net] = int32(spread)
    return changed


@kernel
def begin_net(net, graph: NetRows, part):
    """Find the state of a net, or give it a row of counters, whichever is free."""
    blocks = team_array(int32, MAX_SMALL)
    size = size_of_net(net, graph.nets)
    begin = int64(graph.nets.begin[net])
    if size <= MAX_SMALL:
        for j in range(lane(), size, team_size()):
            blocks[j] = part[graph.nets.pins[begin + j]]
    team_sync()
    if size <= MAX_SMALL:
        store_small(net, size, blocks, graph.state)
    if lane() == 0:
        graph.state.row[net] = int32(-1)
        if size > MAX_SMALL:
            row = atomic_next(graph.state.words, NetWords.large)
            graph.state.row[net] = int32(row)
            graph.state.large[row] = int32(net)


@kernel
def begin_large_net(i, graph: NetRows, part):
    """Count the pins of net i of those with counters, if there is one, in every block."""
    if i < graph.state.words.large:
        net = graph.state.large[i]
        first = int64(i) * graph.state.words.blocks
        for block in range(lane(), graph.state.words.blocks, team_size()):
            graph.state.counts[first + block] = 0
        team_sync()
        for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
            team_atomic_add(graph.state.counts, first + part[graph.nets.pins[place]], 1)
        team_sync()
        store_large(net, graph.state)
