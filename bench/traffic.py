"""Launches, synchronisations and bytes of a partition, by phase and by kernel.

    python -m bench.traffic --graphs 'delaunay_2^20,cube_200' --k 64 --device cuda

Seconds and synchronisations are those of the device.  Launches, those inside programs too, and
bytes come from the same recipe on one CPU core, step by step: each launch counts every array that
it is given once, at its size.  So bytes are exact for kernels that go over whole arrays, and above
what moves where a launch works on a short list.  Results do not depend on the device, so the same
launches run there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import numpy as np

from bench import recipes
from bench.instances import cached, prepare, select
from bench.peers import algorithm_and_preset
from bench.report import table
from bench.spaces import space_of
from portpart.algorithms.multilevel.trace import Trace
from portpart.backends.communication.exchange import (
    COMM,
    communicator_of,
    operation_of,
    perform,
)
from portpart.backends.cpu import space as cpu
from portpart.backends.language import Kernel
from portpart.backends.programs.arguments import Bindings
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Element, Launch, Slot, Step, While
from portpart.graphs.graph import Graph

MAX_KERNELS = 24


class LaunchCounter(cpu.CpuSpace):
    """One thread; counts launches and the bytes that they are given, by phase and by kernel."""

    def __init__(self) -> None:
        super().__init__(1)
        self.phase = ""
        self.launches: Counter[tuple[str, str]] = Counter()
        self.bytes: Counter[tuple[str, str]] = Counter()

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        self.run_flat(n, kernel, kernel.flattened(args), team)

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        """Launch a kernel whose records have been taken apart, and count."""
        key = self.phase, kernel.name
        self.launches[key] += 1
        self.bytes[key] += sum({id(array): array.nbytes for array in args
                                if isinstance(array, np.ndarray)}.values())
        if n > 0:
            cpu._launch(n, kernel, args, cpu.ITEM_WEIGHT[team], 1)

    def executable(self, program: Program) -> Walker:
        return Walker(self, program)


class Walker:
    """A program that Python walks, launch by launch."""

    def __init__(self, space: LaunchCounter, program: Program) -> None:
        self.space, self.program = space, program

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run with `bindings`."""
        slots = self.program.used_slots()
        bound = Bindings(slots).named(bindings)
        comm = {COMM: bindings[COMM]} if COMM in bindings else {}
        self._walk(self.program.steps, comm | {
            slot.name: self._bound(slot, bound.get(slot.name), sizes) for slot in slots})

    def _bound(self, slot: Slot, value: Any, sizes: Any) -> Any:
        if slot.length is not None:
            return np.empty(slot.length(sizes), slot.dtype)
        if slot.zeros:
            return np.zeros(slot.words, slot.dtype)
        if slot.dtype is None or value is None:
            return None
        if slot.words:
            return np.array(value, slot.dtype)
        return value if slot.is_array else slot.dtype.type(value)

    def _walk(self, steps: list[Step], bound: dict[str, Any]) -> None:
        for step in steps:
            if isinstance(step, Launch):
                args = tuple(bound[a.name] if isinstance(a, Slot) else _value(a, bound)
                             for a in step.args)
                self.space.run_flat(_value(step.count, bound), step.kernel, args, step.team)
            elif isinstance(step, While):
                while _value(step.flag, bound):
                    self._walk(step.steps, bound)
            elif isinstance(step, Branch):
                self._walk(step.then if _value(step.flag, bound) else step.orelse, bound)
            else:
                perform(operation_of(step, bound), communicator_of(self.program.name, bound))


def _value(given: Any, bound: dict[str, Any]) -> Any:
    """Return the number of an element; other values are returned as they are."""
    return int(bound[given.slot.name][given.index]) if isinstance(given, Element) else given


class PhaseTrace(Trace):
    """Tells a counter which phase it counts for."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        with super().phase(name):
            self.space.phase = self._phase
            yield


def counted(host: Graph, k: int, preset: str, seed: int) -> tuple[LaunchCounter, Trace]:
    """Partition in a space that counts."""
    space = LaunchCounter()
    graph = recipes.copied(host, space)
    trace = PhaseTrace(space, graph, None)
    recipes.run(graph, k, *algorithm_and_preset(preset), seed, trace)
    return space, trace


def measured(host: Graph, k: int, preset: str, seed: int, device: str) -> str:
    """Count and time a partition; tables by phase and of the kernels that are given most."""
    import portpart

    algorithm, name = algorithm_and_preset(preset)
    here = recipes.copied(host, space_of(device))
    for _ in range(2):  # the first call compiles
        result = portpart.partition(here, k, algorithm=algorithm, preset=name, seed=seed)
    space, trace = counted(host, k, preset, seed)
    if result.stats["cuts"] != trace.cuts:
        raise AssertionError(f"cuts differ: {result.stats['cuts']} and {trace.cuts}")
    return "\n\n".join([_by_phase(space, result.stats), _by_kernel(space)])


def _by_phase(space: LaunchCounter, stats: dict[str, Any]) -> str:
    rows = []
    for phase, seconds in stats["phases"].items():
        launches, moved = (sum(count for (of, _), count in counts.items() if of == phase)
                           for counts in (space.launches, space.bytes))
        waits = sum(level.get(phase, {}).get("synchronizations", 0) for level in stats["levels"])
        if launches:
            rows.append([phase, f"{launches:,}", str(waits), f"{moved / 1e6:.1f}",
                         f"{1e3 * seconds:.2f}", f"{moved / 1e9 / seconds:.4g}"])
    return table(["phase", "launches", "syncs", "MB", "ms", "GB/s"], rows)


def _by_kernel(space: LaunchCounter) -> str:
    return table(["phase", "kernel", "launches", "MB"], [
        [phase, kernel, f"{space.launches[phase, kernel]:,}", f"{moved / 1e6:.1f}"]
        for (phase, kernel), moved in space.bytes.most_common(MAX_KERNELS)])


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^17", show_default=True)
@click.option("--k", "ks", default="64", show_default=True)
@click.option("--presets", default="default", show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--device", default="cpu", show_default=True)
def main(graphs: str, ks: str, presets: str, seed: int, device: str) -> None:
    for instance in select(graphs.split(",")):
        prepare(instance.name)
        host = cached(instance).portable
        for k in map(int, ks.split(",")):
            for preset in presets.split(","):
                print(f"### {instance.name}, k = {k}, {preset}, {device}\n")
                print(measured(host, k, preset, seed, device), "\n")


if __name__ == "__main__":
    main()
