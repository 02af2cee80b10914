"""``portpart repartition``: improve an old partition with low migration volume."""

from __future__ import annotations

import time
from typing import Any

import click

from portpart.api.progress import phase_display
from portpart.cli import files, options
from portpart.cli.exits import INFEASIBLE, OK
from portpart.cli.output import grouped, libraries_on_stderr, print_facts, print_json
from portpart.cli.results import as_facts, as_object
from portpart.options import whole_number


@click.command("repartition")
@options.graph_argument
@click.argument("old", metavar="OLD")
@click.option("-k", "k", type=click.IntRange(min=1), required=True, help="Number of blocks.")
@click.option("-o", "--output", metavar="FILE", help="Write one block per line.")
@click.option("--migration", default="1", show_default=True, metavar="FACTOR",
              help="Migration cost factor: cost of moving a vertex of size 1, in edge or net "
                   "weight.")
@click.option("--max-migration", metavar="SIZE",
              help="Limit of the migration volume: a size, or a share of all sizes as 10%.")
@options.imbalance_option
@options.target_option
@options.fixed_option
@options.min_block_weight_option
@options.objective_option
@click.option("--preset", default="default", show_default=True,
              help="fast, default, strong, best.")
@options.device_option
@options.seed_option
@options.threads_option
@options.time_limit_option
@options.names_option
@options.reading_options
@options.json_option
@options.quiet_option
def command(
    graph: str, old: str, k: int, output: str | None, fixed: str | None, names: bool,
    max_migration: str | None, reading: files.ReadingOptions, as_json: bool, quiet: bool,
    **settings: Any,
) -> int:  # fmt: skip
    """Partition GRAPH into k blocks, starting from the partition OLD, with low migration volume.

    OLD has one block per line, -1 for a new vertex; its number of blocks may differ from k.  The
    exit code is 1 if a block exceeds its weight limit.
    """
    if as_json and output == files.STANDARD:
        raise click.UsageError("--json and -o - both write to standard output; pass one of them")
    files.one_standard_input(GRAPH=graph, OLD=old, fixed=fixed, target=settings["target"])
    settings["target"] = files.read_shares(settings["target"])
    files.check_output(output, graph, fixed)
    # only a command that partitions pays for importing the library
    from portpart.api.repartition import repartition

    with phase_display(quiet) as progress:
        if progress:
            progress("reading", 0, 0)
        begin = time.perf_counter()
        loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
        given = files.read_constraints(fixed, None, loaded.num_vertices, vertex_names)
        del given["initial"]
        part = files.read_partition(old, loaded.num_vertices, vertex_names, free=True)
        read_seconds = time.perf_counter() - begin
        with libraries_on_stderr():
            result = repartition(loaded, part, k, progress=progress,
                                 max_migration=_limit(max_migration), **given, **settings)
    if output:
        files.write_partition(result.part, output, vertex_names)
    report = {
        "graph": graph, "old": old, **files.sizes_of(loaded), "read_seconds": read_seconds,
        "output": output, "fixed": fixed, "max_migration": max_migration, **settings,
    }  # fmt: skip
    price = float(result.price)  # JSON has no fractions
    if as_json:
        report["requested_migration"] = report.pop("migration")
        print_json(as_object(result, report, moved=result.moved, migration=result.migration,
                             price=price))
    else:
        moves = (f"{grouped(result.moved)} vertices, size {grouped(result.migration)}, at cost "
                 f"factor {price:g}")
        print_facts(as_facts(result, report, "blocks", moved=moves),
                    to_stderr=output == files.STANDARD)
    return OK if result.feasible else INFEASIBLE


def _limit(text: str | None) -> int | str | None:
    """Digits are a size, anything else is a share."""
    return whole_number("max_migration", text) if text and text.isdecimal() else text
