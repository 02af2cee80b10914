"""Steps of a program that communicate, as those who run programs carry them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from portpart.backends.communication.exchange import ReducedWords
from portpart.backends.communication.protocol import Communicator
from portpart.backends.interface import Array
from portpart.backends.steps import AllReduce, Communication, Element, Parcel
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


Call = ReducedWords | Parcel

Calls = Iterator[Call | None]
"""What a program comes to; None where it is about to wait, so that others may go on before."""


@runtime_checkable
class Leader(Protocol):
    """A communicator that carries out programs of all ranks side by side."""

    def follow(self, calls: Calls, arrays: Sequence[Array]) -> None:
        """Carry out what all ranks come to; some of the arrays tell where these are."""


def follow(calls: Calls, comm: Communicator, arrays: Sequence[Array]) -> None:
    """Carry out what a program comes to, which goes on in between."""
    if isinstance(comm, Leader):
        comm.follow(calls, arrays)
        return
    for call in calls:
        if call is not None:
            _make(call, comm)


def carry_out(step: Communication, comm: Communicator, arrays: Mapping[str, Any]) -> None:
    """Do a step with the arrays that the slots of these names are bound to."""
    _make(call_of(step, arrays), comm)


def call_of(step: Communication, arrays: Mapping[str, Any]) -> Call:
    """A step with these arrays."""
    if isinstance(step, AllReduce):
        count = step.count
        if isinstance(count, Element):
            count = int(arrays[count.slot.name][count.index])
        return ReducedWords(arrays[step.words.name], step.first, count, step.op)
    return Parcel(**{field: arrays[slot.name] for field, slot in step.parcel.named()})


def _make(call: Call, comm: Communicator) -> None:
    if isinstance(call, ReducedWords):
        comm.all_reduce(call.array, call.first, call.count, call.op)
    else:
        comm.all_to_all(call)
