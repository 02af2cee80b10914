"""Reports: one page about a partition, with its numbers and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from portpart.base.version import __version__
from portpart.errors import InputError, printable, shown
from portpart.formats.text import PathLike, write_chunks
from portpart.graphs import Blocks, Graph, GraphLike, MeshLike, Numbers, Topology, shown as as_text
from portpart.options import WrittenNumber
from portpart.plot.canvas import needed
from portpart.plot.pictures import figures
from portpart.plot.report_data import ReportData, block_table, quality, report_data

MAX_ROWS = 2000
"""Maximum number of blocks that are listed one by one."""

OPEN_ROWS = 32
"""Maximum number of rows of a list that is open at first."""


def report(graph: GraphLike, part: Blocks, file: PathLike | None = None, *, k: int | None = None,
           points: ArrayLike | None = None, mesh: MeshLike | None = None,
           topology: Topology | None = None, imbalance: WrittenNumber | None = None,
           target: Numbers | None = None, title: str | None = None,
           commands: str | Sequence[str] = ()) -> str:
    """Make an HTML page about a partition: metrics, a table of the blocks, and pictures.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of `as_graph`
    part : array_like of int, shape (n,), PartitionResult, MappingResult or Session
        A result also has its limits, its times and its machine.
    file : str or PathLike, optional
        File of the page; ``-`` is standard output.  The file is written completely or not at all.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    points : array_like of float, shape (n, 2) or (n, 3), optional
        Coordinates of the vertices; with `mesh` of the nodes.  Without them a layout is computed.
    mesh : Mesh or any other input of `as_mesh`, optional
        Its elements, or nodes, are the vertices.  It needs `points`, unless it has them, as a
        ``meshio.Mesh``.
    topology : Topology, optional
        The machine, if blocks are processing elements. For a hypergraph, the page has the traffic
        but no communication cost, which is not defined.
    imbalance, target
        Imbalance of the limits, as in :func:`portpart.partition`; default: the limits of a result,
        or those of an imbalance of 0.03.
    title : str, optional
        Title of the page; default: the number of blocks.
    commands : str or sequence of str, optional
        Commands that made the partition; shown at the end.

    Returns
    -------
    str
        The page, which needs no other files. Equal input gives equal text with the same version of
        Matplotlib.

    Raises
    ------
    ImportError
        If Matplotlib or Jinja2 is not installed.
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


def page_about(found: ReportData, part: Blocks | None = None, *, points: ArrayLike | None = None,
               mesh: Any = None, title: str | None = None,
               commands: str | Sequence[str] = ()) -> str:
    """Return the page of :func:`report` about a measured partition."""
    if title is not None and not isinstance(title, str):
        raise InputError(f"title is {shown(title)}; it must be text")
    if mesh is not None and points is None:
        if getattr(mesh, "points", None) is None:
            raise InputError("mesh goes with points, the coordinates of its nodes, and there are "
                             "none: give points=, or leave mesh out for a layout of the graph")
        points = mesh.points
    columns, over = block_table(found), found.evaluation.block_weights > found.limits
    return _rendered(
        title=title or (f"Partition into {found.k:,} blocks" if found.topology is None
                        else f"Mapping onto {found.k:,} processing elements"),
        lead=_described(found), tiles=_tiles(found), pictures=list(figures(found, points, mesh)),
        tables=[quality(found), _run(found, part)], names=list(columns), k=found.k,
        rows=_listed(columns, over), open_rows=OPEN_ROWS,
        commands=[commands] if isinstance(commands, str) else list(commands),
    )


def _tiles(found: ReportData) -> list[tuple[str, object, str]]:
    """Return large numbers: name, value, and a class of the style or an empty string."""
    facts, evaluation = quality(found), found.evaluation
    names = ["cut", next(name for name in ("communication cost", "km1", "communication volume")
                         if isinstance(facts.get(name), int))]
    share = evaluation.boundary / max(1, evaluation.num_vertices)
    return [
        *((name, facts[name], "") for name in names),
        ("imbalance", f"{evaluation.imbalance:.2%}", ""),
        ("boundary vertices", f"{share:.1%}", ""),
        ("limits of weight", *(("kept", "good") if found.feasible else ("broken", "bad"))),
    ]


def _described(found: ReportData) -> str:
    graph, what = found.graph, "blocks" if found.topology is None else "elements"
    kind, sizes = (("A graph", f"{graph.num_edges:,} edges") if isinstance(graph, Graph) else
                   ("A hypergraph", f"{graph.num_nets:,} nets with {graph.num_pins:,} pins"))
    return f"{kind} of {graph.num_vertices:,} vertices and {sizes}, in {found.k:,} {what}"


def _run(found: ReportData, part: Any) -> dict[str, object]:
    """Return facts about the graph and the machine, and about the call that made a result."""
    facts: dict[str, object] = {"weight of the vertices": found.graph.total_vertex_weight,
                                "mean degree": f"{found.graph.mean_degree:.2f}"}
    if isinstance(found.graph, Graph):
        total = found.graph.total_arc_weight // 2
        facts["share of the edges cut"] = f"{found.evaluation.cut / max(1, total):.2%}"
    if found.topology is not None:
        facts["machine"] = repr(found.topology).strip("<>")
    if hasattr(part, "stats"):
        phases = {f"seconds of {name}": f"{seconds:.3f}"
                  for name, seconds in part.stats.get("phases", {}).items()}
        facts |= {"device": part.stats.get("device", ""), "seconds": f"{part.seconds:.3f}"} | phases
    return facts


def _listed(columns: dict[str, np.ndarray], over: np.ndarray) -> list[tuple[bool, list[int]]]:
    """Return whether each block is above its limit, and its row; of many blocks, the heaviest."""
    heaviest = np.sort(np.argsort(-columns["weight"], kind="stable")[:MAX_ROWS])
    rows = np.stack(list(columns.values()), axis=1)[heaviest]
    return list(zip(over[heaviest].tolist(), rows.tolist()))


def _rendered(**parts: Any) -> str:
    """Return the page, with everything in it escaped except the pictures."""
    with needed("reports need Jinja2: pip install 'portpart[plot]'"):
        from jinja2 import Environment
        from markupsafe import Markup

    def text(value: object) -> object:
        return value if isinstance(value, Markup) else printable(as_text(value))

    pages = Environment(autoescape=True, finalize=text, trim_blocks=True)
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    return pages.from_string(template).render(version=__version__, **parts)
