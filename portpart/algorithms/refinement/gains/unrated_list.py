"""The list of vertices whose best block has to be found."""

from __future__ import annotations

from portpart.algorithms.refinement.state import Figures, UnratedList
from portpart.backends.language import atomic_next, device, int32
from portpart.graphs.rows import Csr, degree_of


@device
def add_unrated(v, unrated: UnratedList):
    """List v, which no other list has.  Atomic; the order of the list is free."""
    unrated.vertices[atomic_next(unrated, UnratedList.unrated)] = int32(v)
    return v


@device
def list_unrated(v, graph: Csr, unrated: UnratedList, figures: Figures):
    """List v, on both lists if it is a hub.  Atomic; the order of the lists is free."""
    add_unrated(v, unrated)
    if degree_of(v, graph) > figures.hub_degree:
        unrated.hub_vertices[atomic_next(unrated, UnratedList.unrated_hubs)] = int32(v)
    return v


@device
def empty_unrated(unrated: UnratedList):
    """No vertex is listed."""
    unrated.unrated = 0
    unrated.unrated_hubs = 0
    return unrated.unrated
