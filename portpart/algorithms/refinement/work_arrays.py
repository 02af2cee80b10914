"""The work arrays of refinement: how they are made, how they grow, and how many bytes they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.incumbent.outcomes import ROOM, WORDS
from portpart.algorithms.refinement.level import PIECES, SIZE, LevelWords, Run
from portpart.algorithms.refinement.piece import Piece
from portpart.algorithms.refinement.sizes import RefinementSizes
from portpart.backends.interface import ExecutionSpace
from portpart.backends.work import WorkRecord, bytes_of
from portpart.graphs.rows import Csr
from portpart.graphs.structure import Structure

STATES, PAGES = 3, 2
"""States of refinement, and pages of outcomes, that are held at once."""

MANY = 2**22
"""This many vertices or arcs more make all arrays longer whose length follows from their number."""

NAMES = Run.field_names[: len(PIECES)]
"""The records that hold work arrays, by their names."""


def run_for(space: ExecutionSpace, sizes: RefinementSizes, balance: Balance) -> Run:
    """Allocate what refinement keeps."""
    blocks = Blocks.allocate(
        space, sizes, limits=space.asarray(balance.limits), means=space.asarray(balance.means),
        open_below=space.asarray(balance.open_below), fixed=None)
    nothing = LevelWords(space.zeros(len(LevelWords.indices), np.int64))
    pieces: dict[str, Any] = {
        name: blocks if piece is Blocks else piece.allocate(space, sizes)
        for name, piece in zip(Run.field_names, PIECES)}
    return Run(**pieces, level=nothing, before=nothing)


def own_records(pieces: tuple[Piece, ...], space: ExecutionSpace, sizes: RefinementSizes,
                run: Run) -> dict[str, WorkRecord]:
    """The records that belong to a piece each."""
    return {name: record for piece in pieces
            for name, record in piece.records(space, sizes, run).items()}


def rows_for(pieces: tuple[Piece, ...], space: ExecutionSpace, finest: Structure,
             num_blocks: int) -> Callable[[Any], Csr]:
    """A function from a graph to its rows, with what a piece knows of them."""
    found = (piece.rows(space, finest, num_blocks) for piece in pieces)
    return next(filter(None, found), attrgetter("csr"))


def refining_bytes(sizes: RefinementSizes) -> int:
    """Bytes of what all refinement keeps: work arrays, words and outcomes."""
    words = STATES * SIZE + PAGES * ROOM * WORDS
    return bytes_of(PIECES, sizes) + words * np.dtype(np.int64).itemsize


def shortened(run: Run, before: RefinementSizes, after: RefinementSizes) -> Run:
    """The same without those arrays that have another length for other sizes."""
    return run.replaced(**{name: getattr(run, name).lasting(before, after) for name in NAMES})


def lengthened(run: Run, space: ExecutionSpace, sizes: RefinementSizes) -> Run:
    """The same with those arrays made that are absent."""
    return run.replaced(**{name: getattr(run, name).completed(space, sizes) for name in NAMES})


def taking(run: Run, other: Run, sizes: RefinementSizes) -> Run:
    """Arrays of a run with what those of another one hold, but for what vertices or arcs have."""
    vertices, arcs = sizes.vertices + MANY, sizes.arcs + MANY
    few = replace(sizes, finest=max(vertices, sizes.finest))
    more = replace(few, vertices=vertices, arcs=arcs)
    for name in NAMES:
        mine, kept = getattr(run, name), getattr(other, name).lasting(few, more)
        for field in mine.declared:
            if getattr(kept, field) is not None:
                getattr(mine, field)[:] = getattr(kept, field)
    return run.replaced(level=other.level)
