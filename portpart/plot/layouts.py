"""Places for the vertices of graphs without coordinates, and for blocks."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, laplacian, shortest_path
from scipy.spatial import cKDTree

from portpart.errors import InputError
from portpart.graphs import MAX_INT32, GraphLike, Hypergraph
from portpart.plot.links import either_graph

# Places for the vertices of graphs without coordinates -----------------------------------------
#
# Up to `DENSE` vertices: the two smoothest eigenvectors of the normalised Laplacian, exact, then
# stress majorisation (Gansner, Koren and North, 2004). Larger graphs: the two smoothest vectors
# among the distances from a few vertices that are far apart (Koren's subspace, 2003), improved by
# LOBPCG.


DENSE = 800
"""Maximum number of vertices of a component that is treated exactly."""

PIVOTS = 24
"""Number of vertices from which distances are measured."""

SWEEPS = 60
"""Number of iterations of stress majorisation."""

ITERATIONS = 40
"""Number of iterations of LOBPCG, for up to `SOLVED` arcs."""

SOLVED = 2_000_000

CROWDED = 0.4
"""Minimum share of the width for the middle four fifths of all vertices."""


def layout(graph: GraphLike) -> np.ndarray:
    """Compute places in the plane for vertices without coordinates, with neighbours near each
    other.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of `as_graph`
        Nets of a hypergraph also have places during the work.

    Returns
    -------
    numpy.ndarray of float64, shape (n, 2)
        Components are side by side, each with a size by its number of vertices.

    Notes
    -----
    Spectral: the two eigenvectors of the normalised Laplacian with the smallest eigenvalues above
    zero.  In components of up to 800 vertices they are exact, and places are then adapted to the
    lengths of shortest paths. In larger ones they are combinations of the distances from 24
    vertices, so that the time is that of 24 searches of the graph, some seconds for a million
    vertices.  The same graph always has the same layout.

    Examples
    --------
    >>> import portpart
    >>> portpart.plot.layout(portpart.generators.grid_2d(5, 5)).shape
    (25, 2)
    """
    graph = either_graph(graph)
    if isinstance(graph, Hypergraph):
        matrix = _joined_through_nets(graph)
    else:
        matrix = graph.to_scipy().astype(np.float64)
        matrix.data[:] = 1
    return places_of(matrix)[:graph.num_vertices]


def places_of(matrix: csr_array, lengths: csr_array | None = None) -> np.ndarray:
    """Return places for the rows of a symmetric matrix; edges have length 1, or `lengths`."""
    n = matrix.shape[0]
    matrix, lengths = _compact(matrix), None if lengths is None else _compact(lengths)
    count, component = connected_components(matrix, directed=False)
    sizes = np.bincount(component, minlength=count)
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])
    places = np.zeros((n, 2))
    largest_first = np.argsort(-sizes, kind="stable").tolist()
    for each in largest_first:
        if sizes[each] > 1:
            own = members[each]
            inside = matrix[own][:, own] if count > 1 else matrix
            far = None if lengths is None else lengths[own][:, own]
            places[own] = component_places(inside, far)
    return _side_by_side(places, [members[each] for each in largest_first])


def component_places(matrix: csr_array, lengths: csr_array | None) -> np.ndarray:
    """Return places for a connected graph of at least two vertices, centred, of size about 1."""
    n = matrix.shape[0]
    if n == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    if n <= DENSE:
        start = _spectrum(matrix)
        found = _relaxed(start, shortest_path(matrix if lengths is None else lengths,
                                              directed=False, unweighted=lengths is None))
    else:
        found = _subspace(matrix)
    return _upright(found)


def _compact(matrix: csr_array) -> csr_array:
    """Return the matrix with indices of 32 bits, which SciPy's searches of graphs need."""
    if matrix.nnz > MAX_INT32:
        raise InputError(f"a graph of {matrix.nnz} arcs has no layout; {MAX_INT32} are the most")
    return csr_array((matrix.data, matrix.indices.astype(np.int32),
                      matrix.indptr.astype(np.int32)), shape=matrix.shape)


def _joined_through_nets(graph: Hypergraph) -> csr_array:
    """Return the graph of vertices and nets, joined by pins; vertices first."""
    to_host, n, m = graph.space.to_host, graph.num_vertices, graph.num_nets
    pins = to_host(graph.net_pins)
    nets = n + np.repeat(np.arange(m), np.diff(to_host(graph.net_offsets)))
    ends = np.concatenate([pins, nets]), np.concatenate([nets, pins])
    return coo_array((np.ones(2 * len(pins)), ends), shape=(n + m, n + m)).tocsr()


def _spectrum(matrix: csr_array) -> np.ndarray:
    """Return eigenvectors of the two smallest eigenvalues above zero, divided by sqrt(degree)."""
    smooth, root = laplacian(matrix.toarray(), normed=True, return_diag=True)
    _, vectors = np.linalg.eigh(smooth)
    return _signed(vectors[:, 1:3] / root[:, None])


def _subspace(matrix: csr_array) -> np.ndarray:
    """Return the same as `_spectrum`, in the space of a few vectors of distances."""
    from scipy.sparse.linalg import lobpcg

    smooth, root = laplacian(matrix, normed=True, return_diag=True)
    constant = (root / np.linalg.norm(root))[:, None]
    basis = _distances(matrix) * root[:, None]
    basis -= constant @ (constant.T @ basis)
    basis, _ = np.linalg.qr(basis)
    _, inside = np.linalg.eigh(basis.T @ (smooth @ basis))
    vectors = basis @ inside[:, :2]
    if matrix.nnz <= SOLVED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # reports its progress
            _, vectors = lobpcg(smooth, vectors, Y=constant, largest=False, tol=1e-6,
                                maxiter=ITERATIONS)
    return _evened(_signed(vectors / root[:, None]))


def _evened(places: np.ndarray) -> np.ndarray:
    """Return places that are less concentrated: half by their ranks if most are in the middle."""
    low, high = np.quantile(places, [0.1, 0.9], axis=0)
    is_tight = high - low < CROWDED * np.ptp(places, axis=0)
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0) / len(places) - 0.5
    scaled = places / np.maximum(1e-300, 2 * np.abs(places).max(axis=0))
    return np.where(is_tight, scaled + ranks, places / np.maximum(1e-300, np.ptp(places, axis=0)))


def _distances(matrix: csr_array) -> np.ndarray:
    """Return numbers of edges from each of some vertices, which are as far as possible from each
    other.
    """
    n = matrix.shape[0]
    columns, nearest, pivot = [], np.full(n, n), 0
    for _ in range(PIVOTS):
        order, before = breadth_first_order(matrix, pivot, directed=True)
        far = _depths(order, before)
        columns.append(far.astype(np.float64))
        nearest = np.minimum(nearest, far)
        pivot = int(nearest.argmax())
    return np.stack(columns, axis=1)


def _depths(order: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return depths in a tree whose vertices are listed level by level."""
    depths = np.zeros(len(order), np.int64)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    parents = place[before[order[1:]]]
    begin, end, depth = 0, 1, 0
    while end < len(order):
        # the children of one level are contiguous
        begin, end = end, 1 + int(np.searchsorted(parents, end))
        depth += 1
        depths[order[begin:end]] = depth
    return depths


def _relaxed(places: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Move places until their distances are about `lengths`, mainly the short ones."""
    from scipy.linalg import cho_factor, cho_solve

    n = len(places)
    np.fill_diagonal(lengths, 1)
    weights = lengths**-2.0
    np.fill_diagonal(weights, 0)
    stiffness = np.diag(weights.sum(axis=1)) - weights
    factor = cho_factor(stiffness[1:, 1:])
    deviation = np.sqrt(((places - places.mean(axis=0)) ** 2).sum(axis=1).mean())
    # a little off the line or point on which eigenvectors may have put several
    places = places / max(1e-12, deviation) * lengths.mean() / 2 + 1e-3 * _spiral(n)
    for _ in range(SWEEPS):
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        np.fill_diagonal(apart, 1)
        pull = -weights * lengths / np.maximum(apart, 1e-9)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        goal = pull @ places
        places = np.vstack([np.zeros(2), cho_solve(factor, goal[1:])])
    return places


def _spiral(count: int) -> np.ndarray:
    """Return points evenly distributed over a disc of radius 1, like the seeds of a sunflower."""
    angle = np.arange(count) * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt((np.arange(count) + 0.5) / max(1, count))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _signed(vectors: np.ndarray) -> np.ndarray:
    """Return vectors whose largest entry is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return vectors * signs


def _upright(places: np.ndarray) -> np.ndarray:
    """Return places turned so that they are widest from left to right, in a box 1 wide or high."""
    places = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(places.T @ places)
    places = places @ _signed(axes[:, ::-1])
    return places / max(1e-12, float(np.ptp(places, axis=0).max()))


def _side_by_side(places: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """Place components in rows, the largest first, each in a box whose area depends on its size."""
    row_width = np.sqrt(sum(len(own) for own in members)) if members else 0.0
    placed = np.zeros_like(places)
    left = below = height = 0.0
    for own in members:
        side = np.sqrt(len(own))
        low = places[own].min(axis=0)
        width, tall = np.ptp(places[own], axis=0) * side
        if left and left + width > 1.1 * row_width:
            left, below, height = 0.0, below - height - 0.4 * side - 0.3, 0.0
        placed[own] = (places[own] - low) * side + (left, below - tall)
        left += width + 0.35 * side + 0.3
        height = max(height, tall)
    return placed


# Places of blocks, sizes of their discs, and vertices that gather around them ------------------


DISC_SHARE = 0.14
"""Share of the picture that all discs cover together."""

TOGETHER = 0.7
"""Minimum share of vertices whose nearest vertex is in their block, for blocks to be
distinguishable.
"""


def places_of_blocks(links: csr_array) -> np.ndarray:
    """Return places for blocks, with strongly linked ones near each other, shape (k, 2)."""
    joined, lengths = links.astype(np.float64), links.astype(np.float64)
    joined.data[:] = 1
    mean = lengths.data.sum() / max(1, lengths.nnz) or 1.0
    lengths.data = np.clip(np.maximum(lengths.data / mean, 1e-9) ** -0.5, 0.6, 2.5)
    return places_of(joined, lengths)


def middles(points: np.ndarray, part: np.ndarray, k: int) -> np.ndarray:
    """Return the middle of the points of each block, shape (k, 2)."""
    sums = [np.bincount(part, column, k) for column in points[:, :2].T]
    return np.stack(sums, axis=1) / np.maximum(1, np.bincount(part, minlength=k))[:, None]


def disc_radii(places: np.ndarray, weights: np.ndarray, share: float = DISC_SHARE) -> np.ndarray:
    """Return radii of discs with areas proportional to the weights, nine tenths of which do not
    overlap.
    """
    extent = np.ptp(places, axis=0) if len(places) else np.zeros(2)
    widest = float(extent.max()) or 1.0
    area = share * max(float(extent.prod()), (0.3 * widest) ** 2)
    radii = np.sqrt(weights / max(1, weights.sum()) * area / np.pi)
    if len(radii) < 2:
        return radii
    apart, near = cKDTree(places).query(places, k=2)
    ratios = apart[:, 1] / np.maximum(1e-12, radii + radii[near[:, 1]])
    return radii * np.clip(0.95 * np.quantile(ratios, 0.1), 0.3, 1)


def gathered(places: np.ndarray, part: np.ndarray, links: csr_array) -> np.ndarray:
    """Return the same places if blocks are distinguishable; otherwise each block is a disc.

    Few graphs fit into the plane: in a layout of a large circuit or social network the blocks
    overlap. Then a block's vertices fill a disc in the order of their places.
    """
    k = links.shape[0]
    if k < 2 or len(places) <= DENSE or _share_together(places, part) >= TOGETHER:
        return places
    sizes = np.bincount(part, minlength=k)
    centres = places_of_blocks(links)
    radii = disc_radii(centres, sizes, share=0.6)
    x, y = (2 * _ranks(column, part, sizes) - 1 for column in places.T)
    # the square of ranks becomes a disc
    inside = np.stack([x * np.sqrt(1 - y * y / 2), y * np.sqrt(1 - x * x / 2)], axis=1)
    found: np.ndarray = centres[part] + radii[part][:, None] * inside
    return found


def _share_together(places: np.ndarray, part: np.ndarray) -> float:
    """Return the share of the points whose nearest other point is of the same block."""
    _, near = cKDTree(places).query(places, k=2, workers=-1)
    other = np.where(near[:, 0] == np.arange(len(part)), near[:, 1], near[:, 0])
    return float((part[other] == part).mean())


def _ranks(values: np.ndarray, part: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the place of each value among those of its block, between 0 and 1."""
    order = np.lexsort((values, part))
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values)) - begin[part[order]] + 0.5
    return ranks / sizes[part]
