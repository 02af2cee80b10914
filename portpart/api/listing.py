"""All algorithms in one list, as callers ask for it."""

from __future__ import annotations

from portpart.algorithms.mapping import mappers
from portpart.algorithms.recipes import Entry, partitioners as presets

DEFAULTS = (presets.DEFAULT, mappers.DEFAULT)
"""What partitions and what maps if nothing else is asked for."""


def list_algorithms(hypergraphs: bool = False) -> dict[str, Entry]:
    """The algorithms that :func:`portpart.partition` and :func:`portpart.map_processes` know.

    Parameters
    ----------
    hypergraphs : bool
        List algorithms for hypergraphs instead of graphs.  What is in both lists has
        another configuration, and other presets, for each.

    Returns
    -------
    dict of str to Entry
        By name.  Each has ``task``, ``"partition"`` or ``"map"``, ``takes``, ``"graphs"`` or
        ``"hypergraphs"``, ``title``, ``purpose``, ``source``, ``presets``, and the methods
        ``parameters`` and ``difference``, which take the name of a preset.

    Examples
    --------
    >>> import portpart
    >>> algorithms = portpart.list_algorithms()
    >>> jet = algorithms["jet"]
    >>> list(jet.presets)[:3]
    ['fast', 'default', 'ultra']
    >>> jet.difference("fast")
    {'initial.starts': 1, 'refinement.coarse.tolerance': 0.99}
    >>> [(each.name, each.value) for each in jet.parameters() if each.symbol == "c"][0]
    ('refinement.temperatures', (0.75,))
    >>> [name for name, algorithm in algorithms.items() if algorithm.task == "map"]
    ['hm', 'hm-ultra', 'im', 'two-phase', 'identity']
    >>> "portpart" in portpart.list_algorithms(hypergraphs=True)
    True
    """
    if hypergraphs:
        return dict(presets.OF_NETS)
    return {**presets.ALGORITHMS, **mappers.MAPPERS}
