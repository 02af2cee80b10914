"""Programs as bytes, for a process that writes their texts.

Writing the texts of a call takes this language half a second, sending its programs 3 ms.  A kernel
that stands in a module is sent by name, one that a function has made by its bytecode and what its
free names mean; the receiver imports the modules.  What texts do not depend on is left out.
"""

from __future__ import annotations

import io
import marshal
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from types import CellType, FunctionType
from typing import Any

import numpy as np

from portpart.backends.language import DeviceFunction, Kernel, Word, device, kernel, words
from portpart.backends.program import Program, Slot, Step

LENGTH = len
"""In place of the lengths of scratch."""

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def to_bytes(program: Program) -> bytes:
    """What `from_bytes` makes the program of, in another process of the same Python.

    Raises
    ------
    pickle.PicklingError
        If it cannot be sent, as kernels of the script that is run.
    """
    content = io.BytesIO()
    try:
        _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(program)
    except (AttributeError, TypeError, ValueError) as problem:
        raise pickle.PicklingError(str(problem)) from problem
    return content.getvalue()


def from_bytes(content: bytes) -> Program:
    """The program; it runs code, so the content must come from a process of the same user."""
    program: Program = pickle.loads(content)
    return program


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Program):
            return _program, (value.name, value.sweeps, value.steps, value.used_slots())
        if isinstance(value, Slot):
            return Slot, (value.name, value.dtype, value.is_array, value.length and LENGTH,
                          value.words, value.named_words, value.zeros)
        if isinstance(value, (Kernel, DeviceFunction)):
            return _function_reduced(value)
        if isinstance(value, Word):
            return _named, (words.__name__, value.name)
        if isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__"):
            raise pickle.PicklingError("an array is part of the program")
        return NotImplemented


def _function_reduced(made: Kernel | DeviceFunction) -> Reduced:
    function = made.function
    if function.__module__ == "__main__":
        raise pickle.PicklingError(f"{made.name} is in no module that can be imported")
    if getattr(sys.modules[function.__module__], made.name, None) is made:
        return _named, (function.__module__, made.name)
    free = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return _made, (isinstance(made, Kernel), function.__module__,
                   marshal.dumps(function.__code__), free, function.__annotations__)


def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _made(is_kernel: bool, module: str, code: bytes, free: tuple[Any, ...],
          annotations: dict[str, Any]) -> Kernel | DeviceFunction:
    function = FunctionType(marshal.loads(code), vars(import_module(module)),
                            closure=tuple(map(CellType, free)))
    function.__annotations__ = annotations
    return kernel(function) if is_kernel else device(function)


def _program(name: str, sweeps: bool, steps: list[Step], slots: list[Slot]) -> Program:
    program = Program(name, sweeps)
    program.steps = steps
    program.slots = {slot.name: slot for slot in slots}
    return program
