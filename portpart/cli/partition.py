"""``portpart partition``: divide a graph and write the block of every vertex."""

from __future__ import annotations

import time
from typing import Any

import click

from portpart.api.progress import phase_display
from portpart.cli import files, options, ranks
from portpart.cli.exits import INFEASIBLE, OK
from portpart.cli.output import libraries_on_stderr, print_facts, print_json
from portpart.cli.results import as_facts, as_object


@click.command("partition")
@options.graph_argument
@click.option("-k", "k", type=click.IntRange(min=1), required=True, help="Number of blocks.")
@click.option("-o", "--output", metavar="FILE", help="Write one block per line.")
@options.imbalance_option
@options.target_option
@options.fixed_option
@options.initial_option
@options.min_block_weight_option
@options.objective_option
@click.option("--algorithm", cls=options.LazyHelp, describe=options.algorithms,
              task="partition")
@click.option("--preset", default="default", show_default=True, cls=options.LazyHelp,
              describe=options.presets, task="partition")
@options.device_option
@options.devices_option
@options.seed_option
@options.threads_option
@options.starts_option
@options.time_limit_option
@options.names_option
@options.reading_options
@options.json_option
@options.quiet_option
@click.option(ranks.ALONE, "alone", is_flag=True,
              help="Started by mpiexec or srun: each process does all of the work for itself.")
def command(
    graph: str, k: int, output: str | None, fixed: str | None, initial: str | None,
    names: bool, reading: files.ReadingOptions, as_json: bool, quiet: bool, alone: bool,
    **settings: Any,
) -> int:  # fmt: skip
    """Partition GRAPH, a graph or hypergraph, into k blocks of nearly equal weight.

    The objective (default: the cut, or km1) is minimised.  The same seed gives the same blocks on
    any number of threads and on a GPU.  The exit code is 1 if a block exceeds its weight limit, for
    example because a single vertex does.

    mpiexec -n 4 portpart partition ... has four processes partition GRAPH together; each of them
    reads a part of it.
    """
    if as_json and output == files.STANDARD:
        raise click.UsageError("--json and -o - both write to standard output; pass one of them")
    files.one_standard_input(GRAPH=graph, fixed=fixed, initial=initial, target=settings["target"])
    settings["target"] = files.read_shares(settings["target"])
    settings["devices"] = files.list_of_devices(settings["devices"])
    files.check_output(output, graph, fixed)
    if not alone and ranks.is_launched() and (comm := ranks.world()) is not None:
        from portpart.cli.rank_partition import partition_on_ranks, refuse_option

        for name, value in (("--names", names), ("--devices", settings.pop("devices"))):
            refuse_option(name, value)
        return partition_on_ranks(comm, graph, k, output, reading,
                                  {"fixed": fixed, "initial": initial}, settings, as_json, quiet)
    # only a command that partitions pays for importing the library
    from portpart.api.partition import partition

    with phase_display(quiet) as progress:
        if progress:
            progress("reading", 0, 0)
        begin = time.perf_counter()
        loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
        given = files.read_constraints(fixed, initial, loaded.num_vertices, vertex_names)
        read_seconds = time.perf_counter() - begin
        with libraries_on_stderr():
            result = partition(loaded, k, progress=progress, **given, **settings)
    if output:
        files.write_partition(result.part, output, vertex_names)
    report = {
        "graph": graph,
        **files.sizes_of(loaded),
        "read_seconds": read_seconds,
        "output": output,
        "fixed": fixed,
        "initial": initial,
        **settings,
    }
    if as_json:
        levels = len(result.stats.get("levels", []))
        print_json(as_object(result, report, num_levels=levels))
    else:
        print_facts(as_facts(result, report, "blocks"), to_stderr=output == files.STANDARD)
    return OK if result.feasible else INFEASIBLE
