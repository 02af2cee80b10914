"""Finding the sets of blocks of nets: all when a level begins, then those of nets that change."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import (
    ALONE_CHANGED,
    BITS,
    MAX_SMALL,
    PRESENT_CHANGED,
    TOUCHED,
    NetRows,
    NetWords,
    PinState,
    bit_of,
    listed_as,
    place_of_word,
    size_of_net,
)
from portpart.backends.language import (
    atomic_add,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    popcount,
    team_array,
    team_atomic_add,
    team_last,
    team_max,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    uint64,
)

NONE = -1

PIECE = 2**16
"""Pins of a net that one team counts where nets are counted in pieces."""


@device
def store_word(net, word, once, alone, state: PinState):
    """Set a word of both sets of a net; returns what changes."""
    place = place_of_word(net, word * BITS, state)
    once_before = state.sets[place]
    alone_before = state.sets[place + 1]
    changed = int64(0)
    if alone_before != alone:
        changed = int64(ALONE_CHANGED)
        state.sets[place + 1] = alone
    if once_before != once:
        changed = int64(PRESENT_CHANGED)
        state.sets[place] = once
    return changed


@device
def store_small(net, size, blocks, graph: NetRows):
    """Set what a net touches from the blocks of its pins, in scratch memory.

    All lanes of a team together; returns what changes.
    """
    changed = int64(0)
    if graph.state.words.width == 1:
        changed = store_one_word(net, size, blocks, graph.state)
    else:
        changed = store_list(net, size, blocks, graph)
    return changed


@device
def store_one_word(net, size, blocks, state: PinState):
    """The same, where a word has all blocks."""
    changed = int64(0)
    if lane() == 0:
        once = uint64(0)
        twice = uint64(0)
        for j in range(size):
            bit = bit_of(blocks[j])
            twice |= once & bit
            once |= bit
        changed = store_word(net, 0, once, once & ~twice, state)
        state.spread[net] = int32(popcount(once))
    return team_max(changed)


@device
def entry_for(j, size, blocks):
    """What a net lists of the block of its pin j, if that is the first one there; else -1."""
    count = int64(0)
    entry = int64(blocks[j]) << 1
    for other in range(size):
        if blocks[other] == blocks[j]:
            count += 1
            if other < j:
                entry = int64(NONE)
    if entry >= 0 and count == 1:
        entry += 1
    return entry


@device
def change_by(entry, net, graph: NetRows):
    """What changes for a net whose list gets this entry."""
    before = listed_as(net, entry >> 1, graph)
    changed = int64(0)
    if before == 0:
        changed = int64(PRESENT_CHANGED)
    elif before != TOUCHED + (entry & 1):
        changed = int64(ALONE_CHANGED)
    return changed


@device
def store_list(net, size, blocks, graph: NetRows):
    """The same, where the net lists the blocks that it touches."""
    changed = int64(0)
    spread = int64(0)
    for j in range(lane(), size, team_size()):
        entry = entry_for(j, size, blocks)
        if entry >= 0:
            spread += 1
            changed = max(changed, change_by(entry, net, graph))
    spread = team_sum(spread)
    if spread != graph.state.spread[net]:
        changed = int64(PRESENT_CHANGED)
    changed = team_max(changed)
    team_sync()
    if changed != 0:
        write_list(net, size, blocks, graph)
        if lane() == 0:
            graph.state.spread[net] = int32(spread)
    return changed


@device
def write_list(net, size, blocks, graph: NetRows):
    """Write what a net lists; all lanes of a team together."""
    place = int64(graph.nets.begin[net])
    for base in range(0, size, team_size()):
        entry = int64(NONE)
        if base + lane() < size:
            entry = entry_for(base + lane(), size, blocks)
        until = team_scan(int64(entry >= 0))
        if entry >= 0:
            graph.state.touched[place + until - 1] = int32(entry)
        place += team_last(until)
    return place


@device
def store_large(net, state: PinState):
    """Set the sets of a net from its counters; else as `store_small`."""
    first = int64(state.row[net]) * state.words.blocks
    changed = int64(0)
    if state.words.width == 1:
        changed = store_counted_word(net, first, state)
    else:
        changed = store_counted_words(net, first, state)
    return changed


@device
def store_counted_word(net, first, state: PinState):
    """The same, where a word has all blocks: a lane looks at one of them."""
    once = uint64(0)
    alone = uint64(0)
    for block in range(lane(), state.words.blocks, team_size()):
        count = state.counts[first + block]
        if count > 0:
            once |= bit_of(block)
        if count == 1:
            alone |= bit_of(block)
    once = uint64(team_sum(int64(once)))
    alone = uint64(team_sum(int64(alone)))
    changed = int64(0)
    if lane() == 0:
        changed = store_word(net, 0, once, alone, state)
        state.spread[net] = int32(popcount(once))
    return team_max(changed)


@device
def store_counted_words(net, first, state: PinState):
    """The same, where it takes several: a lane looks at all blocks of one."""
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
    """Find the state of a net that has words for it, or give it a row of counters that is free.

    One lane is enough: most nets have few pins, and few have many.
    """
    size = size_of_net(net, graph.nets)
    graph.state.spread[net] = int32(0)
    graph.state.row[net] = int32(NONE)
    if size > MAX_SMALL:
        row = atomic_next(graph.state.words, NetWords.large)
        graph.state.row[net] = int32(row)
        graph.state.large[row] = int32(net)
    elif graph.state.words.width == 1:
        once = uint64(0)
        twice = uint64(0)
        for place in range(graph.nets.begin[net], graph.nets.end[net]):
            bit = bit_of(part[graph.nets.pins[place]])
            twice |= once & bit
            once |= bit
        # not by store_word, which would look at what nobody has written yet
        first = place_of_word(net, 0, graph.state)
        graph.state.sets[first] = once
        graph.state.sets[first + 1] = once & ~twice
        graph.state.spread[net] = int32(popcount(once))


@kernel
def begin_listing_net(net, graph: NetRows, part):
    """Find what a net touches that has no words for it, and lists it."""
    blocks = team_array(int32, MAX_SMALL)
    size = size_of_net(net, graph.nets)
    begin = int64(graph.nets.begin[net])
    if size <= MAX_SMALL:
        for j in range(lane(), size, team_size()):
            blocks[j] = part[graph.nets.pins[begin + j]]
        team_sync()
        store_list(net, size, blocks, graph)


@kernel
def forget_large_nets(_, graph: NetRows):
    """Take back all rows of counters."""
    graph.state.words.large = 0


@device
def clear_counters(row, state: PinState):
    """Counters of a row are zero; returns where they begin.  All lanes of a team together."""
    first = int64(row) * state.words.blocks
    for block in range(lane(), state.words.blocks, team_size()):
        state.counts[first + block] = 0
    team_sync()
    return first


@device
def clear_row(row, state: PinState):
    """The same, and its net, of which nothing is known, touches nothing."""
    for word in range(lane(), state.words.width, team_size()):
        place = place_of_word(state.large[row], word * BITS, state)
        state.sets[place] = uint64(0)
        state.sets[place + 1] = uint64(0)
    return clear_counters(row, state)


@kernel
def begin_large_net(i, graph: NetRows, part):
    """Count the pins of net i of those with counters, if there is one, in every block."""
    if i < graph.state.words.large:
        net = graph.state.large[i]
        first = clear_row(i, graph.state)
        for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
            team_atomic_add(graph.state.counts, first + part[graph.nets.pins[place]], 1)
        team_sync()
        store_large(net, graph.state)


@kernel
def begin_counting(i, graph: NetRows):
    """The counters of net i of those that have some are zero, if there is one."""
    if i < graph.state.words.large:
        clear_row(i, graph.state)


@kernel
def count_piece(i, graph: NetRows, part, pieces):
    """Count PIECE pins of a net with counters, of so many pieces for each; counters were zero.

    For nets that would take one team long.  Few blocks are counted in scratch memory first.
    """
    counts = team_array(int32, BITS)
    row = i // pieces
    if row < graph.state.words.large:
        net = graph.state.large[row]
        k = graph.state.words.blocks
        begin = int64(graph.nets.begin[net]) + i % pieces * PIECE
        end = min(begin + PIECE, int64(graph.nets.end[net]))
        if k <= BITS:
            for block in range(lane(), k, team_size()):
                counts[block] = 0
            team_sync()
            for place in range(begin + lane(), end, team_size()):
                team_atomic_add(counts, part[graph.nets.pins[place]], 1)
            team_sync()
            for block in range(lane(), k, team_size()):
                if counts[block] != 0:
                    atomic_add(graph.state.counts, row * k + block, counts[block])
        else:
            for place in range(begin + lane(), end, team_size()):
                atomic_add(graph.state.counts, row * k + part[graph.nets.pins[place]], 1)


@kernel
def store_counted_net(i, graph: NetRows):
    """Set what net i of those with counters touches, if there is one."""
    if i < graph.state.words.large:
        store_large(graph.state.large[i], graph.state)
