"""Gates and nets that come and go in a round of edits, and the names that they get."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Turnover(NamedTuple):
    """Gates, or nets, that come and go in a round, by number.

    Attributes
    ----------
    runs : list of (ndarray, list of str or None)
        New ones in order, and the names that they get: none if they end in the same round.
    replaced : ndarray
        Those whose names new ones get, so that they must be deleted before.
    ended : ndarray
        All others that end.
    """

    runs: list[tuple[np.ndarray, list[str] | None]]
    replaced: np.ndarray
    ended: np.ndarray

    @classmethod
    def of(cls, new: np.ndarray, ended: np.ndarray, labels: list[str], table: Any) -> Turnover:
        """Those of a round; `table` says whether there are names."""
        none = np.zeros(0, np.int64)
        if table.names is None:
            return cls([(new, None)] if len(new) else [], none, ended)
        stays = ~np.isin(new, ended)
        runs = [(run, [labels[number] for number in run.tolist()] if stay else None)
                for run, stay in _runs(new, stays)]
        names = {labels[number] for number in new[stays].tolist()}
        is_replaced = np.array([labels[number] in names for number in ended.tolist()], bool)
        is_replaced &= ~np.isin(ended, new)
        return cls(runs, ended[is_replaced], ended[~is_replaced])


NO_VERTEX = Turnover([], np.zeros(0, np.int64), np.zeros(0, np.int64))
"""Nets of graphs, which have none."""


def _runs(values: np.ndarray, flags: np.ndarray) -> list[tuple[np.ndarray, bool]]:
    """The values in pieces of equal flags."""
    if not len(values):
        return []
    ends = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    return [(piece, bool(flag[0]))
            for piece, flag in zip(np.split(values, ends), np.split(flags, ends))]


def labels_of(names: list[str], ports: range) -> list[str]:
    """The names, where those of ports that gates have, too, get underscores."""
    gates = {*names[: ports.start], *names[ports.stop :]}
    labels = list(names)
    for number in ports:
        while labels[number] in gates:
            labels[number] += "_"
        gates.add(labels[number])
    return labels
