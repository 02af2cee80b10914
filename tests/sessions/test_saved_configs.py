"""Configurations in files of sessions: all classes, all presets, and drawn values of all fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.recipes.partitioners import ALGORITHMS, OF_NETS
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.errors import GraphFormatError, InputError
from portpart.options import changed
from portpart.sessions.saved import config_of, description_of

PRESETS = [pytest.param(of_nets, config, id=f"{type(config).__name__}-{preset}")
           for of_nets, table in enumerate((ALGORITHMS, OF_NETS))
           for algorithm in table.values() for preset, config in algorithm.presets.items()]
CLASSES = sorted({type(param.values[1]) for param in PRESETS}, key=lambda kind: kind.__name__)


def given(of_nets: bool) -> Any:
    return generators.netlist(60, seed=1) if of_nets else generators.grid_2d(8)


@pytest.mark.parametrize(("of_nets", "config"), PRESETS)
def test_a_session_of_each_preset_is_saved_and_loaded(of_nets: bool, config: Any,
                                                      tmp_path: Path) -> None:
    session = portpart.Session(given(of_nets), 2, preset=config)
    session.save(tmp_path / "session.npz")
    loaded = portpart.Session.load(tmp_path / "session.npz")
    assert loaded._rounds.request.config == session._rounds.request.config == config
    assert type(loaded._rounds.request.config) is type(config)
    assert np.array_equal(session.part, loaded.part)
    updates = [each.apply(each.batch(), "full") for each in (session, loaded)]
    assert updates[0].value == updates[1].value


def read_again(config: Any) -> Any:
    return config_of(json.loads(json.dumps(description_of(config))))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_drawn_values_of_all_fields_are_kept(kind: type) -> None:
    """Each field is changed, those of options in options too; optional ones are filled, or none."""
    random, tried = Random(5), set()
    for _ in range(25):
        config: Any = kind()
        for name, options in list(places(config)):
            value = drawn(random, options, name.rpartition(".")[2])
            try:
                config = changed(config, {name: value})
            except InputError:  # some values go with others only, or their options are gone
                continue
            tried.add(name)
        again = read_again(config)
        assert again == config
        assert types_in(again) == types_in(config)
    assert tried == {name for name, _ in places(kind())}


def places(options: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names of all fields, and the options that each is in."""
    for each in fields(options):
        value = getattr(options, each.name)
        if is_dataclass(value):
            yield from places(value, f"{prefix}{each.name}.")
        yield prefix + each.name, options


hints_of = cache(get_type_hints)
"""The types of all fields of a class, which are read from its text each time."""


def drawn(random: Random, options: Any, name: str) -> Any:
    """A value that the field may have by its type and range."""
    hint = hints_of(type(options))[name]
    kind = random.choice(get_args(hint) if NoneType in get_args(hint) else [hint])
    allowed = next(each for each in fields(options) if each.name == name).metadata["range"]
    if kind is NoneType:
        return None
    if is_dataclass(kind):
        return random.choice([kind(), getattr(options, name) or kind()])
    if kind is bool:
        return random.random() < 0.5
    if kind is str:
        return random.choice(allowed.choices)
    low = next((bound for bound in (allowed.min, allowed.above) if bound is not None), 0)
    high = min([low + 50, *(bound for bound in (allowed.max, allowed.below) if bound is not None)])
    numbers = [low, random.uniform(low, high), 0.5 * (low + high), np.float64(high),
               np.float32(high)]
    if kind is int:
        return random.choice([int(number) for number in numbers] + [np.int64(high)])
    if kind is float:
        return random.choice(numbers)
    return tuple(random.uniform(0.01, 0.99) for _ in range(random.randint(1, 4)))


def types_in(options: Any) -> list[type]:
    return [type(options), *(kind for each in fields(options)
                             if is_dataclass(getattr(options, each.name))
                             for kind in types_in(getattr(options, each.name)))]


def test_an_optional_part_that_is_filled_survives(tmp_path: Path) -> None:
    """Jet's passes over the finest level are like others by default."""
    finest = RefinementOptions(tolerance=0.5, stall_limit=3)
    config = changed(portpart.JetConfig(), {"refinement.finest": finest})
    portpart.Session(given(False), 2, preset=config).save(tmp_path / "session.npz")
    loaded = portpart.Session.load(tmp_path / "session.npz")
    assert loaded._rounds.request.config.refinement.finest == finest


@dataclass(frozen=True)
class OwnConfig(portpart.JetConfig):
    """A class of somebody's own, of which other programs know nothing."""


@dataclass(frozen=True)
class OwnOptions(RefinementOptions):
    """The same, of a part."""


@pytest.mark.parametrize(("config", "what"), [
    (OwnConfig(), "OwnConfig"),
    (changed(portpart.JetConfig(), {"refinement.finest": OwnOptions()}), "OwnOptions"),
    (changed(portpart.JetConfig(), {"refinement.coarse.tolerance": Fraction(1, 3)}), "Fraction"),
], ids=["class", "part", "number"])
def test_what_a_file_cannot_hold_is_refused_when_it_is_saved(config: Any, what: str,
                                                             tmp_path: Path) -> None:
    session = portpart.Session(given(False), 2, algorithm="jet", preset=config)
    with pytest.raises(InputError, match=what):
        session.save(tmp_path / "session.npz")
    assert not list(tmp_path.iterdir())


def damaged(change: dict[str, Any], place: str = "") -> Any:
    described = description_of(portpart.JetConfig())
    inner = described
    for name in place.split(".") if place else []:
        inner = inner[name]
    inner.update(change)
    return described


@pytest.mark.parametrize(("described", "words"), [
    (damaged({"class": "GkwayOptions"}), "class 'GkwayOptions'; known are"),
    (damaged({"class": ["JetConfig"]}), "known are"),
    (damaged({"class": "GkwayConfig"}), "preset.grouping is missing"),
    (damaged({"new": 1}, "options"), "preset.new is unknown"),
    (damaged({"more": 1}), "it must be a name, or class and options"),
    (damaged({"options": 3}), "the options of a JetConfig"),
    (damaged({"coarse": 3}, "options.refinement"), "coarse is 3; it must be of RefinementOptions"),
    (damaged({"two_hop": {}}, "options.matching"), "no nested options"),
    (damaged({"two_hop": "no"}, "options.matching"), "two_hop is 'no'; it must be True or False"),
    (damaged({"temperatures": []}, "options.refinement"), "temperatures is"),
    (damaged({"starts": 1.5}, "options.initial"), "preset.initial: starts is 1.5"),
    (7, "preset is 7"), (None, "preset is None"),
], ids=str)
def test_descriptions_of_nothing_are_refused(described: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        config_of(described)


def test_a_configuration_of_hypergraphs_is_none_of_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "session.npz"
    portpart.Session(given(False), 2, preset=portpart.JetConfig()).save(path)
    arrays = dict(np.load(path))
    facts = json.loads(arrays["session"].tobytes())
    facts["preset"] = description_of(portpart.HypergConfig())
    arrays["session"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(GraphFormatError, match="preset must be a name or a PortpartConfig"):
        portpart.Session.load(path)


def test_options_are_true_or_false_and_not_what_counts_as_either() -> None:
    with pytest.raises(InputError, match="two_hop is 'no'; it must be True or False"):
        changed(portpart.JetConfig(), {"matching.two_hop": "no"})
    assert replace(portpart.JetConfig().matching, two_hop=np.bool_(False)).two_hop == False  # noqa: E712
