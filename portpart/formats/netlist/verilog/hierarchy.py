"""The top module, and all modules as one netlist."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats.netlist import Netlist
from portpart.formats.netlist.verilog.expression import fitted
from portpart.formats.netlist.verilog.module import (
    CONSTANT,
    MARK,
    Module,
    PlainNames,
    Prefix,
    VerilogText,
    plain,
    plain_names,
)
from portpart.formats.netlist.verilog.parser import DIRECTIONS, PRIMITIVES
from portpart.graphs import MAX_INT32

# Ports of a cell that drive their nets: declared in the file, or known by their names ------------
#
# A gate-level netlist does not say it; the library of cells does. The names are outputs of common
# libraries: Nangate (Z, ZN, Q, QN, CO, S, GCK), SkyWater (X, Y, Q, Q_N, COUT, SUM, GCLK, HI, LO),
# ASAP7 (Y, Q, QN, CON, SN), the contests of ISPD and TAU (o, q), Xilinx (O, O5, O6, Q), memories
# (DO, DOUT, RD_OUT).


OUTPUT_NAME = re.compile(
    r"([xyz]n?|q|qn|q_n|qb|qbar|o|on|out|outb|output|z_n|y_n|co|con|cout|sum|sumout|combout|hi|lo|"
    r"gck|gclk|eck|do|dout|rd_?out|data_?out)\d*"
)
CARRY_NAME = re.compile(r"co|con|cout")
SUM_NAMES = ("s", "sn")
"""The sum of an adder, recognised by its carry; otherwise a select or set input."""


def drives(cell: str, label: str, labels_of_cell: set[str], declared: Module | None) -> bool:
    """Whether a port drives the net that it is connected to.

    Parameters
    ----------
    cell, label : str
        The cell and its port.
    labels_of_cell : set of str
        All ports with which the cell occurs.
    declared : Module or None
        The declaration of the cell, if the file has one.
    """
    if declared is not None:
        return declared_port(declared, label)[1] == DIRECTIONS[1]
    if cell in PRIMITIVES:
        return label[0] == "Y"
    name = label.lower()
    if name in SUM_NAMES:
        return any(CARRY_NAME.fullmatch(other.lower()) for other in labels_of_cell)
    return OUTPUT_NAME.fullmatch(name) is not None


def declared_port(module: Module, label: str) -> tuple[str, str]:
    """Return name and direction of the port of a label, both empty if there is none."""
    if label[0] != "#":
        return label, module.ports.get(label, "")
    ports = list(module.ports.items())
    place = int(label[1:])
    return ports[place] if place < len(ports) else ("", "")


# The top module, and whether its contents can be flattened -------------------------------------


SHOWN_NAMES = 5


def top_module(tokens: VerilogText, modules: dict[str, Module], name: str | None) -> Module:
    """Return the module called `name`, or else the only one that no other instantiates."""
    if name is not None:
        named = modules.get(name) or modules.get(MARK + name)
        if named is None:
            raise InputError(f"{tokens.source_name} has no module {shown(name)}; it has "
                             f"{_listed(modules)}")
        return named
    if not modules:
        tokens.refuse("the file holds no module")
    used = {cell for module in modules.values() for cell in module.cells}
    free = [module for module in modules.values() if module.name not in used]
    if not free:
        tokens.refuse("every module is instantiated by another one; name the top one",
                      next(iter(modules.values())).position)
    if len(free) > 1:
        tokens.refuse(f"{_listed([module.name for module in free])} are all instantiated "
                      "nowhere; name the top one (top=, --top)", free[1].position)
    return free[0]


def check_depth(tokens: VerilogText, modules: dict[str, Module], top: Module) -> None:
    """Raise an error for a module that contains itself, or for more gates than vertices can be
    numbered.
    """
    sizes: dict[str, int] = {}
    open_names: set[str] = set()
    stack = [top]
    while stack:
        module = stack[-1]
        inner = Counter(module.cells)
        found = [modules[cell] for cell in inner if cell in modules]
        missing = [child for child in found if child.name not in sizes]
        open_names.add(module.name)
        if not missing:
            leaves = sum(inner.values()) - sum(inner[child.name] for child in found)
            # a gate counts once, like an instance of a module without gates
            sizes[module.name] = max(1, leaves + sum(
                inner[child.name] * sizes[child.name] for child in found))
            open_names.discard(module.name)
            stack.pop()
            continue
        child = missing[0]
        if child.name in open_names:
            place = module.cells.index(child.name)
            tokens.refuse(f"module {shown(child.name)} contains itself", module.positions[place])
        stack.append(child)
    if sizes[top.name] > MAX_INT32:
        tokens.refuse(f"module {shown(top.name)} has {sizes[top.name]} gates; at most {MAX_INT32} "
                      "can be numbered", top.position)


def _listed(names: list[str] | dict[str, Module]) -> str:
    """Return the first of some names, for a message."""
    first = [shown(name) for name in names]
    more = [] if len(first) <= SHOWN_NAMES else [f"{len(first) - SHOWN_NAMES} more"]
    first = first[:SHOWN_NAMES] + more
    return " and ".join([", ".join(first[:-1]), first[-1]] if len(first) > 1 else first)


# Modules to one netlist: instances of modules are replaced by their contents -------------------
#
# Gate ``g`` in instance ``u`` of the top module becomes ``u/g``; nets are named in the same way.
# Nets that ports or ``assign`` connect are one net, named as in the outermost module. An instance
# of a module without content (a black box) remains a gate.


@dataclass(eq=False)
class FlatNetlist:
    """The netlist while it grows: lists of pieces, one per instance of a module.

    Nets are numbered as they are found; `CONSTANT` is the net of all constants.
    """

    names: PlainNames = field(default_factory=PlainNames)
    cells: list[str] = field(default_factory=list)
    pin_counts: list[np.ndarray] = field(default_factory=list)
    labels: list[np.ndarray] = field(default_factory=list)
    nets: list[np.ndarray] = field(default_factory=list)
    aliases: list[np.ndarray] = field(default_factory=list)
    net_names: PlainNames = field(default_factory=PlainNames)


@dataclass(frozen=True)
class Instance:
    """An instance of a module to flatten."""

    module: Module
    prefix: Prefix
    net_map: np.ndarray
    """Flat net of each net of the module; -1 for a new one."""


def flatten(tokens: VerilogText, modules: dict[str, Module], labels: list[str],
            top: Module) -> Netlist:
    """Return the netlist of `top`."""
    check_depth(tokens, modules, top)
    flat = FlatNetlist()
    flat.net_names.add(Prefix(), ["1'b0"])
    waiting = [Instance(top, Prefix(), _unmapped(top))]
    for instance in waiting:  # grows in the loop
        waiting += _flatten_instance(tokens, modules, labels, instance, flat)
    gates = flat.names.distinct()
    if (len(waiting) > 1 or flat.names.any_escaped) and len(set(gates)) < len(gates):
        name, _ = Counter(gates).most_common(1)[0]
        tokens.refuse(f"two gates are called {shown(name)} after flattening; rename one",
                      top.position)
    open_ports = {pair for module in modules.values() for pair in module.open_ports}
    return _finished(flat, gates, modules, labels, top, open_ports)


def _unmapped(module: Module) -> np.ndarray:
    net_map = np.full(len(module.bits) + 1, -1, np.int64)
    net_map[CONSTANT] = CONSTANT
    return net_map


def _flatten_instance(tokens: VerilogText, modules: dict[str, Module], labels: list[str],
                      instance: Instance, flat: FlatNetlist) -> list[Instance]:
    """Append the gates and new nets of an instance; return the instances of modules in it."""
    module, prefix, net_map = instance.module, instance.prefix, instance.net_map
    new = np.flatnonzero(net_map < 0)
    net_map[new] = len(flat.net_names) + np.arange(len(new))
    names = list(module.bits)
    flat.net_names.add(prefix, (names[net - 1] for net in new.tolist()))
    starts, pin_labels, pin_nets = (np.array(values, np.int64) for values in (
        module.starts, module.labels, module.nets))
    pin_nets = net_map[pin_nets]
    inner = [cell in modules and not modules[cell].is_cell for cell in module.cells]
    counts = np.diff(starts)
    is_gate = ~np.array(inner, bool)
    of_gate = np.repeat(is_gate, counts)
    flat.names.add(prefix, (name for name, deep in zip(module.names, inner) if not deep))
    flat.cells += [cell for cell, deep in zip(module.cells, inner) if not deep]
    flat.pin_counts.append(counts[is_gate])
    flat.labels.append(pin_labels[of_gate])
    flat.nets.append(pin_nets[of_gate])
    flat.aliases.append(net_map[np.array(module.aliases, np.int64).reshape(-1, 2)])
    found = []
    for i in np.flatnonzero(~is_gate).tolist():
        pins = slice(starts[i], starts[i + 1])
        child = modules[module.cells[i]]
        inside = _connected(tokens, child, [labels[label] for label in pin_labels[pins]],
                            pin_nets[pins].tolist(), module.positions[i], flat)
        found.append(Instance(child, prefix.inside(module.names[i]), inside))
    return found


def _connected(tokens: VerilogText, child: Module, labels: list[str], nets: list[int],
               position: int, flat: FlatNetlist) -> np.ndarray:
    """Return the map of a child's nets, in which its ports are the nets outside."""
    outside: dict[str, list[int]] = {}
    for label, net in zip(labels, nets):
        outside.setdefault(label, []).append(net)
    net_map = _unmapped(child)
    for label, given in outside.items():
        port, direction = declared_port(child, label)
        if not direction:
            what = f"port {shown(label)}" if label[0] != "#" else f"{int(label[1:]) + 1} ports"
            tokens.refuse(f"module {shown(child.name)} has no {what}", position)
        bits = child.whole(port)
        same = fitted(given, len(bits))
        if same is None:
            tokens.refuse(f"port {shown(port)} of module {shown(child.name)} has {len(bits)} bits "
                          f"and is given {len(given)}", position)
        net_map[bits] = same
    return net_map


def _finished(flat: FlatNetlist, gates: list[str], modules: dict[str, Module], labels: list[str],
              top: Module, open_ports: set[tuple[str, str]]) -> Netlist:
    """Return the netlist without constants, with merged nets in the order of their names."""
    number, kept = _merged(len(flat.net_names), np.concatenate(flat.aliases))
    cell_number: dict[str, int] = {}
    gate_cells = np.array([cell_number.setdefault(cell, len(cell_number)) for cell in flat.cells],
                          np.int32)
    counts = np.concatenate(flat.pin_counts)
    pin_gates = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    pin_labels = np.concatenate(flat.labels)
    pin_drives = _driving(gate_cells[pin_gates], pin_labels, list(cell_number), labels, modules,
                          open_ports)
    pin_nets = number[np.concatenate(flat.nets)]
    real = pin_nets >= 0
    # the top module came first: its nets 1, 2 ... kept their numbers
    net_names = flat.net_names.distinct()
    port_bits = [(net_names[net], direction, net)
                 for port, direction in top.ports.items() for net in top.whole(port)]
    return Netlist.from_pins(
        name=plain(top.name), gate_names=gates, cell_names=plain_names(cell_number),
        gate_cells=gate_cells, net_names=[net_names[net] for net in kept.tolist()],
        pin_gates=pin_gates[real], pin_nets=pin_nets[real], pin_drives=pin_drives[real],
        pin_labels=pin_labels[real], label_names=labels,
        port_names=[name for name, _, _ in port_bits],
        port_directions=[direction for _, direction, _ in port_bits],
        port_nets=number[[net for _, _, net in port_bits]] if port_bits else np.zeros(0, np.int32),
    )


def _merged(num_nets: int, aliases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the new number of each net (-1: a constant) and the net that names each new one."""
    first = np.arange(num_nets)
    if len(aliases):
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        pattern = coo_array((np.ones(len(aliases), np.int8), (aliases[:, 0], aliases[:, 1])),
                            shape=(num_nets, num_nets))
        _, group = connected_components(pattern, directed=False)
        _, smallest = np.unique(group, return_index=True)
        first = smallest[group]
    named = first == np.arange(num_nets)
    named[CONSTANT] = False
    number = np.full(num_nets, -1, np.int32)
    kept = np.flatnonzero(named)
    number[kept] = np.arange(len(kept))
    return number[first], kept


def _driving(pin_cells: np.ndarray, pin_labels: np.ndarray, cells: list[str], labels: list[str],
             modules: dict[str, Module], open_ports: set[tuple[str, str]]) -> np.ndarray:
    """Return whether each pin drives its net: determined once per kind of pin."""
    keys, kind = np.unique(pin_cells.astype(np.int64) * len(labels) + pin_labels,
                           return_inverse=True)
    pairs = [(cells[key // len(labels)], labels[key % len(labels)]) for key in keys.tolist()]
    of_cell: dict[str, set[str]] = {}
    for cell, label in [*pairs, *open_ports]:
        of_cell.setdefault(cell, set()).add(label)
    answers = [drives(cell, label, of_cell[cell], modules.get(cell)) for cell, label in pairs]
    return np.array(answers, bool)[kind]
