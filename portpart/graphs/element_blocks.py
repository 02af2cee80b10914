"""Computes blocks of elements from blocks of nodes, or the reverse, by METIS's rule.

Rows are elements and their members nodes, or the reverse.
"""

from __future__ import annotations

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.errors import InputError, shown
from portpart.graphs.arrays import Blocks, Numbers, first_true, index_array
from portpart.graphs.blocks import held_blocks, held_number
from portpart.graphs.incidence import Incidence
from portpart.options import MAX_BLOCKS

NOWHERE, UNDECIDED = -1, -2


class VoteCounts(kl.Record):
    """The input, counters and result of the votes for blocks.

    Attributes
    ----------
    part : array of int32
        The block of each member.
    limits, sizes : array of int64, shape (k,)
        Limit and number of the rows of each block.
    votes : array of int64, shape (k,)
        Votes for each block; all 0 between two rows.
    result : array of int32
        The block of each row.
    """

    part: Array
    limits: Array
    sizes: Array
    votes: Array
    result: Array


def part_of_other_side(rows: Incidence, member_part: Blocks | None, num_members: int, name: str,
                       k: int | None, target: Numbers | None) -> np.ndarray:
    """Return the block of each row from the blocks of its members; -1 for rows without members."""
    space = backends.space("cpu")
    k = held_number(member_part, k)
    part = space.to_host(index_array(space, held_blocks(member_part), name))
    if len(part) != num_members:
        own, other = ("element", "node") if name == "element_part" else ("node", "element")
        hint = (f"; mesh.{own}_part makes these of blocks of {other}s"
                if len(part) == len(rows) else "")
        raise InputError(f"{name} holds {len(part)} blocks for {num_members} {own}s{hint}")
    limits = _limits(len(rows), part, k, target)
    place = first_true((part < 0) | (part >= len(limits)))
    if place is not None:
        raise InputError(f"{name}[{place}] is {part[place]}; with k = {len(limits)} blocks are "
                         f"0 ... {len(limits) - 1}")
    result = space.empty(len(rows), np.int32)
    space.parallel_for(len(rows), choose_only_block, rows, part, result)
    sizes = np.bincount(result[result >= 0], minlength=len(limits)).astype(np.int64)
    vote_counts = VoteCounts(part, limits, sizes, space.zeros(len(limits), np.int64), result)
    undecided = np.flatnonzero(result == UNDECIDED)
    space.parallel_for(1, assign_in_order, undecided, len(undecided), rows, vote_counts)
    return result


def _limits(num_rows: int, part: np.ndarray, k: int | None, target: Numbers | None) -> np.ndarray:
    """Return the limit of the number of rows of each block, as in METIS."""
    shares = None if target is None else _shares(target)
    if k is None:
        k = int(part.max(initial=0)) + 1 if shares is None else len(shares)
    if not isinstance(k, (int, np.integer)) or not 1 <= k <= MAX_BLOCKS:
        raise InputError(f"k is {shown(k)}; it must be an integer from 1 to {MAX_BLOCKS}")
    k = int(k)
    if shares is None:
        return np.full(k, 1 + num_rows // k, np.int64)
    if shares.shape != (k,) or not (np.isfinite(shares).all() and (shares >= 0).all()
                                    and shares.any()):
        raise InputError(f"target must hold {k} shares, none negative and not all 0")
    limits: np.ndarray = 1 + (num_rows * (shares / shares.sum())).astype(np.int64)
    return limits


def _shares(target: Numbers) -> np.ndarray:
    try:
        return np.asarray(target, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError("target must hold numbers, one for each block") from None


@kl.device
def majority_block(row, rows: Incidence, vote_counts: VoteCounts):
    """Return the block with most votes; ties go to the first block in the row."""
    best = kl.int64(vote_counts.part[rows.members[rows.offsets[row]]])
    for i in range(rows.offsets[row], rows.offsets[row + 1]):
        block = kl.int64(vote_counts.part[rows.members[i]])
        if vote_counts.votes[block] > vote_counts.votes[best]:
            best = block
    return best


@kl.device
def less_loaded(best, row, rows: Incidence, vote_counts: VoteCounts):
    """Return the first block of the row below its limit, or less above its limit than `best`."""
    for i in range(rows.offsets[row], rows.offsets[row + 1]):
        block = kl.int64(vote_counts.part[rows.members[i]])
        above = vote_counts.sizes[block] - vote_counts.limits[block]
        if above < 0 or above < vote_counts.sizes[best] - vote_counts.limits[best]:
            return block
    return best


@kl.kernel
def choose_only_block(row, rows: Incidence, part, result):
    """Set result[row] to the block of all members, else to UNDECIDED, without members NOWHERE."""
    block = kl.int64(NOWHERE)
    if rows.offsets[row] < rows.offsets[row + 1]:
        block = kl.int64(part[rows.members[rows.offsets[row]]])
    for i in range(rows.offsets[row], rows.offsets[row + 1]):
        if part[rows.members[i]] != block:
            block = kl.int64(UNDECIDED)
            break
    result[row] = block


@kl.kernel
def assign_in_order(_, undecided, count, rows: Incidence, vote_counts: VoteCounts):
    """Choose blocks for the undecided rows in order, one by one.  A single item."""
    for at in range(count):
        row = kl.int64(undecided[at])
        for i in range(rows.offsets[row], rows.offsets[row + 1]):
            vote_counts.votes[vote_counts.part[rows.members[i]]] += 1
        best = majority_block(row, rows, vote_counts)
        for i in range(rows.offsets[row], rows.offsets[row + 1]):
            vote_counts.votes[vote_counts.part[rows.members[i]]] = 0
        if vote_counts.sizes[best] > vote_counts.limits[best]:
            best = less_loaded(best, row, rows, vote_counts)
        vote_counts.sizes[best] += 1
        vote_counts.result[row] = best
