"""Files of sessions that others have written or changed: refused, or sessions like any other."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.errors import GraphFormatError, InputError, PortpartError

Arrays = dict[str, Any]


def graph_session() -> Any:
    """With weights of everything, sizes, fixed vertices, and ids that are not alive."""
    rng = np.random.default_rng(1)
    rows = generators.grid_2d(12).to_scipy()
    upper = rng.integers(1, 9, (144, 144))
    weights = (np.triu(upper) + np.triu(upper).T)[rows.nonzero()]
    graph = portpart.as_graph(rows, edge_weights=weights,
                              vertex_weights=rng.integers(0, 4, 144))
    session = portpart.Session(graph, 4, fixed=np.where(np.arange(144) % 40, -1, 1),
                               vertex_sizes=np.arange(144) % 5, target=[1, 2, 2, "3/2"])
    return edited(session)


def net_session() -> Any:
    return edited(portpart.Session(generators.netlist(120, seed=2), 3, objective="soed"))


def edited(session: Any) -> Any:
    batch = session.batch()
    new = batch.insert_vertices([2, 3])
    batch.delete_vertices([5, 9])
    if hasattr(batch, "insert_nets"):
        batch.delete_nets([3])
        batch.insert_nets([0, 2], new, 4)
    else:
        batch.insert_edges(new, [0, 1])
    session.apply(batch)
    return session


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Arrays]:
    """The arrays of a file of each kind."""
    folder, found = tmp_path_factory.mktemp("saved"), {}
    for name, make in (("graph", graph_session), ("nets", net_session)):
        make().save(folder / f"{name}.npz")
        with np.load(folder / f"{name}.npz") as archive:
            found[name] = dict(archive)
    return found


def load(arrays: Arrays, folder: Path) -> Any:
    np.savez(folder / "changed.npz", **arrays)
    return portpart.Session.load(folder / "changed.npz")


def put(place: int, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    """A change of one element."""
    def change(array: np.ndarray) -> np.ndarray:
        array.flat[place] = value
        return array
    return change


def cut_off(array: np.ndarray) -> np.ndarray:
    return array[:-1]


def twice(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array, array])


def apart(weights: np.ndarray) -> np.ndarray:
    """Other weights on the two directions of an edge."""
    return put(0, weights[0] + 1)(weights)


ARRAYS: list[tuple[str, str, Callable[[np.ndarray], Any], str]] = [
    ("graph", "part", put(7, 10**6), r"part\[7\] is 1000000: vertex 7 is in no block of 0 ... 3"),
    ("graph", "part", put(7, 2**31 - 1), r"part\[7\] is 2147483647"),
    ("graph", "part", put(7, -2), r"part\[7\] is -2"),
    ("graph", "part", put(7, -1), r"part\[7\] is -1"),
    ("graph", "part", put(40, 0), r"part\[40\] is 0: vertex 40 is fixed to block 1"),
    ("graph", "part", cut_off, r"part has shape \(145,\) for 146 vertices"),
    ("graph", "part", lambda part: part.reshape(2, -1), "part has shape"),
    ("graph", "part", lambda part: part + 0.5, r"part\[0\] is [0-3]\.5"),
    ("graph", "part", lambda part: part.astype(object), "part.*object.*numbers are needed"),
    ("graph", "part", lambda part: part.astype(str), "part are of type"),
    ("graph", "part", lambda part: part.astype("M8[s]"), "numbers are needed"),
    ("graph", "indptr", put(7, 2**30), r"indptr\[8\] = \d+ is smaller than indptr\[7\]"),
    ("graph", "indptr", lambda offsets: offsets[::-1], r"indptr\[0\] is"),
    ("graph", "indptr", cut_off, r"indptr\[143\] is"),
    ("graph", "indptr", lambda offsets: offsets[:0], "indptr is empty"),
    ("graph", "indptr", lambda offsets: offsets * 1.0, "indptr are of type float64"),
    ("graph", "indices", put(7, 10**6), r"indices\[7\] = 1000000.*is not a vertex"),
    ("graph", "indices", put(7, -1), r"indices\[7\] = -1"),
    ("graph", "indices", put(7, 143), "has no reverse arc"),
    ("graph", "edge_weights", apart, "but its reverse arc"),
    ("graph", "edge_weights", put(3, -1), "has weight -1"),
    ("graph", "edge_weights", cut_off, r"edge_weights have shape"),
    ("graph", "edge_weights", lambda weights: weights * np.nan, r"edge_weights\[0\] is nan"),
    ("graph", "edge_weights", lambda weights: weights.astype(np.int64) << 58, r"2\*\*62"),
    ("graph", "vertex_weights", put(3, -1), "vertex 3 has weight -1"),
    ("graph", "vertex_weights", put(3, 2**62), r"vertex weights add up to \d+"),
    ("graph", "vertex_weights", twice, "vertex_weights hold 288 values for 144 vertices"),
    ("graph", "vertices_alive", twice, "vertices_alive holds 288 ids that are alive"),
    ("graph", "vertices_alive", put(5, True), "vertices_alive holds 145"),
    ("graph", "vertices_alive", lambda alive: alive.astype(int), "truth values are needed"),
    ("graph", "vertices_alive", lambda alive: alive[::-1].reshape(1, -1), "vertices_alive has sh"),
    ("graph", "fixed", put(3, 4), r"fixed\[3\] is 4"),
    ("graph", "fixed", put(3, -2), r"fixed\[3\] is -2"),
    ("graph", "fixed", cut_off, "fixed has shape"),
    ("graph", "fixed", lambda fixed: np.where(fixed < 0, 0, fixed), "is fixed to block 0"),
    ("graph", "sizes", put(3, -1), r"sizes\[3\] is -1; it must be at least 0"),
    ("graph", "sizes", put(3, 2**62), "the sizes add up to"),
    ("graph", "sizes", put(3, 2**61), "costs may exceed"),
    ("graph", "sizes", twice, "sizes have shape"),
    ("graph", "fixed_weight", twice, r"fixed_weight have shape \(8,\) for 4 blocks"),
    ("graph", "fixed_weight", put(3, -1), r"fixed_weight\[3\] is -1"),
    ("graph", "weight_scale", put(0, 0), "weight_scale is 0.0"),
    ("graph", "weight_scale", put(0, np.nan), "weight_scale is nan"),
    ("graph", "weight_scale", lambda scale: np.array("much"), "weight_scale is 'much'"),
    ("graph", "session", cut_off, "session is not JSON"),
    ("graph", "session", lambda facts: np.array(7), "session is not JSON"),
    ("nets", "net_offsets", put(7, 2**30), r"net_offsets\[8\]"),
    ("nets", "net_offsets", put(0, -1), r"net_offsets\[0\] is -1"),
    ("nets", "net_pins", put(7, 10**6), "has a pin 1000000, which is not a vertex"),
    ("nets", "net_pins", put(7, -1), "has a pin -1"),
    ("nets", "net_pins", cut_off, "the last offset must be"),
    ("nets", "net_weights", put(7, -1), "net 7 has weight -1"),
    ("nets", "net_weights", twice, "net_weights have shape"),
    ("nets", "net_weights", lambda weights: weights.astype(np.int64) << 60, r"2\*\*62"),
    ("nets", "nets_alive", twice, "nets_alive holds"),
    ("nets", "nets_alive", put(3, True), "nets_alive holds"),
    ("nets", "vertices_alive", lambda alive: alive[:40], "which is not a vertex"),
    ("nets", "part", put(7, 3), r"part\[7\] is 3"),
]


@pytest.mark.parametrize(("kind", "name", "change", "words"), ARRAYS,
                         ids=[f"{kind}-{name}-{words[:24]}" for kind, name, _, words in ARRAYS])
def test_an_array_that_no_session_has_is_refused(
        kind: str, name: str, change: Callable[[np.ndarray], Any], words: str,
        saved: dict[str, Arrays], tmp_path: Path) -> None:
    """The error names the file, the array and the entry."""
    with pytest.raises(GraphFormatError, match=rf"changed\.npz: (.*\n)*.*{words}"):
        load({**saved[kind], name: change(saved[kind][name].copy())}, tmp_path)


@pytest.mark.parametrize("kind", ["graph", "nets"])
def test_a_file_needs_all_its_arrays(kind: str, saved: dict[str, Arrays], tmp_path: Path) -> None:
    optional = {"edge_weights", "vertex_weights", "net_weights", "sizes", "fixed"}
    for name in saved[kind]:
        arrays = {other: array for other, array in saved[kind].items() if other != name}
        if name in optional - {"fixed"}:
            assert load(arrays, tmp_path).k == (4 if kind == "graph" else 3)
        else:
            words = "but fixed is missing" if name == "fixed" else "is missing"
            with pytest.raises(GraphFormatError, match=f"changed.npz: .*{words}"):
                load(arrays, tmp_path)


FACTS: list[tuple[str, Any, str]] = [
    ("version", 1, "a session of format 1; this version of portpart reads"),
    ("version", [[]], "format"),
    ("k", 0, "k is 0"), ("k", 2**31, "k is 2147483648"), ("k", 3, "for 3 blocks"),
    ("k", 2**31 - 1, "for 2147483647 blocks"), ("k", "4", "k is '4'"), ("k", 1e99, "k is"),
    ("price", "1/0", "price is '1/0'"), ("price", [1, 0], "price is"),
    ("price", [-1, 1], "price is Fraction.-1, 1.; it must be at least 0"),
    ("price", [10**40, 1], "costs may exceed"), ("price", [0.5, 1], "price is"),
    ("imbalance", [-1, 3], "imbalance is"), ("imbalance", None, "imbalance is None"),
    ("imbalance", [10**1100, 1], "digits"), ("imbalance", [True, 1], "imbalance is"),
    ("target", [[1, 1]] * 3, "target holds 3 numbers for 4 blocks"), ("target", 7, "target is 7"),
    ("target", [[1, 1]] * 3 + [[-1, 1]], r"target\[3\] is"), ("target", ["1"] * 4, "target.0. is"),
    ("escalates", 3, "escalates is 3; it must be True or False"), ("escalates", None, "escalates"),
    ("min_weight", -1, "min_weight is -1"), ("min_weight", 2**63, "min_weight"),
    ("min_weight", {}, "min_weight"),
    ("seed", -1, "seed is -1"), ("seed", 1.5, "seed is 1.5"), ("seed", "x", "seed is 'x'"),
    ("objective", "volume", "objective is 'volume'; for a session of a graph"),
    ("objective", "km1", "objective is 'km1'"), ("objective", [], "objective is"),
    ("algorithm", "ihyperg", "algorithm is 'ihyperg'"), ("algorithm", ["jet"], "algorithm is"),
    ("preset", "quick", "preset is 'quick'"), ("preset", 3, "preset is 3"),
    ("ledger", None, "ledger is None"), ("ledger", {"edits": 3}, "cost is missing"),
    ("ledger", {"edits": -3, "cost": 1, "weight": 1, "hopeless": False}, "edits is -3"),
    ("ledger", {"edits": 3, "cost": "1", "weight": 1, "hopeless": False}, "cost is '1'"),
    ("ledger", {"edits": 3, "cost": 1, "weight": 10**30, "hopeless": False}, "weight is"),
    ("ledger", {"edits": 3, "cost": 1, "weight": 1, "hopeless": 0}, "hopeless is 0"),
]


def with_facts(arrays: Arrays, facts: Any) -> Arrays:
    text = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    return {**arrays, "session": np.frombuffer(text, np.uint8)}


def facts_of(arrays: Arrays) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(arrays["session"].tobytes())
    return found


@pytest.mark.parametrize(("name", "value", "words"), FACTS,
                         ids=[f"{name}-{str(value)[:20]}" for name, value, _ in FACTS])
def test_a_number_that_no_session_has_is_refused(name: str, value: Any, words: str,
                                                 saved: dict[str, Arrays], tmp_path: Path) -> None:
    facts = {**facts_of(saved["graph"]), name: value}
    with pytest.raises(GraphFormatError, match=f"changed.npz: .*{words}"):
        load(with_facts(saved["graph"], facts), tmp_path)


def test_every_fact_is_needed(saved: dict[str, Arrays], tmp_path: Path) -> None:
    whole = facts_of(saved["graph"])
    for name in whole:
        facts = {other: value for other, value in whole.items() if other != name}
        with pytest.raises(GraphFormatError, match=f"{name} is missing"):
            load(with_facts(saved["graph"], facts), tmp_path)


@pytest.mark.parametrize("text", [
    b"[1, 2]", b"3", b"null", b"{", b"\xff\xfe", b"", b'{"version": ' + b"9" * 5000 + b"}",
    b"[" * 100_000, b'{"version":' * 100_000, b'{"version": ' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"version": NaN}',
], ids=lambda text: repr(text[:20]))
def test_facts_that_are_none_are_refused(text: bytes, saved: dict[str, Arrays],
                                         tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="session"):
        load(with_facts(saved["graph"], text), tmp_path)


def test_what_fills_all_memory_is_refused(saved: dict[str, Arrays], tmp_path: Path) -> None:
    """Archives whose members promise more than they hold, or are packed a thousand times."""
    path = tmp_path / "large.npz"
    np.savez_compressed(path, **{**saved["nets"], "nets_alive": np.zeros(2**27, bool)})
    with pytest.raises(GraphFormatError, match=r"large\.npz: nets_alive.*over 1000 times its size"):
        portpart.Session.load(path)
    header = b"\x93NUMPY\1\0\x76\0{'descr': '|b1', 'fortran_order': False, 'shape': (2147483647,)}"
    np.savez(path, **{name: array for name, array in saved["nets"].items() if name != "nets_alive"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("nets_alive.npy", header.ljust(127) + b"\n")
    with pytest.raises(GraphFormatError, match="promises an array of shape"):
        portpart.Session.load(path)


@pytest.mark.parametrize("kind", ["graph", "nets"])
def test_the_same_session_may_be_written_otherwise(kind: str, saved: dict[str, Arrays],
                                                   tmp_path: Path) -> None:
    """Packed, in other types and orders, with arrays that mean nothing."""
    arrays = {name: array.astype(np.int64) if array.dtype == np.int32 else array
              for name, array in saved[kind].items()}
    if kind == "nets":
        offsets, pins = arrays["net_offsets"], arrays["net_pins"]
        arrays["net_pins"] = np.concatenate(
            [pins[a:b][::-1] for a, b in pairwise(offsets)])
    np.savez_compressed(tmp_path / "other.npz", **arrays, note=np.array(["hello"]))
    sessions = [load(saved[kind], tmp_path), portpart.Session.load(tmp_path / "other.npz")]
    for effort in ("local", "cycle"):
        updates = [each.apply(edits_of(each), effort) for each in sessions]
        assert updates[0].value == updates[1].value
        assert np.array_equal(sessions[0].part, sessions[1].part)


def edits_of(session: Any) -> Any:
    batch = session.batch()
    batch.insert_vertices(count=2)
    batch.delete_vertices(session.ids[3:6])
    return batch


def test_flipped_bits_are_noticed(saved: dict[str, Arrays], tmp_path: Path) -> None:
    np.savez(tmp_path / "whole.npz", **saved["graph"])
    whole = (tmp_path / "whole.npz").read_bytes()
    values = load(saved["graph"], tmp_path).part.tolist()
    for place in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "flipped.npz").write_bytes(damaged)
        with suppress(PortpartError):
            assert portpart.Session.load(tmp_path / "flipped.npz").part.tolist() == values


def test_a_file_that_is_not_there_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        portpart.Session.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("0 1\n")
    with pytest.raises(GraphFormatError, match=r"text\.npz: no \.npz archive"):
        portpart.Session.load(tmp_path / "text.npz")
