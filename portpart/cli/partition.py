"""``portpart partition``: divide a graph and write the block of every vertex."""

from __future__ import annotations

from typing import Any

import click

from portpart.cli import files, options
from portpart.cli.output import ALONE, is_launched, world
from portpart.cli.results import print_result, shown


@click.command("partition")
@options.graph_argument
@options.of_call("k")
@click.option("-o", "--output", metavar="FILE", help="Write one block per line.")
@options.of_call("imbalance", "target", "fixed", "initial", "min_block_weight", "objective",
                 "algorithm", "preset", "device", "devices", "seed", "threads", "starts",
                 "time_limit", "rounds")
@options.names_option
@options.reading_options
@options.json_option
@options.quiet_option
@click.option(ALONE, "alone", is_flag=True,
              help="Started by mpiexec or srun: each process does all of the work for itself.")
def command(
    graph: str, k: int, output: str | None, fixed: str | None, initial: str | None,
    names: bool, reading: options.ReadingOptions, as_json: bool, quiet: bool, alone: bool,
    **settings: Any,
) -> int:  # fmt: skip
    """Partition GRAPH, a graph or hypergraph, into k blocks of nearly equal weight.

    The objective (default: the cut, or km1) is minimised.  The same seed gives the same blocks on
    any number of threads and on a GPU.  The exit code is 1 if a block exceeds its weight limit, for
    example because a single vertex does.

    mpiexec -n 4 portpart partition ... has four processes partition GRAPH together; each of them
    reads a part of it.
    """
    files.check_call(settings, output, as_json, (graph, fixed), GRAPH=graph, fixed=fixed,
                     initial=initial)
    settings["devices"] = files.list_of_devices(settings["devices"])
    if not alone and is_launched() and (comm := world()) is not None:
        from portpart.cli.rank_partition import partition_on_ranks, refuse_option

        for name, value in (("--names", names), ("--devices", settings.pop("devices"))):
            refuse_option(name, value)
        return partition_on_ranks(comm, graph, k, output, reading,
                                  {"fixed": fixed, "initial": initial}, settings, as_json, quiet)
    # only a command that partitions imports the library
    from portpart.api import partition

    with shown(quiet) as display:
        loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
        given = files.read_constraints(fixed, initial, loaded.num_vertices, vertex_names, k)
        with display.calling() as progress:
            result = partition(loaded, k, progress=progress, **given, **settings)
    if output:
        files.write_partition(result.part, output, vertex_names)
    report = {"graph": graph, **files.sizes_of(loaded), "read_seconds": display.read_seconds,
              "output": output, "fixed": fixed, "initial": initial, **settings}
    return print_result(result, report, as_json, "blocks",
                       {"num_levels": len(result.stats.get("levels", []))}, {},
                       to_stderr=output == files.STANDARD)
