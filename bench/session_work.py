"""Work of a round of a session, counted on one CPU core step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import portpart
from bench.random_edits import RandomEdits
from bench.traffic import LaunchCounter
from portpart.backends import spaces
from portpart.backends.language import Kernel

WARM = 3


class WorkCounter(LaunchCounter):
    """Counts launches, work items, arrays brought and read, and bytes of arrays that are made."""

    def __init__(self) -> None:
        super().__init__()
        self.forget()

    def forget(self) -> None:
        """Count from 0."""
        self.launches.clear()
        self.items = self.made = self.brought = self.read_back = 0

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        self.items += n
        super().run_flat(n, kernel, args, team)

    def empty(self, n: int, dtype: Any) -> Any:
        array = super().empty(n, dtype)
        self.made += array.nbytes
        return array

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        self.brought += 1
        return super().asarray(values, dtype)

    def to_host(self, array: Any) -> Any:
        self.read_back += 1
        return super().to_host(array)


@contextmanager
def counting() -> Iterator[WorkCounter]:
    """Have calls with one thread be counted."""
    key, space = ("cpu", 1), WorkCounter()
    usual = spaces._spaces.get(key)
    spaces._spaces[key] = space
    try:
        yield space
    finally:
        del spaces._spaces[key]
        if usual is not None:
            spaces._spaces[key] = usual


def counted(graph: Any, k: int, edits: int, rounds: int) -> dict[str, Any]:
    """Medians of what a round of random edits takes, the most of any round, and of the first."""
    found: dict[str, list[int]] = {"launches": [], "items": [], "bytes": [], "copies": [],
                                    "reads": []}
    with counting() as space:
        session = portpart.Session(graph, k, preset="fast", device="cpu", threads=1)
        draw = RandomEdits(graph, 1, "near", keep_size=False)
        for _ in range(WARM + rounds):
            batch = session.batch()
            draw.play(batch, edits)
            space.forget()
            session.apply(batch, effort="local")
            for name, value in (("launches", space.launches.total()), ("items", space.items),
                                ("bytes", space.made), ("copies", space.brought),
                                ("reads", space.read_back)):
                found[name].append(value)
    return {"kind": "hypergraph" if hasattr(graph, "num_nets") else "graph",
            "vertices": graph.num_vertices, "k": k, "edits": edits,
            "first_bytes": found["bytes"][0],
            **{name: median(values[WARM:]) for name, values in found.items()},
            **{f"most_{name}": max(values[WARM:]) for name, values in found.items()}}
