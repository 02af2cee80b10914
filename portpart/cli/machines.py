"""Options that describe a machine, and tables of numbers from files."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import numpy as np

from portpart.cli.options import flag, gathered
from portpart.errors import GraphFormatError, shown

if TYPE_CHECKING:
    from portpart.formats.text import Source
    from portpart.graphs import Topology

# Tables of numbers from files: distances of a machine, coordinates of points -------------------


def read_table(name: str) -> np.ndarray:
    """Read a table of numbers, one row per line, separated by blanks or commas.

    Raises
    ------
    GraphFormatError
        With file and line of a word that is not a number, or of a row of another length.
    """
    from portpart.formats.text import read_source

    return _table_of(read_source(name))


def read_points(name: str) -> np.ndarray:
    """Read coordinates, one point per line, or an .npy file."""
    from portpart.formats import ARRAY_BEGINS, read_array
    from portpart.formats.text import bare_name, read_source

    source = read_source(name)
    if source.data.startswith(ARRAY_BEGINS) or bare_name(name).endswith(".npy"):
        return read_array(source.name, io.BytesIO(source.data), len(source.data))
    return _table_of(source)


def _table_of(source: Source) -> np.ndarray:
    lines = source.data.decode(errors="replace").splitlines()
    rows = {number: row for number, line in enumerate(lines, 1)
            if (row := line.partition("#")[0].strip())}
    if not rows:
        raise GraphFormatError(f"{source.name}: holds no numbers; each line must be a row of them")
    delimiter = "," if any("," in row for row in rows.values()) else None
    try:
        return np.loadtxt(list(rows.values()), ndmin=2, delimiter=delimiter)
    except ValueError as problem:
        _refuse_row(source, rows, delimiter)
        raise GraphFormatError(f"{source.name}: {problem}") from problem


def _refuse_row(source: Source, rows: dict[int, str], delimiter: str | None) -> None:
    """Raise for the first line that is not a row of the table."""
    width = len(next(iter(rows.values())).split(delimiter))
    for number, row in rows.items():
        words = row.split(delimiter)
        if len(words) != width:
            source.refuse(number, f"{len(words)} numbers; the lines before have {width} each")
        for word in words:
            try:
                float(word)
            except ValueError:
                source.refuse(number, f"{shown(word.strip())} is not a number")


# Options that describe a machine, and the machine that they describe ---------------------------


@dataclasses.dataclass(frozen=True)
class MachineOptions:
    """The values of the options, None by default."""

    hierarchy: str | None = flag(
        "-H", "--hierarchy", metavar="4:8:6",
        help="Elements per processor, processors per node, ..., innermost level first.")
    distances: str | None = flag(
        "-D", "--distances", metavar="1:10:100",
        help="Distance of elements in a common processor, node, ... for each level.")
    matrix: str | None = flag(
        metavar="FILE",
        help="Distances of all pairs of elements, separated by blanks or commas, instead of -H and "
             "-D.")
    node: str | None = flag(
        "--machine", metavar="FILE",
        help="A node, instead of -H: an XML file of hwloc (lstopo node.xml), or /sys. Elements are "
             "its cores. Default of -D: 1:10:100 ...")
    nodes: int | None = flag(type=click.IntRange(min=1), help="Number of such nodes. Default: 1.")

    @property
    def inputs(self) -> dict[str, str | None]:
        """Return the files that are read, by their options."""
        return {"matrix": self.matrix, "machine": self.node}


@dataclasses.dataclass(frozen=True)
class GivenMachine:
    """A machine; if a file describes it, also the levels inside a node and its CPUs."""

    topology: Topology
    node_levels: int | None = None
    cpus: Sequence[int] | None = None


machine_options = gathered("machine_given", MachineOptions)


def optional_topology(machine_given: MachineOptions) -> Topology | None:
    """Return the machine of the options, or None without any."""
    return None if machine_given == MachineOptions() else machine_of(machine_given).topology


def machine_of(machine_given: MachineOptions) -> GivenMachine:
    """Return the machine of the options.

    Raises
    ------
    click.UsageError
        If they do not describe a machine.
    """
    from portpart.graphs import Topology
    from portpart.io import read_machine

    ways = [machine_given.hierarchy, machine_given.matrix, machine_given.node]
    if sum(way is not None for way in ways) > 1 or (machine_given.matrix
                                                    and machine_given.distances):
        raise click.UsageError("--matrix replaces -H and -D, and --machine replaces -H; pass one "
                               "or the other")
    if machine_given.nodes is not None and machine_given.node is None:
        raise click.UsageError("--nodes is for --machine; the outermost level of -H is the number "
                               "of nodes")
    if machine_given.node is not None:
        found = read_machine(machine_given.node, nodes=machine_given.nodes or 1,
                             distances=machine_given.distances)
        return GivenMachine(found.topology, found.node_levels, found.cpus)
    if machine_given.matrix is not None:
        return GivenMachine(_of_matrix(machine_given.matrix))
    if machine_given.hierarchy is None or machine_given.distances is None:
        raise click.UsageError("the machine is missing; pass -H and -D, --machine, or --matrix")
    return GivenMachine(Topology(machine_given.hierarchy, machine_given.distances))


def _of_matrix(name: str) -> Topology:
    from portpart.graphs import Topology

    table = read_table(name)
    try:
        return Topology.from_matrix(table)
    except ValueError as problem:
        raise click.UsageError(f"{name}: {problem}") from None
