"""All metrics of one partition of a hypergraph in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.metrics.balance import block_weights_of
from portpart.metrics.nets import (
    NetsView,
    absorption_of,
    histogram_of,
    km1_of,
    net_boundary_of,
    net_cut_of,
    soed_of,
)
from portpart.metrics.report import Report, of_weights


@dataclass(frozen=True, kw_only=True)
class HypergraphEvaluation(Report):
    """What a partition is worth; made by :func:`evaluate`, prints readably.

    Attributes
    ----------
    num_vertices, num_nets, num_pins, k : int
    cut : int
        Weight of the nets in several blocks.
    km1, soed : int
        The same with each net times its blocks less one, and times its blocks.
    imbalance : float
        Heaviest block over ``ceil(W / k)``, less one; with a target the largest of the blocks'
        weights over their targets, less one.
    block_weights : ndarray of int64, shape (k,)
    max_block_weight, min_block_weight : int
    empty_blocks : int
        Number of blocks without a vertex.
    boundary : int
        Number of vertices on a net in several blocks.
    absorption : float
        As :func:`absorption` has it.
    connectivity : ndarray of int64, shape (k + 1,)
        How many nets reach 0, 1 ... k blocks.
    target : array_like, optional
        What the evaluation was made with.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    >>> evaluation = portpart.metrics.evaluate(nets, [0, 0, 1, 1], 2)
    >>> evaluation.cut, evaluation.km1, evaluation.soed
    (1, 1, 2)
    """

    num_nets: int
    num_pins: int
    km1: int
    soed: int
    empty_blocks: int
    absorption: float
    connectivity: np.ndarray


def evaluated_nets(view: NetsView, target: Any) -> HypergraphEvaluation:
    """Every metric of a view."""
    return HypergraphEvaluation(
        num_vertices=len(view.part),
        num_nets=len(view.sizes),
        num_pins=len(view.pins),
        k=view.k,
        cut=net_cut_of(view),
        km1=km1_of(view),
        soed=soed_of(view),
        empty_blocks=int((np.bincount(view.part, minlength=view.k) == 0).sum()),
        boundary=len(net_boundary_of(view)),
        absorption=absorption_of(view),
        connectivity=histogram_of(view),
        **of_weights(block_weights_of(view), target),
    )
