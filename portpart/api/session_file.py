"""Files of sessions: the graph, the partition, and all that was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from portpart.algorithms.edits.saved import load, save
from portpart.algorithms.partitioners import ALGORITHMS
from portpart.api.call import Call, call_of
from portpart.api.session_effort import Ledger
from portpart.api.session_levels import Wishes, made
from portpart.api.session_rounds import Rounds
from portpart.backends.interface import ExecutionSpace
from portpart.errors import GraphFormatError
from portpart.io.text.files import PathLike
from portpart.options import changed, exact_fraction

VERSION = 1


def write_session(path: PathLike, rounds: Rounds, asked: dict[str, Any]) -> None:
    """Write a session to an .npz file, which is complete or not there.

    Parameters
    ----------
    asked : dict
        Objective, algorithm, preset and seed of the first call.
    """
    wishes, following, host = rounds.wishes, rounds.following, rounds.edited.space.to_host
    preset = asked["preset"]
    facts = {
        **asked, "version": VERSION, "k": rounds.call.problem.num_blocks,
        "preset": preset if isinstance(preset, str) else _described(preset),
        "imbalance": str(exact_fraction(wishes.imbalance)),
        "target": None if wishes.target is None else [
            str(exact_fraction(share)) for share in np.asarray(wishes.target).tolist()],
        "min_weight": wishes.min_weight, "price": str(wishes.price),
        "escalates": wishes.escalates, "ledger": rounds.ledger._asdict(),
    }
    count = rounds.edited.vertices.count
    arrays = {"session": np.frombuffer(json.dumps(facts, default=_plain).encode(), np.uint8),
              "part": host(following.part), "fixed_weight": rounds.fixed_weight}
    for name, array in (("sizes", following.sizes), ("fixed", following.fixed)):
        if array is not None:
            arrays[name] = host(array[:count])
    save(rounds.edited, path, arrays)


def read_session(path: PathLike, space: ExecutionSpace) -> tuple[Rounds, dict[str, Any]]:
    """What `write_session` has written: the rounds, and what was asked for.

    Raises
    ------
    GraphFormatError
        If the file is damaged, or no such file.
    """
    edited, arrays = load(path, space)
    try:
        facts = json.loads(arrays["session"].tobytes())
        if facts["version"] != VERSION:
            raise GraphFormatError(f"{path}: a session of format {facts['version']}; this version "
                                   f"of portpart reads {VERSION}")
        asked = {name: facts[name] for name in ("objective", "algorithm", "preset", "seed")}
        if not isinstance(asked["preset"], str):
            asked["preset"] = _configured(asked["preset"])
        wishes = Wishes(facts["imbalance"], facts["target"], facts["min_weight"],
                        Fraction(facts["price"]), facts["escalates"])
        call = first_call(made(edited), facts["k"], wishes=wishes, **asked)
        sizes, fixed = (space.asarray(arrays[name]) if name in arrays else None
                        for name in ("sizes", "fixed"))
        rounds = Rounds(call, edited, space.asarray(arrays["part"]), sizes, fixed, wishes,
                        arrays["fixed_weight"])
        rounds.ledger = Ledger(**facts["ledger"])
    except (KeyError, TypeError, ValueError) as problem:
        raise GraphFormatError(f"{path}: no file of a session: {problem}") from problem
    return rounds, asked


def first_call(graph: Any, k: int, *, wishes: Wishes, objective: str | None,
               algorithm: str | None, preset: Any, seed: int | None, device: str = "auto",
               threads: int | None = None, fixed: Any = None, min_weight: int | None = None,
               progress: Any = None) -> Call:  # fmt: skip
    """The call that makes the first partition of a session."""
    return call_of(
        graph, k, imbalance=wishes.imbalance, vertex_weights=None, edge_weights=None,
        target=wishes.target, fixed=fixed, initial=None, min_block_weight=min_weight,
        objective=objective, vertex_sizes=None, algorithm=algorithm, preset=preset, device=device,
        seed=seed, threads=threads, starts=None, time_limit=None, symmetrize=False, weights=None,
        weight_scale=None, progress=progress, as_edges=False)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be saved")


def _described(config: Any) -> dict[str, Any]:
    """A configuration as numbers and text."""
    return {"class": type(config).__name__, "values": dict(_leaves(config, ""))}


def _leaves(config: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for each in fields(config):
        value = getattr(config, each.name)
        if is_dataclass(value):
            yield from _leaves(value, f"{prefix}{each.name}.")
        else:
            yield prefix + each.name, value


def _configured(described: dict[str, Any]) -> Any:
    """The configuration again."""
    kinds = {type(config).__name__: type(config) for algorithm in ALGORITHMS.values()
             for config in algorithm.presets.values()}
    values = {name: tuple(value) if isinstance(value, list) else value
              for name, value in described["values"].items()}
    return changed(kinds[described["class"]](), values)
