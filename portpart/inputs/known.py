"""The formats of graphs, and how the format of a file is recognised by its content."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, TypeVar

from portpart.errors import GraphFormatError, InputError, OutOfMemory
from portpart.formats import NamedGraph, dense, hmetis, metis, mpi_profile, parhip
from portpart.formats.text import (
    RULES,
    SEPARATORS,
    LineSyntax,
    Source,
    bare_name,
    count_numbers,
    has_width,
    is_count,
    refuse_foreign,
    rules_of,
)
from portpart.graphs import Graph, Hypergraph

Parsed = TypeVar("Parsed", Graph | NamedGraph, Hypergraph)

# The formats of graphs: module, file suffixes and options of each ------------------------------


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes
    ----------
    path : str
        Its module, which is imported when it is used. The function ``parse(source, **options)``
        reads; ``chunks(graph)``, if defined, writes. If `options` has those of rules, ``parse``
        accepts ``rules`` instead of them.
    suffixes : tuple of str
        Suffixes of file names.
    options : tuple of str
        Reading options that apply.
    names : bool
        Whether ``chunks`` writes the names of vertices.
    """

    path: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...]
    names: bool = False

    @property
    def module(self) -> ModuleType:
        """Return the module."""
        return import_module(self.path)

    def parse(self, source: Source, given: dict[str, Any]) -> Graph | NamedGraph:
        """Return the result of the format's reader for a file; all `given` options must apply."""
        options = dict(given)
        if RULES[0] in self.options:
            options["rules"] = rules_of(**{name: options.pop(name, None) for name in RULES})
        result: Graph | NamedGraph = self.module.parse(source, **options)
        return result

    @property
    def is_writable(self) -> bool:
        """Whether graphs can be written in this format."""
        return hasattr(self.module, "chunks")


MESHIO = "meshio"
MESHIO_SUFFIXES = (
    ".msh", ".vtu", ".vtk", ".inp", ".xdmf", ".xmf", ".med", ".exo", ".ex2", ".cgns", ".nas",
    ".bdf", ".fem", ".su2", ".ugrid", ".vol", ".avs", ".mdpa", ".f3grid", ".h5m", ".hmf", ".meshb",
    ".stl", ".ply", ".obj", ".off")
"""Suffixes of meshio's formats that no other files have: not .dat, .xml or .e, for example."""

FORMATS = {
    "metis": Format("portpart.formats.metis", (".graph", ".metis", ".chaco"), RULES),
    "matrix-market": Format("portpart.formats.matrix_market", (".mtx", ".mm"), RULES),
    "edge-list": Format("portpart.formats.edge_list",
                        (".txt", ".el", ".tsv", ".csv", ".edges", ".edgelist"),
                        (*RULES, "relabel", "columns", "header"), names=True),
    "dimacs": Format("portpart.formats.dimacs", (".gr", ".dimacs", ".col"), RULES),
    "npz": Format("portpart.formats.npz", (".npz",), RULES, names=True),
    "parhip": Format("portpart.formats.parhip", (".parhip", ".bgf"), RULES),
    "dense": Format("portpart.formats.dense", (".npy",), RULES),
    "verilog": Format("portpart.formats.netlist.verilog", (".v", ".vg"),
                      ("top", "model", "max_fanout", "areas")),
    "blif": Format("portpart.formats.netlist.blif", (".blif",),
                   ("top", "model", "max_fanout", "areas")),
    "aiger": Format("portpart.formats.netlist.aiger", (".aig", ".aag"),
                    ("model", "max_fanout", "areas")),
    "mpi-profile": Format("portpart.formats.mpi_profile", (".prof",), ()),
    "metis-mesh": Format("portpart.formats.mesh", (".mesh",), ("mesh", "common_nodes")),
    MESHIO: Format("portpart.formats.meshio_mesh", MESHIO_SUFFIXES, ("mesh", "common_nodes")),
}
"""Every format by name."""

GRAPH_SUFFIXES = tuple(suffix for entry in FORMATS.values() for suffix in entry.suffixes)


def format_of_name(name: str, formats: Mapping[str, Any] = FORMATS) -> str | None:
    """Return the format for a file name's suffix, or None."""
    suffix = os.path.splitext(bare_name(name.lower()))[1]
    return next((key for key, entry in formats.items() if suffix in entry.suffixes), None)


def parsed(name: str, allowed: Collection[str], source: Source, options: Collection[str],
           parse: Callable[[], Parsed], what: str) -> Parsed:
    """Return the result of a format's reader for a file; raise for options that do not apply.

    Errors name the file.
    """
    for option in options:
        if option not in allowed:
            raise InputError(f"{option} does not apply to {name} files")
    try:
        made = parse()
    except OutOfMemory:
        raise
    except MemoryError as problem:
        raise OutOfMemory(f"{source.name}: its {what} does not fit into memory") from problem
    if source.max_vertices is not None:
        graph = made.graph if isinstance(made, NamedGraph) else made
        source.refuse_size(None, graph.num_vertices)
    return made


# The format of a file is recognised by its content; the suffix of the name is a hint -----------
#
# Only the first lines are examined. Words and lines are counted if these are ambiguous: if they
# differ in length, or are possible in two formats.


SAMPLE_ROWS, SAMPLE_BYTES = 64, 1 << 16

TABLE_SYNTAX = LineSyntax(comments=b"#%")

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

MATRIX_MARKET_BEGINS = re.compile(rb"%%matrixmarket\b", re.IGNORECASE)
BOOKSHELF_BEGINS = re.compile(rb"\s*UCLA\s+nets\b")
VERILOG_BEGINS = re.compile(rb"\s*(//|/\*|\(\*|`[a-z]|(macro)?module\b)")
BLIF_BEGINS = re.compile(rb"(\s*#[^\n]*\n)*\s*\.(model|inputs)\b")
AIGER_BEGINS = re.compile(rb"a[ai]g \d+ \d+ \d+ \d+ \d+")
DIMACS_COMMENT = re.compile(rb"c(\s|$)")
DIMACS_PROBLEM = re.compile(rb"p\s+\S+\s+\d+\s+\d+\s*$")
DIMACS_EDGE = re.compile(rb"[ae]\s+\d+\s+\d+(\s|$)")

LONGEST_METIS_HEADER = 4
SMALLEST_TITLED = 3
"""Number of lines of a titled table of two vertices."""

MAX_BYTES_PER_WORD = 22
WIDTHS_OF_EDGES = (2, 3)
NETS_CALL = "portpart.io.read_hypergraph"


@dataclass
class TextSample:
    """The first lines of a text that are not empty.

    Attributes
    ----------
    rows : list of list of bytes
        Their words; comments are left out.
    complete : bool
        Whether these are all lines.
    comments : bool
        Whether some lines begin with ``#``.
    problem, edge : bool
        Whether the first line is a problem line of DIMACS, or an edge of DIMACS.
    """

    rows: list[list[bytes]] = field(default_factory=list)
    complete: bool = True
    comments: bool = False
    problem: bool = False
    edge: bool = False

    @property
    def width(self) -> int | None:
        """Number of words of each row; None if rows differ or there are none."""
        widths = {len(row) for row in self.rows}
        return widths.pop() if len(widths) == 1 else None

    @property
    def all_numbers(self) -> bool:
        """Whether every word is a number."""
        return all(NUMBER.fullmatch(word) for row in self.rows for word in row)

    @property
    def is_like_edges(self) -> bool:
        """Whether there are several rows, each of two numbers, or each of three."""
        return self.width in WIDTHS_OF_EDGES and self.all_numbers and len(self.rows) > 1


def recognised(source: Source, hint: str | None) -> str:
    """Return the format of a file whose suffix means `hint`, or no format.

    Raises
    ------
    GraphFormatError
        If it is in a format that is not read, or two formats are possible.
    """
    data = source.data
    if data.startswith(b"PK"):
        return "npz"
    if data.startswith(b"\x93NUMPY"):
        return "dense"
    if parhip.fits(data) or (hint == "parhip" and b"\0" in data[: parhip.HEADER_BYTES]):
        return "parhip"
    if data.startswith(mpi_profile.BEGINS):
        return "mpi-profile"
    if MATRIX_MARKET_BEGINS.match(data):
        return "matrix-market"
    netlist = netlist_format(data)
    if netlist in ("blif", "aiger"):
        return netlist
    refuse_foreign(source)
    if hint is None and netlist:
        return netlist
    if hint not in (None, "metis", "edge-list", "dimacs"):
        return hint
    sample = sample_of(source)
    if sample.problem or (sample.edge and hint != "edge-list"):
        return "dimacs"
    if hint is None and sample.comments:
        hint = "edge-list"
    if _is_titled_matrix(source, sample) and hint != "dimacs":
        return "dense"
    return _of_numbers(source, sample, hint) if sample.all_numbers else hint or "metis"


def netlist_format(data: bytes) -> str | None:
    """Return the format of a netlist by its beginning."""
    if AIGER_BEGINS.match(data):
        return "aiger"
    if BLIF_BEGINS.match(data):
        return "blif"
    return "verilog" if VERILOG_BEGINS.match(data) else None


def sample_of(source: Source) -> TextSample:
    """Return the first lines of a text."""
    sample = TextSample()
    for _, after, line in source.lines():
        if line[:1] in (b"#", b"%") or not line:
            sample.comments |= line[:1] == b"#"
            continue
        if not sample.rows:
            if DIMACS_COMMENT.match(line):
                continue
            sample.problem = DIMACS_PROBLEM.match(line) is not None
            sample.edge = DIMACS_EDGE.match(line) is not None
        sample.rows.append([word for word in SEPARATORS.split(line) if word])
        if len(sample.rows) == SAMPLE_ROWS or (after > SAMPLE_BYTES and len(sample.rows) > 1):
            sample.complete = after >= len(source.data)
            break
    return sample


def fits_metis(source: Source) -> bool:
    """Whether the numbers of lines and words agree with the first line of METIS."""
    header = next((words for _, _, line in source.lines()
                   if (words := line.split()) and not line.startswith(b"%")), [])
    promise = _promise_of(header)
    return promise is not None and promise.is_kept(*count_numbers(source.data, metis.SYNTAX))


def is_metis(source: Source) -> bool:
    """Whether a whole file is a valid METIS graph."""
    return fits_metis(source) and _parses(metis, source)


def fits_hmetis(source: Source, sample: TextSample) -> bool:
    """Whether a file is both valid hMETIS and, by the numbers on all its lines, an edge list.

    Its first line must have as many nets as there are lines after it.
    """
    if not sample.is_like_edges or not is_count(sample.rows[0][0]):
        return False
    lines, width = int(sample.rows[0][0]) + 1, len(sample.rows[0])
    return (_may_hold(source, lines * width) and has_width(source.data, TABLE_SYNTAX, width)
            and count_numbers(source.data, TABLE_SYNTAX)[0] == lines and _parses(hmetis, source))


def _parses(format: ModuleType, source: Source) -> bool:
    try:
        format.parse(source)
    except (InputError, MemoryError):
        return False
    return True


class FormatGuess(NamedTuple):
    """Values from the first line of a METIS graph: vertices, and words on all lines."""

    vertices: int
    words: int

    def is_kept(self, lines: int, words: int) -> bool:
        """Whether a file with these lines and words agrees with it."""
        return lines > self.vertices and words == self.words


def _promise_of(header: list[bytes]) -> FormatGuess | None:
    if not 2 <= len(header) <= LONGEST_METIS_HEADER or not all(map(is_count, header)):
        return None
    n, m, flags = map(int, (*header, b"0")[:3])
    sizes, vertex, edge = flags // 100, flags // 10 % 10, flags % 10
    if max(sizes, vertex, edge) > 1:
        return None
    return FormatGuess(n, len(header) + n * (sizes + vertex) + 2 * m * (1 + edge))


def _of_numbers(source: Source, sample: TextSample, hint: str | None) -> str:
    """Return the format of a text of numbers."""
    width = sample.width
    if width is None:
        other = hint not in (None, "metis") and sample.rows and not fits_metis(source)
        return hint if hint and (other or not sample.rows) else "metis"
    if width in WIDTHS_OF_EDGES:
        return _of_pairs(source, sample, width, hint)
    if width <= LONGEST_METIS_HEADER and fits_metis(source):
        return "metis"
    square = (width, width * width)
    if width > max(WIDTHS_OF_EDGES) and count_numbers(source.data, TABLE_SYNTAX) == square:
        return "dense"
    return hint or "metis"


def _is_titled_matrix(source: Source, sample: TextSample) -> bool:
    """Whether a text is a square table with names of its columns in the first line."""
    if len(sample.rows) < SMALLEST_TITLED:
        return False
    layout = dense.layout_of(sample.rows)
    return (layout is not None and layout.titles != ()
            and (layout.indexed or layout.size > max(WIDTHS_OF_EDGES))
            and layout.counts == count_numbers(source.data, TABLE_SYNTAX)
            and not fits_metis(source))


def _of_pairs(source: Source, sample: TextSample, width: int, hint: str | None) -> str:
    """Return the format of lines of two or of three numbers each."""
    if hint == "metis":
        return "metis"
    if _may_be_metis(source, sample.rows[0]) and fits_metis(source):
        if hint is None or not has_width(source.data, TABLE_SYNTAX, width):
            return "metis"
        refuse_doubt(source, hint, "metis")
    listed, others = hint or "edge-list", []
    if sample.complete and len(sample.rows) == width and not sample.comments:
        table = [[float(word) for word in row] for row in sample.rows]
        others += ["dense"] * _may_be_matrix(table)
    others += ["hmetis"] * fits_hmetis(source, sample)
    if others:
        refuse_doubt(source, listed, *others)
    return listed


def _may_be_metis(source: Source, header: list[bytes]) -> bool:
    """Whether a first line could be METIS's before lines of as many words, by the file's size."""
    promise = _promise_of(header)
    return (promise is not None and _may_hold(source, promise.words)
            and promise.words <= (promise.vertices + 1) * len(header))


def _may_hold(source: Source, words: int) -> bool:
    """Whether a file is neither too small nor too large for this many words."""
    size = len(source.data)
    return size // MAX_BYTES_PER_WORD <= words <= size


def _may_be_matrix(table: list[list[float]]) -> bool:
    """Whether two lines of two numbers or three of three are a table of traffic between ranks.

    The diagonal is zero, or the table is symmetric: lists of edges are rarely so.
    """
    size = len(table)
    hollow = all(table[i][i] == 0 for i in range(size))
    symmetric = table == [list(column) for column in zip(*table)]
    if size == len(WIDTHS_OF_EDGES):
        return hollow and table != [[0, 1], [1, 0]]  # the same graph either way
    return hollow or symmetric


def refuse_doubt(source: Source, *formats: str) -> NoReturn:
    """Raise for a file with several readings."""
    calls = [NETS_CALL if name == "hmetis" else f"format={name!r}" for name in formats]
    options = ", ".join(f"--format {name}" for name in formats)
    raise GraphFormatError(f"{source.name}: may be {' or '.join(formats)}; choose one: "
                           f"{' or '.join(calls)} ({options})")
