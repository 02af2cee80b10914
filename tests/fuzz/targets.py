"""What is fuzzed: for each kind of input, how a case is made, and what has to come of it."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from portpart import io as graph_io
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.cli import files, options
from portpart.cli.machines import read_table
from portpart.errors import InputError
from portpart.graphs.topology import Topology
from portpart.metrics import block_weight_limits, target_weights
from tests.fuzz import archives, calls, commands, machines, ranges, samples, sessions, truth
from tests.fuzz.judge import (
    check_graph,
    check_hypergraph,
    check_round_trip,
    merged,
    nets_of,
    require,
)
from tests.fuzz.mutations import OF_BYTES, OF_TEXT, mutated

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
NETLISTS: list[dict[str, Any]] = [{}, {"ports": True}, {"max_fanout": 1}]
NAMES = ["a", "b", "c", "d", "e", "f f"]


@dataclass(frozen=True)
class Target:
    """A kind of input.

    `make` gives the bytes of a case; `check` uses them and raises InputError where it refuses
    them, and anything else if the outcome is unclean.
    """

    make: Callable[[Random], bytes]
    check: Callable[[bytes, Path], None]
    share: float = 1.0


def read_file(suffix: str, data: bytes, folder: Path) -> None:
    """Read a graph file, with options that its bytes choose."""
    path = folder / f"case{suffix}"
    path.write_bytes(data)
    kind = zlib.crc32(data) >> 8
    given: list[dict[str, Any]] = [
        *[{}] * 12, {"symmetrize": True}, {"symmetrize": "sum"}, {"symmetrize": "max"},
        {"weights": "keep"}, {"weights": "ignore"}, {"weights": "abs"}, {"weights": "round"},
        {"weights": "round", "weight_scale": 10}]
    chosen = given[kind % len(given)]
    graph = graph_io.read(path, **chosen)
    check_graph(graph)
    check_round_trip(graph, data, folder)


def read_as_metis(data: bytes, folder: Path) -> None:
    """The graph is the one that a plain reader finds."""
    path = folder / "case.graph"
    path.write_bytes(data)
    graph = graph_io.read(path, "metis")
    require(merged(graph) == truth.metis(data), "another graph")


def read_as_edge_list(data: bytes, folder: Path) -> None:
    path = folder / "case.txt"
    path.write_bytes(data)
    graph, names = graph_io.read_named(path, "edge-list")
    expected = truth.edge_list(data) if names.dtype.kind == "i" and b'"' not in data else None
    if expected is None:
        return  # names are read by other rules
    name = dict(enumerate(map(int, names.tolist())))
    found = {(name[u], name[v]): weight for (u, v), weight in merged(graph)[1].items()}
    require(found == expected, "another graph")


def read_as_matrix(data: bytes, folder: Path) -> None:
    path = folder / "case.mtx"
    path.write_bytes(data)
    graph = graph_io.read(path, "matrix-market")
    expected = truth.matrix_market(data)
    require(expected is None or merged(graph)[:2] == expected, "another graph")


def read_named(suffix: str, data: bytes, folder: Path) -> None:
    path = folder / f"case{suffix}"
    path.write_bytes(data)
    graph, names = graph_io.read_named(path)
    check_graph(graph)
    require(len(names) == graph.num_vertices, "names")


def read_mesh(data: bytes, folder: Path) -> None:
    """Read a mesh; both its graphs and itself, written, are right."""
    path = folder / "case.mesh"
    path.write_bytes(data)
    mesh = graph_io.read_mesh(path)
    for graph in (mesh.dual_graph(), mesh.dual_graph(2, weights=True), mesh.nodal_graph()):
        check_graph(graph)
    graph_io.write_mesh(mesh, path)
    again = graph_io.read_mesh(path)
    require((again.nodes == mesh.nodes).all() and (again.offsets == mesh.offsets).all(), "mesh")
    require(again.num_nodes == mesh.num_nodes, "nodes of a mesh")


def read_verilog(data: bytes, folder: Path) -> None:
    path = folder / "case.v"
    path.write_bytes(data)
    netlist = graph_io.read_netlist(path)
    for model in ("star", "clique"):
        check_graph(netlist.graph(model))
    offsets, pins = netlist.hypergraph(ports=True)
    require(offsets[-1] == len(pins), "pins of the hypergraph")


def read_trace(data: bytes, folder: Path) -> None:
    """Stars weigh what the nets of the hypergraph have in pins, but for one each."""
    (folder / "case.v").write_bytes(samples.NETLIST)
    (folder / "case.ops").write_bytes(data)
    netlist = graph_io.read_netlist(folder / "case.v")
    ends: list[Any] = []
    for model, kind in (("hypergraph", EditableHypergraph), ("star", EditableGraph)):
        edits = graph_io.read_edits(folder / "case.ops", netlist, model=model)
        edited: Any = kind(edits.graph())  # type: ignore[arg-type]
        for lines in edits.rounds("natural" if len(data) % 2 else 3):
            batch = edited.batch()
            edits.play(lines, batch)
            edited.apply(batch)
        ends.append(edited.hypergraph() if model == "hypergraph" else edited.graph())
        require(len(edited.ids) == ends[0].num_vertices, "other vertices")
    sizes = np.diff(ends[0].net_offsets)
    require(ends[1].total_arc_weight == 2 * np.maximum(sizes - 1, 0).sum(), "stars of a trace")


def read_hmetis(data: bytes, folder: Path) -> None:
    """The hypergraph is the one that a plain reader finds."""
    path = folder / "case.hgr"
    path.write_bytes(data)
    made = graph_io.read_hypergraph(path, "hmetis")
    check_hypergraph(made, data, folder)
    nets, net_weights, masses = truth.hmetis(data)
    require((nets_of(made), made.num_vertices) == (nets, len(masses)), "another hypergraph")
    for found, expected in ((made.net_weights, net_weights), (made.vertex_weights, masses)):
        require([1] * len(expected) == expected if found is None else found.tolist() == expected,
                "other weights")


def read_nets(suffix: str, data: bytes, folder: Path) -> None:
    """Read a hypergraph, with options that its bytes choose."""
    path = folder / f"case{suffix}"
    path.write_bytes(data)
    kind = zlib.crc32(data) >> 8
    given: list[dict[str, Any]] = {
        ".mtx": [{"model": model, "diagonal": diagonal} for model in
                 ("row-net", "column-net", "fine-grain") for diagonal in (False, True)],
        ".v": NETLISTS, ".blif": NETLISTS, ".aig": NETLISTS}.get(suffix, [{}])
    made = graph_io.read_hypergraph(path, **given[kind % len(given)])
    check_hypergraph(made, data, folder)
    require(made.names is None or len(set(made.names)) == made.num_vertices, "names")
    if suffix in (".v", ".blif", ".aig"):
        netlist = graph_io.read_netlist(path)
        check_graph(netlist.graph())
        require(len(set(netlist.gate_names)) == netlist.num_gates, "a name twice")


def read_areas(suffix: str, nets: bytes, data: bytes, folder: Path) -> None:
    """Weights of a circuit, of the lines that are given to its reader beside the nets."""
    areas, path = folder / "areas", folder / f"case{suffix}"
    areas.write_bytes(data)
    path.write_bytes(nets)
    made = graph_io.read_hypergraph(path, areas=areas)
    check_hypergraph(made, data, folder)
    require(made.vertex_weights is not None, "weights")


def read_circuit(files: dict[str, bytes], suffix: str, data: bytes, folder: Path) -> None:
    """The circuit of an .aux file, one of the `files` that it names being other `data`."""
    for each, text in {**files, suffix: data}.items():
        (folder / f"case{each}").write_bytes(text)
    made = graph_io.read_hypergraph(folder / "case.aux")
    check_hypergraph(made, data, folder)
    require(made.names is not None and len(set(made.names)) == made.num_vertices, "names")


def circuit_files() -> dict[str, bytes]:
    """A circuit that Bookshelf files hold, by their suffixes."""
    return {".aux": samples.bookshelf_lists()[0], ".nets": samples.bookshelf()[0],
            ".nodes": samples.nodes()[0], ".wts": samples.bookshelf_weights()[0]}


def aiger(random: Random) -> bytes:
    return mutated(random, samples.aiger(), OF_TEXT if random.random() < 0.5 else OF_BYTES)


def read_blocks(data: bytes, folder: Path) -> None:
    path = folder / "case.part"
    path.write_bytes(data)
    free = bool(zlib.crc32(data) & 256)
    fixed = _unless_refused(partial(graph_io.read_partition, free=True), path, 8)
    require(fixed is None or (fixed.shape == (8,) and (fixed >= -1).all()), "fixed vertices")
    part = graph_io.read_partition(path, free=free)
    require(part.dtype == np.int32 and (part >= (-1 if free else 0)).all(), "blocks")
    graph_io.write_partition(part, path)
    require((graph_io.read_partition(path, len(part), free=free) == part).all(), "round trip")


def read_named_blocks(data: bytes, folder: Path) -> None:
    path = folder / "case.part"
    path.write_bytes(data)
    part = graph_io.read_named_partition(path, NAMES, free=bool(zlib.crc32(data) & 256))
    require(part.dtype == np.int32 and part.shape == (len(NAMES),), "blocks")


def read_hosts(data: bytes, folder: Path) -> None:
    path = folder / "hostfile"
    path.write_bytes(data)
    expanded = _unless_refused(graph_io.expand_nodelist, data.decode("latin-1"))
    hosts = graph_io.read_hosts(path)
    names = [host.name for host in hosts]
    require(len(set(names)) == len(names) > 0, "a host twice")
    for name in [*names, *(expanded or [])]:
        require(name.isascii() and not set(name) & set(" \t\r\n\0[]=,#;'\""), "a name")
    require(all(host.slots is None or host.slots > 0 for host in hosts), "slots")


def read_numbers(data: bytes, folder: Path) -> None:
    """Targets, imbalances and hierarchies, on the command line and in files."""
    path = folder / "numbers"
    path.write_bytes(data)
    text = data.decode("utf-8", "replace")
    shares = files.read_shares(files.AT + str(path))
    for numbers in (shares, text.split(",")):
        wanted = _unless_refused(target_weights, 1000, max(1, len(numbers)), numbers)
        if wanted is not None:
            require(min(wanted) >= 0 and 1000 <= sum(wanted) <= 1000 + len(wanted), "targets")
            require(block_weight_limits(1000, len(wanted), 0, numbers) == wanted, "limits")
    machine = _unless_refused(Topology, text, text)
    require(machine is None or 1 <= machine.num_elements < 2**31, "machine")
    fraction = _unless_refused(options.fraction, text)
    require(fraction is None or 0 <= fraction < float("inf"), "fraction")
    block_weight_limits(1000, 3, text)


def read_matrix(data: bytes, folder: Path) -> None:
    path = folder / "matrix"
    path.write_bytes(data)
    matrix = Topology.from_matrix(_unless_refused(read_table, str(path))).matrix
    require(matrix is not None and (matrix == matrix.T).all() and (matrix >= 0).all(), "matrix")


def _unless_refused(call: Callable[..., Any], *arguments: Any) -> Any:
    """Result of a call, or None if it refuses with an error of its own."""
    import click

    try:
        return call(*arguments)
    except (InputError, click.ClickException):
        return None


def packed(random: Random) -> bytes:
    """A METIS file, packed and then damaged, or damaged and then packed."""
    data = random.choice(samples.metis())
    early, late = random.random() < 0.3, random.random() < 0.8
    data = mutated(random, [data], OF_TEXT) if early else data
    packing = random.choice([_gzip, lzma.compress, bz2.compress, zlib.compress, _in_zip, _in_tar,
                             lambda data: _gzip(_in_tar(data)), _zstd])
    return mutated(random, [packing(data)], OF_BYTES) if late else packing(data)


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _zstd(data: bytes) -> bytes:
    try:
        packed: bytes = importlib.import_module(ZSTD).compress(data)
    except ImportError:
        return data
    return packed


def _in_zip(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (("g/readme", b"about"), ("g/g.graph", data)):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _in_tar(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("g/", "g/g.graph"):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            member.size = 0 if name.endswith("/") else len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def npz(random: Random) -> bytes:
    data = archives.damaged_archive(random, samples.own_npz() + samples.scipy_npz())
    return mutated(random, [data], OF_BYTES) if random.random() < 0.3 else data


def parhip(random: Random) -> bytes:
    return mutated(random, samples.parhip(), OF_BYTES)


def npy(random: Random) -> bytes:
    data = random.choice(samples.npy())
    if random.random() < 0.5:
        data = archives.other_header(random, data)
    return mutated(random, [data], OF_BYTES) if random.random() < 0.7 else data


def _text(seeds: Callable[[], list[bytes]], random: Random) -> bytes:
    return mutated(random, seeds(), OF_TEXT)


def _anything() -> list[bytes]:
    return [*samples.metis(), *samples.matrix_market(), *samples.edge_list(), *samples.dimacs(),
            *samples.verilog(), *samples.dense(), *samples.metis_mesh(), *samples.blif(),
            *samples.aiger()]


def _file(seeds: Callable[[], list[bytes]], suffix: str, share: float = 1.0) -> Target:
    return Target(partial(_text, seeds), partial(read_file, suffix), share)


TARGETS: dict[str, Target] = {
    "metis": _file(samples.metis, ".graph", 2),
    "matrix-market": _file(samples.matrix_market, ".mtx", 2),
    "edge-list": _file(samples.edge_list, ".txt", 2),
    "edge-list-csv": _file(samples.edge_list, ".csv"),
    "edge-list-names": Target(partial(_text, samples.edge_list), partial(read_named, ".el")),
    "dimacs": _file(samples.dimacs, ".gr", 2),
    "unknown-suffix": _file(_anything, ".data"),
    "wrong-suffix": _file(_anything, ".gr"),
    "metis-truth": Target(partial(_text, samples.metis), read_as_metis),
    "edge-list-truth": Target(partial(_text, samples.edge_list), read_as_edge_list),
    "matrix-market-truth": Target(partial(_text, samples.matrix_market), read_as_matrix),
    "packed": Target(packed, partial(read_file, ".graph.gz"), 1.5),
    "dense": _file(samples.dense, ".txt"),
    "npy": Target(npy, partial(read_file, ".npy")),
    "npz": Target(npz, partial(read_file, ".npz"), 3),
    "parhip": Target(parhip, partial(read_file, ".parhip"), 2),
    "ranges": Target(ranges.make, ranges.check, 2),
    "verilog": Target(partial(_text, samples.verilog), read_verilog, 1.5),
    "trace": Target(partial(_text, samples.traces), read_trace),
    "hmetis": Target(partial(_text, samples.hmetis), read_hmetis, 2),
    "hypergraph": Target(partial(_text, samples.hmetis), partial(read_nets, ".hgr")),
    "patoh": Target(partial(_text, samples.patoh), partial(read_nets, ".u")),
    "ispd98": Target(partial(_text, samples.ispd98), partial(read_nets, ".netD")),
    "bookshelf": Target(partial(_text, samples.bookshelf), partial(read_nets, ".nets")),
    "ispd98-areas": Target(partial(_text, samples.module_areas), partial(
        read_areas, ".net", samples.ispd98()[0]), 0.5),
    "cell-areas": Target(partial(_text, samples.cell_areas), partial(
        read_areas, ".v", samples.NETLIST), 0.5),
    "bookshelf-nodes": Target(partial(_text, samples.nodes), partial(
        read_areas, ".nets", samples.bookshelf()[0]), 0.5),
    "bookshelf-list": Target(partial(_text, samples.bookshelf_lists), partial(
        read_circuit, circuit_files(), ".aux"), 0.5),
    "bookshelf-weights": Target(partial(_text, samples.bookshelf_weights), partial(
        read_circuit, circuit_files(), ".wts"), 0.5),
    "matrix-nets": Target(partial(_text, samples.matrix_nets), partial(read_nets, ".mtx")),
    "blif": Target(partial(_text, samples.blif), partial(read_nets, ".blif"), 1.5),
    "aiger": Target(aiger, partial(read_nets, ".aig"), 1.5),
    "metis-mesh": Target(partial(_text, samples.metis_mesh), read_mesh),
    "hwloc": Target(partial(_text, machines.nodes), machines.read_node),
    "mpi-profile": Target(partial(_text, machines.profiles), partial(read_file, ".prof")),
    "partition": Target(partial(_text, samples.partitions), read_blocks),
    "named-partition": Target(partial(_text, samples.named_partitions), read_named_blocks),
    "hostfile": Target(partial(_text, samples.hostfiles), read_hosts),
    "numbers": Target(partial(_text, samples.numbers), read_numbers),
    "matrix": Target(partial(_text, samples.matrices), read_matrix),
    "session-files": Target(sessions.make, sessions.check, 0.25),
    "api": Target(calls.tape, calls.check, 1.5),
    "command-line": Target(commands.make, commands.check, 0.5),
}
"""By name; `share` is how many of all cases each gets."""
