"""``part_graph`` with the parameters and the result of PyMETIS.

Change ``import pymetis`` to ``import portpart.compat.pymetis as pymetis`` and every
``pymetis.part_graph(...)`` runs on portpart: on all cores or on a GPU, reproducibly, and with the
balance as a guarantee.  What METIS can and portpart cannot is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from pymetis import CSRAdjacency, GraphPartition, Options

from portpart.api import partition
from portpart.errors import InputError

__all__ = ["CSRAdjacency", "GraphPartition", "Options", "part_graph"]

Adjacency = Sequence[Sequence[int]] | Mapping[int, Sequence[int]] | CSRAdjacency

# The only values, beside unset (-1), of the options that say what to compute.  All other options
# tune how METIS searches and have no effect here.
ACCEPTED = {"contig": 0, "minconn": 0, "ncuts": 1, "numbering": 0, "objtype": 0,
            "ptype": -1, "tpwgts": -1, "ubvec": -1}  # fmt: skip

BISECTION_IMBALANCE = 0.001  # METIS's default for recursive bisection
KWAY_IMBALANCE = 0.03  # METIS's default for direct k-way partitioning


def part_graph(
    nparts: int,
    adjacency: Adjacency | None = None,
    xadj: Any = None,
    adjncy: Any = None,
    *,
    vweights: Any = None,
    eweights: Any = None,
    tpwgts: Sequence[float] | None = None,
    recursive: bool | None = None,
    contiguous: bool | None = None,
    options: Options | None = None,
    warn_on_copies: bool = False,
    device: str = "auto",
    preset: str = "default",
    threads: int | None = None,
) -> GraphPartition:
    """Partition a graph into `nparts` blocks; same call as ``pymetis.part_graph``.

    Parameters
    ----------
    nparts
        Number of blocks, at least 1.
    adjacency
        Neighbours of every vertex: a sequence or mapping of sequences, or a `CSRAdjacency`.
        Both directions of each edge must be present.
    xadj, adjncy
        The same in compressed form, instead of `adjacency`.
    vweights, eweights
        Integer weights of the vertices, and of the edges in the order of `adjncy`.
    tpwgts
        Target shares of the blocks; equal ones by default.
    recursive
        Chooses METIS's method there and the default balance here: within 0.1 % if true, 3 %
        if false; None is true up to 8 blocks.  ``Options(ufactor=u)`` sets ``u / 1000``.
    contiguous
        Must not be true: portpart does not promise connected blocks.
    options
        ``seed`` and ``ufactor`` are used; options that tune METIS's own search are without
        effect; ``contig``, ``minconn``, ``ncuts`` above 1 and other objectives are refused.
    warn_on_copies
        Without effect: arrays of every integer type are used as they are.
    device, preset, threads
        As in `portpart.partition`; not parameters of PyMETIS.

    Returns
    -------
    GraphPartition
        Named tuple ``(edge_cuts, vertex_part)``; ``vertex_part`` is a list.

    Raises
    ------
    InputError
        If the graph is malformed or an option cannot be honoured.

    Examples
    --------
    >>> from portpart.compat.pymetis import part_graph
    >>> cut, part = part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> cut
    1
    """
    if contiguous:
        raise InputError("contiguous=True is not supported: portpart does not connect blocks")
    settings = _read_options(options, nparts <= 8 if recursive is None else recursive)
    result = partition(
        _compressed(adjacency, xadj, adjncy),
        nparts,
        vertex_weights=_integers(vweights),
        edge_weights=_integers(eweights),
        target=tpwgts if tpwgts is not None and len(tpwgts) else None,
        device=device,
        preset=preset,
        threads=threads,
        **settings,
    )
    return GraphPartition(int(result.cut), np.asarray(result.part).tolist())


def _read_options(options: Options | None, recursive: bool) -> dict[str, Any]:
    """Return `imbalance` and `seed` as `options` ask; refuse what cannot be honoured."""
    settings: dict[str, Any] = {
        "imbalance": BISECTION_IMBALANCE if recursive else KWAY_IMBALANCE,
        "seed": 0,
    }
    if options is None:
        return settings
    for name, accepted in ACCEPTED.items():
        value = getattr(options, name)
        if value not in (-1, accepted):
            raise InputError(f"option {name}={value} is not supported by portpart")
    if options.ufactor > 0:
        settings["imbalance"] = options.ufactor / 1000
    if options.seed >= 0:
        settings["seed"] = options.seed
    return settings


def _compressed(adjacency: Adjacency | None, xadj: Any, adjncy: Any) -> tuple[Any, Any]:
    """Return the graph as (offsets, targets)."""
    if adjacency is None:
        if xadj is None or adjncy is None:
            raise TypeError("pass adjacency, or both xadj and adjncy")
        return _integers(xadj), _integers(adjncy)
    if xadj is not None or adjncy is not None:
        raise TypeError("pass either adjacency or xadj and adjncy, not both")
    if isinstance(adjacency, CSRAdjacency):
        return _integers(adjacency.adj_starts), _integers(adjacency.adjacent)
    rows = [adjacency[vertex] for vertex in range(len(adjacency))]
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return offsets, _integers(list(chain.from_iterable(rows)))


def _integers(values: Any) -> Any:
    """Return lists as an array, an empty one of int64; fractions are refused later, not cut."""
    if isinstance(values, (list, tuple)):
        return np.array(values, None if len(values) else np.int64)
    return values
