"""``portpart map``: assign the vertices of a graph to the processing elements of a machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from portpart.api.progress import phase_display
from portpart.cli import files, machines, options
from portpart.cli.exits import INFEASIBLE, OK
from portpart.cli.output import grouped, libraries_on_stderr, print_facts, print_json
from portpart.cli.results import as_facts, as_object

if TYPE_CHECKING:
    from portpart.graphs.topology import Topology


@click.command("map")
@options.graph_argument
@machines.machine_options
@click.option("-o", "--output", metavar="FILE", help="Write one element per line.")
@click.option("--rankfile", metavar="FILE", help="Write an MPI rankfile: vertex i is rank i.")
@click.option("--hosts", metavar="FILE",
              help="Nodes of the rankfile: a hostfile of Open MPI (node01 slots=4), MPICH or Intel "
                   "MPI (node01:4), names, or a Slurm node list. Default: +n0 ..., the nodes of "
                   "the job's allocation (Open MPI inside a job only).")
@click.option("--nodelist", metavar="LIST",
              help='The same as a Slurm node list: "$SLURM_JOB_NODELIST" or node[01-04,07].')
@click.option("--node-levels", type=click.IntRange(min=0),
              help="Number of levels inside a node of the rankfile. Default: 2.")
@click.option("--oversubscribe", is_flag=True,
              help="Allow several ranks of the rankfile on one element.")
@options.imbalance_option
@options.target_option
@options.fixed_option
@options.initial_option
@click.option("--algorithm", cls=options.ToldLater, tell=options.algorithms, task="map")
@click.option("--preset", default="default", show_default=True, cls=options.ToldLater,
              tell=options.presets, task="map")
@click.option("--swaps/--no-swaps", default=None,
              help="Whether blocks swap places at the end. Default: that of the preset.")
@options.device_option
@options.seed_option
@options.threads_option
@options.starts_option
@options.time_limit_option
@options.reading_options
@options.json_option
@options.quiet_option
def command(
    graph: str, hierarchy: str | None, distances: str | None, matrix: str | None,
    output: str | None, rankfile: str | None, hosts: str | None, nodelist: str | None,
    node_levels: int | None, oversubscribe: bool, fixed: str | None, initial: str | None,
    reading: files.Reading, as_json: bool, quiet: bool, **settings: Any,
) -> int:  # fmt: skip
    """Map the vertices of GRAPH to processing elements with a small communication cost J.

    J is the sum of weight times distance over all edges, each edge once.  Elements are numbered
    with the innermost level varying fastest.
    """
    if output is not None and output == rankfile != files.STANDARD:
        raise click.UsageError(f"-o and --rankfile are the same file, {output}")
    files.one_standard_input(GRAPH=graph, matrix=matrix, hosts=hosts, fixed=fixed, initial=initial,
                             target=settings["target"])
    settings["target"] = files.read_shares(settings["target"])
    if [as_json, output == files.STANDARD, rankfile == files.STANDARD].count(True) > 1:
        raise click.UsageError("only one of --json, -o - and --rankfile - can have standard output")
    for name in (output, rankfile):
        files.check_output(name, graph, matrix, hosts, fixed)
    # only a command that maps pays for importing the library
    from portpart import io
    from portpart.api.map_processes import map_processes
    from portpart.io.rankfile import refuse_crowd

    files.refuse_nets(graph, reading)
    topology = machines.topology(hierarchy, distances, matrix)
    if oversubscribe and rankfile is None:
        raise click.UsageError("--oversubscribe is for --rankfile")
    names = _host_names(topology, rankfile, hosts, nodelist, node_levels)
    with phase_display(quiet) as progress:
        if progress:
            progress("reading", 0, 0)
        begin = time.perf_counter()
        loaded = files.read_graph(graph, reading)
        given = files.read_constraints(fixed, initial, loaded.num_vertices)
        read_seconds = time.perf_counter() - begin
        if rankfile and not oversubscribe:
            refuse_crowd(loaded.num_vertices, topology.num_elements)
        with libraries_on_stderr():
            result = map_processes(loaded, topology=topology, progress=progress,
                                   **given, **settings)
    if output:
        files.write_partition(result.part, output)
    if rankfile:
        io.write_rankfile(result.part, topology, rankfile, hosts=names, node_levels=node_levels,
                          oversubscribe=oversubscribe)
    report = {
        "graph": graph, **files.sizes_of(loaded), "read_seconds": read_seconds,
        "hierarchy": hierarchy, "distances": distances,
        "matrix": matrix, "output": output, "rankfile": rankfile,
        "fixed": fixed, "initial": initial, **settings,
    }
    if as_json:
        print_json(as_object(result, report, cost=result.cost, level_costs=result.level_costs))
    else:
        levels = " + ".join(grouped(cost) for cost in result.level_costs)
        facts = as_facts(result, report, "elements",
                         cost=f"{grouped(result.cost)} (by level: {levels})")
        print_facts(facts, to_stderr=files.STANDARD in (output, rankfile))
    return OK if result.feasible else INFEASIBLE


def _host_names(topology: Topology, rankfile: str | None, hosts: str | None, nodelist: str | None,
                node_levels: int | None) -> list[str] | None:
    """Names of the nodes.  What the rankfile is to look like is checked before the work."""
    from portpart.io.hostfile import expand_nodelist, read_hosts
    from portpart.io.rankfile import nodes_of

    if hosts is not None and nodelist is not None:
        raise click.UsageError("--nodelist replaces --hosts; pass one or the other")
    if rankfile is None and (hosts, nodelist, node_levels) != (None, None, None):
        raise click.UsageError("--hosts, --nodelist and --node-levels are for --rankfile")
    if rankfile is None:
        return None
    if hosts is not None:
        return nodes_of(topology, read_hosts(hosts), node_levels).names
    listed = None if nodelist is None else expand_nodelist(nodelist)
    return nodes_of(topology, listed, node_levels).names
