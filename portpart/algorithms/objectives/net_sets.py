"""Computes the sets of blocks of nets: of all nets of a level first, then of nets that change."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_counts import clear_counters, count_pins
from portpart.algorithms.objectives.pin_state import (
    ALONE_CHANGED,
    BITS,
    MAX_SMALL,
    PRESENT_CHANGED,
    TOUCHED,
    NetRows,
    PinCounts,
    PinSets,
    bit_of,
    listed_as,
    place_of_word,
    size_of_net,
)
from portpart.backends import language as kl

NONE = -1


@kl.device
def store_word(net, word, once, alone, sets: PinSets):
    """Set a word of both sets of a net, and return what changes."""
    place = place_of_word(net, word * BITS, sets)
    once_before = sets.bits[place]
    alone_before = sets.bits[place + 1]
    changed = kl.int64(0)
    if alone_before != alone:
        changed = kl.int64(ALONE_CHANGED)
        sets.bits[place + 1] = alone
    if once_before != once:
        changed = kl.int64(PRESENT_CHANGED)
        sets.bits[place] = once
    return changed


@kl.device
def store_small(net, size, blocks, graph: NetRows):
    """Set the blocks that a net spans from the blocks of its pins, in scratch memory.

    Return what changes.  Called by all lanes of a team.
    """
    changed = kl.int64(0)
    if graph.sets.width == 1:
        changed = store_one_word(net, size, blocks, graph.sets)
    else:
        changed = store_list(net, size, blocks, graph)
    return changed


@kl.device
def store_one_word(net, size, blocks, sets: PinSets):
    """Set the blocks that a net spans if a word has all blocks, and return what changes."""
    changed = kl.int64(0)
    if kl.lane() == 0:
        once = kl.uint64(0)
        twice = kl.uint64(0)
        for j in range(size):
            bit = bit_of(blocks[j])
            twice |= once & bit
            once |= bit
        changed = store_word(net, 0, once, once & ~twice, sets)
        sets.connectivity[net] = kl.int32(kl.popcount(once))
    return kl.team_max(changed)


@kl.device
def entry_for(j, size, blocks):
    """Return the list entry for the block of pin j, if that is the first pin there; else -1."""
    count = kl.int64(0)
    entry = kl.int64(blocks[j]) << 1
    for other in range(size):
        if blocks[other] == blocks[j]:
            count += 1
            if other < j:
                entry = kl.int64(NONE)
    if entry >= 0 and count == 1:
        entry += 1
    return entry


@kl.device
def change_by(entry, net, graph: NetRows):
    """Return what changes for a net whose list gets this entry."""
    before = listed_as(net, entry >> 1, graph)
    changed = kl.int64(0)
    if before == 0:
        changed = kl.int64(PRESENT_CHANGED)
    elif before != TOUCHED + (entry & 1):
        changed = kl.int64(ALONE_CHANGED)
    return changed


@kl.device
def store_list(net, size, blocks, graph: NetRows):
    """Set the blocks that a net spans if the net lists them, and return what changes."""
    changed = kl.int64(0)
    connectivity = kl.int64(0)
    for j in range(kl.lane(), size, kl.team_size()):
        entry = entry_for(j, size, blocks)
        if entry >= 0:
            connectivity += 1
            changed = max(changed, change_by(entry, net, graph))
    connectivity = kl.team_sum(connectivity)
    if connectivity != graph.sets.connectivity[net]:
        changed = kl.int64(PRESENT_CHANGED)
    changed = kl.team_max(changed)
    kl.team_sync()
    if changed != 0:
        write_list(net, size, blocks, graph)
        if kl.lane() == 0:
            graph.sets.connectivity[net] = kl.int32(connectivity)
    return changed


@kl.device
def write_list(net, size, blocks, graph: NetRows):
    """Write the list of a net.  Called by all lanes of a team."""
    place = kl.int64(graph.nets.begin[net])
    for base in range(0, size, kl.team_size()):
        entry = kl.int64(NONE)
        if base + kl.lane() < size:
            entry = entry_for(base + kl.lane(), size, blocks)
        until = kl.team_scan(kl.int64(entry >= 0))
        if entry >= 0:
            graph.sets.touched[place + until - 1] = kl.int32(entry)
        place += kl.team_last(until)


@kl.device
def store_large(net, sets: PinSets, pin_counts: PinCounts):
    """Set the sets of a net from its counters, and return what changes.

    Called by all lanes of a team.
    """
    first = kl.int64(sets.row[net]) * sets.blocks
    changed = kl.int64(0)
    if sets.width == 1:
        changed = store_counted_word(net, first, sets, pin_counts)
    else:
        changed = store_counted_words(net, first, sets, pin_counts)
    return changed


@kl.device
def store_counted_word(net, first, sets: PinSets, pin_counts: PinCounts):
    """Set both sets of a net from its counters if a word has all blocks; return what changes.

    A lane examines single blocks.
    """
    once = kl.uint64(0)
    alone = kl.uint64(0)
    for block in range(kl.lane(), sets.blocks, kl.team_size()):
        count = pin_counts.counts[first + block]
        if count > 0:
            once |= bit_of(block)
        if count == 1:
            alone |= bit_of(block)
    once = kl.uint64(kl.team_sum(kl.int64(once)))
    alone = kl.uint64(kl.team_sum(kl.int64(alone)))
    changed = kl.int64(0)
    if kl.lane() == 0:
        changed = store_word(net, 0, once, alone, sets)
        sets.connectivity[net] = kl.int32(kl.popcount(once))
    return kl.team_max(changed)


@kl.device
def store_counted_words(net, first, sets: PinSets, pin_counts: PinCounts):
    """Set both sets of a net from its counters if they have several words; return what changes.

    A lane examines all blocks of a word.
    """
    changed = kl.int64(0)
    connectivity = kl.int64(0)
    for word in range(kl.lane(), sets.width, kl.team_size()):
        once = kl.uint64(0)
        alone = kl.uint64(0)
        for block in range(word * BITS, min(word * BITS + BITS, sets.blocks)):
            count = pin_counts.counts[first + block]
            if count > 0:
                once |= bit_of(block)
            if count == 1:
                alone |= bit_of(block)
        changed = max(changed, store_word(net, word, once, alone, sets))
        connectivity += kl.popcount(once)
    connectivity = kl.team_sum(connectivity)
    changed = kl.team_max(changed)
    if kl.lane() == 0:
        sets.connectivity[net] = kl.int32(connectivity)
    return changed


@kl.device
def take_row(net, sets: PinSets):
    """Assign a free row of counters to a net, and return it.  The order is arbitrary."""
    row = kl.atomic_next(sets, PinSets.large)
    sets.net_of_row[row] = kl.int32(net)
    sets.row[net] = kl.int32(row)
    return row


@kl.kernel
def begin_net(net, graph: NetRows, part):
    """Compute the state of a net that has words, or assign a free row of counters to it.

    One lane is enough: most nets have few pins, and few have many.
    """
    size = size_of_net(net, graph.nets)
    graph.sets.connectivity[net] = kl.int32(0)
    graph.sets.row[net] = kl.int32(NONE)
    if size > MAX_SMALL:
        take_row(net, graph.sets)
    elif graph.sets.width == 1:
        once = kl.uint64(0)
        twice = kl.uint64(0)
        for place in range(graph.nets.begin[net], graph.nets.end[net]):
            bit = bit_of(part[graph.nets.pins[place]])
            twice |= once & bit
            once |= bit
        # not by store_word, which would read words that are not written yet
        first = place_of_word(net, 0, graph.sets)
        graph.sets.bits[first] = once
        graph.sets.bits[first + 1] = once & ~twice
        graph.sets.connectivity[net] = kl.int32(kl.popcount(once))


@kl.kernel
def begin_listing_net(net, graph: NetRows, part, store: kl.StaticValue):
    """Compute the blocks that a net without words spans, and store them by `store`."""
    blocks = kl.team_array(kl.int32, MAX_SMALL)
    size = size_of_net(net, graph.nets)
    begin = kl.int64(graph.nets.begin[net])
    if size <= MAX_SMALL:
        for j in range(kl.lane(), size, kl.team_size()):
            blocks[j] = part[graph.nets.pins[begin + j]]
        kl.team_sync()
        store(net, size, blocks, graph)


@kl.kernel
def forget_large_nets(_, graph: NetRows):
    """Free all rows of counters."""
    graph.sets.large = 0


@kl.device
def clear_row(row, sets: PinSets, pin_counts: PinCounts):
    """Clear the counters of a row and the sets of its net, and return where the counters begin.

    Called by all lanes of a team.
    """
    for word in range(kl.lane(), sets.width, kl.team_size()):
        place = place_of_word(sets.net_of_row[row], word * BITS, sets)
        sets.bits[place] = kl.uint64(0)
        sets.bits[place + 1] = kl.uint64(0)
    return clear_counters(row, sets, pin_counts)


@kl.kernel
def begin_large_net(i, graph: NetRows, pin_counts: PinCounts, part):
    """Count the pins in every block of the i-th net with counters, if there is one."""
    if i < graph.sets.large:
        net = graph.sets.net_of_row[i]
        first = clear_row(i, graph.sets, pin_counts)
        count_pins(net, first, graph, pin_counts, part)
        store_large(net, graph.sets, pin_counts)


@kl.kernel
def begin_counting(i, graph: NetRows, pin_counts: PinCounts):
    """Clear the counters of the i-th net with counters, if there is one."""
    if i < graph.sets.large:
        clear_row(i, graph.sets, pin_counts)


@kl.kernel
def store_counted_net(i, graph: NetRows, pin_counts: PinCounts):
    """Set the blocks that the i-th net with counters spans, if there is one."""
    if i < graph.sets.large:
        store_large(graph.sets.net_of_row[i], graph.sets, pin_counts)


# Sets of edited nets: such a net may need counters now, or need none any longer ----------------
#
# A net that needs no counters keeps its row, for the case that it needs one again.


@kl.device
def reserved_row(row):
    """Return the code of a row that is reserved for a net without counters, or a code's row."""
    return kl.int32(-2 - row)


@kl.device
def row_for(net, row, sets: PinSets):
    """Return the row of a net that needs counters: the one reserved for it, or a free one.

    The order is arbitrary.
    """
    taken = kl.int64(0)
    if row == NONE:
        taken = kl.int64(take_row(net, sets))
    else:
        taken = kl.int64(reserved_row(row))
        sets.row[net] = kl.int32(taken)
    return taken


@kl.device
def find_small(net, size, blocks, graph: NetRows, part):
    """Rebuild the sets of a net without counters, and return what changes.

    Its list is written in any case, since its pins may have moved.  Called by all lanes of a team.
    """
    begin = kl.int64(graph.nets.begin[net])
    row = kl.int64(graph.sets.row[net])
    kl.team_sync()
    if kl.lane() == 0:
        if row >= 0:
            graph.sets.row[net] = reserved_row(row)
        if graph.sets.width != 1:
            graph.sets.connectivity[net] = kl.int32(0)
    for j in range(kl.lane(), size, kl.team_size()):
        blocks[j] = part[graph.nets.pins[begin + j]]
    kl.team_sync()
    return store_small(net, size, blocks, graph)


@kl.device
def find_large(net, graph: NetRows, pin_counts: PinCounts, part):
    """Rebuild the sets of a net with counters, after counting its pins if they are not counted.

    Return what changes.  Called by all lanes of a team.
    """
    row = kl.int64(graph.sets.row[net])
    changed = kl.int64(0)
    kl.team_sync()
    if row < 0:
        taken = kl.int64(0)
        if kl.lane() == 0:
            taken = row_for(net, row, graph.sets)
        first = clear_counters(kl.team_sum(taken), graph.sets, pin_counts)
        count_pins(net, first, graph, pin_counts, part)
    changed = store_large(net, graph.sets, pin_counts)
    if row < 0 and graph.sets.width != 1:
        changed = kl.int64(PRESENT_CHANGED)
    return changed
