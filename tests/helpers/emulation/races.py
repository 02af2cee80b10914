"""Which lanes of a team use which element of its arrays at the same time, and how."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

Note = Callable[[np.ndarray, Any, str], None]
"""``note(array, place, way)``: an element is about to be read or written."""


class _Watched(np.ndarray):
    """An array that tells which of its elements are used, and how."""

    note: Note

    def __getitem__(self, place: Any) -> Any:
        self.note(self, place, "read")
        return super().__getitem__(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.note(self, place, "write")
        super().__setitem__(place, value)


def watched(array: np.ndarray, note: Note) -> np.ndarray:
    """The same memory, for a kernel that uses it element by element."""
    result = array.view(_Watched)
    result.note = note
    return result


class _Element:
    """Which lanes have used an element since they last met, in each way."""

    def __init__(self) -> None:
        self.meeting = -1
        self.lanes: dict[str, set[int]] = {}

    def use(self, lane: int, way: str, meeting: int) -> bool:
        """Note a use; whether another lane uses the element too, and one of them changes it."""
        if meeting != self.meeting:
            self.meeting, self.lanes = meeting, {way: {lane}}
            return False
        self.lanes.setdefault(way, set()).add(lane)
        if way == "read" and len(self.lanes) == 1:
            return False
        return any(lanes - {lane} and (way != other or way == "write")
                   for other, lanes in self.lanes.items())


class Uses:
    """Uses of elements by the lanes of one team; safe to call from several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._elements: defaultdict[Hashable, _Element] = defaultdict(_Element)

    def note(self, name: Hashable, lane: int, way: str, meeting: int) -> None:
        """Note that a lane that has met the others so often uses an element.

        Lanes may read together, or add together by "atomic"; all else in between two meetings
        raises AssertionError, whatever the lanes really did first.
        """
        with self._guard:
            element = self._elements[name]
            if element.use(lane, way, meeting):
                text = f"lanes race for an element of an array: {element.lanes}"
                raise AssertionError(text)
