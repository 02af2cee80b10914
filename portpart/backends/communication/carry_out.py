"""Steps of a program that communicate, as spaces execute them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from portpart.backends.communication.exchange import ReducedWords
from portpart.backends.communication.protocol import Communicator
from portpart.backends.interface import Array
from portpart.backends.steps import AllReduce, Communication, Element, Parcel
from portpart.backends.transfer import DeviceTransfers
from portpart.errors import InputError

COMM = "comm"
"""What a run of a program that communicates binds its communicator to."""


def communicator_of(program: str, bindings: Mapping[str, Any]) -> Communicator:
    """The communicator that a run has been given.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        found: Communicator = bindings[COMM]
    except KeyError:
        raise InputError(f"program {program!r} communicates; bind {COMM!r} to the communicator "
                         "of the rank") from None
    return found


Operation = ReducedWords | Parcel

Prepared = Callable[[], DeviceTransfers | None]
"""Does a step whenever it is called; returns the object to ask whether numbers were right."""


class ProgramRun(Protocol):
    """A run of a program of one rank.

    Attributes
    ----------
    arrays : sequence of Array
        Some of what the program exchanges, which shows where it is.
    """

    arrays: Sequence[Array]

    def run_alone(self, prepared: Callable[[Operation], Callable[[], object]]) -> None:
        """Run the program on this rank, while other processes run it on theirs.

        Parameters
        ----------
        prepared : callable
            Prepares a step, which may come again.
        """

    def run_together(self, runs: Sequence[Any], prepared: Callable[[Sequence[Operation]], Prepared],
                     goes_on: Callable[[], bool]) -> None:
        """Run a program on all ranks at once.

        Parameters
        ----------
        runs : sequence of ProgramRun
            Of all ranks, this one first.
        prepared : callable
            Prepares the step that all ranks have reached.
        goes_on : callable
            Is asked now and then; if it is false, the runs are left.

        Raises
        ------
        Refused
            If ranks reach different steps, or one of them raises something.
        """


@runtime_checkable
class Leader(Protocol):
    """A communicator that carries out programs in its own way."""

    def lead(self, run: ProgramRun) -> None:
        """Carry out a run, to which those of the other ranks belong."""


@runtime_checkable
class Asynchronous(Protocol):
    """A communicator that may return before a step is done."""

    def wait(self) -> None:
        """Wait for what has been begun; raises the error of a rank that has failed."""


def wait_of(comm: Communicator) -> Callable[[], None]:
    """What has to be called before the host waits for a device by itself.

    Nothing else would end that wait if another rank fails.
    """
    return comm.wait if isinstance(comm, Asynchronous) else lambda: None


def follow(run: ProgramRun, comm: Communicator) -> None:
    """Carry out a run."""
    if isinstance(comm, Leader):
        comm.lead(run)
        return
    run.run_alone(lambda call: partial(_make, call, comm))


def perform(step: Communication, comm: Communicator, arrays: Mapping[str, Any]) -> None:
    """Do a step with the arrays that the slots of these names are bound to."""
    _make(operation_of(step, arrays), comm)


def operation_of(step: Communication, arrays: Mapping[str, Any]) -> Operation:
    """A step with these arrays."""
    if isinstance(step, AllReduce):
        count = step.count
        if isinstance(count, Element):
            count = int(arrays[count.slot.name][count.index])
        return ReducedWords(arrays[step.words.name], step.first, count, step.op)
    return Parcel(**{field: arrays[slot.name] for field, slot in step.parcel.named()})


def _make(call: Operation, comm: Communicator) -> None:
    if isinstance(call, ReducedWords):
        comm.all_reduce(call.array, call.first, call.count, call.op)
    else:
        comm.all_to_all(call)
