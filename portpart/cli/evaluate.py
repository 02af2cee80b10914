"""``portpart evaluate``: measure any partition."""

from __future__ import annotations

from typing import Any

import click

from portpart.cli import files, machines, options
from portpart.cli.output import INFEASIBLE, OK, print_facts, print_json


@click.command("evaluate")
@options.graph_argument
@click.argument("part", metavar="PART")
@options.of_call("k", "imbalance", "target", k={
    "required": False, "help": "Default: largest block number + 1."})
@click.option("--edges", is_flag=True, help="PART has the block of each edge: a vertex cut.")
@machines.machine_options
@options.names_option
@options.reading_options
@options.json_option
def command(
    graph: str, part: str, k: int | None, imbalance: float, target: str | None,
    edges: bool, machine_given: machines.MachineOptions, names: bool,
    reading: options.ReadingOptions, as_json: bool,
) -> int:  # fmt: skip
    """Evaluate the partition PART (one block per line) of GRAPH, or with --edges of its edges.

    With -H and -D, --machine or --matrix, blocks are elements of a machine, and the communication
    cost is also reported. The exit code is 1 if a block exceeds its weight limit.
    """
    from portpart import metrics
    from portpart.metrics.quality import cost_facts

    files.one_standard_input(GRAPH=graph, PART=part, target=target, **machine_given.inputs)
    shares = files.read_shares(target)
    machine = machines.optional_topology(machine_given)
    k = machine.num_elements if machine is not None and k is None else k
    if edges and (machine is not None or names):
        raise click.UsageError("--edges goes with no machine, and with no --names")
    loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
    if machine is not None and hasattr(loaded, "num_nets"):
        raise click.UsageError("-H, -D, --machine and --matrix are for graphs; the communication "
                               "cost of a hypergraph is not defined")
    sizes = files.sizes_of(loaded)
    if edges and "num_edges" not in sizes:
        raise click.UsageError("--edges is for graphs: a hypergraph has no edges")
    count = sizes["num_edges" if edges else "num_vertices"]
    blocks = files.read_partition(part, count, vertex_names, k=k, of_edges=edges)
    evaluate = metrics.evaluate_edges if edges else metrics.evaluate
    evaluation: Any = evaluate(loaded, blocks, k, shares)
    feasible = evaluation.is_balanced(imbalance)
    costs = None if machine is None else metrics.level_costs(loaded, blocks, machine)
    if as_json:
        requested = {"requested_imbalance": imbalance, "target": shares}
        cost = {} if costs is None else {"cost": sum(costs.tolist()), "level_costs": costs}
        print_json(evaluation.as_dict() | cost | {"feasible": feasible} | requested)
    else:
        cost = {} if costs is None else cost_facts(costs)
        verdict = f"{'kept' if feasible else 'NOT kept'} (imbalance at most {imbalance:g})"
        print_facts({**evaluation.facts(), **cost, "balance": verdict})
    return OK if feasible else INFEASIBLE
