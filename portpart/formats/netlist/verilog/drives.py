"""Which ports of a cell drive their nets: declared in the file, or known by their names.

A gate-level netlist does not say it: the library does.  The names below are the outputs of the
usual ones: Nangate (Z, ZN, Q, QN, CO, S, GCK), SkyWater (X, Y, Q, Q_N, COUT, SUM, GCLK, HI, LO),
ASAP7 (Y, Q, QN, CON, SN), the contests of ISPD and TAU (o, q), Xilinx (O, O5, O6, Q), memories (DO,
DOUT, RD_OUT).
"""

from __future__ import annotations

import re

from portpart.formats.netlist.verilog.module import Module
from portpart.formats.netlist.verilog.parser import DIRECTIONS, PRIMITIVES

OUTPUT_NAME = re.compile(
    r"([xyz]n?|q|qn|q_n|qb|qbar|o|on|out|outb|output|z_n|y_n|co|con|cout|sum|sumout|combout|hi|lo|"
    r"gck|gclk|eck|do|dout|rd_?out|data_?out)\d*"
)
CARRY_NAME = re.compile(r"co|con|cout")
SUM_NAMES = ("s", "sn")
"""The sum of an adder, recognised by its carry; elsewhere a select or set input."""


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
    """Name and direction of the port that a label means, both empty if there is none."""
    if label[0] != "#":
        return label, module.ports.get(label, "")
    ports = list(module.ports.items())
    place = int(label[1:])
    return ports[place] if place < len(ports) else ("", "")
