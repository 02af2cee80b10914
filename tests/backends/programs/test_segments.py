"""Programs that are cut at steps of communication do what programs do that are not cut."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest

from portpart import backends
from portpart.backends.communication import Local, One
from portpart.backends.cuda.launch import Given
from portpart.backends.cuda.segments import Segment, Segments
from portpart.backends.language import Words, kernel, work
from portpart.backends.programs.arguments import address_of
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Communication, Launch, Parcel, all_steps
from tests.helpers.ranks.rank_rows import DEVICES, space_of

LOOPS, CHOICE, SUM = 0, 4, 5
"""Words of `control`: counters of loops by their depth, a flag, what is reduced."""

N = 12
"""Values of a rank."""


class Notes(Words):
    """Words that belong to a run."""

    launches: int
    total: int


class Brought(Words):
    """Words that travel with the arguments."""

    step: int
    times: int


@kernel
def begin_loop(_, control, depth, times):
    """So many rounds are to go."""
    control[LOOPS + depth] = times


@kernel
def end_round(_, control, depth):
    """One round less to go."""
    control[LOOPS + depth] -= 1


@kernel
def count(_, notes: Notes, given: Brought, control):
    """Count a launch; what is to be reduced depends on it."""
    notes.launches += 1
    notes.total += control[SUM] % 1000 + notes.launches
    given.step += notes.launches
    control[SUM] = control[SUM] % 1000 + notes.total % 100 + given.step


@kernel
def stir(i, values, spare, control, amount):
    """Values change, and scratch too."""
    spare[i] = values[i] % 500
    values[i] = values[i] + amount * (i + 1) + control[SUM] % 100


@kernel
def stir_back(i, values, spare):
    """What stands in scratch comes back."""
    values[i] = values[i] + spare[i]


@kernel
def deal(_, values, send, send_counts, ranks):
    """Deal the values out; the first ranks get more."""
    left = 12
    for rank in range(ranks):
        part = left if rank == ranks - 1 else (left + 1) // 2
        send_counts[rank] = part
        left -= part
    for i in range(12):
        send[i] = values[i]


@kernel
def gather_up(_, values, recv, recv_counts, control, ranks):
    """Add up what has arrived."""
    place = 0
    for rank in range(ranks):
        for _j in range(recv_counts[rank]):
            values[place % 12] = values[place % 12] + recv[place] % 100 + rank
            place += 1
    control[SUM] += place


@kernel
def choose(_, control, bit):
    """A flag that is the same on all ranks, as the sum is."""
    control[CHOICE] = (control[SUM] >> bit) & 1


class Recorder:
    """Draws a program."""

    def __init__(self, seed: int, ranks: int) -> None:
        self.random, self.ranks = random.Random(seed), ranks
        self.program = program = Program(f"drawn {seed} for {ranks}")
        self.control = program.array("control", np.int64)
        program.array("values", np.int64)
        program.zeros("notes", Notes)
        program.record("given", Brought.of())
        program.scratch("spare", work(np.int64, lambda sizes: N))
        self.parcel = Parcel(
            send=program.scratch("send", work(np.int64, lambda sizes: N)),
            send_counts=program.scratch("send_counts", work(np.int64, lambda sizes: sizes)),
            recv=program.array("recv", np.int64),
            recv_counts=program.array("recv_counts", np.int64))
        program.launch(N, stir, amount=1)
        self.block(0)
        program.launch(N, stir_back)

    def block(self, depth: int) -> None:
        """A few steps."""
        for _ in range(self.random.randint(1, 4)):
            getattr(self, self.random.choice(
                ["launch", "launch", "reduce", "deal"] + 2 * ["loop", "branch"] * (depth < 3)))(
                    depth)

    def launch(self, depth: int) -> None:
        self.program.launch(N, stir, amount=self.random.randint(1, 5))
        self.program.launch(1, count)

    def reduce(self, depth: int) -> None:
        self.program.all_reduce(self.control, SUM, 1, self.random.choice(["sum", "min", "max"]))

    def deal(self, depth: int) -> None:
        self.program.launch(1, deal, ranks=self.ranks)
        self.program.all_to_all(self.parcel)
        self.program.launch(1, gather_up, ranks=self.ranks)

    def loop(self, depth: int) -> None:
        self.program.launch(1, begin_loop, depth=depth, times=self.random.randint(0, 3))
        with self.program.while_loop(self.control[LOOPS + depth]):
            self.block(depth + 1)
            self.program.launch(1, end_round, depth=depth)

    def branch(self, depth: int) -> None:
        self.reduce(depth)
        self.program.launch(1, choose, bit=self.random.randint(0, 2))
        with self.program.if_nonzero(self.control[CHOICE]):
            self.block(depth + 1)
        if self.random.random() < 0.5:
            with self.program.otherwise():
                self.block(depth + 1)


def ran(space, program, comm):
    """What a rank has after two runs, of which the second goes on with the arrays."""
    executable = space.cached_executable(program.name, lambda: program)
    control = space.zeros(6, np.int64)
    values = space.asarray(np.arange(N) * (comm.rank + 2))
    bound = {"control": control, "values": values, "comm": comm, "given": Brought.of(step=7),
             "recv": space.zeros(N * comm.size, np.int64),
             "recv_counts": space.zeros(comm.size, np.int64)}
    found = []
    for _ in range(2):
        executable.run(bound, N, comm.size)
        found.append([space.to_host(values).tolist(), space.to_host(control).tolist()])
    return found


@pytest.mark.parametrize("name", ["host-cuda", *DEVICES])
@pytest.mark.parametrize("size", [1, 3])
def test_drawn_programs_do_what_they_do_on_a_cpu(name, size):
    here, cpu = space_of(name), backends.space("cpu", threads=1)
    for seed in range(6 if name.startswith("cuda") else 12):
        program = Recorder(seed, size).program
        wanted = Local(size).run(lambda comm, p=program: ran(cpu, p, comm))
        assert Local(size).run(lambda comm, p=program: ran(here, p, comm)) == wanted


def test_no_segment_communicates_and_all_launches_are_in_one():
    for seed in range(40):
        program = Recorder(seed, 2).program
        segments = Segments(program)
        assert not any(each.communication() for each in segments.programs())
        assert ([launch.kernel for part in segments.line if isinstance(part, Segment)
                 for launch in part.program.launches()]
                == [launch.kernel for launch in program.launches()])


def test_segments_behind_a_flag_may_test_it_themselves():
    """The first one of a loop, and each one that may come first behind a branch."""
    found = []
    for seed in range(40):
        line = Segments(Recorder(seed, 2).program).line
        for place, part in enumerate(line):
            for at, segment in getattr(part, "ahead", {}).items():
                guard, = segment.program.steps
                steps = guard.then if at == place + 1 else guard.orelse
                plain = line[at].program
                assert [each.kernel for each in all_steps(steps) if isinstance(each, Launch)] == [
                    each.kernel for each in plain.launches()]
                assert segment.changes == line[at].changes
                assert not (guard.then and guard.orelse)
                found.append(at == place + 1)
    assert {True, False} == set(found)


@kernel
def set_flags(_, state, value):
    """The first flags."""
    state[0] -= 1
    state[1] = value


@kernel
def leave_alone(_, other):
    """Nothing that the host reads."""
    other[0] += 1


@kernel
def look(_, state, found, place):
    """Note the round."""
    found[place] += state[0] + 1


def flags_program(touch: str) -> Program:
    """A loop with a branch whose flag is set in the way that is asked for."""
    program = Program(f"flags {touch}")
    state, other = program.array("state", np.int64), program.array("other", np.int64)
    counts = program.array("counts", np.int64)
    program.array("found", np.int64)
    parcel = Parcel(send=other, send_counts=counts, recv=state if touch == "arrives" else other,
                    recv_counts=state if touch == "is counted" else counts)
    with program.while_loop(state[0]):
        program.launch(1, set_flags, value=int(touch in ("is launched", "stays")))
        program.all_reduce(other, 0, 1)
        if touch == "is launched":
            program.launch(1, set_flags, value=0)
        elif touch in ("arrives", "is counted"):
            program.all_to_all(parcel)
        elif touch == "is reduced":
            program.all_reduce(state, 0, 2, "max")
        else:
            program.launch(1, leave_alone)
        with program.if_nonzero(state[1]):
            program.launch(1, look, place=0)
            program.all_reduce(other, 0, 1)
        with program.otherwise():
            program.launch(1, look, place=1)
    return program


@pytest.mark.parametrize("name", ["host-cuda", *DEVICES])
@pytest.mark.parametrize("way", ["is launched", "stays", "is reduced"])
def test_flags_are_never_stale(name, way):
    def outcome(space):
        bound = {"state": space.asarray(np.array([6, 0])), "other": space.zeros(2, np.int64),
                 "counts": space.zeros(1, np.int64), "found": space.zeros(2, np.int64),
                 "comm": One()}
        space.executable(flags_program(way)).run(bound, 1)
        return [space.to_host(bound[each]).tolist() for each in ("state", "other", "found")]

    assert outcome(space_of(name)) == outcome(backends.space("cpu", threads=1))


def test_what_steps_of_communication_set_is_known_to_change():
    for way, words in (("arrives", {0, 1}), ("is counted", {0, 1}), ("is reduced", {0, 1}),
                       ("stays", set())):
        steps = [part for part in Segments(flags_program(way)).line
                 if isinstance(getattr(part, "step", None), Communication)]
        assert {each.index for part in steps for each in part.changes} == words


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize(("way", "rounds"), [("stays", 10), ("is launched", 5)])
def test_flags_are_read_together_and_again_only_if_they_may_have_changed(name, way, rounds):
    """Both flags of a round once, and the first one before the loop. Where programs are walked, the
    first segment of each round reads its own flag, too.
    """
    space = space_of(name)
    executable = space.executable(flags_program(way))
    bound = {"state": space.asarray(np.array([10, 0])), "other": space.zeros(2, np.int64),
             "counts": space.zeros(1, np.int64), "found": space.zeros(2, np.int64), "comm": One()}
    before = space.counters.synchronizations
    executable.run(bound, 1)
    walked = 0 if name == "cuda resident" else rounds
    assert space.counters.synchronizations - before == rounds + 1 + walked


def test_values_that_a_segment_is_given_once_stay_those_of_its_run():
    """Ranks that take turns bind the same program to other arrays in between."""
    space = space_of("host-cuda")
    program = Program("count")
    state = program.array("state", np.int64)
    program.launch(1, set_flags, value=5)
    program.launch(state[1], leave_alone, other=program.array("other", np.int64))
    executable = space.executable(program)
    runs = []
    for _ in range(2):
        bound = {"state": np.array([3, 0]), "other": np.zeros(1, np.int64)}
        where = address_of(executable.plan), 0, 0, 0
        executable.table.bind(bound, (0, 0, 0, 0), 0, ())
        given = Given(executable.table)
        runs.append((bound, given, where))
    for _, given, where in runs:
        given.set_where(where)
        executable.entry(ctypes.c_void_p.from_address(given.arguments).value)
    for bound, _, _ in runs:
        assert bound["state"].tolist() == [2, 5]
        assert bound["other"].tolist() == [5]
