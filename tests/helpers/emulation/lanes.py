"""A space for tests: kernels run as plain Python, the lanes of a team in turn or as threads.

Slow, for graphs of a few dozen vertices.  What it shows is that a kernel's result does not depend
on the width of its team, which spaces of one lane cannot show.
"""

from __future__ import annotations

import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache, partial, reduce
from threading import current_thread
from typing import Any, Protocol, cast

import numpy as np
from greenlet import getcurrent, greenlet

from portpart.backends import language
from portpart.backends.communication.exchange import COMM, communicator_of, perform
from portpart.backends.language import Kernel, Word
from portpart.backends.language.parameters import KernelParameter, flat_parameters
from portpart.backends.programs.arguments import Bindings
from portpart.backends.programs.interface import Array, Executable
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Element, Launch, Slot, Step, While
from portpart.primitives.hashing import mixed
from tests.helpers.emulation.host_cuda import HostCudaSpace
from tests.helpers.emulation.races import Uses, watched

MASK = 2**64 - 1


class _Barrier:
    """Where lanes wait for each other; a lane on its own never waits.

    The one of `threading` does the same in several times the time.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.guard = threading.Lock()
        self.waiting: list[threading.Lock] = []
        self.broken = False

    def wait(self) -> None:
        """Return when all lanes have called this; raises BrokenBarrierError after `abort`."""
        if self.size == 1:
            return
        turn = threading.Lock()
        turn.acquire()
        with self.guard:
            self.waiting.append(turn)
            if len(self.waiting) == self.size or self.broken:
                self._release()
        turn.acquire()
        if self.broken:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        """Let nobody wait any more."""
        with self.guard:
            self.broken = True
            self._release()

    def _release(self) -> None:
        for turn in self.waiting:
            turn.release()
        self.waiting = []

    def run(self, work: Callable[[int], None]) -> None:
        """Do what each lane does; raises what one raises."""
        errors: list[Exception] = []

        def watched_work(lane: int) -> None:
            try:
                work(lane)
            except threading.BrokenBarrierError:
                pass
            except Exception as error:
                errors.append(error)
                self.abort()

        threads = [threading.Thread(target=watched_work, args=(lane,))
                   for lane in range(1, self.size)]
        for thread in threads:
            thread.start()
        watched_work(0)
        for thread in threads:
            thread.join()
        if errors:
            raise errors[-1]


class _Turns:
    """Where lanes wait for each other that are greenlets: each goes on until it waits."""

    def __init__(self, size: int) -> None:
        self.lanes: list[greenlet] = []
        self.size = size

    def wait(self) -> None:
        """Return when all lanes have called this."""
        if self.size > 1:
            after = self.lanes[(getcurrent().lane + 1) % self.size]
            (after if after else after.parent).switch()

    def run(self, work: Callable[[int], None]) -> None:
        """Do what each lane does; raises what one raises."""
        self.lanes = [greenlet(partial(work, lane)) for lane in range(self.size)]
        for each in self.lanes:  # a lane that begins another one would be below it on the stack
            each.switch()
        for each in self.lanes:
            if each:
                each.switch()


class _Team:
    """The lanes of one team: who is who, and where they wait for each other.

    What a lane has of its own are attributes of its thread or greenlet, which is `here`.
    """

    def __init__(self, size: int, mixes: bool) -> None:
        self.size = size
        self.here: Callable[[], Any] = current_thread if mixes else getcurrent
        self.barrier: Any = _Barrier(size) if mixes else _Turns(size)
        self.gathered: list[list[Any]] = [[None] * size, [None] * size]
        self.atomic = threading.Lock()
        self.arrays: dict[int, np.ndarray] = {}
        self.uses = Uses(of_threads=mixes)

    def work(self, items: list[int], kernel: Kernel, given: list[Any], lane: int) -> None:
        """Do what one lane does, for all items one after the other."""
        here = self.here()
        here.lane, here.turn, here.met, here.way = lane, 0, 0, None
        with np.errstate(over="ignore"):
            for item in items:
                here.made = 0
                kernel(np.int64(item), *given)
                self.meet()

    def gather(self, value: Any) -> list[Any]:
        """The values of all lanes; two lists in turn, as others may still read the last one."""
        here = self.here()
        here.turn ^= 1
        values = self.gathered[here.turn]
        values[here.lane] = value
        self.barrier.wait()
        return list(values)

    def meet(self) -> None:
        """Wait for all lanes: what they have done to arrays of the team is done for all."""
        self.here().met += 1
        self.barrier.wait()

    def array(self, element: Word, size: int) -> np.ndarray:
        """The next array of the team: one for all lanes, as the last item left it."""
        here = self.here()
        here.made += 1
        with self.atomic:
            if here.made not in self.arrays:
                self.arrays[here.made] = watched(np.full(size, 77, element.name), self.use)
            return self.arrays[here.made]

    def use(self, array: np.ndarray, place: Any, way: str) -> None:
        """Note that the lane of this thread uses an element; raises if lanes race for it.

        Sums and the like over a team do not count as meeting: within a warp they are shuffles,
        which order no accesses to memory.
        """
        here = self.here()
        self.uses.note((id(array), place), here.lane, here.way or way, here.met)

    def words(self) -> dict[Word, Callable[..., Any]]:
        """What the words of the language do in this team."""
        def locked(plain: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                here = self.here()
                with self.atomic:
                    here.way = "atomic"
                    try:
                        return plain(*arguments)
                    finally:
                        here.way = None
            return call

        atomics = (language.atomic_add, language.atomic_next, language.atomic_min,
                   language.atomic_max, language.atomic_cas, language.atomic_load,
                   language.team_atomic_add, language.team_atomic_cas)
        return {
            language.lane: lambda: self.here().lane,
            language.team_size: lambda: self.size,
            language.team_sum: lambda value: sum(self.gather(value)),
            language.team_max: lambda value: reduce(max, self.gather(value)),
            language.team_min: lambda value: reduce(min, self.gather(value)),
            language.team_scan: lambda value: sum(self.gather(value)[: self.here().lane + 1]),
            language.team_last: lambda value: self.gather(value)[-1],
            language.team_sync: self.meet,
            language.team_array: self.array,
            **{word: locked(word.plain) for word in atomics},
        }


Field = tuple[str, list[tuple[str, Any]], str, Any]
"""The flat name of a field, the records on the way to it and their classes, its name, its words."""


def fields_of(parameter: KernelParameter) -> list[Field]:
    """The fields of a record that a kernel is said to use."""
    found = []
    for path in parameter.paths:
        kinds: list[Any] = [parameter.kind]
        for field in path:
            kinds.append(kinds[-1].kind_of(field))
        way = list(zip(path[:-1], kinds[1:]))
        found.append((parameter.flat_name(path), way, path[-1], kinds[-1]))
    return found


@cache
def plan_of(kernel: Kernel) -> tuple[list[str], list[tuple[KernelParameter, list[Field]]]]:
    """The names of what a kernel is given, and the fields of each of its parameters."""
    parameters = kernel.signature[1:]
    return ([name for _, _, name in flat_parameters(parameters)],
            [(each, fields_of(each) if each.is_record else []) for each in parameters])


def bundled(kernel: Kernel, flat: list[Any]) -> list[Any]:
    """Records again, with no more than the fields that the kernel is said to use."""
    names, parameters = plan_of(kernel)
    values = dict(zip(names, flat))
    result: list[Any] = []
    for parameter, fields in parameters:
        if not parameter.is_record:
            value = values[parameter.flat_name(())]
            result.append(parameter.kind(value) if parameter.is_words else value)
            continue
        root = object.__new__(cast(Any, parameter.kind))
        for name, way, last, words in fields:
            place = root
            for field, kind in way:
                place = vars(place).setdefault(field, object.__new__(kind))
            vars(place)[last] = values[name] if words is None else words(values[name])
        result.append(root)
    return result + flat[len(names):]


@contextmanager
def _speaking(words: dict[Word, Callable[..., Any]], mixes: bool) -> Iterator[None]:
    """Give words other meanings for a while; the hash is exact in 64 bits.

    With `mixes`, a lane may stop anywhere for others, else it goes on until it waits for them.
    """
    before = {word: word.plain for word in words}
    plain_mixed = mixed.function
    interval = sys.getswitchinterval()
    try:
        if mixes:
            sys.setswitchinterval(1e-6)
        mixed.function = _mixed
        for word, meaning in words.items():
            word.plain = meaning
        yield
    finally:
        sys.setswitchinterval(interval)
        mixed.function = plain_mixed
        for word, meaning in before.items():
            word.plain = meaning


def _mixed(value: int) -> int:
    x = int(value) & MASK
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
    return language.int64(x ^ (x >> 33))


class LanesSpace(HostCudaSpace):
    """Kernels as plain Python, in teams of `lanes` lanes where a kernel has teams.

    The lanes of a team may not race for elements of its arrays, and in the kernels of the names
    `watching` not for those of the arrays that they are given either.  Lanes go on in turn, each
    until it waits for the others.  At launches 1, 2, 4, 8 ... of a kernel they are threads, which
    may stop anywhere, but take their time.
    """

    name = "lanes"

    def __init__(self, lanes: int, seed: int = 0, watching: Collection[str] = ()) -> None:
        super().__init__()
        self.lanes, self.random, self.watching = lanes, random.Random(seed), watching
        self.launched: Counter[str] = Counter()

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        self.run_flat(n, kernel, kernel.flattened(args), team)

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        """Run a kernel whose arguments have no records."""
        items = list(range(n))
        self.random.shuffle(items)
        self.launched[kernel.name] += 1
        mixes = team > 1 and self.launched[kernel.name].bit_count() == 1
        crew = _Team(1 if team == 1 else self.lanes, mixes)
        if kernel.name in self.watching:
            args = tuple(watched(given, crew.use) if isinstance(given, np.ndarray) else given
                         for given in args)
        # integers have 64 bits: those of Python would take the width of whatever they are added to
        numbers = [np.int64(a) if isinstance(a, int) else a for a in args]
        with _speaking(crew.words(), mixes):
            crew.barrier.run(partial(crew.work, items, kernel, bundled(kernel, numbers)))

    def executable(self, program: Program) -> Executable:
        return Walker(self, program)


class Flat(Protocol):
    """A space that runs kernels whose arguments have no records."""

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        """Run a kernel."""


class Walker:
    """A program walked step by step."""

    def __init__(self, space: Flat, program: Program) -> None:
        self.space, self.name = space, program.name
        self.steps, self.slots = program.steps, program.used_slots()
        self.bindings = Bindings(self.slots)

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run with `bindings`."""
        bound = self.bindings.named(bindings)
        own = {
            slot.name: np.full(slot.length(sizes), 77, slot.dtype) if slot.length is not None
            else np.array(bound.get(slot.name, (0,) * slot.words), np.int64)
            for slot in self.slots if slot.scratch or slot.words
        }
        comm = {COMM: bindings[COMM]} if COMM in bindings else {}
        self._walk(self.steps, {**bound, **own, **comm})

    def _walk(self, steps: list[Step], bindings: dict[str, Any]) -> None:
        for step in steps:
            if isinstance(step, Launch):
                count = step.count
                n = int(_value(count, bindings)) if isinstance(count, Element) else count
                args = tuple(bindings[a.name] if isinstance(a, Slot) else a for a in step.args)
                self.space.run_flat(n, step.kernel, args, step.team)
            elif isinstance(step, While):
                while _value(step.flag, bindings) != 0:
                    self._walk(step.steps, bindings)
            elif isinstance(step, Branch):
                taken = step.then if _value(step.flag, bindings) != 0 else step.orelse
                self._walk(taken, bindings)
            else:
                perform(step, communicator_of(self.name, bindings), bindings)


def _value(element: Element, bindings: dict[str, Array]) -> Any:
    return bindings[element.slot.name][element.index]
