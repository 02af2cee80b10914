"""The algorithms and their presets: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from portpart.algorithms import jet, portpart
from portpart.errors import InputError


@dataclass(frozen=True)
class Algorithm:
    """A partitioner and the configurations it is known under."""

    partition: Callable[..., Any]
    presets: Mapping[str, Any]


ALGORITHMS: dict[str, Algorithm] = {
    "jet": Algorithm(jet.jet, jet.PRESETS),
    "portpart": Algorithm(portpart.portpart, portpart.PRESETS),
}


def lookup(algorithm: str, preset: Any) -> tuple[Callable[..., Any], Any]:
    """The partitioner and its configuration; `preset` may be a configuration itself."""
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise InputError(f"algorithm is {algorithm!r}; it must be one of {_names(ALGORITHMS)}")
    found = ALGORITHMS[algorithm]
    if not isinstance(preset, str):
        expected = type(next(iter(found.presets.values())))
        if not isinstance(preset, expected):
            raise InputError(f"preset must be a name or a {expected.__name__}, not {preset!r}")
        return found.partition, preset
    if preset not in found.presets:
        raise InputError(f"preset is {preset!r}; it must be one of {_names(found.presets)}")
    return found.partition, found.presets[preset]


def _names(table: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in table)
