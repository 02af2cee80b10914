"""How much memory a search takes on a hierarchy of which the sizes are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from portpart.algorithms.coarsening import CoarseningOptions
from portpart.algorithms.initial import (
    Attempts,
    Candidates,
    GrowingOptions,
    InitialOptions,
    Splits,
    ordering_bytes,
    start_sizes,
)
from portpart.algorithms.multilevel import MAX_GROWN, SearchOptions, max_copies
from portpart.backends.programs import bytes_of
from portpart.estimate.model import (
    MODELS,
    OF_VERTEX,
    OF_WORD,
    LevelSize,
    MemoryEstimate,
    MemoryModel,
    hierarchy_bytes,
)

if TYPE_CHECKING:
    from typing_extensions import Self

MIN_SECTIONS = 2
"""One section is the whole graph, and has no label."""

MARGIN = 1.05
"""The estimate is this many times what is declared, but for the input graph: other seeds, and walks
that keep to the blocks of a partition, have levels that are a little larger."""


@dataclass(frozen=True)
class SearchLevels:
    """The hierarchy of a search, finest first, and the one that starts grow on.

    Attributes
    ----------
    walk : list of LevelSize
    start : list of LevelSize
        From the coarsest graph on.
    handed : list of LevelSize
        What GP-metis's second walk visits, from the coarsest graph of the first one on.
    """

    walk: list[LevelSize]
    start: list[LevelSize]
    handed: list[LevelSize] = field(default_factory=list)


@dataclass(frozen=True)
class SearchModel:
    """A search among partitions by a partitioner.

    Attributes
    ----------
    algorithm : str
    config
        Of its class.
    num_blocks : int
    sections : int
        Sections of the graph that a level of multisection divides; 0 if it is none.
    """

    algorithm: str
    config: Any
    num_blocks: int
    sections: int = 0

    @property
    def labelled(self) -> bool:
        """Whether all walks keep to labels, the sections."""
        return self.sections >= MIN_SECTIONS

    @property
    def num_labels(self) -> int:
        """Labels that walks keep to, of sections or of a partition that is improved; else 0."""
        return self.sections if self.sections or self.search.is_one_walk else self.num_blocks

    @property
    def search(self) -> SearchOptions:
        """How many walks there are."""
        found: SearchOptions = getattr(self.config, "search", SearchOptions())
        return found

    @property
    def model(self) -> MemoryModel:
        """What its pieces declare."""
        return MODELS[self.algorithm]

    @property
    def coarsening(self) -> CoarseningOptions:
        """Where coarsening ends."""
        found: CoarseningOptions = self.config.coarsening
        return found

    @property
    def growing(self) -> GrowingOptions | None:
        """How starts are grown; None if METIS makes them."""
        initial: InitialOptions = self.config.initial
        if not initial.grows:
            return None
        one = initial.method == "auto" and initial.num_starts(self.num_blocks) == 1
        return initial.growing.of_one() if one else initial.growing

    def reduced(self, share: float) -> Self:
        """The same for a graph that is smaller by so much, with blocks of as many vertices."""
        end = max(1, int(share * self.coarsening.coarsest_vertices(self.num_blocks)))
        dense = self.coarsening.coarsest_dense_vertices(self.num_blocks)
        k, sections = (max(min(count, MIN_SECTIONS), round(share * count))
                       for count in (self.num_blocks, self.sections))
        coarsening = replace(
            self.coarsening, coarsest_per_block=0, min_coarsest=end, max_coarsest=end,
            dense_per_block=None if dense is None else max(1, int(share * dense) // k))
        return replace(self, num_blocks=k, sections=sections,
                       config=replace(self.config, coarsening=coarsening))

    def estimate(self, levels: Sequence[SearchLevels]) -> MemoryEstimate:
        """The estimate for walks with levels of these sizes: the most of each phase."""
        found = [self._of_walk(each) for each in levels]
        return MemoryEstimate(found[0].graph, *(
            max(getattr(each, name) for each in found)
            for name in ("hierarchy", "coarsening", "refinement")))

    def _of_walk(self, levels: SearchLevels) -> MemoryEstimate:
        finest, kept = levels.walk[0], self._kept_bytes(levels.walk)
        if self.num_blocks == 1:  # all vertices are in one block: nothing is coarsened
            whole = finest.own_bytes + OF_VERTEX * finest.num_vertices
            return MemoryEstimate(finest.own_bytes, 0, whole, whole)
        labels = self._label_bytes(levels.walk)
        coarsening = kept + 2 * labels + self._coarsening_bytes(levels.walk)
        refinement = kept + labels + self._refining_bytes(levels.walk, self._start_bytes(levels))
        return MemoryEstimate(
            graph=finest.own_bytes,
            hierarchy=int(MARGIN * hierarchy_bytes(levels.walk)),
            coarsening=finest.own_bytes + int(MARGIN * coarsening),
            refinement=finest.own_bytes + int(MARGIN * refinement),
        )

    def _coarsening_bytes(self, walk: Sequence[LevelSize]) -> int:
        """Most bytes in addition to the finest graph until the coarsest is made."""
        return self.model.coarsening_bytes(walk)

    def _refining_bytes(self, walk: Sequence[LevelSize], starts: int) -> int:
        """Most bytes of the coarser graphs and of refinement, with those of the starts."""
        return self.model.peak_of_refining(walk, self.num_blocks, starts)

    def _kept_bytes(self, walk: Sequence[LevelSize]) -> int:
        """Bytes of what is kept during the walk."""
        return self.kept_bytes(walk[0].num_vertices)

    def kept_bytes(self, num_vertices: int) -> int:
        """Bytes of the partitions of this many vertices that are kept during the walk.

        The results of walks, the label of two that are combined, and the best of all; with
        labels, the partition before and its sections.
        """
        options, more = self.search, self.search.runs > 1
        copies = 0 if options.is_one_walk else options.runs + more + (more or options.cycles > 1)
        sections = (self.sections > 0) + self.labelled
        return OF_VERTEX * num_vertices * (copies + sections)

    def _label_bytes(self, walk: Sequence[LevelSize]) -> int:
        """Bytes of the labels of coarse levels, if any walk has labels."""
        if self.num_labels < MIN_SECTIONS:
            return 0
        return OF_VERTEX * sum(level.num_vertices for level in walk[1:])

    def _start_bytes(self, levels: SearchLevels) -> int:
        """Bytes of starts on the coarsest graph while they are made, or while they are refined."""
        start = self._making_starts(levels.start)
        if not levels.handed:
            return start
        return max(self.model.coarsening_bytes(levels.handed),
                   self._refining_bytes(levels.handed, start))

    def _making_starts(self, levels: Sequence[LevelSize], others: int = 0) -> int:
        """Bytes of starts while METIS makes them, or they are grown, and of those in the end.

        `others` are the bytes in use otherwise while they grow.
        """
        n, growing = levels[0].num_vertices, self.growing
        if growing is None or n > MAX_GROWN:
            return OF_VERTEX * n * (self.config.initial.num_starts(self.num_blocks) + 1)
        copies = self.copies(levels[0])
        wide = levels if copies == 1 else [level.times(copies) for level in levels]
        kept = OF_VERTEX * n * (growing.num_hierarchies(self.num_blocks)
                                * growing.share(self.num_blocks).refined)
        own = 0 if copies == 1 else wide[0].own_bytes
        return own + kept + max(MODELS["portpart"].coarsening_bytes(wide),
                                self._growing_bytes(wide, growing, copies) + others, kept)

    def copies(self, coarsest: LevelSize) -> int:
        """How many copies of the coarsest graph starts grow on at once."""
        if self.growing is None:
            return 1
        return min(self.growing.num_hierarchies(self.num_blocks), max_copies(coarsest.num_arcs))

    def _growing_bytes(self, levels: Sequence[LevelSize], growing: GrowingOptions,
                       copies: int) -> int:
        """Bytes of what starts grow on, and of those of two levels."""
        k, vertices = copies * self.num_blocks, [level.num_vertices for level in levels]
        labelled, growing = self.labelled or copies > 1, growing.share(self.num_blocks)
        sizes = start_sizes(vertices, k, growing)
        kept = [growing.refined, *(growing.candidates_on(depth) for depth in range(len(levels)))]
        handed = [count * n for count, n in zip(kept, [*vertices, 0], strict=True)]
        labels = sum(vertices[copies == 1 :]) if labelled else 0
        return (hierarchy_bytes(levels) + bytes_of((Candidates, Attempts), sizes)
                + OF_VERTEX * (labels + max(a + b for a, b in pairwise(handed)))
                + OF_WORD * len(Splits.field_names) * (k + 1)
                + (ordering_bytes(sizes) if labelled else 0))
