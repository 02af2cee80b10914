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
from contextlib import contextmanager, nullcontext
from functools import cache, partial, reduce
from typing import Any, Protocol, cast

import numpy as np

from portpart.backends import language
from portpart.backends.communication.exchange import (
    COMM,
    communicator_of,
    operation_of,
    perform,
)
from portpart.backends.language import Kernel, Word
from portpart.backends.language.parameters import KernelParameter, flat_parameters
from portpart.backends.language.words import CASTS
from portpart.backends.programs.arguments import Bindings
from portpart.backends.programs.interface import Array, Executable
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Element, Launch, Slot, Step, While
from portpart.primitives.hashing import mixed
from tests.helpers.emulation.barriers import Barrier, Lone, Turns
from tests.helpers.emulation.host_cuda import HostCudaSpace
from tests.helpers.emulation.races import ATOMIC, Elements, note, watched

MASK = 2**64 - 1


ATOMICS = (language.atomic_add, language.atomic_next, language.atomic_min, language.atomic_max,
           language.atomic_cas, language.atomic_load, language.team_atomic_add,
           language.team_atomic_cas)


class _Team:
    """The lanes of one team: who is who, and where they wait for each other.

    Lists have an element for each lane.
    """

    def __init__(self, size: int, mixes: bool) -> None:
        self.size = size
        self.barrier: Barrier | Turns | Lone = (
            Lone() if size == 1 else Barrier(size) if mixes else Turns(size))
        self.here = self.barrier.lane
        self.gathered: list[list[Any]] = [[None] * size, [None] * size]
        self.turn, self.met, self.made, self.in_atomic = ([0] * size for _ in range(4))
        self.guard: Any = threading.Lock() if mixes else nullcontext()
        self.arrays: dict[int, np.ndarray] = {}
        self.noting = threading.Lock() if mixes else None

    def work(self, items: list[int], kernel: Kernel, given: list[Any], lane: int) -> None:
        """Do what one lane does, for all items one after the other."""
        with np.errstate(over="ignore"):
            for item in items:
                self.made[lane] = 0
                kernel(np.int64(item), *given)
                self.meet()

    def gather(self, value: Any) -> list[Any]:
        """The values of all lanes, until the lane calls this again.

        There are two lists in turn, as others may still read the last one.
        """
        lane = self.here()
        self.turn[lane] ^= 1
        values = self.gathered[self.turn[lane]]
        values[lane] = value
        self.barrier.wait()
        return values

    def meet(self) -> None:
        """Wait for all lanes: what they have done to arrays of the team is done for all."""
        self.met[self.here()] += 1
        self.barrier.wait()

    def array(self, element: Word, size: int) -> np.ndarray:
        """The next array of the team: one for all lanes, as the last item left it."""
        lane = self.here()
        self.made[lane] += 1
        number = self.made[lane]
        with self.guard:
            if number not in self.arrays:
                self.arrays[number] = self.watched(np.full(size, 77, element.name))
            return self.arrays[number]

    def watched(self, array: np.ndarray) -> np.ndarray:
        """The same memory; races of lanes for its elements raise errors."""
        return watched(array, self.use) if self.size > 1 else array

    def use(self, elements: Elements, place: Any, way: int) -> None:
        """Note that the lane that calls this uses an element; raises if lanes race for it.

        Sums and the like over a team do not count as meeting: within a warp they are shuffles,
        which order no accesses to memory.
        """
        lane = self.here()
        way = ATOMIC if self.in_atomic[lane] else way
        if self.noting is None:
            note(elements, place, way, self.met[lane], lane)
            return
        with self.noting:
            note(elements, place, way, self.met[lane], lane)

    def words(self) -> dict[Word, Callable[..., Any]]:
        """What the words of the language do in this team, if not what they do for one lane."""
        own = {language.team_array: self.array,
               language.team_sum: lambda value: sum(self.gather(value)),
               language.team_scan: lambda value: sum(self.gather(value)[: self.here() + 1])}
        if self.size == 1:
            return own
        return own | {
            language.lane: self.here,
            language.team_size: lambda: self.size,
            language.team_max: lambda value: reduce(max, self.gather(value)),
            language.team_min: lambda value: reduce(min, self.gather(value)),
            language.team_last: lambda value: self.gather(value)[-1],
            language.team_sync: self.meet,
            **self.subgroup_words(),
            **{word: self.atomic(word.plain) for word in ATOMICS},
        }

    def subgroup_words(self) -> dict[Word, Callable[..., Any]]:
        """What the words of a subgroup do: a small team is a subgroup, in others each lane is."""
        return {} if self.size > 8 else {
            language.subgroup_size: lambda: self.size,
            language.subgroup_min: lambda value: reduce(min, self.gather(value)),
            language.subgroup_scan: lambda value: sum(self.gather(value)[: self.here() + 1]),
            language.subgroup_last: lambda value: self.gather(value)[-1],
        }

    def atomic(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """The same for one lane after the other."""
        def call(array: Any, *arguments: Any) -> Any:
            if type(array) is np.ndarray and self.noting is None:
                return plain(array, *arguments)  # nobody stops in between, and nothing is noted
            lane = self.here()
            with self.guard:
                self.in_atomic[lane] = 1
                try:
                    return plain(array, *arguments)
                finally:
                    self.in_atomic[lane] = 0
        return call


for _cast in CASTS:  # kernels name the elements of their arrays by these words, too
    vars(getattr(language, _cast).plain)["name"] = _cast


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

    Kernels find the meanings of all words in the places of the words: each is one call less. With
    `mixes`, a lane may stop anywhere for others, else it goes on until it waits for them.
    """
    before = {word: word.plain for word in words}
    offered = vars(language)
    as_words = {name: word for name, word in offered.items() if isinstance(word, Word)}
    plain_mixed = mixed.function
    interval = sys.getswitchinterval()
    try:
        if mixes:
            sys.setswitchinterval(1e-6)
        mixed.function = _mixed
        for word, meaning in words.items():
            word.plain = meaning
        offered.update({name: word.plain for name, word in as_words.items()})
        yield
    finally:
        offered.update(as_words)
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
        self.widest_team = max(lanes, type(self).widest_team)
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
            args = tuple(crew.watched(given) if isinstance(given, np.ndarray) else given
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
                args = tuple(argument_in(bindings, each) for each in step.args)
                self.space.run_flat(n, step.kernel, args, step.team)
            elif isinstance(step, While):
                while _value(step.flag, bindings) != 0:
                    self._walk(step.steps, bindings)
            elif isinstance(step, Branch):
                taken = step.then if _value(step.flag, bindings) != 0 else step.orelse
                self._walk(taken, bindings)
            else:
                perform(operation_of(step, bindings), communicator_of(self.name, bindings))


def argument_in(bindings: dict[str, Any], argument: Any) -> Any:
    """Return what a launch receives for an argument: an array, a number, or that of an element."""
    if isinstance(argument, Element):
        return np.int64(_value(argument, bindings))
    return bindings[argument.name] if isinstance(argument, Slot) else argument


def _value(element: Element, bindings: dict[str, Array]) -> Any:
    return bindings[element.slot.name][element.index]
