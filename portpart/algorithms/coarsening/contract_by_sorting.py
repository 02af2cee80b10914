"""Rows of a coarse graph by sorting: the arcs of a cluster by their heads, and runs merged.

The other way to the rows of `contract_by_hashing.py` (GP-metis, section III.A, has both).  All arcs
of the members stand in the row's place in main memory, where the team sorts them by Batcher's merge
exchange (Knuth, volume 3, algorithm 5.2.2M): what is compared depends on the length alone, and the
comparisons of a pass on nothing of each other.  Rows come out ascending.

    vertex 3: 8 7 9    vertex 6: 4 8 7     ->     4 7 7 8 8 9     ->     4 7 - 8 - 9     packed
"""

from __future__ import annotations

from portpart.algorithms.coarsening.contract_by_hashing import WIDE_ROW, pack_row
from portpart.backends.language import (
    device,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sync,
    value_or,
)
from portpart.graphs.graph import Graph
from portpart.primitives.hash_rows import EMPTY

WAYS = ("auto", "hash", "sort")
SORTED_DEGREE = 4


def way_for(graph: Graph) -> str:
    """How rows of pairs are made faster: sorted where they are short and none is wide."""
    short = graph.mean_degree <= SORTED_DEGREE and 2 * graph.max_degree <= WIDE_ROW
    return "sort" if short else "hash"


@device
def gather_arcs(c, member_offsets, members, offsets, targets, weights, vertex_weights, cluster,
                keys, sums, begin):
    """Write the heads and weights of the arcs of cluster c to the row; inner arcs have no head.

    Returns the weight of the cluster.
    """
    place = int64(begin)
    weight = int64(0)
    for m in range(member_offsets[c], member_offsets[c + 1]):
        v = members[m]
        weight += value_or(vertex_weights, v, 1)
        first = int64(offsets[v])
        degree = int64(offsets[v + 1]) - first
        for j in range(lane(), degree, team_size()):
            other = cluster[targets[first + j]]
            keys[place + j] = other if other != c else int32(EMPTY)
            sums[place + j] = value_or(weights, first + j, 1)
        place += degree
    team_sync()
    return weight


@device
def exchange(keys, sums, i, j):
    """Exchange two entries if their keys are out of order."""
    low = keys[i]
    high = keys[j]
    if low > high:
        keys[i] = high
        keys[j] = low
        weight = sums[i]
        sums[i] = sums[j]
        sums[j] = weight
    return low


@device
def sort_row(keys, sums, begin, end):
    """Sort the row begin ... end-1 by its keys."""
    half = int64(1)
    while 2 * half < end - begin:
        half *= 2
    step = half
    while step > 0:
        stride = half
        distance = step
        rest = int64(0)
        while distance > 0:
            for i in range(lane(), end - begin - distance, team_size()):
                if i & step == rest:
                    exchange(keys, sums, begin + i, begin + i + distance)
            team_sync()
            distance = stride - step
            stride //= 2
            rest = step
        step //= 2
    return end


@device
def merge_runs(keys, sums, begin, end):
    """Add equal keys up in the first of them; the others become empty."""
    for base in range(begin, end, team_size()):
        i = base + lane()
        key = int32(EMPTY)
        if i < end:
            key = keys[i]
            if i > begin and keys[i - 1] == key:
                key = int32(EMPTY)
        team_sync()
        if key != EMPTY:
            j = i + 1
            while j < end and keys[j] == key:
                sums[i] += sums[j]
                keys[j] = int32(EMPTY)
                j += 1
        team_sync()
    return end


@kernel
def merge_row(i, wide, most, member_offsets, members, offsets, targets, weights, vertex_weights,
              cluster, row_begin, keys, sums, degrees, arc_sums, coarse_vertex_weights):
    """Gather, sort, merge and pack the row of cluster i, or of cluster wide[i], if `most` allows.

    Nothing depends on the order of the members or of their arcs.
    """
    c = value_or(wide, i, i)
    begin = int64(row_begin[c])
    end = int64(row_begin[c + 1])
    if end - begin <= most:
        weight = gather_arcs(c, member_offsets, members, offsets, targets, weights, vertex_weights,
                             cluster, keys, sums, begin)
        sort_row(keys, sums, begin, end)
        merge_runs(keys, sums, begin, end)
        pack_row(c, keys, sums, begin, end, degrees, arc_sums)
        if lane() == 0:
            coarse_vertex_weights[c] = weight
