"""Traces of edits of netlists: ``.ops`` files, as in the TAU 2015 contest on incremental timing.

A line is a command and names: ``insert_gate GATE CELL``, ``remove_gate GATE``, ``insert_net NET``,
``remove_net NET``, ``connect_pin PIN NET``, ``disconnect_pin PIN`` and ``repower_gate GATE CELL``;
``read_spef`` and ``report_...`` end a batch. A pin is ``GATE:PORT`` or a port of the module. (Hu,
Schaeffer, Garg: TAU 2015 contest on incremental timing analysis, ICCAD 2015.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats import netlist as netlists
from portpart.formats.netlist.verilog.hierarchy import drives
from portpart.formats.text import PathLike, Source, read_source
from portpart.graphs import MAX_INT32

MODELS = ("hypergraph", "star")

PORT = ""
"""Label of the only pin of a port."""


def read_edits(path: PathLike, netlist: netlists.Netlist, *, model: str = "hypergraph",
               areas: Mapping[str, int] | PathLike | None = None) -> netlists.NetlistEdits:
    r"""Read a trace of edits of a netlist.

    Parameters
    ----------
    path : str or PathLike
        An ``.ops`` file, plain or compressed.  ``-`` reads standard input.
    netlist : Netlist
        The netlist before the first edit.
    model : {"hypergraph", "star"}
        Hypergraph: the vertices are gates and ports, and those on a net are its pins; two pins of a
        gate on a net count once. Star: a graph of the same vertices, with edges of weight 1 from
        the driver of each net to all others on it; weights of several nets are added. The driver is
        an input port or the gate whose pin drives the net, the first of several; without a known
        driver, the first vertex on the net.  If the driver is disconnected, all edges of the net
        change.
    areas : mapping of str to int, or path, optional
        Weight of a gate of each cell, or a file of them as in :func:`read`. Then ports weigh 0, and
        ``repower_gate`` changes weights.  Default: all vertices weigh 1.

    Returns
    -------
    NetlistEdits
        `graph` is the netlist before the edits, `rounds` divides the lines, `play` adds those of a
        round to a batch.

    Raises
    ------
    GraphFormatError
        If a command is unknown or cannot be applied at its place; with file and line.
    InputError
        If the file cannot be read, or `netlist` is not a netlist.

    Notes
    -----
    O(bytes of the trace + pins of the netlist), in Python for the former: 100,000 lines take about
    half a second.  Removing a gate or a net disconnects its pins. A connected pin is disconnected
    before it is connected again.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("pair.v").write_text("module pair (input a, output z); "
    ...     "INV first (.A(a), .ZN(n)); INV second (.A(n), .ZN(z)); endmodule")
    >>> _ = Path("pair.ops").write_text("insert_gate third INV\nconnect_pin third:A n\n")
    >>> edits = portpart.io.read_edits("pair.ops", portpart.io.read_netlist("pair.v"))
    >>> session = portpart.Session(edits.graph(), 2, imbalance=1)
    >>> for lines in edits.rounds("natural"):
    ...     batch = session.batch()
    ...     edits.play(lines, batch)
    ...     update = session.apply(batch)
    >>> len(session.part), edits.vertex_names[-1]
    (5, 'third')
    """
    if model not in MODELS:
        raise InputError(f"unknown model {shown(model)}; known are {', '.join(MODELS)}")
    if not isinstance(netlist, netlists.Netlist):
        raise InputError(f"netlist is {shown(netlist)}; portpart.io.read_netlist reads one")
    known = areas if areas is None or isinstance(areas, Mapping) else netlists.read_areas(areas)
    source = read_source(path, None, (".ops",))
    return TraceReader(source, netlist, known).edits(model)


class TraceReader:
    """Follows a netlist through the lines of a trace."""

    def __init__(self, source: Source, netlist: netlists.Netlist,
                 areas: Mapping[str, int] | None) -> None:
        self._source, self._netlist, self._areas, self._line = source, netlist, areas, 0
        gates, ports = netlist.gate_names, netlist.port_names
        self._vertex_names, self._net_names = gates + ports, list(netlist.net_names)
        self._gates = dict(zip(gates, range(len(gates))))
        self._ports = dict(zip(ports, range(len(gates), len(gates) + len(ports))))
        self._nets = dict(zip(netlist.net_names, range(netlist.num_nets)))
        self._pins: dict[int, dict[str, tuple[int, bool]]] = {}
        self._seen: dict[int, set[int]] = defaultdict(set)
        self._cell_of = [netlist.cell_names[cell] for cell in netlist.gate_cells.tolist()]
        self._drive_of = self._known_drives()
        self._rows: list[tuple[int, int, int, int]] = []

    def edits(self, model: str) -> netlists.NetlistEdits:
        """Read all lines."""
        starts, ends = [0], []
        structural: list[bool] = []
        weights = None
        if self._areas is not None:
            weights = self._netlist.vertex_weights(True, self._areas)
        self._cell_of += [""] * self._netlist.num_ports
        for line, _, text in self._source.lines():
            self._line = line
            words = text.decode("utf-8", "surrogateescape").split()
            if words[0] == "read_spef" or words[0].startswith("report_"):
                ends.append(len(structural))
            elif not words[0].startswith("#"):
                self._read(words)
                starts.append(len(self._rows))
                structural.append(words[0] != "repower_gate")
        rows = np.array(self._rows, np.int64).reshape(-1, 4)
        steps = netlists.Steps(rows, np.array(starts), np.array(structural, bool), ends)
        return netlists.NetlistEdits(self._netlist, model, self._vertex_names, self._net_names,
                                     steps, weights)

    def _read(self, words: list[str]) -> None:
        command = COMMANDS.get(words[0])
        if command is None:
            self._refuse(f"{shown(words[0])} is no edit; known are {', '.join(COMMANDS)}, and "
                         "read_spef and report_... end a batch")
        act, names = command
        if len(words) != 1 + len(names):
            self._refuse(f"{words[0]} has {len(words) - 1} names; it takes {' '.join(names)}")
        act(self, *words[1:])

    def _insert_gate(self, name: str, cell: str) -> None:
        if _find(self._gates, name) is not None:
            self._refuse(f"there is a gate {shown(name)} already; remove it first")
        vertex = len(self._vertex_names)
        self._gates[name] = vertex
        self._vertex_names.append(name)
        self._cell_of.append(cell)
        self._pins[vertex] = {}
        self._rows.append((netlists.NEW_VERTEX, vertex, 0, self._area(cell)))

    def _remove_gate(self, name: str) -> None:
        gate = self._gate(name)
        for label in list(self._pins_of(gate)):
            self._disconnect(gate, label)
        self._rows.append((netlists.END_VERTEX, gate, 0, 0))
        del self._gates[self._vertex_names[gate]]

    def _repower_gate(self, name: str, cell: str) -> None:
        gate = self._gate(name)
        self._cell_of[gate] = cell
        if self._areas is not None:
            self._rows.append((netlists.WEIGH, gate, 0, self._area(cell)))

    def _insert_net(self, name: str) -> None:
        if _find(self._nets, name) is not None:
            self._refuse(f"there is a net {shown(name)} already; remove it first")
        self._rows.append((netlists.NEW_NET, 0, len(self._net_names), 0))
        self._nets[name] = len(self._net_names)
        self._net_names.append(name)

    def _remove_net(self, name: str) -> None:
        net = self._net(name)
        for vertex in sorted(self._seen[net] | self._first_on(net)):
            for label in [each for each, (on, _) in self._pins_of(vertex).items() if on == net]:
                self._disconnect(vertex, label)
        self._rows.append((netlists.END_NET, 0, net, 0))
        del self._nets[self._net_names[net]]

    def _connect_pin(self, pin: str, net_name: str) -> None:
        vertex, label = self._pin(pin)
        net = self._net(net_name)
        if label in self._pins_of(vertex):
            self._disconnect(vertex, label)
        if label == PORT:
            drive = self._netlist.port_directions[vertex - self._netlist.num_gates] == "input"
        else:
            drive = self._drives(self._cell_of[vertex], label)
        self._pins[vertex][label] = net, drive
        self._seen[net].add(vertex)
        self._rows.append((netlists.CONNECT, vertex, net, drive))

    def _disconnect_pin(self, pin: str) -> None:
        vertex, label = self._pin(pin)
        if label not in self._pins_of(vertex):
            self._refuse(f"pin {shown(pin)} is on no net; does the trace belong to this netlist?")
        self._disconnect(vertex, label)

    def _disconnect(self, vertex: int, label: str) -> None:
        self._rows.append((netlists.DISCONNECT, vertex, *self._pins[vertex].pop(label)))

    def _drives(self, cell: str, label: str) -> bool:
        """Whether a port of a cell drives its net, as determined at its first occurrence."""
        known = self._drive_of[cell]
        if label not in known:
            known[label] = drives(cell, label, {*known, label}, None)
        return known[label]

    def _pins_of(self, vertex: int) -> dict[str, tuple[int, bool]]:
        """Return the net of each pin of a gate or a port, and whether the pin drives it."""
        if vertex not in self._pins:
            netlist = self._netlist
            port = vertex - netlist.num_gates
            if port >= 0:
                net = int(netlist.port_nets[port])
                is_input = netlist.port_directions[port] == "input"
                self._pins[vertex] = {PORT: (net, is_input)} if net >= 0 else {}
            else:
                row = slice(*netlist.gate_offsets[vertex : vertex + 2].tolist())
                labels = [netlist.label_names[place] for place in netlist.gate_labels[row].tolist()]
                if len(set(labels)) < len(labels):
                    self._refuse(f"gate {shown(netlist.gate_names[vertex])} has a port of several "
                                 "bits; a trace names single pins")
                self._pins[vertex] = dict(zip(labels, zip(netlist.gate_nets[row].tolist(),
                                                          netlist.gate_drives[row].tolist())))
        return self._pins[vertex]

    def _first_on(self, net: int) -> set[int]:
        """Return the vertices that the netlist has on a net."""
        netlist = self._netlist
        if net >= netlist.num_nets:
            return set()
        gates = netlist.net_gates[netlist.net_offsets[net] : netlist.net_offsets[net + 1]]
        ports = netlist.num_gates + np.flatnonzero(netlist.port_nets == net)
        return {*gates.tolist(), *ports.tolist()}

    def _pin(self, name: str) -> tuple[int, str]:
        port = _find(self._ports, name)
        if port is not None:
            return port, PORT
        gate, _, label = name.rpartition(":")
        if not (gate and label):
            self._refuse(f"there is no port {shown(name)}, and a pin is GATE:PORT")
        return self._gate(gate), label

    def _gate(self, name: str) -> int:
        return self._known(self._gates, name, "gate")

    def _net(self, name: str) -> int:
        return self._known(self._nets, name, "net")

    def _known(self, table: dict[str, int], name: str, what: str) -> int:
        number = _find(table, name)
        if number is None:
            self._refuse(f"there is no {what} {shown(name)}; does the trace belong to this "
                         "netlist?")
        return number

    def _known_drives(self) -> dict[str, dict[str, bool]]:
        """Return whether the ports of each cell drive, for cells in the netlist."""
        netlist = self._netlist
        found: dict[str, dict[str, bool]] = defaultdict(dict)
        cells = np.repeat(netlist.gate_cells, np.diff(netlist.gate_offsets)).astype(np.int64)
        keys, pins = np.unique(cells << 32 | netlist.gate_labels, return_index=True)
        for key, drive in zip(keys.tolist(), netlist.gate_drives[pins].tolist()):
            found[netlist.cell_names[key >> 32]][netlist.label_names[key & MAX_INT32]] = drive
        return found

    def _area(self, cell: str) -> int:
        if self._areas is None:
            return 1
        return netlists.area_of(self._areas, cell)

    def _refuse(self, problem: str) -> NoReturn:
        self._source.refuse(self._line, problem)


def _find(table: dict[str, int], name: str) -> int | None:
    """Return the number of a name, with or without the backslash of an escaped name."""
    number = table.get(name)
    if number is None and name[:1] == "\\":
        return table.get(name[1:])
    return table.get("\\" + name) if number is None else number


COMMANDS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "insert_gate": (TraceReader._insert_gate, ("GATE", "CELL")),
    "remove_gate": (TraceReader._remove_gate, ("GATE",)),
    "insert_net": (TraceReader._insert_net, ("NET",)),
    "remove_net": (TraceReader._remove_net, ("NET",)),
    "connect_pin": (TraceReader._connect_pin, ("PIN", "NET")),
    "disconnect_pin": (TraceReader._disconnect_pin, ("PIN",)),
    "repower_gate": (TraceReader._repower_gate, ("GATE", "CELL")),
}
"""Action of each command, and the names that follow it."""
