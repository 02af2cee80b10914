"""``portpart partition-edges``: divide the edges of a graph and write the block of every edge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from portpart.cli import files, options
from portpart.cli.output import grouped
from portpart.cli.results import print_result, shown


@click.command("partition-edges")
@options.graph_argument
@options.of_call("k")
@click.option("-o", "--output", metavar="FILE", help="Write one block per line.")
@options.of_call(
    "imbalance", "target", "fixed", "initial", "min_block_weight", "algorithm", "preset", "device",
    "seed", "threads", "starts", "time_limit", "rounds", fixed={
        "help": "Fixed block of each edge, -1 for free edges. A block per line; or lines of an "
                "edge (from 1) and a block."})
@click.option("--ends", is_flag=True,
              help="Write both ends of each edge before its block, counted from 1.")
@click.option("--names", is_flag=True,
              help="The same with their names (for netlists, edge lists, tables with titles).")
@options.reading_options
@options.json_option
@options.quiet_option
def command(
    graph: str, k: int, output: str | None, fixed: str | None, initial: str | None,
    ends: bool, names: bool, reading: options.ReadingOptions, as_json: bool, quiet: bool,
    **settings: Any,
) -> int:  # fmt: skip
    """Partition the edges of GRAPH into k blocks of nearly equal weight: a vertex cut.

    A vertex has a copy in each block that has an edge of it; the number of copies is minimised, or
    their weight if vertices have weights. Edges are numbered by the rows of the graph: those of
    vertex 1, then those of vertex 2 to later ones, and so on. The exit code is 1 if a block exceeds
    its weight limit.
    """
    files.check_call(settings, output, as_json, (graph, fixed, initial), GRAPH=graph, fixed=fixed,
                     initial=initial)
    # only a command that partitions imports the library
    from portpart.api import partition_edges

    with shown(quiet) as display:
        loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
        sizes = files.sizes_of(loaded)
        if "num_edges" not in sizes:
            raise click.UsageError(f"{graph} is a hypergraph, which has no edges to divide")
        given = files.read_constraints(fixed, initial, sizes["num_edges"], k=k, of_edges=True)
        with display.calling() as progress:
            result = partition_edges(loaded, k, progress=progress, **given, **settings)
    if output:
        replace(result, labels=vertex_names).save(output, ends or names)
    report = {"graph": graph, **sizes, "read_seconds": display.read_seconds,
              "output": output, "fixed": fixed, "initial": initial, **settings}
    copies = int(result.copies.sum())
    return print_result(
        result, report, as_json, "blocks",
        {"replication_factor": result.replication_factor, "copies": copies},
        {"copies": f"{grouped(copies)}, replication factor {result.replication_factor:.4f}"},
        to_stderr=output == files.STANDARD)
