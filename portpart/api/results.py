"""The results of partitioners and mappers, on one process or on each rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.backends.communication import Communicator, ProcessCalls, agree, planned
from portpart.graphs import host_array, table
from portpart.io.rank_partition_file import write_own_lines
from portpart.options import checked_integer

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scipy.sparse import csr_array

    from portpart.backends.programs import Array
    from portpart.formats.text import PathLike
    from portpart.graphs import Topology

# Results of partitioners and mappers -----------------------------------------------------------


def members_of_blocks(part: np.ndarray, k: int,
                      names: Sequence[Hashable] | None) -> list[np.ndarray] | list[list[Hashable]]:
    """Return the vertices of each block, by name if they have names, without those of block -1."""
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
        Block of each vertex, in the array type of the graph.
    cut : int
        Total weight of the edges between blocks, each edge once; for a hypergraph, of the nets with
        pins in several blocks.
    imbalance : float
        Weight of the heaviest block divided by ``ceil(W / k)``, minus one; with a target the
        largest ``weight_b / ceil(target_b) - 1``.
    block_weights : numpy.ndarray of int64, shape (k,)
    max_block_weight_allowed : int
        The limit ``floor((1 + imbalance) * ceil(W / k))``; with a target the largest limit.
    feasible : bool
        Whether all blocks are within their limits and have at least `min_block_weight`, and no
        block is empty that could have a vertex.
    k : int
    seconds : float
        Wall time of the call.
    stats : dict
        Facts about the call:

        - ``device``;
        - ``phases``: seconds by name;
        - ``launches``, ``synchronizations``: number of kernels and programs started, and of times
          that the host waited for the device;
        - ``levels``: a dict per level, finest first, with ``vertices``, ``arcs`` (``nets`` and
          ``pins`` of a hypergraph), ``iterations`` and ``cut`` of its refinement, ``flow_gain``
          if it was refined by flows (by how much they reduced the objective), and for each phase
          (``coarsening``, ``refinement`` ...) a dict of ``launches``, ``synchronizations`` and
          ``seconds``; levels that one program makes count with the first of them;
        - ``cuts``: cut of the best partition after each cycle through the levels (the phase
          ``search`` contains all cycles but the first);
        - ``rounds``: with `rounds`, a dict for each completed round with its ``kind``
          (``combination``, ``cycle`` or ``start``), the ``cut`` of its partition, the ``best`` so
          far (both in terms of the objective), and ``seconds`` since the search began;
        - ``ended``: what ended the rounds: ``rounds``, ``time``, ``interrupt`` (Ctrl-C) or
          ``optimum`` (nothing is cut, or there is one partition only);
        - ``repaired``: number of vertices that the host moved after refinement to meet the limits;
        - ``moved_vertices``: number of vertices that moved to other ranks for the call, in the
          phase ``moving`` (docs/howto/distributed.md);
        - ``left_out``: nets and pins of a hypergraph that the search ignored;
        - ``starts``: number of refined initial partitions by their method, ``grown`` or ``metis``;
          absent if none was needed, as with `initial`;
        - ``weight_scale``: factor by which edge weights were multiplied before rounding;
        - ``irregularities``: counts of special cases of a hypergraph.

        A program counts as one launch.  A CUDA space in ``program_mode`` ``"walk"``, or without a
        compiled resident kernel, counts each kernel, and each test of a flag as a synchronisation.
        The CPU space counts no synchronisations.
    block_weight_limits : numpy.ndarray of int64, shape (k,)
        The limit of each block, at most the total weight.
    labels : sequence or None
        Names of the vertices in the order of `part`: nodes of NetworkX, text of a frame or file.
        None if vertices have no names.
    km1, soed : int or None
        For a hypergraph, the sum over all nets with pins in b > 1 blocks of weight times b - 1, and
        of weight times b.
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

    part: Array
    cut: int
    imbalance: float
    block_weights: np.ndarray
    max_block_weight_allowed: int
    feasible: bool
    k: int
    seconds: float
    stats: dict[str, Any] = field(default_factory=dict)
    block_weight_limits: np.ndarray | None = None
    labels: Sequence[Hashable] | None = None
    km1: int | None = None
    soed: int | None = None
    volume: int | None = None

    def blocks(self) -> list[np.ndarray] | list[list[Hashable]]:
        """The vertices of each block: k lists of names, or k arrays of numbers without names."""
        return members_of_blocks(host_array(self.part), self.k, self.labels)

    @property
    def order(self) -> np.ndarray:
        """The vertices block by block, ascending in each; int64, shape (n,).

        ``graph.permute(result.order)`` has each block in one range.
        """
        return np.argsort(host_array(self.part), kind="stable")

    def to_dict(self) -> dict[Hashable, int]:
        """Return the block of each vertex, by name if it has one, else by number."""
        blocks = host_array(self.part).tolist()
        names = range(len(blocks)) if self.labels is None else self.labels
        return {vertex if name is None else name: block
                for vertex, (name, block) in enumerate(zip(names, blocks))}

    def __iter__(self) -> Iterator[Any]:
        return iter((self.cut, self.part))

    def _facts(self) -> list[tuple[str, object]]:
        """Return the numbers that notebooks show; none has the size of `part`."""
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
        return (f"<PartitionResult: {len(self.part):,} vertices in {self.k:,} blocks, "
                f"cut {self.cut:,}{others}, imbalance {self.imbalance:.4f}{state}, "
                f"{self.seconds:.3f} s>")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RepartitionResult(PartitionResult):
    """A new partition near an old one.  Unpacks as ``cut, part``.

    It has the attributes of :class:`PartitionResult` and these:

    Attributes
    ----------
    moved : int
        Number of vertices that left their old block.  New vertices, and vertices whose block no
        longer exists, do not count.
    migration : int
        Migration volume: their total size.
    price : Fraction
        Migration cost factor: `migration` of the call, or a larger one if `max_migration` required
        it.

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
        """Cost of all moves: `price` times `migration`."""
        return self.price * self.migration

    def _facts(self) -> list[tuple[str, object]]:
        return [*super()._facts(), ("moved", self.moved), ("migration", self.migration),
                ("price", self.price)]

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.moved:,} moved>".replace("Part", "Repart", 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MappingResult(PartitionResult):
    """A mapping of processes to processing elements.  Unpacks as ``cost, part``.

    It has the attributes of :class:`PartitionResult`, where ``part`` is the element of each vertex,
    and these:

    Attributes
    ----------
    cost : int
        Communication cost J: sum of weight times distance, each edge once.  Papers that count both
        directions of an edge have twice this value.
    level_costs : numpy.ndarray of int64, shape (number of levels,)
        J by the innermost level of the hierarchy that the ends of an edge share.
    traffic : scipy.sparse.csr_array of int64, shape (k, k)
        Weight of the edges between each pair of elements; symmetric.
    topology : Topology

    Notes
    -----
    With multisection, ``stats["phases"]`` has a phase for each level of the machine, and
    ``stats["sections"]`` a dict: its number ``level``, the number of ``sections`` that were divided
    into ``blocks`` each, the ``partitioner`` and its ``preset``.  ``levels``, ``cuts`` and
    ``starts`` are not recorded.

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
        return (f"<MappingResult: {len(self.part):,} vertices on {self.k:,} elements, "
                f"cost {self.cost:,}, imbalance {self.imbalance:.4f}{state}, {self.seconds:.3f} s>")


# The result of partitioning a graph of several ranks, on each of them --------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankPartitionResult(PartitionResult):
    """A partition of a graph of several ranks, on one of them.

    It has the attributes of :class:`PartitionResult`, equal on all ranks (times are those of rank
    0), except for ``part``: the blocks of the vertices of this rank, in the memory and the array
    type of its `targets`.  It also has these:

    Attributes
    ----------
    first : int
        The first vertex of this rank: ``part[i]`` is the block of vertex ``first + i``.
    num_vertices : int
        Number of vertices of the whole graph.

    Notes
    -----
    All ranks must call :meth:`gather` and :meth:`save`, before the graph is freed.

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
    calls: ProcessCalls = field(compare=False)

    def blocks(self) -> list[np.ndarray]:
        """The vertices of this rank in each block: k arrays of numbers in the whole graph."""
        blocks = members_of_blocks(host_array(self.part), self.k, None)
        return [np.asarray(each) + self.first for each in blocks]

    def gather(self, root: int | None = 0) -> np.ndarray | None:
        """Return the blocks of all vertices.  All ranks call it.

        Parameters
        ----------
        root : int, optional
            The rank that gets them; None means all ranks.

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

        Ranks write to a temporary file next to `path`, which is renamed when all ranks have
        finished.  So `path` is never incomplete.

        Parameters
        ----------
        path : str or PathLike
            A file that all ranks can write to.  Suffixes of compressed files such as ``.gz`` are an
            error.

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
    """Return the blocks of all vertices on a rank or on all of them; each rank sends one message.

    Each rank's `root` is sent with the length of its part, and compared.
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
    return space.to_host(blocks) if root is None or comm.rank == root else None
