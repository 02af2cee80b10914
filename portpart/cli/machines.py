"""Options that describe a machine, and the machine that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from portpart.cli.options import Function

if TYPE_CHECKING:
    from portpart.graphs.topology import Topology

_MACHINE = (
    click.option("-H", "--hierarchy", metavar="4:8:6",
                 help="Elements per processor, processors per node, ..., innermost level first."),
    click.option("-D", "--distances", metavar="1:10:100",
                 help="Distance of elements in a common processor, node, ... for each level."),
    click.option("--matrix", metavar="FILE",
                 help="Distances of all pairs of elements, separated by blanks or commas, instead "
                      "of -H and -D."),
)


def machine_options(function: Function) -> Function:
    """Add the options that `topology` takes."""
    for option in reversed(_MACHINE):
        function = option(function)
    return function


def topology_if_told(hierarchy: str | None, distances: str | None,
                     matrix: str | None) -> Topology | None:
    """The machine of the options, None without any."""
    told = (hierarchy, distances, matrix) != (None, None, None)
    return topology(hierarchy, distances, matrix) if told else None


def topology(hierarchy: str | None, distances: str | None, matrix: str | None) -> Topology:
    """The machine of the options.

    Raises
    ------
    click.UsageError
        If they do not tell one.
    """
    from portpart.cli.tables import read_table
    from portpart.graphs.topology import Topology

    if matrix is None:
        if hierarchy is None or distances is None:
            raise click.UsageError("the machine is missing; pass -H and -D, or --matrix")
        return Topology(hierarchy, distances)
    if hierarchy is not None or distances is not None:
        raise click.UsageError("--matrix replaces -H and -D; pass one or the other")
    table = read_table(matrix)
    try:
        return Topology.from_matrix(table)
    except ValueError as problem:
        raise click.UsageError(f"{matrix}: {problem}") from None
