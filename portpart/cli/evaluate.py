"""``portpart evaluate``: measure a partition, whoever made it."""

from __future__ import annotations

import click

from portpart.cli import files, options
from portpart.cli.exits import INFEASIBLE, OK
from portpart.cli.output import print_json


@click.command("evaluate")
@options.graph_argument
@click.argument("part", metavar="PART")
@click.option("-k", "k", type=click.IntRange(min=1), help="Default: largest block number + 1.")
@options.imbalance_option
@options.target_option
@options.names_option
@options.reading_options
@options.json_option
def command(
    graph: str, part: str, k: int | None, imbalance: float, target: list[str] | None,
    names: bool, reading: files.Reading, as_json: bool,
) -> int:  # fmt: skip
    """Measure the partition PART (one block number a line) of GRAPH.

    The exit code is 1 if a block is heavier than the imbalance allows.
    """
    from portpart import metrics

    loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
    blocks = files.read_partition(part, loaded.num_vertices, vertex_names)
    evaluation = metrics.evaluate(loaded, blocks, k, target)
    feasible = evaluation.is_balanced(imbalance)
    if as_json:
        asked = {"requested_imbalance": imbalance, "target": target}
        print_json(evaluation.as_dict() | {"feasible": feasible} | asked)
    else:
        click.echo(str(evaluation))
        verdict = "kept" if feasible else "NOT kept"
        click.echo(f"{'balance':<14}{verdict} (imbalance at most {imbalance:g})")
    return OK if feasible else INFEASIBLE
