"""The meaning of a function of the kernel language, as a hash that does not need its source.

A kernel's code depends on its bytecode, with the columns of the source that belong to it, and on
the values of the names in it, including those of the functions that it calls.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from portpart.backends.language.parameters import KernelParameter
from portpart.backends.language.records import Record, Words
from portpart.backends.language.source import meaning_of
from portpart.backends.language.statics import Static
from portpart.backends.language.words import Word
from portpart.base import cache_folder
from portpart.errors import KernelTypeError

NONE: frozenset[str] = frozenset()


def fingerprint_of(function: types.FunctionType, values: Mapping[str, Any]) -> str:
    """Return a hash of everything that the code of `function` depends on, in this version of
    Python.

    Parameters
    ----------
    values
        Its static values. Only members count that the function, or one that it names, may read:
        values with other differences share the code.

    Raises
    ------
    KernelTypeError
        If a static value, or a member that counts, is not of a type that code can depend on.
    """
    code = function.__code__
    parts: list[Any] = [
        code.co_name, code.co_argcount, code.co_code, code.co_consts, code.co_names,
        code.co_varnames, code.co_freevars, code.co_cellvars, code.co_linetable]
    names = names_of(function)
    used = {name: names[name] for name in (*code.co_names, *code.co_freevars) if name in names}
    statics = {**{name: value for name, value in used.items() if isinstance(value, Static)},
               **values}
    parts += [f"{name}: {_meaning(value, frozenset(code.co_names))}"
              for name, value in used.items() if name not in statics]
    members = _members_that_count(function, statics)
    parts += [f"{name} = {_static_meaning(value, members)}" for name, value in statics.items()]
    for argument, kind in function.__annotations__.items():
        known = meaning_of(kind, names.get) if isinstance(kind, str) else kind
        parts.append(f"{argument} is {_meaning(known, NONE)}")
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


@cache
def compilers_fingerprint() -> str:
    """Return a hash of the sources of this language and its compilers."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def names_of(function: types.FunctionType) -> dict[str, Any]:
    """Return the meanings of names outside the function; the nearest definition counts."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def _members_that_count(function: types.FunctionType, values: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of static values' members that a function, or one it may call, reads."""
    if not values:
        return NONE
    found = _names_in(function)
    while True:
        called = [each for value in values.values() for each in _functions_of(value, found)]
        more = found.union(*map(_names_in, called))
        if more == found:
            return found
        found = more


def _functions_of(value: Any, members: frozenset[str]) -> Iterator[types.FunctionType]:
    """Yield the functions of a static value and of its members with these names."""
    if isinstance(value, Static):
        kind: Any = type(value)
        for name in members & _members_of(kind):
            yield from _functions_of(getattr(value, name, None), members)
    function = getattr(value, "function", None)
    if isinstance(function, types.FunctionType):
        yield function


@cache
def _members_of(kind: Any) -> frozenset[str]:
    """Return the names of members of objects of a class of static values, including fields."""
    return frozenset((*dir(kind), *(field.name for field in fields(kind))))


@cache
def _names_in(function: types.FunctionType) -> frozenset[str]:
    """Return the names in a function and in the functions that it names."""
    found, names = set(function.__code__.co_names), names_of(function)
    for name in function.__code__.co_names:
        known = names.get(name)
        members = [getattr(known, each, None) for each in function.__code__.co_names
                   ] if isinstance(known, types.ModuleType) else [known]
        for called in (getattr(each, "function", None) for each in members):
            if isinstance(called, types.FunctionType) and called is not function:
                found |= _names_in(called)
    return frozenset(found)


def _static_meaning(value: Any, members: frozenset[str]) -> str:
    """Describe a static value for a kernel that may read these members; methods do not count."""
    if isinstance(value, Static):
        known = {name: getattr(value, name) for name in sorted(members) if hasattr(value, name)}
        return str([type(value).__qualname__, *(
            (name, _static_meaning(member, members)) for name, member in known.items()
            if not isinstance(member, types.MethodType))])
    if value is None or isinstance(value, (bool, int, float)) or hasattr(value, "fingerprint") or (
            isinstance(value, Word)):
        return _meaning(value, NONE)
    raise KernelTypeError(
        f"a static value is {value!r}, of {type(value).__name__}; it must be a number, a device "
        "function, a word, None, or an object of a subclass of Static")


def _meaning(value: Any, attributes: frozenset[str]) -> str:
    """Describe a value for a kernel; a module by those of its `attributes` that it has.

    Modules inside do not count: some exist only once they have been imported.
    """
    if isinstance(value, (bool, int, float)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, Word):
        return value.name
    if isinstance(value, type) and issubclass(value, Words):
        return f"{value.__qualname__} {value.indices}"
    if isinstance(value, type) and issubclass(value, Record):
        return _meaning_of_record(value)
    if isinstance(value, types.ModuleType):
        members = ((name, getattr(value, name)) for name in sorted(attributes)
                   if hasattr(value, name))
        return str([(name, _meaning(member, NONE)) for name, member in members
                    if not isinstance(member, types.ModuleType)])
    return str(getattr(value, "fingerprint", type(value).__name__))


_known: dict[type[Record], str] = {}
"""Descriptions of records, which many kernels need."""


def _meaning_of_record(kind: type[Record]) -> str:
    """Describe a record for a kernel: its fields, and the records among them.

    The description is cached when the modules of the class and of its fields have been imported: a
    field may name a class that is defined further down.
    """
    if kind not in _known:
        kinds = [kind.kind_of(field) for field in kind.field_names]
        known = [(name, _meaning(each, NONE)) for name, each in zip(kind.field_names, kinds)]
        text = f"{kind.__qualname__} {known} {_meaning(kind.own_words, NONE)}"
        inner = [each for each in kinds if each is not None and issubclass(each, Record)]
        if not _is_being_imported(kind) and all(each in _known for each in inner):
            _known[kind] = text
        return text
    return _known[kind]


def _is_being_imported(kind: type) -> bool:
    """Whether its module may define more names; True if unknown."""
    spec = getattr(sys.modules.get(kind.__module__), "__spec__", None)
    return bool(getattr(spec, "_initializing", True))


# Signatures of the library's kernels, kept next to their code ----------------------------------
#
# The fields of a record that a kernel uses are known only from its syntax tree, and from those of
# the functions that it passes the record to. Reading and checking them takes longer than the
# partition of a small graph.


def recall(name: str, fingerprint: str) -> list[KernelParameter] | None:
    """Return the cached parameters of a kernel, or None."""
    content = cache_folder.read(_file(name, fingerprint))
    try:
        found: list[KernelParameter] | None = pickle.loads(content) if content else None
    except Exception:  # a class or module that no longer exists
        return None
    return found


def keep(name: str, fingerprint: str, parameters: list[KernelParameter]) -> None:
    """Cache the parameters of a kernel, if its records can be found by their names."""
    with suppress(pickle.PicklingError, AttributeError):
        cache_folder.write(_file(name, fingerprint), pickle.dumps(parameters))


def _file(name: str, fingerprint: str) -> str:
    return cache_folder.file_of(name, f"signature {compilers_fingerprint()} {fingerprint}")
