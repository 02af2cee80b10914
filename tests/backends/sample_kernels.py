"""Kernels that use every word of the language, for the tests of both CUDA compilers."""

from __future__ import annotations

from portpart.backends.language import (
    atomic_add,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_next,
    clz,
    ctz,
    device,
    float32,
    int32,
    int64,
    kernel,
    lane,
    popcount,
    subgroup_last,
    subgroup_min,
    subgroup_scan,
    subgroup_size,
    team_array,
    team_atomic_add,
    team_atomic_cas,
    team_last,
    team_max,
    team_min,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    uint32,
    uint64,
    value_or,
)

EMPTY = -1
BINS = 9


@device
def claim_slot(keys, begin, end, key):
    """Position of `key` in the open-addressed row keys[begin:end], claimed if new."""
    slot = begin + int64(key) * 7 % (end - begin)
    while True:
        found = atomic_load(keys, slot)
        if found == EMPTY:
            found = atomic_cas(keys, slot, EMPTY, key)
        if found == EMPTY or found == key:
            return slot
        slot += 1
        if slot == end:
            slot = begin


@kernel
def insert_arcs(u, offsets, targets, weights, cluster, row_begin, keys, sums):
    """Add the arcs of vertex u to the hash row of its cluster."""
    own = cluster[u]
    begin = row_begin[own]
    end = row_begin[own + 1]
    for arc in range(offsets[u] + lane(), offsets[u + 1], team_size()):
        other = cluster[targets[arc]]
        if other != own:
            slot = claim_slot(keys, begin, end, other)
            atomic_add(sums, slot, value_or(weights, arc, 1))


@kernel
def summarise_rows(i, offsets, values, sums, lows, tops, lasts, scans, any_negative):
    """Reductions and scans of row i, by the whole team, values in one pass of strides."""
    begin = offsets[i]
    end = offsets[i + 1]
    total = values[0] - values[0]
    low = int64(1) << 62
    top = -low
    negative = False
    for e in range(begin + lane(), end, team_size()):
        total += values[e]
        low = min(low, int64(values[e]))
        top = max(top, int64(values[e]))
        negative = negative or values[e] < 0
    total = team_sum(total)
    low = team_min(low)
    top = team_max(top)
    negative = team_max(negative)
    if lane() == 0:
        sums[i] = total
        lows[i] = low
        tops[i] = top
        any_negative[i] = negative
    carried = int64(0)
    start = int64(begin)
    while start < end:
        e = start + lane()
        value = int64(0)
        if e < end:
            value = int64(values[e])
        running = team_scan(value)
        if e < end:
            scans[e] = carried + running
        carried += team_last(running)
        start += team_size()
    if lane() == 0:
        lasts[i] = carried


@kernel
def summarise_by_subgroups(i, offsets, values, lows, scans):
    """Minima and scans of 50 rows of different length, a subgroup for each."""
    own = lane() % subgroup_size()
    subgroups = team_size() // subgroup_size()
    for row in range(50 * i + lane() // subgroup_size(), 50 * i + 50, subgroups):
        low = int64(1) << 62
        for e in range(offsets[row] + own, offsets[row + 1], subgroup_size()):
            low = min(low, int64(values[e]))
        low = subgroup_min(low)
        if own == 0:
            lows[row] = low
        carried = int64(0)
        start = int64(offsets[row])
        while start < offsets[row + 1]:
            e = start + own
            value = int64(0)
            if e < offsets[row + 1]:
                value = int64(values[e])
            running = subgroup_scan(value)
            if e < offsets[row + 1]:
                scans[e] = carried + running
            carried += subgroup_last(running)
            start += subgroup_size()


@kernel
def compete(i, signed, wide, unsigned, wide_unsigned):
    """Atomics of every type on a few shared elements."""
    place = i % 4
    atomic_add(signed, place, i)
    atomic_min(signed, 4 + place, -i)
    atomic_max(signed, 8 + place, i)
    atomic_add(wide, place, -i)
    atomic_min(wide, 4 + place, -i * 4294967296)
    atomic_max(wide, 8 + place, i * 4294967296 - 5)
    atomic_add(unsigned, place, i)
    atomic_max(unsigned, 4 + place, uint32(i) + uint32(4294900000))
    atomic_add(wide_unsigned, place, i)
    atomic_min(wide_unsigned, 4 + place, uint64(18446744073709551615) - uint64(i))
    old = atomic_load(wide, 12)
    while atomic_cas(wide, 12, old, old + 3) != old:
        old = atomic_load(wide, 12)


@kernel
def list_multiples(i, counts, threes, fives):
    """Lists of the multiples of 3 and of 5, in any order; lanes of a warp mix the two."""
    if i % 3 == 0:
        threes[int64(atomic_next(counts, 0))] = int32(i)
    if i % 5 == 0:
        fives[int64(atomic_next(counts, 1 + i % 2))] = int32(i)


@kernel
def mark_bits(i, words, counts, zeros):
    """Each lane marks bits of a word of the team; then one lane counts."""
    for bit in range(lane(), 2 * (i % 20), team_size()):
        old = team_atomic_cas(words, 2 * i, 0, 0)
        while team_atomic_cas(words, 2 * i, old, old | (int64(1) << bit)) != old:
            old = atomic_load(words, 2 * i)
        team_atomic_add(words, 2 * i + 1, 1)
    team_sync()
    if lane() == 0:
        counts[i] = popcount(words[2 * i])
        zeros[i] = ctz(words[2 * i] << (i % 50)) + 100 * clz(words[2 * i] << (i % 50))


@device
def count_into(counters, key, amount):
    """A device function that is given a team's array."""
    return team_atomic_add(counters, key % BINS, amount)


@kernel
def tally_rows(i, offsets, values, sums, ends, words):
    """Sums by class, extremes and bits of row i, collected in arrays of the team."""
    counts = team_array(int64, BINS)
    low_and_top = team_array(int32, 2)
    total = team_array(uint32, 1)
    seen = team_array(uint64, 2)
    half = team_array(float32, 1)
    for key in range(lane(), BINS, team_size()):
        counts[key] = 0
    if lane() == 0:
        low_and_top[0] = 2147483647
        low_and_top[1] = -2147483647
        total[0] = 0
        seen[0] = uint64(0)
        half[0] = 0.5
    team_sync()
    for e in range(offsets[i] + lane(), offsets[i + 1], team_size()):
        value = values[e]
        count_into(counts, value, e)
        atomic_min(low_and_top, 0, value)
        atomic_max(low_and_top, 1, value)
        atomic_add(total, 0, value)
        old = atomic_load(seen, 0)
        while atomic_cas(seen, 0, old, old | (uint64(1) << (value & 63))) != old:
            old = atomic_load(seen, 0)
    team_sync()
    for key in range(lane(), BINS, team_size()):
        sums[i * BINS + key] += counts[key]
    if lane() == 0:
        ends[2 * i] = low_and_top[0]
        ends[2 * i + 1] = low_and_top[1]
        words[2 * i] = seen[0]
        words[2 * i + 1] = uint64(value_or(total, 0, 1) + int64(2 * half[0]))


@kernel
def wander(i, small, large, ratios, out):
    """Loops, breaks, shadowed C++ keywords and odd steps."""
    new = 0
    for this in range(10, -10, -3):
        if this == small[i % 3]:
            continue
        new += this // 3 * (this % 4)
        for this_end in range(0, this, 2):
            new = new ^ this_end
            if new > 1000:
                break
    step = 1 + i % 3
    for k in range(i % 5, 20, step):
        new += k if k % 2 == 0 else -k
    short = small[i % 3]
    count = 0
    while True:
        count += 1
        if count * count > int64(short) + 50:
            break
    if i % 2 == 0:
        branch = new + 1
    elif i % 3 == 0:
        branch = new - 1
    else:
        branch = count
    large[i] += branch
    large[2 * i + 1 - (i + 1)] ^= 5
    ratios[i] = float32(branch) / float32(count) + ratios[i] // 3.0
    out[i] = int32(branch) + new


SAMPLES = [
    (insert_arcs, ("*int32", "*int32", "absent", "*int32", "*int64", "*int32", "*int64")),
    (insert_arcs, ("*int64", "*int32", "*int32", "*int32", "*int64", "*int32", "*int64")),
    (summarise_rows, ("*int32", "*int64", "*int64", "*int64", "*int64", "*int64", "*int64",
                      "*bool")),
    (summarise_by_subgroups, ("*int32", "*int64", "*int64", "*int64")),
    (compete, ("*int32", "*int64", "*uint32", "*uint64")),
    (list_multiples, ("*uint64", "*int32", "*int32")),
    (mark_bits, ("*int64", "*int64", "*int64")),
    (tally_rows, ("*int32", "*int32", "*int64", "*int32", "*uint64")),
    (wander, ("*int8", "*int64", "*float64", "*int64")),
]
