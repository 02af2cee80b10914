"""A space for tests in which no kernel may read a ghost that is out of date.

Kernels run as written. Arrays with an element for each own vertex and each ghost are watched. A
kernel that reads a ghost which its owner has changed since the last push raises `StaleGhost`, and
so does one that writes to a ghost: that is left to pushes. Ranks run one after the other between
two steps, so an owner may change a vertex later than a rank has read its ghost, though one device
would have done so before. Hence each use has the place in the program where it happens, and
places are compared.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from portpart.backends.communication.exchange import (
    COMM,
    communicator_of,
    operation_of,
    perform,
)
from portpart.backends.language import Kernel
from portpart.backends.programs.interface import Executable
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Element, Launch, Step, While
from portpart.graphs.ranks.rank_rows import DistributedGraph
from tests.helpers.emulation.lanes import LanesSpace, Walker, argument_in

UNPACKING = "unpack_ghost"
"""The kernel that sets ghosts to what has been pushed."""

BEGINNING = "begin_ghost"
"""The kernel that sets ghosts to what all vertices begin with, before any of them is read."""

When = tuple[int, ...]
"""A place in what a rank runs: numbers of programs, steps, rounds of loops, and steps in these.

Ranks run the same programs that communicate; what they do in between may differ."""

IN_BETWEEN = 2**30
"""In place of the number of a step: behind a program."""

Ghost = tuple[int, int]
"""A rank, and the local number of one of its ghosts."""


class StaleGhost(AssertionError):
    """A ghost is read that its owner has changed, or is written to."""


class Field:
    """Values of all vertices, and of each ghost how it is used.

    Attributes
    ----------
    name : str
    ghosts : dict
        The ghosts of each vertex, by its global id.
    changes : dict
        When the owner of a ghost has changed it, since it was pushed last.
    reads : dict
        When a ghost has been read last, since it was pushed.
    begun : dict
        When a ghost has been given the value that all vertices begin with.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.owned: dict[int, tuple[Watched, int]] = {}
        self.names: dict[Ghost, int] = {}
        self.ghosts: defaultdict[int, list[Ghost]] = defaultdict(list)
        self.changes: defaultdict[Ghost, list[When]] = defaultdict(list)
        self.reads: dict[Ghost, When] = {}
        self.begun: dict[Ghost, When] = {}

    def watch(self, graph: DistributedGraph, space: GhostSpace, array: np.ndarray) -> Watched:
        """The same memory, watched; all ranks do this before one of them goes on."""
        watched = array.view(Watched)
        watched.field, watched.space, watched.own = self, space, graph.local.num_vertices
        first = int(graph.first[space.rank])
        self.owned.update({first + v: (watched, v) for v in range(watched.own)})
        for number, name in enumerate(graph.ghost_names.tolist(), watched.own):
            self.names[space.rank, number] = name
            self.ghosts[name].append((space.rank, number))
        watched.first = first
        return watched

    def read(self, ghost: Ghost, now: When) -> None:
        """Note that a ghost is read."""
        if any(change < now for change in self.changes[ghost]):
            self._refuse(ghost)
        self.reads[ghost] = now

    def change(self, vertex: int, now: When) -> None:
        """Note that an owner changes a vertex."""
        for ghost in self.ghosts[vertex]:
            if now < self.begun.get(ghost, now):
                continue
            self.changes[ghost].append(now)
            if self.reads.get(ghost, now) > now:
                self._refuse(ghost)

    def arrive(self, ghost: Ghost, value: Any, now: When) -> None:
        """Note that a ghost is pushed the value of its owner."""
        later = [change for change in self.changes[ghost] if change > now]
        self.changes[ghost] = later
        self.reads.pop(ghost, None)
        owner, v = self.owned[self.names[ghost]]
        if not later and owner.view(np.ndarray)[v] != value:
            raise StaleGhost(f"{self._said(ghost)} is pushed {value}, which its owner has not")

    def begin(self, ghost: Ghost, now: When) -> None:
        """Note that a ghost gets the value that its vertex gets, too, at an earlier place."""
        self.changes[ghost] = [change for change in self.changes[ghost] if change > now]
        self.reads.pop(ghost, None)
        self.begun[ghost] = now

    def _refuse(self, ghost: Ghost) -> None:
        raise StaleGhost(f"{self._said(ghost)} is read, and its owner has changed it since it was "
                         "pushed last")

    def _said(self, ghost: Ghost) -> str:
        rank, number = ghost
        return f"{self.name}[{number}], vertex {self.names[ghost]} on rank {rank},"


class Watched(np.ndarray):
    """An array of a field on one rank."""

    field: Field | None = None
    space: GhostSpace
    own: int
    first: int

    def __getitem__(self, place: Any) -> Any:
        if self.field is not None and place >= self.own:
            self.field.read((self.space.rank, int(place)), self.space.now)
        return super().__getitem__(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        field, space = self.field, self.space
        assert field is not None
        if place >= self.own:
            ghost = space.rank, int(place)
            if space.running == UNPACKING:
                field.arrive(ghost, value, space.now)
            elif space.running == BEGINNING:
                field.begin(ghost, space.now)
            else:
                raise StaleGhost(f"{space.running} writes to {field.name}[{place}], a ghost")
        elif super().__getitem__(place) != value:
            field.change(self.first + int(place), space.now)
        super().__setitem__(place, value)


class GhostSpace(LanesSpace):
    """Kernels of one rank, run as written by one lane.

    Attributes
    ----------
    programs : int
        Programs that have communicated.
    now : tuple of int
        Where the rank is.
    running : str
        The kernel that runs.
    """

    name = "ghosts"

    def __init__(self, rank: int) -> None:
        super().__init__(1)
        self.rank, self.programs, self.running = rank, 0, ""
        self.now: When = (0, IN_BETWEEN)

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        """Run a kernel."""
        self.running = kernel.name
        super().run_flat(n, kernel, args, team)

    def executable(self, program: Program) -> Executable:
        return _Timed(self, program)


class _Timed(Walker):
    """A program that tells the space where it is."""

    space: GhostSpace

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run with `bindings`."""
        self.space.programs += COMM in bindings
        super().run(bindings, size, sizes)
        self.space.now = (self.space.programs, IN_BETWEEN)

    def _walk(self, steps: list[Step], bindings: dict[str, Any],
              where: When | None = None) -> None:
        where = where or (self.space.programs,)
        for number, step in enumerate(steps):
            self.space.now = now = (*where, number)
            if isinstance(step, Launch):
                args = tuple(argument_in(bindings, each) for each in step.args)
                self.space.run_flat(_number(step.count, bindings), step.kernel, args, step.team)
            elif isinstance(step, While):
                turn = 0
                while _number(step.flag, bindings):
                    self._walk(step.steps, bindings, (*now, turn))
                    turn += 1
            elif isinstance(step, Branch):
                side = step.then if _number(step.flag, bindings) else step.orelse
                self._walk(side, bindings, now)
            else:
                perform(operation_of(step, bindings), communicator_of(self.name, bindings))


def _number(count: Element | int, bindings: dict[str, Any]) -> int:
    return int(bindings[count.slot.name][count.index]) if isinstance(count, Element) else count
