"""Bookshelf circuits: nets of nodes in a ``.nets`` file, the nodes' sizes in a ``.nodes`` file.

After ``UCLA nets 1.0`` come ``NumNets : m`` and ``NumPins : p``, then for each net
``NetDegree : d``, perhaps with a name, and d lines of a node and a direction, ``I``, ``O`` or
``B``, perhaps with a place after another colon.  After ``UCLA nodes 1.0`` come ``NumNodes : n`` and
``NumTerminals : t`` and lines of a node, its width and height, and perhaps ``terminal`` or
``terminal_NI``.  ``#`` begins a comment.  (Caldwell, Kahng and Markov, Bookshelf file formats, GSRC
Bookshelf for VLSI CAD algorithms.)

Places, weights of nets (``.wts``) and nodes of other shapes are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from portpart.graphs.hypergraph import Hypergraph
from portpart.io.formats.net_rows import hypergraph_of
from portpart.io.text.files import PathLike, Source, read_source

COUNT = re.compile(r"(NumNets|NumPins|NetDegree|NumNodes|NumTerminals)\s*:\s*([0-9]{1,18})"
                   r"(\s+\S+)?")
PIN = re.compile(r"(\S+)\s+[IOB](\s*:.*)?")
NODE = re.compile(r"(\S+)\s+([0-9]{1,18})(?:\.0*)?\s+([0-9]{1,18})(?:\.0*)?"
                  r"(\s+terminal(_NI)?)?")

Line = tuple[int, str]
"""Number and text of a line."""


@dataclass(frozen=True)
class Nets:
    """Nets of nodes by their names.

    Attributes
    ----------
    starts : list of int
        First pin of each net, and the number of all pins.
    nodes : list of str
        The node of each pin.
    lines : list of int
        The line of each pin.
    """

    starts: list[int]
    nodes: list[str]
    lines: list[int]


def parse(source: Source, areas: PathLike | None = None) -> Hypergraph:
    """The hypergraph of a circuit, its nodes named.

    Nodes are those of the file `areas` in its order, weighing width times height; without one they
    are numbered as they occur.

    Raises
    ------
    GraphFormatError
        Naming file and line of the first deviation from the format.
    """
    nets = _nets(source)
    names, weights = list(dict.fromkeys(nets.nodes)), None
    if areas is not None:
        names, weights = _sized_nodes(read_source(areas, source.max_vertices, (".nodes",)))
    number = {name: vertex for vertex, name in enumerate(names)}
    pins = np.array([number.get(node, -1) for node in nets.nodes], np.int64)
    if len(pins) and int(pins.min()) < 0:
        place = int(pins.argmin())
        source.refuse(nets.lines[place], f"{nets.nodes[place][:40]!r} is no node of {areas}")
    made = hypergraph_of(source, np.array(nets.starts, np.int64), pins, len(names), None, weights)
    return replace(made, names=names)


def _lines(source: Source, kind: str) -> Iterator[Line]:
    """Lines below the first, without comments."""
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


def _nets(source: Source) -> Nets:
    promised: dict[str, Line] = {}
    nets, left = Nets([], [], []), 0
    for number, text in _lines(source, "nets"):
        count = COUNT.fullmatch(text) if left == 0 else None
        if count and count[1] == "NetDegree":
            nets.starts.append(len(nets.nodes))
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


def _sized_nodes(source: Source) -> tuple[list[str], np.ndarray]:
    """Names and areas of the nodes of a file."""
    promised: dict[str, Line] = {}
    areas: dict[str, int] = {}
    for number, text in _lines(source, "nodes"):
        count = COUNT.fullmatch(text)
        if count and count[1] in ("NumNodes", "NumTerminals") and not areas:
            promised[count[1]] = number, count[2]
            continue
        node = NODE.fullmatch(text)
        if node is None:
            source.refuse(number, "expected a node, its width and height in whole numbers, and "
                                  "perhaps 'terminal' or 'terminal_NI'")
        if node[1] in areas:
            source.refuse(number, f"a second node {node[1][:40]!r}")
        areas[node[1]] = int(node[2]) * int(node[3])
        if areas[node[1]] > 1 << 62:
            source.refuse(number, f"node {node[1][:40]!r} has an area above 2**62")
    _check_count(source, promised, "NumNodes", len(areas))
    return list(areas), np.array(list(areas.values()), np.int64)


def _check_count(source: Source, promised: dict[str, Line], what: str, found: int) -> None:
    if what not in promised:
        source.refuse(1, f"{what} is missing: '{what} : {found}' is expected above the rest")
    number, text = promised[what]
    if int(text) != found:
        source.refuse(number, f"{what} is {text}, but there are {found}")
