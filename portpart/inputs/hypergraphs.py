"""Hypergraphs from files: hMETIS, PaToH, circuits, matrices by a model, netlists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from portpart.backends.programs import ExecutionSpace
from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats import bookshelf, hmetis, ispd98, matrix_market, patoh
from portpart.formats.netlist import Netlist, distinct, read_areas
from portpart.formats.text import PathLike, Source, bare_name, read_source, refuse_foreign
from portpart.graphs import Hypergraph, nets_hypergraph
from portpart.inputs.known import (
    BOOKSHELF_BEGINS,
    FORMATS,
    MATRIX_MARKET_BEGINS,
    format_of_name,
    is_metis,
    netlist_format,
    parsed,
)
from portpart.inputs.reading import checked_limit
from portpart.options import checked_flag

# Netlists from files: gate-level Verilog, BLIF, AIGER ------------------------------------------


NETLISTS = ("verilog", "blif", "aiger")


def read_netlist(path: PathLike, *, top: str | None = None, format: str | None = None) -> Netlist:
    r"""Read a netlist: gate-level Verilog, BLIF or AIGER.

    Parameters
    ----------
    path : str or PathLike
        Plain or compressed; the netlist in a tar or zip file is also found.  ``-`` reads standard
        input.
    top : str, optional
        The top module; default: the only one that no other module instantiates, for BLIF the first
        model. Not for AIGER.
    format : {"verilog", "blif", "aiger"}, optional
        Default: the format of the content, else that of the suffix, else Verilog.

    Returns
    -------
    Netlist
        Gates in the order of the file, then those of instances of modules, named ``instance/gate``.

    Raises
    ------
    GraphFormatError
        If the text is not supported; with file and line.
    InputError
        If the file cannot be read or has no module `top`.

    Notes
    -----
    O(bytes), in Python: a million gates take ten to twenty seconds and about a gigabyte.  The ANDs
    of binary AIGER are read at once.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("pair.blif").write_text(".model pair\n.inputs a\n.outputs z\n"
    ...     ".names a n\n0 1\n.names n z\n0 1\n.end\n")
    >>> portpart.io.read_netlist("pair.blif")
    <Netlist pair: 2 gates, 3 nets, 4 pins, 2 ports>
    """
    if format is not None and format not in NETLISTS:
        raise InputError(f"unknown format of netlists {shown(format)}; known are "
                         f"{', '.join(NETLISTS)}")
    suffixes = tuple(suffix for name in NETLISTS for suffix in FORMATS[name].suffixes)
    source = read_source(path, None, suffixes)
    hint = format_of_name(source.name)
    named = hint if hint in NETLISTS else "verilog"
    return netlist_of(source, format or netlist_format(source.data) or named, top)


def netlist_of(source: Source, format: str, top: str | None = None) -> Netlist:
    """Return the netlist in the text of a file."""
    options = {} if top is None else {"top": top}
    if options and "top" not in FORMATS[format].options:
        raise InputError(f"top does not apply to {format} files")
    made: Netlist = FORMATS[format].module.parse_netlist(source, **options)
    return made


# Hypergraphs from files: hMETIS, PaToH, circuits, matrices by a model, netlists ----------------


ANY_TEXT = ".txt"
"""Suffix of edge lists that files of all kinds have."""


@dataclass(frozen=True)
class NetFormat:
    """A format of hypergraphs: its reader, the file suffixes and the options that apply."""

    parse: Callable[..., Hypergraph]
    suffixes: tuple[str, ...]
    options: tuple[str, ...]


def read_hypergraph(
    path: PathLike,
    format: str | None = None,
    *,
    model: str | None = None,
    diagonal: bool = False,
    top: str | None = None,
    ports: bool = False,
    max_fanout: int | None = None,
    areas: PathLike | None = None,
    max_vertices: int | None = None,
    space: ExecutionSpace | None = None,
) -> Hypergraph:
    r"""Read a hypergraph file.

    Parameters
    ----------
    path : str or PathLike
        Plain or compressed with gzip, xz, bzip2 or zstd; the hypergraph in a tar or zip file is
        also found. ``-`` reads standard input.
    format : str, optional
        ``"hmetis"``, ``"patoh"``, ``"ispd98"``, ``"bookshelf"``, ``"matrix-market"``,
        ``"verilog"``, ``"blif"`` or ``"aiger"``.  Default: the format of the content, else that of
        the suffix (``.hgr``, ``.u``, ``.net``, ``.netD``, ``.nets``, ``.aux``, ``.mtx``, ``.v``,
        ``.blif``, ``.aig``, ``.aag``), else hMETIS. Files that are graphs by their name, or METIS
        graphs by their content, are an error.
    model, diagonal
        Matrix Market: as in :func:`portpart.as_hypergraph`.
    top : str, optional
        Verilog and BLIF: the top module, as in :func:`read_netlist`.
    ports : bool
        Netlists: whether the bits of the ports are also vertices, of weight 0, after the gates;
        repeated names get underscores.
    max_fanout : int, optional
        Netlists: remove the pins of nets with more than ``max_fanout + 1`` vertices (clock, reset).
    areas : str or PathLike, optional
        ISPD98: the ``.are`` file, Bookshelf: the ``.nodes`` file, with the weights of vertices;
        default: 1. Bookshelf's vertices have the order of this file, else that of their occurrence
        in nets.  Bookshelf's ``.aux`` file names the others: nets, nodes and, in a ``.wts`` file,
        weights of nodes and nets.  Netlists: a file with lines of a cell and its area.  Areas of
        cells and nodes may be decimal numbers such as 3.5.  Then all areas of the file, and weights
        of nodes, are multiplied by the smallest power of ten that makes areas integers.
    max_vertices : int, optional
        Maximum number of vertices; default: 2^22, or 16 for each byte of text if that is more. With
        this option, compressed files may also expand to more than 64 MiB and 1000 times their size.
    space : ExecutionSpace, optional
        Space of the hypergraph; default: the CPU.

    Returns
    -------
    Hypergraph
        Netlists and circuits have the ``names`` of vertices, and the ``net_names`` of the file.

    Raises
    ------
    GraphFormatError
        For the first deviation from the format, with file, line and column.
    InputError
        If the file cannot be read, or an option does not apply to the format.

    Notes
    -----
    Numbers are read by compiled code in parallel, O(bytes); netlists and circuits in Python.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("small.hgr").write_text("% two nets, their weights first\n2 4 1\n3 1 2 3\n7 3 4\n")
    >>> nets = portpart.io.read_hypergraph("small.hgr")
    >>> nets.net_weights.tolist(), nets.net_pins.tolist()
    ([3, 7], [0, 1, 2, 2, 3])
    """
    given = {"model": model, "diagonal": checked_flag("diagonal", diagonal), "top": top,
             "ports": checked_flag("ports", ports), "max_fanout": max_fanout, "areas": areas}
    if format is not None and format not in NET_FORMATS:
        raise InputError(f"unknown format of hypergraphs {shown(format)}; known are "
                         f"{', '.join(NET_FORMATS)}")
    suffixes = tuple(suffix for entry in NET_FORMATS.values() for suffix in entry.suffixes
                     if suffix != ".aux")  # only the file with nets in an archive
    source = read_source(path, checked_limit(max_vertices), suffixes)
    name = format or _recognised(source)
    entry, options = NET_FORMATS[name], {key: value for key, value in given.items()
                                         if value is not None and value is not False}
    made = parsed(name, entry.options, source, options, lambda: entry.parse(source, **options),
                  "hypergraph")
    return made if space is None else made.to(space)


def net_format_of_name(name: str) -> str | None:
    """Return the format of hypergraphs for a file name's suffix, or None."""
    return format_of_name(name, NET_FORMATS)


def is_net_name(name: str) -> bool:
    """Whether a file name's suffix is used for hypergraphs only."""
    return net_format_of_name(name) not in (None, *FORMATS)


def _recognised(source: Source) -> str:
    """Return the format of a file by its content, otherwise by its name."""
    data, hint = source.data, net_format_of_name(source.name)
    if MATRIX_MARKET_BEGINS.match(data):
        return "matrix-market"
    if BOOKSHELF_BEGINS.match(data) or bookshelf.AUX_BEGINS.match(data):
        return "bookshelf"
    netlist = netlist_format(data)
    if netlist in ("blif", "aiger"):
        return netlist
    if hint is None:
        _refuse_graph(source)
        refuse_foreign(source)
    return hint or netlist or "hmetis"


def _refuse_graph(source: Source) -> None:
    """Raise for a graph by its name, or by its content: most METIS graphs are also valid hMETIS."""
    any_text = bare_name(source.name.lower()).endswith(ANY_TEXT)
    named = None if any_text else format_of_name(source.name)
    if named or is_metis(source):
        raise GraphFormatError(
            f"{source.name}: a graph by its {'name' if named else 'content'} ({named or 'metis'}), "
            "which portpart.io.read reads; format='hmetis' (--format hmetis) takes it for a "
            "hypergraph")


def _netlist(format: str, source: Source, top: str | None = None, ports: bool = False,
             max_fanout: int | None = None, areas: PathLike | None = None) -> Hypergraph:
    known = None if areas is None else read_areas(areas)
    return hypergraph_of_netlist(netlist_of(source, format, top), ports, max_fanout, known)


def hypergraph_of_netlist(netlist: Netlist, ports: bool = False, max_fanout: int | None = None,
                          areas: Mapping[str, int] | None = None) -> Hypergraph:
    """Return the hypergraph of a netlist, with names of vertices."""
    offsets, pins = netlist.hypergraph(ports=ports, max_fanout=max_fanout)
    names = distinct(netlist.gate_names + netlist.port_names) if ports else netlist.gate_names
    weights = None if areas is None and not ports else netlist.vertex_weights(ports, areas)
    made = nets_hypergraph(offsets, pins, len(names), None, weights)
    return replace(made, names=names, net_names=netlist.net_names)


NET_FORMATS = {
    "hmetis": NetFormat(hmetis.parse, (".hgr", ".hmetis"), ()),
    "patoh": NetFormat(patoh.parse, (".u", ".patoh"), ()),
    "ispd98": NetFormat(ispd98.parse, (".net", ".netd"), ("areas",)),
    "bookshelf": NetFormat(bookshelf.parse, (".nets", ".aux"), ("areas",)),
    "matrix-market": NetFormat(matrix_market.parse_nets, (".mtx", ".mm"), ("model", "diagonal")),
    "verilog": NetFormat(partial(_netlist, "verilog"), (".v", ".vg"),
                         ("top", "ports", "max_fanout", "areas")),
    "blif": NetFormat(partial(_netlist, "blif"), (".blif",),
                      ("top", "ports", "max_fanout", "areas")),
    "aiger": NetFormat(partial(_netlist, "aiger"), (".aig", ".aag"),
                       ("ports", "max_fanout", "areas")),
}
"""Every format by name."""
