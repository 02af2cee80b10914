"""Options that describe a machine, and the machine that they describe."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from portpart.cli.options import flag, gathered

if TYPE_CHECKING:
    from portpart.graphs.topology import Topology


@dataclasses.dataclass(frozen=True)
class MachineOptions:
    """The values of the options, None where nothing was said."""

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
        """The files that are read, by their options."""
        return {"matrix": self.matrix, "machine": self.node}


@dataclasses.dataclass(frozen=True)
class GivenMachine:
    """A machine; of one that a file describes, the levels inside a node and its CPUs."""

    topology: Topology
    node_levels: int | None = None
    cpus: Sequence[int] | None = None


machine_options = gathered("machine_given", MachineOptions)


def optional_topology(machine_given: MachineOptions) -> Topology | None:
    """The machine of the options, None without any."""
    return None if machine_given == MachineOptions() else machine_of(machine_given).topology


def machine_of(machine_given: MachineOptions) -> GivenMachine:
    """The machine of the options.

    Raises
    ------
    click.UsageError
        If they do not describe one.
    """
    from portpart.graphs.topology import Topology
    from portpart.io.machine import read_machine

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
    from portpart.cli.tables import read_table
    from portpart.graphs.topology import Topology

    table = read_table(name)
    try:
        return Topology.from_matrix(table)
    except ValueError as problem:
        raise click.UsageError(f"{name}: {problem}") from None
