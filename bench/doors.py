"""Meshes, sub-graphs, matrices, networks and launchers, beside what one writes by hand.

    python -m bench.doors                 # some minutes
    python -m bench.doors --points 3000   # a look

By hand means meshio, NumPy, SciPy, pymetis and NetworkX, in the shortest way that does not loop
over elements.  What both make is compared.  The mesh has tetrahedra between random points; blocks
are portpart's on both sides.  Seconds are those of the fastest of ``--calls`` calls, after one on a
small mesh, which compiles.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay

import portpart
from portpart import io

Sides = tuple[str, Callable[[], Any], Callable[[], Any] | None, Callable[[Any, Any], bool]]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--points", default=60_000, show_default=True, help="Points of the mesh.")
@click.option("--k", default=64, show_default=True, help="Number of blocks.")
@click.option("--calls", default=6, show_default=True)
def main(points: int, k: int, calls: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks(Path(folder), 500, 4):
            task[1]()
        print("| task | portpart, s | by hand, s |\n|---|--:|--:|")
        for name, ours, by_hand, equal in tasks(Path(folder), points, k):
            made, seconds = timed(ours, calls)
            other, other_seconds = (None, None) if by_hand is None else timed(by_hand, calls)
            assert by_hand is None or equal(made, other), name
            beside = "" if other_seconds is None else f"{other_seconds:.3f}"
            print(f"| {name} | {seconds:.3f} | {beside} |", flush=True)


def timed(call: Callable[[], Any], calls: int) -> tuple[Any, float]:
    """What a call returns, and the seconds of the fastest."""
    seconds = []
    for _ in range(calls):
        begin = time.perf_counter()
        made = call()
        seconds.append(time.perf_counter() - begin)
    return made, min(seconds)


def tasks(folder: Path, points: int, k: int) -> list[Sides]:
    """Names, what portpart does, what is written by hand, and how the two are compared."""
    import meshio

    places = np.random.default_rng(0).random((points, 3))
    file = folder / "cube.vtu"
    meshio.Mesh(places, {"tetra": Delaunay(places).simplices}).write(file)
    mesh = io.read_mesh(file)
    tetrahedra = mesh.cells[0].nodes
    dual = mesh.dual_graph()
    part = portpart.partition(dual, k).part
    pieces = mesh.submeshes(part)
    graph = portpart.generators.delaunay(4 * points)
    matrix, blocks = graph.to_scipy(), portpart.partition(graph, k).part
    return [
        ("read a .vtu file", lambda: io.read_mesh(file), lambda: meshio.read(file),
         lambda ours, by_hand: (ours.cells[0].nodes == by_hand.cells[0].data).all()),
        ("dual graph of faces", mesh.dual_graph, lambda: dual_by_hand(tetrahedra),
         lambda ours, by_hand: same_matrix(ours.to_scipy(), by_hand)),
        ("partition", lambda: portpart.partition(dual, k), None, lambda *_: True),
        ("write a .vtu file with blocks", lambda: io.write_mesh(mesh, folder / "a.vtu", part),
         lambda: meshio.Mesh(places, {"tetra": tetrahedra}, cell_data={"block": [part]}).write(
             folder / "b.vtu"), lambda *_: True),
        ("sub-meshes with a layer of ghosts", lambda: mesh.submeshes(part),
         lambda: submeshes_by_hand(tetrahedra, part, k), same_pieces),
        ("write them as a .pvtu file", lambda: io.write_submeshes(pieces, folder / "c.pvtu"),
         None, lambda *_: True),
        ("sub-graphs with send lists", lambda: portpart.subgraphs(graph, blocks),
         lambda: halos_by_hand(matrix, blocks, k), same_halos),
        ("row blocks of a matrix", lambda: portpart.row_blocks(matrix, blocks),
         lambda: halos_by_hand(matrix, blocks, k), same_halos),
        *networks(points, k), *launchers(folder, points),
    ]


def networks(points: int, k: int) -> list[Sides]:
    """A graph of NetworkX to sets of nodes; by hand with pymetis, whose sets are others."""
    import networkx as nx
    import pymetis

    from portpart.compat import networkx as ours

    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(200, max(10, points // 200)))

    def by_hand() -> list[set[Any]]:
        _, found = pymetis.part_graph(k, adjacency=[list(graph[node]) for node in graph])
        order = np.argsort(found, kind="stable")
        borders = np.searchsorted(np.array(found)[order], np.arange(1, k))
        return [set(each.tolist()) for each in np.split(order, borders)]

    def cover(made: list[set[Any]], other: list[set[Any]]) -> bool:
        return all(nx.community.is_partition(graph, each) for each in (made, other))

    return [("a graph of NetworkX to sets", lambda: ours.partition(graph, k), by_hand, cover)]


def launchers(folder: Path, ranks: int) -> list[Sides]:
    """A SLURM_HOSTFILE of a mapping."""
    size = 64
    machine = portpart.Topology(f"{size}:{-(-ranks // size)}", "1:10")
    hosts = [f"node{i:05}" for i in range(-(-ranks // size))]
    part = np.random.default_rng(0).permutation(machine.num_elements)[:ranks]

    def by_hand() -> bool:
        text = "".join(f"{hosts[node]}\n" for node in (part // size).tolist())
        return bool((folder / "by_hand").write_text(text))

    return [("a SLURM_HOSTFILE", lambda: io.write_slurm_hostfile(
        part, machine, folder / "hosts", hosts=hosts, node_levels=1), by_hand,
        lambda *_: (folder / "hosts").read_bytes() == (folder / "by_hand").read_bytes())]


def dual_by_hand(tetrahedra: np.ndarray) -> Any:
    """Tetrahedra with a common face: faces that are there twice."""
    faces = np.sort(tetrahedra[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]], axis=2)
    faces = faces.reshape(-1, 3)
    owner = np.repeat(np.arange(len(tetrahedra)), 4)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order][1:] == faces[order][:-1]).all(axis=1))
    one, other = owner[order[same]], owner[order[same + 1]]
    n = len(tetrahedra)
    found = sp.coo_array((np.ones(len(one)), (one, other)), (n, n))
    return (found + found.T).tocsr()


def submeshes_by_hand(tetrahedra: np.ndarray, part: np.ndarray, k: int) -> list[Any]:
    """Elements and nodes of each block with the elements that share a node with own ones."""
    marked = np.zeros(tetrahedra.max() + 1, bool)
    made = []
    for block in range(k):
        own = part == block
        marked[:] = False
        marked[tetrahedra[own]] = True
        elements = np.concatenate([np.flatnonzero(own),
                                   np.flatnonzero(marked[tetrahedra].any(axis=1) & ~own)])
        nodes, local = np.unique(tetrahedra[elements], return_inverse=True)
        made.append((elements, nodes, local.reshape(-1, 4)))
    return made


def halos_by_hand(matrix: Any, part: np.ndarray, k: int) -> list[Any]:
    """For each block its rows, its ghosts, and what it receives of each other block."""
    made = []
    for block in range(k):
        rows = np.flatnonzero(part == block)
        columns = np.unique(matrix[rows].indices)
        ghosts = columns[part[columns] != block]
        made.append((rows, {int(other): ghosts[part[ghosts] == other]
                            for other in np.unique(part[ghosts])}))
    return made


def same_matrix(one: Any, other: Any) -> bool:
    return (abs(one - other) > 0).nnz == 0


def same_pieces(ours: list[Any], by_hand: list[Any]) -> bool:
    return all(np.array_equal(np.sort(piece.elements), np.sort(elements))
               and np.array_equal(np.sort(piece.nodes), nodes)
               for piece, (elements, nodes, _) in zip(ours, by_hand, strict=True))


def same_halos(ours: list[Any], by_hand: list[Any]) -> bool:
    """Of sub-graphs, and of rows, whose columns are numbered in the same way."""
    for each, (rows, received) in zip(ours, by_hand, strict=True):
        numbers = each.vertices if hasattr(each, "vertices") else each.columns
        if not np.array_equal(numbers[: len(rows)], rows) or set(each.recv) != set(received):
            return False
        if not all(np.array_equal(numbers[places], received[other])
                   for other, places in each.recv.items()):
            return False
    return True


if __name__ == "__main__":
    main()
