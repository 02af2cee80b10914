"""Data of other ranks, inside programs: updates of ghosts, and sums over ranks.

A rank owns a range of the vertices. It has copies, *ghosts*, of vertices of other ranks that it
needs. The functions here record kernels that pack and unpack items around a step of communication.
The programs have the record `Owners` with the name ``owners``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from portpart.backends import language as kl
from portpart.backends.programs import AnySlot, Array, Element, Program
from portpart.primitives.basic import NameIndex, place_of
from portpart.primitives.mail import (
    Fields,
    Mail,
    MailLayout,
    get_fields,
    got,
    layout_of,
    put,
    put_fields,
)
from portpart.primitives.ranks import Owners, rank_of

__all__ = ["Halo", "record_prefix", "record_push"]


class Halo(kl.Record):
    """The ranks that have copies of own vertices, and the places of other ranks' vertices.

    Attributes
    ----------
    border : NameIndex
        The own vertices that other ranks have as ghosts, and last the number of own vertices.
    begin : array of int32, shape (vertices of the border + 1,)
        Entries ``begin[i] ... begin[i + 1] - 1`` are the ranks that have vertex i of the border.
    ranks, places : array of int32, shape (entries,)
        The rank, and the place of the vertex among its ghosts from this rank.
    ghost_first : array of int64, shape (ranks + 1,)
        The local index of the first ghost from each rank.
    """

    border: NameIndex
    begin: Array
    ranks: Array
    places: Array
    ghost_first: Array

    @property
    def num_border(self) -> int:
        """Number of vertices of the border."""
        return len(self.begin) - 1


@kl.device
def end_of_entries(v, place, halo: Halo):
    """Return where the entries of v end, which begin at begin[place], ``place_of(v, border)``.

    A vertex that is no ghost has none.
    """
    return kl.int64(halo.begin[place + kl.int64(halo.border.names[place] == v)])


def record_push(program: Program, halo: Halo, mail: Mail, fields: Sequence[AnySlot],
                changed: AnySlot, count: Element | int, *, narrow: bool = False) -> None:
    """Record a step in which owners send the values of changed vertices to ghosts.

    Parameters
    ----------
    program : Program
    halo : Halo
        Slots.
    mail : Mail
        Slots; with space for the items of all entries and of all ghosts.
    fields : sequence of Slot
        At most three arrays of signed integers, with an element for each own vertex and each ghost.
    changed : Slot
        The own vertices that have changed, each once.
    count : Element or int
        Their number.
    narrow : bool
        Whether all values fit into 32 bits, regardless of their types.
    """
    layout = layout_of(halo.places, fields, narrow)
    given: dict[str, Any] = {"mail": mail, "halo": halo, "layout": layout}
    program.launch(1, clear_parts, mail=mail)
    program.launch(count, count_changed, changed=changed, **given)
    program.launch(1, place_parts, mail=mail)
    program.launch(count, pack_changed, changed=changed, fields=Fields(*fields), **given)
    program.all_to_all(mail.parcel)
    program.launch(1, place_arrived, mail=mail, layout=layout)
    program.launch(mail.items[0], unpack_ghost, fields=Fields(*fields), **given)


def record_prefix(program: Program, count: Element, shares: AnySlot, before: AnySlot) -> None:
    """Record the sum of a number over the ranks before this one, and over all ranks.

    Parameters
    ----------
    program : Program
    count : Element
        The number of this rank.
    shares : Slot
        An array of int64 with an element for each rank; set to the numbers of all ranks.
    before : Slot
        An array of int64: element 0 is set to the sum over the ranks before, element 1 to the sum
        over all.
    """
    owners = program.find("owners", Owners)
    program.launch(1, write_share, shares=shares, counts=count.slot, at=count.index)
    program.all_reduce(shares, 0, owners.size)
    program.launch(1, sum_before, shares=shares, before=before)


@kl.kernel
def clear_parts(_, mail: Mail, owners: Owners):
    """Set the numbers of items for all ranks to 0. One item."""
    for rank in range(owners.size):
        mail.send_counts[rank] = 0


@kl.kernel
def count_changed(i, changed, halo: Halo, mail: Mail, layout: MailLayout):
    """Count the words of the items of a changed vertex; atomic."""
    v = changed[i]
    place = place_of(v, halo.border)
    for entry in range(halo.begin[place], end_of_entries(v, place, halo)):
        kl.atomic_add(mail.send_counts, halo.ranks[entry], layout.width)


@kl.kernel
def place_parts(_, mail: Mail, owners: Owners):
    """Set where the parts of the ranks begin, one after another. One item."""
    place = kl.int64(0)
    for rank in range(owners.size):
        mail.send_next[rank] = place
        place += mail.send_counts[rank]


@kl.kernel
def pack_changed(i, changed, halo: Halo, mail: Mail, fields: Fields, layout: MailLayout):
    """Pack the items of a changed vertex: its places and fields.

    Atomic; the order of the items in a part is arbitrary, and each is for a different ghost.
    """
    v = changed[i]
    place = place_of(v, halo.border)
    for entry in range(halo.begin[place], end_of_entries(v, place, halo)):
        item = kl.atomic_add(mail.send_next, halo.ranks[entry], layout.width)
        put(mail.send, item, halo.places, entry, layout.lead)
        put_fields(mail.send, item, fields, v, layout)


@kl.kernel
def place_arrived(_, mail: Mail, owners: Owners, layout: MailLayout):
    """Set the first item from each rank, and the number of all items. One item."""
    place = kl.int64(0)
    for rank in range(owners.size):
        mail.recv_first[rank] = place
        place += mail.recv_counts[rank] // layout.width
    mail.recv_first[owners.size] = place
    mail.items[0] = place


@kl.kernel
def clear_arrived(_, mail: Mail):
    """Set the number of arrived items to 0. One item."""
    mail.items[0] = 0


@kl.device
def ghost_of(i, halo: Halo, mail: Mail, owners: Owners, layout: MailLayout):
    """Return the ghost that item i of a push is for."""
    rank = rank_of(mail.recv_first, i, owners.size)
    return halo.ghost_first[rank] + got(mail.recv, i * layout.width, layout.lead)


@kl.kernel
def unpack_ghost(i, halo: Halo, mail: Mail, owners: Owners, fields: Fields, layout: MailLayout):
    """Set the fields of the ghost that item i is for."""
    ghost = ghost_of(i, halo, mail, owners, layout)
    get_fields(mail.recv, i * layout.width, fields, ghost, layout)


@kl.kernel
def write_share(_, shares, counts, at, owners: Owners):
    """Store the number of this rank, and zeros for the other ranks. One item."""
    for rank in range(owners.size):
        shares[rank] = 0
    shares[owners.rank] = counts[at]


@kl.kernel
def sum_before(_, shares, before, owners: Owners):
    """Sum the numbers of the ranks before this one, and of all ranks. One item."""
    total = kl.int64(0)
    for rank in range(owners.size):
        if rank == owners.rank:
            before[0] = total
        total += shares[rank]
    before[1] = total
