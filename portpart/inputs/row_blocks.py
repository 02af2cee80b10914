"""The rows of a sparse matrix that each block owns, and the vector entries that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import graphs
from portpart.errors import InputError, typed_memory_errors

if TYPE_CHECKING:

    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs import Blocks, SparseMatrix


@dataclass(frozen=True, eq=False, repr=False)
class RowBlock:
    """The rows of one block, for products with a vector that is divided in the same way.

    A *ghost* is a vector entry of another block that a row of this block needs.

    Attributes
    ----------
    block : int
    matrix : sparse matrix, shape (len(rows), len(columns))
        The rows in CSR form, of the same library as the whole matrix.
    rows : array of int32
        The number of each row in the whole matrix, ascending.
    columns : array of int32
        The number of each column: vector entries of this block first, ascending, then ghosts.
    num_own : int
        Number of vector entries of this block.
    owners : array of int32, shape (number of ghosts,)
        The block of each ghost.  Ghosts are ordered by block, then ascending.
    send : dict of int to array of int32
        For each block that needs entries of this one: their local numbers, in the order
        that they have there.
    recv : dict of int to slice
        For each block that owns ghosts: their local numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import eye_array
    >>> import portpart
    >>> first, second = portpart.row_blocks(eye_array(4) + eye_array(4, k=1), [0, 0, 1, 1])
    >>> first
    <RowBlock: block 0 with 2 rows, 2 own entries and 1 ghosts>
    >>> first.columns.tolist(), first.recv, second.send
    ([0, 1, 2], {1: slice(2, 3, None)}, {0: array([0], dtype=int32)})
    """

    block: int
    matrix: Any
    rows: Array
    columns: Array
    num_own: int
    owners: Array
    send: dict[int, Array]
    recv: dict[int, slice]

    @property
    def ghosts(self) -> Array:
        """The number of each ghost in the whole vector."""
        return self.columns[self.num_own :]

    @property
    def neighbours(self) -> list[int]:
        """The blocks that exchange values with this one, ascending."""
        return sorted({*self.send, *self.recv})

    def _repr_html_(self) -> str:
        return graphs.table("RowBlock", [
            ("block", self.block), ("rows", len(self.rows)), ("own vector entries", self.num_own),
            ("ghosts", len(self.owners)), ("other blocks", len(self.neighbours))])

    def __repr__(self) -> str:
        return (f"<RowBlock: block {self.block} with {len(self.rows):,} rows, {self.num_own:,} own "
                f"entries and {len(self.owners):,} ghosts>")


@typed_memory_errors
def row_blocks(matrix: SparseMatrix, part: Blocks, column_part: Blocks | None = None, *,
               k: int | None = None) -> list[RowBlock]:
    """Divide a sparse matrix into the rows of each block, with ghosts and send lists.

    Parameters
    ----------
    matrix : SciPy or CuPy sparse matrix or array, shape (m, n)
        With values of any type.  Stored zeros count as entries.
    part : array_like of int, shape (m,), dict, PartitionResult or Session
        Block of each row, 0 ... k - 1.
    column_part : array_like of int, shape (n,), optional
        Block of each entry of the vector that the matrix is multiplied by; default: `part`, for a
        square matrix.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block plus one.

    Returns
    -------
    list of RowBlock
        One for each block.

    Raises
    ------
    InputError
        If `matrix` is not a sparse matrix, if it is not square and `column_part` is missing, or if
        blocks have the wrong length or type.
    OutOfMemory
        If the memory is too small.

    Notes
    -----
    The total number of vector entries that blocks send is ``km1`` of the hypergraph
    ``as_hypergraph(matrix, model="column-net", diagonal=True)`` if the matrix is square and the
    vector is divided as the rows are.

    The work is done on the device of the matrix, in parallel.  The result does not depend on the
    device.

    Examples
    --------
    A product by blocks, each of which receives the entries of its ghosts from their owners:

    >>> import numpy as np
    >>> import portpart
    >>> matrix = portpart.generators.grid_2d(8).to_scipy()
    >>> x = np.arange(64.0)
    >>> result = portpart.partition(matrix, 4)
    >>> blocks = portpart.row_blocks(matrix, result)
    >>> y = np.empty(64)
    >>> for block in blocks:
    ...     values = np.empty(len(block.columns))
    ...     values[: block.num_own] = x[block.columns[: block.num_own]]
    ...     for other, places in block.recv.items():
    ...         values[places] = x[blocks[other].columns[blocks[other].send[block.block]]]
    ...     y[block.rows] = block.matrix @ values
    >>> np.array_equal(y, matrix @ x)
    True
    """
    rows = _compressed(matrix)
    if column_part is None and rows.shape[0] != rows.shape[1]:
        raise InputError(f"the matrix has shape {rows.shape}; column_part, the blocks of its "
                         f"{rows.shape[1]} columns, is needed where it is not square")
    of_rows, k_rows = graphs.blocks_of(part, rows.shape[0], k)
    of_columns, k_columns = (of_rows, k_rows) if column_part is None else graphs.blocks_of(
        column_part, rows.shape[1], k)
    space = graphs.space_of(rows.indices)
    return _divided(space, rows, space.asarray(of_rows.astype(np.int32)),
                    space.asarray(of_columns.astype(np.int32)), max(k_rows, k_columns))


def _divided(space: ExecutionSpace, rows: Any, of_rows: Array, of_columns: Array,
             k: int) -> list[RowBlock]:
    """Return the rows of all blocks."""
    num_rows, width = rows.shape
    offsets, indices = (graphs.index_array(space, each, "indptr and indices")
                        for each in (rows.indptr, rows.indices))
    csr = graphs.rows_of(offsets, indices)
    mean, pairs = len(indices) / max(1, num_rows), graphs.pairs_of(space, of_rows)
    nothing = graphs.known_pairs(space, space.empty(0, np.int64), width, k, of_columns)
    ghosts = graphs.reached(space, pairs, csr, mean, nothing, width)
    pairs_of_columns = graphs.merged(space, graphs.pairs_of(space, of_columns), ghosts)
    items = graphs.block_items(space, pairs_of_columns, of_columns, k)
    made = graphs.block_rows(space, pairs, csr, mean, items.known, width)
    numbers, values = (pairs % max(1, num_rows)).astype(np.int32), rows.data[made.places]
    first = space.to_host(graphs.known_pairs(space, pairs, num_rows, k).first)
    ends = space.to_host(made.offsets[space.asarray(first)]).tolist()
    result = []
    for block, each in enumerate(graphs.local_items(space, items, of_columns)):
        (low, high), (begin, end) = first[block : block + 2].tolist(), ends[block : block + 2]
        starts = (made.offsets[low : high + 1] - begin).astype(rows.indptr.dtype)
        own = type(rows)((values[begin:end], made.numbers[begin:end], starts),
                         shape=(high - low, len(each.numbers)))
        result.append(RowBlock(block, own, numbers[low:high], each.numbers, each.num_own,
                               each.owners, each.send, each.recv))
    return result


def _compressed(matrix: SparseMatrix) -> Any:
    """Return a sparse matrix in CSR form.

    Raises
    ------
    InputError
        If it is not a sparse matrix, or too large.
    """
    if not hasattr(matrix, "tocsr"):
        raise InputError(f"a sparse matrix of SciPy or CuPy is needed, not a "
                         f"{type(matrix).__name__}; portpart.subgraphs divides graphs")
    rows = matrix.tocsr()
    if max(rows.shape) > graphs.MAX_INT32:
        raise InputError(f"the matrix has shape {rows.shape}; {graphs.MAX_INT32} rows and columns "
                         "are the most")
    return rows
