"""From tensors of PyTorch on a device to blocks, beside PyMETIS on the same tensors.

    python -m bench.gnn                                    # 100 million edges on the GPU
    python -m bench.gnn --edges 20000 --device cpu --k 4   # a minute's look

The graph is drawn on the device: a ring of vertices with chords, whose lengths d have a probability
that falls as 1 / d, numbered in random order.  Its ``edge_index`` has each edge in
both directions, as PyTorch Geometric keeps it.

Times are from the tensor on the device to the tensor of blocks there.  portpart: the first call,
which compiles, and the median of ``--calls`` more, with the seconds of making the graph and of
partitioning it.  PyMETIS: sorting the tensor to rows on the device, copying them to the host, METIS
itself, and the copy back; as `ClusterData` of PyTorch Geometric does it.  Cuts and imbalances are
computed from the same tensor.  PyMETIS takes minutes on large graphs; ``--no-metis`` leaves it out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import click

import portpart
from portpart.compat import pyg


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--edges", default=100_000_000, show_default=True, help="Edges of the graph.")
@click.option("--degree", default=20, show_default=True, help="Mean degree of its vertices.")
@click.option("--k", default=64, show_default=True, help="Number of blocks.")
@click.option("--device", default="cuda", show_default=True, help="Where the tensors are.")
@click.option("--calls", default=3, show_default=True, help="Calls behind the first one.")
@click.option("--preset", default="default", show_default=True)
@click.option("--metis/--no-metis", default=True, show_default=True)
def main(edges: int, degree: int, k: int, device: str, calls: int, preset: str,
         metis: bool) -> None:
    import torch

    n = 2 * edges // degree
    edge_index = ring_with_chords(torch, n, degree, device)
    judged = ReportData(torch, edge_index, n, k)
    name = torch.cuda.get_device_name() if edge_index.is_cuda else "cpu"
    print(json.dumps({"device": name, "vertices": n, "columns": edge_index.shape[1]}), flush=True)
    print(json.dumps(judged.portpart(preset, calls)), flush=True)
    if metis:
        print(json.dumps(judged.metis()), flush=True)


def ring_with_chords(torch: Any, n: int, degree: int, device: str) -> Any:
    """Return the `edge_index` of a ring of `n` vertices with chords, without repeated edges."""
    drawn = torch.Generator(device).manual_seed(0)
    ends = torch.arange(n, device=device).repeat(degree // 2 + 1)  # repeated edges vanish
    exponents = torch.rand(len(ends), generator=drawn, device=device, dtype=torch.float64)
    lengths = ((n / 2) ** exponents).long()
    lengths[:n] = 1
    order = torch.randperm(n, generator=drawn, device=device)
    one, other = order[ends], order[(ends + lengths) % n]
    keys = torch.cat([one * n + other, other * n + one]).unique()
    return torch.stack([keys // n, keys % n])


class ReportData:
    """One `edge_index`, and what partitioners make of it."""

    def __init__(self, torch: Any, edge_index: Any, n: int, k: int) -> None:
        self.torch, self.edge_index, self.n, self.k = torch, edge_index, n, k

    def timed(self, call: Callable[[], Any]) -> tuple[Any, float]:
        """What a call returns, and its seconds with all that it has begun on the device."""
        self._wait()
        begin = time.perf_counter()
        result = call()
        self._wait()
        return result, time.perf_counter() - begin

    def _wait(self) -> None:
        if self.edge_index.is_cuda:
            self.torch.cuda.synchronize()

    def facts(self, blocks: Any) -> dict[str, Any]:
        """Cut and imbalance of a tensor of blocks."""
        one, other = blocks[self.edge_index]
        largest = int(blocks.bincount(minlength=self.k).max())
        return {"cut": int((one != other).sum()) // 2,
                "imbalance": round(largest / -(-self.n // self.k) - 1, 4)}

    def portpart(self, preset: str, calls: int) -> dict[str, Any]:
        """Seconds of portpart, from the tensor to blocks."""
        def whole() -> Any:
            return pyg.partition(self.edge_index, self.k, num_nodes=self.n, preset=preset)

        blocks, first = self.timed(whole)
        again = [self.timed(whole)[1] for _ in range(calls)]
        graph, making = self.timed(lambda: pyg.as_graph(self.edge_index, num_nodes=self.n))
        _, dividing = self.timed(lambda: portpart.partition(graph, self.k, preset=preset))
        return {"algorithm": f"portpart {preset}", "first": round(first, 3),
                "seconds": round(median(again), 3) if again else None,
                "graph": round(making, 3), "partition": round(dividing, 3), **self.facts(blocks)}

    def metis(self) -> dict[str, Any]:
        """Seconds of PyMETIS, from the tensor to blocks."""
        import pymetis

        torch = self.torch
        (offsets, targets), sorting = self.timed(self._rows)
        (offsets, targets), copying = self.timed(
            lambda: (offsets.cpu().numpy(), targets.cpu().numpy()))
        adjacency = pymetis.CSRAdjacency(offsets, targets)
        (_, part), dividing = self.timed(
            lambda: pymetis.part_graph(self.k, adjacency=adjacency, recursive=False))
        blocks, returning = self.timed(
            lambda: torch.as_tensor(part, dtype=torch.int64).to(self.edge_index.device))
        seconds = sorting + copying + dividing + returning
        return {"algorithm": "pymetis", "seconds": round(seconds, 3),
                "rows": round(sorting, 3), "copies": round(copying + returning, 3),
                "metis": round(dividing, 3), **self.facts(blocks)}

    def _rows(self) -> tuple[Any, Any]:
        """Offsets and targets of CSR, sorted on the device."""
        one, other = self.edge_index
        keys = (one * self.n + other).sort().values
        counts = (keys // self.n).bincount(minlength=self.n)
        offsets = self.torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return offsets, keys % self.n


if __name__ == "__main__":
    main()
