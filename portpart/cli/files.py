"""Graphs and partitions from and to files; ``-`` is standard input or output."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import click

from portpart.cli.options import AT, GRAPH_MODELS, HYPERGRAPH, NET_MODELS, ReadingOptions
from portpart.errors import GraphFormatError, shown

if TYPE_CHECKING:
    import numpy as np

    from portpart.formats.netlist import Netlist
    from portpart.graphs import Blocks, Graph, Hypergraph, Mesh
    from portpart.graphs.ranks import RankGraph

STANDARD = "-"
STREAM_FORMAT = "metis"
"""Default format of a graph on standard output."""

OF_NETLISTS = ("top", "model", "max_fanout", "max_vertices", "areas")
"""Options for reading a netlist as a graph, besides the format."""

OF_NETS_ALONE = ("ports", "diagonal")
OF_NETS = ("top", "max_fanout", "max_vertices", "areas", *OF_NETS_ALONE)
"""Options for reading hypergraphs, besides the format and the model."""


def one_standard_input(**names: str | None) -> None:
    """Refuse a call with standard input for two files; `names` are the command's names of files.

    The target is a file after `AT`.

    Raises
    ------
    click.UsageError
    """
    twice = [name if name.isupper() else f"--{name}"
             for name, file in names.items() if file in (STANDARD, AT + STANDARD)]
    if len(twice) > 1:
        *first, last = twice
        raise click.UsageError(f"only one of {', '.join(first)} and {last} can be standard input")


def check_call(settings: dict[str, Any], output: str | None, as_json: bool,
               kept: tuple[str | None, ...], **inputs: str | None) -> None:
    """Check the files of a call that partitions, before any work, and read its target.

    Parameters
    ----------
    settings : dict
        The target in it becomes a list of shares.
    output : str, optional
    as_json : bool
    kept : tuple of str
        Files that the output must not replace.
    **inputs : str, optional
        As for `one_standard_input`.

    Raises
    ------
    click.UsageError
    """
    if as_json and output == STANDARD:
        raise click.UsageError("--json and -o - both write to standard output; pass one of them")
    one_standard_input(**inputs, target=settings["target"])
    settings["target"] = read_shares(settings["target"])
    check_output(output, *kept)


def check_output(name: str | None, *inputs: str | None) -> None:
    """Raise an error, before any work, for an output file that has no folder or is one of the
    inputs.

    Raises
    ------
    click.UsageError
    """
    if name is None or name == STANDARD:
        return
    if not name or "\0" in name:
        what = "a zero byte in its name" if name else "an empty name"
        raise click.UsageError(f"the file to write has {what}")
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.isdir(folder):
        raise click.UsageError(f"{name} cannot be written: there is no folder {folder}")
    for each in inputs:
        if each and os.path.isfile(name) and os.path.exists(each) and os.path.samefile(name, each):
            raise click.UsageError(f"{name} is read by this call and would be replaced; name "
                                   "another file to write")


def read_graph(name: str, reading: ReadingOptions) -> Graph | Hypergraph:
    """Read the graph in file `name`, or the hypergraph if the name or the options say so.

    Standard input has no name: with options that only hypergraphs have, it is a hypergraph.
    """
    from portpart import io

    one_standard_input(GRAPH=name, areas=reading.areas)
    if is_hypergraph(name, reading):
        return read_hypergraph(name, reading)
    try:
        return io.read(name, reading.file_format, **_options(reading))
    except GraphFormatError as problem:
        found: Hypergraph | None = problem.hypergraph
        # with options that do not apply to hMETIS's hypergraphs, it is a graph
        of_graphs = any(value is not None for option, value in vars(reading).items()
                        if option != "max_vertices")
        if name != STANDARD or found is None or of_graphs:
            raise
        return found


def is_hypergraph(name: str, reading: ReadingOptions) -> bool:
    """Whether a hypergraph is meant, not a graph: by the model, otherwise by the format."""
    from portpart.inputs import FORMATS, NET_FORMATS, is_net_name

    if reading.model is not None:
        return reading.model in NET_MODELS
    if reading.file_format not in (None, *FORMATS, *NET_FORMATS):
        raise click.UsageError(f"unknown format {shown(reading.file_format)}; graphs have "
                               f"{', '.join(FORMATS)}, hypergraphs {', '.join(NET_FORMATS)}")
    return reading.file_format not in FORMATS if reading.file_format else is_net_name(name)


def refuse_nets(name: str, reading: ReadingOptions) -> None:
    """Raise an error for a hypergraph, by its name or by the options, before it is read.

    Raises
    ------
    click.UsageError
    """
    from portpart.inputs import FORMATS

    if reading.file_format not in (None, *FORMATS):
        raise click.UsageError(f"{shown(reading.file_format)} is no format of graphs; known are "
                               f"{', '.join(FORMATS)}")
    if is_hypergraph(name, reading):
        raise click.UsageError(f"{name} is a hypergraph; only graphs can be mapped")


def read_hypergraph(name: str, reading: ReadingOptions) -> Hypergraph:
    """Read the hypergraph in file `name`."""
    from portpart import io

    one_standard_input(GRAPH=name, areas=reading.areas)
    given = {key: value for key, value in vars(reading).items() if value is not None}
    file_format, model = given.pop("file_format", None), given.pop("model", HYPERGRAPH)
    for option in given:
        if option not in OF_NETS:
            raise click.UsageError(f"--{option.replace('_', '-')} does not apply to hypergraphs")
    if model in GRAPH_MODELS:
        raise click.UsageError(f"--model {model} makes a graph, not a hypergraph")
    return io.read_hypergraph(name, file_format, model=None if model == HYPERGRAPH else model,
                              **given)


def read_graph_and_names(name: str, reading: ReadingOptions,
                         named: bool) -> tuple[Graph | Hypergraph, Sequence[Hashable] | None]:
    """Read a graph or hypergraph and, if `named`, the names of its vertices."""
    from portpart import io

    if not named:
        return read_graph(name, reading), None
    if is_hypergraph(name, reading):
        made = read_hypergraph(name, reading)
        if made.names is None:
            raise click.UsageError(f"{name} does not name its vertices; netlists and circuits do")
        return made, made.names
    graph, names = io.read_named(name, reading.file_format, **_options(reading))
    return graph, names.tolist()


def read_netlist(name: str, reading: ReadingOptions) -> Netlist | None:
    """Read the netlist in file `name`; return None for another kind of file.

    Standard input is a netlist only by the name of its format: it can be read only once.
    """
    from portpart import io
    from portpart.inputs import NETLISTS, format_of_name

    if is_hypergraph(name, reading):
        return None
    name_of_format = reading.file_format or format_of_name(name)
    if name_of_format not in NETLISTS:
        return None
    for option, value in _options(reading).items():
        if value is not None and option not in OF_NETLISTS:
            raise click.UsageError(f"--{option.replace('_', '-')} does not apply to netlists")
    return io.read_netlist(name, top=reading.top, format=reading.file_format)


def graph_of_netlist(netlist: Netlist, reading: ReadingOptions) -> Graph:
    """Return the graph of a netlist that `read_netlist` has read."""
    from portpart.formats.netlist import named_graph

    return named_graph(netlist, reading.model or GRAPH_MODELS[0], reading.max_fanout,
                       reading.areas).graph


def read_mesh(name: str, reading: ReadingOptions, pointed: bool) -> Mesh | None:
    """Read the mesh in file `name` whose elements are the vertices; return None for other files.

    With `pointed` its points are known, otherwise they must be in the file.
    """
    from portpart import io
    from portpart.inputs import MESHIO, format_of_name

    if reading.mesh == "nodal" or name == STANDARD:
        return None
    meshes = ("metis-mesh", MESHIO) if pointed else (MESHIO,)
    is_mesh = (reading.file_format or format_of_name(name)) in meshes
    return io.read_mesh(name) if is_mesh else None


def _options(reading: ReadingOptions) -> dict[str, Any]:
    """Return the options for `portpart.io.read`."""
    for option in OF_NETS_ALONE:
        if getattr(reading, option):
            raise click.UsageError(f"--{option} is for hypergraphs: --model says which")
    return {name: value for name, value in vars(reading).items()
            if name not in ("file_format", *OF_NETS_ALONE)}


def write_graph(graph: Graph | Hypergraph, name: str, file_format: str | None = None) -> None:
    """Write a graph or hypergraph to file `name`, by default in the format of the name."""
    from portpart import io
    from portpart.graphs import Hypergraph

    if isinstance(graph, Hypergraph):
        if not ((name == STANDARD and file_format is None) or writes_nets(name, file_format)):
            raise click.UsageError(f"{name}: hypergraphs are written as .hgr")
        io.write_hypergraph(graph, name)
        return
    standard = STREAM_FORMAT if name == STANDARD else None
    io.write(graph, name, file_format or standard)


def sizes_of(graph: Graph | Hypergraph | RankGraph) -> dict[str, int]:
    """Return the sizes of a graph or hypergraph, by name."""
    names = ("num_vertices", "num_edges", "num_nets", "num_pins")
    return {name: getattr(graph, name) for name in names if hasattr(graph, name)}


def writes_nets(name: str, file_format: str | None) -> bool:
    """Whether an output file is one of hMETIS."""
    from portpart.inputs import net_format_of_name

    return (file_format or net_format_of_name(name)) == "hmetis"


def read_partition(name: str, count: int, names: Sequence[Hashable] | None = None,
                   free: bool = False, k: int | None = None, of_edges: bool = False) -> np.ndarray:
    """Read one block number per line from file `name`, for `count` vertices or edges.

    With `names` a name precedes each. With `free` -1 means a vertex without a block. With `k`
    blocks must be below it.
    """
    from portpart import io

    if names is not None:
        part = io.read_named_partition(name, names, free=free)
    else:
        counted: dict[str, int] = {"num_edges" if of_edges else "num_vertices": count}
        part = io.read_partition(name, free=free, **counted)
    if k is not None and part.max(initial=0) >= k:
        vertex = int((part >= k).argmax())
        what = "edge" if of_edges else "vertex"
        which = f"{what} {vertex + 1}" if names is None else shown(names[vertex])
        raise click.UsageError(f"{name}: {which} is in block {part[vertex]}; block numbers must "
                               f"lie in 0 ... {k - 1}")
    return part


def read_constraints(fixed: str | None, initial: str | None, count: int,
                     names: Sequence[Hashable] | None = None, k: int | None = None,
                     of_edges: bool = False) -> dict[str, Any]:
    """Return the keywords of a call from the files of --fixed and --initial."""
    return {key: None if name is None else read_partition(name, count, names, key == "fixed", k,
                                                          of_edges)
            for key, name in (("fixed", fixed), ("initial", initial))}


def read_shares(text: str | None) -> list[str] | None:
    """Return the numbers of ``1,1,2`` or of the file in ``@FILE``, as written."""
    from portpart.formats.text import read_source

    if text is None or not text.startswith(AT):
        return None if text is None else [number.strip() for number in text.split(",")]
    return read_source(text[1:]).data.decode(errors="replace").replace(",", " ").split()


def list_of_devices(text: str | None) -> list[int | str] | str | None:
    """Return the devices of ``all`` or ``0,1,cuda:2``, in the form of `portpart.partition`."""
    if text is None or text == "all":
        return text
    return [int(each) if each.isdecimal() else each for each in map(str.strip, text.split(","))]


def write_partition(part: Blocks, name: str, names: Sequence[Hashable] | None = None) -> None:
    """Write one block number per line to file `name`, after the vertex's name if given."""
    from portpart import io

    if names is not None:
        io.write_named_partition(names, part, name)
    else:
        io.write_partition(part, name)
