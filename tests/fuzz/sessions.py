"""Files of sessions with changed arrays and facts: refused, or of sessions that can be used."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import portpart
from portpart.errors import InputError
from portpart.options import changed
from tests.fuzz import archives
from tests.fuzz.archives import Arrays
from tests.fuzz.judge import Wrong, check_graph, check_hypergraph, exact_sum, nets_of, require
from tests.fuzz.samples import graphs

NUMBERS: list[Any] = [0, 1, 2, 3, 5, 7, -1, 0.5, 1.0, 1.5, -0.5, float("nan"), float("inf")]
LARGE: list[Any] = [2**31 - 1, 2**31, 2**62, 2**63, 10**30, -(2**63), 1e99]
OTHERS: list[Any] = [None, True, False, "", "x", "1", "cut", "km1", "soed", "volume", "jet", "fast",
                     "igkway", "ihyperg", "paper", [], {}, [1, 2], [[1, 2]], [[]],
                     {"class": "JetConfig"}]

SUMS = "2**62", "2^61"
"""How an error ends of weights or prices that leave no room for more."""


@cache
def samples() -> list[Arrays]:
    """The arrays of files of sessions of small graphs and hypergraphs, with and without extras."""
    grid = _grid()
    nets = portpart.as_hypergraph([[0, 1, 2], [2, 3], [3, 4, 5], [5, 6, 7, 8, 9]] * 2,
                                  net_weights=[3, 1, 1, 2] * 2)
    plain = portpart.as_hypergraph([[0, 1, 2], [2, 3], [3, 4, 5], []])
    named = portpart.as_hypergraph({name: [*pins] for name, pins in (
        ("one", "abc"), ("two", "cd"), ("three", "def"), ("four", "a"))})
    finest = changed(portpart.JetConfig(), {"initial.method": "grown", "initial.starts": 1})
    made: list[tuple[Any, int, dict[str, Any]]] = [
        (grid, 3, {}),
        (grid, 4, {"fixed": [2] * 3 + [-1] * 13, "vertex_sizes": np.arange(16) % 3,
                   "target": [1, 2, 2, "1/2"], "migration": "1/3", "imbalance": 0.2}),
        (grid, 2, {"algorithm": "igkway", "min_block_weight": 3}),
        (grid, 2, {"preset": finest, "escalate": "never"}),
        (nets, 3, {"objective": "soed", "preset": "fast"}),
        (nets, 2, {"preset": portpart.IhypergConfig(), "fixed": [0] + [-1] * 9}),
        (plain, 2, {"vertex_sizes": [1, 2, 3, 4, 5, 6], "preset": "fast"}),
        (named, 2, {"preset": "fast"}),
    ]
    with tempfile.TemporaryDirectory() as folder:
        return [_saved(portpart.Session(*given, **options), Path(folder) / "session.npz")
                for *given, options in made]


def _grid() -> Any:
    """The second of the sample graphs, with weights of edges."""
    sample = graphs()[1]
    offsets, targets, _ = sample.csr()
    sources = np.repeat(np.arange(sample.n), np.diff(offsets))
    return portpart.as_graph((offsets, targets), edge_weights=1 + (sources + targets) % 3,
                             vertex_weights=sample.masses)


def _saved(session: Any, path: Path) -> Arrays:
    """What a session's file has after some edits."""
    batch = session.batch()
    new = batch.insert_vertices([2, 1])
    batch.delete_vertices([5])
    if hasattr(batch, "insert_nets"):
        batch.delete_nets([1])
        batch.insert_nets([0, 3], [0, *new])
    else:
        batch.insert_edges([0, 1], new, [4, 1])
    session.apply(batch)
    session.save(path)
    with np.load(path) as archive:
        return dict(archive)


def make(random: Random) -> bytes:
    """A file in which something is changed: elements, arrays, facts, or the archive."""
    arrays = dict(random.choice(samples()))
    kind = random.random()
    if kind < 0.35:
        return archives.damaged_archive(random, [arrays, *samples()])
    for _ in range(random.choice((1, 1, 2))):
        if kind < 0.65:
            _change_facts(random, arrays)
        else:
            _change_elements(random, arrays)
    return archives.archive_of(arrays)


def _change_elements(random: Random, arrays: Arrays) -> None:
    """Change a few elements of an array to others that are plausible, or swap them."""
    texts = _texts(arrays)
    name = random.choice([name for name in arrays if arrays[name].ndim and name not in texts])
    array = arrays[name].copy()
    here, there = (random.randrange(max(1, len(array))) for _ in range(2))
    near: list[Any] = [0, 1, 2, -1, -2, len(array), 2**31 - 1, 10**6]
    if not len(array):
        return
    how = random.randrange(5)
    if how == 0:
        array[here] = random.choice(near)
    elif how == 1:
        array[[here, there]] = array[[there, here]]
    elif how == 2:
        array[here] = array[there]
    elif how == 3:
        array = array[np.array(random.sample(range(len(array)), len(array)))]
    else:
        array = np.insert(array, here, array[there]) if random.random() < 0.5 else np.delete(
            array, here)
    arrays[name] = array


def _change_facts(random: Random, arrays: Arrays) -> None:
    """Change a value of the facts, or of names, drop it, or put it elsewhere."""
    name = random.choice(_texts(arrays))
    facts = json.loads(arrays[name].tobytes())
    places = list(_places(facts))
    if not places:
        return
    holder, key = random.choice(places)
    of_preset = name == "session" and any(holder is inner for inner, _ in _places(
        facts.get("preset")))
    how = random.random()
    if how < 0.15:
        del holder[key]
    elif how < 0.3:
        other, place = random.choice(places)
        holder[key] = other[place]
    elif how < 0.4 and isinstance(holder, dict):
        holder[random.choice(["x", "finest", "starts", "k"])] = holder[key]
    elif how < 0.45:
        for _ in range(random.choice((3, 50, 700))):
            holder[key] = [holder[key]]
    else:  # large numbers of starts, runs and the like are work that was asked for
        holder[key] = random.choice(NUMBERS + OTHERS if of_preset else NUMBERS + LARGE + OTHERS)
    try:
        text = json.dumps(facts)
    except (ValueError, RecursionError):  # put into itself
        return
    arrays[name] = np.frombuffer(text.encode(), np.uint8)


def _texts(arrays: Arrays) -> list[str]:
    """The arrays that hold JSON."""
    return [name for name in arrays if name == "session" or name.endswith("_names")]


def _places(value: Any) -> Any:
    """Every place in nested lists and dictionaries, as what it is in and where."""
    items = (value.items() if isinstance(value, dict) else
             enumerate(value) if isinstance(value, list) else ())
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def check(data: bytes, folder: Path) -> None:
    """Load the file; what is accepted takes edits, undo and compaction, and counts what it has."""
    path = folder / "session.npz"
    path.write_bytes(data)
    session = portpart.Session.load(path)
    try:
        _use(session, path)
    except InputError as problem:
        if not any(words in str(problem) for words in SUMS):
            raise Wrong(f"a session that was accepted cannot be used: {problem}") from problem


def _use(session: Any, path: Path) -> None:
    _check_values(session, path)
    _apply(session, "local", path)
    mark, part = session.mark(), session.part
    _apply(session, "auto", path)
    _apply(session, "cycle", path)
    session.undo(mark)
    require((session.part[: len(part)] == part).all(), "undo")
    _check_values(session, path)
    session.compact()
    _apply(session, "auto", path)
    session.save(path)
    again = portpart.Session.load(path)
    require((again.part == session.part).all(), "saved again")


def _apply(session: Any, effort: str, path: Path) -> None:
    """Insert two vertices, fix one, and join them to a third by edges or a net."""
    batch, ids = session.batch(), session.ids
    new = batch.insert_vertices(count=2)
    ends = [*new, *ids[:1]]
    if hasattr(batch, "insert_nets"):
        batch.insert_nets([0, len(ends)], ends)
    else:
        batch.insert_edges(ends[1:], ends[:-1])
    batch.set_fixed(new[:1], session.k - 1)
    batch.delete_vertices(ids[-1:], missing="ignore")
    session.apply(batch, effort)
    require(session.part[new[0]] == session.k - 1, "a fixed vertex")
    _check_values(session, path)


def _check_values(session: Any, path: Path) -> None:
    """Cut, objective and weights of blocks against those of the graph, counted here."""
    graph, part = session.graph(), np.asarray(session.part)
    part = part[session.ids]
    require(((part >= 0) & (part < session.k)).all(), "a living vertex is in no block")
    if hasattr(graph, "offsets"):
        check_graph(graph)
        sources = np.repeat(np.arange(len(part)), np.diff(graph.offsets))
        across = part[sources] != part[graph.targets]
        weights = np.ones(len(across), np.int64) if graph.weights is None else graph.weights
        require(2 * session.cut == exact_sum(np.where(across, weights, 0)), "cut")
    else:
        check_hypergraph(graph, b"", path.parent)
        spans = [len(set(part[row].tolist())) for row in nets_of(graph)]
        weights = [1] * len(spans) if graph.net_weights is None else graph.net_weights.tolist()
        for name, price in (("cut", lambda b: b > 1), ("km1", lambda b: max(0, b - 1)),
                            ("soed", lambda b: b * (b > 1))):
            expected = sum(weight * price(span) for weight, span in zip(weights, spans))
            require(getattr(session, name) == expected, name)
    masses = np.ones(len(part), np.int64) if graph.vertex_weights is None else graph.vertex_weights
    heavy = np.zeros(session.k, np.int64)
    np.add.at(heavy, part, masses)
    require((session.block_weights == heavy).all(), "block weights")
