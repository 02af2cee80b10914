"""Steps of a program that communicate, as those who run programs carry them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portpart.backends.communication.protocol import Communicator
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


def carry_out(step: Communication, comm: Communicator, arrays: Mapping[str, Any]) -> None:
    """Do a step with the arrays that the slots of these names are bound to."""
    if isinstance(step, AllReduce):
        count = step.count
        if isinstance(count, Element):
            count = int(arrays[count.slot.name][count.index])
        comm.all_reduce(arrays[step.words.name], step.first, count, step.op)
    else:
        comm.all_to_all(Parcel(**{field: arrays[slot.name]
                                  for field, slot in step.parcel.named()}))
