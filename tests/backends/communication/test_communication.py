"""Communicators: what arrives, and how the errors of one rank end all of them."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

from portpart.backends.communication import CommunicationError, Local, One, RankFailed
from portpart.backends.programs.steps import Parcel
from portpart.errors import GraphFormatError, InputError, OutOfMemory
from tests.helpers.ranks.rank_rows import DEVICES, SIZES, space_of
from tests.oracles import host


def parts_for(size, rank, seed=0):
    """What a rank sends to each rank; some parts are empty."""
    rng = np.random.default_rng([seed, rank])
    return [rng.integers(-9, 9, rng.integers(0, 7)).astype(np.int32) for _ in range(size)]


def exchanged(comm, parts, capacity=100, put=np.asarray):
    """What each rank has sent to this one, in arrays that `put` makes of those of the host."""
    parcel = Parcel(send=put(np.concatenate([*parts, np.zeros(3, parts[0].dtype)])),
                    send_counts=put(np.array([len(part) for part in parts])),
                    recv=put(np.zeros(capacity, parts[0].dtype)),
                    recv_counts=put(np.zeros(comm.size, int)))
    comm.all_to_all(parcel)
    ends = np.cumsum(host(parcel.recv_counts))
    return np.split(host(parcel.recv)[: ends[-1]], ends[:-1])


def communicators(size):
    """Ranks of this number; some exchange two elements at a time."""
    return [Local(size), Local(size, max_count=2), *([_Alone()] if size == 1 else [])]


PLACES = ("cpu-1", *DEVICES)
"""Where arrays are."""


class _Alone:
    """One rank, called like several."""

    def run(self, main):
        return [main(One())]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", SIZES)
def test_every_rank_gets_what_the_others_send_it(size, place):
    put = space_of(place).asarray
    for ranks in communicators(size):
        got = ranks.run(lambda comm: exchanged(comm, parts_for(comm.size, comm.rank), put=put))
        for target, parts in enumerate(got):
            for source, part in enumerate(parts):
                assert part.tolist() == parts_for(size, source)[target].tolist()


@pytest.mark.parametrize("size", SIZES)
def test_every_rank_gets_what_is_posted_to_it_without_knowing_how_much(size):
    def main(comm):
        parts = parts_for(comm.size, comm.rank)
        numbers = np.array([[len(part), comm.rank, target] for target, part in enumerate(parts)])
        made = []

        def room(length):
            made.append(length)
            return np.empty(length, np.int32)

        came, told = comm.post(np.concatenate(parts), numbers, room)
        assert made in ([], [len(came)])
        return np.split(came, np.cumsum(told[:, 0])[:-1]), told

    for ranks in communicators(size):
        for target, (got, told) in enumerate(ranks.run(main)):
            wanted = [parts_for(size, source)[target].tolist() for source in range(size)]
            assert [part.tolist() for part in got] == wanted
            assert told.tolist() == [[len(part), source, target]
                                     for source, part in enumerate(wanted)]


def test_a_rank_without_memory_for_what_is_posted_to_it_is_named_on_all():
    def main(comm):
        def room(length):
            if comm.rank == 1:
                raise OutOfMemory("there is no memory")
            return np.empty(length, np.int32)

        comm.post(np.zeros(3, np.int32), np.ones((3, 1), np.int64), room)

    with pytest.raises(OutOfMemory, match=r"^rank 1: there is no memory$"):
        Local(3).run(main)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", ["sum", "min", "max"])
@pytest.mark.parametrize("place", PLACES)
def test_words_are_reduced_over_all_ranks_and_others_stay(size, op, place):
    space = space_of(place)

    def main(comm):
        before = np.random.default_rng(comm.rank).integers(-(2**62) // 8, 2**62 // 8, 9)
        given = space.asarray(before.copy())
        comm.all_reduce(given, 2, 5, op)
        comm.all_reduce(given, 3, 0, op)
        words = host(given)
        assert (words[[0, 1, 7, 8]] == before[[0, 1, 7, 8]]).all()
        return before[2:7], words[2:7].tolist()

    for ranks in communicators(size):
        results = ranks.run(main)
        columns = zip(*(before.tolist() for before, _ in results))
        wanted = [{"sum": sum, "min": min, "max": max}[op](column) for column in columns]
        assert all(words == wanted for _, words in results)


def test_one_rank_runs_at_a_time():
    inside, most = [], []

    def main(comm):
        for _ in range(20):
            inside.append(comm.rank)
            time.sleep(0.0001)
            most.append(len(inside))
            inside.remove(comm.rank)
            comm.vote(None)

    Local(4).run(main)
    assert max(most) == 1


@pytest.mark.parametrize("error", [InputError, OutOfMemory, GraphFormatError])
@pytest.mark.parametrize("voted", [False, True])
def test_the_error_of_a_rank_is_raised_on_all_with_its_rank(error, voted):
    seen = {}

    def main(comm):
        problem = error("k is wrong") if comm.rank in (2, 3) else None
        try:
            comm.vote(None)
            if voted:
                comm.vote(problem)
            elif problem:
                raise problem
            comm.vote(None)
        except error as found:
            seen[comm.rank] = str(found)
            raise

    with pytest.raises(error, match=r"^rank 2: k is wrong$"):
        Local(5).run(main)
    wanted = dict.fromkeys(range(5), "rank 2: k is wrong")
    assert seen == (wanted if voted else {**wanted, 2: "k is wrong"})


def test_what_an_error_knows_is_known_on_all_ranks():
    def main(comm):
        problem = InputError("vertex 7 is wrong")
        problem.vertex = 7
        comm.vote(problem if comm.rank == 1 else None)

    with pytest.raises(InputError) as caught:
        Local(2).run(main)
    assert caught.value.vertex == 7


def test_other_exceptions_end_all_ranks_as_failures_of_that_rank():
    def main(comm):
        comm.vote(None)
        if comm.rank == 1:
            raise ZeroDivisionError("by nothing")
        comm.vote(None)

    with pytest.raises(RankFailed, match=r"rank 1: ZeroDivisionError: by nothing"):
        Local(3).run(main)


def test_an_interrupt_of_a_rank_interrupts_all():
    ended = []

    def main(comm):
        try:
            comm.vote(None)
            if comm.rank == 2:
                raise KeyboardInterrupt
            comm.vote(None)
        except KeyboardInterrupt:
            ended.append(comm.rank)
            raise

    with pytest.raises(KeyboardInterrupt):
        Local(3).run(main)
    assert sorted(ended) == [0, 1, 2]


def test_ctrl_c_ends_all_ranks_and_leaves_no_thread():
    steps = []

    def main(comm):
        while True:
            steps.append(comm.rank)
            if len(steps) == 10:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            comm.vote(None)

    before = threading.active_count()
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            Local(3).run(main)
    finally:
        signal.signal(signal.SIGINT, usual)
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before


def test_a_caught_error_lets_the_ranks_go_on():
    def main(comm):
        with pytest.raises(InputError):
            comm.vote(InputError("no") if comm.rank == 0 else None)
        return exchanged(comm, [np.array([comm.rank])] * comm.size)

    assert [np.concatenate(got).tolist() for got in Local(3).run(main)] == [[0, 1, 2]] * 3


@pytest.mark.parametrize("place", DEVICES)
@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("size", [2, 17])
def test_elements_of_every_width_arrive_on_a_device(place, kind, size):
    """Also where there are too many ranks for one kernel."""
    space = space_of(place)
    got = Local(size).run(lambda comm: exchanged(
        comm, [part.astype(kind) for part in parts_for(size, comm.rank)], put=space.asarray))
    for target, parts in enumerate(got):
        for source, part in enumerate(parts):
            assert part.tolist() == parts_for(size, source)[target].astype(kind).tolist()


@pytest.mark.parametrize("place", DEVICES)
def test_numbers_of_elements_may_be_overwritten(place):
    """The same array tells what is sent, and what arrives."""
    space = space_of(place)

    def main(comm):
        counts, recv = space.asarray(np.arange(3) + comm.rank), space.zeros(12, np.int32)
        comm.all_to_all(Parcel(send=space.full(12, comm.rank, np.int32), send_counts=counts,
                               recv=recv, recv_counts=counts))
        return host(counts).tolist(), np.bincount(host(recv)[: host(counts).sum()]).tolist()

    assert Local(3).run(main) == [([r, r + 1, r + 2],) * 2 for r in range(3)]


@pytest.mark.parametrize("place", DEVICES)
@pytest.mark.parametrize(("counts", "capacity", "message"), [
    ([4, 4, 4], 11, "rank 0: 12 elements arrive at an array of 11"),
    ([4, 9, 4], 99, "rank 0: parts of [4, 9, 4] elements are sent, from an array of 15"),
    ([4, -1, 4], 99, "rank 0: parts of [4, -1, 4] elements are sent, from an array of 15"),
    ([4, 4], 99, "rank 0: send_counts has shape (2,) and type int64; 3 numbers of int64 are "
     "needed"),
])
def test_arrays_of_a_device_are_checked(place, counts, capacity, message):
    space = space_of(place)
    with pytest.raises(CommunicationError) as caught:
        Local(3).run(lambda comm: comm.all_to_all(Parcel(
            send=space.zeros(15, np.int32), send_counts=space.asarray(np.array(counts)),
            recv=space.zeros(capacity, np.int32), recv_counts=space.zeros(3, np.int64))))
    assert str(caught.value) == message


@pytest.mark.parametrize("place", DEVICES)
def test_ranks_on_streams_of_their_own_wait_for_each_other(place):
    space = space_of(place)
    if not hasattr(space.cupy.cuda, "Stream"):
        pytest.skip("there are no streams")

    def main(comm):
        with space.cupy.cuda.Stream(non_blocking=True):
            parts = [np.full(200_000, comm.rank) for _ in range(comm.size)]
            got = exchanged(comm, parts, 800_000, space.asarray)
        return [int(part.min()) for part in got], [int(part.max()) for part in got]

    assert Local(4).run(main) == 4 * [([0, 1, 2, 3], [0, 1, 2, 3])]


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda comm: comm.vote(None) if comm.rank == 1 else None,
     "rank 0 has ended, and rank 1 is at vote"),
    (lambda comm: comm.vote(None) if comm.rank else comm.all_reduce(np.zeros(3, int), 0, 3, "sum"),
     "rank 0 is at all_reduce of 3 words by sum, and rank 1 is at vote"),
    (lambda comm: comm.all_reduce(np.zeros(3, int), 0, 3, "min" if comm.rank == 2 else "max"),
     "rank 0 is at all_reduce of 3 words by max, and rank 2 is at all_reduce of 3 words by min"),
    (lambda comm: comm.all_reduce(np.zeros(3 if comm.rank == 2 else 4, int), 0, 4, "sum"),
     "rank 2: words 0 to 4 are reduced, of an array of 3"),
    (lambda comm: comm.all_reduce(np.zeros(3, np.int32), 0, 3, "sum"),
     "rank 0: words of int64 are reduced, not int32"),
    (lambda comm: exchanged(comm, [np.zeros(4, int)] * comm.size, capacity=13 - comm.rank),
     "rank 2: 12 elements arrive at an array of 11"),
    (lambda comm: exchanged(comm, [np.zeros(4, np.float32)] * comm.size),
     "rank 0: float32 is sent, to arrive as float32; one type of integers is needed"),
    (lambda comm: comm.post(np.zeros(4, int), np.full((3, 1), 1 + comm.rank), np.empty),
     "rank 1: parts of [2, 2, 2] elements are sent, from an array of 4"),
    (lambda comm: comm.post(np.zeros(4, int), np.zeros((2 + comm.rank, 1), int), np.empty),
     "rank 0: numbers have shape (2, 1) and type int64; 3 rows of int64 are needed"),
    (lambda comm: comm.vote(None) if comm.rank else comm.post(
        np.zeros(4, int), np.zeros((3, 2), int), np.empty),
     "rank 0 is at post of int64 and 2 numbers, and rank 1 is at vote"),
    (lambda comm: exchanged(comm, [np.zeros(4, int)] * (comm.size + comm.rank % 2)),
     "rank 1: send_counts has shape (4,) and type int64; 3 numbers of int64 are needed"),
])
def test_ranks_that_do_not_fit_together_are_told(wrong, message):
    with pytest.raises(CommunicationError) as caught:
        Local(3).run(wrong)
    assert str(caught.value) == message
