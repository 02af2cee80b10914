"""Nodes of hwloc and profiles of MPI: valid files, and what must hold of what is read of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from portpart import io
from tests.fuzz.judge import require

RECORDED = Path(__file__).parents[1] / "io" / "recorded"


@cache
def nodes() -> list[bytes]:
    return [path.read_bytes() for path in sorted(RECORDED.glob("*.xml"))]


@cache
def profiles() -> list[bytes]:
    """All ranks in one text, once in another order."""
    texts = [path.read_bytes() for path in sorted(RECORDED.glob("*.prof"))]
    return [b"".join(texts), b"".join(reversed(texts))]


def read_node(data: bytes, folder: Path) -> None:
    path = folder / "node.xml"
    path.write_bytes(data)
    machine = io.read_machine(path, nodes=2)
    require(machine.topology.num_elements == 2 * len(machine.cpus) > 0, "elements")
    require(len(machine.level_names) == len(machine.topology.arities), "levels")
    require(machine.node_levels == len(machine.level_names) - 1, "levels of a node")
