"""Proposals of vertices: the best of the neighbours that each may be merged with."""

from __future__ import annotations

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.rows import Csr
from portpart.primitives.best_candidate import CandidateSearch


class Proposals(CandidateSearch):
    """The proposals of n vertices, and what restricts them.

    Attributes
    ----------
    max_weight : int
        What is joined may weigh no more.
    label : array of int32, shape (n,), or None
        Only vertices of equal label are joined.
    total : int or None
        What some ratings and scores multiply weights with.
    """

    max_weight: int
    label: Array | None
    total: int | None


@kl.device
def cluster_capacity(v, graph: Csr, proposals: Proposals):
    """What may be joined with v may weigh so much."""
    return proposals.max_weight - kl.value_or(graph.vertex_weights, v, 1)


@kl.device
def head_of(arc, graph: Csr, proposals: Proposals):
    """The head of an arc."""
    return graph.targets[arc]


@kl.device
def may_join(v, u, own, room, graph: Csr, proposals: Proposals):
    """Whether vertex u weighs no more than `room` and is of v's label."""
    return kl.value_or(graph.vertex_weights, u, 1) <= room and (
        kl.value_or(proposals.label, u, 0) == kl.value_or(proposals.label, v, 0))
