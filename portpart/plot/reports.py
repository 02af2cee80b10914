"""Reports: one page about a partition, with its numbers and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from portpart.io.text.files import PathLike, write_chunks
from portpart.metrics.net_evaluation import HypergraphEvaluation
from portpart.options import shown
from portpart.plot.page import (
    blocks_table,
    command_lines,
    facts_table,
    page,
    section,
    side_by_side,
    tiles,
)
from portpart.plot.pictures import figures
from portpart.plot.report_data import ReportData, block_table, quality_rows, report_data


def report(graph: Any, part: Any, file: PathLike | None = None, *, k: int | None = None,
           points: Any = None, mesh: Any = None, topology: Topology | None = None,
           imbalance: Any = None, target: Any = None, title: str | None = None,
           commands: str | Sequence[str] = ()) -> str:
    """Make a page of HTML about a partition: what it is worth, block by block, and pictures.

    Parameters
    ----------
    graph : Graph, Hypergraph or whatever `as_graph` takes
    part : array_like of int, shape (n,), PartitionResult, MappingResult or Session
        A result also brings its limits, its times and its machine.
    file : str or PathLike, optional
        Where the page is written; ``-`` is standard output.  The file is complete or not there.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    points : array_like of float, shape (n, 2) or (n, 3), optional
        Coordinates of the vertices; with `mesh` of the nodes.  Without them a layout is computed.
    mesh : Mesh or whatever `as_mesh` takes, optional
        Its elements, or nodes, are the vertices.  It goes with `points`, unless it holds them, as
        a ``meshio.Mesh`` does.
    topology : Topology, optional
        The machine, if blocks are processing elements.  Of a hypergraph there is a picture of
        the traffic but no communication cost, which is not defined.
    imbalance, target
        What limits of blocks follow from, as in :func:`portpart.partition`; default: the limits of
        a result, or those of an imbalance of 0.03.
    title : str, optional
        What the page is headed; default: how many blocks there are.
    commands : str or sequence of str, optional
        How the partition was made; shown at the end.

    Returns
    -------
    str
        The page, which needs nothing from outside.  Equal input gives equal text, as long as
        Matplotlib's version is the same.

    Raises
    ------
    ImportError
        If there is no Matplotlib.
    InputError
        If blocks, points and graph do not fit each other, or the file cannot be written.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> page = portpart.plot.report(grid, portpart.partition(grid, 4), title="A <small> grid")
    >>> page[:15], "A &lt;small&gt; grid" in page
    ('<!DOCTYPE html>', True)
    """
    found = report_data(graph, part, k, imbalance, target, topology)
    text = page_about(found, part, points=points, mesh=mesh, title=title, commands=commands)
    if file is not None:
        write_chunks(file, [text.encode()])
    return text


def page_about(found: ReportData, part: Any = None, *, points: Any = None, mesh: Any = None,
               title: str | None = None, commands: str | Sequence[str] = ()) -> str:
    """The page of :func:`report` about what is measured already."""
    if title is not None and not isinstance(title, str):
        raise InputError(f"title is {shown(title)}; it must be text")
    if mesh is not None and points is None:
        if getattr(mesh, "points", None) is None:
            raise InputError("mesh goes with points, the coordinates of its nodes, and there are "
                             "none: give points=, or leave mesh out for a layout of the graph")
        points = mesh.points
    commands = [commands] if isinstance(commands, str) else commands
    heading = title or (f"Partition into {found.k:,} blocks" if found.topology is None
                        else f"Mapping onto {found.k:,} processing elements")
    return page(heading, _described(found), _sections(found, part, points, mesh, commands))


def _sections(found: ReportData, part: Any, points: Any, mesh: Any,
              commands: Sequence[str]) -> list[str]:
    names, columns = block_table(found)
    over = found.evaluation.block_weights > found.limits
    pictures = "".join(figures(found, points, mesh))
    tables = [facts_table(quality_rows(found)), facts_table([*_facts(found), *_run(part)])]
    sections = [
        tiles(_tiles(found)),
        section("Pictures", f'<div class="pictures">{pictures}</div>'),
        section("Quality", side_by_side(*tables)),
        section("Blocks", blocks_table(list(names), columns, over)),
    ]
    if commands:
        sections.append(section("How it was made", command_lines(commands)))
    return sections


def _tiles(found: ReportData) -> list[tuple[str, object, str]]:
    evaluation = found.evaluation
    first: list[tuple[str, object, str]]
    if found.costs is not None:
        first = [("communication cost J", int(found.costs.sum()), "")]
    elif isinstance(evaluation, HypergraphEvaluation):
        first = [("km1", evaluation.km1, "")]
    else:
        first = [("communication volume", evaluation.communication_volume, "")]
    return [
        ("cut", evaluation.cut, ""), *first,
        ("imbalance", f"{evaluation.imbalance:.2%}", ""),
        ("boundary vertices", f"{evaluation.boundary / max(1, evaluation.num_vertices):.1%}", ""),
        ("limits of weight", "kept" if found.feasible else "broken",
         "good" if found.feasible else "bad"),
    ]


def _described(found: ReportData) -> str:
    graph, what = found.graph, "blocks" if found.topology is None else "elements"
    kind, sizes = (("A graph", f"{graph.num_edges:,} edges") if isinstance(graph, Graph) else
                   ("A hypergraph", f"{graph.num_nets:,} nets with {graph.num_pins:,} pins"))
    return f"{kind} of {graph.num_vertices:,} vertices and {sizes}, in {found.k:,} {what}"


def _facts(found: ReportData) -> list[tuple[str, object]]:
    graph = found.graph
    sizes = ([("edges", graph.num_edges)] if isinstance(graph, Graph)
             else [("nets", graph.num_nets), ("pins", graph.num_pins)])
    machine = found.topology
    levels = [] if machine is None else [("machine", repr(machine).strip("<>"))]
    return [("vertices", graph.num_vertices), *sizes,
            ("weight of the vertices", graph.total_vertex_weight),
            ("mean degree", f"{graph.mean_degree:.2f}"), ("blocks", found.k), *levels]


def _run(part: Any) -> list[tuple[str, object]]:
    """Facts about the call that made a result."""
    if not hasattr(part, "stats"):
        return []
    phases = part.stats.get("phases", {})
    return [("device", part.stats.get("device", "")), ("seconds", f"{part.seconds:.3f}"),
            *((f"seconds of {name}", f"{seconds:.3f}") for name, seconds in phases.items())]
