"""Columns of a sparse matrix to processes, so that products y = A x send few words.

    python examples/spmv.py [--size 60] [-k 8]

Process p has x_j and column j for each j that it is dealt, and owns y_i for the same i.  It adds up
its part of every y_i; those that it does not own it sends to the owner, one word each.  Vertices of
the hypergraph are the columns, nets the rows: km1 is the number of words.
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp

import portpart


def main() -> None:
    """Deal the columns in three ways; multiply by each and count the words that are sent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=60, help="points along a side of the grid")
    parser.add_argument("-k", type=int, default=8, help="processes")
    options = parser.parse_args()
    matrix = grid_with_shortcuts(options.size)
    n, k = matrix.shape[0], options.k
    work = np.diff(matrix.tocsc().indptr)  # multiplications by column
    nets = portpart.as_hypergraph(matrix, vertex_weights=work, diagonal=True)
    print(f"matrix of {n:,} x {n:,} with {matrix.nnz:,} entries; {nets}")
    result = portpart.partition(nets, k, objective="km1")

    print(f"{'columns are dealt':<22}{'words sent':>12}{'most work':>12}")
    for name, part in (("by portpart", result.part), ("in runs", np.arange(n) * k // n),
                       ("in turn", np.arange(n) % k)):
        words = words_of_a_product(matrix, part, k)
        print(f"{name:<22}{words:>12,}{np.bincount(part, work, k).max():>12,.0f}")
    if words_of_a_product(matrix, result.part, k) != result.km1:
        raise SystemExit("km1 is not the number of words: a defect, please report it")
    print(f"km1 of the first, {result.km1:,}, is the number of its words")


def grid_with_shortcuts(size: int) -> sp.csr_matrix:
    """A square grid whose unknowns are numbered at random, with some entries far away."""
    rng = np.random.default_rng(0)
    line = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(size, size))
    grid = sp.kronsum(line, line).tocoo()
    n = grid.shape[0]
    ends = rng.integers(0, n, (2, n // 20))
    order = rng.permutation(n)
    rows, columns = (order[np.append(old, new)] for old, new in
                     ((grid.row, ends[0]), (grid.col, ends[1])))
    values = np.append(grid.data, np.full(ends.shape[1], 0.5))
    return sp.csr_matrix((values, (rows, columns)), shape=(n, n))


def words_of_a_product(matrix: sp.csr_matrix, part: np.ndarray, k: int) -> int:
    """Multiply as the processes do, compare with SciPy, and count what they send."""
    x = np.random.default_rng(1).normal(size=matrix.shape[1])
    columns = matrix.tocsc()
    y, words = np.zeros(matrix.shape[0]), 0
    for process in range(k):
        mine = np.flatnonzero(part == process)
        block = columns[:, mine]
        y += block @ x[mine]
        rows = np.unique(block.indices)
        words += int(np.count_nonzero(part[rows] != process))
    if not np.allclose(y, matrix @ x):
        raise SystemExit("the product is wrong")
    return words


if __name__ == "__main__":
    main()
