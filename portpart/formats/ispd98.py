"""ISPD98 circuits: nets of modules in a ``.net`` or ``.netD`` file, areas in an ``.are`` file.

The first file begins with five lines of a number each: 0, pins, nets, modules and the pad offset,
which is the number of the last cell. Then each pin has a line: its module, ``s`` if it starts a net
or ``l`` if it continues one, and optionally a direction, ``I``, ``O`` or ``B`` (in older files 1).
Modules are the cells ``a0``, ``a1`` ..., then the pads ``p1``, ``p2`` ... A line of areas has a
module and a number.  (Alpert, The ISPD98 Circuit Benchmark Suite, Proc. ISPD 1998, and the README
of the suite.)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from portpart.formats.number_lines import hypergraph_of
from portpart.formats.text import PathLike, Source, is_count, read_source
from portpart.graphs import Hypergraph

HEADER_LINES = 5
MODULE = re.compile(rb"([ap])(0|[1-9]\d{0,9})")
STARTS, CONTINUES = b"s", b"l"
LAST_WORDS = ((), (b"I",), (b"O",), (b"B",), (b"1",))

UNKNOWN = -1


class Ispd98Header(NamedTuple):
    """The numbers in the first lines."""

    num_pins: int
    num_nets: int
    num_modules: int
    last_cell: int

    @property
    def num_cells(self) -> int:
        """Number of modules that are not pads."""
        return self.last_cell + 1

    def number_of(self, source: Source, line: int, name: bytes) -> int:
        """Return the number of the module of a name; raise if it has none."""
        match = MODULE.fullmatch(name)
        number = -1 if match is None else int(match[2])
        known = range(self.num_cells)
        if match and match[1] == b"p":
            number, known = number + self.last_cell, range(self.num_cells, self.num_modules)
        if number not in known:
            pads = self.num_modules - self.num_cells
            cells = f"cells are a0 ... a{self.last_cell}"
            source.refuse(line, f"{shown_word(name)!r} is not a module; {cells}"
                          + (f", pads p1 ... p{pads}" if pads else ""))
        return number

    def names(self) -> list[str]:
        """Return the names of all modules."""
        return [*(f"a{number}" for number in range(self.num_cells)),
                *(f"p{number - self.last_cell}" for number in
                  range(self.num_cells, self.num_modules))]


def parse(source: Source, areas: PathLike | None = None) -> Hypergraph:
    """Return the hypergraph of a circuit, with names of modules and the weights of the file
    `areas`.

    Raises
    ------
    GraphFormatError
        With file and line of the first deviation from the format.
    """
    lines = [(number, line.split()) for number, _, line in source.lines()]
    circuit = _circuit(source, lines[:HEADER_LINES])
    offsets, pins = _nets(source, circuit, lines[HEADER_LINES:])
    weights = None if areas is None else _areas(
        read_source(areas, source.max_vertices, (".are",)), circuit)
    made = hypergraph_of(source, offsets, pins, circuit.num_modules, None, weights)
    return replace(made, names=circuit.names())


def shown_word(word: bytes) -> str:
    """Return a word of a file as messages show it."""
    return word[:40].decode("utf-8", "replace")


def _circuit(source: Source, lines: list[tuple[int, list[bytes]]]) -> Ispd98Header:
    for number, words in lines:
        if len(words) != 1 or not is_count(words[0]):
            source.refuse(number, "an ISPD98 netlist begins with five lines of a number each: 0, "
                                  "pins, nets, modules, pad offset")
    values = [int(words[0]) for _, words in lines]
    if len(values) < HEADER_LINES or values[0] != 0:
        source.refuse(lines[0][0] if lines else 1, "an ISPD98 netlist begins with a line '0' and "
                      "the numbers of pins, nets, modules and the pad offset, a line each")
    circuit = Ispd98Header(*values[1:])
    number = lines[-1][0]
    if circuit.num_cells > circuit.num_modules:
        source.refuse(number, f"the pad offset is {circuit.last_cell}, the number of the last "
                              f"cell, but there are {circuit.num_modules} modules")
    source.refuse_size(number, circuit.num_modules)
    return circuit


def _nets(source: Source, circuit: Ispd98Header,
          lines: list[tuple[int, list[bytes]]]) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and pins of the nets."""
    starts: list[int] = []
    pins: list[int] = []
    for number, words in lines:
        kind = words[1] if len(words) > 1 else b""
        if kind not in (STARTS, CONTINUES) or tuple(words[2:]) not in LAST_WORDS:
            source.refuse(number, "expected a module, 's' (starts a net) or 'l' (continues it), "
                                  "and perhaps a direction I, O or B")
        if kind == STARTS:
            starts.append(len(pins))
        elif not starts:
            source.refuse(number, "the first pin continues a net; 's' starts one")
        pins.append(circuit.number_of(source, number, words[0]))
    for promised, found, what in ((circuit.num_pins, len(pins), "pins"),
                                  (circuit.num_nets, len(starts), "nets")):
        if promised != found:
            source.refuse(2 if what == "pins" else 3, f"{promised} {what} promised, {found} found")
    return np.array([*starts, len(pins)], np.int64), np.array(pins, np.int64)


def _areas(source: Source, circuit: Ispd98Header) -> np.ndarray:
    """Return the area of each module."""
    found = np.full(circuit.num_modules, UNKNOWN, np.int64)
    for number, _, line in source.lines():
        words = line.split()
        if len(words) != 2 or not is_count(words[1]):
            source.refuse(number, "expected a module and its area, a whole number")
        module = circuit.number_of(source, number, words[0])
        if found[module] != UNKNOWN:
            source.refuse(number, f"a second area of {shown_word(words[0])}")
        found[module] = int(words[1])
    missing = np.flatnonzero(found == UNKNOWN)
    if len(missing):
        source.refuse(source.data.count(b"\n") + 1, f"the file ends without an area of "
                      f"{circuit.names()[missing[0]]}; every module needs one")
    return found
