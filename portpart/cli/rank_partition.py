"""``mpiexec -n 4 portpart partition``: one partition by several processes."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import click

from portpart.cli import files, options
from portpart.cli.output import ALONE, INFEASIBLE, OK
from portpart.cli.results import print_result, shown

if TYPE_CHECKING:
    import numpy as np
    from mpi4py import MPI

    from portpart.api import RankPartitionResult
    from portpart.graphs.ranks import RankGraph

INSTEAD = f"not for several MPI ranks; {ALONE} has each process do all of the work"


def partition_on_ranks(comm: MPI.Intracomm, graph: str, k: int, output: str | None,
                       reading: options.ReadingOptions, blocks: dict[str, str | None],
                       settings: dict[str, Any], as_json: bool, quiet: bool) -> int:
    """Read, partition and write a graph on all ranks; rank 0 prints.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    graph : str
        The file.
    k : int
    output : str or None
        The file of the blocks.
    reading : ReadingOptions
    blocks : dict
        The files of ``"fixed"`` and ``"initial"``.
    settings : dict
        Other keywords of `portpart.partition`.
    as_json, quiet : bool
        Whether rank 0 prints an object, and whether it shows no progress.

    Returns
    -------
    int
        The exit code, equal on all ranks.
    """
    from portpart.api import CallOptions, check_options, partition
    from portpart.io.rank_reading import read_distributed

    _refuse_nets(graph, reading)
    check_options(CallOptions(k, **settings))
    given = {name: value for name, value in asdict(reading).items()
             if name not in files.OF_NETS_ALONE}
    with shown(quiet or comm.rank > 0) as display:
        with read_distributed(graph, given.pop("file_format"), comm=comm,
                              device=settings["device"], **given) as rows:
            known: dict[str, Any] = {name: _own_blocks(rows, file, name == "fixed")
                                     for name, file in blocks.items()}
            with display.calling() as progress:
                result = cast("RankPartitionResult",
                              partition(rows, k, progress=progress, **known,
                                        **{**settings, "device": "auto"}))
            _write(rows, result, output)
    if comm.rank == 0:
        report = {"graph": graph, **files.sizes_of(rows), "read_seconds": display.read_seconds,
                  "output": output, **blocks, **settings, "ranks": comm.size}
        print_result(result, report, as_json, "blocks", {"num_levels": len(result.stats["levels"])},
                    {"ranks": str(comm.size)}, to_stderr=output == files.STANDARD)
    return OK if result.feasible else INFEASIBLE


def refuse_option(name: str, value: str | float | None) -> None:
    """Raise if an option has a value that several ranks cannot use.

    Raises
    ------
    click.UsageError
    """
    if value:
        raise click.UsageError(f"{name} is {INSTEAD}")


def _refuse_nets(graph: str, reading: options.ReadingOptions) -> None:
    if files.is_hypergraph(graph, reading):
        raise click.UsageError(f"{graph} is a hypergraph, which is {INSTEAD}")
    for name in files.OF_NETS_ALONE:
        refuse_option(f"--{name}", getattr(reading, name))


def _own_blocks(rows: RankGraph, file: str | None, free: bool) -> np.ndarray | None:
    """Return the blocks of this rank's vertices, from a file that all ranks read."""
    from portpart.io.rank_partition_file import read_own_blocks

    return None if file is None else rows.call(
        lambda graph: read_own_blocks(graph.comm, file, rows.borders, free))


def _write(rows: RankGraph, result: RankPartitionResult, output: str | None) -> None:
    """Write the blocks of all ranks; rank 0 alone writes files that they cannot write together."""
    from portpart.backends.communication import planned
    from portpart.formats.text import COMPRESSIONS

    if output is None:
        return
    if output != files.STANDARD and os.path.splitext(output)[1].lower() not in COMPRESSIONS:
        result.save(output)
        return
    whole = result.gather()
    rows.call(lambda graph: planned(
        graph.comm, lambda: None if whole is None else files.write_partition(whole, output)))
