"""Files of sessions: the graph, the partition, and the options.

A file is an .npz archive.  `read_session` restores the exact state that `write_session` has
written.  Files are checked like arrays and options of callers, whatever program has written them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from portpart import api, backends
from portpart.algorithms.edits import ARRAYS, Saved, arrays_of, edited_of, existing_graph
from portpart.algorithms.recipes import entry_of
from portpart.backends.programs import ExecutionSpace
from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats import npz
from portpart.formats.text import PathLike, read_source, write_chunks
from portpart.graphs import MAX_TOTAL_WEIGHT, GraphLike
from portpart.inputs import is_hypergraph
from portpart.options import Json, checked_flag, checked_integer, exact_fraction
from portpart.sessions.levels import SessionOptions, check_sums
from portpart.sessions.saved import (
    NAMED_ARRAYS,
    arrays_of_names,
    config_of,
    description_of,
    read_names,
)
from portpart.sessions.state import SessionState
from portpart.sessions.update import EscalationState

VERSION = 3

FACTS = "session"
"""Name of the array that holds all other values, as JSON."""

OF_IDS = "part", "sizes", "fixed"
KNOWN = {FACTS, *OF_IDS, "fixed_weight", *ARRAYS, *NAMED_ARRAYS}

CHOICES = "objective", "algorithm", "preset", "seed"

COUNTS = "edits", "cost", "weight"
"""Numbers of an `EscalationState`."""


def write_session(path: PathLike, rounds: SessionState, choices: dict[str, Any]) -> None:
    """Write a session to an .npz file; an incomplete file is never left.

    Parameters
    ----------
    choices : dict
        Objective, algorithm, preset and seed of the first call.

    Raises
    ------
    InputError
        If there is a configuration or a name that a file cannot hold; nothing is written then.
    """
    incremental, host = rounds.incremental, rounds.edited.space.to_host
    facts = json.dumps(_facts_of(rounds, choices), default=_plain).encode()
    arrays = {FACTS: np.frombuffer(facts, np.uint8), "fixed_weight": rounds.fixed_weight,
              **arrays_of(rounds.edited), **arrays_of_names(rounds.edited)}
    count = rounds.edited.vertices.count
    for name, array in zip(OF_IDS, (incremental.part, incremental.sizes, incremental.fixed)):
        if array is not None:
            arrays[name] = host(array[:count])
    if "sizes" in arrays:  # sizes of deleted vertices do not count
        arrays["sizes"] = np.where(arrays["vertices_alive"], arrays["sizes"], 0)
    write_chunks(path, [npz.packed(arrays)])


def read_session(path: PathLike, space: ExecutionSpace) -> tuple[SessionState, dict[str, Any]]:
    """Return the state and the choices that `write_session` has written.

    Raises
    ------
    GraphFormatError
        If the file is damaged, or its values are not those of a session.
    """
    source = read_source(path)
    arrays = npz.arrays_of(source, KNOWN, "Session.save packs no arrays: save the session again")
    try:
        return _session(Saved(arrays), space)
    except InputError as problem:
        raise GraphFormatError(f"{source.name}: not as Session.save writes it: {problem}"
                               ) from problem


def first_request(graph: GraphLike, options: api.CallOptions) -> api.Request:
    """Return the checked request for the first partition of a session."""
    api.checked_objective(is_hypergraph(graph), options.objective, session=True)
    return api.checked_request(graph, options, as_edges=False)


def _facts_of(rounds: SessionState, choices: dict[str, Any]) -> dict[str, Json]:
    """Return all values that are not arrays."""
    session_options, preset = rounds.options, choices["preset"]
    return {
        **choices, "version": VERSION, "k": rounds.request.problem.num_blocks,
        "preset": preset if isinstance(preset, str) else description_of(preset),
        "imbalance": _ratio(exact_fraction(session_options.imbalance)),
        "target": None if session_options.target is None
        else [*map(_ratio, session_options.target)],
        "min_weight": session_options.min_weight, "price": _ratio(session_options.factor),
        "escalates": session_options.escalates, "ledger": rounds.ledger._asdict(),
    }


def _session(arrays: Saved, space: ExecutionSpace) -> tuple[SessionState, dict[str, Any]]:
    """Return the state and the choices from the arrays of a file."""
    facts = _facts(arrays[FACTS])
    choices = {name: facts[name] for name in CHOICES}
    if not isinstance(choices["preset"], str):
        choices["preset"] = config_of(choices["preset"])
    session_options, k = _session_options(facts), api.checked("k", facts["k"])
    host = backends.space("cpu")
    fixed_weight = host.to_host(api.amounts(host, arrays["fixed_weight"], k, "fixed_weight",
                                            "blocks"))
    existing = existing_graph(arrays, space)
    request = first_request(existing, api.CallOptions(
        k, imbalance=session_options.imbalance, target=session_options.target, **choices))
    edited = edited_of(existing, arrays, entry_of(request.config).growth)
    read_names(edited, arrays)
    part, sizes, fixed = _of_ids(arrays, edited.vertices.count, k)
    if fixed is None and fixed_weight.any():
        raise InputError("fixed_weight is above 0, but fixed is missing")
    _check_fixed(part, fixed, edited.ids)
    check_sums(session_options, request, sizes)
    ledger = _ledger(facts["ledger"])
    rounds = SessionState(request, edited, space.asarray(part),
                          None if sizes is None else space.asarray(sizes),
                          None if fixed is None else space.asarray(fixed), session_options,
                          fixed_weight)
    rounds.ledger = ledger
    return rounds, choices


def _facts(array: np.ndarray) -> Saved:
    """Return the values of an array of bytes, if its format is known."""
    try:
        facts = json.loads(array.tobytes())
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{FACTS} is not JSON: {problem}") from problem
    facts = _named(FACTS, facts)
    if facts["version"] != VERSION:
        raise InputError(f"a session of format {shown(facts['version'])}; this version of portpart "
                         f"reads {VERSION}")
    return facts


def _session_options(facts: Saved) -> SessionOptions:
    """Return the options of the blocks; imbalance and target are checked later, by their users."""
    target = facts["target"]
    if target is not None:
        if not isinstance(target, list):
            raise InputError(f"target is {shown(target)}; a number for each block is needed")
        target = [_fraction(f"target[{block}]", share) for block, share in enumerate(target)]
    price = _fraction("price", facts["price"])
    if price < 0:
        raise InputError(f"price is {shown(price)}; it must be at least 0")
    return SessionOptions(_fraction("imbalance", facts["imbalance"]), target,
                          checked_integer("min_weight", facts["min_weight"], 0, MAX_TOTAL_WEIGHT),
                          price, checked_flag("escalates", facts["escalates"]))


def _ledger(saved: Any) -> EscalationState:
    ledger = _named("ledger", saved)
    edits, cost, weight = (checked_integer(f"ledger: {name}", ledger[name], 0, 2**63 - 1)
                           for name in COUNTS)
    return EscalationState(edits, cost, weight,
                           checked_flag("ledger: hopeless", ledger["hopeless"]))


def _of_ids(arrays: Saved, count: int,
            k: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Return blocks, sizes and fixed blocks of all ids, on the host."""
    host = backends.space("cpu")
    sizes = arrays.get("sizes")
    part = api.block_array(host, arrays["part"], count, k, "part", 0)
    assert part is not None
    fixed = api.block_array(host, arrays.get("fixed"), count, k, "fixed", api.FREE)
    return (host.to_host(part), None if sizes is None else host.to_host(
        api.amounts(host, sizes, count, "sizes", "vertices")),
        None if fixed is None else host.to_host(fixed))


def _check_fixed(part: np.ndarray, fixed: np.ndarray | None, ids: np.ndarray) -> None:
    """Raise if an existing vertex is not in its fixed block."""
    if fixed is None:
        return
    wrong = (fixed[ids] != api.FREE) & (fixed[ids] != part[ids])
    if wrong.any():
        vertex = int(ids[wrong.argmax()])
        raise InputError(f"part[{vertex}] is {part[vertex]}: vertex {vertex} is fixed to block "
                         f"{fixed[vertex]}")


def _named(name: str, value: Json) -> Saved:
    """Return a JSON object as `Saved`."""
    if not isinstance(value, dict):
        raise InputError(f"{name} is {shown(value)}; entries by name are needed")
    return Saved(value)


def _ratio(value: Fraction) -> list[int]:
    """Return a fraction for JSON, whose integers may have any number of digits."""
    return [value.numerator, value.denominator]


def _fraction(name: str, ratio: Any) -> Fraction:
    """Return a fraction from JSON."""
    whole = isinstance(ratio, list) and [type(number) for number in ratio] == [int, int]
    if not whole or ratio[1] < 1:
        raise InputError(f"{name} is {shown(ratio)}; numerator and denominator are needed, the "
                         "latter above 0")
    return Fraction(*ratio)


def _plain(value: Any) -> Json:
    """Return a NumPy number as a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be saved")
