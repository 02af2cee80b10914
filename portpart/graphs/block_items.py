"""The items of each block of a partition, their local numbers, and ghosts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs.csr import Runs, distinct
from portpart.graphs.row_choice import EntryChoice, EntryNumbers, EntryRows, listed_entries
from portpart.graphs.structure import Csr
from portpart.primitives import gather, iota, lower_bound, lower_bounds, put_one, sort_keys

# The items of each block, own ones and those of other blocks: vertices, nets, columns ----------
#
# A *pair* is a block and an item, as the key ``block * width + item``, where width is the number
# of items.  Ascending keys are grouped by block, so an item of a block is found by bisection.


class BlockPairs(EntryChoice):
    """Pairs of all blocks, for lookup.

    Attributes
    ----------
    keys : array of int64
        Ascending pairs.
    first : array of int64, shape (k + 1,)
        The first pair of each block.
    owner : array of int32, or None
        The block that owns each item.  The owner has the item even if `keys` lacks the pair.
    ranks : array of int32, or None
        The place of each pair in the order of `BlockItems`.
    numbers : array of int32, or None
        The number of each item in its owner.
    """

    keys: Array
    first: Array
    owner: Any = None
    ranks: Any = None
    numbers: Any = None


class ItemRun(NamedTuple):
    """Items that a block has of one owner, at the places ``begin ... end - 1``."""

    block: int
    owner: int
    begin: int
    end: int


class BlockItems(NamedTuple):
    """The items of all blocks.

    A block has its own items first, then items of other blocks, ordered by owner, then ascending.

    Attributes
    ----------
    keys : array of int64
        Pairs in that order.
    known : BlockPairs
        The same pairs, ascending, with their places in `keys`.
    first : numpy.ndarray of int64, shape (k + 1,)
        The first pair of each block.
    runs : list of ItemRun
    """

    keys: Array
    known: BlockPairs
    first: np.ndarray
    runs: list[ItemRun]


def pairs_of(space: ExecutionSpace, part: Array) -> Array:
    """Return the pairs of all items and their blocks, ascending."""
    keys = space.empty(len(part), np.int64)
    space.parallel_for(len(part), write_pair, part, len(part), keys)
    return sort_keys(space, keys)[0]


def known_pairs(space: ExecutionSpace, keys: Array, width: int, k: int,
                owner: Array | None = None) -> BlockPairs:
    """Return ascending pairs for lookup in kernels."""
    return BlockPairs(keys, lower_bounds(space, keys, k + 1, width), owner)


def reached(space: ExecutionSpace, pairs: Array, rows: Csr, mean: float, known: BlockPairs,
            width: int) -> Array:
    """Return the new pairs of blocks and the entries of their rows, ascending.

    Parameters
    ----------
    space : ExecutionSpace
    pairs : array of int64
        Blocks and rows.
    rows : Csr
    mean : float
        Approximate number of entries of a row.
    known : BlockPairs
        Pairs that are not new.
    width : int
        Number of different entries of rows.
    """
    found = listed_entries(space, pairs, rows, mean, known, width, NEW, numbers=np.int64)
    return distinct(space, found.numbers)


def merged(space: ExecutionSpace, pairs: Array, others: Array) -> Array:
    """Return the pairs of two lists, ascending."""
    together = space.empty(len(pairs) + len(others), np.int64)
    together[: len(pairs)], together[len(pairs) :] = pairs, others
    return sort_keys(space, together)[0]


def block_items(space: ExecutionSpace, keys: Array, owner: Array, k: int) -> BlockItems:
    """Return the items of all blocks, from ascending pairs and the owner of each item.

    The owner of an item has the item even if `keys` lacks the pair.
    """
    n, width = len(keys), len(owner)
    groups = space.empty(n, np.int64)
    space.parallel_for(n, write_group, keys, width, owner, k, groups)
    groups, order = sort_keys(space, groups)
    ranks = space.empty(n, np.int32)
    space.parallel_for(n, put_one, order, iota(space, n), ranks)
    of_groups = Runs(space, groups)
    heads, begin = (space.to_host(of_groups.first_of(each)) for each in (groups, iota(space, n)))
    block, place = np.divmod(heads, k + 1)
    runs = np.column_stack([block, np.where(place == 0, block, place - 1), begin,
                            np.append(begin, n)[1:]])
    known = known_pairs(space, keys, width, k, owner).replaced(
        ranks=ranks, numbers=space.empty(width, np.int32))
    space.parallel_for(n, number_own, known, width, known.numbers)
    return BlockItems(gather(space, keys, order), known, space.to_host(known.first),
                      [ItemRun(*run) for run in runs.tolist()])


def block_rows(space: ExecutionSpace, pairs: Array, rows: Csr, mean: float, known: BlockPairs,
               width: int) -> EntryRows:
    """Return the rows of pairs with the entries that their blocks have, in local numbers.

    Parameters
    ----------
    space : ExecutionSpace
    pairs : array of int64
        Blocks and rows.
    rows : Csr
    mean : float
        Approximate number of entries of a row.
    known : BlockPairs
        Blocks and entries, from `block_items`.
    width : int
        Number of different entries of rows.
    """
    return listed_entries(space, pairs, rows, mean, known, width, HAD)


@kl.device
def place_of(block, item, known: BlockPairs, width):
    """Return the place of a pair among the known ones, -1 if it is not known."""
    key = block * width + item
    end = known.first[block + 1]
    place = lower_bound(known.keys, known.first[block], end, key)
    if place == end or known.keys[place] != key:
        place = kl.int64(-1)
    return place


@kl.device
def number_in(block, item, known: BlockPairs, width):
    """Return the local number of an item in a block, -1 if the block does not have the item."""
    result = kl.int64(-1)
    if known.owner[item] == block:
        result = kl.int64(known.numbers[item])
    else:
        place = place_of(block, item, known, width)
        if place >= 0:
            result = kl.int64(known.ranks[place]) - known.first[block]
    return result


@kl.device
def new_pair(block, item, known: BlockPairs, width):
    """Return the pair of a block and an item, -1 if the block has the item already."""
    result = kl.int64(-1)
    if kl.value_or(known.owner, item, -1) != block:
        if place_of(block, item, known, width) < 0:
            result = block * width + item
    return result


NEW, HAD = EntryNumbers(new_pair, keeps_places=False), EntryNumbers(number_in)


@kl.kernel
def write_pair(v, part, width, keys):
    """Set keys[v] to the pair of v's block and v."""
    keys[v] = kl.int64(part[v]) * width + v


@kl.kernel
def write_group(i, keys, width, owner, k, groups):
    """Set groups[i] to a number for the block and the owner of pair i; own items come first."""
    block = keys[i] // width
    other = kl.int64(owner[keys[i] % width])
    groups[i] = block * (k + 1) + (0 if other == block else other + 1)


@kl.kernel
def number_own(i, known: BlockPairs, width, numbers):
    """Set numbers[item] to the item's number in the block of pair i, if that block owns it."""
    block = known.keys[i] // width
    item = known.keys[i] % width
    if known.owner[item] == block:
        numbers[item] = kl.int32(known.ranks[i] - known.first[block])


# Local numbers of the items of a block, and the items that blocks send each other --------------


class LocalItems(NamedTuple):
    """The items of a block: own items first, then ghosts, which other blocks own.

    Attributes
    ----------
    first, last : int
        The range of the block's items among the items of all blocks.
    numbers : array of int32
        The global number of each item; numbers of own items are ascending.
    num_own : int
    owners : array of int32
        The block that owns each ghost.  Ghosts are ordered by owner, then ascending.
    send : dict of int to array of int32
        For each block that has own items as ghosts: their local numbers here, in the order of the
        ghosts there.
    recv : dict of int to slice
        For each block that owns ghosts: their local numbers.
    """

    first: int
    last: int
    numbers: Array
    num_own: int
    owners: Array
    send: dict[int, Array]
    recv: dict[int, slice]


def local_items(space: ExecutionSpace, items: BlockItems, owner: Array) -> list[LocalItems]:
    """Return the items of each block."""
    count, width = len(items.keys), len(owner)
    numbers, local = space.empty(count, np.int32), space.empty(width, np.int32)
    space.parallel_for(count, write_number, items.keys, width, owner, items.known.first, numbers,
                       local)
    at_owner, owners = gather(space, local, numbers), gather(space, owner, numbers)
    first = items.first.tolist()
    num_own = [0] * (len(first) - 1)
    send: list[dict[int, Array]] = [{} for _ in num_own]
    recv: list[dict[int, slice]] = [{} for _ in num_own]
    for block, other, begin, end in items.runs:
        if other == block:
            num_own[block] = end - begin
        else:
            recv[block][other] = slice(begin - first[block], end - first[block])
            send[other][block] = at_owner[begin:end]
    return [LocalItems(begin, end, numbers[begin:end], own, owners[begin + own : end], sent, came)
            for begin, end, own, sent, came in zip(first, first[1:], num_own, send, recv)]


@kl.kernel
def write_number(i, keys, width, owner, first, numbers, local):
    """Set numbers[i] to the item of pair i, and local[item] to its number in its owner."""
    block = keys[i] // width
    item = keys[i] % width
    numbers[i] = kl.int32(item)
    if owner[item] == block:
        local[item] = kl.int32(i - first[block])
