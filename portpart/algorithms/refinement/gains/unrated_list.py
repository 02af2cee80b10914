"""The list of vertices whose best block has to be found."""

from __future__ import annotations

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.state import UnratedList
from portpart.backends import language as kl
from portpart.graphs.rows import Csr, degree_of


@kl.device
def add_unrated(v, unrated: UnratedList):
    """List v, which no other list has.  Atomic; the order of the list is free."""
    unrated.vertices[kl.atomic_next(unrated, UnratedList.unrated)] = kl.int32(v)
    return v


@kl.device
def list_unrated(v, graph: Csr, unrated: UnratedList, figures: Figures):
    """List v, on both lists if it is a hub.  Atomic; the order of the lists is free."""
    add_unrated(v, unrated)
    if degree_of(v, graph) > figures.hub_degree:
        unrated.hub_vertices[kl.atomic_next(unrated, UnratedList.unrated_hubs)] = kl.int32(v)
    return v


@kl.device
def empty_unrated(unrated: UnratedList):
    """No vertex is listed."""
    unrated.unrated = 0
    unrated.unrated_hubs = 0
    return unrated.unrated
