"""Code compiled ahead of time for calls on some kinds of graphs, on one or several GPUs."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from portpart import generators, graphs, io
from portpart.algorithms.coarsening.ranks import Fold
from portpart.api.call_options import CallOptions
from portpart.api.rank_call import divided
from portpart.api.request import Request, checked_request
from portpart.backends.communication import Communicator, Local, planned
from portpart.backends.cpu import CpuSpace
from portpart.backends.language import Kernel
from portpart.backends.programs import Bound, Executable, ExecutionSpace, Program
from portpart.errors import InputError, shown
from portpart.estimate import dry_run, dry_run_edges
from portpart.graphs.ranks import check_reverse_arcs, distributed
from portpart.inputs import as_hypergraph

# Code that several GPUs need for a call --------------------------------------------------------
#
# The steps of ranks depend on their messages, so their calls have no dry run without data. A small
# call is made on the processor instead, and the code that GPUs would need is recorded.


RANKS = 2

FOLDED = 32
"""Ratio of the whole graph to the largest graph that every rank holds whole, so that the call works
on both kinds of levels."""


class NotingSpace(CpuSpace):
    """The processor instead of a GPU, with a record of what is run.

    Parameters
    ----------
    stage : ExecutionSpace
        A space of a GPU of which only the compiler exists.
    """

    kind, name = "cuda", "recording"

    def __init__(self, stage: ExecutionSpace) -> None:
        super().__init__()
        self.stage, self.widest_team = stage, stage.widest_team

    def parallel_for(self, n: int, kernel: Kernel, *args: Bound, team: int = 1) -> None:
        if n > 0:
            self.stage.parallel_for(n, kernel, *args, team=team)
        super().parallel_for(n, kernel, *args, team=team)

    def executable(self, program: Program) -> Executable:
        self.stage.executable(program)
        return super().executable(program)


def note_rank_call(stage: ExecutionSpace, graph: graphs.Graph, options: CallOptions) -> None:
    """Request the code that ranks on GPUs need for a call on such a graph.

    Parameters
    ----------
    stage : ExecutionSpace
    graph : Graph
        In the memory of the host.
    options : CallOptions
    """
    space = NotingSpace(stage)
    offsets = graph.offsets.astype("int64")
    first = graphs.balanced_borders(lambda v: int(offsets[v]), graph.num_vertices, graph.num_arcs,
                                    RANKS, graphs.VERTEX_COST)
    fold = Fold(graph.num_vertices // FOLDED, graph.num_arcs // FOLDED)

    def main(comm: Communicator) -> None:
        low, high = first[comm.rank : comm.rank + 2]
        arcs = slice(int(offsets[low]), int(offsets[high]))
        rows = planned(comm, lambda: graphs.checked_rows(
            low, graph.num_vertices, offsets[low : high + 1] - offsets[low], graph.targets[arcs],
            None if graph.weights is None else graph.weights[arcs],
            None if graph.vertex_weights is None else graph.vertex_weights[low:high], space))
        made = distributed(comm, rows)
        check_reverse_arcs(made)
        divided(made, options, fold)

    Local(RANKS).run(main)


# Code that calls on some kinds of graphs need --------------------------------------------------
#
# For a GPU calls are dry runs, so no GPU is needed. For the processor the calls are made.


BLOCKS = (2, 8, 64, 512)
"""Numbers of blocks; numbers between them need the same code, with few exceptions."""

VERTICES = 40_000
"""A small number that is larger than a coarsest graph."""

Progress = Callable[[int, int], None]
"""Called with the number of finished modules, and of requested ones."""


def _weighted(graph: graphs.Graph) -> graphs.Graph:
    """Return the graph with weights of edges and vertices."""
    return replace(graph, weights=np.full(graph.num_arcs, 2, np.int32),
                   vertex_weights=np.full(graph.num_vertices, 2, np.int64), _totals={})


def _mesh() -> graphs.Graph:
    side = round(VERTICES ** 0.5)
    return generators.grid_2d(side, side)


def _volume() -> graphs.Graph:
    side = round(VERTICES ** (1 / 3))
    return generators.grid_3d(side, side, side)


def _large_mesh() -> graphs.Graph:
    """Return a mesh that flows refine on its band graph."""
    return generators.delaunay(VERTICES + VERTICES // 5)


def _road() -> graphs.Graph:
    return generators.road_network(VERTICES // 2)


BLOCKS_OF_RANKS = (8, 64)

EDGES = "edges"
OF_NETS = ("circuit", "matrix", EDGES)
"""Kinds that several devices do not partition."""

KINDS: dict[str, Callable[[], Iterable[graphs.EitherGraph]]] = {
    "mesh": lambda: (_mesh(), generators.delaunay(VERTICES), _volume(), _weighted(_volume()),
                     _large_mesh(), _weighted(_large_mesh())),
    "web": lambda: (generators.rmat(15),),
    "circuit": lambda: (generators.netlist(VERTICES),),
    "matrix": lambda: (as_hypergraph(_volume().to_scipy(), model="row-net"),),
    EDGES: lambda: (generators.rmat(13, 5), generators.grid_2d(50), generators.grid_2d(100),
                    _road(), _weighted(_road())),
}
"""Kinds of graphs, and examples of them. Edges have long searches, so their graphs are small."""


@dataclass(frozen=True)
class Compiled:
    """Numbers of compiled modules and bytes, and the time.

    Attributes
    ----------
    modules : int
    num_bytes : int
    seconds : float
    """

    modules: int
    num_bytes: int
    seconds: float


def compile_for_gpu(capability: int, kinds: Iterable[str], presets: Iterable[str],
                    report: Progress = lambda done, total: None, ranks: bool = False) -> Compiled:
    """Fill the cache folder for devices of a compute capability, 90 for 9.0; needs no device.

    Parameters
    ----------
    capability : int
    kinds, presets : iterable of str
    report : callable
    ranks : bool
        Whether to compile also for several devices together.

    Raises
    ------
    InputError
        If NVRTC does not support such devices.
    DeviceUnavailable
        If CuPy is missing.
    """
    from portpart.backends.cuda import CudaDryRuns as OfModules, Modules, import_cupy, target_for

    begin, cupy = time.perf_counter(), import_cupy()
    kinds, presets = list(kinds), list(presets)
    target_for(capability)
    modules = Modules(capability, cupy.__version__)
    modules.quick = False
    stage = OfModules(modules)
    for call in calls(kinds, presets):
        if call.spec.edges is not None:
            dry_run_edges(call.given, stage)
        dry_run(call.problem, call.run, call.config, stage)
    if ranks:
        for kind, preset, k in itertools.product(kinds, presets, BLOCKS_OF_RANKS):
            for graph in KINDS[kind]() if kind not in OF_NETS else ():
                note_rank_call(stage.space, cast(graphs.Graph, graph),
                               CallOptions(k, preset=preset))
        stage.space.request()
    made: set[bytes] = set()
    requested = modules.requested()
    for number, code in enumerate(requested, 1):
        made.add(code.wait())
        report(number, len(requested))
    return Compiled(len(made), sum(map(len, made)), time.perf_counter() - begin)


def compile_for_cpu(kinds: Iterable[str], presets: Iterable[str],
                    report: Progress = lambda done, total: None) -> Compiled:
    """Fill the cache folder for this machine's processor."""
    from portpart.backends.cpu import compile_all
    from portpart.base import cache_folder

    def kept() -> list[int]:
        return [path.stat().st_size for path in cache_folder.files()]

    begin, before = time.perf_counter(), kept()
    _read_a_file()
    number = 0
    for call in calls(kinds, presets):
        part, _ = call.partition(call.problem)
        call.measured(part, call.problem.trace)
        if call.spec.edges is not None:
            graphs.copies_of_vertices(call.spec.edges, part)
        number += 1
        report(number, number)
    compile_all()
    after = kept()
    return Compiled(len(after) - len(before), sum(after) - sum(before), time.perf_counter() - begin)


def _read_a_file() -> None:
    """Read a graph in METIS's format, for which there are kernels."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mesh.graph")
        io.write(_mesh(), path)
        io.read(path)


def calls(kinds: Iterable[str], presets: Iterable[str]) -> Iterator[Request]:
    """Yield a call for each kind of graph, preset and number of blocks."""
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"kind is {shown(kind)}; it must be one of {', '.join(KINDS)}")
        for graph, preset, k in itertools.product(KINDS[kind](), presets, BLOCKS):
            yield checked_request(graph, CallOptions(k, preset=preset, device="cpu"),
                                  of_edges=kind == EDGES)
