"""``portpart convert``: convert a graph to another format."""

from __future__ import annotations

import click

from portpart.cli import files, options


@click.command("convert")
@options.graph_argument
@click.argument("output", metavar="OUTPUT")
@options.reading_options
@click.option("--to", "output_format", metavar="NAME", help="Format of OUTPUT.")
def command(graph: str, output: str, reading: options.ReadingOptions,
            output_format: str | None) -> None:
    """Convert GRAPH to OUTPUT; the format of OUTPUT follows from its name unless --to is given.

    Names may end in .gz or .xz: portpart convert road.gr.gz road.graph

    An OUTPUT that ends in .hgr is a hypergraph, made of a netlist or, by --model, of a matrix.
    """
    nets = files.writes_nets(output, output_format)
    read = files.read_hypergraph if nets else files.read_graph
    files.write_graph(read(graph, reading), output, output_format)
