"""``portpart report``: a page about a partition, with its numbers and pictures."""

from __future__ import annotations

import shlex

import click

from portpart.cli import files, machines, options
from portpart.cli.output import INFEASIBLE, OK


class Remembering(click.Command):
    """A command that stores its arguments as written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = list(args)
        return super().parse_args(ctx, args)


@click.command("report", cls=Remembering)
@options.graph_argument
@click.argument("part", metavar="PART")
@click.option("-o", "--output", metavar="FILE", default="report.html", show_default=True,
              help="File of the page.")
@click.option("--points", metavar="FILE",
              help="Coordinates of the vertices, or of the nodes of a mesh: two or three numbers "
                   "per line, or an .npy file. Default: those in a mesh file of meshio.")
@options.of_call("k", "imbalance", "target", k={
    "required": False, "help": "Default: largest block number + 1."})
@machines.machine_options
@click.option("--title", help="Title of the page. Default: the number of blocks.")
@click.option("--made-by", multiple=True, metavar="COMMAND",
              help="Command that made the partition; shown at the end.")
@options.names_option
@options.reading_options
def command(
    graph: str, part: str, output: str, points: str | None, k: int | None, imbalance: float,
    target: str | None, machine_given: machines.MachineOptions,
    title: str | None, made_by: tuple[str, ...], names: bool, reading: options.ReadingOptions,
) -> int:  # fmt: skip
    """Write an HTML page about the partition PART (one block per line) of GRAPH.

    The page has metrics of the partition and of each block, and pictures, which need Matplotlib:
    pip install 'portpart[plot]'. With -H and -D, --machine or --matrix, blocks are elements of a
    machine; hypergraphs have no communication cost. The exit code is 1 if a block exceeds its
    weight limit.
    """
    files.one_standard_input(GRAPH=graph, PART=part, points=points, target=target,
                             **machine_given.inputs)
    shares = files.read_shares(target)
    files.check_output(output, graph, part, points, *machine_given.inputs.values())
    from portpart.cli.machines import read_points
    from portpart.formats.text import write_chunks
    from portpart.plot.report_data import report_data
    from portpart.plot.reports import page_about

    machine = machines.optional_topology(machine_given)
    loaded, vertex_names = files.read_graph_and_names(graph, reading, names)
    k = machine.num_elements if machine is not None and k is None else k
    blocks = files.read_partition(part, loaded.num_vertices, vertex_names, k=k)
    places = None if points is None else read_points(points)
    mesh = files.read_mesh(graph, reading, points is not None)
    found = report_data(loaded, blocks, k, imbalance, shares, machine)
    own = shlex.join(["portpart", "report", *click.get_current_context().obj])
    text = page_about(found, points=places, mesh=mesh, title=title, commands=[*made_by, own])
    write_chunks(output, [text.encode()])
    return OK if found.feasible else INFEASIBLE
