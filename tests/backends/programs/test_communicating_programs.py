"""Programs that communicate: the same on each way to run them, for any number of ranks."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from bench.traffic import LaunchCounter
from portpart import backends
from portpart.backends.communication import CommunicationError, Local, One, local
from portpart.backends.language import Words, kernel, work
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Parcel
from portpart.errors import InputError
from tests.helpers.each import looped
from tests.helpers.ranks.rank_rows import DEVICES, SIZES, SPACES, space_of

ROUNDS, SENDS, HELD, TOTAL, TOP, LOW, RANKS = range(7)
LARGE = 2**62
MANY = 100_000
"""Values of all ranks, so many that threads work."""


@kernel
def sort_out(_, values, send, send_counts, state):
    """Send each value to the rank that it leaves as a remainder in this round."""
    place = 0
    for rank in range(state[RANKS]):
        before = place
        for i in range(state[HELD]):
            if (values[i] + state[ROUNDS]) % state[RANKS] == rank:
                send[place] = values[i]
                place += 1
        send_counts[rank] = place - before
    state[SENDS] = state[ROUNDS] % 2


@kernel
def take_over(_, values, recv, recv_counts, state):
    """What has arrived is held now; sums and extremes of it are to be reduced."""
    held = 0
    for rank in range(state[RANKS]):
        held += recv_counts[rank]
    for i in range(held):
        values[i] = recv[i]
    state[HELD] = held


@kernel
def add_one(i, values):
    """values[i] += 1."""
    values[i] += 1


@kernel
def write_report(_, values, state):
    """Sum, largest and smallest value of this rank; the next round."""
    state[TOTAL] = 0
    state[TOP] = -LARGE
    state[LOW] = LARGE
    for i in range(state[HELD]):
        state[TOTAL] += values[i]
        state[TOP] = max(state[TOP], values[i])
        state[LOW] = min(state[LOW], values[i])
    state[ROUNDS] -= 1


def recorded() -> Program:
    """Rounds in which every value is increased; in odd rounds values change ranks before."""
    program = Program("sort out")
    state = program.array("state", np.int64)
    program.array("values", np.int32)
    parcel = Parcel(
        send=program.scratch("send", work(np.int32, lambda sizes: sizes[0])),
        send_counts=program.scratch("send_counts", work(np.int64, lambda sizes: sizes[1])),
        recv=program.scratch("recv", work(np.int32, lambda sizes: sizes[0])),
        recv_counts=program.array("recv_counts", np.int64))
    with program.while_loop(state[ROUNDS]):
        program.launch(1, sort_out)
        with program.if_nonzero(state[SENDS]):
            program.all_to_all(parcel)
            program.launch(1, take_over)
        program.launch(state[HELD], add_one)
        program.launch(1, write_report)
        program.all_reduce(state, TOTAL, 1)
        program.all_reduce(state, TOP, 1, "max")
        program.all_reduce(state, LOW, 1, "min")
    return program


def shares(size, count, seed=1):
    """The values of each rank; some ranks have none."""
    rng = np.random.default_rng(seed)
    return np.split(rng.integers(0, 999, count).astype(np.int32),
                    np.sort(rng.integers(0, count + 1, size - 1)))


def computed(held, rounds):
    """The values of each rank after so many rounds, and sum, largest and smallest of all."""
    for left in range(rounds, 0, -1):
        if left % 2:
            everything = np.concatenate(held)
            held = [everything[(everything + left) % len(held) == rank]
                    for rank in range(len(held))]
        held = [part + 1 for part in held]
    everything = np.concatenate(held).astype(np.int64)
    return [part.tolist() for part in held], [everything.sum(), everything.max(), everything.min()]


def ran(space, comm, held, rounds):
    """What a rank holds in the end, and what it has found out about all."""
    total = int(sum(map(len, held)))
    values, state = np.zeros(total, np.int32), np.zeros(7, np.int64)
    values[: len(held[comm.rank])] = held[comm.rank]
    state[[ROUNDS, HELD, RANKS]] = rounds, len(held[comm.rank]), comm.size
    values, state = space.asarray(values), space.asarray(state)
    space.cached_executable("sort out", recorded).run(
        {"values": values, "state": state, "comm": comm,
         "recv_counts": space.zeros(comm.size, np.int64)}, size=total, sizes=(total, comm.size))
    state = space.to_host(state)
    return space.to_host(values)[: state[HELD]].tolist(), state[[TOTAL, TOP, LOW]].tolist()


@pytest.fixture(scope="module", params=[*SPACES, "counter"])
def here(request):
    """Each way to run a program."""
    return LaunchCounter() if request.param == "counter" else space_of(request.param)


@looped("size", SIZES)
@looped("rounds", [0, 1, 6])
def test_ranks_compute_what_one_array_comes_to(here, size, rounds):
    held = shares(size, 60)
    wanted, figures = computed(held, rounds)
    for ranks in (Local(size), Local(size, max_count=3)):
        results = ranks.run(lambda comm: ran(here, comm, held, rounds))
        assert [values for values, _ in results] == wanted
        assert rounds == 0 or all(found == figures for _, found in results)


def test_threads_of_a_rank_do_not_keep_the_next_one_waiting():
    space = backends.space("cpu", threads=2)
    held = shares(3, MANY)
    results = Local(3).run(lambda comm: ran(space, comm, held, 5))
    wanted, figures = computed(held, 5)
    assert results == [(values, figures) for values in wanted]


def test_one_rank_alone_carries_out_the_steps(here):
    held = shares(1, 60)
    (wanted,), figures = computed(held, 6)
    assert ran(here, One(), held, 6) == (wanted, figures)


class Pair(Words):
    """A number of words, and one of them."""

    count: int
    word: int


def test_the_number_of_words_may_be_one_that_travels_with_the_arguments(here):
    program = Program("count")
    words, pair = program.array("words", np.int64), program.record("pair", Pair.of())
    program.all_reduce(words, 1, pair.array[Pair.count])
    executable = here.executable(program)

    def main(comm):
        words = here.full(5, comm.rank, np.int64)
        executable.run({"words": words, "pair": Pair.of(count=3), "comm": comm}, size=5)
        return here.to_host(words).tolist()

    assert Local(3).run(main) == [[rank, 3, 3, 3, rank] for rank in range(3)]


def test_a_program_that_communicates_wants_a_communicator(here):
    program = Program("alone")
    program.all_reduce(program.array("words", np.int64), 0, 1)
    with pytest.raises(InputError, match="program 'alone' communicates; bind 'comm'"):
        here.executable(program).run({"words": here.zeros(1, np.int64)}, size=1)


def test_what_ranks_cannot_exchange_is_refused_when_it_is_recorded():
    program = Program("wrong")
    longs, ints = program.array("longs", np.int64), program.array("ints", np.int32)
    floats = program.array("floats", np.float32)
    with pytest.raises(ValueError, match="op must be one of"):
        program.all_reduce(longs, 0, 1, "prod")
    for slot in (ints, program.scalar("number"), program.zeros("zeros", Pair).array,
                 program.record("given", Pair.of()).array, program.array("absent", None)):
        with pytest.raises(ValueError, match=repr(slot.name)):
            program.all_reduce(slot, 0, 1)
    for send, recv, counts in ((ints, longs, longs), (floats, floats, longs), (ints, ints, ints)):
        with pytest.raises(ValueError, match=r"of one type|not of int64"):
            program.all_to_all(Parcel(send=send, send_counts=counts, recv=recv,
                                      recv_counts=longs))
    with pytest.raises(ValueError, match="only launches may be side by side"), \
            program.side_by_side():
        program.all_reduce(longs, 0, 1)


HOSTS = ("cpu-1", "cpu-2", "host-cuda")
"""Spaces whose arrays are those of NumPy."""


def sums_while_set() -> Program:
    """Sums of a word while a flag is set."""
    program = Program("sums while set")
    state, total = program.array("state", np.int64), program.array("total", np.int64)
    with program.while_loop(state[0]):
        program.all_reduce(total, 0, 1)
        program.launch(1, go_on, end=program.scalar("end"))
    return program


@kernel
def go_on(_, state, end):
    """One round less, if there is an end."""
    state[0] -= end


@pytest.mark.parametrize("name", [*HOSTS, *DEVICES])
def test_ranks_whose_flags_differ_are_told_so(name):
    space = space_of(name)

    def main(comm):
        space.cached_executable("sums", sums_while_set).run(
            {"state": space.full(1, 2 + comm.rank // 2, np.int64), "end": 1, "comm": comm,
             "total": space.zeros(1, np.int64)}, 1)

    with pytest.raises(CommunicationError) as caught:
        Local(3).run(main)
    assert str(caught.value) == ("rank 0 has ended its program, and rank 2 is at all_reduce of 1 "
                                 "words by sum")


@pytest.mark.parametrize("name", [*HOSTS, *DEVICES])
def test_the_error_of_a_rank_in_a_program_is_raised_on_all(name):
    space = space_of(name)
    raised = []

    def main(comm):
        try:
            space.cached_executable("sums", sums_while_set).run(
                {"state": space.full(1, 2, np.int64), "end": 1, "comm": comm,
                 "total": space.zeros(int(comm.rank != 1), np.int64)}, 1)
        except CommunicationError as problem:
            raised.append(str(problem))
            raise

    message = "rank 1: words 0 to 1 are reduced, of an array of 0"
    with pytest.raises(CommunicationError, match=message):
        Local(3).run(main)
    assert raised == 3 * [message]


@pytest.mark.parametrize("name", HOSTS)
def test_ctrl_c_ends_ranks_in_a_program(name):
    space = space_of(name)

    def main(comm):
        space.cached_executable("sums", sums_while_set).run(
            {"state": np.ones(1, np.int64), "end": 0, "comm": comm,
             "total": np.zeros(1, np.int64)}, 1)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    here = threading.get_ident()
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(here, signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            Local(3).run(main)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, usual)


@pytest.mark.parametrize("name", HOSTS)
def test_ranks_take_no_turns_inside_a_program(name, monkeypatch):
    turns = []
    plain = local._Turns.step
    monkeypatch.setattr(local._Turns, "step",
                        lambda self, rank, call: (turns.append(rank), plain(self, rank, call)))
    space = space_of(name)
    Local(3).run(lambda comm: space.cached_executable("sums", sums_while_set).run(
        {"state": np.full(1, 9), "end": 1, "comm": comm, "total": np.zeros(1, np.int64)}, 1))
    assert turns == [0, 1, 2]
