"""Pictures of partitions: a mesh with coloured blocks, or the blocks and the cuts between them."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse import coo_array, csr_array

import portpart

plt.switch_backend("Agg")

LARGEST_LAYOUT = 1000  # blocks: the layout needs a dense eigenvector


def draw_mesh(
    graph: portpart.Graph, points: np.ndarray, part: np.ndarray, k: int, file: Path
) -> None:
    """Draw all vertices of a plane mesh in the colours of their blocks, and its centre enlarged."""
    colours = colours_of_blocks(portpart.metrics.quotient_graph(graph, part, k).to_scipy())[part]
    figure, (whole, centre) = plt.subplots(1, 2, figsize=(20, 10))
    whole.scatter(points[:, 0], points[:, 1], c=colours, s=1.0, linewidths=0, rasterized=True)
    _draw_window(centre, graph, points, colours)
    whole.set_title(f"{graph.num_vertices:,} vertices, {k} blocks")
    centre.set_title("the densest tenth, cut edges in black")
    for axes in (whole, centre):
        axes.set_aspect("equal")
        axes.axis("off")
    figure.savefig(file, dpi=120, bbox_inches="tight")
    plt.close(figure)


def draw_blocks(graph: portpart.Graph, part: np.ndarray, k: int, file: Path) -> None:
    """Draw the blocks as discs joined by lines as strong as the cuts between them."""
    links = portpart.metrics.quotient_graph(graph, part, k).to_scipy()
    figure, axes = plt.subplots(figsize=(12, 12))
    places = _spectral_layout(links) if k <= LARGEST_LAYOUT else _circle(k)
    upper = coo_array(np.triu(links.toarray())) if k <= LARGEST_LAYOUT else links.tocoo()
    strength = upper.data / max(1, upper.data.max(initial=1))
    lines = np.stack([places[upper.row], places[upper.col]], axis=1)
    axes.add_collection(LineCollection(lines, linewidths=0.3 + 5 * strength, colors="0.6"))
    axes.scatter(*places.T, s=300, c=colours_of_blocks(links), zorder=2, edgecolors="0.2")
    axes.set_title(f"{graph.num_vertices:,} vertices in {k} blocks, and the cuts between them")
    axes.axis("off")
    figure.savefig(file, dpi=120, bbox_inches="tight")
    plt.close(figure)


def colours_of_blocks(links: csr_array) -> np.ndarray:
    """Colour the blocks so that neighbours differ: greedily, most neighbours first."""
    palette = plt.get_cmap("tab20").colors
    colour = np.full(links.shape[0], -1)
    for block in np.argsort(-np.diff(links.indptr), kind="stable"):
        near = links.indices[links.indptr[block] : links.indptr[block + 1]]
        taken = set(colour[near].tolist())
        # start at a place of its own, so that the whole palette is used
        choices = [(int(block) * 7 + shift) % len(palette) for shift in range(len(palette))]
        colour[block] = next((c for c in choices if c not in taken), choices[0])
    return np.asarray(palette)[colour]


def _draw_window(
    axes: plt.Axes, graph: portpart.Graph, points: np.ndarray, colours: np.ndarray
) -> None:
    """Draw the edges of the densest tenth of the vertices, cut edges in black."""
    centre = np.median(points, axis=0)
    distance = np.abs(points - centre).max(axis=1)
    inside = distance <= np.quantile(distance, 0.1)
    arcs = graph.to_scipy().tocoo()
    keep = inside[arcs.row] & inside[arcs.col] & (arcs.row < arcs.col)
    tail, head = arcs.row[keep], arcs.col[keep]
    colour = np.where((colours[tail] == colours[head]).all(axis=1)[:, None], colours[tail], 0.0)
    lines = np.stack([points[tail], points[head]], axis=1)
    axes.add_collection(LineCollection(lines, colors=colour, linewidths=0.6))
    axes.autoscale()


def _spectral_layout(links: csr_array) -> np.ndarray:
    """Place the blocks by two eigenvectors of their normalised Laplacian."""
    weights = links.toarray() + 1e-9
    scale = 1 / np.sqrt(weights.sum(axis=0))
    _, vectors = np.linalg.eigh(-weights * scale * scale[:, None])
    places = vectors[:, 1:3] if len(weights) > 2 else np.eye(len(weights), 2)
    ranks = places.argsort(axis=0).argsort(axis=0) / max(1, len(places) - 1)
    return 0.5 * places / max(1e-12, np.abs(places).max()) + 0.5 * (2 * ranks - 1)


def _circle(k: int) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, k, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
