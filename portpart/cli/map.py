"""``portpart map``: assign the vertices of a graph to the processing elements of a machine."""

from __future__ import annotations

import time
from typing import Any

import click

from portpart.api.progress import phase_display
from portpart.cli import files, machines, options
from portpart.cli import launch as launching
from portpart.cli.exits import INFEASIBLE, OK
from portpart.cli.output import grouped, libraries_on_stderr, print_facts, print_json
from portpart.cli.results import as_facts, as_object


@click.command("map")
@options.graph_argument
@machines.machine_options
@click.option("-o", "--output", metavar="FILE", help="Write one element per line.")
@launching.launch_options
@options.imbalance_option
@options.target_option
@options.fixed_option
@options.initial_option
@click.option("--algorithm", cls=options.LazyHelp, describe=options.algorithms, task="map")
@click.option("--preset", default="default", show_default=True, cls=options.LazyHelp,
              describe=options.presets, task="map")
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
    graph: str, machine_given: machines.MachineOptions, output: str | None,
    launch: launching.LaunchOptions,
    fixed: str | None, initial: str | None, reading: files.ReadingOptions, as_json: bool,
    quiet: bool, **settings: Any,
) -> int:  # fmt: skip
    """Map the vertices of GRAPH to processing elements with a small communication cost J.

    J is the sum of weight times distance over all edges, each edge once.  Elements are numbered
    with the innermost level varying fastest.
    """
    _check_files(graph, machine_given, output, launch, as_json,
                 {"fixed": fixed, "initial": initial, "target": settings["target"]})
    settings["target"] = files.read_shares(settings["target"])
    # only a command that maps pays for importing the library
    from portpart.api.map_processes import map_processes
    from portpart.io.rankfile import refuse_crowd

    files.refuse_nets(graph, reading)
    machine = machines.machine_of(machine_given)
    hosts = launching.checked_hosts(launch, machine)
    with phase_display(quiet) as progress:
        if progress:
            progress("reading", 0, 0)
        begin = time.perf_counter()
        loaded = files.read_graph(graph, reading)
        given = files.read_constraints(fixed, initial, loaded.num_vertices)
        read_seconds = time.perf_counter() - begin
        if launch.files and not launch.oversubscribe:
            refuse_crowd(loaded.num_vertices, machine.topology.num_elements)
        with libraries_on_stderr():
            result = map_processes(loaded, topology=machine.topology, progress=progress,
                                   **given, **settings)
    if output:
        files.write_partition(result.part, output)
    advice = launching.write_files(launch, machine, result.part, hosts)
    report = {
        "graph": graph, **files.sizes_of(loaded), "read_seconds": read_seconds,
        "hierarchy": machine_given.hierarchy, "distances": machine_given.distances,
        "matrix": machine_given.matrix,
        "machine": machine_given.node, "nodes": machine_given.nodes, "output": output,
        "rankfile": launch.rankfile,
        "slurm_hostfile": launch.slurm_hostfile, "rank_order": launch.rank_order, "launch": advice,
        "fixed": fixed, "initial": initial, **settings,
    }
    if as_json:
        print_json(as_object(result, report, cost=result.cost, level_costs=result.level_costs))
    else:
        levels = " + ".join(grouped(cost) for cost in result.level_costs)
        facts = as_facts(result, report, "elements",
                         cost=f"{grouped(result.cost)} (by level: {levels})")
        print_facts(facts | advice,
                    to_stderr=files.STANDARD in (output, *launch.files.values()))
    return OK if result.feasible else INFEASIBLE


def _check_files(graph: str, machine_given: machines.MachineOptions, output: str | None,
                 launch: launching.LaunchOptions, as_json: bool,
                 others: dict[str, str | None]) -> None:
    """Refuse, before any work, files that are read or written twice."""
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
