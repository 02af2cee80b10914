"""ParHIP files of every width are read, and files that are not as they say are refused."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import portpart
from portpart import io as graph_io
from portpart.errors import GraphFormatError
from portpart.graphs.graph import Graph
from tests import oracles

# the path 0 - 1 - 2 with weights, and a vertex without neighbours
OFFSETS, TARGETS = [0, 1, 3, 4, 4], [1, 0, 2, 1]
WEIGHTS, MASSES = [5, 5, 6, 6], [7, 0, 9, 1]


def packed(flags: int, offsets: Sequence[int] = OFFSETS, targets: Sequence[int] = TARGETS,
           weights: Sequence[int] = WEIGHTS, masses: Sequence[int] = MASSES) -> bytes:
    """Return a file as the manual of the format has it."""
    positions, ids, of_masses, of_weights = (
        "i" if flags & short else "q" for short in (4, 8, 16, 32))
    begin = 24 + struct.calcsize(f"<{len(offsets)}{positions}")
    width = struct.calcsize(f"<{ids}")
    data = struct.pack("<3Q", flags, len(offsets) - 1, len(targets))
    data += struct.pack(f"<{len(offsets)}{positions}", *(begin + width * each for each in offsets))
    data += struct.pack(f"<{len(targets)}{ids}", *targets)
    if not flags & 2:
        data += struct.pack(f"<{len(masses)}{of_masses}", *masses)
    if not flags & 1:
        data += struct.pack(f"<{len(weights)}{of_weights}", *weights)
    return data


@pytest.mark.parametrize("flags", range(64))
def test_every_width_is_read(flags: int, tmp_path: Path) -> None:
    path = tmp_path / "g.data"
    path.write_bytes(packed(flags))
    graph = graph_io.read(path)
    assert graph.offsets.tolist() == OFFSETS
    assert graph.targets.tolist() == TARGETS
    assert (None if graph.weights is None else graph.weights.tolist()) == (
        None if flags & 1 else WEIGHTS)
    assert (None if graph.vertex_weights is None else graph.vertex_weights.tolist()) == (
        None if flags & 2 else MASSES)
    oracles.assert_valid_graph(graph)


@pytest.mark.parametrize(("weighted", "large"), [*product((False, True), repeat=2)])
def test_files_are_written_as_the_manual_says(weighted: bool, large: bool, tmp_path: Path) -> None:
    """Weights have 64 bits where 32 do not suffice."""
    scale = 2**31 if large else 1
    weights, masses = [scale * each for each in WEIGHTS], [scale * each for each in MASSES]
    graph = portpart.as_graph((OFFSETS, TARGETS), edge_weights=weights if weighted else None,
                              vertex_weights=masses if weighted else None)
    graph_io.write(graph, tmp_path / "g.parhip")
    flags = 12 | (0 if weighted and large else 48) | (0 if weighted else 3)
    assert (tmp_path / "g.parhip").read_bytes() == packed(flags, weights=weights, masses=masses)


@pytest.mark.parametrize(("weight", "wide"), [(2**31 - 1, False), (2**31, True)])
def test_weights_have_64_bits_from_2_31_on(weight: int, wide: bool, tmp_path: Path) -> None:
    graph = portpart.as_graph((OFFSETS, TARGETS), edge_weights=[weight, weight, 1, 1],
                              vertex_weights=[weight, 0, 0, 0])
    graph_io.write(graph, tmp_path / "g.parhip")
    assert (tmp_path / "g.parhip").read_bytes() == packed(
        12 if wide else 60, weights=[weight, weight, 1, 1], masses=[weight, 0, 0, 0])
    oracles.assert_same_graph(graph_io.read(tmp_path / "g.parhip"), graph)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_edges_are_kept(n: int, tmp_path: Path) -> None:
    for suffix in ("parhip", "bgf.gz"):
        path = tmp_path / f"g.{suffix}"
        graph_io.write(portpart.from_edges([], num_vertices=n), path)
        graph = graph_io.read(path)
        assert (graph.num_vertices, graph.num_arcs) == (n, 0)


def test_loops_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "g.parhip").write_bytes(packed(3, [0, 2, 3], [0, 1, 0]))
    assert graph_io.read(tmp_path / "g.parhip").num_edges == 1


def test_rules_apply(tmp_path: Path) -> None:
    path = tmp_path / "g.parhip"
    path.write_bytes(packed(2, [0, 1, 1], [1], [4]))
    assert graph_io.read(path, symmetrize=True).weights.tolist() == [4, 4]
    assert graph_io.read(path, symmetrize=True, weights=False).weights is None


def with_word(data: bytes, place: int, word: int) -> bytes:
    return data[: 8 * place] + struct.pack("<Q", word) + data[8 * place + 8 :]


LONG = packed(3)
BAD = {
    "empty": (b"", "begins with 24 bytes .* there are 0 bytes"),
    "short header": (LONG[:20], "there are 20 bytes"),
    "unknown flag": (with_word(LONG, 0, 64), "first word is 64"),
    "cut": (LONG[:-1], "4 vertices and 4 arcs with flags 3 take 96 bytes; the file has 95"),
    "longer": (LONG + b"1", "take 96 bytes; the file has 97"),
    "more vertices": (with_word(LONG, 1, 2**61), "2305843009213693952 vertices .* the file has 96"),
    "too many": (with_word(LONG, 2, 2**64 - 1), r"at most 2\^62"),
    "first position": (with_word(LONG, 3, 72), r"indptr\[0\] is 1"),
    "odd position": (with_word(LONG, 4, 73), "row of vertex 1 begins at byte 73"),
    "position before": (with_word(LONG, 4, 8), "row of vertex 1 .* bytes 64 to 96, 8 for each"),
    "position behind": (with_word(LONG, 6, 104), "row of vertex 3 begins at byte 104"),
    "huge position": (with_word(LONG, 6, 2**64 - 8), "row of vertex 3 begins at byte 1844674"),
    "descending": (with_word(LONG, 5, 64), r"indptr\[2\] = 0 is smaller"),
    "last position": (with_word(with_word(LONG, 6, 88), 7, 88),
                      r"indptr\[4\] is 3 but there are 4"),
    "target": (with_word(LONG, 9, 4), "target of arc 1 is 4; vertices are 0 to 3"),
    "huge target": (with_word(LONG, 9, 2**64 - 1), "target of arc 1 is 18446744073709551615"),
    "one direction": (with_word(LONG, 9, 3), r"arc \(0, 1\) has no reverse"),
    "negative weight": (packed(2, weights=[5, 5, -6, -6]), "has weight -6"),
    "negative mass": (packed(1, masses=[5, 5, -6, 6]), "vertex 2 has weight -6"),
    "unequal weights": (packed(2, weights=[5, 5, 6, 7]), "weight 6 but its reverse"),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_not_as_they_say_are_refused(name: str, tmp_path: Path) -> None:
    data, problem = BAD[name]
    path = tmp_path / "g.parhip"
    path.write_bytes(data)
    with pytest.raises(GraphFormatError, match=f"g.parhip: .*{problem}"):
        graph_io.read(path)


def test_real_graphs_are_kept(data_folder: Path, tmp_path: Path) -> None:
    graph: Graph = graph_io.read(data_folder / "graphs" / "bips98_606.graph")
    graph_io.write(graph, tmp_path / "g.parhip")
    again = graph_io.read(tmp_path / "g.parhip")
    np.testing.assert_array_equal(graph.offsets, again.offsets)
    np.testing.assert_array_equal(graph.targets, again.targets)
