"""Signatures of the library's kernels, kept next to their code.

Which fields of a record a kernel uses shows in its syntax tree only, and in those of the functions
that it passes the record on to.  To read and to check them takes longer than a small partition.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from portpart.backends import cache_folder
from portpart.backends.language.fingerprint import compilers_fingerprint
from portpart.backends.language.parameters import KernelParameter
from portpart.backends.language.records import Kind


def recall(name: str, fingerprint: str) -> list[KernelParameter] | None:
    """The parameters of a kernel, None if they are not known."""
    content = cache_folder.read(_file(name, fingerprint))
    if content is None:
        return None
    try:
        return [_parameter(*each) for each in json.loads(content)]
    except (AttributeError, KeyError, TypeError, ValueError):  # what is not there any more
        return None


def keep(name: str, fingerprint: str, parameters: list[KernelParameter]) -> None:
    """Keep the parameters of a kernel, if its records can be found by their names."""
    kept = [(each.name, _place(each.kind), each.paths if each.is_record else [])
            for each in parameters]
    if all(each.kind is None or _kind(place) is each.kind
           for each, (_, place, _) in zip(parameters, kept)):
        cache_folder.write(_file(name, fingerprint), json.dumps(kept).encode())


def _file(name: str, fingerprint: str) -> str:
    return cache_folder.file_of(name, f"signature {compilers_fingerprint()} {fingerprint}")


def _place(kind: Kind | None) -> list[str] | None:
    return None if kind is None else [kind.__module__, kind.__qualname__]


def _kind(place: list[str] | None) -> Any:
    """The class at a place; None if there is none in what has been imported."""
    if place is None or place[0] not in sys.modules:
        return None
    found: Any = sys.modules[place[0]]
    for name in place[1].split("."):
        found = getattr(found, name, None)
    return found


def _parameter(name: str, place: list[str] | None, paths: list[list[str]]) -> KernelParameter:
    kind = _kind(place)
    if kind is None and place is not None:
        raise KeyError(name)
    return KernelParameter(name, kind, {tuple(path): None for path in paths})
