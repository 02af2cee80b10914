"""Hypergraphs of Bookshelf files, from a ``.nets`` file or an ``.aux`` file that names the others.

An ``.aux`` file has one line: a word, as ``RowBasedPlacement`` or ``PartProb``, a colon, and the
files of a circuit in any order, in the same folder. Of these ``.nets``, ``.nodes`` and ``.wts`` are
read; rows, places and constraints (``.scl``, ``.pl``, ``.blk``, ``.fix``) are not. After ``UCLA wts
1.0`` a ``.wts`` file has lines of a node or a net and its weight. (Nam and Roy, GSRC Bookshelf
format for placement instances, vlsicad.eecs.umich.edu/BK/ISPD06bench/BookshelfFormat.txt; of
``PartProb`` the GSRC Bookshelf's slot of partitioning,
vlsicad.ucsd.edu/GSRC/bookshelf/Slots/Partitioning.)

After ``UCLA nets 1.0`` come ``NumNets : m`` and ``NumPins : p``, then for each net ``NetDegree :
d``, optionally with a name, and d lines of a node and a direction, ``I``, ``O`` or ``B``,
optionally with a place after another colon. After ``UCLA nodes 1.0`` come ``NumNodes : n`` and
``NumTerminals : t`` and lines of a node, optionally its width and height, and optionally
``terminal`` or ``terminal_NI``. ``#`` begins a comment. (Caldwell, Kahng and Markov, Bookshelf file
formats, GSRC Bookshelf for VLSI CAD algorithms.)

Places and nodes of other shapes are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats.number_lines import hypergraph_of
from portpart.formats.text import AMOUNT, PathLike, Source, amount, made_whole, product, read_source
from portpart.graphs import Hypergraph

AUX_BEGINS = re.compile(rb"\s*(RowBasedPlacement|PartProb)\s*:")
AUX = re.compile(r"\w+\s*:\s*(.*)")
READ = (".nets", ".nodes", ".wts")
COUNT = re.compile(r"(NumNets|NumPins|NetDegree|NumNodes|NumTerminals)\s*:\s*([0-9]{1,18})"
                   r"(?:\s+(\S+))?")
PIN = re.compile(r"(\S+)\s+[IOB](\s*:.*)?")
WEIGHT = re.compile(r"(\S+)\s+([0-9]{1,18})(?:\.0*)?")
NODE = re.compile(rf"(\S+)(?:\s+{AMOUNT}\s+{AMOUNT})?(\s+terminal(_NI)?)?")

Line = tuple[int, str]
"""Number and text of a line."""

Place = tuple[bool, int]
"""Whether it is a net, and its number."""


def parse(source: Source, areas: PathLike | None = None) -> Hypergraph:
    """Return the hypergraph of a circuit, with names of nodes.

    Nodes are those of the ``.nodes`` file in its order, weights are width times height; without one
    they are numbered as they occur. Weights of a ``.wts`` file replace these.

    Parameters
    ----------
    source : Source
        An ``.aux`` or a ``.nets`` file.
    areas : str or PathLike, optional
        The ``.nodes`` file, instead of that of an ``.aux`` file.

    Raises
    ------
    GraphFormatError
        With file and line of the first deviation from the format.
    """
    is_list = AUX_BEGINS.match(source.data) or source.name.lower().endswith(".aux")
    files = _files(source) if is_list else {".nets": source}
    if areas is not None:
        files[".nodes"] = read_source(areas, source.max_vertices, (".nodes",))
    return _hypergraph(files)


def _files(source: Source) -> dict[str, Source]:
    """Return the files that an ``.aux`` file names, by suffix."""
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
    """Return the weight of a node in the unit of areas."""
    if weight * scale > 1 << 62:
        raise GraphFormatError(f"{source.name}: the weight {weight} of a node, times {scale} as "
                               "the areas of nodes, is above 2**62; give sizes with fewer decimals")
    return weight * scale


def _places(vertices: dict[str, int], nets: list[str | None]) -> dict[str, list[Place]]:
    """Return the nodes and nets of each name."""
    places: dict[str, list[Place]] = {name: [(False, place)] for name, place in vertices.items()}
    for place, name in enumerate(nets):
        if name is not None:
            places.setdefault(name, []).append((True, place))
    return places


def _weights(source: Source, places: dict[str, list[Place]]) -> Iterator[tuple[Place, int]]:
    """Yield the nodes and nets of a ``.wts`` file, and their weights."""
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


# Nets of nodes in a ``.nets`` file, sizes in a ``.nodes`` file ---------------------------------


@dataclass(frozen=True)
class NamedNets:
    """Nets of nodes, by name.

    Attributes
    ----------
    starts : list of int
        First pin of each net, and the number of all pins.
    nodes : list of str
        The node of each pin.
    lines : list of int
        The line of each pin.
    names : list of str or None
        Names of the nets.
    """

    starts: list[int]
    nodes: list[str]
    lines: list[int]
    names: list[str | None]


def lines_of(source: Source, kind: str) -> Iterator[Line]:
    """Yield the lines after the first, without comments."""
    begun = False
    for number, _, line in source.lines():
        text = line.partition(b"#")[0].strip().decode("utf-8", "replace")
        if not begun:
            if text.split()[:2] != ["UCLA", kind]:
                source.refuse(number, f"a Bookshelf file of {kind} begins with 'UCLA {kind} 1.0'")
            begun = True
        elif text:
            yield number, text
    if not begun:
        source.refuse(1, f"a Bookshelf file of {kind} begins with 'UCLA {kind} 1.0'")


def nets_of(source: Source) -> NamedNets:
    """Return the nets of a file."""
    promised: dict[str, Line] = {}
    nets, left = NamedNets([], [], [], []), 0
    for number, text in lines_of(source, "nets"):
        count = COUNT.fullmatch(text) if left == 0 else None
        if count and count[1] == "NetDegree":
            nets.starts.append(len(nets.nodes))
            nets.names.append(count[3])
            left = int(count[2])
        elif count and count[1] in ("NumNets", "NumPins") and not nets.starts:
            promised[count[1]] = number, count[2]
        else:
            pin = PIN.fullmatch(text) if left else None
            if pin is None:
                what = (f"a node and its direction, I, O or B; net {len(nets.starts)} lacks {left} "
                        "of its pins" if left else "'NetDegree : ' and the number of pins of a net")
                source.refuse(number, f"expected {what}")
            nets.nodes.append(pin[1])
            nets.lines.append(number)
            left -= 1
    if left:
        source.refuse(source.data.count(b"\n") + 1,
                      f"the file ends {left} pins before the end of net {len(nets.starts)}")
    _check_count(source, promised, "NumNets", len(nets.starts))
    _check_count(source, promised, "NumPins", len(nets.nodes))
    nets.starts.append(len(nets.nodes))
    return nets


def areas_of(source: Source) -> tuple[dict[str, int], int]:
    """Return the weights of the nodes of a file, width times height or 1 without them; and their
    scale.

    All areas are multiplied by the scale, the smallest power of ten that makes them integers.
    """
    promised: dict[str, Line] = {}
    lines: dict[str, int] = {}
    amounts = []
    for number, text in lines_of(source, "nodes"):
        count = COUNT.fullmatch(text)
        if count and count[1] in ("NumNodes", "NumTerminals") and not lines:
            promised[count[1]] = number, count[2]
            continue
        node = NODE.fullmatch(text)
        if node is None:
            source.refuse(number, "expected a node, its width and height in decimal numbers, or "
                                  "neither, and perhaps 'terminal' or 'terminal_NI'")
        if node[1] in lines:
            source.refuse(number, f"a second node {shown(node[1])}")
        lines[node[1]] = number
        amounts.append(product(amount(node[2] or "1"), amount(node[3] or "1")))
    _check_count(source, promised, "NumNodes", len(lines))
    areas, scale = made_whole(amounts)
    for (name, number), area in zip(lines.items(), areas):
        if area > 1 << 62:
            times = f", times {scale} to make all areas whole" if scale > 1 else ""
            source.refuse(number, f"node {shown(name)} has an area above 2**62{times}; give sizes "
                                  "in a larger unit or with fewer decimals")
    return dict(zip(lines, areas)), scale


def _check_count(source: Source, promised: dict[str, Line], what: str, found: int) -> None:
    if what not in promised:
        source.refuse(1, f"{what} is missing: '{what} : {found}' is expected above the rest")
    number, text = promised[what]
    if int(text) != found:
        source.refuse(number, f"{what} is {text}, but there are {found}")
