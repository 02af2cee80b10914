"""``portpart map``: assign the vertices of a graph to the processing elements of a machine."""

from __future__ import annotations

from typing import Any

import click

from portpart.cli import files, launch as launching, machines, options
from portpart.cli.output import grouped
from portpart.cli.results import print_result, shown


@click.command("map")
@options.graph_argument
@machines.machine_options
@click.option("-o", "--output", metavar="FILE", help="Write one element per line.")
@launching.launch_options
@options.of_call("imbalance", "target", "fixed", "initial", "algorithm", "preset", "swaps",
                 "device", "seed", "threads", "starts", "time_limit", task="map")
@options.reading_options
@options.json_option
@options.quiet_option
def command(
    graph: str, machine_given: machines.MachineOptions, output: str | None,
    launch: launching.LaunchOptions,
    fixed: str | None, initial: str | None, reading: options.ReadingOptions, as_json: bool,
    quiet: bool, **settings: Any,
) -> int:  # fmt: skip
    """Map the vertices of GRAPH to processing elements with a small communication cost J.

    J is the sum of weight times distance over all edges, each edge once.  Elements are numbered
    with the innermost level varying fastest.
    """
    _check_files(graph, machine_given, output, launch, as_json,
                 {"fixed": fixed, "initial": initial, "target": settings["target"]})
    settings["target"] = files.read_shares(settings["target"])
    # only a command that maps imports the library
    from portpart.api import map_processes
    from portpart.io.rankfile import refuse_crowd

    files.refuse_nets(graph, reading)
    machine = machines.machine_of(machine_given)
    hosts = launching.checked_hosts(launch, machine)
    with shown(quiet) as display:
        loaded = files.read_graph(graph, reading)
        given = files.read_constraints(fixed, initial, loaded.num_vertices)
        if launch.files and not launch.oversubscribe:
            refuse_crowd(loaded.num_vertices, machine.topology.num_elements)
        with display.calling() as progress:
            result = map_processes(loaded, topology=machine.topology, progress=progress,
                                   **given, **settings)
    if output:
        files.write_partition(result.part, output)
    advice = launching.write_files(launch, machine, result.part, hosts)
    report = {
        "graph": graph, **files.sizes_of(loaded), "read_seconds": display.read_seconds,
        "hierarchy": machine_given.hierarchy, "distances": machine_given.distances,
        "matrix": machine_given.matrix, "machine": machine_given.node,
        "nodes": machine_given.nodes, "output": output, "rankfile": launch.rankfile,
        "slurm_hostfile": launch.slurm_hostfile, "rank_order": launch.rank_order, "launch": advice,
        "fixed": fixed, "initial": initial, **settings,
    }
    levels = " + ".join(grouped(cost) for cost in result.level_costs)
    return print_result(result, report, as_json, "elements",
                       {"cost": result.cost, "level_costs": result.level_costs},
                       {"cost": f"{grouped(result.cost)} (by level: {levels})"},
                       to_stderr=files.STANDARD in (output, *launch.files.values()), advice=advice)


def _check_files(graph: str, machine_given: machines.MachineOptions, output: str | None,
                 launch: launching.LaunchOptions, as_json: bool,
                 others: dict[str, str | None]) -> None:
    """Raise an error, before any work, for files that are read or written twice."""
    written = {f"--{what.replace('_', '-')}": name for what, name in launch.files.items()}
    if output is not None:
        written = {"-o": output, **written}
    first: dict[str, str] = {}
    for option, name in written.items():
        if first.setdefault(name, option) != option and name != files.STANDARD:
            raise click.UsageError(f"{first[name]} and {option} are the same file, {name}")
    read = {**machine_given.inputs, "hosts": launch.hosts, **others}
    files.one_standard_input(GRAPH=graph, **read)
    if [as_json, *(name == files.STANDARD for name in written.values())].count(True) > 1:
        raise click.UsageError("only one of --json, -o - and --rankfile - can have standard output")
    read.pop("target")
    for name in written.values():
        files.check_output(name, graph, *read.values())
