"""Communication in recorded programs: each store into a ghosted field is followed by a step.

On several devices, vertices of other devices are ghosts: a device has copies of what is known of
them, and is sent what has changed.  Here one device is both: in a program of refinement, launches
that only read a ghosted field are given a copy of it, which the steps bring up to date.  So results
are the same bits only if no store goes without a step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.objectives.objective import Objective
from portpart.backends.cuda.requirements import written
from portpart.backends.language import atomic_add, kernel
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Launch, Slot, Step, While
from portpart.generators import delaunay, netlist, rmat
from portpart.graphs.structure import Structure
from tests.helpers.refining import copied, refiner_at
from tests.helpers.spaces import reference

GHOSTED = ("Moves.part", "Moves.target", "Moves.moved_in", "GainCache.best_target",
           "GainCache.gain")
"""Fields of records, an element for each vertex, that are read of neighbours."""

CASES: dict[str, tuple[Structure, Objective]] = {
    "mesh": (delaunay(3000), CUT),
    "hubs": (rmat(11), CUT),
    "nets": (netlist(2000), net_objective("km1")),
}
BLOCKS = 8
MAX_STEPS = 100
RUNS, NEWS, STRAYS, COUNTS = range(4)
"""What is counted of each step: how often it ran, elements that had changed, and elements of the
copy that something else has changed."""


@kernel
def send(i, values, copies, sent, counts, first):
    """Bring an element of the copy up to date, and count."""
    if copies[i] != sent[i]:
        atomic_add(counts, first + STRAYS, 1)
    if values[i] != sent[i]:
        atomic_add(counts, first + NEWS, 1)
    sent[i] = values[i]
    copies[i] = values[i]
    if i == 0:
        counts[first + RUNS] += 1


@dataclass(frozen=True)
class Sent:
    """A step: the field, the kernels that have stored into it, the loops and branches around."""

    field: str
    after: tuple[str, ...]
    loops: int
    branches: int


class Communicator:
    """Puts communication into the programs of a space.

    Parameters
    ----------
    space : ExecutionSpace
    num_vertices : int
    left_out : int
        The number of a step that is not recorded.

    Attributes
    ----------
    plain, programs : list of Program
        Without communication, and with it.
    steps : list of Sent
        Those of all programs, by their numbers.
    """

    def __init__(self, space: ExecutionSpace, num_vertices: int, left_out: int = -1) -> None:
        self.space, self.num_vertices, self.left_out = space, num_vertices, left_out
        self.plain: list[Program] = []
        self.programs: list[Program] = []
        self.steps: list[Sent] = []
        self._bound = {"counts": space.zeros(COUNTS * MAX_STEPS, np.int64)}
        self._executables: dict[Hashable, Any] = {}

    def cached_executable(self, key: Hashable, record: Any) -> Any:
        """Compile a program with communication, once, in place of the method of the space."""
        if key not in self._executables:
            self.plain.append(record())
            self.programs.append(self._communicating(record()))
            self._executables[key] = self.space.executable(self.programs[-1])
        return _Bound(self._executables[key], self._bound)

    def counted(self, what: int) -> list[int]:
        """What each step has counted: RUNS, NEWS or STRAYS."""
        return [int(count) for count in copied(self._bound["counts"])[what::COUNTS]][
            : len(self.steps)]

    def strays(self) -> int:
        """How many elements of copies have been changed by what is no step."""
        pairs = ((copied(self._bound[f"copy_{number}"]), copied(self._bound[f"sent_{number}"]))
                 for number in range(len(GHOSTED)))
        return sum(self.counted(STRAYS)) + sum(int((copy != sent).sum()) for copy, sent in pairs)

    def _communicating(self, program: Program) -> Program:
        fields, counts = ghosted(program), program.array("counts", np.int64)
        copies = {slot: self._array(program, f"copy_{GHOSTED.index(field)}", slot)
                  for slot, field in fields.items()}
        sent = {slot: self._array(program, f"sent_{GHOSTED.index(field)}", slot)
                for slot, field in fields.items()}

        def sends(stored: dict[Slot, list[str]], around: tuple[int, int]) -> Iterator[Step]:
            for slot, after in stored.items():
                number = len(self.steps)
                self.steps.append(Sent(fields[slot], tuple(after), *around))
                if number != self.left_out:
                    args = slot, copies[slot], sent[slot], counts, COUNTS * number
                    yield Launch(self.num_vertices, send, args, team=1)

        def among(steps: Iterable[Step], around: tuple[int, int]) -> Iterator[Step]:
            stored: dict[Slot, list[str]] = {}
            for step in steps:
                if isinstance(step, While):
                    inside = around[0] + 1, around[1]
                    yield replace(step, steps=[*among(step.steps, inside)])
                elif isinstance(step, Branch):
                    inside = around[0], around[1] + 1
                    yield replace(step, then=[*among(step.then, inside)],
                                  orelse=[*among(step.orelse, inside)])
                else:
                    own = [slot for slot in copies if slot in stores(step)]
                    yield replace(step, args=tuple(
                        each if each in own else copies.get(each, each) for each in step.args))
                    for slot in own:
                        stored.setdefault(slot, []).append(step.kernel.name)
                    if step.has_barrier:  # else the next launch stands beside it
                        yield from sends(stored, around)
                        stored = {}

        begin = {slot: list[str]() for slot in copies}
        program.steps = [*sends(begin, (0, 0)), *among(program.steps, (0, 0))]
        return program

    def _array(self, program: Program, name: str, like: Slot) -> Slot:
        """A slot for an array like that of another, and the array."""
        if name not in self._bound:
            self._bound[name] = self.space.zeros(self.num_vertices, like.dtype)
        return program.array(name, like.dtype)


class _Bound:
    """An executable with more arrays bound."""

    def __init__(self, executable: Any, arrays: dict[str, Any]) -> None:
        self._executable, self._arrays = executable, arrays

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run it."""
        self._executable.run({**bindings, **self._arrays}, size, sizes)


def ghosted(program: Program) -> dict[Slot, str]:
    """The slots of ghosted fields, whatever their records are called in the program."""
    return {getattr(record, field.partition(".")[2]): field
            for field in GHOSTED for record in program.records.values()
            if type(record).__name__ == field.partition(".")[0]}


def stores(launch: Launch) -> set[Slot]:
    """The slots that a launch may store into."""
    parameters = launch.kernel.parameters[1:]
    return {argument for parameter, argument in zip(parameters, launch.args, strict=True)
            if isinstance(argument, Slot) and written(launch.kernel, parameter)}


class Refined(NamedTuple):
    """What refinement comes to."""

    iterations: int
    cuts: list[int]
    best: list[int]


def refined(space: ExecutionSpace, name: str) -> Refined:
    """Refine blocks of very different weights, and the best ones once more."""
    graph, objective = CASES[name]
    part = BLOCKS * np.random.default_rng(1).random(graph.num_vertices) ** 4
    refiner, here = refiner_at(space, graph, part.astype(np.int32), BLOCKS, objective=objective,
                               iteration_limit=100)
    first = refiner.refine(here, 0.25)
    refiner.restart(here)
    both = first, refiner.refine(here, 0.75)
    return Refined(sum(each["iterations"] for each in both), [each["cut"] for each in both],
                   copied(refiner.best).tolist())


@cache
def without_communication(name: str) -> Refined:
    """The same bits in every space."""
    return refined(reference(), name)


def communicating(space: ExecutionSpace, name: str,
                  left_out: int = -1) -> tuple[Communicator, Refined]:
    """What refinement comes to with communication."""
    communicator = Communicator(space, CASES[name][0].num_vertices, left_out)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(space, "cached_executable", communicator.cached_executable)
        return communicator, refined(space, name)


@pytest.fixture(scope="module", params=CASES)
def done(request: pytest.FixtureRequest,
         space: ExecutionSpace) -> tuple[str, Communicator, Refined]:
    """A refinement with communication."""
    return request.param, *communicating(space, request.param)


def test_results_are_the_same_bits(done):
    name, communicator, result = done
    assert result == without_communication(name)
    assert communicator.strays() == 0


def test_each_store_is_followed_by_a_step_and_nothing_else_is(done):
    _, communicator, _ = done
    assert {sent.field for sent in communicator.steps} == set(GHOSTED)
    for plain, program in zip(communicator.plain, communicator.programs, strict=True):
        kernels = [launch.kernel for launch in program.launches()]
        assert [each for each in kernels if each is not send] == [
            launch.kernel for launch in plain.launches()]
        assert kernels.count(send) == len(communicator.steps)
        fields = ghosted(program)
        assert_stores_are_followed(program.steps, fields, set(fields))


def assert_stores_are_followed(steps: list[Step], fields: dict[Slot, str], due: set[Slot]) -> None:
    """Of these steps, and of those inside them; the fields `due` are sent first."""
    side_by_side = False
    for step in steps:
        if isinstance(step, Launch) and step.kernel is send:
            due.remove(step.args[0])
            continue
        assert side_by_side or not due
        side_by_side = isinstance(step, Launch) and not step.has_barrier
        if isinstance(step, Launch):
            stored = stores(step) & fields.keys()
            assert fields.keys() & {each for each in step.args if isinstance(each, Slot)} == stored
            due |= stored
        else:
            for inner in [step.steps] if isinstance(step, While) else [step.then, step.orelse]:
                assert_stores_are_followed(inner, fields, set())
    assert not due


def test_steps_run_as_often_as_what_they_follow_and_none_for_nothing(done):
    _, communicator, result = done
    runs, news = communicator.counted(RUNS), communicator.counted(NEWS)
    for sent, count, changed in zip(communicator.steps, runs, news, strict=True):
        if sent.loops == 0:
            assert count == 2, sent  # programs
        elif sent.branches == 0:
            assert count == result.iterations, sent
        else:
            assert count < result.iterations, sent
        assert changed > 0 or sent.loops == 0 or count == 0, sent
    assert sum(count > 0 for count in runs) > len(runs) // 2


@pytest.mark.parametrize("field", ["Moves.part", "GainCache.best_target", "GainCache.gain"])
def test_a_step_that_is_left_out_makes_a_difference(field):
    steps = communicating(reference(), "mesh")[0].steps
    in_every_iteration = Sent(field, next(each.after for each in reversed(steps)
                                          if each.field == field), loops=1, branches=0)
    _, result = communicating(reference(), "mesh", left_out=steps.index(in_every_iteration))
    assert result != without_communication("mesh")
