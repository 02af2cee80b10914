"""Results in the form of PyMETIS."""

from __future__ import annotations

from array import array
from typing import Any

from pymetis import zero_copy_dtype

from portpart.errors import InputError
from portpart.graphs.arrays import host_array
from portpart.graphs.graph import Graph
from portpart.metrics.structure import components_per_block


def part_as_there(part: Any, nparts: int) -> Any:
    """Blocks as an array of METIS's integers, or as a list if there is one block only."""
    blocks = host_array(part).astype(zero_copy_dtype(), copy=False)
    if nparts == 1:
        return blocks.tolist()
    return array("q" if blocks.itemsize == 8 else "i", blocks.tobytes())


def refuse_pieces(graph: Graph, part: Any, nparts: int) -> None:
    """Raise unless the vertices of every block are connected."""
    pieces = components_per_block(graph, part, nparts)
    if (pieces > 1).any():
        block = int((pieces > 1).argmax())
        raise InputError(f"contig=1: block {block} has {pieces[block]} components; portpart does "
                         "not connect blocks: try another seed, fewer blocks or more imbalance")
