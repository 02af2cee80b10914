"""Strong rebalancing if vertices have moved to other ranks: the order of leaving vertices.

The leaving vertices are laid out in a line in the order of their global ids
(`rebalancing/strong.py`).  Each rank handles a range of these ids.  It gets the leaving vertices
and their weights, and answers where in the line each of them begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart import primitives
from portpart.algorithms.refinement import Deciding, Recording
from portpart.algorithms.refinement.ranks.state import RankTotals
from portpart.algorithms.refinement.rebalancing import (
    STAYS,
    Rebalancing,
    RebalancingRule,
    evict_strongly,
    keep_above_threshold,
    set_place,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array, Parcel
from portpart.graphs import MAX_INT32, Csr, global_id
from portpart.graphs.ranks import DistributedGraph

ANSWER = primitives.Place(0, wide=True, used=True)
"""A place in the line, which takes no more words than the message it answers."""


class Line(kl.Record):
    """The part of a line that a rank handles.

    Attributes
    ----------
    first : array of int64, shape (ranks + 1,)
        Rank r handles the global ids ``first[r] ... first[r + 1] - 1``.
    before : array of int64, shape (own ids + 1,)
        The weight of a vertex if it leaves, else 0; later the sum of the weights before it.
    sums : array of int64
        The same for tiles.
    low, count, tiles : int
        The first of its ids, their number, and the number of their tiles.
    """

    first: Array
    before: Array
    sums: Array
    low: int = kl.word()
    count: int = kl.word()
    tiles: int = kl.word()


def line_of(graph: DistributedGraph) -> tuple[Line, primitives.Mail]:
    """Return the records of strong rebalancing for a graph whose vertices have moved."""
    space, comm, own = graph.space, graph.comm, graph.local.num_vertices
    borders = primitives.even_borders(graph.totals.num_vertices, comm.size)
    low, high = (int(each) for each in borders[comm.rank : comm.rank + 2])
    line = Line(space.asarray(borders), space.empty(high - low + 1, np.int64),
                space.empty(primitives.tiles_of(high - low), np.int64))
    width = layout_for(graph).width
    words = np.array([low, high - low, primitives.tiles_of(high - low)])
    return (line.over(Line.own_words(space.asarray(words))),
            primitives.Mail.allocate(space,
                                     primitives.MailSizes(comm.size, width * own,
                                                          width * (high - low))))


def layout_for(graph: DistributedGraph) -> primitives.MailLayout:
    """Return the layout of ids and weights of leaving vertices in messages."""
    weight = np.int32 if graph.totals.total_vertex_weight <= MAX_INT32 else np.int64
    return primitives.layout_of_types(graph.names.dtype, [np.dtype(weight)])


def record_line(this: Recording, layout: primitives.MailLayout, rule: RebalancingRule) -> None:
    """Record how vertices up to the thresholds leave, one block after another."""
    program, level = this.program, this.run.level
    line, mail = program.find("line", Line), program.find("line_mail", primitives.Mail)
    totals = program.find("totals", RankTotals)
    sent: dict[str, Any] = {"mail": mail, "layout": layout}
    program.launch(level.candidates, keep_above_threshold)
    program.launch(line.count, clear_weight)
    program.launch(1, primitives.clear_parts, mail=mail)
    program.launch(level.candidates, count_leaving, **sent)
    program.launch(1, primitives.place_parts, mail=mail)
    program.launch(level.candidates, pack_leaving, **sent)
    program.all_to_all(mail.parcel)
    program.launch(1, primitives.place_arrived, **sent)
    program.launch(mail.items[0], enter_weight, **sent)
    primitives.record_scan(program, line.before, line.before, line.sums, line.count, line.tiles)
    program.launch(1, write_end)
    primitives.record_prefix(program, totals.before[0], totals.shares, totals.before)
    program.launch(mail.items[0], answer_place, **sent)
    program.all_to_all(Parcel(send=mail.recv, send_counts=mail.recv_counts, recv=mail.send,
                              recv_counts=mail.send_counts))
    program.launch(level.candidates, leave_from_place, rule=rule, **sent)


@kl.kernel
def clear_weight(i, line: Line):
    """Reset the weight of id i."""
    line.before[i] = 0


@kl.kernel
def count_leaving(i, graph: Csr, rebalancing: Rebalancing, line: Line, mail: primitives.Mail,
                  owners: primitives.Owners, layout: primitives.MailLayout):
    """Count the words for the rank that handles the id of candidate i, if it leaves.  Atomic."""
    v = rebalancing.listed[i]
    if rebalancing.slot_of[v] != STAYS:
        rank = primitives.rank_of(line.first, kl.int64(global_id(v, graph)), owners.size)
        primitives.count_item(rank, mail, layout)


@kl.kernel
def pack_leaving(i, graph: Csr, rebalancing: Rebalancing, line: Line, mail: primitives.Mail,
                 owners: primitives.Owners, layout: primitives.MailLayout):
    """Pack the id and the weight of candidate i if it leaves, and store the place.  Atomic.

    The order is arbitrary.
    """
    v = rebalancing.listed[i]
    if rebalancing.slot_of[v] != STAYS:
        number = kl.int64(global_id(v, graph))
        item = primitives.next_item(primitives.rank_of(line.first, number, owners.size), mail,
                                    layout)
        primitives.put_number(mail.send, item, number, layout.lead)
        primitives.put_number(mail.send, item, kl.int64(kl.value_or(graph.vertex_weights, v, 1)),
                              layout.first)
        set_place(v, item // layout.width, rebalancing)


@kl.kernel
def enter_weight(i, line: Line, mail: primitives.Mail, layout: primitives.MailLayout):
    """Store the weight of a leaving vertex, which arrives once."""
    item = i * layout.width
    place = primitives.got(mail.recv, item, layout.lead) - line.low
    line.before[place] = primitives.got(mail.recv, item, layout.first)


@kl.kernel
def write_end(_, line: Line, totals: RankTotals):
    """before[0] = the total weight in the part of this rank.  One item."""
    totals.before[0] = line.before[line.count]


@kl.kernel
def answer_place(i, line: Line, mail: primitives.Mail, totals: RankTotals,
                 layout: primitives.MailLayout):
    """Write where a leaving vertex begins in the line, over the received message."""
    item = i * layout.width
    place = totals.before[0] + line.before[primitives.got(mail.recv, item, layout.lead) - line.low]
    primitives.put_number(mail.recv, item, place, ANSWER)


@kl.kernel
def leave_from_place(i, graph: Csr, state: Deciding, mail: primitives.Mail,
                     layout: primitives.MailLayout, rule: RebalancingRule):
    """Move leaving vertex i to the block whose capacity covers its place in the line."""
    v = state.rebalancing.listed[i]
    item = kl.int64(state.rebalancing.slot_of[v])
    if item != STAYS:
        evict_strongly(v, kl.int64(kl.value_or(graph.vertex_weights, v, 1)),
                       primitives.got(mail.send, item * layout.width, ANSWER), state, rule)
