"""What a function of the kernel language means, as a hash that needs no look at its source.

A kernel's code follows from its bytecode, with the columns of the source that belong to it, and
from the values of the names in it, those of the functions that it calls included.
"""

from __future__ import annotations

import hashlib
import types
from functools import cache
from pathlib import Path
from typing import Any

from portpart.backends.language.records import Record, Words
from portpart.backends.language.words import Word


def fingerprint_of(function: types.FunctionType) -> str:
    """Hash of all that decides about the code of `function`, on this version of Python."""
    code = function.__code__
    parts: list[Any] = [
        code.co_name, code.co_argcount, code.co_code, code.co_consts, code.co_names,
        code.co_varnames, code.co_freevars, code.co_cellvars, code.co_linetable]
    names = _names(function)
    parts += [f"{name}: {_meaning(names[name], code.co_names)}"
              for name in dict.fromkeys((*code.co_names, *code.co_freevars)) if name in names]
    for argument, kind in function.__annotations__.items():
        known = names.get(kind, kind) if isinstance(kind, str) else kind
        parts.append(f"{argument} is {_meaning(known, ())}")
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


@cache
def of_the_compilers() -> str:
    """Hash of the sources of this language and of what compiles it."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _names(function: types.FunctionType) -> dict[str, Any]:
    """What names outside the function mean; the nearer one counts."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def _meaning(value: Any, attributes: tuple[str, ...]) -> str:
    """What a value is for a kernel; of a module those `attributes` that it has."""
    if isinstance(value, (bool, int, float)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, Word):
        return value.name
    if isinstance(value, type) and issubclass(value, Words):
        return f"{value.__qualname__} {value.indices}"
    if isinstance(value, type) and issubclass(value, Record):
        fields = [(field, _meaning(value.kind_of(field), ())) for field in value.field_names]
        return f"{value.__qualname__} {fields}"
    if isinstance(value, types.ModuleType):
        return str([(name, _meaning(getattr(value, name, None), ())) for name in attributes
                    if isinstance(getattr(value, name, None), (bool, int, float))])
    return str(getattr(value, "fingerprint", type(value).__name__))
