"""The partitioners under comparison, behind one interface.

``load(name)`` gives a function that takes a graph and a number of threads, does all that is not
partitioning (building the peer's own graph) and returns a solver; ``solver(k, imbalance, seed)``
returns the part array and a stopwatch of the partition call alone.  A peer that is not installed
raises `Unavailable`, one that cannot take the graph `Unsuitable`.  Several peers end the process
on some inputs: see worker.py.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bench.spaces import space_of
from portpart.algorithms.recipes.partitioners import ALGORITHMS as OURS, DEFAULT

INT32_LIMIT = 2**31


class Unavailable(RuntimeError):
    """The partitioner is not installed, or its device is missing."""


class Unsuitable(RuntimeError):
    """The partitioner cannot take this graph."""


@dataclass(frozen=True)
class HostGraph:
    """A graph as plain NumPy arrays; absent weights are None."""

    offsets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None = None
    vertex_weights: np.ndarray | None = None

    @property
    def num_vertices(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def portable(self) -> Any:
        """The graph as a `portpart.Graph` in host memory."""
        import portpart

        arrays = (self.offsets, self.targets)
        weighted = arrays if self.weights is None else (*arrays, self.weights)
        return portpart.as_graph(weighted, vertex_weights=self.vertex_weights)

    def save(self, path: Path) -> None:
        """Write the arrays as npz."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez(path, **{name: array for name, array in arrays.items() if array is not None})

    @staticmethod
    def load(path: Path) -> HostGraph:
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            return HostGraph(**arrays)


class Stopwatch:
    """Wall and processor seconds of a ``with`` block; all that is set besides is recorded."""

    seconds = 0.0
    cpu_seconds = 0.0
    levels: list[int]
    repaired: int

    def __enter__(self) -> Stopwatch:
        self.seconds, self.cpu_seconds = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter()
        self.cpu_seconds += time.process_time()


Solver = Callable[[int, float, int], tuple[np.ndarray, Stopwatch]]
Opener = Callable[[HostGraph, int], Solver]


def load(name: str) -> Opener:
    """Return the opener of the algorithm called `name`: a key of `ALGORITHMS`."""
    opener, variant = ALGORITHMS[name]
    return lambda graph, threads: opener(graph, threads, variant)


def algorithm_and_preset(name: str) -> tuple[str, str]:
    """``jet-default`` is the preset default of Jet; a name alone is one of portpart's."""
    algorithm, dash, preset = name.partition("-")
    return (algorithm, preset) if dash else (DEFAULT, name)


def _open_portpart(graph: HostGraph, threads: int, variant: str) -> Solver:
    import portpart

    device, name = variant.split()
    algorithm, preset = algorithm_and_preset(name)
    try:
        resident = graph.portable.to(space_of(device))
    except portpart.DeviceUnavailable as error:
        raise Unavailable(str(error)) from error

    def solve(k: int, imbalance: float, seed: int) -> tuple[np.ndarray, Stopwatch]:
        with Stopwatch() as watch:
            result = portpart.partition(
                resident, k, imbalance=imbalance, algorithm=algorithm, preset=preset, seed=seed,
                threads=threads,
                device=device,
            )  # fmt: skip
            resident.space.synchronize()
        watch.levels = [level["vertices"] for level in result.stats["levels"]]
        watch.repaired = result.stats["repaired"]
        return resident.space.to_host(result.part), watch

    return solve


def _open_pymetis(graph: HostGraph, threads: int, variant: str) -> Solver:
    pymetis = _module("pymetis")
    index = np.dtype(pymetis.zero_copy_dtype())
    if index == np.int32:
        totals = [0 if w is None else int(w.sum()) for w in (graph.weights, graph.vertex_weights)]
        if max(*totals, len(graph.targets)) >= INT32_LIMIT:
            raise Unsuitable("this METIS counts in 32 bits, which the weights overflow")
    adjacency = pymetis.CSRAdjacency(graph.offsets.astype(index), graph.targets.astype(index))
    weights = {
        name: None if array is None else array.astype(index)
        for name, array in (("eweights", graph.weights), ("vweights", graph.vertex_weights))
    }

    def solve(k: int, imbalance: float, seed: int) -> tuple[np.ndarray, Stopwatch]:
        options = pymetis.Options(ufactor=round(1000 * imbalance), seed=seed)
        with Stopwatch() as watch:
            _, part = pymetis.part_graph(
                k, adjacency=adjacency, recursive=variant == "recursive", options=options,
                **weights,
            )  # fmt: skip
        return np.asarray(part, np.int32), watch

    return solve


def _open_kaminpar(graph: HostGraph, threads: int, variant: str) -> Solver:
    kaminpar = _module("kaminpar")
    with _metis_file(graph) as path:
        own_graph = kaminpar.load_graph(str(path), kaminpar.GraphFileFormat.METIS)

    def solve(k: int, imbalance: float, seed: int) -> tuple[np.ndarray, Stopwatch]:
        kaminpar.reseed(seed)
        partitioner = kaminpar.KaMinPar(threads, kaminpar.context_by_name(variant))
        with Stopwatch() as watch:
            part = partitioner.compute_partition(own_graph, k, imbalance)
        return np.asarray(part, np.int32), watch

    return solve


def _open_mtkahypar(graph: HostGraph, threads: int, variant: str) -> Solver:
    mtkahypar = _module("mtkahypar")
    system = mtkahypar.initialize(threads, False)
    context = system.context_from_preset(getattr(mtkahypar.PresetType, variant))
    context.logging = False
    with _metis_file(graph) as path:
        own_graph = system.graph_from_file(str(path), context, mtkahypar.FileFormat.METIS)

    def solve(k: int, imbalance: float, seed: int) -> tuple[np.ndarray, Stopwatch]:
        mtkahypar.set_seed(seed)
        context.set_partitioning_parameters(k, imbalance, mtkahypar.Objective.CUT)
        with Stopwatch() as watch:
            outcome = own_graph.partition(context)
        return np.asarray(outcome.get_partition(), np.int32), watch

    return solve


def _open_kahip(graph: HostGraph, threads: int, variant: str) -> Solver:
    kahip = _module("kahip")
    if len(graph.targets) >= INT32_LIMIT:
        raise Unsuitable("KaHIP counts arcs in 32 bits")
    n, arcs = graph.num_vertices, len(graph.targets)
    vertex_weights = [1] * n if graph.vertex_weights is None else graph.vertex_weights.tolist()
    weights = [1] * arcs if graph.weights is None else graph.weights.tolist()
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    mode = getattr(kahip, variant)

    def solve(k: int, imbalance: float, seed: int) -> tuple[np.ndarray, Stopwatch]:
        with Stopwatch() as watch:
            _, part = kahip.kaffpa(
                vertex_weights, offsets, weights, targets, k, imbalance, True, seed, mode
            )
        return np.asarray(part, np.int32), watch

    return solve


def _our_own(head: str, device: str) -> dict[str, tuple[Any, str]]:
    """Return an entry for each preset of the library: head-preset, head-jet, head-jet-ultra ..."""
    entries = {}
    for algorithm in OURS.values():
        for preset in algorithm.presets:
            words = [head] if algorithm.name == DEFAULT else [head, algorithm.name]
            if algorithm.name == DEFAULT or preset != "default":
                words.append(preset)
            entries["-".join(words)] = (_open_portpart, f"{device} {algorithm.name}-{preset}")
    return entries


ALGORITHMS: dict[str, tuple[Callable[[HostGraph, int, str], Solver], str]] = {
    **_our_own("portpart", "cpu"),
    **_our_own("portpart-cuda", "cuda"),
    "pymetis": (_open_pymetis, "kway"),
    "pymetis-recursive": (_open_pymetis, "recursive"),
    "kaminpar": (_open_kaminpar, "default"),
    "kaminpar-eco": (_open_kaminpar, "eco"),
    "kaminpar-jet": (_open_kaminpar, "jet"),
    "kaminpar-strong": (_open_kaminpar, "strong"),
    "mtkahypar": (_open_mtkahypar, "DEFAULT"),
    "mtkahypar-quality": (_open_mtkahypar, "QUALITY"),
    "mtkahypar-deterministic": (_open_mtkahypar, "DETERMINISTIC"),
    "kahip-fast": (_open_kahip, "FAST"),
    "kahip-eco": (_open_kahip, "ECO"),
    "kahip-strong": (_open_kahip, "STRONG"),
}


def _module(name: str) -> Any:
    """Import a peer, or say that it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Unavailable(f"{name} is not installed ({error})") from error


@contextmanager
def _metis_file(graph: HostGraph) -> Iterator[Path]:
    """Write the graph as a METIS file that exists while the block runs."""
    import portpart

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.metis"
        portpart.io.write(graph.portable, path, format="metis")
        yield path
