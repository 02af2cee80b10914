"""How a block numbers its items, and which items blocks send each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.block_items import BlockItems
from portpart.primitives.basic import gather


class LocalItems(NamedTuple):
    """The items of a block: its own first, then items of other blocks, its ghosts.

    Attributes
    ----------
    first, last : int
        The block's items among those of all blocks.
    numbers : array of int32
        The number of each item in the whole; own ones ascend.
    num_own : int
    owners : array of int32
        The block that owns each ghost.  Ghosts stand block by block, and ascend there.
    send : dict of int to array of int32
        For each block that has own items as ghosts: the local numbers of these, in the order in
        which they stand there.
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
    """The items of each block."""
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
    return [LocalItems(begin, end, numbers[begin:end], own, owners[begin + own : end], *lists)
            for begin, end, own, *lists in zip(first, first[1:], num_own, send, recv)]


@kl.kernel
def write_number(i, keys, width, owner, first, numbers, local):
    """numbers[i] = the item of pair i; local[item] = the number that its owner has for it."""
    block = keys[i] // width
    item = keys[i] % width
    numbers[i] = kl.int32(item)
    if owner[item] == block:
        local[item] = kl.int32(i - first[block])
