"""The circuit of Bookshelf files: nets of nodes in a ``.nets`` file, sizes in a ``.nodes`` file.

After ``UCLA nets 1.0`` come ``NumNets : m`` and ``NumPins : p``, then for each net
``NetDegree : d``, perhaps with a name, and d lines of a node and a direction, ``I``, ``O`` or
``B``, perhaps with a place after another colon.  After ``UCLA nodes 1.0`` come ``NumNodes : n`` and
``NumTerminals : t`` and lines of a node, perhaps its width and height, and perhaps ``terminal`` or
``terminal_NI``.  ``#`` begins a comment.  (Caldwell, Kahng and Markov, Bookshelf file formats, GSRC
Bookshelf for VLSI CAD algorithms.)

Places and nodes of other shapes are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from portpart.errors import shown
from portpart.formats.text import AMOUNT, Source, amount, made_whole, product

COUNT = re.compile(r"(NumNets|NumPins|NetDegree|NumNodes|NumTerminals)\s*:\s*([0-9]{1,18})"
                   r"(?:\s+(\S+))?")
PIN = re.compile(r"(\S+)\s+[IOB](\s*:.*)?")
WHOLE = r"([0-9]{1,18})(?:\.0*)?"
NODE = re.compile(rf"(\S+)(?:\s+{AMOUNT}\s+{AMOUNT})?(\s+terminal(_NI)?)?")

Line = tuple[int, str]
"""Number and text of a line."""


@dataclass(frozen=True)
class NamedNets:
    """Nets of nodes by their names.

    Attributes
    ----------
    starts : list of int
        First pin of each net, and the number of all pins.
    nodes : list of str
        The node of each pin.
    lines : list of int
        The line of each pin.
    names : list of str or None
        Of the nets.
    """

    starts: list[int]
    nodes: list[str]
    lines: list[int]
    names: list[str | None]


def lines_of(source: Source, kind: str) -> Iterator[Line]:
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


def nets_of(source: Source) -> NamedNets:
    """The nets of a file."""
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
    """What the nodes of a file weigh: width times height, 1 without them; and their scale.

    All areas are multiplied by the smallest power of ten that makes them whole, the scale.
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
