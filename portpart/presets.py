"""The algorithms and their presets: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from portpart.algorithms import gkway, gpmetis, jet, portpart
from portpart.errors import InputError


@dataclass(frozen=True)
class Algorithm:
    """A partitioner and the configurations it is known under."""

    partition: Callable[..., Any]
    presets: Mapping[str, Any]


ALGORITHMS: dict[str, Algorithm] = {
    "jet": Algorithm(jet.jet, jet.PRESETS),
    "gkway": Algorithm(gkway.gkway, gkway.PRESETS),
    "gpmetis": Algorithm(gpmetis.gpmetis, gpmetis.PRESETS),
    "portpart": Algorithm(portpart.portpart, portpart.PRESETS),
}


DEFAULT = "portpart"


def lookup(algorithm: str | None, preset: Any, starts: int | None = None,
           num_blocks: int = 1) -> tuple[Callable[..., Any], Any]:
    """The partitioner and its configuration; `preset` may be a configuration itself.

    Without an algorithm it is the one whose configuration is given, else the default.  `starts`,
    unless it is None, says how many initial partitions there are to be.
    """
    found, config = _lookup(_algorithm_of(preset) if algorithm is None else algorithm, preset)
    if starts is not None:
        config = config.with_starts(starts, num_blocks)
    return found.partition, config


def _lookup(algorithm: str, preset: Any) -> tuple[Algorithm, Any]:
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise InputError(f"algorithm is {algorithm!r}; it must be one of {_names(ALGORITHMS)}")
    found = ALGORITHMS[algorithm]
    if not isinstance(preset, str):
        expected = type(next(iter(found.presets.values())))
        if not isinstance(preset, expected):
            raise InputError(f"preset must be a name or a {expected.__name__}, not {preset!r}")
        return found, preset
    if preset not in found.presets:
        raise InputError(f"preset is {preset!r}; it must be one of {_names(found.presets)}")
    return found, found.presets[preset]


def _algorithm_of(preset: Any) -> str:
    for name, algorithm in ALGORITHMS.items():
        if type(preset) is type(algorithm.presets["default"]):
            return name
    return DEFAULT


def _names(table: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in table)
