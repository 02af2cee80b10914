"""Rows of a coarse graph by sorting the arcs of a cluster by their heads and merging equal ones.

This replaces the hash rows of `contract_by_hashing.py` (GP-metis, section III.A, has both).  All
arcs of the members are written to the row in main memory.  There the team sorts them by Batcher's
merge exchange (Knuth, volume 3, algorithm 5.2.2M): its comparisons depend on the length alone, and
those of a pass do not depend on each other.  The resulting rows are ascending.

    vertex 3: 8 7 9    vertex 6: 4 8 7     ->     4 7 7 8 8 9     ->     4 7 - 8 - 9     packed
"""

from __future__ import annotations

from portpart.algorithms.coarsening.clusters import MIN_WIDE_ROW, Members, number_of
from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows, pack_row
from portpart.backends import language as kl
from portpart.graphs import Csr, Graph
from portpart.primitives import EMPTY

SORTED_DEGREE = 4


def way_for(graph: Graph) -> str:
    """Return the faster way for rows of pairs: sorting if rows are short and none is wide."""
    short = graph.mean_degree <= SORTED_DEGREE and 2 * graph.max_degree <= MIN_WIDE_ROW
    return "sort" if short else "hash"


@kl.device
def gather_arcs(c, graph: Csr, members: Members, rows: CoarseRows, begin):
    """Write heads and weights of the arcs of cluster c to the row; heads of inner arcs are empty.

    Returns the weight of the cluster.
    """
    own = number_of(c, members)
    place = kl.int64(begin)
    weight = kl.int64(0)
    for m in range(members.offsets[c], members.offsets[c + 1]):
        v = members.listed[m]
        weight += kl.value_or(graph.vertex_weights, v, 1)
        first = kl.int64(graph.begin[v])
        degree = kl.int64(graph.end[v]) - first
        for j in range(kl.lane(), degree, kl.team_size()):
            other = members.cluster[graph.targets[first + j]]
            rows.keys[place + j] = other if other != own else kl.int32(EMPTY)
            rows.sums[place + j] = kl.value_or(graph.weights, first + j, 1)
        place += degree
    kl.team_sync()
    return weight


@kl.device
def exchange(rows: CoarseRows, i, j):
    """Exchange two entries if their keys are out of order."""
    low = rows.keys[i]
    high = rows.keys[j]
    if low > high:
        rows.keys[i] = high
        rows.keys[j] = low
        weight = rows.sums[i]
        rows.sums[i] = rows.sums[j]
        rows.sums[j] = weight
    return low


@kl.device
def sort_row(rows: CoarseRows, begin, end):
    """Sort the row begin ... end-1 by its keys."""
    half = kl.int64(1)
    while 2 * half < end - begin:
        half *= 2
    step = half
    while step > 0:
        stride = half
        distance = step
        rest = kl.int64(0)
        while distance > 0:
            for i in range(kl.lane(), end - begin - distance, kl.team_size()):
                if i & step == rest:
                    exchange(rows, begin + i, begin + i + distance)
            kl.team_sync()
            distance = stride - step
            stride //= 2
            rest = step
        step //= 2


@kl.device
def merge_runs(rows: CoarseRows, begin, end):
    """Add up the sums of equal keys at the first of them; the others become empty."""
    for base in range(begin, end, kl.team_size()):
        i = base + kl.lane()
        key = kl.int32(EMPTY)
        if i < end:
            key = rows.keys[i]
            if i > begin and rows.keys[i - 1] == key:
                key = kl.int32(EMPTY)
        kl.team_sync()
        if key != EMPTY:
            j = i + 1
            while j < end and rows.keys[j] == key:
                rows.sums[i] += rows.sums[j]
                rows.keys[j] = kl.int32(EMPTY)
                j += 1
        kl.team_sync()


@kl.kernel
def merge_row(i, wide, max_arcs, graph: Csr, members: Members, rows: CoarseRows):
    """Gather, sort, merge and pack the row of cluster i, or of wide[i], if it has few arcs.

    The limit is `max_arcs`.  Nothing depends on the order of the members or of their arcs.
    """
    c = kl.value_or(wide, i, i)
    begin = kl.int64(rows.begin[c])
    end = kl.int64(rows.begin[c + 1])
    if end - begin <= max_arcs:
        weight = gather_arcs(c, graph, members, rows, begin)
        sort_row(rows, begin, end)
        merge_runs(rows, begin, end)
        pack_row(c, rows, begin, end)
        if kl.lane() == 0:
            rows.vertex_weights[c] = weight
