"""All algorithms in one list, as callers ask for it."""

from __future__ import annotations

from portpart.algorithms import mappers
from portpart.algorithms import partitioners as presets
from portpart.algorithms.catalogue import Entry

DEFAULTS = (presets.DEFAULT, mappers.DEFAULT)
"""What partitions and what maps if nothing else is asked for."""


def list_algorithms() -> dict[str, Entry]:
    """The algorithms that :func:`portpart.partition` and :func:`portpart.map_processes` know.

    Returns
    -------
    dict of str to Entry
        By name.  Each has ``task``, ``"partition"`` or ``"map"``, ``title``, ``purpose``,
        ``source``, ``presets``, and the methods ``parameters`` and ``difference``, which take the
        name of a preset.

    Examples
    --------
    >>> import portpart
    >>> algorithms = portpart.list_algorithms()
    >>> jet = algorithms["jet"]
    >>> list(jet.presets)
    ['fast', 'default', 'ultra']
    >>> jet.difference("fast")
    {'initial.starts': 1, 'refinement.coarse.tolerance': 0.99}
    >>> [(each.name, each.value) for each in jet.parameters() if each.symbol == "c"][0]
    ('refinement.temperatures', (0.75,))
    >>> [name for name, algorithm in algorithms.items() if algorithm.task == "map"]
    ['hm', 'hm-ultra', 'im', 'two-phase', 'identity']
    """
    return {**presets.ALGORITHMS, **mappers.MAPPERS}
