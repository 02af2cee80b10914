"""``portpart mesh``: divide a mesh and write it with the block of every cell."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from portpart.cli import files, options
from portpart.cli.results import print_result, shown


@click.command("mesh")
@click.argument("mesh", metavar="MESH")
@options.of_call("k")
@click.option("-o", "--output", metavar="FILE", required=True,
              help="VTK file to write: .vtu, or .pvtu with a .vtu file for each block.")
@click.option("--ghosts", type=click.IntRange(min=0),
              help="Layers of elements of other blocks in the files of a .pvtu. Default: 1.")
@click.option("--common-nodes", **options.COMMON_NODES)
@options.of_call("imbalance", "target", "algorithm", "preset", "device", "seed", "threads",
                 "time_limit", "rounds")
@options.json_option
@options.quiet_option
def command(
    mesh: str, k: int, output: str, ghosts: int | None, common_nodes: int | str | None,
    as_json: bool, quiet: bool, **settings: Any,
) -> int:  # fmt: skip
    """Partition the elements of MESH, a file that meshio reads, into k blocks.

    Elements that share a face are adjacent, unless --common-nodes is given.  A .vtu file has all
    cells and data of MESH and the cell data "block": cells of a lower dimension have the block of
    the element that they lie on.  Each file of a .pvtu file has the elements and nodes of a block,
    and ghosts.  meshio comes with: pip install 'portpart[mesh]'.
    """
    settings["target"] = files.read_shares(settings["target"])
    pieces = output.lower().endswith(".pvtu")
    if not pieces and not output.lower().endswith(".vtu"):
        raise click.UsageError(f"{output}: a file to write ends in .vtu or .pvtu")
    if ghosts is not None and not pieces:
        raise click.UsageError("--ghosts is for .pvtu files")
    files.check_output(output, mesh)
    stem = os.path.realpath(output)[: -len(".pvtu")]
    if pieces and re.fullmatch(rf"{re.escape(stem)}_\d+\.vtu", os.path.realpath(mesh)):
        raise click.UsageError(f"{mesh} is read by this call and would be replaced by the file of "
                               "a block; name another file to write")
    # only a command that partitions imports the library
    from portpart.api import partition
    from portpart.inputs import read_with_data
    from portpart.io import write_mesh, write_submeshes
    from portpart.io.writing import refuse_unwritable

    with shown(quiet) as display:
        made, read = read_with_data(mesh)
        refuse_unwritable(made if pieces else read, mesh)
        graph = made.dual_graph(common_nodes)
        with display.calling() as progress:
            result = partition(graph, k, progress=progress, **settings)
    if pieces:
        write_submeshes(made.submeshes(result, 1 if ghosts is None else ghosts), output)
    else:
        write_mesh(read, output, result)
    report = {"graph": mesh, **files.sizes_of(graph), "read_seconds": display.read_seconds,
              "output": output, "common_nodes": common_nodes, "ghosts": ghosts, **settings}
    return print_result(result, report, as_json, "blocks", {}, {})
