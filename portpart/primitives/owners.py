"""Data of other ranks, inside programs: ghosts that are kept up to date, questions to owners.

A rank owns a range of the vertices.  Of the others it has copies, *ghosts*, where it needs them.
Functions here record kernels that pack and unpack items around a step of communication.  Programs
have the record `Owners` by the name ``owners``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from portpart.backends import language as kl
from portpart.backends.programs import MAX, MIN, SUM, AnySlot, Array, Element, Program, Slot
from portpart.primitives.basic import lower_bound
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

__all__ = ["Halo", "VertexNames", "record_add", "record_answers", "record_fetch", "record_prefix",
           "record_push", "record_requests"]


class Halo(kl.Record):
    """Which ranks have copies of own vertices, and where those of other ranks' vertices are.

    Attributes
    ----------
    begin : array of int32, shape (own vertices + 1,)
        Entries ``begin[v] ... begin[v + 1] - 1`` are the ranks that have vertex v as a ghost.
    ranks, places : array of int32, shape (entries,)
        Such a rank, and the place of v among the ghosts that it has from here.
    ghost_first : array of int64, shape (ranks + 1,)
        The local index of the first ghost from each rank.
    """

    begin: Array
    ranks: Array
    places: Array
    ghost_first: Array


class VertexNames(kl.Record):
    """Names of vertices of any ranks.

    Attributes
    ----------
    ids : array of int32 or int64
        Ascending, each once.
    count : array of int64, shape (1,)
        How many of them there are.
    """

    ids: Array
    count: Array


ATOMICS = {SUM: kl.atomic_add, MIN: kl.atomic_min, MAX: kl.atomic_max}


def record_push(program: Program, halo: Halo, mail: Mail, fields: Sequence[AnySlot],
                changed: AnySlot | None, count: Element | int, *, narrow: bool = False) -> None:
    """Record that owners send values of changed vertices to ghosts.

    Parameters
    ----------
    program : Program
    halo : Halo
        Slots.
    mail : Mail
        Slots; as long as the items of all entries and of all ghosts.
    fields : sequence of Slot
        At most three arrays of signed integers, with an element for each own vertex and each ghost.
    changed : Slot or None
        The own vertices that have changed, each once; None stands for 0, 1, 2 ...
    count : Element or int
        How many have.
    narrow : bool
        Whether all values fit into 32 bits, whatever their types are.
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


def record_fetch(program: Program, names: VertexNames, requests: Mail, answers: Mail,
                 fields: Sequence[tuple[Slot, Slot]]) -> None:
    """Record that values of vertices are fetched from their owners.

    Parameters
    ----------
    program : Program
    names : VertexNames
        Slots.
    requests, answers : Mail
        Slots.  Requests keep what has arrived: `record_answers` may follow again.
    fields : sequence of pairs of Slot
        The array of values, with an element for each own vertex, and the array of answers, with an
        element for each name, of the same type.
    """
    record_requests(program, names, requests, [])
    record_answers(program, names, requests, answers, [], fields)


def record_add(program: Program, names: VertexNames, requests: Mail, answers: Mail,
               sums: Sequence[tuple[Slot, Slot, Slot]], op: str = SUM) -> None:
    """Record that numbers are added to totals at the owners of vertices, and the totals come back.

    Integers are added by atomics, so the totals do not depend on the order.

    Parameters
    ----------
    program : Program
    names : VertexNames
        Slots.
    requests, answers : Mail
        Slots.
    sums : sequence of triples of Slot
        The array of what is added, with an element for each name; the array of totals, with an
        element for each own vertex; and the array of answers like the first.  All are of int64.
    op : str
        ``"sum"``, ``"min"`` or ``"max"``.
    """
    given = [each for each, _, _ in sums]
    totals = [each for _, each, _ in sums]
    record_requests(program, names, requests, given)
    program.launch(requests.items[0], add_requested, requests=requests, totals=Fields(*totals),
                   layout=layout_of(names.ids, given), atomic=ATOMICS[op])
    record_answers(program, names, requests, answers, given,
                   [(total, answer) for _, total, answer in sums])


def record_requests(program: Program, names: VertexNames, requests: Mail,
                    given: Sequence[Slot]) -> None:
    """Record that names, and an element of each given array for each, go to the owners.

    Parameters
    ----------
    program : Program
    names : VertexNames
        Slots.
    requests : Mail
        Slots.
    given : sequence of Slot
        At most three arrays of signed integers with an element for each name.
    """
    layout = layout_of(names.ids, given)
    owners = program.find("owners", Owners)
    program.launch(owners.size, count_names, names=names, mail=requests, layout=layout)
    program.launch(names.count[0], pack_request, names=names, mail=requests,
                   fields=Fields(*given), layout=layout)
    program.all_to_all(requests.parcel)
    program.launch(1, place_arrived, mail=requests, layout=layout)


def record_answers(program: Program, names: VertexNames, requests: Mail, answers: Mail,
                   given: Sequence[Slot], fields: Sequence[tuple[Slot, Slot]]) -> None:
    """Record the answers to requests that have been recorded with the same names.

    Parameters
    ----------
    program : Program
    names : VertexNames
        Slots.
    requests, answers : Mail
        Slots.
    given : sequence of Slot
        What the requests have been recorded with.
    fields : sequence of pairs of Slot
        As of `record_fetch`.
    """
    asked, layout = layout_of(names.ids, given), layout_of(None, [each for each, _ in fields])
    if layout != layout_of(None, [each for _, each in fields]):
        raise ValueError(f"program {program.name!r}: answers are not of the types of the values")
    owners = program.find("owners", Owners)
    program.launch(owners.size, count_answers, requests=requests, answers=answers, layout=layout)
    program.launch(requests.items[0], pack_answer, requests=requests, answers=answers,
                   fields=Fields(*(each for each, _ in fields)), asked=asked, layout=layout)
    program.all_to_all(answers.parcel)
    program.launch(names.count[0], unpack_answer, answers=answers,
                   fields=Fields(*(each for _, each in fields)), layout=layout)


def record_prefix(program: Program, count: Element, shares: AnySlot, before: AnySlot) -> None:
    """Record the sum of a number over the ranks before this one, and over all.

    Parameters
    ----------
    program : Program
    count : Element
        The number of this rank.
    shares : Slot
        An array of int64 with an element for each rank; becomes the numbers of all.
    before : Slot
        An array of int64: element 0 becomes the sum over the ranks before, element 1 over all.
    """
    owners = program.find("owners", Owners)
    program.launch(1, write_share, shares=shares, counts=count.slot, at=count.index)
    program.all_reduce(shares, 0, owners.size)
    program.launch(1, sum_before, shares=shares, before=before)


@kl.kernel
def clear_parts(_, mail: Mail, owners: Owners):
    """No item is for any rank yet.  One item."""
    for rank in range(owners.size):
        mail.send_counts[rank] = 0


@kl.kernel
def count_changed(i, changed, halo: Halo, mail: Mail, layout: MailLayout):
    """Count the words of the items of a vertex that has changed; atomic."""
    v = kl.value_or(changed, i, i)
    for entry in range(halo.begin[v], halo.begin[v + 1]):
        kl.atomic_add(mail.send_counts, halo.ranks[entry], layout.width)


@kl.kernel
def place_parts(_, mail: Mail, owners: Owners):
    """The parts of the ranks stand one by one.  One item."""
    place = kl.int64(0)
    for rank in range(owners.size):
        mail.send_next[rank] = place
        place += mail.send_counts[rank]


@kl.kernel
def pack_changed(i, changed, halo: Halo, mail: Mail, fields: Fields, layout: MailLayout):
    """Pack the items of a vertex that has changed: its places and fields.

    Atomic; the order of the items in a part is arbitrary, and each is for another ghost.
    """
    v = kl.value_or(changed, i, i)
    for entry in range(halo.begin[v], halo.begin[v + 1]):
        item = kl.atomic_add(mail.send_next, halo.ranks[entry], layout.width)
        put(mail.send, item, halo.places, entry, layout.lead)
        put_fields(mail.send, item, fields, v, layout)


@kl.kernel
def place_arrived(_, mail: Mail, owners: Owners, layout: MailLayout):
    """Find the first item from each rank, and count all.  One item."""
    place = kl.int64(0)
    for rank in range(owners.size):
        mail.recv_first[rank] = place
        place += mail.recv_counts[rank] // layout.width
    mail.recv_first[owners.size] = place
    mail.items[0] = place


@kl.kernel
def clear_arrived(_, mail: Mail):
    """No item has arrived yet.  One item."""
    mail.items[0] = 0


@kl.device
def ghost_of(i, halo: Halo, mail: Mail, owners: Owners, layout: MailLayout):
    """The ghost that item i, which has been pushed, is for."""
    rank = rank_of(mail.recv_first, i, owners.size)
    return halo.ghost_first[rank] + got(mail.recv, i * layout.width, layout.lead)


@kl.kernel
def unpack_ghost(i, halo: Halo, mail: Mail, owners: Owners, fields: Fields, layout: MailLayout):
    """Set the fields of the ghost that item i is for."""
    ghost = ghost_of(i, halo, mail, owners, layout)
    get_fields(mail.recv, i * layout.width, fields, ghost, layout)


@kl.kernel
def count_names(rank, names: VertexNames, mail: Mail, owners: Owners, layout: MailLayout):
    """Count the words of the requests for a rank: its names are neighbours in ascending ids."""
    begin = lower_bound(names.ids, 0, names.count[0], owners.first[rank])
    end = lower_bound(names.ids, begin, names.count[0], owners.first[rank + 1])
    mail.send_counts[rank] = (end - begin) * layout.width


@kl.kernel
def pack_request(i, names: VertexNames, mail: Mail, fields: Fields, layout: MailLayout):
    """Pack the request for name i."""
    item = i * layout.width
    put(mail.send, item, names.ids, i, layout.lead)
    put_fields(mail.send, item, fields, i, layout)


@kl.device
def asked_vertex(i, requests: Mail, owners: Owners, layout: MailLayout):
    """The own vertex that request i is about."""
    return got(requests.recv, i * layout.width, layout.lead) - owners.first[owners.rank]


@kl.kernel
def add_requested(i, requests: Mail, owners: Owners, totals: Fields, layout: MailLayout,
                  atomic: kl.StaticValue):
    """Combine what request i gives with the totals of its vertex; atomic, independent of order."""
    item = i * layout.width
    v = asked_vertex(i, requests, owners, layout)
    if layout.first.used:
        atomic(totals.first, v, got(requests.recv, item, layout.first))
    if layout.second.used:
        atomic(totals.second, v, got(requests.recv, item, layout.second))
    if layout.third.used:
        atomic(totals.third, v, got(requests.recv, item, layout.third))


@kl.kernel
def count_answers(rank, requests: Mail, answers: Mail, layout: MailLayout):
    """Count the words of the answers to a rank."""
    asked = requests.recv_first[rank + 1] - requests.recv_first[rank]
    answers.send_counts[rank] = asked * layout.width


@kl.kernel
def pack_answer(i, requests: Mail, answers: Mail, owners: Owners, fields: Fields, asked: MailLayout,
                layout: MailLayout):
    """Pack the answer to request i."""
    v = asked_vertex(i, requests, owners, asked)
    put_fields(answers.send, i * layout.width, fields, v, layout)


@kl.kernel
def unpack_answer(i, answers: Mail, fields: Fields, layout: MailLayout):
    """Set the fields of name i: answers come in the order of the names."""
    get_fields(answers.recv, i * layout.width, fields, i, layout)


@kl.kernel
def write_share(_, shares, counts, at, owners: Owners):
    """Write the number of this rank among zeros for the others.  One item."""
    for rank in range(owners.size):
        shares[rank] = 0
    shares[owners.rank] = counts[at]


@kl.kernel
def sum_before(_, shares, before, owners: Owners):
    """Sum the numbers of the ranks before this one, and of all.  One item."""
    total = kl.int64(0)
    for rank in range(owners.size):
        if rank == owners.rank:
            before[0] = total
        total += shares[rank]
    before[1] = total
