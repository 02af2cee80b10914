"""AIGER, graphs of ANDs, inverters and latches: ``aag`` (text), ``aig`` (binary), also of 1.9.

Gates are the latches and the ANDs, nets the inputs, latches and ANDs; inverters are part of pins.
(Biere, Heljanko, Wieringa: AIGER 1.9 and Beyond, 2011.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.formats import NamedGraph
from portpart.formats.netlist.netlist import Netlist, distinct, named_graph
from portpart.formats.text import Source, is_count

HEADER = ("M", "I", "L", "O", "A", "B", "C", "J", "F")
MIN_NUMBERS = 5
MAX_LITERAL_BYTES = 5
"""Maximum bytes of a number with seven bits per byte, so that it fits 35 bits."""

SYMBOL = re.compile(rb"([ilobcjf])(\d{1,9}) ([^\n]*)")
CELLS = ["LATCH", "AND"]
LABELS = ["Y", "D", "A", "B"]


@dataclass(frozen=True)
class Circuit:
    """Literals: twice the number of a variable, plus one if it is inverted.

    Attributes
    ----------
    inputs, latches, outputs, gates : ndarray of int64
        The inputs, the latches, all observed literals, the ANDs.
    nexts : ndarray of int64
        The next value of each latch.
    ands : ndarray of int64, shape (gates, 2)
        Both operands of each AND.
    end : int
        Position after the last AND.
    """

    inputs: np.ndarray
    latches: np.ndarray
    nexts: np.ndarray
    outputs: np.ndarray
    gates: np.ndarray
    ands: np.ndarray
    end: int


def parse_netlist(source: Source) -> Netlist:
    """Return the netlist of a circuit, latches first; constants are not nets."""
    counts = _header(source)
    circuit = _binary(source, counts) if source.data.startswith(b"aig") else _ascii(source, counts)
    _check_literals(source, counts, circuit)
    return _netlist(source, counts, circuit)


def parse(source: Source, **options: Any) -> NamedGraph:
    """Return the graph of the gates and their names, with the options of `named_graph`."""
    return named_graph(parse_netlist(source), **options)


def _header(source: Source) -> dict[str, int]:
    words = source.data.partition(b"\n")[0].split()
    numbers = words[1:]
    if (words[:1] not in ([b"aag"], [b"aig"]) or not all(map(is_count, numbers))
            or not MIN_NUMBERS <= len(numbers) <= len(HEADER)):
        source.refuse(1, "an AIGER file begins with 'aag M I L O A' or 'aig M I L O A': the "
                         "numbers of variables, inputs, latches, outputs and ANDs")
    counts = dict(zip(HEADER, [int(number) for number in numbers] + [0] * len(HEADER)))
    used = counts["I"] + counts["L"] + counts["A"]
    if used > counts["M"]:
        source.refuse(1, f"{used} inputs, latches and ANDs for {counts['M']} variables")
    source.refuse_size(1, counts["M"])
    return counts


class AigerLines:
    """The lines of numbers after the header, read in order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._line = 1
        self.position = source.data.find(b"\n") + 1 or len(source.data)

    def take(self, count: int, what: str, widths: tuple[int, ...] = (1,)) -> np.ndarray:
        """Return the first ``widths[0]`` numbers of each of some lines, which may have more
        numbers.
        """
        data, at = self._source.data, self.position
        if count > len(data):
            self._source.refuse(self._line, f"{count} lines in {len(data)} bytes")
        rows = []
        for _ in range(count):
            self._line += 1
            end = data.find(b"\n", at)
            end = end if end >= 0 else len(data)
            words = data[at:end].split()
            if len(words) not in widths or not all(map(is_count, words)):
                self._source.refuse(self._line, f"expected {what}")
            rows.append(list(map(int, words[: widths[0]])))
            at = min(end + 1, len(data))
        self.position = at
        return np.array(rows, np.int64).reshape(-1, widths[0])

    def observed(self, counts: dict[str, int]) -> np.ndarray:
        """Return the literals of outputs, bad states, constraints, justice and fairness."""
        outputs = self.take(counts["O"] + counts["B"] + counts["C"], "the literal of an output")
        sizes = self.take(counts["J"], "the size of a justice condition")
        others = self.take(sum(sizes[:, 0].tolist()) + counts["F"], "a literal")
        return np.concatenate([outputs, others])[:, 0]


def _ascii(source: Source, counts: dict[str, int]) -> Circuit:
    rows = AigerLines(source)
    inputs = rows.take(counts["I"], "the literal of an input")[:, 0]
    latches = rows.take(counts["L"], "a latch: its literal, what it gets, perhaps a value", (2, 3))
    outputs = rows.observed(counts)
    ands = rows.take(counts["A"], "an AND: its literal and two operands", (3,))
    return Circuit(inputs, latches[:, 0], latches[:, 1], outputs, ands[:, 0], ands[:, 1:],
                   rows.position)


def _binary(source: Source, counts: dict[str, int]) -> Circuit:
    rows = AigerLines(source)
    nexts = rows.take(counts["L"], "a latch: what it gets, perhaps a value", (1, 2))[:, 0]
    outputs = rows.observed(counts)
    deltas, end = _deltas(source, rows.position, 2 * counts["A"])
    latches = 2 * (counts["I"] + 1 + np.arange(counts["L"]))
    gates = 2 * (counts["I"] + counts["L"] + 1 + np.arange(counts["A"]))
    left = gates - deltas[::2]
    return Circuit(2 + 2 * np.arange(counts["I"]), latches, nexts, outputs, gates,
                   np.stack([left, left - deltas[1::2]], axis=1), end)


def _deltas(source: Source, begin: int, count: int) -> tuple[np.ndarray, int]:
    """Return numbers with seven bits per byte, low bits first, and the position after them."""
    letters = np.frombuffer(source.data, np.uint8, offset=min(begin, len(source.data)))
    letters = letters[: MAX_LITERAL_BYTES * count]
    ends = np.flatnonzero(letters < 128)[:count]
    lengths = np.diff(ends, prepend=-1)
    if len(ends) < count or int(lengths.max(initial=0)) > MAX_LITERAL_BYTES:
        source.refuse(source.data.count(b"\n", 0, begin) + 1,
                      f"the file holds no {count // 2} ANDs")
    if count == 0:
        return np.zeros(0, np.int64), begin
    place = np.arange(int(ends[-1]) + 1) - np.repeat(ends - lengths + 1, lengths)
    bits = (letters[: len(place)].astype(np.int64) & 127) << (7 * place)
    return np.add.reduceat(bits, ends - lengths + 1), begin + len(place)


def _check_literals(source: Source, counts: dict[str, int], circuit: Circuit) -> None:
    """Raise unless every variable that is used is defined, once."""
    made = np.concatenate([circuit.inputs, circuit.latches, circuit.gates])
    limit = 2 * counts["M"] + 1
    read = np.concatenate([circuit.nexts, circuit.outputs, circuit.ands.reshape(-1)])
    for literals in (made, read):
        bad = (literals < 0) | (literals > limit)
        if bad.any():
            source.refuse(1, f"the literal {literals[bad][0]} is not among 0 ... {limit}")
    if (made & 1).any() or (len(made) and int(made.min()) < 2):
        wrong = made[(made & 1 == 1) | (made < 2)][0]
        source.refuse(1, f"the literal {wrong} cannot be an input, a latch or an AND")
    times = np.bincount(made >> 1, minlength=counts["M"] + 1)
    if int(times.max(initial=0)) > 1:
        source.refuse(1, f"the literal {2 * int((times > 1).argmax())} is defined twice")
    times[0] = 1
    lost = times[read >> 1] == 0
    if lost.any():
        source.refuse(1, f"the literal {read[lost][0]} is not defined")


def _netlist(source: Source, counts: dict[str, int], circuit: Circuit) -> Netlist:
    number = np.full(counts["M"] + 1, -1, np.int32)
    made = np.concatenate([circuit.inputs, circuit.latches, circuit.gates]) >> 1
    number[made] = np.arange(len(made))
    latches, gates = len(circuit.latches), len(circuit.gates)
    own = np.concatenate([circuit.latches, circuit.gates])
    pins = np.concatenate([own, circuit.nexts, circuit.ands[:, 0], circuit.ands[:, 1]])
    owners = np.concatenate([np.arange(latches + gates)] * 2
                            + [latches + np.arange(gates)]).astype(np.int32)
    labels = np.repeat(np.arange(len(LABELS)), [len(own), latches, gates, gates])
    order = np.argsort(owners, kind="stable")
    nets, owners = number[pins[order] >> 1], owners[order]
    real = nets >= 0
    names = _names(source, circuit)
    return Netlist.from_pins(
        name="aiger", gate_names=names["gates"], net_names=names["nets"], cell_names=CELLS,
        gate_cells=(np.arange(latches + gates) >= latches).astype(np.int32),
        pin_gates=owners[real], pin_nets=nets[real],
        pin_drives=(order < latches + gates)[real],
        pin_labels=labels[order][real], label_names=LABELS, port_names=names["ports"],
        port_directions=["input"] * len(circuit.inputs) + ["output"] * len(circuit.outputs),
        port_nets=number[np.concatenate([circuit.inputs, circuit.outputs]) >> 1],
    )


def _names(source: Source, circuit: Circuit) -> dict[str, list[str]]:
    """Return names of gates, nets and ports: from the table of symbols, otherwise a letter and a
    number.
    """
    symbols = {}
    comment = source.data.find(b"\nc\n", max(0, circuit.end - 1))
    text = source.data[circuit.end : comment + 1 if comment >= 0 else len(source.data)]
    for line in text.split(b"\n"):
        if match := SYMBOL.fullmatch(line.rstrip()):
            name = match[3].decode("utf-8", "surrogateescape")
            symbols[match[1].decode(), int(match[2])] = name
    inputs, latches, outputs = ([symbols.get((letter, place), f"{letter}{place}")
                                 for place in range(len(literals))] for letter, literals in
                                (("i", circuit.inputs), ("l", circuit.latches),
                                 ("o", circuit.outputs)))
    gates = [f"a{variable}" for variable in (circuit.gates >> 1).tolist()]
    return {"gates": distinct(latches + gates), "nets": inputs + latches + gates,
            "ports": inputs + outputs}
