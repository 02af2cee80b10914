"""Hypergraphs of Bookshelf files, by a ``.nets`` file or by the ``.aux`` file that names all.

An ``.aux`` file is a line: a word, as ``RowBasedPlacement`` or ``PartProb``, a colon, and the files
of a circuit in any order, next to it.  Of these ``.nets``, ``.nodes`` and ``.wts`` are read; rows,
places and constraints (``.scl``, ``.pl``, ``.blk``, ``.fix``) are not.  After ``UCLA wts 1.0`` a
``.wts`` file has lines of a node or a net and its weight.  (Nam and Roy, GSRC Bookshelf format for
placement instances, vlsicad.eecs.umich.edu/BK/ISPD06bench/BookshelfFormat.txt; of ``PartProb`` the
GSRC Bookshelf's slot of partitioning, vlsicad.ucsd.edu/GSRC/bookshelf/Slots/Partitioning.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats.bookshelf_circuit import WHOLE, areas_of, lines_of, nets_of
from portpart.formats.number_lines import hypergraph_of
from portpart.formats.text import PathLike, Source, read_source
from portpart.graphs import Hypergraph

AUX_BEGINS = re.compile(rb"\s*(RowBasedPlacement|PartProb)\s*:")
AUX = re.compile(r"\w+\s*:\s*(.*)")
READ = (".nets", ".nodes", ".wts")
WEIGHT = re.compile(rf"(\S+)\s+{WHOLE}")

Place = tuple[bool, int]
"""Whether something is a net, and its number."""


def parse(source: Source, areas: PathLike | None = None) -> Hypergraph:
    """The hypergraph of a circuit, its nodes named.

    Nodes are those of the ``.nodes`` file in its order, weights are width times height; without one
    they are numbered as they occur.  What a ``.wts`` file names has that weight instead.

    Parameters
    ----------
    source : Source
        An ``.aux`` or a ``.nets`` file.
    areas : str or PathLike, optional
        The ``.nodes`` file, in place of that of an ``.aux`` file.

    Raises
    ------
    GraphFormatError
        Naming file and line of the first deviation from the format.
    """
    is_list = AUX_BEGINS.match(source.data) or source.name.lower().endswith(".aux")
    files = _files(source) if is_list else {".nets": source}
    if areas is not None:
        files[".nodes"] = read_source(areas, source.max_vertices, (".nodes",))
    return _hypergraph(files)


def _files(source: Source) -> dict[str, Source]:
    """The files that an ``.aux`` file names, by their suffixes."""
    lines = [(number, line.partition(b"#")[0].strip().decode("utf-8", "replace"))
             for number, _, line in source.lines()]
    (number, text), *more = [each for each in lines if each[1]] or [(1, "")]
    line = AUX.fullmatch(text)
    if line is None:
        source.refuse(number, "expected a line as 'RowBasedPlacement : x.nodes x.nets x.wts'")
    if more:
        source.refuse(more[0][0], "a second line; an .aux file has one")
    named: dict[str, str] = {}
    for name in line[1].split():
        suffix = os.path.splitext(name)[1].lower()
        if suffix in named:
            source.refuse(number, f"two {suffix} files, {named[suffix]} and {name}")
        named[suffix] = name
    if ".nets" not in named:
        source.refuse(number, "names no .nets file")
    return {suffix: _beside(source, number, named[suffix]) for suffix in READ if suffix in named}


def _beside(source: Source, number: int, name: str) -> Source:
    try:
        return read_source(os.path.join(os.path.dirname(source.name), name), source.max_vertices)
    except InputError as problem:
        source.refuse(number, str(problem))


def _hypergraph(files: dict[str, Source]) -> Hypergraph:
    source, sized = files[".nets"], files.get(".nodes")
    nets = nets_of(source)
    areas, scale = (dict.fromkeys(nets.nodes, 1), 1) if sized is None else areas_of(sized)
    number = {name: vertex for vertex, name in enumerate(areas)}
    pins = np.array([number.get(node, -1) for node in nets.nodes], np.int64)
    if sized is not None and len(pins) and int(pins.min()) < 0:
        place = int(pins.argmin())
        source.refuse(nets.lines[place],
                      f"{shown(nets.nodes[place])} is not a node of {sized.name}")
    weights = np.array(list(areas.values()), np.int64), np.ones(len(nets.names), np.int64)
    given = [sized is not None, False]
    if ".wts" in files:
        for (is_net, place), weight in _weights(files[".wts"], _places(number, nets.names)):
            weights[is_net][place] = weight if is_net else _scaled(source, weight, scale)
            given[is_net] = True
    of_nodes, of_nets = (each if known else None for each, known in zip(weights, given))
    made = hypergraph_of(source, np.array(nets.starts, np.int64), pins, len(number), of_nets,
                         of_nodes)
    named = any(name is not None for name in nets.names)
    return replace(made, names=list(number), net_names=nets.names if named else None)


def _scaled(source: Source, weight: int, scale: int) -> int:
    """The weight of a node in the unit of areas."""
    if weight * scale > 1 << 62:
        raise GraphFormatError(f"{source.name}: the weight {weight} of a node, times {scale} as "
                               "the areas of nodes, is above 2**62; give sizes with fewer decimals")
    return weight * scale


def _places(vertices: dict[str, int], nets: list[str | None]) -> dict[str, list[Place]]:
    """What has each name."""
    places: dict[str, list[Place]] = {name: [(False, place)] for name, place in vertices.items()}
    for place, name in enumerate(nets):
        if name is not None:
            places.setdefault(name, []).append((True, place))
    return places


def _weights(source: Source, places: dict[str, list[Place]]) -> Iterator[tuple[Place, int]]:
    """What a ``.wts`` file weighs, and how much."""
    seen: dict[str, int] = {}
    for number, text in lines_of(source, "wts"):
        line = WEIGHT.fullmatch(text)
        if line is None:
            source.refuse(number, "expected a node or a net and its weight in a whole number")
        name, found = line[1], places.get(line[1], [])
        if len(found) != 1:
            what = "the name of more than one node or net" if found else "no node and no net"
            source.refuse(number, f"{shown(name)} is {what}")
        if name in seen:
            source.refuse(number, f"a second weight of {shown(name)}, after line {seen[name]}")
        seen[name] = number
        yield found[0], int(line[2])
