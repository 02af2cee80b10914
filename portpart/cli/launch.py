"""Options that write files for launchers: rankfiles, SLURM_HOSTFILE, MPICH_RANK_ORDER."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from portpart.cli.options import flag, gathered

if TYPE_CHECKING:
    from portpart.cli.machines import GivenMachine
    from portpart.graphs import Blocks

FILES = "--rankfile, --slurm-hostfile and --rank-order"


@dataclasses.dataclass(frozen=True)
class LaunchOptions:
    """The values of the options."""

    rankfile: str | None = flag(metavar="FILE", help="Write an MPI rankfile: vertex i is rank i.")
    slurm_hostfile: str | None = flag(
        metavar="FILE", help="Write a SLURM_HOSTFILE for srun --distribution=arbitrary.")
    rank_order: str | None = flag(
        metavar="FILE",
        help="Write an MPICH_RANK_ORDER file, for MPICH_RANK_REORDER_METHOD=3.")
    hosts: str | None = flag(
        metavar="FILE",
        help="Nodes of the rankfile: a hostfile of Open MPI (node01 slots=4), MPICH or Intel MPI "
             "(node01:4), names, or a Slurm node list. Default: +n0 ..., the nodes of the job's "
             "allocation (Open MPI inside a job only).")
    nodelist: str | None = flag(
        metavar="LIST",
        help='The same as a Slurm node list: "$SLURM_JOB_NODELIST" or node[01-04,07].')
    node_levels: int | None = flag(
        type=click.IntRange(min=0),
        help="Number of levels inside a node of the rankfile. Default: 2, or those of --machine.")
    oversubscribe: bool = flag(
        is_flag=True, default=False, help="Allow several ranks of the rankfile on one element.")

    @property
    def files(self) -> dict[str, str]:
        """Return the files to write, by their options."""
        named = {"rankfile": self.rankfile, "slurm_hostfile": self.slurm_hostfile,
                 "rank_order": self.rank_order}
        return {what: name for what, name in named.items() if name is not None}


launch_options = gathered("launch", LaunchOptions)


def checked_hosts(launch: LaunchOptions, machine: GivenMachine) -> list[str] | None:
    """Return the names of the nodes. Options for files are checked before the work.

    Raises
    ------
    click.UsageError
        If an option cannot be combined with the others.
    """
    from portpart.io import expand_nodelist, read_hosts
    from portpart.io.rankfile import nodes_of

    if launch.hosts is not None and launch.nodelist is not None:
        raise click.UsageError("--nodelist replaces --hosts; pass one or the other")
    if not launch.files:
        if (launch.hosts, launch.nodelist, launch.node_levels) != (None, None, None):
            raise click.UsageError(f"--hosts, --nodelist and --node-levels are for {FILES}")
        if launch.oversubscribe:
            raise click.UsageError(f"--oversubscribe is for {FILES}")
        return None
    if launch.rank_order and launch.oversubscribe:
        raise click.UsageError("--oversubscribe does not go with --rank-order: a slot has one rank")
    if launch.slurm_hostfile and launch.hosts is None and launch.nodelist is None:
        raise click.UsageError("--slurm-hostfile needs the names of the nodes: pass --hosts, or "
                               '--nodelist "$SLURM_JOB_NODELIST"')
    listed = (read_hosts(launch.hosts) if launch.hosts is not None else
              None if launch.nodelist is None else expand_nodelist(launch.nodelist))
    return nodes_of(machine.topology, listed, _node_levels(launch, machine)).names


def write_files(launch: LaunchOptions, machine: GivenMachine, part: Blocks,
                hosts: list[str] | None) -> dict[str, str]:
    """Write the files; return additional options for a launcher."""
    from portpart import io

    inside = _node_levels(launch, machine)
    settings = {}
    if launch.rankfile:
        io.write_rankfile(part, machine.topology, launch.rankfile, hosts=hosts, node_levels=inside,
                          oversubscribe=launch.oversubscribe)
    if launch.slurm_hostfile:
        binding = io.write_slurm_hostfile(
            part, machine.topology, launch.slurm_hostfile, hosts=hosts or [], node_levels=inside,
            cpus=machine.cpus, oversubscribe=launch.oversubscribe)
        settings["srun"] = f"--distribution=arbitrary{_option(binding)}"
    if launch.rank_order:
        binding = io.write_rank_order(part, machine.topology, launch.rank_order,
                                      node_levels=inside, cpus=machine.cpus)
        settings["MPICH"] = f"MPICH_RANK_REORDER_METHOD=3{_option(binding)}"
    return settings


def _option(binding: str | None) -> str:
    return f" --cpu-bind={binding}" if binding else ", and cores that differ from node to node"


def _node_levels(launch: LaunchOptions, machine: GivenMachine) -> int | None:
    return machine.node_levels if launch.node_levels is None else launch.node_levels
