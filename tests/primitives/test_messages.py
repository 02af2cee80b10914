"""Messages between ranks: what is sent arrives, and talks end alike on all ranks."""

from __future__ import annotations

import numpy as np
import pytest

from portpart import backends
from portpart.backends.communication import Local, One
from portpart.errors import InputError, OutOfMemory
from portpart.primitives.messages import Message, Part, held

SIZES = (1, 2, 3, 5)


def rows_for(source, target, turn, columns):
    """What a rank tells another one: a few rows, often none."""
    rng = np.random.default_rng([source, target, turn])
    return rng.integers(-(2**31), 2**31, (rng.integers(0, 5) * rng.integers(0, 2), columns))


def part_of(comm, turn, kinds, narrow):
    """The rows for all ranks; those that have few bits travel as such."""
    rows = [rows_for(comm.rank, target, turn, len(kinds)) for target in range(comm.size)]
    whole = np.concatenate(rows)
    return Part([whole[:, i].astype(kind) for i, kind in enumerate(kinds)],
                np.array([len(each) for each in rows]), [np.int32] * len(kinds) if narrow else None)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", SIZES)
def test_rows_and_words_arrive_as_they_are_sent(size, threads):
    shapes = [[np.int64], [np.int32, np.int64], [np.int64, np.int32, np.int64, np.int32]]

    def talk(comm):
        for turn, kinds in enumerate(shapes):
            sent = [part_of(comm, 10 * turn + i, each, turn == 1)
                    for i, each in enumerate((kinds, shapes[0])[: 1 + turn % 2])]
            received = yield Message(sent, [comm.rank, -turn])
            assert received.words[:, :2].tolist() == [[r, -turn] for r in range(comm.size)]
            for i, (part, given) in enumerate(zip(received.parts, sent)):
                wanted = [rows_for(source, comm.rank, 10 * turn + i, len(given.columns))
                          for source in range(comm.size)]
                assert part.counts.tolist() == [len(each) for each in wanted]
                assert [each.dtype for each in part.columns] == [
                    each.dtype for each in given.columns]
                assert np.array_equal(np.stack(part.columns, axis=1), np.concatenate(wanted))
        return comm.rank

    space = backends.space("cpu", threads=threads)
    assert Local(size).run(lambda comm: held(comm, space, talk(comm))) == list(range(size))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("second", [False, True])
def test_rows_that_have_an_order_arrive_as_rows_in_that_order(size, second):
    """Also beside another part, and on a single rank."""
    space = backends.space("cpu", threads=1)

    def talk(comm):
        rng = np.random.default_rng(comm.rank)
        columns = [rng.integers(0, 2**40, 30), rng.integers(0, 100, 30).astype(np.int32)]
        order = rng.integers(0, 30, 4 * comm.size).astype(np.int32)
        counts = np.full(comm.size, 4)
        parts = [Part(columns, counts, order=order)] + second * [Part([np.full(comm.size, 7)],
                                                                     np.full(comm.size, 1))]
        ways = [parts, [Part([each[order] for each in columns], counts), *parts[1:]]]
        found = []
        for way in ways:
            received = yield Message(way)
            found.append([column.tolist() for part in received.parts for column in part.columns])
        assert found[0] == found[1]
        assert len(found[0][0]) == 4 * comm.size
        return comm.rank

    assert Local(size).run(lambda comm: held(comm, space, talk(comm))) == list(range(size))


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("error", [InputError, OutOfMemory])
def test_what_a_rank_raises_between_messages_is_raised_on_all(error, turn):
    space = backends.space("cpu", threads=1)

    def talk(comm):
        for now in range(4):
            if now == turn and comm.rank > 0:
                raise error("that is wrong")
            if now < 3:
                yield Message([part_of(comm, now, [np.int64], False)])

    def main(comm):
        with pytest.raises(error, match=r"^rank 1: that is wrong$"):
            held(comm, space, talk(comm))
        comm.vote(None)  # ranks are at the same step still

    Local(3).run(main)


def test_a_talk_without_messages_returns_its_result():
    def talk():
        return 7
        yield

    assert held(One(), backends.space("cpu"), talk()) == 7
