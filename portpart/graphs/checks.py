"""Checks of a CSR graph in its own memory: one pass over the offsets, one over the arcs.

The results of both are read at once, so the host waits for a device once.

Symmetry is tested without sorting: the 64-bit sums, wrapped, of mix(u, v, w) and of mix(v, u, w)
over all arcs are equal if the arcs are symmetric, and differ with probability 1 - 2**-64 if not.
Only a graph that fails is searched for its first offending arc, on the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.structure import SQUARES
from portpart.graphs.weights import NOT_NEGATIVE, exact_total
from portpart.primitives import inspect_rows, row_at

ENTRIES_PER_ITEM = 4096
"""Arcs that one item (a team) surveys, independent of degrees."""

DECREASING, FIRST, LAST, NUM_ROW_FACTS = range(2, 6)
"""Places of the results of a pass over offsets, behind the longest row and the sum of squares."""

BAD_TARGET, NEGATIVE_WEIGHT, LOOPS, DIFFERENCE, HEAVY, LIGHT, NOT_ONE = range(NUM_ROW_FACTS,
                                                                              NUM_ROW_FACTS + 7)
"""Places of the results of a pass over the arcs, behind them."""


class RowFacts(NamedTuple):
    """The results of a pass over offsets.

    Attributes
    ----------
    longest, squares : int
        Length of the longest row, and the sum of all squared lengths, if no row is decreasing.
    decreasing : int
        The first row that ends before it begins, or the number of rows.
    first, last : int
        The first and the last offset.
    """

    longest: int
    squares: int
    decreasing: int
    first: int
    last: int

    @property
    def degrees(self) -> dict[str, int]:
        """The measures, by their names in a graph."""
        return {"degree": self.longest, "degree" + SQUARES: self.squares}


@dataclass(frozen=True)
class Survey:
    """The results of a pass over the offsets and of one over the arcs."""

    rows: RowFacts
    num_loops: int
    symmetric: bool
    total_weight: int
    all_weights_one: bool


class RowTerms(NamedTuple):
    """Words of messages: for the offsets of rows, the entries, their number, and the whole."""

    offsets: str
    items: str
    number: str
    whole: str


GRAPH_WORDS = RowTerms("indptr", "indices", "arcs", "a graph of n vertices")


def check_offsets(space: ExecutionSpace, offsets: Array, num_items: int,
                  words: RowTerms = GRAPH_WORDS) -> None:
    """Raise unless `offsets` starts at 0, never decreases and ends at `num_items`."""
    n = len(offsets) - 1
    if n < 0:
        raise InputError(f"{words.offsets} is empty; {words.whole} needs n + 1 offsets, at least "
                         "[0]")
    refuse_offsets(space, offsets, num_items, inspected(space, offsets), words)


def inspected(space: ExecutionSpace, offsets: Array) -> RowFacts:
    """Return the facts of rows."""
    rows = len(offsets) - 1
    found = space.asarray(np.array(nothing_found(rows), np.int64))
    inspect_rows(space, offsets, found)
    return RowFacts(*space.to_host(found).tolist())


def nothing_found(rows: int) -> list[int]:
    """Return the initial values for `inspect_rows`."""
    return [0, 0, rows, 0, 0]


def refuse_offsets(space: ExecutionSpace, offsets: Array, num_items: int, found: RowFacts,
                   words: RowTerms = GRAPH_WORDS) -> None:
    """Raise unless offsets with these facts are valid."""
    n, name = len(offsets) - 1, words.offsets
    decreasing, first, last = found[DECREASING:]
    as_ends = ("; if these are the two ends of edges, numpy.stack([one, other], axis=1) is the list"
               if words is GRAPH_WORDS and n + 1 == num_items else "")
    if first != 0:
        raise InputError(f"{name}[0] is {first}; the first offset must be 0{as_ends}")
    if decreasing < n:
        pair = space.to_host(offsets[decreasing : decreasing + 2])
        raise InputError(
            f"{name}[{decreasing + 1}] = {pair[1]} is smaller than {name}[{decreasing}] = "
            f"{pair[0]}; offsets must never decrease{as_ends}"
        )
    if last != num_items:
        raise InputError(
            f"{name}[{n}] is {last} but there are {num_items} {words.items}; the last offset must "
            f"be the number of {words.number}{as_ends}"
        )


def survey(space: ExecutionSpace, offsets: Array, targets: Array, weights: Array | None) -> Survey:
    """Check offsets, targets and weights of a CSR graph; count loops, test symmetry.

    Waits for the device once.

    Raises
    ------
    InputError
        If offsets are invalid; else naming the first arc whose target is out of range or whose
        weight is negative.
    """
    n, num_arcs = len(offsets) - 1, len(targets)
    if n < 0:
        check_offsets(space, offsets, num_arcs)
    begun = [*nothing_found(n), num_arcs, num_arcs, 0, 0, 0, 0, 0]
    found = space.asarray(np.array(begun, np.int64))
    inspect_rows(space, offsets, found)
    space.parallel_for(-(-num_arcs // ENTRIES_PER_ITEM), survey_arcs, offsets, targets, weights, n,
                       num_arcs, found, team=256)
    facts = space.to_host(found).tolist()
    rows = RowFacts(*facts[:NUM_ROW_FACTS])
    refuse_offsets(space, offsets, num_arcs, rows)
    if facts[BAD_TARGET] < num_arcs:
        _refuse_target(space, offsets, targets, facts[BAD_TARGET])
    if weights is not None and facts[NEGATIVE_WEIGHT] < num_arcs:
        negative = facts[NEGATIVE_WEIGHT]
        u, v = arc_ends(space, offsets, targets, negative)
        weight = space.to_host(weights[negative : negative + 1])[0]
        raise InputError(f"arc ({u}, {v}) has weight {weight}; {NOT_NEGATIVE}", vertex=u)
    return Survey(rows, num_loops=facts[LOOPS], symmetric=facts[DIFFERENCE] == 0,
                  total_weight=exact_total(facts[HEAVY], facts[LIGHT], "arc weights"),
                  all_weights_one=facts[NOT_ONE] == 0)


def arc_ends(space: ExecutionSpace, offsets: Array, targets: Array, arc: int) -> tuple[int, int]:
    """Return tail and head of the arc at position `arc`."""
    tail = int(np.searchsorted(space.to_host(offsets), arc, side="right")) - 1
    return tail, int(space.to_host(targets[arc : arc + 1])[0])


def _refuse_target(space: ExecutionSpace, offsets: Array, targets: Array, arc: int) -> None:
    n = len(offsets) - 1
    u, v = arc_ends(space, offsets, targets, arc)
    hint = "; indices are 0-based: subtract 1 from 1-based ones" if v == n else ""
    raise InputError(
        f"indices[{arc}] = {v}, a neighbour of vertex {u}, is not a vertex: it must lie in "
        f"0 ... {n - 1}{hint}"
    )


def refuse_asymmetry(space: ExecutionSpace, offsets: Array, targets: Array,
                     weights: Array | None) -> NoReturn:
    """Raise, naming the first arc that has no reverse arc of equal weight; works on the host."""
    offsets, targets = space.to_host(offsets), space.to_host(targets)
    weights = None if weights is None else space.to_host(weights)
    sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    arc = _first_unmatched(sources, targets.astype(np.int64), weights)
    u, v = int(sources[arc]), int(targets[arc])
    remedy = "give both directions equally, or pass symmetrize="
    back = np.flatnonzero(targets[offsets[v] : offsets[v + 1]] == u) + offsets[v]
    if weights is None or len(back) == 0:
        raise InputError(f"arc ({u}, {v}) has no reverse arc ({v}, {u}); {remedy}True to ignore "
                         "directions", vertex=u)
    others = ", ".join(str(weights[i]) for i in back[:3])
    raise InputError(f"arc ({u}, {v}) has weight {weights[arc]} but its reverse arc ({v}, {u}) has "
                     f'weight {others}; {remedy}"sum" to add them up, "max" for the larger',
                     vertex=u)


def _first_unmatched(sources: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> int:
    """Return the first arc that occurs more often than its reverse with that weight."""
    num_arcs = len(sources)
    keys = np.concatenate([sources << 32 | targets, targets << 32 | sources])
    both = np.zeros(2 * num_arcs, np.int64) if weights is None else np.tile(weights, 2)
    order = np.lexsort((both, keys))
    keys, both = keys[order], both[order]
    starts_group = np.ones(2 * num_arcs, bool)
    starts_group[1:] = (keys[1:] != keys[:-1]) | (both[1:] != both[:-1])
    group = np.cumsum(starts_group) - 1
    surplus = np.bincount(group, np.where(order < num_arcs, 1, -1))
    unmatched = order[(surplus[group] > 0) & (order < num_arcs)]
    return int(unmatched.min())


@kl.device
def finalised(bits):
    """Return bits mixed by moremur: each bit of the argument affects each bit of the result."""
    x = bits
    x = (x ^ (x >> kl.uint64(27))) * kl.uint64(0x3C79AC492BA7B653)
    x = (x ^ (x >> kl.uint64(33))) * kl.uint64(0x1C69B3F74AC4AE35)
    return x ^ (x >> kl.uint64(27))


@kl.device
def mixed(u, v, weight):
    """Return 64 mixed bits of an ordered triple (two rounds of Evensen's moremur finaliser)."""
    bits = (kl.uint64(u) << kl.uint64(32)) | kl.uint64(v)
    return finalised(finalised(bits) + kl.uint64(weight))


@kl.kernel
def survey_arcs(item, offsets, targets, weights, num_vertices, num_arcs, found):
    """Survey ENTRIES_PER_ITEM arcs: the first invalid ones, and sums; atomic, independent of order.

    The item is a range of arcs, not a vertex, so no degree is too high for one team.  A lane takes
    adjacent arcs, whose tails it finds without long searches.  Arcs are not examined if the offsets
    are invalid.
    """
    share = ENTRIES_PER_ITEM // kl.team_size()
    begin = item * ENTRIES_PER_ITEM + kl.lane() * share
    end = min(begin + share, kl.int64(num_arcs))
    if found[DECREASING] < num_vertices or found[FIRST] != 0 or found[LAST] != num_arcs:
        end = kl.int64(begin)
    u = kl.int64(0)
    if begin < end:
        u = row_at(begin, offsets, num_vertices)
    loops = kl.int64(0)
    difference = kl.uint64(0)
    heavy = kl.int64(0)
    light = kl.int64(0)
    not_one = kl.int64(0)
    for arc in range(begin, end):
        while offsets[u + 1] <= arc:
            u += 1
        v = kl.int64(targets[arc])
        weight = kl.value_or(weights, arc, 1)
        if v < 0 or v >= num_vertices:
            kl.atomic_min(found, BAD_TARGET, arc)
        if u == v:
            loops += 1
        else:
            if weight < 0:
                kl.atomic_min(found, NEGATIVE_WEIGHT, arc)
            difference += mixed(u, v, weight) - mixed(v, u, weight)
            heavy += weight >> 32
            light += weight & 0xFFFFFFFF
            if weight != 1:
                not_one += 1
    add_sum(found, LOOPS, kl.team_sum(loops))
    add_sum(found, DIFFERENCE, kl.int64(kl.team_sum(difference)))
    add_sum(found, HEAVY, kl.team_sum(heavy))
    add_sum(found, LIGHT, kl.team_sum(light))
    add_sum(found, NOT_ONE, kl.team_sum(not_one))


@kl.device
def add_sum(found, which, value):
    """Add a sum of an item, by the first lane; most sums are zero."""
    if kl.lane() == 0 and value != 0:
        kl.atomic_add(found, which, value)
