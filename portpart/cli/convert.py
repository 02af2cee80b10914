"""``portpart convert``: rewrite a graph in another format."""

from __future__ import annotations

import click

from portpart.cli import files, options


@click.command("convert")
@options.graph_argument
@click.argument("output", metavar="OUTPUT")
@options.symmetrize_option
@options.format_option
@click.option("--to", "output_format", metavar="NAME", help="Format of OUTPUT.")
def command(
    graph: str, output: str, symmetrize: bool, file_format: str | None, output_format: str | None
) -> None:
    """Rewrite GRAPH as OUTPUT; both formats follow from the names unless given.

    Names may end in .gz or .xz: portpart convert road.gr.gz road.graph
    """
    loaded = files.read_graph(graph, file_format, symmetrize)
    files.write_graph(loaded, output, output_format)
