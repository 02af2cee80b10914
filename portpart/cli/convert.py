"""``portpart convert``: rewrite a graph in another format."""

from __future__ import annotations

import click

from portpart.cli import files, options


@click.command("convert")
@options.graph_argument
@click.argument("output", metavar="OUTPUT")
@options.reading_options
@click.option("--to", "output_format", metavar="NAME", help="Format of OUTPUT.")
def command(
    graph: str, output: str, reading: files.Reading, output_format: str | None
) -> None:
    """Rewrite GRAPH as OUTPUT; both formats follow from the names unless given.

    Names may end in .gz or .xz: portpart convert road.gr.gz road.graph
    """
    loaded = files.read_graph(graph, reading)
    files.write_graph(loaded, output, output_format)
