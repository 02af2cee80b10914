"""``portpart repartition``: improve an old partition with low migration volume."""

from __future__ import annotations

from typing import Any

import click

from portpart.cli import files, options
from portpart.cli.output import grouped
from portpart.cli.results import print_result, shown
from portpart.options import whole_number


@click.command("repartition")
@options.graph_argument
@click.argument("old", metavar="OLD")
@options.of_call("k")
@click.option("-o", "--output", metavar="FILE", help="Write one block per line.")
@options.of_call("migration", "max_migration", "imbalance", "target", "fixed", "min_block_weight",
                 "objective", "preset", "device", "seed", "threads", "time_limit",
                 preset={"help": "fast, default, strong, best."})
@options.names_option
@options.reading_options
@options.json_option
@options.quiet_option
def command(
    graph: str, old: str, k: int, output: str | None, fixed: str | None, names: bool,
    max_migration: str | None, reading: options.ReadingOptions, as_json: bool, quiet: bool,
    **settings: Any,
) -> int:  # fmt: skip
    """Partition GRAPH into k blocks, starting from the partition OLD, with low migration volume.

    OLD has one block per line, -1 for a new vertex; its number of blocks may differ from k.  The
    exit code is 1 if a block exceeds its weight limit.
    """
    files.check_call(settings, output, as_json, (graph, fixed), GRAPH=graph, OLD=old, fixed=fixed)
    # only a command that partitions imports the library
    from portpart.api import repartition

    with shown(quiet) as display:
        loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
        given = files.read_constraints(fixed, None, loaded.num_vertices, vertex_names)
        del given["initial"]
        part = files.read_partition(old, loaded.num_vertices, vertex_names, free=True)
        # digits are a size, other text is a share
        limit = (whole_number("max_migration", max_migration)
                 if max_migration and max_migration.isdecimal() else max_migration)
        with display.calling() as progress:
            result = repartition(loaded, part, k, progress=progress, max_migration=limit,
                                 **given, **settings)
    if output:
        files.write_partition(result.part, output, vertex_names)
    report = {
        "graph": graph, "old": old, **files.sizes_of(loaded), "read_seconds": display.read_seconds,
        "output": output, "fixed": fixed, "max_migration": max_migration, **settings,
    }  # fmt: skip
    report["requested_migration"] = report.pop("migration")
    price = float(result.price)  # JSON has no fractions
    moves = (f"{grouped(result.moved)} vertices, size {grouped(result.migration)}, at cost factor "
             f"{price:g}")
    return print_result(result, report, as_json, "blocks",
                       {"moved": result.moved, "migration": result.migration, "price": price},
                       {"moved": moves}, to_stderr=output == files.STANDARD)
