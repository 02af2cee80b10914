"""What a partitioner and a mapper return, on one process or on each rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.backends.communication import agree, planned
from portpart.graphs import host_array, table
from portpart.io.rank_partition_file import write_own_lines
from portpart.options import checked_integer

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from portpart.backends.communication import Calls, Communicator
    from portpart.formats.text import PathLike
    from portpart.graphs import Topology

# What a partitioner and a mapper return --------------------------------------------------------


def members_of_blocks(part: np.ndarray, k: int, names: Sequence[Any] | None) -> list[Any]:
    """Return the vertices of each block, by name where they have one, without those of block -1."""
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(k + 1))
    members = [order[begin:end] for begin, end in pairwise(ends)]
    if names is None:
        return members
    return [[vertex if names[vertex] is None else names[vertex] for vertex in each.tolist()]
            for each in members]


@dataclass(frozen=True, eq=False, repr=False)
class PartitionResult:
    """A partition of a graph.  Unpacks as ``cut, part``, like pymetis's result.

    Attributes
    ----------
    part : array of int32, shape (n,)
        Block of each vertex, in the kind of array the graph came in.
    cut : int
        Weight of the edges between blocks, each edge once; of a hypergraph, of the nets that touch
        several blocks.
    imbalance : float
        Weight of the heaviest block over ``ceil(W / k)``, minus one; with a target the largest
        ``weight_b / ceil(target_b) - 1``.
    block_weights : numpy.ndarray of int64, shape (k,)
    max_block_weight_allowed : int
        The limit ``floor((1 + imbalance) * ceil(W / k))``; with a target the largest limit.
    feasible : bool
        Whether every block keeps its limit, and `min_block_weight` if that was given, and none is
        empty that need not be.
    k : int
    seconds : float
        Wall time of the call.
    stats : dict
        ``device``; ``phases``, seconds by name; ``launches`` and ``synchronizations``, kernels
        and programs started and times the host waited for the device; ``levels``, a dict per
        level, finest first: ``vertices``, ``arcs``, ``iterations`` and ``cut`` of its refinement,
        and for each phase that worked on the level (``coarsening``, ``refinement`` ...) a dict of
        ``launches``, ``synchronizations`` and ``seconds``; ``cuts``, that of the best partition
        after each walk through the levels (the phase ``search`` holds all walks but the first);
        ``repaired``, vertices that a last step has moved for the sake of the bounds alone, since
        refinement ended beyond them: seldom any; ``moved_vertices``, those of several ranks that
        other ranks have worked on, in the phase ``moving`` (docs/howto/distributed.md);
        ``left_out``, nets of a hypergraph, and pins, that the search did without; ``starts``, how
        many initial partitions of the coarsest graph were refined in the first walk, by what made
        them: ``grown`` or ``metis``; absent where none was needed, as with `initial`.

        A program counts as one launch, however many kernels it runs; a CUDA space whose
        ``program_mode`` is ``"walk"``, or that has not compiled the resident kernel yet, counts
        each kernel, and each test of a flag as a synchronisation.  The CPU space never waits: it
        counts no synchronisations.  ``weight_scale`` is what edge weights were multiplied by before
        they were rounded.  Of a hypergraph, ``levels`` count ``nets`` and ``pins``, and
        ``irregularities`` what is unusual in it.
    block_weight_limits : numpy.ndarray of int64, shape (k,)
        The limit of each block, or the weight of all vertices if that is less.
    labels : sequence or None
        Names of the vertices in the order of `part`: nodes of NetworkX, text of a frame or file.
        None if vertices have no names.
    km1, soed : int or None
        Of a hypergraph, summed over the nets that touch b > 1 blocks: their weights times b - 1,
        and times b.
    volume : int or None
        The communication volume of a graph, if that was the objective.

    Examples
    --------
    >>> import portpart
    >>> result = portpart.partition(portpart.generators.grid_2d(8), 2)
    >>> result.cut, result.feasible, result.block_weights.tolist()
    (8, True, [32, 32])
    >>> cut, part = result
    >>> len(part)
    64
    """

    part: Any
    cut: int
    imbalance: float
    block_weights: np.ndarray
    max_block_weight_allowed: int
    feasible: bool
    k: int
    seconds: float
    stats: dict[str, Any] = field(default_factory=dict)
    block_weight_limits: np.ndarray | None = None
    labels: Sequence[Any] | None = None
    km1: int | None = None
    soed: int | None = None
    volume: int | None = None

    def blocks(self) -> list[Any]:
        """The vertices of each block: k lists of names, or k arrays of numbers without names."""
        return members_of_blocks(host_array(self.part), self.k, self.labels)

    @property
    def order(self) -> np.ndarray:
        """The vertices block by block, ascending in each; int64, shape (n,).

        ``graph.permute(result.order)`` has each block in one range.
        """
        return np.argsort(host_array(self.part), kind="stable")

    def to_dict(self) -> dict[Any, int]:
        """The block of each vertex, by name where it has one, else by number."""
        blocks = host_array(self.part).tolist()
        names = range(len(blocks)) if self.labels is None else self.labels
        return {vertex if name is None else name: block
                for vertex, (name, block) in enumerate(zip(names, blocks))}

    def __iter__(self) -> Iterator[Any]:
        return iter((self.cut, self.part))

    def _facts(self) -> list[tuple[str, object]]:
        """What notebooks show: numbers that the result has, nothing of the size of `part`."""
        weights = self.block_weights
        heaviest = f"{weights.min():,} to {weights.max():,}" if len(weights) else "none"
        return [
            ("vertices", len(self.part)), ("blocks", self.k), ("cut", self.cut),
            ("km1", self.km1), ("soed", self.soed), ("volume", self.volume),
            ("imbalance", f"{self.imbalance:.4f}"),
            ("balance", "kept" if self.feasible else "NOT kept"), ("block weights", heaviest),
            ("limit", self.max_block_weight_allowed), ("time", f"{self.seconds:.3f} s"),
            ("device", self.stats.get("device"))]

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self._facts())

    def __repr__(self) -> str:
        state = "" if self.feasible else ", out of bounds"
        others = "".join(f", {name} {value:,}" for name, value in (
            ("km1", self.km1), ("volume", self.volume)) if value is not None)
        return (
            f"<PartitionResult: {len(self.part):,} vertices in {self.k:,} blocks, "
            f"cut {self.cut:,}{others}, imbalance {self.imbalance:.4f}{state}, "
            f"{self.seconds:.3f} s>"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RepartitionResult(PartitionResult):
    """A partition that takes the place of an old one.  Unpacks as ``cut, part``.

    What a :class:`PartitionResult` has, and:

    Attributes
    ----------
    moved : int
        Vertices that are not in their old block any more, those without one not counted, nor those
        whose block is gone.
    migration : int
        Their size.
    price : Fraction
        What the move of a vertex of size 1 has cost: `migration` of the call, or more if
        `max_migration` asked for that.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(8)
    >>> old = portpart.partition(graph, 2)
    >>> result = portpart.repartition(graph, old, 2)
    >>> result.moved, result.migration, result.migration_cost
    (0, 0, Fraction(0, 1))
    """

    moved: int
    migration: int
    price: Fraction

    @property
    def migration_cost(self) -> Fraction:
        """What all moves cost: the price times their size."""
        return self.price * self.migration

    def _facts(self) -> list[tuple[str, object]]:
        return [*super()._facts(), ("moved", self.moved), ("migration", self.migration),
                ("price", self.price)]

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.moved:,} moved>".replace("Part", "Repart", 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MappingResult(PartitionResult):
    """A mapping of processes to processing elements.  Unpacks as ``cost, part``.

    What a :class:`PartitionResult` has, ``part`` being the element of each vertex, and:

    Attributes
    ----------
    cost : int
        Communication cost J: weight times distance, each edge once.  Papers that sum over both
        directions of every edge have twice this.
    level_costs : numpy.ndarray of int64, shape (number of levels,)
        J by the innermost level of the hierarchy that the ends of an edge share.
    traffic : scipy.sparse.csr_array of int64, shape (k, k)
        Weight of the edges between each two elements; symmetric.
    topology : Topology

    Notes
    -----
    Multisection has a phase for each level of the machine, in ``stats["phases"]``, and searches
    within those: ``levels``, ``cuts`` and ``starts`` of these are not kept.  ``stats["sections"]``
    has a dict for each such level: its number ``level``, how many ``sections`` were divided into
    how many ``blocks`` each, and by which ``partitioner`` with which ``preset``.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(2, 4)
    >>> mapping = portpart.map_processes(graph, "2:2", "1:10")
    >>> mapping.cost == int(mapping.level_costs.sum())
    True
    >>> cost, part = mapping
    """

    cost: int
    level_costs: np.ndarray
    traffic: csr_array
    topology: Topology

    def __iter__(self) -> Iterator[Any]:
        return iter((self.cost, self.part))

    def _facts(self) -> list[tuple[str, object]]:
        from portpart.metrics.quality import cost_facts

        return [*cost_facts(self.level_costs).items(), *super()._facts()]

    def __repr__(self) -> str:
        state = "" if self.feasible else ", out of bounds"
        return (
            f"<MappingResult: {len(self.part):,} vertices on {self.k:,} elements, "
            f"cost {self.cost:,}, imbalance {self.imbalance:.4f}{state}, {self.seconds:.3f} s>"
        )


# What the partition of a graph of several ranks returns on each of them ------------------------


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
