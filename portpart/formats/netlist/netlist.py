"""Netlists: gates, nets and the pins that join them; and files with areas of cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats import NamedGraph
from portpart.formats.text import AMOUNT, PathLike, amount, made_whole, read_source
from portpart.graphs import MAX_INT32, MAX_TOTAL_WEIGHT, Graph, did_you_mean, edges_graph
from portpart.options import checked_integer

# Netlists: gates, nets and the pins that join them; as a graph of gates or a hypergraph --------


MODELS = ("star", "clique")

NET_WEIGHT = 840
"""Weight of all edges of a net at one of its gates in the clique model. 840 is the smallest number
that 1 ... 8 divide, so that the weights of nets of up to nine gates are exact.
"""

MAX_CLIQUE_EDGES = 1 << 28

MAX_AREA = 2**62 - 1


@dataclass(frozen=True, eq=False, repr=False)
class Netlist:
    """Gates and the nets between them; every array is in host memory.

    Attributes
    ----------
    name : str
        Name of the module.
    gate_names, net_names : list of str
        As in the file. Escaped names of Verilog lose their backslash and blank, unless another gate
        or net has the same name.
    cell_names : list of str
        The kinds of gate.
    gate_cells : ndarray of int32, shape (gates,)
        Place of each gate's kind in `cell_names`.
    gate_offsets : ndarray of int64, shape (gates + 1,)
        Gate g has pins ``gate_offsets[g] ... gate_offsets[g + 1] - 1``.
    gate_nets : ndarray of int32, shape (pins,)
        The net of each pin.
    gate_drives : ndarray of bool, shape (pins,)
        Whether the pin drives its net. This is known for primitive gates and for cells that are
        declared in the file. For others the name of the port decides (``Z``, ``ZN``, ``Y``, ``Q``,
        ``QN``, ``O``, ``CO``; ``S`` if the cell also has a carry ...), so some drivers, such as
        pins of unknown gates that are connected by position, are not recognised.
    gate_labels : ndarray of int32, shape (pins,)
        Place in `label_names` of the port that each pin is, or a bit of.
    label_names : list of str
        Names of the ports of cells; ``#0``, ``#1`` ... where gates are connected by position.
    net_offsets, net_gates, net_drives : ndarray
        The same pins by net, those of a net in the order of the gates.
    port_names, port_directions : list of str
        Each bit of the module's ports, and its ``"input"``, ``"output"`` or ``"inout"``.
    port_nets : ndarray of int32, shape (ports,)
        The net of each; -1 for a constant.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("pair.v").write_text("module pair (input a, output z); "
    ...     "INV first (.A(a), .ZN(n)); INV second (.A(n), .ZN(z)); endmodule")
    >>> netlist = portpart.io.read_netlist("pair.v")
    >>> netlist
    <Netlist pair: 2 gates, 3 nets, 4 pins, 2 ports>
    >>> netlist.gate_names
    ['first', 'second']
    >>> netlist.graph("star")
    <Graph: 2 vertices, 1 edges, on cpu>
    """

    name: str
    gate_names: list[str]
    net_names: list[str]
    cell_names: list[str]
    gate_cells: np.ndarray
    gate_offsets: np.ndarray
    gate_nets: np.ndarray
    gate_drives: np.ndarray
    gate_labels: np.ndarray
    label_names: list[str]
    net_offsets: np.ndarray
    net_gates: np.ndarray
    net_drives: np.ndarray
    port_names: list[str]
    port_directions: list[str]
    port_nets: np.ndarray

    @classmethod
    def from_pins(
        cls, *, name: str, gate_names: list[str], cell_names: list[str], gate_cells: np.ndarray,
        net_names: list[str], pin_gates: np.ndarray, pin_nets: np.ndarray, pin_drives: np.ndarray,
        pin_labels: np.ndarray, label_names: list[str], port_names: list[str],
        port_directions: list[str], port_nets: np.ndarray,
    ) -> Netlist:
        """Return the netlist of pins that are sorted by gate."""
        order = np.argsort(pin_nets, kind="stable")
        return cls(
            name, gate_names, net_names, cell_names, gate_cells,
            _offsets(pin_gates, len(gate_names)), pin_nets, pin_drives,
            pin_labels.astype(np.int32), label_names, _offsets(pin_nets, len(net_names)),
            pin_gates[order], pin_drives[order], port_names, port_directions, port_nets,
        )

    @property
    def num_gates(self) -> int:
        """Number of gates."""
        return len(self.gate_names)

    @property
    def num_nets(self) -> int:
        """Number of nets, including those without a pin."""
        return len(self.net_names)

    @property
    def num_pins(self) -> int:
        """Number of pins of gates that are connected to a net."""
        return len(self.gate_nets)

    @property
    def num_ports(self) -> int:
        """Number of bits of the module's ports."""
        return len(self.port_names)

    def hypergraph(
        self, *, ports: bool = False, max_fanout: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return nets as hyperedges: the vertices of net e are ``net_pins[net_offsets[e]:...[e +
        1]]``.

        Parameters
        ----------
        ports : bool
            Whether the ports are vertices, numbered after the gates.
        max_fanout : int, optional
            Remove the pins of nets with more than ``max_fanout + 1`` vertices (clock, reset).

        Returns
        -------
        net_offsets : ndarray of int64, shape (nets + 1,)
        net_pins : ndarray of int32
            Ascending within a net, each vertex once.
        """
        nets, vertices, _ = self._pins(ports, max_fanout)
        return _offsets(nets, self.num_nets), vertices

    def graph(
        self, model: str = "star", *, ports: bool = False, max_fanout: int | None = None,
        areas: Mapping[str, int] | None = None,
    ) -> Graph:  # fmt: skip
        """Return the graph whose vertices are the gates, numbered as in `gate_names`.

        Parameters
        ----------
        model : {"star", "clique"}
            Star: edges of weight 1 from the driver of each net to every other gate on it, so that
            the cut counts the gates that receive a signal from another block. The first of several
            drivers counts; without a known driver, the first gate does. The driver of a net of an
            input port is the port, so the net joins nothing unless ports are vertices.

            Clique: each net of p vertices joins all of them by edges of weight ``840 / (p - 1)``,
            rounded, at least 1; a net that loses one gate to another block then adds 840 to the
            cut, whatever its size.

            The weights of several nets between the same gates add up.
        ports : bool
            Whether the ports are also vertices, numbered after the gates and of weight 0, so that
            blocks are balanced by gates.
        max_fanout : int, optional
            Leave out nets with more than ``max_fanout + 1`` vertices, such as clock and reset.
            Default: keep all.
        areas : mapping of str to int, optional
            As in :meth:`areas_of_gates`; default: each gate weighs 1.

        Raises
        ------
        InputError
            Unknown model, a cell without an area, or a clique of too many edges.

        Notes
        -----
        Edges and memory are linear in the pins with stars, quadratic in those of a net with
        cliques.
        """
        if model not in MODELS:
            raise InputError(f"unknown model {shown(model)}; known are {', '.join(MODELS)}")
        nets, vertices, drives = self._pins(ports, max_fanout)
        if model == "star":
            tails, heads = self._star(nets, vertices, drives, ports)
            weights = np.ones(len(tails), np.int64)
        else:
            tails, heads, weights = self._clique(_offsets(nets, self.num_nets), vertices)
        # one direction for every pair: its weights are added
        low, high = np.minimum(tails, heads), np.maximum(tails, heads)
        n = self.num_gates + (self.num_ports if ports else 0)
        vertex_weights = None if areas is None and not ports else self.vertex_weights(ports, areas)
        return edges_graph(n, low, high, weights, vertex_weights)

    def areas_of_gates(self, areas: Mapping[str, int]) -> np.ndarray:
        """Return the area of each gate, which may be its weight.

        Parameters
        ----------
        areas : mapping of str to int
            The area of each cell.

        Returns
        -------
        numpy.ndarray of int64, shape (gates,)

        Raises
        ------
        InputError
            If a cell has no area, or one that is not an integer of at least 0.
        """
        found = [area_of(areas, cell) for cell in self.cell_names]
        return np.array(found, np.int64)[self.gate_cells]

    def vertex_weights(self, ports: bool, areas: Mapping[str, int] | None) -> np.ndarray:
        """Return the weights of gates, areas or 1, and 0 for ports if these are vertices."""
        gates = np.ones(self.num_gates, np.int64) if areas is None else self.areas_of_gates(areas)
        return np.append(gates, np.zeros(self.num_ports, np.int64)) if ports else gates

    def _pins(
        self, ports: bool, max_fanout: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return net, vertex and whether it drives, of each pin; sorted, a vertex once on a net."""
        if max_fanout is not None:
            max_fanout = checked_integer("max_fanout", max_fanout, 0, 1 << 62)
        nets, vertices, drives = self.all_pins(ports)
        keys, place = np.unique(nets.astype(np.int64) << 32 | vertices, return_inverse=True)
        driving = np.zeros(len(keys), bool)
        driving[place[drives]] = True
        nets, vertices = (keys >> 32).astype(np.int32), (keys & MAX_INT32).astype(np.int32)
        if max_fanout is not None:
            kept = np.bincount(nets, minlength=self.num_nets)[nets] <= max_fanout + 1
            nets, vertices, driving = nets[kept], vertices[kept], driving[kept]
        return nets, vertices, driving

    def all_pins(self, ports: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return net, vertex and whether it drives, of every pin of a gate, and optionally of every
        port.
        """
        counts = np.diff(self.net_offsets)
        nets = np.repeat(np.arange(self.num_nets, dtype=np.int32), counts)
        vertices, drives = self.net_gates, self.net_drives
        if ports:
            inside = np.flatnonzero(self.port_nets >= 0)
            nets = np.append(nets, self.port_nets[inside])
            vertices = np.append(vertices, (self.num_gates + inside).astype(np.int32))
            drives = np.append(drives, self._is_input()[inside])
        return nets, vertices, drives

    def _is_input(self) -> np.ndarray:
        return np.array([direction == "input" for direction in self.port_directions], bool)

    def _star(self, nets: np.ndarray, vertices: np.ndarray, drives: np.ndarray,
              ports: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of the edge from each pin to the centre of its net."""
        centre = np.full(self.num_nets, -1, np.int64)
        # the first pin of a net is written last
        centre[nets[::-1]] = vertices[::-1]
        if not ports:
            centre[self.port_nets[self._is_input() & (self.port_nets >= 0)]] = -1
        driving = np.flatnonzero(drives)[::-1]
        centre[nets[driving]] = vertices[driving]
        own = centre[nets]
        kept = (own >= 0) & (own != vertices)
        return own[kept], vertices[kept].astype(np.int64)

    def _clique(
        self, offsets: np.ndarray, vertices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return both ends and the weight of each pair of vertices on a net."""
        sizes = np.diff(offsets)
        total = int((sizes * (sizes - 1) // 2).sum())
        if total > MAX_CLIQUE_EDGES:
            worst = int(sizes.argmax())
            raise InputError(
                f"the cliques have {total} edges, more than {MAX_CLIQUE_EDGES}; net "
                f"{shown(self.net_names[worst])} joins {sizes[worst]} vertices: set max_fanout")
        pieces = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))]
        for size in np.unique(sizes[sizes > 1]).tolist():
            rows = vertices[offsets[:-1][sizes == size][:, None] + np.arange(size)]
            first, second = np.triu_indices(size, 1)
            weight = max(1, round(NET_WEIGHT / (size - 1)))
            tails, heads = rows[:, first].ravel(), rows[:, second].ravel()
            pieces.append((tails, heads, np.full(len(tails), weight, np.int64)))
        tails, heads, weights = (np.concatenate(column) for column in zip(*pieces))
        return tails, heads, weights

    def __repr__(self) -> str:
        return (f"<Netlist {self.name}: {self.num_gates:,} gates, {self.num_nets:,} nets, "
                f"{self.num_pins:,} pins, {self.num_ports:,} ports>")


def named_graph(netlist: Netlist, model: str = "star", max_fanout: int | None = None,
                areas: PathLike | None = None) -> NamedGraph:
    """Return the graph of the gates (see `Netlist.graph`), weighted by a file of areas, and their
    names.
    """
    known = None if areas is None else read_areas(areas)
    return NamedGraph(netlist.graph(model, max_fanout=max_fanout, areas=known),
                      np.array(netlist.gate_names, object))


def area_of(areas: Mapping[str, int], cell: str) -> int:
    """Return the area of a cell.

    Raises
    ------
    InputError
    """
    if cell not in areas:
        raise InputError(f"areas has no cell {shown(cell)}{did_you_mean(cell, areas)}")
    return checked_integer(f"areas[{shown(cell)}]", areas[cell], 0, MAX_AREA)


def distinct(names: list[str]) -> list[str]:
    """Return the names, with underscores after names that occur again."""
    seen: set[str] = set()
    found = []
    for name in names:
        while name in seen:
            name += "_"
        seen.add(name)
        found.append(name)
    return found


def _offsets(rows: np.ndarray, count: int) -> np.ndarray:
    """Return where each row begins among sorted or counted row numbers."""
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=offsets[1:])
    return offsets


# Files of the areas of cells: lines of a cell and its area; ``#`` begins a comment -------------


DECIMAL = re.compile(AMOUNT)


def read_areas(path: PathLike) -> dict[str, int]:
    """Return the area of each cell of a file.

    Areas such as 0.798 are multiplied by the smallest power of ten that makes all of them integers.

    Raises
    ------
    GraphFormatError
        With file and line of the first line that is not a cell and its area.
    InputError
        If the file cannot be read.
    """
    source = read_source(path)
    lines: dict[str, int] = {}
    amounts = []
    for number, _, line in source.lines():
        words = line.partition(b"#")[0].decode("utf-8", "surrogateescape").split()
        if not words:
            continue
        if len(words) != 2 or not DECIMAL.fullmatch(words[1]):
            source.refuse(number, "expected a cell and its area, such as 'NAND2 0.798'")
        if words[0] in lines:
            source.refuse(number, f"a second area of {shown(words[0])}, after line "
                                  f"{lines[words[0]]}")
        lines[words[0]] = number
        amounts.append(amount(words[1]))
    areas, scale = made_whole(amounts)
    for (cell, number), area in zip(lines.items(), areas):
        if area >= MAX_TOTAL_WEIGHT:
            source.refuse(number, f"the area of {shown(cell)}, times {scale}, is above 2**62; "
                                  "round areas to fewer decimals")
    return dict(zip(lines, areas))
