"""Which lanes of a team use which element of its arrays at the same time, and how."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

Use = tuple[int, int, str]
"""How often a lane has met the others, which lane it is, and how it uses an element."""

_get, _set = np.ndarray.__getitem__, np.ndarray.__setitem__


class UsedElement:
    """Which lanes have used an element since they last met, in each way."""

    def __init__(self) -> None:
        self.last: Use = (-1, -1, "")
        self.lanes: dict[str, set[int]] = {}

    def note(self, use: Use) -> None:
        """Note a use.

        Lanes may read together, or add together by "atomic"; all else in between two meetings
        raises AssertionError, whatever the lanes really did first.
        """
        before, self.last = self.last, use
        meeting, lane, way = use
        if meeting != before[0]:
            self.lanes = {way: {lane}}
            return
        self.lanes.setdefault(way, set()).add(lane)
        if way == "read" and len(self.lanes) == 1:
            return
        if any(lanes - {lane} and (way != other or way == "write")
               for other, lanes in self.lanes.items()):
            raise AssertionError(f"lanes race for an element of an array: {self.lanes}")


Elements = dict[Hashable, UsedElement]
Note = Callable[[Elements, Any, str], None]
"""``note(elements, place, way)``: the element at `place` is about to be read or written."""


class _Watched(np.ndarray):
    """An array that tells which of its elements are used, and how."""

    note: Note
    elements: Elements

    def __getitem__(self, place: Any) -> Any:
        self.note(self.elements, place, "read")
        return _get(self, place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.note(self.elements, place, "write")
        _set(self, place, value)


def watched(array: np.ndarray, note: Note) -> np.ndarray:
    """The same memory, for a kernel that uses it element by element."""
    result = array.view(_Watched)
    result.note, result.elements = note, {}
    return result
