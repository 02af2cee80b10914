"""What the partition of a graph of several ranks returns on each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.api.results import PartitionResult, members_of_blocks
from portpart.backends.communication.calls import agree
from portpart.backends.communication.plan import planned
from portpart.graphs.arrays import host_array
from portpart.io.rank_partition_file import write_own_lines
from portpart.options import checked_integer

if TYPE_CHECKING:
    from portpart.backends.communication.calls import Calls
    from portpart.backends.communication.protocol import Communicator
    from portpart.io.text.files import PathLike


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankPartitionResult(PartitionResult):
    """A partition of a graph of several ranks, as one of them has it.

    What a :class:`PartitionResult` has, equal on all ranks (times are those of rank 0), but for
    ``part``, the blocks of the vertices of this rank, in the memory that its arrays came in, and a
    tensor where `targets` were one; and:

    Attributes
    ----------
    first : int
        The first vertex of this rank: ``part[i]`` is the block of vertex ``first + i``.
    num_vertices : int
        Of the whole graph.

    Notes
    -----
    :meth:`gather` and :meth:`save` are called by all ranks, before the graph is freed.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(30)
    >>> with portpart.distributed_graph(grid.offsets, grid.targets, comm=MPI.COMM_SELF) as rows:
    ...     result = portpart.partition(rows, 4)
    ...     whole = result.gather()
    ...     result.save("grid.part")
    >>> result.first, len(result.part), result.feasible
    (0, 900, True)
    """

    first: int
    num_vertices: int
    calls: Calls = field(compare=False)

    def blocks(self) -> list[Any]:
        """The vertices of this rank in each block: k arrays of numbers in the whole graph."""
        return [each + self.first for each in members_of_blocks(host_array(self.part), self.k,
                                                                None)]

    def gather(self, root: int | None = 0) -> np.ndarray | None:
        """The blocks of all vertices.  All ranks call it.

        Parameters
        ----------
        root : int, optional
            The rank that gets them; None stands for all ranks.

        Returns
        -------
        numpy.ndarray of int32, shape (num_vertices,)
            None on other ranks.

        Raises
        ------
        InputError
            If there is no such rank.
        OutOfMemory
            On all ranks, if one has too little memory.
        """
        return self.calls.run(lambda comm: _gathered(comm, self, root))

    def save(self, path: PathLike) -> None:
        """Write the block of each vertex, one per line.  All ranks call it.

        Each rank writes its lines into a file next to `path`, which replaces it when all ranks have
        done so: a file of that name is either the old one or complete.

        Parameters
        ----------
        path : str or PathLike
            A file that all ranks can write to.  Not packed: names that end in ``.gz`` and the like
            are refused.

        Raises
        ------
        InputError
            On all ranks, if one of them cannot write.
        """
        self.calls.run(lambda comm: write_own_lines(comm, host_array(self.part), path))

    def _facts(self) -> list[tuple[str, object]]:
        return [*super()._facts(), ("vertices of all ranks", self.num_vertices),
                ("first vertex here", self.first)]

    def __repr__(self) -> str:
        return super().__repr__().replace("Partition", "RankPartition", 1).replace(
            f"{len(self.part):,} vertices", f"{len(self.part):,} of {self.num_vertices:,} vertices",
            1)


def _gathered(comm: Communicator, result: RankPartitionResult,
              root: int | None) -> np.ndarray | None:
    """The blocks of all vertices on a rank, or on all of them; each rank sends one message there.

    What the ranks take for the root travels with its length.
    """
    def sent() -> tuple[np.ndarray, np.ndarray]:
        to = -1 if root is None else checked_integer("root", root, 0, comm.size - 1)
        gets = np.arange(comm.size) == to if to >= 0 else np.ones(comm.size, bool)
        return (np.tile(host_array(result.part), int(gets.sum())),
                np.stack([len(result.part) * gets, np.full(comm.size, to, np.int64)], axis=1))

    part, numbers = planned(comm, sent)
    space = backends.space("cpu")
    blocks, reported = comm.post(part, numbers, lambda length: space.empty(length, part.dtype))
    if (reported[:, 1] != reported[0, 1]).any():
        agree(comm, {"root": str(root)})
    return blocks if root is None or comm.rank == root else None
